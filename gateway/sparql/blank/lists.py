"""Lists of an endpoint whose cells are blank nodes, folded into edges with positions as those of files are.

A list is read whole, with the lists in it and around it, and folded by the same code as in files. One that is more than
the value of its owners stays unread: its edges are counted, and the answer is not complete.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final
from weakref import WeakKeyDictionary

from gateway.errors import EndpointFault
from gateway.files.lists import ArrayValue, Folded, fold_lists, is_list_part
from gateway.files.ntriples import Terms, is_blank, is_node, node
from gateway.graph.call import Call, Requester
from gateway.graph.values import WHOLE, Assertion, Iri, Mark
from gateway.sparql.batches import about_nodes
from gateway.sparql.blank.cells import Cells, cells_beside
from gateway.sparql.blank.contents import Content, ContentReader, Kind, groups_of, triples_by_kind
from gateway.sparql.blank.keys import ends_in, is_key, label_of, name_of, term_of
from gateway.sparql.blank.probes import ListProbe
from gateway.sparql.blank.rule import Triple, blank_ends
from gateway.sparql.blank.walks import AnchoredReader
from gateway.sparql.client import SparqlClient
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm, Table, UnexpectedRows, iri
from gateway.terms.iri import POSITION, RDF_NIL, RDF_REST, RDFS_MEMBER, XSD
from gateway.terms.literals import Literal

_log = logging.getLogger(__name__)

_BATCH: Final = 100
"""Cells in one query."""

_MOST: Final = 5_000
"""Cells of lists that hang together; Fuseki's stack breaks over one of 10,000."""

_ROUNDS: Final = 6
"""Lists in each other that are followed."""

_MEMBER: Final = node(RDFS_MEMBER)


@dataclass(frozen=True, slots=True)
class ListEdge:
    """An edge to a member of a list, or of a cell that is a node.

    Attributes:
        subject: The owner: an IRI, or a key.
        predicate: The predicate.
        object: The member: an IRI, or a key.
        positions: The positions of the member, for each list apart; none where it is no member.
        says: How class expressions say it.
        is_edge: Whether it is one; what a list is for a predicate that is no edge are values.
    """

    subject: Iri
    predicate: Iri
    object: Iri
    positions: tuple[tuple[str, ...], ...]
    says: tuple[Assertion, ...] = field(default=(), compare=False)
    is_edge: bool = True

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        """Its positions, and how expressions say it, as evidence."""
        places = tuple(Assertion({POSITION: tuple(map(_position, places))}) for places in self.positions)
        return (*places, *self.says)


