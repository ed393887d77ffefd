"""Parts of one call that read expressions at once each get what these say."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

import pytest

from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql.blank.contents import BlankEnds, Content, ContentReader, Kind
from gateway.sparql.blank.expressions import ExpressionReader
from gateway.sparql.blank.keys import KEY
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import IriTerm
from gateway.terms.iri import OWL, SUBCLASS_OF
from tests.cache.fake_store import call

pytestmark = pytest.mark.anyio

_RESTRICTION: Final = f"{KEY}1"
_CONTENT: Final = Content(
    says=(
        (f"{OWL}onProperty", IriTerm("http://e.org/p")),
        (f"{OWL}someValuesFrom", IriTerm("http://e.org/b")),
    ),
    said=((SUBCLASS_OF, IriTerm("http://e.org/a")),),
)


class _Contents:
    """Has one restriction, and says what is stated about it when it is let."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def read(self, keys: Iterable[Iri], _: Call) -> Mapping[Iri, Content]:
        return dict.fromkeys(keys, _CONTENT)

    async def ids(self, _: Iterable[Iri], __: Call) -> Mapping[Iri, Iri]:
        return {}

    def contents(self, _: Call) -> Mapping[Iri, Content]:
        return {_RESTRICTION: _CONTENT}

    def kind(self, _: Iri, __: Call) -> Kind:
        return Kind.OTHER

    async def stating(self, nodes: Sequence[Iri], _: Call) -> Mapping[Iri, BlankEnds]:
        self.is_asked.set()
        await self.may_answer.wait()
        return dict.fromkeys(nodes, BlankEnds())


async def test_what_another_part_of_a_call_reads_is_waited_for() -> None:
    contents, of_call = _Contents(), call()
    reader = ExpressionReader(EdgeRule.of(Profile().edges), cast("ContentReader", contents))
    first = asyncio.create_task(reader.of([_RESTRICTION], of_call))
    await contents.is_asked.wait()
    second = asyncio.create_task(reader.of([_RESTRICTION], of_call))
    contents.may_answer.set()
    for found in (await second, await first):
        folded = found[_RESTRICTION]
        assert folded is not None
        assert [edge.predicate for edge in folded.edges["http://e.org/a"]] == ["http://e.org/p"]


async def test_what_a_stopped_part_of_a_call_has_not_read_is_read_again() -> None:
    contents, of_call = _Contents(), call()
    reader = ExpressionReader(EdgeRule.of(Profile().edges), cast("ContentReader", contents))
    first = asyncio.create_task(reader.of([_RESTRICTION], of_call))
    await contents.is_asked.wait()
    first.cancel()
    contents.may_answer.set()
    folded = (await reader.of([_RESTRICTION], of_call))[_RESTRICTION]
    assert folded is not None
    assert list(folded.edges) == ["http://e.org/a", "http://e.org/b"]
