"""Whether the pages of an answer are right, and whether they say so where they are not whole."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from gateway.engine.answers import Answer, BfsResult, EntitiesResult, IntersectionResult, SearchResult, Subgraph
from gateway.errors import GatewayError, InputError, QueryRefused
from gateway.terms.iri import may_be_rewritten
from tests.drawn.names import words_alike
from tests.drawn.questions import Question
from tests.oracle import Edge, OracleGraph, bfs, intersect
from tests.soak.verdict import Verdict

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
            return _of_descriptions(question, truth, pages[0])
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
    wanted = words_alike(question.query)
    alike = {node for node, names in truth.names.items() if any(words_alike(name) == wanted for name in names)}
    if not answer.complete:
        return Verdict.MARKED, "search"
    if (missed := alike - hits) and answer.found is None:
        return Verdict.WRONG, f"missed: {sorted(missed)[:3]} of {len(alike)}"
    return Verdict.RIGHT, ""


def _of_descriptions(question: Question, truth: Truth, answer: EntitiesResult) -> tuple[Verdict, str]:
    existing = set(question.ids) & truth.oracle.nodes
    failed = set(answer.failed or ())
    found = {node.iri for node in answer.result}
    differences = [
        *_between("result", found, existing - failed),
        *_between("not_found", len(answer.not_found), len(set(question.ids) - existing - failed)),
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
    nodes, missing, all_edges = _expected(question, oracle)
    wrong = [
        *_between("nodes on two pages", len(listed) - len(set(listed)), 0),
        *_between("edges on two pages", len(edges) - len(set(edges)), 0),
        *_between("nodes that are none", set(listed) - nodes, set()),
        *_between("missing seeds", {expand(seed) for seed in first.missing_seeds or ()}, set(missing)),
        *_between("nodes listed", len(listed), first.node_count),
        *_of_paths(question, oracle, pages, expand),
    ]
    if question.tool == "bfs_query" or not question.max_edges:
        wrong += _between("edges that are none", set(edges) - all_edges, set())
    if wrong:
        return Verdict.UNTRUE, "; ".join(wrong)
    if not (first.complete or _only_hubs(first)):
        return Verdict.MARKED, ", ".join(sorted({gap.cause for gap in first.incomplete or ()}))
    differences = [
        *_between("nodes", set(listed), nodes),
        *_between("edges", set(edges), all_edges),
        *_between("edge_count", first.edge_count, len(all_edges)),
    ]
    if isinstance(first, BfsResult):
        right = bfs(oracle, question.ids, question.hops, question.max_degree)
        differences += _between("levels", tuple(first.levels), tuple(right.levels))
        differences += _between("blank_node_edges", first.blank_node_edges or 0, right.blank_node_edges)
    return (Verdict.WRONG, "; ".join(differences)) if differences else (Verdict.RIGHT, "")


def _expected(question: Question, oracle: OracleGraph) -> tuple[set[str], list[str], set[Edge]]:
    if question.tool == "bfs_query":
        right = bfs(oracle, question.ids, question.hops, question.max_degree)
        return set(right.distance), right.missing, set(right.edges)
    common = intersect(oracle, question.ids, question.hops, question.max_degree)
    return set(common.nodes), common.missing, set(common.edges)


def _of_paths(question: Question, oracle: OracleGraph, pages: Sequence[Subgraph], expand: Expand) -> list[str]:
    """Return what is wrong with the paths of an intersection: ends, steps, and lengths where nothing was cut."""
    if question.tool != "intersect_subgraphs":
        return []
    wrong: list[str] = []
    whole = pages[0].complete
    for node in (node for page in pages for node in page.nodes):
        paths = [[expand(step) for step in path] for path in node.via or ()]
        ends = {path[-1] for path in paths}
        if any(path[0] != expand(node.id) for path in paths) or ends != set(question.ids):
            wrong.append(f"paths of {node.id} end at {sorted(ends)}")
        for path in paths:
            for one, other in pairwise(path):
                if not any({s, o} == {one, other} for s, _, o in oracle.edges_of(one)):
                    wrong.append(f"no edge between {one} and {other}")
            if whole and len(path) - 1 != bfs(oracle, [path[-1]], question.hops).distance.get(path[0]):
                wrong.append(f"a path of {len(path) - 1} steps from {path[0]} to {path[-1]} is not the shortest")
    return wrong[:3]


def _only_hubs(answer: Subgraph) -> bool:
    return bool(answer.incomplete) and all(gap.cause == "hub_not_expanded" for gap in answer.incomplete or ())


def _between(what: str, shown: object, right: object) -> list[str]:
    if shown == right:
        return []
    if isinstance(shown, AbstractSet) and isinstance(right, AbstractSet):
        more, fewer = sorted(map(str, shown - right)), sorted(map(str, right - shown))
        return [f"{what}: {len(more)} too many {more[:2]}, {len(fewer)} too few {fewer[:2]}"]
    return [f"{what}: {shown}, not {right}"]
