"""What is shown of blank nodes as values: the content of those that are no nodes, and what nodes say, as rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from gateway.errors import EndpointFault
from gateway.files.lists import is_list_part
from gateway.graph.call import Call
from gateway.graph.values import WHOLE, BlankNode, Description, Iri, Mark, Properties, Resource, Value
from gateway.sparql.batches import about_nodes
from gateway.sparql.blank.all_different import AllDifferentReader
from gateway.sparql.blank.contents import BlankEnds, Content, ContentReader, Kind
from gateway.sparql.blank.expressions import FoldedReader
from gateway.sparql.blank.keys import NodeId, by_key, is_key
from gateway.sparql.blank.lists import Lists
from gateway.sparql.blank.lists import Value as ValueOfLists
from gateway.sparql.blank.rule import Triple, blank_ends
from gateway.sparql.blank.walks import AnchoredReader
from gateway.sparql.client import SparqlClient
from gateway.sparql.table import BlankTerm, IriTerm, Table, Term, UnexpectedRows, iri, value
from gateway.sparql.table import optional as optional_term
from gateway.terms.iri import (
    ANNOTATED,
    ARRAY,
    HAS_VALUE,
    MAX_IRI,
    RDF_NIL,
    RDF_REST,
    RDF_TYPE,
    RDFS_MEMBER,
    REACHED_BY,
    REIFICATION,
)
from gateway.terms.literals import Literal

_EMPTY = IriTerm(RDF_NIL)
"""The empty list."""

_UNREAD = Mark(EndpointFault("A list could not be read."))

_WITHOUT_LIST = Mark(EndpointFault("A list could not be read."), at_least=0)
"""Of a description that has all else."""

_UNREAD_SET = Mark(EndpointFault("It could not be read from what a node is all different."), at_least=0)

_NO_SETS: Mapping[Iri, Sequence[Iri]] = {}

_LONGEST = MAX_IRI - len(REACHED_BY)
"""Characters of a predicate that can be a type."""


def is_to_member(predicate: Iri) -> bool:
    """Return whether a predicate leads from a cell of a list, or from an expression, to a node."""
    return predicate == HAS_VALUE or is_list_part(predicate)


_OF_TRIPLES: Final = frozenset((*REIFICATION, *ANNOTATED))
"""Predicates from what states something about a triple to its terms: they say nothing of what these are."""


def said_by(
    contents: Mapping[Iri, Content], types: Sequence[Iri] = (), of_lists: Mapping[Iri, Sequence[Iri]] | None = None
) -> Table:
    """Return what nodes say as rows of ?n, ?p and ?v.

    Args:
        contents: What each says.
        types: The predicates of types; an untyped node has those that lead to it for types then.
        of_lists: The predicates by which lists and expressions lead to a node, in the place of cells and restrictions.
    """
    rows: list[tuple[Iri, Iri, Term]] = []
    for node, content in contents.items():
        rows += ((node, predicate, end) for predicate, end in content.says)
        if types and not any(predicate in types and isinstance(end, IriTerm) for predicate, end in content.says):
            by_lists = (of_lists or {}).get(node, ())
            said = (predicate for predicate, _ in content.said if not (by_lists and is_to_member(predicate)))
            leading = dict.fromkeys(
                one for one in (*said, *by_lists) if len(one) <= _LONGEST and one not in _OF_TRIPLES
            )
            rows += ((node, types[0], IriTerm(f"{REACHED_BY}{predicate}")) for predicate in leading)
    return Table(
        len(rows),
        {"v": [end for _, _, end in rows]},
        {"n": [node for node, _, _ in rows], "p": [p for _, p, _ in rows]},
    )


@dataclass(frozen=True, slots=True)
class _Values:
    """The blank nodes to which a node leads, by predicate, and whether it is a list itself, as far as the mark says."""

    said: tuple[Triple, ...] = ()
    mark: Mark = WHOLE
    is_cell: bool = False


class BlankValues:
    """Reads the content of blank nodes that are no nodes.

    Args:
        client: Sends the queries.
        batch: Nodes in one query.
        different: Finds what says of nodes that they are different from others.
        shown: Predicates that are no edges and whose values are shown, whatever these are.

    Attributes:
        walks: Reads blank nodes that have no keys.
    """

    def __init__(self, client: SparqlClient, batch: int, different: AllDifferentReader, shown: Collection[Iri]) -> None:
        self._client = client
        self._batch = batch
        self._shown = shown
        self._different = different
        self.walks: AnchoredReader | None = None

    async def without_nodes(
        self,
        described: Mapping[Iri, Description],
        reader: ContentReader,
        lists: FoldedReader,
        call: Call,
        *,
        contents: bool,
        leading: Collection[Iri],
        is_proven: bool,
    ) -> Mapping[Iri, Description]:
        """Return descriptions of nodes with an IRI in which no blank node that is a node stands as a value.

        Args:
            described: The descriptions.
            reader: Reads blank nodes.
            lists: Reads lists and expressions, which are values.
            call: The call that asks.
            contents: Whether the content of other blank nodes is wanted.
            leading: Nodes that lead to blank nodes by predicates that are no edges.
            is_proven: Whether keys of blank nodes can be believed.
        """
        has_lists = await lists.are_there(call, with_expressions=is_proven)
        beside = [
            node for node, one in described.items() if has_lists or node in leading or has_blank_nodes_as_values(one)
        ]
        if not beside:
            return {}
        read = await self._read(beside, call)
        found = {node: one.said for node, one in read.items() if one.mark.whole}
        if not is_proven and any(map(blank_ends, found.values())):
            return {node: replace(described[node], mark=_UNREAD) for node in beside}
        others = {node: _without_blank(described[node]) for node in found}
        # Lists among their values may be missing.
        unread = {node: replace(described[node], mark=one.mark) for node, one in read.items() if not one.mark.whole}
        cells = [node for node in found if read[node].is_cell]
        of_cells = await lists.of(cells, call) if cells else {}
        for node in cells:
            of_cell = of_cells[node]
            if of_cell is None:
                others[node] = replace(_without_parts(others[node]), mark=_UNREAD)
            elif node in of_cell.folded:
                others[node] = _without_parts(others[node])
                found[node] = tuple(triple for triple in found[node] if not is_list_part(triple[0]))
        sets = await self._sets_of(list(found), lists, call) if is_proven else {}
        joined = await self._with(
            found,
            others,
            reader,
            lists,
            call,
            contents=contents,
            own=frozenset(cells),
            of_sets={node: [end.key for end in one.ends] for node, one in sets.items()},
        )
        return {**unread, **await _with_sets_marked(joined, sets, lists, call)}

    async def _sets_of(self, nodes: Sequence[Iri], lists: FoldedReader, call: Call) -> Mapping[Iri, BlankEnds]:
        return await self._different.around(nodes, call) if await lists.are_expressions_there(call) else {}

    async def blank_values(self, nodes: Sequence[Iri], call: Call) -> tuple[Sequence[Iri], Mapping[Iri, Mark]]:
        """Return the keys of the blank nodes to which some nodes lead, and the marks of those that were not read."""
        found = await self._read(nodes, call)
        keys = [key for one in found.values() for key in blank_ends(one.said)]
        return keys, {node: one.mark for node, one in found.items() if not one.mark.whole}

    async def blank_types(self, nodes: Sequence[Iri], call: Call) -> Mapping[Iri, tuple[Sequence[Iri], Mark]]:
        """Return the keys of the blank nodes that are types of some nodes, as far as the mark of each says."""
        found = await self._read(nodes, call)
        return {node: (blank_ends(one.said, {RDF_TYPE}), one.mark) for node, one in found.items()}

    async def _read(self, nodes: Sequence[Iri], call: Call) -> Mapping[Iri, _Values]:
        found = await about_nodes(self._client, "blank_nodes/values", self._batch, {}, _read_values).run(nodes, call)
        if self.walks is None:
            return found
        # The labels of that answer mean nothing in the one that has what the blank nodes say.
        led_to = [node for node, one in found.items() if blank_ends(one.said)]
        for node, beside in (await self.walks.beside(led_to, call)).items():
            others = (triple for triple in found[node].said if not isinstance(triple[1], BlankTerm))
            mark = found[node].mark if beside.mark.whole else beside.mark
            found[node] = replace(found[node], said=(*others, *beside.says), mark=mark)
        return found

    async def with_values(
        self,
        described: Mapping[Iri, Description],
        contents: Mapping[Iri, Content],
        reader: ContentReader,
        lists: FoldedReader,
        call: Call,
        *,
        with_contents: bool,
    ) -> Mapping[Iri, Description]:
        """Return descriptions of blank nodes with the content of those to which they lead that are no nodes."""
        said = {
            node: tuple(triple for triple in content.says if isinstance(triple[1], BlankTerm) or triple[1] == _EMPTY)
            for node, content in contents.items()
        }
        leading = {node: triples for node, triples in said.items() if triples or _is_list(node, reader, call)}
        return await self._with(leading, described, reader, lists, call, contents=with_contents)

    async def _with(
        self,
        said: Mapping[Iri, Sequence[Triple]],
        described: Mapping[Iri, Description],
        reader: ContentReader,
        lists: FoldedReader,
        call: Call,
        *,
        contents: bool,
        own: Collection[Iri] = (),
        of_sets: Mapping[Iri, Sequence[Iri]] = _NO_SETS,
    ) -> Mapping[Iri, Description]:
        keys = [*chain.from_iterable(map(blank_ends, said.values()))]
        sets = list(dict.fromkeys(chain.from_iterable(of_sets.values())))
        ids = await lists.ids([*keys, *sets], call)
        values = [key for key in dict.fromkeys(keys) if key not in ids]
        owners = {node: node if (part := NodeId.of(node)) is None else part.key for node in said}
        cells = [key for key in owners.values() if key in own or (is_key(key) and reader.kind(key, call) is Kind.LIST)]
        wanted = [*values, *cells, *lists.parts(sets, call)]
        folded = await lists.of(wanted, call) if wanted else {}
        members = dict.fromkeys(end for key in wanted if (one := folded.get(key)) is not None for end in one.ends)
        ids = await lists.ids(members, call) if members else ids
        known = await reader.read(values, call) if values else {}
        inner = [end for key in values for end in blank_ends(known[key].says)]
        known = await reader.read(inner, call) if inner else known
        read = _Read(ids, known, folded, _of_expressions(folded.values()), self._shown)
        found: dict[Iri, Description] = dict(described)
        for node, triples in said.items():
            owner = owners[node]
            is_unread = owner in cells and folded.get(owner) is None
            own_values = _without_parts(described[node]) if is_unread else described[node]
            properties = {**own_values.properties, **read.of_list(owner, own_values.properties)}
            # The empty list is an array, also where values that are nodes are shown.
            for predicate in {predicate for predicate, end in triples if end == _EMPTY and predicate != RDF_REST}:
                properties[predicate] = tuple(one for one in properties.get(predicate, ()) if one != Resource(RDF_NIL))
            for predicate, new in read.values(owner, triples, contents=contents):
                properties[predicate] = (*properties.get(predicate, ()), *new)
            is_unread = is_unread or any(_is_unread(end, read, reader, call) for end in blank_ends(triples))
            mark = _WITHOUT_LIST if is_unread and described[node].mark.whole else described[node].mark
            found[node] = replace(
                described[node], properties={p: some for p, some in properties.items() if some}, mark=mark
            )
        return found


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of the blank nodes to which nodes lead.

    Attributes:
        ids: The IDs of those that are nodes, by key.
        known: What the others say, by key.
        folded: The lists and expressions that they are parts of; None where these are unread.
        of_expressions: What expressions say that is content, by the node of which it is said and by predicate.
        shown: Predicates that are no edges and whose values are shown, whatever these are.
    """

    ids: Mapping[Iri, Iri]
    known: Mapping[Iri, Content]
    folded: Mapping[Iri, Lists | None]
    of_expressions: Mapping[Iri, Mapping[Iri, Sequence[ValueOfLists]]]
    shown: Collection[Iri]

    def of_list(self, owner: Iri, properties: Properties) -> Properties:
        """Return the values of a node that is a list itself, with others of the same predicate."""
        lists = self.folded.get(owner)
        if lists is None or owner not in lists.folded:
            return {}
        new = [one.literal(self.ids) for one in lists.values.get((owner, RDFS_MEMBER), ())]
        return {RDFS_MEMBER: (*properties.get(RDFS_MEMBER, ()), *new)}

    def values(self, owner: Iri, triples: Iterable[Triple], *, contents: bool) -> Iterator[tuple[Iri, Sequence[Value]]]:
        """Yield what a node leads to as values, by predicate.

        Args:
            owner: The node: an IRI, or a key.
            triples: What it says whose ends are blank nodes, or the empty list.
            contents: Whether the content of blank nodes that are no nodes is wanted.
        """
        added: set[tuple[int, Iri]] = set()
        for predicate, end in triples:
            if end == _EMPTY and predicate != RDF_REST:
                yield predicate, [Literal("[]", ARRAY, "")]
            if not isinstance(end, BlankTerm) or predicate in REIFICATION:
                continue
            lists = self.folded.get(end.value)
            if end.value in self.ids:
                yield predicate, [Resource(self.ids[end.value])] if predicate in self.shown else []
            elif lists is not None:
                # Those that hang together stand there together.
                if (id(lists), predicate) not in added:
                    added.add((id(lists), predicate))
                    yield predicate, self._of_lists(lists, owner, predicate)
            elif contents:
                yield predicate, [_content(self.known[end.value], self.known, levels=1)]
        # What expressions say of one node alone stands under a property that leads to no blank node.
        for predicate, values_of in self.of_expressions.get(owner, {}).items():
            # Where blank nodes have no keys, one may have been read several times.
            yield predicate, list(dict.fromkeys(one.literal(self.ids) for one in values_of))

    def _of_lists(self, lists: Lists, owner: Iri, predicate: Iri) -> Sequence[Value]:
        values_of = () if lists.are_expressions else lists.values.get((owner, predicate), ())
        arrays = [one.literal(self.ids) for one in values_of]
        return [*arrays, *self._members(lists, owner, predicate)] if predicate in self.shown else arrays

    def _members(self, lists: Lists, owner: Iri, predicate: Iri) -> Sequence[Value]:
        """Return the members that are nodes of the lists of a predicate that is no edge, in their order."""
        members = [
            one
            for one in lists.edges.get(owner, ())
            if not one.is_edge and one.subject == owner and one.predicate == predicate
        ]
        # An inner list has positions of its own: it stands where the outer one has it.
        members.sort(key=lambda one: min(int(at.partition(".")[0]) for places in one.positions for at in places))
        ends = (self.ids.get(one.object) if is_key(one.object) else one.object for one in members)
        return [Resource(end) for end in ends if end is not None]


