"""Whether the pages of an answer are right, and whether they say so where they are not whole."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from gateway import messages
from gateway.answers.models import (
    Answer,
    BfsResult,
    EntitiesResult,
    Entity,
    IntersectionResult,
    QueryResult,
    SearchResult,
    Subgraph,
)
from gateway.errors import GatewayError, InputError, QueryRefused
from gateway.terms.iri import may_be_rewritten
from gateway.tools.readers import EDGES_NOT_COUNTED
from tests.drawn.names import spelled_alike
from tests.drawn.questions import Question
from tests.harness.report import Judgement, Verdict
from tests.name_oracle import words
from tests.oracle import (
    Edge,
    OracleGraph,
    Steering,
    are_wrong,
    bfs,
    edge_counts,
    intersect,
    steered_bfs,
    steered_intersect,
)
from tests.searches import wrong_in

Expand = Callable[[str], str]
"""Return the whole IRI of an ID."""

_HAS_OTHERS = "Others of this name: "
_UNSURE = re.compile(
    f"[Nn]ot every name could be compared|no entity of this name was found|{re.escape(EDGES_NOT_COUNTED)}"
)
"""Says why a name is not taken for what it means: others may have it, or stand out."""

_UNDECIDED = ("so the filter may miss some.", "so node_count and edge_count may be too large.")
"""Ends of warnings: a filter was not decided."""

_MORE = re.compile(r"^(?:seeds|ids): [\d,]+ more names? like these\.$", re.MULTILINE)

Declared = Callable[[str], str]
"""Return the ID of a whole IRI by declared prefixes, which is what nodes are ordered by."""


@dataclass(frozen=True)
class Truth:
    """What is known of a graph without the gateway.

    Attributes:
        oracle: Its nodes and edges.
        names: The names of each node.
        labels: Those of them that are no aliases.
        others: Those of them that are in another language than English only, which is that of the calls.
    """

    oracle: OracleGraph
    names: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    labels: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    others: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    _found: dict[Question, "Right"] = field(default_factory=dict, repr=False)

    def found_by(self, question: Question) -> "Right":
        """Return what a traversal or an intersection must have; it is found once."""
        if question not in self._found:
            self._found[question] = _expected(question, self.oracle)
        return self._found[question]

    def of_the_name(self, name: str) -> AbstractSet[str]:
        """Return the entities that have a name, in spite of case, accents and separators."""
        return self._by_spelling[spelled_alike(name)]

    def standing_out(self, name: str) -> str | None:
        """Return the entity of a name that alone has it, or is by far the most linked one; None if there is none."""
        meant = sorted(self.of_the_name(name))
        meant = [node for node in meant if self._has_in_english(node, name)] or meant
        meant = [node for node in meant if name in self.names[node]] or meant
        if len(meant) == 1:
            return meant[0]
        weights = {}
        for node in meant:
            is_label = any(spelled_alike(label) == spelled_alike(name) for label in self.labels.get(node, ()))
            weights[node] = len(set(self.oracle.edges_of(node))) * (3 if is_label else 1)
        for node in meant:
            if all(weights[node] >= 5 * max(1, weights[other]) for other in meant if other != node):
                return node
        return None

    def _has_in_english(self, node: str, name: str) -> bool:
        """Return whether a node has a name in English, or in no language."""
        said = self.names[node] - self.others.get(node, set())
        return any(spelled_alike(one) == spelled_alike(name) for one in said)

    @cached_property
    def _by_spelling(self) -> Mapping[str, AbstractSet[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for node, names in self.names.items():
            for name in names:
                found[spelled_alike(name)].add(node)
        return found


def judge(
    question: Question,
    truth: Truth,
    pages: Sequence[Answer] | GatewayError,
    expand: Expand = str,
    declared: Declared = str,
) -> Judgement:
    """Compare the answer to a question with what is right.

    Args:
        question: The question.
        truth: What is right.
        pages: All pages of the answer, or the error that came.
        expand: Returns the whole IRI of an ID of this gateway.
        declared: Returns the ID of a whole IRI by the prefixes that are declared for this gateway.
    """
    if (early := _of_names(question, truth, pages)) is not None:
        return early
    if any(question.names):
        question = replace(question, ids=_taken(question, truth, pages))
    if isinstance(pages, GatewayError):
        return _of_error(question, truth, pages)
    match pages[0]:
        case SearchResult():
            return (_of_several if question.more else _of_search)(question, truth, pages[0], expand)
        case Entity() | EntitiesResult():
            return _of_descriptions(question, truth, pages[0], expand)
        case BfsResult() | IntersectionResult():
            subgraphs = [page for page in pages if isinstance(page, BfsResult | IntersectionResult)]
            return _of_subgraph(question, truth, subgraphs, expand, declared)
        case other:
            raise TypeError(f"{type(other).__name__} is no answer to {question.tool}")


def _taken(question: Question, truth: Truth, pages: Sequence[Answer] | GatewayError) -> tuple[str, ...]:
    """Return the entities that are meant: a name may be that of another one, and is left out if none stands out."""
    left_out = _left_out(pages)
    named = enumerate(zip(question.names, question.ids, strict=True))
    taken = [truth.standing_out(name) if name else one for at, (name, one) in named if at not in left_out]
    return tuple(one for one in taken if one is not None)


def _left_out(pages: Sequence[Answer] | GatewayError) -> Mapping[int, str]:
    """Return why names were left out, by their position."""
    told = [] if isinstance(pages, GatewayError) else pages[0].as_json().get("warnings", [])
    found = {re.match(r"(?:seeds|ids)\[(\d+)\]: ", text): text for text in told if text.endswith("It was left out.")}
    return {int(match[1]): text for match, text in found.items() if match is not None}


def _of_names(question: Question, truth: Truth, pages: Sequence[Answer] | GatewayError) -> Judgement | None:
    """Judge what came of names in the place of IDs; None if they mean one entity each, or could not be looked up."""
    meant = [truth.of_the_name(name) for name in question.names if name]
    if isinstance(pages, InputError) and _may_mean_another(pages):
        return Verdict.MARKED, "names"
    if not isinstance(pages, GatewayError) and _MORE.search(_told(pages)):
        return Verdict.MARKED, "names"
    if all(len(entities) == 1 for entities in meant):
        return None
    unclear = {at for at, name in enumerate(question.names) if name and truth.standing_out(name) is None}
    leaves_out = question.tool in {"bfs_query", "describe_entities"} and len(unclear) < len(question.names)
    if not isinstance(pages, GatewayError) and (leaves_out or not unclear):
        return _of_names_left_out(question, truth, pages, unclear)
    if isinstance(pages, GatewayError):
        return (Verdict.RIGHT, "") if isinstance(pages, InputError) else None
    return Verdict.WRONG, f"a name was taken for one of {[sorted(entities)[:3] for entities in meant]}"


def _may_mean_another(error: InputError) -> bool:
    return bool(_UNSURE.search(f"{error.wrong} {error.valid}"))


def _told(pages: Sequence[Answer]) -> str:
    return "\n".join(pages[0].as_json().get("warnings", ()))


def _of_names_left_out(
    question: Question, truth: Truth, pages: Sequence[Answer], unclear: AbstractSet[int]
) -> Judgement | None:
    """Judge whether an answer says which names are left out, and which were taken for one entity of several."""
    told = _told(pages)
    left_out = _left_out(pages)
    kept = [name for at, name in enumerate(question.names) if at not in left_out]
    has_others = any(len(truth.of_the_name(name)) > 1 for name in kept)
    is_right = all(at in unclear or _UNSURE.search(text) for at, text in left_out.items())
    if is_right and unclear <= left_out.keys() and has_others == (_HAS_OTHERS in told):
        return None
    return Verdict.WRONG, "others of a name not told"


def _of_error(question: Question, truth: Truth, error: GatewayError) -> Judgement:
    if isinstance(error, InputError):
        exists = set(question.ids) & truth.oracle.nodes
        return (Verdict.WRONG, f"refused: {error.wrong}") if exists else (Verdict.RIGHT, "")
    if isinstance(error, QueryRefused) and any(map(may_be_rewritten, question.ids)):
        # Some engines read such an IRI as another one, so nothing can be asked about it; the error says so.
        return Verdict.MARKED, "an IRI that the engine rewrites"
    return Verdict.ERROR, f"{type(error).__name__}: {error.wrong}"


def _of_search(question: Question, truth: Truth, answer: SearchResult, expand: Expand) -> Judgement:
    hits = {expand(hit.id) for hit in answer.result}
    guesses = {expand(hit.id) for hit in answer.guesses or ()}
    if strange := (hits | guesses) - truth.oracle.nodes:
        return Verdict.UNTRUE, f"hits that do not exist: {sorted(strange)[:3]}"
    wrong = wrong_in(question.query, truth.names, answer, expand) if words(question.query) else []
    if wrong:
        return Verdict.WRONG, "; ".join(wrong[:3])
    return (Verdict.RIGHT, "") if answer.complete else (Verdict.MARKED, "search")


def _of_several(question: Question, truth: Truth, answer: SearchResult, expand: Expand) -> Judgement:
    """Judge the answer to each of several queries as that to it alone, and what is said of all of them."""
    told = {one.query: one for one in answer.queries or ()}
    asked = [*dict.fromkeys(query for query in (question.query, *question.more) if query.strip())]
    if list(told) != asked or answer.result or answer.guesses:
        return Verdict.WRONG, f"answers to {list(told)}, not to {asked}"
    if answer.complete is not all(one.complete for one in told.values()):
        return Verdict.WRONG, "complete as a whole, and not each, or each, and not as a whole"
    single = [
        (query, _of_search(replace(question, query=query, more=()), truth, _alone(told[query], answer), expand))
        for query in asked
    ]
    # The verdict that a report shows first: an untrue answer is worse than one that lacks something.
    for verdict in (Verdict.UNTRUE, Verdict.WRONG, Verdict.MARKED):
        if bad := [f"{query!r}: {detail}" for query, (judged, detail) in single if judged is verdict]:
            return verdict, "search" if verdict is Verdict.MARKED else "; ".join(bad[:3])
    return Verdict.RIGHT, ""


def _alone(one: QueryResult, answer: SearchResult) -> SearchResult:
    """Return the answer to one of several queries, with what is said of all of them, as the answer to it alone."""
    return SearchResult(
        result=one.result,
        guesses=one.guesses,
        complete=one.complete,
        found=one.found,
        searched=one.searched,
        next_steps=one.next_steps,
        warnings=[*(one.warnings or ()), *(answer.warnings or ())] or None,
    )


def _of_descriptions(question: Question, truth: Truth, answer: Entity | EntitiesResult, expand: Expand) -> Judgement:
    existing, told = set(question.ids) & truth.oracle.nodes, [answer] if isinstance(answer, Entity) else answer.result
    differences = []
    if isinstance(answer, EntitiesResult):
        failed = set(map(expand, answer.failed or ()))
        existing -= failed
        absent = set(question.ids) - truth.oracle.nodes - failed
        differences += _between("not_found", len(answer.not_found), len(absent))
        if not question.names:
            differences += _between("not_found", set(map(expand, answer.not_found)), absent)
    differences += _between("result", {node.iri for node in told}, existing)
    differences += [
        f"edges of {node.iri}: {node.edges}"
        for node in told
        if are_wrong(
            node.edges or {},
            edge_counts(truth.oracle, node.iri or node.id),
            total=node.edge_rows_total,
            failed=node.edges_failed,
            expand=expand,
        )
    ]
    if differences:
        return Verdict.WRONG if answer.complete else Verdict.UNTRUE, "; ".join(differences)
    return (Verdict.RIGHT, "") if answer.complete else (Verdict.MARKED, "descriptions")


def _of_subgraph(
    question: Question,
    truth: Truth,
    pages: Sequence[BfsResult | IntersectionResult],
    expand: Expand,
    declared: Declared,
) -> Judgement:
    first, oracle, right = pages[0], truth.oracle, truth.found_by(question)
    is_whole = first.complete or _reads_all(first)
    listed = [expand(node.id) for page in pages for node in page.nodes]
    edges = [
        (expand(edge.subject), expand(edge.predicate), expand(edge.object)) for page in pages for edge in page.edges
    ]
    unread = {expand(iri) for gap in first.incomplete or () if gap.cause != "blank_nodes" for iri in gap.ids}
    missing = {expand(seed) for seed in first.missing_seeds or ()}
    # Where a seed could not be found missing, the others may have nodes in common.
    common = question.tool == "intersect_subgraphs" and set(right.missing) - missing
    wrong = [
        *_between("nodes on two pages", len(listed) - len(set(listed)), 0),
        *_between("edges on two pages", len(edges) - len(set(edges)), 0),
        *([] if common else _between("nodes that are none", set(listed) - right.nodes, set())),
        # Of a seed that could not be asked about it is not said that it is missing.
        *_between("missing seeds", missing, set(right.missing) - (unread - missing)),
        *_between("nodes listed", len(listed), first.node_count),
        *_of_paths(question, oracle, pages, expand),
    ]
    if not common and (question.tool == "bfs_query" or not question.max_edges):
        wrong += _between("edges that are none", set(edges) - right.edges, set())
    if wrong:
        return Verdict.WRONG if is_whole else Verdict.UNTRUE, "; ".join(wrong)
    if not is_whole:
        return Verdict.MARKED, ", ".join(sorted({gap.cause for gap in first.incomplete or ()}))
    if question.only_type and any(text.endswith(_UNDECIDED) for text in first.warnings or ()):
        # `complete` is about the traversal, before any filter.
        return Verdict.MARKED, "types by which it is filtered"
    shown = _of_type(question, oracle, right, expand, declared) if question.only_type else right
    differences = [
        *_between("nodes", set(listed), shown.nodes),
        *_between("edges", set(edges), shown.edges),
        *_between("edge_count", first.edge_count, len(shown.edges)),
        *_between(
            "unknown types", [node.id for page in pages for node in page.nodes if node.entity_type == "unknown"], []
        ),
    ]
    differences += _between("told blank nodes", _tells_blank_nodes(first), bool(first.blank_node_edges))
    if isinstance(first, BfsResult):
        differences += _between("levels", tuple(first.levels), shown.levels)
        differences += _between("partial paths", (first.removed or {}).get("partial_paths", 0), right.partial)
        if not question.is_steered:
            differences += _between("blank_node_edges", first.blank_node_edges or 0, right.blank_node_edges)
            differences += _of_hubs(first, right.hubs, expand)
    return (Verdict.WRONG, "; ".join(differences)) if differences else (Verdict.RIGHT, "")


def _of_hubs(answer: BfsResult, hubs: frozenset[str], expand: Expand) -> list[str]:
    gaps = [gap for gap in answer.incomplete or () if gap.cause == "hub_not_expanded"]
    named = {expand(iri) for gap in gaps for iri in gap.ids}
    return _between("hubs", sum(gap.count for gap in gaps), len(hubs)) + _between("no hubs", named - hubs, set())


@dataclass(frozen=True)
class Right:
    """What an answer must have; of a traversal, also how far each node is from the seeds."""

    nodes: frozenset[str]
    edges: frozenset[Edge]
    missing: Sequence[str] = ()
    distance: Mapping[str, int] = field(default_factory=dict)
    blank_node_edges: int = 0
    partial: int = 0
    hubs: frozenset[str] = frozenset()

    @property
    def levels(self) -> tuple[int, ...]:
        """How many nodes there are by distance."""
        counted = Counter(self.distance[node] for node in self.nodes)
        return tuple(counted[at] for at in range(max(counted, default=-1) + 1))


def _expected(question: Question, oracle: OracleGraph) -> Right:
    ids, hops, max_degree, steering = question.ids, question.hops, question.max_degree, question.steering
    present = [seed for seed in dict.fromkeys(ids) if seed in oracle.nodes]
    missing = [seed for seed in dict.fromkeys(ids) if seed not in oracle.nodes]
    if question.tool == "bfs_query" and question.is_steered:
        found = steered_bfs(oracle, present, hops, steering, max_degree)
        return Right(frozenset(found.distance), found.edges, missing, found.distance, 0, len(found.partial))
    if question.tool == "bfs_query":
        around = bfs(oracle, ids, hops, max_degree)
        return Right(
            frozenset(around.distance), around.edges, missing, around.distance, around.blank_node_edges, 0, around.hubs
        )
    if question.is_steered and not missing:
        common = steered_intersect(oracle, present, hops, steering, max_degree)
    else:
        common = intersect(oracle, ids, hops, max_degree)
    return Right(common.nodes, common.edges, missing)


def _of_type(question: Question, oracle: OracleGraph, right: Right, expand: Expand, declared: Declared) -> Right:
    """Return what `only_node_types` leaves: nodes of the type, seeds, and in a traversal what is on the way to them."""
    typed = {node for node in right.nodes if expand(question.only_type) in oracle.types.get(node, ())}
    kept = typed | (set(question.ids) & right.nodes)
    if question.tool == "bfs_query":
        kept |= _on_the_way(question, oracle, right, typed, declared)
    edges = frozenset(edge for edge in right.edges if edge[0] in kept and edge[2] in kept)
    return replace(right, nodes=frozenset(kept), edges=edges)


def _on_the_way(
    question: Question, oracle: OracleGraph, right: Right, goals: AbstractSet[str], declared: Declared
) -> set[str]:
    """Return the nodes on one shortest path to each goal: of several, the first by ID, counted from the end."""
    arrivals: list[defaultdict[str, set[str]]] = []
    places = {node for node, at in right.distance.items() if not at}
    for hop in range(question.hops):
        arrived: defaultdict[str, set[str]] = defaultdict(set)
        for node in places:
            for edge, other in question.steering.of(hop).steps(oracle, node):
                if edge in right.edges and (question.listed or right.distance[other] == hop + 1):
                    arrived[other].add(node)
        arrivals.append(arrived)
        places = set(arrived)
    found = set()
    for goal in goals:
        hops = next((hop for hop, arrived in enumerate(arrivals, 1) if goal in arrived), 0)
        node = goal
        for arrived in reversed(arrivals[: hops if right.distance[goal] else 0]):
            node = min(arrived[node], key=declared)
            found.add(node)
    return found


def _of_paths(question: Question, oracle: OracleGraph, pages: Sequence[Subgraph], expand: Expand) -> list[str]:
    """Return what is wrong with the paths of an intersection: ends, steps, and lengths where nothing was cut."""
    if question.tool != "intersect_subgraphs":
        return []
    wrong: list[str] = []
    nodes = [node for page in pages for node in page.nodes]
    whole = any(node.via for node in nodes) and (pages[0].complete or _reads_all(pages[0], hubs=False))
    distances = _distances(question, oracle) if whole else {}
    for node in nodes:
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
            if whole and length != distances.get(seed, {}).get(expand(node.id)):
                wrong.append(f"a path of {length} steps from {path[0]} to {path[-1]} is not the shortest")
    return wrong[:3]


def _distances(question: Question, oracle: OracleGraph) -> Mapping[str, Mapping[str, int]]:
    """Return how far the nodes are from each seed of an intersection."""
    followed = question.lists if question.listed else question.lists * len(question.ids)
    return {
        seed: steered_bfs(oracle, [seed], question.hops, Steering((names,), question.direction)).distance
        for seed, names in zip(dict.fromkeys(question.ids), followed, strict=False)
    }


def _tells_blank_nodes(answer: Subgraph) -> bool:
    return any(gap.cause == "blank_nodes" for gap in answer.incomplete or ())


def _reads_all(answer: Subgraph, *, hubs: bool = True) -> bool:
    """Return whether an answer lacks only what the question keeps out, and blank nodes."""
    expected = {"blank_nodes", *(["hub_not_expanded"] if hubs else [])}
    return bool(answer.incomplete) and all(gap.cause in expected for gap in answer.incomplete or ())


def _between(what: str, shown: object, right: object) -> list[str]:
    if shown == right:
        return []
    if isinstance(shown, AbstractSet) and isinstance(right, AbstractSet):
        more, fewer = sorted(map(str, shown - right)), sorted(map(str, right - shown))
        return [f"{what}: {len(more)} too many {more[:2]}, {len(fewer)} too few {fewer[:2]}"]
    return [f"{what}: {shown}, not {right}"]


_ABOUT_EDGES = frozenset({"edges", "edge_rows_total", "blank_node_edges", "edges_failed", "complete", "warnings"})
"""What hangs on whether the edges of an entity could be counted."""

_ABOUT_FAILURES = ("edges_failed", "metadata_failed", messages.NAME_KEYS_UNKNOWN)
"""Warnings that tell what could not be read."""


def judge_under_faults(
    question: Question, truth: Truth, answer: Answer | GatewayError, expand: Expand = str, clean: Answer | None = None
) -> Judgement:
    """Compare an answer with what is right, and say how it differs.

    Args:
        question: What was asked.
        truth: What the oracle says.
        answer: What came, an error included.
        expand: Returns the whole IRI of an ID.
        clean: What the same engine says where nothing goes wrong, so that values can be compared, which the oracle
            does not have.
    """
    if isinstance(answer, GatewayError):
        return judge(question, truth, answer, expand)
    verdict, detail = judge(question, truth, [answer], expand)
    if verdict is Verdict.MARKED and _lacks_only_blank_nodes(answer):
        verdict, detail = Verdict.RIGHT, ""
    values = [] if clean is None else _of_values(answer, clean)
    if not values:
        return verdict, detail
    worse = {Verdict.RIGHT: Verdict.WRONG, Verdict.MARKED: Verdict.UNTRUE}
    return worse.get(verdict, verdict), "; ".join([*filter(None, [detail]), *values])


def _lacks_only_blank_nodes(answer: Answer) -> bool:
    """Tell whether a description lacks nothing but what blank nodes say, whatever happens."""
    if not isinstance(answer, Entity | EntitiesResult) or answer.degraded or getattr(answer, "failed", None):
        return False
    beside, _, _ = messages.blank_nodes_beside("|").partition("|")
    return bool(answer.warnings) and all(warning.startswith(beside) for warning in answer.warnings or ())


def _of_values(answer: Answer, clean: Answer) -> list[str]:
    """Compare the metadata of what both tell; what failed is told as that, and has none."""
    came, right = _records(answer), _records(clean)
    shared = came.keys() & right.keys()
    if messages.NAME_KEYS_UNKNOWN in (getattr(answer, "warnings", None) or ()):
        # It says that a name may stand under another key, so it is compared without the keys.
        different = [key for key in shared if not _said_in(came[key]) <= _said_in(right[key])]
    else:
        different = [key for key in shared if came[key] != right[key]]
    return [
        *([f"other values: {sorted(different)[:3]}"] if different else []),
        *_of_labels(answer, clean),
    ]


def _of_labels(answer: Answer, clean: Answer) -> list[str]:
    """Compare the labels of a description; those that failed are reported beside them."""
    if not (isinstance(answer, Entity) and isinstance(clean, Entity)) or answer.entity_type != clean.entity_type:
        return []
    if "labels_failed" in (answer.degraded or {}) or answer.labels == clean.labels:
        return []
    return [f"other labels: {answer.labels}, not {clean.labels}"]


def _records(answer: Answer) -> dict[str, object]:
    match answer:
        case Entity():
            # Which of several types is shown hangs on whether the schema could be read in time.
            apart = {"entity_type", "labels", "degraded", *_ABOUT_EDGES}
            said = {key: value for key, value in answer.as_json().items() if key not in apart}
            said["warnings"] = [text for text in answer.warnings or () if not text.startswith(_ABOUT_FAILURES)]
            return {answer.iri or answer.id: said}
        case EntitiesResult():
            return {node.iri or node.id: node.metadata for node in answer.result}
        case BfsResult() | IntersectionResult():
            # Where the types failed, they are missing from the metadata too, and the node says that they are unknown.
            nodes = {
                node.id: node.metadata
                for node in answer.nodes
                if node.metadata is not None and node.entity_type != "unknown"
            }
            edges = {
                f"{edge.subject} {edge.predicate} {edge.object}": edge.metadata
                for edge in answer.edges
                # An edge without metadata has none, or it failed: the count of failures tells, and not which.
                if edge.metadata is not None or not answer.degraded
            }
            return {**nodes, **edges}
        case _:
            return {}


def _said_in(value: object) -> frozenset[str]:
    """Return all texts and numbers in a record, whatever they stand under."""
    match value:
        case dict():
            parts: Iterable[object] = value.values()
        case list():
            parts = value
        case _:
            return frozenset([str(value)])
    return frozenset(chain.from_iterable(map(_said_in, parts)))