def _position(place: str) -> Literal:
    return Literal(place, f"{XSD}integer" if place.isdecimal() else "", "")


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists that hang together.

    Attributes:
        edges: What they are for each end of an edge: an IRI, or a key.
        values: The values that they are for each owner and predicate.
        ends: The keys of the blank nodes that own them or are in them.
        nodes: The keys of the cells that are nodes: lists that are more than values, and the cells of malformed lists.
        folded: The lists that are nodes and have edges to their members in the place of their cells; IRIs, or keys.
        are_expressions: Whether they are no lists, but what class expressions say.
        unstated: Nodes with expressions of which it could not be read what is stated about them.
        said: What they say of each blank node, by key, whatever of it is an edge.
    """

    edges: Mapping[Iri, Sequence[ListEdge]]
    values: Mapping[tuple[Iri, Iri], Sequence[Value]]
    ends: Sequence[Iri]
    nodes: frozenset[Iri] = frozenset()
    folded: frozenset[Iri] = frozenset()
    are_expressions: bool = False
    unstated: frozenset[Iri] = frozenset()
    said: Mapping[Iri, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Value:
    """A list as one value; blank nodes in it are still keys.

    Attributes:
        array: The list.
    """

    array: ArrayValue

    def literal(self, ids: Mapping[Iri, Iri]) -> Literal:
        """Return the value with the IDs of blank nodes in it."""

        def renamed(label: str) -> str:
            known = ids.get(label.removeprefix("_:"))
            return label if known is None else node(known)

        return Literal(self.array.text(renamed), self.array.datatype, "")


class ListReader:
    """Reads lists by the keys of their cells.

    Args:
        client: Sends the queries.
        rule: Says what is an edge.
        contents: Reads the cells.
        may_ask_for_keys: Says whether keys can be believed; without them lists of IRIs can be read that have an IRI.
    """

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, contents: ContentReader, may_ask_for_keys: Callable[[], bool]
    ) -> None:
        self._client = client
        self._rule = rule
        self._contents = contents
        self._may_ask_for_keys = may_ask_for_keys
        # A rule that names objects may allow a list and not its members.
        self._may_fold = not rule.objects
        self._probe = ListProbe(client)
        # The lists of each cell; None where they are unread.
        self._of_calls: WeakKeyDictionary[Requester, dict[Iri, Lists | None]] = WeakKeyDictionary()
        self._ids: WeakKeyDictionary[Requester, dict[Iri, Iri]] = WeakKeyDictionary()

    def note(self, predicates: Iterable[Iri]) -> None:
        """Note predicates of the graph, some of which may show that it has containers."""
        self._probe.note(predicates)

    async def are_there(self, call: Call) -> bool:
        """Return whether the graph may have lists that are folded."""
        return self._may_fold and await self._probe.are_there(call)

    async def are_containers(self, call: Call) -> bool:
        """Return whether the graph may have containers that are folded."""
        return self._may_fold and await self._probe.are_containers(call)

    async def are_behind(self, predicates: Iterable[Iri], call: Call) -> bool:
        """Return whether some predicates may lead to lists that are folded and are blank nodes, or empty."""
        return await self.are_there(call) and await self._probe.are_behind(predicates, call)

    async def of(self, keys: Iterable[Iri], call: Call) -> Mapping[Iri, Lists | None]:
        """Return the lists of some cells, with those of others that the call has read."""
        known = self._of_calls.setdefault(call.requester, {})
        wanted = [key for key in dict.fromkeys(keys) if key not in known]
        if wanted and self._may_fold:
            contents = self._contents.contents(call)
            self.note(p for key in wanted if key in contents for p, _ in contents[key].says)
            for lists, cells in await self._read(wanted, call):
                known |= dict.fromkeys(cells, lists)
        known |= {key: None for key in wanted if key not in known}
        return known

    async def ids(self, keys: Iterable[Iri], call: Call) -> Mapping[Iri, Iri]:
        """Return the IDs of those blank nodes that are nodes and could be read, with others of the call.

        What lists say of a node is a part of what it says: its members where it is one or has some, and whose it is.
        """
        known = self._ids.setdefault(call.requester, {})
        wanted = [key for key in dict.fromkeys(keys) if key not in known]
        own = await self._contents.ids(wanted, call)
        cells = await self.beside(wanted, call)
        folded = await self.of(chain.from_iterable(cells.values()), call) if cells else {}
        for key in wanted:
            if key not in cells:
                known |= {key: own[key]} if key in own else {}
                continue
            lists = {id(one): one for one in (folded[cell] for cell in cells[key])}.values()
            is_list = self._contents.kind(key, call) is Kind.LIST
            if any(one is None or (is_list and key not in one.nodes) for one in lists):
                continue
            said = sorted(filter(None, (one.said.get(key) for one in lists if one is not None)))
            if made := self._contents.with_lists(key, "\n".join(said), call):
                known[key] = made
        return known

    async def beside(self, keys: Sequence[Iri], call: Call) -> Mapping[Iri, Sequence[Iri]]:
        """Return the cells of the lists in which some blank nodes are, or which they have, for those that have any."""
        contents = self._contents.contents(call)
        of_kind = {key: self._contents.kind(key, call) for key in keys}
        nodes = {key: contents[key] for key, kind in of_kind.items() if kind is Kind.NODE}
        found = {key: [key] for key, kind in of_kind.items() if kind is Kind.LIST}
        if not nodes or not self._may_fold or not await self._probe.are_there(call):
            return found
        ends = {key: [triple for triple in one.says if isinstance(triple[1], BlankTerm)] for key, one in nodes.items()}
        predicates = {predicate for triples in ends.values() for predicate, _ in triples}
        kinds: Mapping[Iri, Kind] = {}
        if predicates and await self._probe.are_behind(predicates, call):
            kinds = await self._kinds(chain.from_iterable(map(blank_ends, ends.values())), call)
        for key, one in nodes.items():
            # What could not be read may be a cell.
            cells = [end for end in blank_ends(ends[key]) if kinds.get(end) in {Kind.LIST, Kind.UNREAD}]
            cells += (
                end.value
                for predicate, end in one.said
                if is_list_part(predicate) and isinstance(end, BlankTerm | IriTerm) and end.value != RDF_NIL
            )
            if cells:
                found[key] = list(dict.fromkeys(cells))
        return found

    def content(self, key: Iri, call: Call) -> Content:
        """Return what a blank node says whose ID was asked for, without the cells where it is a list."""
        content = self._contents.contents(call)[key]
        lists = self._of_calls.get(call.requester, {}).get(key)
        if lists is None or key not in lists.folded:
            return content
        says = tuple(triple for triple in content.says if not is_list_part(triple[0]))
        outgoing = tuple(triple for triple in content.outgoing if not is_list_part(triple[0]))
        return replace(content, says=says, outgoing=outgoing)

    async def is_unread(self, key: Iri, call: Call) -> bool:
        """Return whether it could not be found out what a blank node is whose ID was asked for."""
        if self._contents.is_unread(key, call):
            return True
        if self._contents.kind(key, call) is Kind.LIST:
            return (await self.of([key], call))[key] is None
        return key in await self.beside([key], call) and key not in await self.ids([key], call)

    async def _read(self, keys: Sequence[Iri], call: Call) -> Sequence[tuple[Lists | None, Sequence[Iri]]]:
        """Return lists with their cells: all that hang together with some cells."""
        found: dict[Iri, Content] = {}
        asked = frozenset(keys)
        frontier, seen = list(keys), set(keys)
        links: dict[Iri, Sequence[Iri]] = {}
        unread: set[Iri] = set()
        for _ in range(_ROUNDS):
            if not frontier or len(found) > _MOST:
                break
            read = await self._level(frontier, call)
            seen.update(read)
            # What has an IRI and is a member leads no further, unless it is a list.
            level = {key: one for key, one in read.items() if is_key(key) or key in asked or one.says_members}
            found |= {key: one.content for key, one in level.items() if one.is_cell}
            links |= {key: one.beside for key, one in level.items()}
            unread |= {key for key, one in level.items() if not one.mark.whole}
            if not all(map(is_key, found)):
                # A list with an IRI is never a part of another, but it may be in itself by others that are.
                links |= {key: [*links[key], *_named_members(found[key])] for key in filter(is_key, found)}
            frontier = [end for end in dict.fromkeys(chain.from_iterable(links.values())) if end not in seen]
            seen.update(frontier)
        # What hangs on a list and was not read, or could not be, may be a part of it.
        left = set(frontier)
        unread |= {key for key in found if not left.isdisjoint(links[key])}
        return [
            (None if unread.intersection(group) or len(group) > _MOST else self._folded(group, found, call), group)
            for group in _together(found)
        ]

    async def _level(self, frontier: Sequence[Iri], call: Call) -> Mapping[Iri, _Cell]:
        """Return what some cells say, with the others of the same lists, and what may be a cell that hangs on them."""
        named = [key for key in frontier if not is_key(key)]
        keys = [key for key in frontier if is_key(key)]
        level = dict(await self._with_iri(named, call)) if named else {}
        if keys and not self._may_ask_for_keys():
            return level | dict.fromkeys(keys, _Cell(mark=_UNPROVEN))
        if keys:
            cells = await self._cells(keys, call)
            chained = list(dict.fromkeys([*keys, *(cell for one in cells.values() for cell in one.cells)]))
            await self._contents.ids(chained, call)
            known = self._contents.contents(call)
            whole = Cells()
            level |= {key: _Cell(known[key], _beside(known[key]), cells.get(key, whole).mark) for key in chained}
        blank = [end for one in level.values() for end in one.beside if is_key(end)]
        kinds = await self._kinds(blank, call)
        return {key: one.among(kinds) for key, one in level.items()}

    async def _kinds(self, keys: Iterable[Iri], call: Call) -> Mapping[Iri, Kind]:
        wanted = list(dict.fromkeys(keys))
        if not self._may_ask_for_keys():
            return dict.fromkeys(wanted, Kind.UNREAD)
        await self._contents.ids(wanted, call)
        return {key: self._contents.kind(key, call) for key in wanted}

    async def _with_iri(self, nodes: Sequence[Iri], call: Call) -> Mapping[Iri, _Cell]:
        rule = await self._rule.refreshed(call)
        query = about_nodes(self._client, "blank_nodes/cells_with_iri", _BATCH, rule, _read_with_iri)
        found = await query.run(nodes, call)
        if not isinstance(self._contents, AnchoredReader):
            return found
        # The labels of that answer mean nothing in the one that has what the blank nodes say.
        beside = await self._contents.beside(nodes, call)
        return {node: one.with_blank(beside[node]) for node, one in found.items()}

    async def _cells(self, keys: Sequence[Iri], call: Call) -> Mapping[Iri, Cells]:
        if isinstance(self._contents, AnchoredReader):
            known = await self._contents.read(keys, call)
            return {key: Cells(_behind(key, known)) for key in keys}
        return await cells_beside(keys, self._client, self._contents.way, call)

    def _folded(self, cells: Sequence[Iri], contents: Mapping[Iri, Content], call: Call) -> Lists | None:
        """Return lists as edges and values; None where not all of them is known."""
        if any(is_key(cell) and self._contents.kind(cell, call) is not Kind.LIST for cell in cells):
            return None
        folded = fold_lists(_triples_of(cells, contents), frozenset())
        if folded.broken:
            _log.info("malformed lists are shown as the nodes that they are made of")
        own = {label_of(cell): cell for cell in cells}
        subjects = {triple[0] for triple in folded.triples}
        raw = {subject for subject, predicate, _ in folded.triples if is_list_part(name_of(predicate))}
        owners = {array.owner for array in folded.arrays}
        nodes = subjects.union((value for _, _, value in folded.triples), owners).intersection(own)
        edges: defaultdict[Iri, dict[ListEdge, None]] = defaultdict(dict)
        is_edge = self._edge_rule(own, contents)
        for triple in dict.fromkeys((*folded.triples, *folded.positions)):
            places = folded.positions.get(triple, {})
            if not is_node(triple[2]):
                continue
            subject, predicate, target = map(name_of, triple)
            is_value = bool(places) and not self._rule.is_edge(predicate)
            if is_value or is_edge(triple, is_member=bool(places)):
                positions = tuple(tuple(places[head]) for head in sorted(places))
                edge = ListEdge(subject, predicate, target, positions, is_edge=not is_value)
                edges[edge.subject][edge] = edges[edge.object][edge] = None
        values: defaultdict[tuple[Iri, Iri], list[Value]] = defaultdict(list)
        for array in folded.arrays:
            values[name_of(array.owner), name_of(array.predicate)].append(Value(array))
        ends = dict.fromkeys(filter(is_key, edges))
        # Members of which there is no edge are a part of the value.
        ends |= dict.fromkeys(chain.from_iterable(blank_ends(contents[cell].says) for cell in cells))
        return Lists(
            {end: list(some) for end, some in edges.items()},
            dict(values),
            [end for end in ends if label_of(end) not in own],
            frozenset(own[label] for label in nodes if is_key(own[label])),
            frozenset(
                cell for label, cell in own.items() if label not in raw and (label in nodes or not is_blank(label))
            ),
            said=_said_in(folded),
        )

    def _edge_rule(self, own: Mapping[str, Iri], contents: Mapping[Iri, Content]) -> Callable[..., bool]:
        """Return what says whether a triple is an edge, by what the rule of the profile makes edges of the cells."""
        leading = {
            (term_of(end), node(predicate), label_of(cell))
            for cell in own.values()
            for predicate, end in contents[cell].incoming
        }
        led_to = {
            (label_of(cell), node(predicate), term_of(end))
            for cell in own.values()
            for predicate, end in contents[cell].outgoing
        }
        owners = {triple[:2] for triple in leading}
        members = {triple[2] for triple in led_to}

        def is_edge(triple: Terms, *, is_member: bool) -> bool:
            if not self._rule.is_edge(name_of(triple[1])):
                return False
            if not is_member:
                return triple in leading or triple in led_to
            of_list = triple[1] == _MEMBER and triple[0] in own
            return triple[2] in members and (of_list or triple[:2] in owners)

        return is_edge


def _said_in(folded: Folded) -> Mapping[Iri, str]:
    """Return what lists say of each blank node, by key: all blank nodes alike, and no place of a node in a list."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for triple in folded.triples:
        subject, predicate, target = triple
        places = folded.positions.get(triple, {}).values()
        lines[subject].append(f">{predicate} {'_' if is_blank(target) else target} {sorted(places)}")
        lines[target].append(f"<{predicate} {'_' if is_blank(subject) else subject}")
    for array in folded.arrays:
        lines[array.owner].append(f"={array.predicate} {array.text(lambda _: '_')}")
    return {name_of(label): "\n".join(sorted(said)) for label, said in lines.items() if is_blank(label)}


