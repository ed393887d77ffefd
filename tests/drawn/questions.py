"""What is asked: traversals with pages, caps and hubs, intersections with paths, descriptions, and searches."""

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from tests.drawn.names import spelling
from tests.oracle import EdgeRule, OracleGraph, bfs

Tool = Literal["bfs_query", "intersect_subgraphs", "describe_entities", "search_entities"]

_WDT: Final = "http://www.wikidata.org/prop/direct/"
_WIKIDATA: Final = frozenset({"codex-m", "wd50k"})
WIKIDATA_RULE: Final = EdgeRule(frozenset({f"{_WDT}P31"}), allowed_namespaces=(_WDT,), evidence=False)

_LARGEST: Final = 1_500
"""Edges around the seeds at most; a larger neighbourhood takes long and shows nothing else."""

_MOST_PAGES: Final = 6
_FEW_HITS: Final = 100


@dataclass(frozen=True)
class Question:
    """One question to a gateway.

    Attributes:
        graph: The graph it is about.
        tool: The tool.
        ids: The seeds, the entities to describe, or the entity that the name was taken from; whole IRIs.
        hops: `max_hops`, or `k`.
        max_degree: The hub rule, or None.
        max_edges: `max_edges_per_node`, or None.
        limit: Nodes on a page, or None; all pages are read.
        query: What is searched for.
    """

    graph: str
    tool: Tool
    ids: tuple[str, ...]
    hops: int = 0
    max_degree: int | None = None
    max_edges: int | None = None
    limit: int | None = None
    query: str = ""

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the call, or of the first of its pages."""
        ids = [f"<{iri}>" for iri in self.ids]
        rules = {"max_degree": self.max_degree, "max_edges_per_node": self.max_edges, "limit": self.limit}
        match self.tool:
            case "bfs_query":
                return {"seeds": ids, "max_hops": self.hops, "topology_only": True, **rules}
            case "intersect_subgraphs":
                return {"seeds": ids, "k": self.hops, "topology_only": True, "via": True, **rules}
            case "describe_entities":
                return {"ids": ids}
            case "search_entities":
                return {"query": self.query, "limit": _FEW_HITS}

    def as_json(self) -> dict[str, Any]:
        """Return the question for a report."""
        return asdict(self)


def is_wikidata(graph: str) -> bool:
    """Return whether a graph has the shape of Wikidata."""
    return graph in _WIKIDATA


def profile_for(graph: str) -> Profile:
    """Return the profile under which a graph is asked: without bounds on size, and with time for slow machines."""
    base = load_profile("wikidata-local") if is_wikidata(graph) else Profile()
    room = SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000, coined_prefixes=True)
    limits = LimitSettings(deadline_seconds=120, schema_seconds=60, requests=2_000)
    return base.model_copy(update={"size": room, "limits": limits, "prefixes": {}})


def draw(
    graph: str, oracle: OracleGraph, names: Sequence[tuple[str, str]], dice: random.Random, count: int
) -> list[Question]:
    """Draw questions about a graph.

    Args:
        graph: The graph.
        oracle: The oracle over it.
        names: The names of its nodes: IRI and text.
        dice: What everything is drawn from.
        count: How many.
    """
    nodes = sorted(oracle.nodes)
    joined = sorted({end for s, _, o in oracle.edges for end in (s, o)}) or nodes

    def ids(number: int) -> tuple[str, ...]:
        first = dice.choice(joined)
        near = sorted({end for s, _, o in oracle.edges_of(first) for end in (s, o)} - {first})
        pool = near if len(near) >= number and dice.random() < 0.6 else nodes if dice.random() < 0.2 else joined
        chosen = list(dict.fromkeys([first, *dice.sample(pool, min(number - 1, len(pool)))]))
        if dice.random() < 0.06:
            chosen[dice.randrange(len(chosen))] = f"https://example.org/{graph}/missing"
        return tuple(chosen)

    questions: list[Question] = []
    while len(questions) < count:
        question = _question(graph, ids, names, dice)
        if question is not None and _is_small(question, oracle):
            questions.append(question)
    return questions


def _question(
    graph: str, ids: Callable[[int], tuple[str, ...]], names: Sequence[tuple[str, str]], dice: random.Random
) -> Question | None:
    searches = (70 if graph == "names" else 25) if names else 0
    hops = dice.choice((1, 1, 2) if is_wikidata(graph) else (1, 2, 2, 3, 4))
    max_degree = dice.choice((2, 5, 20, 100)) if dice.random() < 0.2 else None
    max_edges = dice.choice((1, 2, 3, 10)) if dice.random() < 0.25 else None
    limit = dice.choice((1, 2, 7, 50)) if dice.random() < 0.3 else None
    match dice.choices(("bfs", "intersection", "describe", "search"), (45, 30, 10, searches))[0]:
        case "bfs":
            seeds = ids(dice.choice((1, 1, 1, 2, 3, 5)))
            return Question(graph, "bfs_query", seeds, hops, max_degree, max_edges, limit)
        case "intersection":
            seeds = ids(dice.choice((2, 2, 2, 3)))
            if len(seeds) < 2:
                return None
            return Question(graph, "intersect_subgraphs", seeds, min(hops, 3), max_degree, max_edges, limit)
        case "describe":
            return Question(graph, "describe_entities", ids(dice.randint(1, 8)))
        case _:
            node, name = dice.choice(names)
            query = spelling(name, dice)[:900]
            return Question(graph, "search_entities", (node,), query=query) if query.strip() else None


def _is_small(question: Question, oracle: OracleGraph) -> bool:
    if not question.hops:
        return True
    around = bfs(oracle, question.ids, question.hops, question.max_degree)
    pages = -(-len(around.distance) // question.limit) if question.limit else 1
    return len(around.edges) <= _LARGEST and pages <= _MOST_PAGES