def _is_unread(key: Iri, read: _Read, reader: ContentReader, call: Call) -> bool:
    """Return whether a blank node is a list that could not be read."""
    return key not in read.ids and read.folded.get(key) is None and reader.kind(key, call) is Kind.LIST


async def _with_sets_marked(
    described: Mapping[Iri, Description], sets: Mapping[Iri, BlankEnds], lists: FoldedReader, call: Call
) -> Mapping[Iri, Description]:
    """Return descriptions, those marked to which something belongs of what says that all of a list are different."""
    keys = [end.key for one in sets.values() for end in one.ends]
    read = await lists.of(lists.parts(keys, call), call) if keys else {}
    found = dict(described)
    for node, one in sets.items():
        is_read = one.mark.whole and all(end.key not in read or read[end.key] is not None for end in one.ends)
        if found[node].mark.whole and not is_read:
            found[node] = replace(found[node], mark=_UNREAD_SET)
    return found


def _of_expressions(folded: Iterable[Lists | None]) -> Mapping[Iri, Mapping[Iri, Sequence[ValueOfLists]]]:
    """Return what expressions say that is content, by the node of which it is said and by predicate."""
    found: defaultdict[Iri, dict[Iri, Sequence[ValueOfLists]]] = defaultdict(dict)
    # All expressions of a call are folded together.
    for lists in {id(one): one for one in folded if one is not None and one.are_expressions}.values():
        for (owner, predicate), values in lists.values.items():
            found[owner][predicate] = values
    return found