def _triples_of(cells: Sequence[Iri], contents: Mapping[Iri, Content]) -> list[Terms]:
    """Return what cells say and what is said of them, each triple once."""
    triples: dict[Terms, None] = {}
    for cell in cells:
        for predicate, end in contents[cell].says:
            triples[label_of(cell), node(predicate), term_of(end)] = None
        for predicate, end in contents[cell].said:
            triples[term_of(end), node(predicate), label_of(cell)] = None
    return list(triples)


def _behind(key: Iri, known: Mapping[Iri, Content]) -> tuple[Iri, ...]:
    """Return a cell and those behind it, as far as they were read."""
    found, waiting = {key: None}, [key]
    while waiting and (content := known.get(waiting.pop())) is not None:
        for predicate, end in content.says:
            if predicate == RDF_REST and isinstance(end, BlankTerm) and end.value not in found:
                found[end.value] = None
                waiting.append(end.value)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Cell:
    """What a cell says, as far as the mark says.

    Attributes:
        content: What it says.
        beside: What may be a cell that hangs on it: keys, and IRIs.
        mark: Whether that is all.
    """

    content: Content = field(default_factory=Content)
    beside: Sequence[Iri] = ()
    mark: Mark = WHOLE

    @property
    def is_cell(self) -> bool:
        """Whether it is one, or may be."""
        return bool(self.content.says or self.content.said) or not self.mark.whole

    @property
    def says_members(self) -> bool:
        """Whether it has members, or may have some."""
        return bool(self.content.says) or not self.mark.whole

    def with_blank(self, beside: Content) -> _Cell:
        """Return it with other blank nodes beside it in the place of its own."""
        own = self.content

        def joined(triples: Sequence[Triple], blank: Sequence[Triple]) -> tuple[Triple, ...]:
            others = (triple for triple in triples if not isinstance(triple[1], BlankTerm))
            return (*others, *(triple for triple in blank if is_list_part(triple[0])))

        mark = own.mark if beside.mark.whole else beside.mark
        says, said = joined(own.says, beside.says), joined(own.said, beside.said)
        content = Content(says, said, joined(own.outgoing, beside.outgoing), mark=mark)
        return _Cell(content, [*_beside(content), *(end for end in self.beside if not is_key(end))], mark)

    def among(self, kinds: Mapping[Iri, Kind]) -> _Cell:
        """Return it with those blank nodes beside it that are cells, by what they are."""
        beside = [end for end in self.beside if kinds.get(end, Kind.LIST) is Kind.LIST]
        is_unread = any(kinds.get(end) is Kind.UNREAD for end in self.beside)
        return _Cell(self.content, beside, _UNPROVEN if is_unread and self.mark.whole else self.mark)


