"""Renders subgraphs for a person: a neighbourhood as trees by distance, an intersection as two lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import itemgetter

from rich.console import RenderableType
from rich.text import Text
from rich.tree import Tree

from gateway.answers.models import BfsResult, Edge, IntersectionResult, Node, Subgraph
from gateway.arguments import TraversalShow
from gateway.cli import render
from gateway.cli.render import sections
from gateway.cli.screen import ID, STRONG, TYPE, Hanging, IdTable, KeyValues, Unwrapped
from gateway.cli.streams import clean
from gateway.cli.subgraph_notes import between_last, head, next_page, warnings_of
from gateway.errors import counted
from gateway.export.subgraph import how_said
from gateway.terms.names import cut, fold
from gateway.terms.prefixes import local_form

_PREDICATE = "green"
_FAINT = "dim"
_OF_DIFFERENCE = frozenset({"disjointWith", "propertyDisjointWith", "differentFrom"})
"""Local names of predicates of OWL."""

_EARLIER = "on an earlier page"

_LONGEST_BESIDE = 60
"""Characters of a name behind an ID in an edge or a path."""

_GUIDE = 4
"""Cells of the guides of a tree, for each level."""


def bfs(answer: BfsResult, offset: int, show: TraversalShow = "both") -> RenderableType:
    """Return a page of a neighbourhood after `offset` nodes, each node below the first from which it was reached.

    Nodes that stand in rows are a table.
    """
    names = _Names(answer)
    levels = [
        f"{count:,} at {counted(distance, 'hop')}" if distance else counted(count, "seed")
        for distance, count in enumerate(answer.levels)
    ]
    return sections(
        head(answer, offset),
        *_content(answer, offset, show, names),
        _foot(answer, names, [("Distances", " · ".join(levels))], between_last(answer)),
    )


def _trees(answer: BfsResult, offset: int, names: _Names) -> list[Sequence[RenderableType]]:
    """Return the nodes of a page below those that they were reached from, and the edges that are in no tree."""
    forest = _forest_of(answer, offset)
    far: list[list[RenderableType]] = [
        [
            Text(f"At distance {distance}, reached through nodes that are not shown:", style=_FAINT),
            *(Unwrapped(_tree(root, forest, names)) for root in roots),
        ]
        for distance, roots in forest.detached.items()
    ]
    return [
        [Unwrapped(_tree(root, forest, names)) for root in forest.roots],
        *far,
        names.edges("Further edges" if forest.tree_edges else "Edges", forest.other_edges),
    ]


def intersection(
    answer: IntersectionResult,
    offset: int,
    show: TraversalShow = "both",
    *,
    tells_paths: bool = False,
    are_edges_paths: bool = False,
) -> RenderableType:
    """Return a page of an intersection after `offset` nodes, and the edges among its nodes.

    Args:
        answer: The page.
        offset: How many nodes are before it.
        show: What stands for a node in rows.
        tells_paths: Whether it says of how many nodes no path is shown.
        are_edges_paths: Whether every edge to a seed is a path to it, because all edges were followed.
    """
    names = _Names(answer)
    return sections(
        head(answer, offset),
        *_content(answer, offset, show, names, tells_paths=tells_paths, are_edges_paths=are_edges_paths),
        _foot(answer, names, []),
    )


def _lists(
    answer: IntersectionResult, names: _Names, *, tells_paths: bool, are_edges_paths: bool
) -> list[Sequence[RenderableType]]:
    edges = names.edges("Edges between these nodes", answer.edges)
    return [
        _table(answer, names),
        _paths(answer, names, _direct_paths(answer) if are_edges_paths else {}, tells_others=tells_paths),
        edges,
        _of_differences(answer, names),
    ]


def _of_differences(answer: IntersectionResult, names: _Names) -> list[RenderableType]:
    """Return how to leave out edges that say that nodes differ, where others say how they hang together."""
    found = answer.schema_summary.predicates_found
    differing = [names.predicates[name] for name in found if says_difference(name)]
    if not differing or len(differing) == len(found):
        return []
    say = "says" if len(differing) == 1 else "say"
    return [Text(f"{' and '.join(differing)} {say} what nodes do not share: --only-predicate follows others.", _FAINT)]


def _content(
    answer: BfsResult | IntersectionResult,
    offset: int,
    show: TraversalShow,
    names: _Names,
    *,
    tells_paths: bool = False,
    are_edges_paths: bool = False,
) -> list[Sequence[RenderableType]]:
    """Return the nodes and edges of a page: rows where nodes stand in them, else trees or lists."""
    if render.table_of(answer) is not None:
        return _rows(answer, names, show)
    if isinstance(answer, BfsResult):
        return _trees(answer, offset, names)
    return _lists(answer, names, tells_paths=tells_paths, are_edges_paths=are_edges_paths)


def _rows(answer: Subgraph, names: _Names, show: TraversalShow) -> list[Sequence[RenderableType]]:
    return [render.row_table(answer, show), names.edges("Edges", answer.edges)]


def part(answer: BfsResult | IntersectionResult, offset: int, show: TraversalShow = "both") -> RenderableType:
    """Return a page of a subgraph of which all pages are shown: what is said of all stands behind the last."""
    return sections(*_content(answer, offset, show, _Names(answer)))


def _table(answer: IntersectionResult, names: _Names) -> list[RenderableType]:
    rows = [(clean(node.id), names.types[node.entity_type], names.name(node)) for node in answer.nodes]
    return [IdTable([("ID", ID), ("Type", TYPE), ("Name", "")], rows)] if rows else []


def _paths(
    answer: IntersectionResult, names: _Names, direct: Mapping[tuple[str, str], list[str]], *, tells_others: bool
) -> list[RenderableType]:
    """Return the paths between each node and the seeds: one from the first seed to the second, or one to each.

    A seed has those to the seeds behind it. An answer leaves paths of one edge to its edges, unless paths are asked
    for: these are `direct`. The shortest come first, and those by the same predicates stand together.
    """
    found: list[tuple[tuple[bool, int, Sequence[str]], Text]] = []
    without = 0
    for node in answer.nodes:
        is_seed = node.id in answer.seeds
        by_seed = {path[-1]: path for path in node.via or () if path[1:]}
        sought = answer.seeds[answer.seeds.index(node.id) + 1 :] if is_seed else answer.seeds
        known = [by_seed.get(seed) or direct.get((node.id, seed)) for seed in sought]
        paths = [path for path in known if path]
        without += not is_seed and len(paths) < len(sought)
        if len(paths) == 2 and not is_seed:  # noqa: PLR2004 - one line from end to end
            paths = [[*_turned(paths[0]), *paths[1][1:]]]
        steps = [step.removeprefix("^") for path in paths for step in path[1::2]]
        # Behind those that say how nodes hang together.
        order = (any(map(says_difference, steps)), max(map(len, paths), default=0), steps)
        found += [(order, _path(path, "" if is_seed else node.id, names)) for path in paths]
    found.sort(key=itemgetter(0))
    lines: list[RenderableType] = [Hanging(text) for _, text in found]
    if without and tells_others:
        unshown = f"Of {counted(without, 'node')} not all paths to the seeds" if lines else "Paths to the seeds"
        lines.append(Text(f"{unshown} are {'' if lines else 'not '}shown: --via shows all."))
    return [*([Text("Paths to the seeds", style=STRONG)] if found else []), *lines]


def _direct_paths(answer: IntersectionResult) -> dict[tuple[str, str], list[str]]:
    """Return the paths of one edge to seeds by their ends, of several edges the first by its predicate."""
    found: dict[tuple[str, str], list[str]] = {}
    for edge in sorted(answer.edges, key=lambda edge: edge.predicate):
        for start, step, end in (
            (edge.subject, edge.predicate, edge.object),
            (edge.object, f"^{edge.predicate}", edge.subject),
        ):
            if end in answer.seeds:
                found.setdefault((start, end), [start, step, end])
    return found


def says_difference(predicate: str) -> bool:
    """Return whether a predicate says that two things are different or share nothing: not how they hang together."""
    return local_form(predicate) in _OF_DIFFERENCE


def _turned(path: Sequence[str]) -> list[str]:
    turned = list(reversed(path))
    turned[1::2] = [step.removeprefix("^") if step.startswith("^") else f"^{step}" for step in turned[1::2]]
    return turned


def _path(path: Sequence[str], node: str, names: _Names) -> Text:
    """Return a path, the node that it explains highlighted."""
    line = Text.assemble("  ", (clean(path[0]), ID if path[0] == node else ""), names.beside(path[0]))
    for step, other in zip(path[1::2], path[2::2], strict=True):
        name = names.predicates[step.removeprefix("^")]
        line.append(f" ← {name} " if step.startswith("^") else f" {name} → ", _PREDICATE)
        line.append(clean(other), ID if other == node else "").append_text(names.beside(other))
    return line


class _Names:
    """The names of the nodes, types and predicates of one answer."""

    def __init__(self, answer: Subgraph) -> None:
        summary = answer.schema_summary
        self.types = short_names(
            {*summary.entity_types_found, *(node.entity_type for node in answer.nodes), _EARLIER}, answer.labels
        )
        on_paths = {step.removeprefix("^") for node in answer.nodes for path in node.via or () for step in path[1::2]}
        named = {node.id: self.name(node) for node in answer.nodes}
        self._nodes = {name_id: clean(name) for name_id, name in (answer.labels or {}).items()} | named
        self.predicates = short_names(
            {*summary.predicates_found, *(edge.predicate for edge in answer.edges), *on_paths}, answer.labels
        )

    def name(self, node: Node) -> str:
        return clean(name_of(node))

    def beside(self, name_id: str) -> Text:
        """Return the name of a node behind its ID; nothing where the ID says it."""
        name = cut(self._nodes.get(name_id, ""), _LONGEST_BESIDE)
        return Text(f" ({name})" if name and fold(name) != fold(local_form(name_id)) else "")

    def node(self, node: Node) -> Text:
        name = self.name(node)
        return Text.assemble(
            (clean(node.id), ID),
            f"  {name}" if name else "",
            (f"  [{self.types[node.entity_type]}]", TYPE),
            ("  on the way", _FAINT) if node.on_the_way else "",
        )

    def edges(self, title: str, edges: Sequence[Edge]) -> list[RenderableType]:
        if not edges:
            return []
        # Those of one predicate stand together, and many of one hide no others.
        counts = Counter(edge.predicate for edge in edges)
        ordered = sorted(edges, key=lambda edge: (counts[edge.predicate], edge.predicate))
        return [Text(title, style=STRONG), *(Hanging(self._edge(edge)) for edge in ordered)]

    def _edge(self, edge: Edge) -> Text:
        return Text.assemble(
            "  ",
            (clean(edge.subject), ID),
            self.beside(edge.subject),
            (f" {self.predicates[edge.predicate]} → ", _PREDICATE),
            (clean(edge.object), ID),
            self.beside(edge.object),
            f"  {sure}" if (sure := confidence(edge)) else "",
        )


def name_of(node: Node) -> str:
    """Return the name of a node; empty if it has none."""
    name = (node.metadata or {}).get("name", node.name)
    return name if isinstance(name, str) else ""


@dataclass(slots=True)
class _Forest:
    """The nodes of a page as trees.

    Attributes:
        roots: The seeds on the page, and those on earlier pages from which nodes on the page were reached.
        detached: By distance, the nodes that were reached from nodes on other pages.
        children: For each node, the nodes first reached from it, with the edges between the two.
        other_edges: The edges in no tree.
        tree_edges: The number of edges in the trees.
    """

    roots: list[Node] = field(default_factory=list)
    detached: dict[int, list[Node]] = field(default_factory=dict)
    children: dict[str, list[tuple[list[Edge], Node]]] = field(default_factory=dict)
    other_edges: list[Edge] = field(default_factory=list)
    tree_edges: int = 0


def _forest_of(answer: BfsResult, offset: int) -> _Forest:
    """Return the trees: a node is a child of the first node of the answer that is one hop nearer to a seed."""
    between: dict[frozenset[str], list[Edge]] = {}
    for edge in answer.edges:
        between.setdefault(frozenset((edge.subject, edge.object)), []).append(edge)
    linked: dict[str, list[str]] = {}
    for edge in answer.edges:
        linked.setdefault(edge.subject, []).append(edge.object)
        linked.setdefault(edge.object, []).append(edge.subject)
    place = {node.id: position for position, node in enumerate(answer.nodes)}
    # Of nodes on earlier pages, to which edges may lead, only the distance of the seeds is known here.
    earlier = [seed for seed in answer.seeds if seed not in place]
    distance = dict.fromkeys(earlier, 0) | dict(zip(place, _distances(answer.levels, offset), strict=False))
    forest = _Forest()
    for node in answer.nodes:
        nearer = [other for other in linked.get(node.id, ()) if distance.get(other) == distance[node.id] - 1]
        if nearer:
            first = min(nearer, key=lambda other: place.get(other, -1))
            edges = between.pop(frozenset((node.id, first)))
            forest.children.setdefault(first, []).append((edges, node))
            forest.tree_edges += len(edges)
        elif distance[node.id] == 0:
            forest.roots.append(node)
        else:
            forest.detached.setdefault(distance[node.id], []).append(node)
    forest.roots[:0] = [_on_earlier_page(seed, answer) for seed in earlier if seed in forest.children]
    left = {id(edge) for edges in between.values() for edge in edges}
    forest.other_edges = [edge for edge in answer.edges if id(edge) in left]
    return forest


def _on_earlier_page(seed: str, answer: BfsResult) -> Node:
    """Return a seed whose type is not on this page."""
    return Node(id=seed, entity_type=_EARLIER, name=(answer.labels or {}).get(seed))


def _distances(levels: Sequence[int], offset: int) -> Iterator[int]:
    """Return the distance of each node from `offset` on; nodes are ordered by distance."""
    for distance, end in enumerate(accumulate(levels)):
        yield from (distance for _ in range(max(offset, end - levels[distance]), end))


def _tree(root: Node, forest: _Forest, names: _Names) -> Tree:
    tree = Tree(Hanging(names.node(root)), guide_style=_FAINT)
    growing = [(root, tree, _GUIDE)]
    while growing:
        node, branch, before = growing.pop()
        children = forest.children.get(node.id, ())
        for edges, child in sorted(children, key=lambda pair: (pair[0][0].predicate, pair[0][0].object == node.id)):
            line = Hanging(_step(edges, node, child, names), before)
            growing.append((child, branch.add(line), before + _GUIDE))
    return tree


def _step(edges: Sequence[Edge], parent: Node, child: Node, names: _Names) -> Text:
    outward = ", ".join(names.predicates[edge.predicate] for edge in edges if edge.subject == parent.id)
    inward = ", ".join(names.predicates[edge.predicate] for edge in edges if edge.subject != parent.id)
    steps = [f"{predicates} {sign}" for predicates, sign in ((outward, "→"), (inward, "←")) if predicates]
    line = Text.assemble((f"{', '.join(steps)} ", _PREDICATE))
    line.append_text(names.node(child))
    sure = [(names.predicates[edge.predicate], confidence(edge)) for edge in edges]
    if len(edges) == 1:
        sure = [("", sure[0][1])]
    confidences = ", ".join(f"{name} {value}".strip() for name, value in sure if value)
    return line.append(f"  {confidences}" if confidences else "")


def confidence(edge: Edge) -> str:
    """Return whether sources deny an edge, how class expressions say it, and its confidence, or a range of several."""
    metadata = edge.metadata or {}
    given = [metadata.get("confidence"), *(one.get("confidence") for one in metadata.get("assertions", ()))]
    numbers = sorted({value for value in given if isinstance(value, int | float) and not isinstance(value, bool)})
    said = how_said(metadata, definitions=True)
    if not numbers:
        return said
    return f"{said} {numbers[0]}{f' to {numbers[-1]}' if len(numbers) > 1 else ''}".lstrip()


def _foot(
    answer: Subgraph, names: _Names, totals: Sequence[tuple[str, str]], said: Sequence[str] = ()
) -> list[RenderableType]:
    types = Counter(node.entity_type for node in answer.nodes)
    predicates = Counter(edge.predicate for edge in answer.edges)
    found = answer.schema_summary
    # Which types the nodes in rows have is not told.
    of_types = _tally(found.entity_types_found, types, names.types) if render.table_of(answer) is None else ""
    # Nor are edges on other pages missing where none were asked for.
    with_edges = render.table_of(answer) is None or bool(answer.edges)
    of_predicates = _tally(found.predicates_found, predicates, names.predicates) if with_edges else ""
    tallies = [*totals, ("Types", of_types), ("Predicates", of_predicates)]
    parts: list[RenderableType] = [KeyValues([(title, [text]) for title, text in tallies if text])]
    parts += (Text(text, _FAINT) for text in said)
    evidence = sum(edge.metadata is not None for edge in answer.edges)
    if evidence:
        parts.append(Text(f"{counted(evidence, 'edge')} with evidence: --json shows sources and details.", _FAINT))
    return [*parts, *warnings_of(answer), *next_page(answer)]


def _tally(terms: Sequence[str], counts: Counter[str], names: Mapping[str, str]) -> str:
    """Return the terms on this page with their counts, and those that are only on other pages, in their order."""
    listed = dict.fromkeys([*terms, *counts])
    here = sorted(filter(counts.__contains__, listed), key=counts.__getitem__, reverse=True)
    elsewhere = [names[term] for term in listed if term not in counts]
    shown = [", ".join(f"{names[term]} {counts[term]:,}" for term in here)] if here else []
    return "; ".join([*shown, *([f"not shown: {', '.join(elsewhere)}"] if elsewhere else [])])


def short_names(terms: Iterable[str], labels: Mapping[str, str] | None) -> dict[str, str]:
    """Return a name for each type or predicate: its label or local part if no other has the same, else its ID."""
    given = labels or {}
    preferred = {term: given.get(term) or local_form(term) for term in terms}
    times = Counter(preferred.values())
    return {term: clean(name if times[name] == 1 else term) for term, name in preferred.items()}