def _content(content: Content, known: Mapping[Iri, Content], levels: int) -> BlankNode:
    """Return what a blank node says, with that of the blank nodes to which it leads."""
    said: defaultdict[Iri, dict[Value, None]] = defaultdict(dict)
    nested: defaultdict[Iri, list[Value]] = defaultdict(list)
    is_cut = not content.mark.whole
    for predicate, end in content.says:
        if not isinstance(end, BlankTerm):
            if (single := value(end)) is not None:
                said[predicate][single] = None
        elif levels:
            nested[predicate].append(_content(known[end.value], known, levels - 1))
        else:
            is_cut = True
    properties: Properties = {
        predicate: (*said.get(predicate, ()), *nested.get(predicate, ())) for predicate in chain(said, nested)
    }
    return BlankNode(properties, cut=is_cut)


def has_blank_nodes_as_values(described: Description) -> bool:
    """Return whether blank nodes are among what a node says."""
    return any(isinstance(one, BlankNode) for one in chain.from_iterable(described.properties.values()))


def _without_blank(described: Description) -> Description:
    return replace(described, properties=dict(_others(described.properties)))


def _others(properties: Properties) -> Iterator[tuple[Iri, tuple[Value, ...]]]:
    for predicate, values in properties.items():
        others = tuple(one for one in values if not isinstance(one, BlankNode))
        if others:
            yield predicate, others


def _is_list(node: Iri, reader: ContentReader, call: Call) -> bool:
    part = NodeId.of(node)
    return part is not None and reader.kind(part.key, call) is Kind.LIST


def _without_parts(described: Description) -> Description:
    properties = {p: values for p, values in described.properties.items() if not is_list_part(p)}
    return replace(described, properties=properties)


def _read_values(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, _Values]:
    found: dict[Iri, dict[Triple, None]] = {node: {} for node in batch}
    cells: set[Iri] = set()
    for node, predicate, end in zip(iri("n")(rows), optional_term("p")(rows), by_key(rows, "v"), strict=True):
        if predicate is None and end == IriTerm(node):
            cells.add(node)
        elif isinstance(predicate, IriTerm) and (isinstance(end, BlankTerm) or end == _EMPTY):
            found[node][predicate.value, end] = None
        else:
            raise UnexpectedRows
    return {node: _Values(tuple(said), mark, node in cells) for node, said in found.items()}
