"""All pages of a traversal as one subgraph, for programs and people; a model reads pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, repeat
from typing import Any

from gateway.answers.models import BfsResult, IntersectionResult, Node
from gateway.answers.page import SubgraphPage
from gateway.answers.reference import REFERENCE, rows_and_nodes
from gateway.answers.shape import Shape
from gateway.arguments import BfsQuery, IntersectSubgraphs, language_of, no_such_tool
from gateway.errors import EndpointFault, Fault, InputError, counted
from gateway.export.subgraph import Subgraph, SubgraphEdge, SubgraphNode
from gateway.graph.call import Progress
from gateway.graph.values import Iri, NodeFacts
from gateway.graph.walks import Ends, Walk
from gateway.members.sides import split_steps
from gateway.schema.types import UNKNOWN, UNTYPED
from gateway.terms.iri import ARRAY, ORDER, is_own, is_path, is_skolem, is_walk, walk_iri
from gateway.terms.literals import Literal
from gateway.terms.prefixes import PrefixMap, in_prose

Traversed = BfsResult | IntersectionResult
Ask = Callable[[str, Mapping[str, Any], Progress, Shape], Awaitable[Traversed]]
"""Answers a traversal: its tool, its arguments, what is told of its progress, and the shape of the page."""

ReadSteps = Callable[[Sequence[Iri]], Awaitable[Mapping[Iri, tuple[NodeFacts, Sequence[Iri]]]]]
"""Reads what is known of nodes by IRI, and their types, the one that is shown first."""

ReadPredicates = Callable[[Sequence[Iri], str], Awaitable[Mapping[Iri, NodeFacts]]]
"""Reads the names of predicates by IRI, in a language; empty for those of the profile."""

_NAMED_REFERENCE = replace(REFERENCE, names_stubs=True)
"""The reference shape with the name of every node, for people and programs that read a whole subgraph."""

NODES_A_PAGE = 500
"""Nodes of one page, whose metadata is read at once."""

_OF_PAGES = ("limit", "offset", "edge_offset", "snapshot", "max_tokens", "explain")


VALUES_INCOMPLETE = "Some values are shortened, left out, or could not be read."

_OF_ROWS = ("values", "sort_by", "show")
_OF_GROUPS = ("group_by", "compute")

NOT_WHOLE = (*_OF_PAGES, *_OF_GROUPS)
"""Arguments that a whole subgraph refuses."""


def asks_for_rows(arguments: Mapping[str, Any]) -> bool:
    """Return whether a call shows rows, of nodes or of groups."""
    return any(arguments.get(name) for name in ("values", "sort_by", *_OF_GROUPS))


def _without_rows(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call that finds the same nodes and edges, with metadata."""
    return {name: value for name, value in arguments.items() if name not in _OF_ROWS}