_UNPROVEN = Mark(EndpointFault("A list could not be read."))


def _read_with_iri(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, _Cell]:
    """Read the rows of `blank_nodes/cells_with_iri`."""
    found = triples_by_kind(iri("n")(rows), rows, ends_in(rows), ("says", "said", "out", "inner"))
    if not found.keys() <= set(batch):
        raise UnexpectedRows
    cells = {}
    for key in batch:
        triples = (tuple(each for each in some if is_list_part(each[0])) for some in found.get(key, ((), (), (), ())))
        says, said, outgoing, inner = triples
        content = Content(says, said, outgoing, mark=mark)
        named = (end.value for _, end in inner if isinstance(end, IriTerm))
        cells[key] = _Cell(content, list(dict.fromkeys([*_beside(content), *named])), mark)
    return cells


def _beside(content: Content) -> list[Iri]:
    """Return what may be a cell beside one: members that are blank, and what it is a member or the rest of."""
    said = [
        end.value
        for predicate, end in content.said
        if is_list_part(predicate) and isinstance(end, BlankTerm | IriTerm) and end.value != RDF_NIL
    ]
    says = [
        end.value
        for predicate, end in content.says
        if is_list_part(predicate)
        and (
            isinstance(end, BlankTerm) or (isinstance(end, IriTerm) and predicate == RDF_REST and end.value != RDF_NIL)
        )
    ]
    return list(dict.fromkeys([*says, *said]))


def _named_members(content: Content) -> Iterable[Iri]:
    return (
        end.value
        for predicate, end in content.says
        if isinstance(end, IriTerm) and is_list_part(predicate) and end.value != RDF_NIL
    )


def _together(contents: Mapping[Iri, Content]) -> Sequence[Sequence[Iri]]:
    """Return cells in groups of those that hang together."""
    beside: dict[Iri, dict[Iri, None]] = {key: {} for key in contents}
    for key, content in contents.items():
        for predicate, end in (*content.says, *content.said):
            if is_list_part(predicate) and isinstance(end, BlankTerm | IriTerm) and end.value in beside:
                beside[key][end.value] = beside[end.value][key] = None
    return groups_of(beside)
