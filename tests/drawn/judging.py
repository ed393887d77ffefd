"""Whether the pages of an answer are right, and whether they say so where they are not whole."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from gateway.engine.answers import Answer, BfsResult, EntitiesResult, IntersectionResult, SearchResult, Subgraph
from gateway.errors import GatewayError, InputError, QueryRefused
from gateway.terms.iri import may_be_rewritten
from tests.drawn.questions import Question
from tests.name_oracle import words
from tests.oracle import Edge, OracleGraph, Steering, bfs, intersect, steered_bfs, steered_intersect
from tests.searches import wrong_in
from tests.soak.verdict import Verdict
from tests.survey_oracle import are_wrong, edge_counts

Expand = Callable[[str], str]
"""Return the whole IRI of an ID."""


@dataclass(frozen=True)
class Truth:
    """What is known of a graph without the gateway.

    Attributes:
        oracle: Its nodes and edges.
        names: The names of each node.
    """

    oracle: OracleGraph
    names: Mapping[str, AbstractSet[str]]


def judge(
    question: Question, truth: Truth, pages: Sequence[Answer] | GatewayError, expand: Expand
) -> tuple[Verdict, str]:
    """Compare the answer to a question with what is right.

    Args:
        question: The question.
        truth: What is right.
        pages: All pages of the answer, or the error that came.
        expand: Returns the whole IRI of an ID of this gateway.
    """
    if isinstance(pages, InputError):
        exists = set(question.ids) & truth.oracle.nodes
        return (Verdict.WRONG, f"refused: {pages.wrong}") if exists else (Verdict.RIGHT, "")
    if isinstance(pages, QueryRefused) and any(map(may_be_rewritten, question.ids)):
        # Some engines read such an IRI as another one, so nothing can be asked about it; the error says so.
        return Verdict.MARKED, "an IRI that the engine rewrites"
    if isinstance(pages, GatewayError):
        return Verdict.ERROR, f"{type(pages).__name__}: {pages.wrong}"
    match pages[0]:
        case SearchResult():
            return _of_search(question, truth, pages[0], expand)
        case EntitiesResult():
            return _of_descriptions(question, truth, pages[0], expand)
        case BfsResult() | IntersectionResult():
            subgraphs = [page for page in pages if isinstance(page, BfsResult | IntersectionResult)]
            return _of_subgraph(question, truth.oracle, subgraphs, expand)
        case other:
            raise TypeError(f"{type(other).__name__} is no answer to {question.tool}")


def _of_search(question: Question, truth: Truth, answer: SearchResult, expand: Expand) -> tuple[Verdict, str]:
    hits = {expand(hit.id) for hit in answer.result}
    guesses = {expand(hit.id) for hit in answer.guesses or ()}
    if strange := (hits | guesses) - truth.oracle.nodes:
        return Verdict.UNTRUE, f"hits that do not exist: {sorted(strange)[:3]}"
    wrong = wrong_in(question.query, truth.names, answer, expand) if words(question.query) else []
    if wrong:
        return Verdict.WRONG, "; ".join(wrong[:3])
    return (Verdict.RIGHT, "") if answer.complete else (Verdict.MARKED, "search")


def _of_descriptions(question: Question, truth: Truth, answer: EntitiesResult, expand: Expand) -> tuple[Verdict, str]:
    existing = set(question.ids) & truth.oracle.nodes
    failed = set(answer.failed or ())
    found = {node.iri for node in answer.result}
    differences = [
        *_between("result", found, existing - failed),
        *_between("not_found", len(answer.not_found), len(set(question.ids) - existing - failed)),
    ]
    differences += [
        f"edges of {node.iri}: {node.edges}"
        for node in answer.result
        if are_wrong(
            node.edges or {},
            edge_counts(truth.oracle, node.iri),
            total=node.edge_rows_total,
            failed=node.edges_failed,
            expand=expand,
        )
    ]
    if differences:
        return Verdict.WRONG, "; ".join(differences)
    return (Verdict.RIGHT, "") if answer.complete else (Verdict.MARKED, "descriptions")


def _of_subgraph(
    question: Question, oracle: OracleGraph, pages: Sequence[BfsResult | IntersectionResult], expand: Expand
) -> tuple[Verdict, str]:
    first = pages[0]
    listed = [expand(node.id) for page in pages for node in page.nodes]
    edges = [
        (expand(edge.subject), expand(edge.predicate), expand(edge.object)) for page in pages for edge in page.edges
    ]
    right = _expected(question, oracle)
    wrong = [
        *_between("nodes on two pages", len(listed) - len(set(listed)), 0),
        *_between("edges on two pages", len(edges) - len(set(edges)), 0),
        *_between("nodes that are none", set(listed) - right.nodes, set()),
        *_between("missing seeds", {expand(seed) for seed in first.missing_seeds or ()}, set(right.missing)),
        *_between("nodes listed", len(listed), first.node_count),
        *_of_paths(question, oracle, pages, expand),
    ]
    if question.tool == "bfs_query" or not question.max_edges:
        wrong += _between("edges that are none", set(edges) - right.edges, set())
    if wrong:
        return Verdict.UNTRUE, "; ".join(wrong)
    if not (first.complete or _only_hubs(first)):
        return Verdict.MARKED, ", ".join(sorted({gap.cause for gap in first.incomplete or ()}))
    differences = _of_type(question, oracle, right, set(listed), expand) if question.only_type else []
    if not question.only_type:
        differences = [
            *_between("nodes", set(listed), right.nodes),
            *_between("edges", set(edges), right.edges),
            *_between("edge_count", first.edge_count, len(right.edges)),
        ]
        if isinstance(first, BfsResult):
            differences += _between("levels", tuple(first.levels), right.levels)
            differences += _between("partial paths", (first.removed or {}).get("partial_paths", 0), right.partial)
            if not question.is_steered:
                differences += _between("blank_node_edges", first.blank_node_edges or 0, right.blank_node_edges)
    return (Verdict.WRONG, "; ".join(differences)) if differences else (Verdict.RIGHT, "")


@dataclass(frozen=True)
class _Right:
    """What an answer must have."""

    nodes: frozenset[str]
    edges: frozenset[Edge]
    missing: Sequence[str] = ()
    levels: tuple[int, ...] = ()
    blank_node_edges: int = 0
    partial: int = 0


def _expected(question: Question, oracle: OracleGraph) -> _Right:
    ids, hops, max_degree, steering = question.ids, question.hops, question.max_degree, question.steering
    present = [seed for seed in dict.fromkeys(ids) if seed in oracle.nodes]
    missing = [seed for seed in dict.fromkeys(ids) if seed not in oracle.nodes]
    if question.tool == "bfs_query" and question.is_steered:
        found = steered_bfs(oracle, present, hops, steering, max_degree)
        counted = Counter(found.distance.values())
        levels = tuple(counted[at] for at in range(max(counted, default=-1) + 1))
        return _Right(frozenset(found.distance), found.edges, missing, levels, 0, len(found.partial))
    if question.tool == "bfs_query":
        around = bfs(oracle, ids, hops, max_degree)
        return _Right(frozenset(around.distance), around.edges, missing, tuple(around.levels), around.blank_node_edges)
    if question.is_steered and not missing:
        common = steered_intersect(oracle, present, hops, steering, max_degree)
    else:
        common = intersect(oracle, ids, hops, max_degree)
    return _Right(common.nodes, common.edges, missing)


def _of_type(
    question: Question, oracle: OracleGraph, right: _Right, shown: AbstractSet[str], expand: Expand
) -> list[str]:
    """Return what is wrong with the nodes that a filter leaves; `tests/test_steering.py` has the others."""
    typed = {node for node in right.nodes if expand(question.only_type) in oracle.types.get(node, ())}
    fewer = (typed | (set(question.ids) & right.nodes)) - shown
    more = shown - typed - set(question.ids) if question.tool == "intersect_subgraphs" else set()
    return [*_between("nodes of the type missing", fewer, set()), *_between("nodes of other types", more, set())]


def _of_paths(question: Question, oracle: OracleGraph, pages: Sequence[Subgraph], expand: Expand) -> list[str]:
    """Return what is wrong with the paths of an intersection: ends, steps, and lengths where nothing was cut."""
    if question.tool != "intersect_subgraphs":
        return []
    wrong: list[str] = []
    whole = pages[0].complete
    for node in (node for page in pages for node in page.nodes):
        paths = node.via or ()
        ends = {expand(path[-1]) for path in paths}
        # Unasked, a path is shown where the edges do not show it, as far as it was cheap to find.
        is_whole = ends == set(question.ids) if question.via else ends <= set(question.ids)
        if any(path[0] != node.id for path in paths) or not is_whole:
            wrong.append(f"paths of {node.id} end at {sorted(ends)}")
        for path in paths:
            for one, predicate, other in zip(path[::2], path[1::2], path[2::2], strict=False):
                step = (expand(one), expand(predicate.removeprefix("^")), expand(other))
                if (step[::-1] if predicate.startswith("^") else step) not in oracle.edges:
                    wrong.append(f"no edge from {one} by {predicate} to {other}")
            seed, length = expand(path[-1]), len(path) // 2
            if whole and length != _distance(question, oracle, seed, expand(node.id)):
                wrong.append(f"a path of {length} steps from {path[0]} to {path[-1]} is not the shortest")
    return wrong[:3]


def _distance(question: Question, oracle: OracleGraph, seed: str, node: str) -> int | None:
    if seed not in question.ids:
        return None
    place = list(dict.fromkeys(question.ids)).index(seed)
    alone = Steering((question.lists[place if question.listed else 0],), question.direction)
    return steered_bfs(oracle, [seed], question.hops, alone).distance.get(node)


def _only_hubs(answer: Subgraph) -> bool:
    return bool(answer.incomplete) and all(gap.cause == "hub_not_expanded" for gap in answer.incomplete or ())


def _between(what: str, shown: object, right: object) -> list[str]:
    if shown == right:
        return []
    if isinstance(shown, AbstractSet) and isinstance(right, AbstractSet):
        more, fewer = sorted(map(str, shown - right)), sorted(map(str, right - shown))
        return [f"{what}: {len(more)} too many {more[:2]}, {len(fewer)} too few {fewer[:2]}"]
    return [f"{what}: {shown}, not {right}"]