def only_rows(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call that shows the same rows, and no edges."""
    return {**arguments, "edges": False}


def _check_tool(tool: str) -> None:
    """Refuse what is no traversal.

    Raises:
        InputError: It is none.
    """
    if tool not in (traversals := (BfsQuery.tool, IntersectSubgraphs.tool)):
        raise no_such_tool(tool, traversals)


def _check_arguments(arguments: Mapping[str, Any]) -> None:
    """Refuse arguments that are about pages.

    Raises:
        InputError: There is one.
    """
    if given := [name for name in _OF_PAGES if arguments.get(name)]:
        raise InputError(
            f"A whole subgraph has no pages, so it takes no {', '.join(given)}.", next_step="Leave it away."
        )


class WholeSubgraphs:
    """Reads whole subgraphs of one graph: for a program as one, for a person page by page.

    Args:
        ask: Answers a traversal whose size nothing limits.
        prefixes: The prefixes of IDs.
        may_have_expressions: Returns whether edges may be those of class expressions, which state no triple.
        read_steps: Reads the names and types of nodes.
        read_predicates: Reads the names of predicates.
    """

    def __init__(
        self,
        ask: Ask,
        prefixes: PrefixMap,
        may_have_expressions: Callable[[], Awaitable[bool]],
        read_steps: ReadSteps,
        read_predicates: ReadPredicates,
    ) -> None:
        self._read_steps = read_steps
        self._read_predicates = read_predicates
        self._ask = ask
        self._prefixes = prefixes
        self._may_have_expressions = may_have_expressions

    async def whole(self, tool: str, arguments: Mapping[str, Any], progress: Progress) -> Subgraph:
        """Return all pages of a traversal as one subgraph.

        Raises:
            InputError: An argument is wrong, or is about pages.
            Fault: The graph could not be queried, or changed meanwhile.
        """
        _check_tool(tool)
        # A node on one page is an end of edges on others.
        with self._prefixes.one_answer():
            if not asks_for_rows(arguments):
                pages = self.pages(tool, arguments, progress)
                return await self._with_names(await subgraph_of(pages, self._prefixes, tool, arguments))
            _check_arguments(arguments)
            if given := [name for name in _OF_GROUPS if arguments.get(name)]:
                raise groups_of_subgraph(given)
            all_pages = self.pages(tool, _without_rows(arguments), progress)
            subgraph = await self._with_names(await subgraph_of(all_pages, self._prefixes, tool, arguments))
            stated = _Stated(self._prefixes)
            subgraph = await with_rows(subgraph, self.pages(tool, only_rows(arguments), progress, stated.shape))
            return stated.added_to(subgraph, with_nodes=not await self._may_have_expressions())

    async def _with_names(self, subgraph: Subgraph) -> Subgraph:
        """Return a subgraph with the names of its predicates, and what is known of what is only on its paths."""
        subgraph = await self._with_steps(subgraph)
        shown = {*(edge.predicate for edge in subgraph.edges), *followed_by(subgraph.nodes)}
        shown.difference_update(subgraph.labels, subgraph.walks)
        ids = {iri: name_id for name_id in shown if not is_own(iri := self._prefixes.expand(name_id))}
        if not ids:
            return subgraph
        try:
            found = await self._read_predicates(sorted(ids), language_of(subgraph.arguments.get("language")))
        except Fault as fault:
            return replace(subgraph, notes=[*subgraph.notes, predicates_unread(len(ids), fault)])
        labels = {**subgraph.labels, **{ids[iri]: facts.name for iri, facts in found.items() if facts.name}}
        failed = sum(not facts.mark.whole for facts in found.values())
        notes = [*subgraph.notes, predicates_unread(failed)] if failed else subgraph.notes
        return replace(subgraph, labels=labels, notes=notes)

    async def _with_steps(self, subgraph: Subgraph) -> Subgraph:
        """Return a subgraph with the types and names of what is on its paths and none of its nodes."""
        nodes = {node.id for node in subgraph.nodes}
        on_paths = dict.fromkeys(name_id for node in subgraph.nodes for path in node.via for name_id in path[::2])
        if not (ids := {self._prefixes.expand(name_id): name_id for name_id in on_paths if name_id not in nodes}):
            return subgraph
        try:
            found = await self._read_steps([*ids])
        except Fault as fault:
            return replace(subgraph, notes=[*subgraph.notes, steps_unread(len(ids), fault)])
        steps: dict[str, SubgraphNode] = {}
        iris: dict[str, str] = {}
        failed = 0
        for iri, name_id in ids.items():
            facts, types = found[iri]
            failed += not facts.mark.whole
            iris |= {(one := self._prefixes.shorten(type_)): _outside(one, type_) for type_ in types}
            listed = tuple(map(self._prefixes.shorten, types))
            shown = listed[0] if listed else UNTYPED
            shown = shown if facts.are_types_known else UNKNOWN
            steps[name_id] = SubgraphNode(name_id, shown, listed, facts.name, on_the_way=True)
        notes = [*subgraph.notes, steps_unread(failed)] if failed else subgraph.notes
        prefixes = {**subgraph.prefixes, **self._prefixes.used_by(set(iris))}
        return replace(subgraph, steps=steps, iris={**iris, **subgraph.iris}, prefixes=prefixes, notes=notes)

    async def pages(
        self, tool: str, arguments: Mapping[str, Any], progress: Progress, shape: Shape = _NAMED_REFERENCE
    ) -> AsyncIterator[Traversed]:
        """Yield all pages of a traversal, from the first to the last.

        Raises:
            InputError: An argument is wrong, or is about pages.
            Fault: A page could not be read, or the graph changed meanwhile.
        """
        _check_tool(tool)
        _check_arguments(arguments)
        place: Mapping[str, Any] = {}
        while True:
            page = await self._ask(tool, {**arguments, "limit": NODES_A_PAGE, **place}, progress, shape)
            if page.result_changed:
                raise _changed()
            page.set_all_pages()
            yield page
            if page.next_offset is None:
                return
            place = {"offset": page.next_offset, "edge_offset": page.next_edge or 0, "snapshot": page.snapshot}


class _Stated:
    """Notes what the values in rows state, as triples, while pages are written.

    Args:
        prefixes: The prefixes of IDs.

    Attributes:
        shape: The reference shape, whose writer of pages tells of which node each row is.
    """

    def __init__(self, prefixes: PrefixMap) -> None:
        self._prefixes = prefixes
        self._ends: dict[str, Mapping[Walk, Ends]] = {}
        self.shape = replace(REFERENCE, writers={**REFERENCE.writers, SubgraphPage: self._write})

    def _write(self, page: SubgraphPage) -> Mapping[str, Any]:
        self._ends |= {node.id: node.ends for node in page.nodes}
        return rows_and_nodes(page)

    def added_to(self, subgraph: Subgraph, *, with_nodes: bool) -> Subgraph:
        """Return a subgraph with the triples that its values state.

        Args:
            subgraph: It has the rows.
            with_nodes: Whether values that are nodes are stated too, and not perhaps said by class expressions.
        """
        triples = list(dict.fromkeys(self._triples(subgraph)))
        shown = [one for one in triples if with_nodes or isinstance(one[2], Literal)]
        notes = [*subgraph.notes, NODES_ARE_NOT_STATED] if len(shown) < len(triples) else subgraph.notes
        return replace(subgraph, triples=shown, notes=notes)

    def _triples(self, subgraph: Subgraph) -> Iterator[tuple[str, str, str | Literal]]:
        """Yield the triples of single predicates."""
        for node in subgraph.nodes:
            iri = subgraph.iris[node.id]
            for walk, ends in self._ends.get(node.id, {}).items():
                predicates = walk[0].predicates
                if len(walk) > 1 or isinstance(predicates, str) or len(predicates) > 1 or is_own(predicates[0]):
                    continue
                for end in ends.ends:
                    if isinstance(end, Literal):
                        if end.datatype not in {ARRAY, ORDER}:
                            yield iri, predicates[0], end
                    elif not is_skolem(end):
                        other = _outside(self._prefixes.shorten(end), end)
                        subject, object_ = (other, iri) if walk[0].is_inverse else (iri, other)
                        yield subject, predicates[0], object_


def groups_of_subgraph(given: Sequence[str]) -> InputError:
    """Return the error of a whole subgraph with groups, which stand in the place of nodes."""
    return InputError(
        f"A whole subgraph has nodes and edges, so it takes no {' and no '.join(given)}.",
        next_step="Ask for groups page by page, or for a table of them: --format csv.",
    )


def _changed() -> EndpointFault:
    return EndpointFault(
        "The graph changed while its subgraph was read, so the pages do not fit together.", next_step="Ask again."
    )


async def subgraph_of(
    pages: AsyncIterator[Traversed], prefixes: PrefixMap, tool: str, arguments: Mapping[str, Any]
) -> Subgraph:
    """Return the subgraph that pages of a call make together."""
    nodes: list[SubgraphNode] = []
    edges: list[SubgraphEdge] = []
    labels: dict[str, str] = {}
    notes: dict[str, None] = {}
    seeds: tuple[str, ...] = ()
    missing: dict[str, None] = {}
    is_complete = True
    async for page in pages:
        distances = _distances(page, len(nodes))
        nodes += (_node(node, distance) for node, distance in zip(page.nodes, distances, strict=False))
        edges += (SubgraphEdge(edge.subject, edge.predicate, edge.object, edge.metadata) for edge in page.edges)
        labels |= page.labels or {}
        notes |= dict.fromkeys([*notes_of(page), *(f"Condition: {text}" for text in page.where or ())])
        missing |= dict.fromkeys(page.missing_seeds or ())
        seeds, is_complete = tuple(page.seeds), is_complete and page.complete
    paths = [path for node in nodes for path in node.via]
    followed = followed_by(nodes)
    predicates = {name_id: _predicate(name_id, prefixes) for name_id in {*followed, *(one.predicate for one in edges)}}
    terms = {part for edge in edges for part in (edge.subject, edge.predicate, edge.object)}
    terms |= {name_id for node in nodes for name_id in (node.id, *node.types)}
    terms |= followed.union(*(path[::2] for path in paths))
    iris = {name_id: prefixes.expand(name_id) for name_id in {*terms, *labels}.difference(predicates)}
    iris |= predicates
    walks = sorted(name_id for name_id, iri in predicates.items() if is_walk(iri) or is_path(iri))
    if of_edges := [name_id for name_id in walks if any(edge.predicate == name_id for edge in edges)]:
        notes[walks_are_no_triples(of_edges)] = None
    order = {name_id: prefixes.declared_form(iri) for name_id, iri in iris.items()}
    return Subgraph(
        seeds,
        nodes,
        sorted(edges, key=lambda edge: (order[edge.subject], order[edge.predicate], order[edge.object])),
        is_complete,
        list(notes),
        {name_id: _outside(name_id, iris[name_id]) for name_id in sorted(terms, key=order.__getitem__)},
        prefixes.used_by(terms),
        {name_id: labels[name_id] for name_id in sorted(labels, key=order.__getitem__)},
        tool,
        {name: value for name, value in arguments.items() if value is not None},
        walks=walks,
        missing_seeds=tuple(missing),
    )


def followed_by(nodes: Iterable[SubgraphNode]) -> set[str]:
    """Return the IDs of predicates that paths of some nodes follow."""
    return {step.removeprefix("^") for node in nodes for path in node.via for step in path[1::2]}


def _predicate(name_id: str, prefixes: PrefixMap) -> str:
    """Return the IRI of a predicate, or that which stands for a walk."""
    if name_id.startswith("("):
        return prefixes.expand(name_id)
    steps = split_steps(name_id) or []
    # A whole IRI has slashes too, and so may an ID; each step of a walk has a prefix or stands in angle brackets.
    is_of_ids = all(step.name.startswith("<") or (":" in step.name and "://" not in step.name) for step in steps)
    if is_of_ids and (len(steps) > 1 or name_id.startswith("^")):
        return walk_iri([(prefixes.expand(step.name), step.is_inverse) for step in steps])
    return prefixes.expand(name_id)


async def with_rows(subgraph: Subgraph, pages: AsyncIterator[Traversed]) -> Subgraph:
    """Return a subgraph with the rows that pages have of its nodes; these nodes are its last, in their order.

    The pages have the nodes of their rows among their nodes.

    Raises:
        EndpointFault: The graph has other nodes by now.
    """
    others = {node.id: node for node in subgraph.nodes}
    members: list[SubgraphNode] = []
    notes = dict.fromkeys(subgraph.notes)
    columns: tuple[str, ...] = ()
    is_complete = subgraph.complete
    async for page in pages:
        columns = tuple(page.columns or ())
        for node, row in zip(page.nodes, page.rows or (), strict=True):
            if node.id not in others:
                raise _changed()
            members.append(replace(others.pop(node.id), values=dict(zip(columns, row[1:], strict=True))))
        notes |= dict.fromkeys(notes_of(page))
        is_complete = is_complete and page.complete
    return replace(
        subgraph, nodes=[*others.values(), *members], columns=columns, complete=is_complete, notes=list(notes)
    )


def _outside(name_id: str, iri: str) -> str:
    """Return what stands for an IRI outside the gateway: of blank nodes, and types that it made, their IDs."""
    return name_id if is_own(iri) else iri


def _distances(page: Traversed, offset: int) -> Iterator[int | None]:
    """Return the distances of the nodes from an offset on; nodes are ordered by distance."""
    if isinstance(page, IntersectionResult):
        yield from repeat(None)
        return
    for distance, end in enumerate(accumulate(page.levels)):
        yield from repeat(distance, max(0, end - max(offset, end - page.levels[distance])))


def _node(node: Node, distance: int | None) -> SubgraphNode:
    metadata = dict(node.metadata or {})
    shown = node.entity_type
    types = dict.fromkeys([*([] if shown in {UNTYPED, UNKNOWN} else [shown]), *metadata.pop("types", ())])
    name = metadata.pop("name", None) or node.name or ""
    is_step = bool(node.on_the_way)
    via = tuple(map(tuple, node.via or ()))
    return SubgraphNode(node.id, shown, tuple(types), str(name), distance, metadata, on_the_way=is_step, via=via)


def notes_of(page: Traversed) -> Iterator[str]:
    """Yield what a reader of the subgraph must know."""
    for gap in page.incomplete or ():
        yield f"Not complete ({gap.cause}, {counted(gap.count, 'node')}): {gap.detail}"
    if page.missing_seeds:
        yield f"Not in the graph: {', '.join(page.missing_seeds)}"
    yield from page.warnings or ()
    for step, count in (page.degraded or {}).items():
        yield f"{count:,} {step.replace('_', ' ')}"
    if page.omitted_texts:
        yield f"Long quotes left out of the evidence: {sum(page.omitted_texts.values()):,}"
    if page.values_complete is False:
        yield VALUES_INCOMPLETE
    if page.other_languages:
        counts = ", ".join(f"{count:,} {language}" for language, count in page.other_languages.items())
        yield f"Texts in other languages that are left out: {counts}"
    if page.seeds_left_out:
        yield f"Seeds that would be in the rows too: {page.seeds_left_out:,}"
    if page.blank_node_edges:
        yield f"Edges left out because one end is a blank node: {page.blank_node_edges:,}"


# --- sentences that a model reads ---

NODES_ARE_NOT_STATED = (
    "Values that are nodes are not among the triples (to_rdflib): class expressions may say some of them, which state "
    "none."
)


def steps_unread(count: int, fault: Fault | None = None) -> str:
    """Return a note about nodes on paths whose types and names could not be read."""
    why = f": {fault}" if fault is not None else "."
    return f"The types and names of {counted(count, 'node')} on paths could not be read{why}"


def predicates_unread(count: int, fault: Fault | None = None) -> str:
    """Return a note about predicates whose names could not be read."""
    why = f": {fault}" if fault is not None else "."
    return f"The names of {counted(count, 'predicate')} could not be read{why}"


def walks_are_no_triples(walks: Sequence[str]) -> str:
    """Return a note about edges that stand for walks of several predicates."""
    more = f" and {len(walks) - 1:,} more" if len(walks) > 1 else ""
    return f"Walks of several predicates ({in_prose(walks[0])}{more}) are no triples: RDF leaves them out."
