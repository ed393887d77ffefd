from collections.abc import Sequence

import pytest

from gateway.errors import EndpointFault, NetworkFault
from gateway.graph.call import Call
from gateway.graph.store import EntityTypes, NamesPage
from gateway.graph.values import Iri
from gateway.search_index.index import build_index
from gateway.search_index.partial_index import read_names
from gateway.search_index.sqlite_worker import ClosedError, SqliteWorker
from tests.search_index.small_indexes import Listed, allowance, find, found, index_of

pytestmark = pytest.mark.anyio

NAMES = {f"urn:{number:02}": [f"name {number}", f"also {number}"] for number in range(20)}
ALIASES = {iri: [f"alias of {iri}"] for iri in list(NAMES)[::3]} | {"urn:only-alias": ["nothing else"]}
KINDS = {iri: [f"urn:T{number % 3}"] for number, iri in enumerate(NAMES)}


async def test_every_name_of_every_page_is_in_the_index() -> None:
    async with index_of(Listed(NAMES, ALIASES, KINDS)) as index:
        assert (index.info.names, index.info.entities) == (40 + len(ALIASES), 21)
        assert index.info.whole
        assert index.info.typed
        for iri, texts in [*NAMES.items(), *ALIASES.items()]:
            for text in texts:
                assert iri in await found(index, text)
                assert (iri in await found(index, text, "urn:T1")) == (KINDS.get(iri) == ["urn:T1"])


async def test_progress_goes_up_to_the_number_of_entities() -> None:
    reported: list[tuple[int, int]] = []

    async def report(read: int, total: int) -> None:
        reported.append((read, total))

    worker = SqliteWorker()
    await read_names(Listed(NAMES, ALIASES), worker, allowance, on_progress=report)
    worker.close()
    assert reported[0] == (0, 28)
    assert reported[-1] == (28, 28)
    assert reported == sorted(reported)


async def test_names_that_did_not_come_make_the_index_a_part_and_its_answers_cut() -> None:
    async with index_of(Listed(NAMES, uncounted=1)) as index:
        assert not index.info.whole
        hits = await find(index, "name 3")
    assert hits.truncated
    assert "which are not all" in hits.how


async def test_a_type_that_could_not_be_asked_for_makes_searches_by_type_cut_and_no_others() -> None:
    class Untyped(Listed):
        async def types(self, entities: Sequence[Iri], call: Call) -> EntityTypes:
            return EntityTypes((await super().types(entities, call)).types, frozenset(entities[:1]))

    async with index_of(Untyped(NAMES, kinds=KINDS)) as index:
        assert (await find(index, "name 3", "urn:T0")).truncated
        assert not (await find(index, "name 3")).truncated


async def test_a_page_that_fails_ends_the_reading() -> None:
    worker = SqliteWorker()
    with pytest.raises(NetworkFault):
        await read_names(Listed(NAMES, pages_left=2), worker, allowance)
    worker.close()


async def test_pages_without_an_end_are_a_fault_and_no_endless_loop() -> None:
    class Endless(Listed):
        async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
            names = (await super().page(predicate, after[:0], call)).names
            return NamesPage(names, names[0].iri)

    worker = SqliteWorker()
    with pytest.raises(EndpointFault, match="do not come to an end"):
        await read_names(Endless(NAMES), worker, allowance)
    worker.close()


async def test_a_graph_without_names_has_an_empty_index_that_is_whole() -> None:
    async with index_of(Listed({})) as index:
        assert index.info.whole
        assert (await find(index, "anything")).hits == ()


async def test_an_index_that_is_closed_while_it_is_made_is_given_up() -> None:
    worker = SqliteWorker()
    await read_names(Listed(NAMES), worker, allowance)
    worker.close()
    with pytest.raises(ClosedError):
        await build_index(worker, date="", missing=0)
