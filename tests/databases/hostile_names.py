"""Names that try to become a part of a statement, in a ring of nodes, and every question that sends them.

`HOSTILE_NAMES=10000` tries more.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from gateway.databases.terms import IriMapping
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import Edge, EdgeSelection
from gateway.settings.databases import PostgresSettings
from gateway.telemetry.tally import Tally
from tests.examples import examples

_TOGETHER: Final = 10
_EXAMPLES: Final = examples(int(os.environ.get("HOSTILE_NAMES", "300"))) // _TOGETHER

_FRAGMENTS: Final = st.sampled_from(
    [
        *(
            "'",
            '"',
            "''",
            "\\",
            "\\'",
            "$$",
            "$1",
            "$2::text",
            "%s",
            "%(x)s",
            "{nodes}",
            "{{",
            "{}",
            ";",
            "--",
            "/*",
            "*/",
        ),
        *("'; DROP TABLE entity; --", "' OR '1'='1", "\\'; SELECT pg_sleep(9); --", '"; DROP TABLE entity; --'),
        *("%", "_", "*", ".*", "(", "[", "^$", "\\m", "\n", "\t", "\r", "\x01", "\x7f", "\u200b", "\u202e", "\ufffd"),
        *(
            "http://",
            "urn:x:",
            "MeSH:",
            "merged",
            "NULL",
            "null",
            "true",
            "0",
            " ",
            "é",
            "字",
            "😀",
            "İ",
            "ß",
            "x" * 100,  # five of them are an IRI that can be sent
        ),
    ]
)
_CHARACTERS: Final = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
_NAME: Final = st.lists(st.one_of(_FRAGMENTS, _CHARACTERS), min_size=1, max_size=5).map("".join).filter(bool)

NAMES: Final = st.lists(_NAME, min_size=_TOGETHER, max_size=_TOGETHER, unique=True)
"""The names of one ring."""

often = settings(
    max_examples=max(_EXAMPLES, 1),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
"""How often a test draws."""


@dataclass(repr=False)
class World:
    """A database that each example fills, and the statements that were sent.

    Attributes:
        runner: The event loop that lasts for all examples.
        fill: Writes a ring of nodes, each with its text as ID, type, name, and predicate of its outgoing edge.
        store: Reads it.
        statements: The texts that were sent, by query.
    """

    runner: asyncio.Runner
    fill: Callable[[list[str]], Awaitable[object]]
    store: GraphStore
    statements: dict[str, set[str]] = field(default_factory=dict)
    ids: IriMapping = field(default_factory=lambda: IriMapping(PostgresSettings().base, {}))
    terms: IriMapping = field(default_factory=lambda: IriMapping(PostgresSettings().vocabulary, {}))

    def check(self, names: list[str]) -> None:
        """Fail if an answer about a ring is wrong, or a query has another text than before."""
        self.runner.run(_asked(self, names))
        # One text for each query, whatever the names: they are parameters.
        assert {query: len(texts) for query, texts in self.statements.items()} == dict.fromkeys(self.statements, 1)

    def call(self) -> Call:
        """Return a call that keeps what is sent for it."""
        tally = Tally()
        tally.with_queries = True
        return Call(Deadline.after(60), 1_000, 100_000, 100_000, tally=tally)

    def note(self, call: Call) -> None:
        """Keep the texts that were sent for a call."""
        for sent in call.tally.answered(complete=True).sent:
            self.statements.setdefault(sent.template, set()).add(sent.sparql)


async def _asked(world: World, names: list[str]) -> None:
    """Ask every question whose parameters are texts of a caller, and compare each answer."""
    await world.fill(names)
    store, call = world.store, world.call()
    nodes = [world.ids.iri(name) for name in names]
    types = [world.terms.iri(name) for name in names]
    edges = [Edge(*edge) for edge in zip(nodes, types, [*nodes[1:], nodes[0]], strict=True)]
    around = await store.edges(nodes, call)
    by_predicate = EdgeSelection(outgoing=(types[0],), incoming=())
    chosen = await store.edges(nodes, call, selection=by_predicate)
    degrees = await store.degrees(nodes, 10, call)
    facts = await store.nodes(nodes, call, names=True)
    for place, node in enumerate(nodes):
        assert set(around[node].edges) == {edges[place], edges[place - 1]}
        assert set(chosen[node].edges) == ({edges[0]} if place == 0 else set())
        assert degrees[node].count == len({edges[place], edges[place - 1]})
        assert tuple(facts[node].types) == (types[place],)
    existing = await store.existing([*nodes, world.ids.iri("'absent")], call)
    assert [existing[node].exists for node in nodes] == [True] * len(nodes)
    found = await store.of_types([types[0]], call)
    assert {hit.iri for hit in found.hits} == {nodes[0]}
    named = await store.named(names[0], (), call)
    # The text of a search is read as a person types it: blanks count once.
    is_typed = names[0].isascii() and names[0].isprintable() and names[0] == " ".join(names[0].split())
    assert not is_typed or nodes[0] in {hit.iri for hit in named.hits}
    world.note(call)
