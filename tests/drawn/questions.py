"""What is asked: traversals with pages, caps and hubs, intersections with paths, descriptions, and searches."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NodeSettings
from tests.drawn.names import spelling, stands_for_an_id
from tests.oracle import NO_TYPES, RDF, EdgeRule, OracleGraph, Steering, bfs

Tool = Literal["bfs_query", "intersect_subgraphs", "describe_entity", "describe_entities", "search_entities"]

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
        more: What else is searched for in the same call; none where it is one query.
        lists: The predicates that are followed, `^` before those of incoming edges only: one list, or, if `listed`, one
            a hop or seed. Whole IRIs.
        listed: Whether there is one list a hop or seed.
        direction: The direction that is followed.
        only_type: The type of which nodes alone are shown, or empty.
        via: Whether the paths of all nodes of an intersection are asked for; None: as many as are cheap.
        names: In the place of each ID: a name of the entity, or nothing; none where all are IDs.
        topology_only: Whether metadata stays away.
    """

    graph: str
    tool: Tool
    ids: tuple[str, ...]
    hops: int = 0
    max_degree: int | None = None
    max_edges: int | None = None
    limit: int | None = None
    query: str = ""
    more: tuple[str, ...] = ()
    lists: tuple[tuple[str, ...], ...] = ((),)
    listed: bool = False
    direction: str = "both"
    only_type: str = ""
    via: bool | None = None
    names: tuple[str, ...] = ()
    topology_only: bool = True

    @property
    def steering(self) -> Steering:
        """What is followed."""
        return Steering(self.lists, self.direction, self.listed)

    @property
    def is_steered(self) -> bool:
        """Whether not every edge is followed."""
        return self.steering != Steering()

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the call, or of the first of its pages."""
        names = self.names or ("",) * len(self.ids)
        ids = [name or f"<{iri}>" for iri, name in zip(self.ids, names, strict=True)]
        rules: dict[str, Any] = {
            "topology_only": self.topology_only,
            "max_degree": self.max_degree,
            "max_edges_per_node": self.max_edges,
            "limit": self.limit,
            "only_predicates": list(map(list, self.lists)) if self.listed else list(self.lists[0]),
            "direction": self.direction,
            "only_node_types": [self.only_type] if self.only_type else None,
        }
        match self.tool:
            case "bfs_query":
                return {"seeds": ids, "max_hops": self.hops, **rules}
            case "intersect_subgraphs":
                return {"seeds": ids, "k": self.hops, "via": self.via, **rules}
            case "describe_entity":
                return {"id": ids[0]}
            case "describe_entities":
                return {"ids": ids}
            case "search_entities":
                asked = {"queries": [self.query, *self.more]} if self.more else {"query": self.query}
                return {**asked, "limit": _FEW_HITS}

    def as_json(self) -> dict[str, Any]:
        """Return the question for a report."""
        return asdict(self)

    @classmethod
    def of_json(cls, written: Mapping[str, Any]) -> "Question":
        """Read it from a report."""
        lists = {key: tuple(written.get(key, ())) for key in ("ids", "names", "more")}
        return cls(**{**written, **lists, "lists": tuple(map(tuple, written["lists"]))})


def is_wikidata(graph: str) -> bool:
    """Return whether a graph has the shape of Wikidata."""
    return graph in _WIKIDATA


def profile_for(graph: str) -> Profile:
    """Return the profile under which a graph is asked: without bounds on size, and with time for slow machines."""
    base = load_profile("wikidata-local") if is_wikidata(graph) else Profile()
    room = SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000, coined_prefixes=True)
    limits = LimitSettings(deadline_seconds=120, schema_seconds=60, requests=2_000)
    # Engines behind HTTP cannot follow blank nodes, and all are judged alike; tests/blank_nodes judges files.
    nodes = NodeSettings(blank="off")
    return base.model_copy(update={"size": room, "limits": limits, "prefixes": {}, "nodes": nodes})


def draw(
    graph: str,
    oracle: OracleGraph,
    names: Sequence[tuple[str, str]],
    dice: random.Random,
    count: int,
    steered: float = 0.5,
    named: float = 0.25,
) -> list[Question]:
    """Draw questions about a graph.

    Args:
        graph: The graph.
        oracle: The oracle over it.
        names: The names of its nodes: IRI and text.
        dice: What everything is drawn from.
        count: How many.
        steered: The share of traversals that follow chosen predicates, or one direction.
        named: The share of questions about nodes that have names in the place of IDs.
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

    of_node: dict[str, list[str]] = {}
    for node, name in names:
        if stands_for_an_id(name):
            of_node.setdefault(node, []).append(name)

    questions: list[Question] = []
    while len(questions) < count:
        question = _question(graph, ids, names, dice)
        if question is not None and question.hops and dice.random() < steered:
            question = _steered(question, oracle, dice)
        if question is not None and question.tool != "search_entities" and dice.random() < named:
            question = replace(question, names=tuple(dice.choice(of_node.get(one, [""])) for one in question.ids))
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
            via = dice.choice((True, None))
            return Question(graph, "intersect_subgraphs", seeds, min(hops, 3), max_degree, max_edges, limit, via=via)
        case "describe":
            return Question(graph, "describe_entities", ids(dice.randint(1, 8)))
        case _:
            node, name = dice.choice(names)
            query = spelling(name, dice)[:900]
            others = dice.choices(names, k=dice.randint(1, 4)) if dice.random() < 0.3 else ()
            more = tuple(spelling(other, dice)[:900] for _, other in others)
            return Question(graph, "search_entities", (node,), query=query, more=more) if query.strip() else None


def _steered(question: Question, oracle: OracleGraph, dice: random.Random) -> Question:
    """Return the question with predicates that are mostly found around its seeds."""
    near = {edge[1] for seed in question.ids for edge in oracle.edges_of(seed)}
    farther = {edge[1] for seed in question.ids for s, _, o in oracle.edges_of(seed) for edge in oracle.edges_of(s)}
    every = sorted({edge[1] for edge in oracle.edges})
    pools = [pool for pool in (sorted(near), sorted(near | farther), every) if pool]

    def names() -> tuple[str, ...]:
        if not pools or dice.random() < 0.15:
            return ()
        pool = dice.choices(pools, (6, 3, 1)[: len(pools)])[0]
        chosen = dice.sample(pool, min(len(pool), dice.choice((1, 1, 2, 3))))
        return tuple(f"{'^' if dice.random() < 0.2 else ''}{predicate}" for predicate in chosen)

    places = question.hops if question.tool == "bfs_query" else len(set(question.ids))
    listed = places > 1 and dice.random() < 0.5
    near_types = {one for node in question.ids for one in oracle.types.get(node, ())}
    # A schema lists no types of nodes that state evidence.
    types = sorted((near_types or set(oracle.instances)) - NO_TYPES - {f"{RDF}Statement"})
    only_type = dice.choice(types) if types and dice.random() < 0.4 and not is_wikidata(question.graph) else ""
    return replace(
        question,
        lists=tuple(names() for _ in range(places if listed else 1)),
        listed=listed,
        direction=dice.choice(("both", "both", "out", "in")),
        only_type=only_type,
        max_edges=None,
    )


def _is_small(question: Question, oracle: OracleGraph) -> bool:
    if not question.hops:
        return True
    around = bfs(oracle, question.ids, question.hops, question.max_degree)
    pages = -(-len(around.distance) // question.limit) if question.limit else 1
    return len(around.edges) <= _LARGEST and pages <= _MOST_PAGES
