"""What the soak asks, and what is right."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from gateway.settings.endpoint import EndpointSettings, TimeoutSettings
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from tests.columns import Column
from tests.drawn.judging import Truth
from tests.drawn.questions import WIKIDATA_RULE, Question, is_wikidata
from tests.oracle import EdgeRule, OracleGraph, bfs
from tests.random_graphs import corpus
from tests.shared_data import shared_data_or_none

GRAPHS: Final[Sequence[str]] = (
    "random",
    *(name for name, file in (("medlit", "medlit.ttl.gz"), ("codex-m", "codex-m.nt.gz")) if shared_data_or_none(file)),
)

DEADLINE_SECONDS: Final = 2.0
_SHARES: Final = {"random": 0.55, "medlit": 0.25, "codex-m": 0.2}
_HOPS: Final = {"random": (1, 2, 3, 4, 5), "medlit": (1, 2, 3), "codex-m": (1, 1, 2)}
_MAX_DEGREES: Final = {"random": (2, 3, 6), "medlit": (10, 30), "codex-m": (50, 100)}
_LARGEST: Final = 500
"""Edges around the seeds: more would make the soak longer and no better."""

_ROOM: Final = SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000)


def profile_for(graph: str, engine: str, *, tight: bool, seconds: float = DEADLINE_SECONDS) -> Profile:
    """Return the profile under which a graph is asked on an engine.

    Args:
        graph: The graph.
        engine: The engine.
        tight: Whether so few rows and nodes go into one query that batches are split and nodes are paged.
        seconds: The deadline.
    """
    endpoint = EndpointSettings(timeout=TimeoutSettings(parameter="timeout" if engine == "fuseki" else ""))
    few: dict[str, Any] = {"query_rows": 60, "batch": 10, "facts_batch": 10, "requests": 2_000} if tight else {}
    # A large schema that is read to its end would take most of so short a deadline.
    scan_rows = 20_000 if graph == "random" else 1_000
    # It is read before the first call, which waits for it as long as a busy machine takes.
    limits = LimitSettings(deadline_seconds=seconds, schema_seconds=60, scan_rows=scan_rows, **few)
    settings = {"endpoint": endpoint, "limits": limits, "size": _ROOM, "prefixes": {}}
    base = load_profile("wikidata-local") if is_wikidata(graph) else Profile()
    return base.model_copy(update=settings)


def likely_requests(question: Question) -> int:
    """Return about how many requests a question takes where nothing goes wrong."""
    return question.hops + (1 if question.topology_only else 3) if question.hops else 3


def truth_of(column: Column, graph: str) -> Truth:
    """Return what is right, by the files that an engine holds."""
    return Truth(OracleGraph.from_files(column.files[graph], WIKIDATA_RULE if is_wikidata(graph) else EdgeRule()))


def draw(graph: str, truth: Truth, dice: random.Random, count: int) -> list[Question]:
    """Draw so many questions about a graph, and find out what is right."""
    drawn: list[Question] = []
    ids = _ids_of_random(truth.oracle, dice) if graph == "random" else _ids_of_one(graph, truth.oracle, dice)
    while len(drawn) < count:
        question = _question(graph, ids, dice)
        # What lies around the seeds has to be fetched, however small an intersection is.
        if len(bfs(truth.oracle, question.ids, question.hops, question.max_degree).edges) <= _LARGEST:
            drawn.append(question)
            if question.hops:
                truth.found_by(question)
    return drawn


def share_of(graph: str, graphs: Sequence[str]) -> float:
    """Return which part of the questions is about a graph."""
    return _SHARES[graph] / sum(_SHARES[one] for one in graphs)


Ids = Callable[[int], tuple[str, ...]]


def _question(graph: str, ids: Ids, dice: random.Random) -> Question:
    hops = dice.choice(_HOPS[graph])
    topology_only = dice.random() < 0.85
    max_degree = dice.choice(_MAX_DEGREES[graph]) if dice.random() < 0.3 else None
    how: dict[str, Any] = {"hops": hops, "topology_only": topology_only, "max_degree": max_degree}
    match dice.choices(("bfs", "intersection", "entity", "entities"), (60, 25, 6, 9))[0]:
        case "bfs":
            return Question(graph, "bfs_query", ids(dice.choice((1, 1, 1, 2, 3, 4))), **how)
        case "intersection":
            return Question(graph, "intersect_subgraphs", ids(dice.choice((2, 2, 2, 3))), **how)
        case "entity":
            return Question(graph, "describe_entity", ids(1))
        case _:
            return Question(graph, "describe_entities", ids(dice.randint(2, 12)))


def _ids_of_random(oracle: OracleGraph, dice: random.Random) -> Ids:
    """Draw from one of the random graphs, now and then what does not exist."""
    # An engine that knows no annotations, or one form of a text only, was not given all of them.
    there = [
        (graph, [node for node in (*graph.nodes, *graph.evidence[:1]) if node in oracle.nodes]) for graph in corpus()
    ]

    def ids(count: int) -> tuple[str, ...]:
        graph, nodes = dice.choice([(one, nodes) for one, nodes in there if len(nodes) >= count])
        chosen = dice.sample(nodes, count)
        if dice.random() < 0.15:
            chosen[dice.randrange(count)] = dice.choice([f"{graph.namespace}missing", *graph.ghosts])
        return tuple(chosen)

    return ids


def _ids_of_one(graph: str, oracle: OracleGraph, dice: random.Random) -> Ids:
    """Draw from a large graph nodes that have edges, and half of the time neighbours of each other."""
    nodes = sorted({end for s, _, o in oracle.edges for end in (s, o)})

    def ids(count: int) -> tuple[str, ...]:
        first = dice.choice(nodes)
        near = sorted({end for s, _, o in oracle.edges_of(first) for end in (s, o)} - {first})
        others = dice.sample(near, count - 1) if len(near) >= count and dice.random() < 0.5 else []
        chosen = [first, *(others or dice.sample(nodes, count - 1))]
        if dice.random() < 0.1:
            chosen[dice.randrange(count)] = f"https://example.org/{graph}/missing"
        return tuple(chosen)

    return ids


def endless(drawn: Sequence[Question], dice: random.Random) -> Iterator[Question]:
    """Go round and round, in another order each time."""
    while True:
        yield from dice.sample(drawn, len(drawn))
