"""Class expressions of an endpoint, read by the keys of their blank nodes, folded by the code that does so for files.

An expression is read whole, with what it is a part of, a level of all of them at a time: Virtuoso refuses the one query
that would read them at once. What fits no rule stays unread: its edges are counted, and the answer is not complete.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakKeyDictionary

from gateway.errors import Fault
from gateway.files.class_expressions import READ_INWARDS, READ_OUTWARDS
from gateway.files.expression_edges import CONTENT, Expressions, fold_expressions
from gateway.files.ntriples import Terms, node
from gateway.graph.call import Call, Deadline, Requester
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.values import Assertion, Degree, EdgeSelection, Iri, Mark
from gateway.graph.values import Value as ValueOfNode
from gateway.sparql.batches import about_nodes
from gateway.sparql.blank.contents import TO_OBJECT, TO_SUBJECT, Content, ContentReader, Kind, groups_of, is_evidence
from gateway.sparql.blank.edges import with_cells
from gateway.sparql.blank.keys import is_key, label_of, name_of, term_of
from gateway.sparql.blank.lists import ListEdge, ListReader, Lists, Value
from gateway.sparql.blank.rule import blank_ends
from gateway.sparql.client import SparqlClient
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm, Table, Term, integer, iri, read
from gateway.sparql.table import value as value_of
from gateway.terms.iri import (
    ANNOTATED,
    EXPRESSION_PREDICATES,
    HAS_VALUE,
    OWL,
    OWN,
    RDF_OBJECT,
    RDF_PREDICATE,
    RDF_SUBJECT,
    RDF_TYPE,
    RDFS,
    RDFS_MEMBER,
    SUBCLASS_OF,
    XSD,
    is_path,
)
from gateway.terms.literals import Literal

_MOST: Final = 5_000
"""Blank nodes of expressions that are read for one question."""

_OF_AXIOMS: Final = frozenset((RDF_TYPE, SUBCLASS_OF, f"{RDFS}domain", f"{RDFS}range", f"{OWL}oneOf"))
"""Predicates of which expressions say edges between other nodes, whatever their property is."""

_ROUNDS: Final = 24
"""Levels of expressions in each other, and cells of their lists, that are followed."""


_IN_FILES: Final = dict(zip(ANNOTATED, (RDF_SUBJECT, RDF_PREDICATE, RDF_OBJECT), strict=True))
"""Annotations of axioms as files are read."""

_OF_TRIPLE: Final = frozenset((*_IN_FILES, *_IN_FILES.values()))
"""Predicates to the terms of the triple about which something is stated."""

_OBJECT: Final = node(RDF_OBJECT)

_TO_ENDS: Final = frozenset((*TO_SUBJECT, *TO_OBJECT))


@dataclass(slots=True)
class _Stated:
    """What is stated about expressions.

    Attributes:
        owners: The nodes of which it was read, or is: IRIs, or keys.
        triples: Triples of the nodes that state it, as files have them.
        terms: The terms in them.
        labels: The labels of these nodes.
        unread: The nodes of which it was not read: IRIs, or keys.
    """

    owners: set[Iri] = field(default_factory=set)
    triples: dict[Terms, None] = field(default_factory=dict)
    terms: dict[str, Term] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)
    unread: set[Iri] = field(default_factory=set)

    def copy(self) -> _Stated:
        """Return what is stated, to which more is added."""
        return _Stated(set(self.owners), dict(self.triples), dict(self.terms), set(self.labels), set(self.unread))

    def add(self, key: Iri, content: Content) -> bool:
        """Add what a node states; return whether nothing of it is left out."""
        label = label_of(key)
        self.labels.add(label)
        terms = [predicate for predicate, _ in content.says if predicate in _OF_TRIPLE]
        if len({_IN_FILES.get(predicate, predicate) for predicate in terms}) < len(terms):
            # It is not known which axiom is meant.
            return False
        for predicate, end in content.says:
            if isinstance(end, BlankTerm) and predicate not in _TO_ENDS:
                return False
            self.terms[term_of(end)] = end
            self.triples[label, node(_IN_FILES.get(predicate, predicate)), term_of(end)] = None
        return content.mark.whole


@dataclass(slots=True)
class _Read:
    """What one call has read.

    Attributes:
        groups: The triples of each expression that fits, by each of its blank nodes; None where it is unread.
        folded: What all of them say together.
        stated: What is stated about them.
        lock: Held by the part of the call that reads more.
    """

    groups: dict[Iri, tuple[Terms, ...] | None] = field(default_factory=dict)
    stated: _Stated = field(default_factory=_Stated)
    folded: Lists = field(default_factory=lambda: Lists({}, {}, (), are_expressions=True))
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def copy(self) -> _Read:
        """Return what was read, to which more is added."""
        return _Read(dict(self.groups), self.stated.copy(), self.folded)


class ExpressionReader:
    """Reads expressions by the keys of their blank nodes.

    Args:
        rule: Says what is an edge.
        contents: Reads blank nodes.
    """

    def __init__(self, rule: EdgeRule, contents: ContentReader) -> None:
        self._rule = rule
        self._contents = contents
        # A rule that names predicates may allow those of axioms and not those of their expressions.
        self._may_fold = not (rule.allowed or rule.namespaces or rule.objects)
        self._of_calls: WeakKeyDictionary[Requester, _Read] = WeakKeyDictionary()

    async def are_there(self, call: Call) -> bool:
        """Return whether the graph may have expressions that are read."""
        return self._may_fold and await self._contents.has_expressions(call)

    async def of(self, keys: Iterable[Iri], call: Call) -> Mapping[Iri, Lists | None]:
        """Return what the expressions say of which some blank nodes are parts, with all others of the call.

        They are folded together, since what one says of a class changes how another is said.
        """
        known = self._of_calls.setdefault(call.requester, _Read())
        # What another part of the call reads is not to be asked for before it is folded.
        async with known.lock:
            wanted = [key for key in dict.fromkeys(keys) if key not in known.groups]
            if wanted and self._may_fold:
                new = known.copy()
                new.groups |= await self._read(wanted, call)
                if self._rule.uses.may_use("statements") or self._rule.uses.may_use("axioms"):
                    await self._read_stated(new, call)
                known.folded = await self._folded_together(new, call)
                known.groups, known.stated = new.groups, new.stated
            known.groups |= {key: None for key in wanted if key not in known.groups}
            return {key: None if group is None else known.folded for key, group in known.groups.items()}

    async def _read_stated(self, known: _Read, call: Call) -> None:
        """Read what is stated about the axioms of expressions, by copies of these."""
        stated = known.stated
        about = (name_of(one[0]) for group in known.groups.values() for one in group or ())
        owners = [one for one in dict.fromkeys(about) if one not in stated.owners and one not in known.groups]
        stated.owners.update(owners)
        named = [one for one in owners if not is_key(one)]
        ends = await self._contents.stating(named, call) if named else {}
        keys = {owner: [end.key for end in one.ends] for owner, one in ends.items()}
        stated.unread |= {owner for owner, one in ends.items() if not one.mark.whole}
        blank = [one for one in owners if is_key(one)]
        beside = await self._contents.read(blank, call) if blank else {}
        keys |= {owner: blank_ends(beside[owner].said, TO_SUBJECT) for owner in blank}
        stated.unread |= {owner for owner in blank if not beside[owner].mark.whole}
        every = list(dict.fromkeys(key for some in keys.values() for key in some))
        contents = await self._contents.read(every, call) if every else {}
        copies = {key: blank_ends(contents[key].says, TO_OBJECT) for key in every}
        wanted = [copy for some in copies.values() for copy in some if copy not in known.groups]
        if wanted:
            known.groups |= await self._read(wanted, call)
        for owner, some in keys.items():
            for key in some:
                are_read = all(known.groups.get(copy) is not None for copy in copies[key])
                if not (are_read and stated.add(key, contents[key])):
                    stated.unread.add(owner)

    async def _folded_together(self, known: _Read, call: Call) -> Lists:
        """Return what all expressions of a call say."""
        again = _read_again(known, self._contents.contents(call))
        read = (group for group in known.groups.values() if group and id(group) not in again)
        triples = dict.fromkeys(triple for group in read for triple in group)
        # Engines answer in any order.
        every = sorted({**triples, **dict.fromkeys(known.stated.triples)})
        return await in_thread(
            call, lambda _: self._folded(fold_expressions(every), known.stated), unless=len(every) <= FEW_FOR_A_THREAD
        )

    async def _read(self, keys: Sequence[Iri], call: Call) -> Mapping[Iri, tuple[Terms, ...] | None]:
        """Return the triples of expressions by each of their blank nodes."""
        found: dict[Iri, Content] = {}
        unread: set[Iri] = set()
        frontier = await self._without_evidence(keys, call)
        rounds = _ROUNDS
        while frontier and rounds and len(found) <= _MOST:
            await self._contents.ids(frontier, call)
            known = self._contents.contents(call)
            found |= {key: known[key] for key in frontier}
            beside = dict.fromkeys(end for key in frontier for end in _parts_beside(known[key]) if end not in found)
            # The cells of a list may have been read at once.
            rounds -= any(end not in known for end in beside)
            await self._contents.ids(beside, call)
            kinds = {end: self._contents.kind(end, call) for end in beside}
            unread |= {end for end, kind in kinds.items() if kind is Kind.UNREAD}
            parts = [end for end, kind in kinds.items() if kind is Kind.OTHER]
            frontier = await self._without_evidence(parts, call)
        unread.update(frontier)
        individuals = list(dict.fromkeys(end for content in found.values() for end in _individuals(content)))
        await self._contents.ids(individuals, call)
        lists = {end for end in individuals if self._contents.kind(end, call) is not Kind.NODE}
        evidence = {key for key, content in self._contents.contents(call).items() if is_evidence(content)}

        parts_beside = {key: _parts_beside(content) for key, content in found.items()}

        def read_groups(deadline: Deadline) -> dict[Iri, tuple[Terms, ...] | None]:
            return _groups(deadline.checking(groups_of(parts_beside)), found, unread, lists, evidence)

        return await in_thread(call, read_groups, unless=len(found) <= FEW_FOR_A_THREAD)

    async def _without_evidence(self, keys: Iterable[Iri], call: Call) -> list[Iri]:
        known = await self._contents.read(keys, call)
        return [key for key in dict.fromkeys(keys) if not is_evidence(known[key])]

    def _folded(self, read: Expressions, stated: _Stated) -> Lists:
        """Return what expressions say as edges by either end, and as values.

        Copies in annotations of axioms that no expression says stay edges of blank nodes that are no nodes.

        Args:
            read: What they say.
            stated: What is stated about them.
        """
        says: defaultdict[Terms, list[Assertion]] = defaultdict(list)
        for edge_of, said in read.stated:
            says[edge_of].append(_assertion(said, stated.terms))
        edges: defaultdict[Iri, dict[ListEdge, None]] = defaultdict(dict)
        for subject, predicate, value in read.triples:
            if predicate[1:-1] in self._rule.excepted or not stated.labels.isdisjoint((subject, value)):
                continue
            of_edge = tuple(says.get((subject, predicate, value), ()))
            edge = ListEdge(name_of(subject), predicate[1:-1], name_of(value), (), of_edge)
            edges[edge.subject][edge] = edges[edge.object][edge] = None
        values: defaultdict[tuple[Iri, Iri], list[Value]] = defaultdict(list)
        # An engine without keys may give a blank node twice; as in files, what is said twice stands there once.
        arrays = {(one.owner, one.predicate, one.text(str)): one for one in read.arrays}
        for array in arrays.values():
            values[name_of(array.owner), array.predicate[1:-1]].append(Value(array))
        by_end = {end: list(some) for end, some in edges.items()}
        return Lists(
            by_end, dict(values), [*filter(is_key, edges)], are_expressions=True, unstated=frozenset(stated.unread)
        )


class FoldedReader:
    """Reads what blank nodes stand for: lists and expressions.

    Args:
        lists: Reads lists.
        expressions: Reads expressions.
        contents: Reads blank nodes.
    """

    def __init__(self, lists: ListReader, expressions: ExpressionReader, contents: ContentReader) -> None:
        self._lists = lists
        self._expressions = expressions
        self._contents = contents

    async def are_there(self, call: Call, *, with_expressions: bool = True) -> bool:
        """Return whether the graph may have any."""
        return await self._lists.are_there(call) or (with_expressions and await self._expressions.are_there(call))

    async def are_expressions_there(self, call: Call) -> bool:
        """Return whether the graph may have expressions."""
        return await self._expressions.are_there(call)

    async def of(self, keys: Sequence[Iri], call: Call) -> Mapping[Iri, Lists | None]:
        """Return what those of some blank nodes say that are parts of lists or expressions; None where it is unread."""
        kinds = {key: self._contents.kind(key, call) for key in keys if is_key(key)}
        cells = [key for key in keys if kinds.get(key, Kind.LIST) is Kind.LIST]
        parts = [key for key, kind in kinds.items() if kind is Kind.OTHER]
        return {**await self._lists.of(cells, call), **await self._expressions.of(parts, call)}

    def parts(self, keys: Iterable[Iri], call: Call) -> Sequence[Iri]:
        """Return those of some blank nodes that are parts of expressions, or may be."""
        return [key for key in keys if is_key(key) and self._contents.kind(key, call) in {Kind.OTHER, Kind.UNREAD}]

    async def ids(self, keys: Iterable[Iri], call: Call) -> Mapping[Iri, Iri]:
        """Return the IDs of those blank nodes that are nodes and could be read, with others of the call."""
        return await self._lists.ids(keys, call)

    async def widened(self, selection: EdgeSelection, call: Call, *, are_blank: bool) -> EdgeSelection:
        """Return which edges are to be read for a selection.

        What lists and expressions say has no edge of its predicate between the nodes that it links.

        Args:
            selection: The selection.
            call: The call that asks.
            are_blank: Whether the graph may have blank nodes, which expressions are.
        """
        if selection.is_all:
            return selection
        wide = selection
        of_members = selection.incoming or (selection.outgoing is not None and RDFS_MEMBER in selection.outgoing)
        if of_members and await self._lists.are_there(call):
            wide = with_cells(selection, are_containers=await self._lists.are_containers(call))
        return _with_axioms(wide) if are_blank and await self._expressions.are_there(call) else wide


async def may_say(predicates: Sequence[Iri], client: SparqlClient, call: Call) -> bool:
    """Return whether expressions of a graph that has some may say edges of some predicates."""
    if any(predicate in _OF_AXIOMS or is_path(predicate) for predicate in predicates):
        return True
    try:
        given = {"properties": predicates}
        return await client.has_rows("blank_nodes/restrictions", call, given)
    except Fault:
        return True


async def expressions_as_types(
    nodes: Sequence[Iri],
    client: SparqlClient,
    batch: int,
    call: Call,
    of: Collection[Iri] = EXPRESSION_PREDICATES,
) -> Mapping[Iri, Degree]:
    """Return how many types each of some nodes with an IRI has that are expressions, by some predicates of these."""

    def read_counts(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Degree]:
        counts = {**dict.fromkeys(batch, 0), **dict(read(rows, iri("n"), integer("count")))}
        return {node: Degree(count, mark=mark) for node, count in counts.items()}

    given = {"predicates": sorted(of)}
    return await about_nodes(client, "blank_nodes/expressions_as_types", batch, given, read_counts).run(nodes, call)


def _with_axioms(selection: EdgeSelection) -> EdgeSelection:
    """Return a selection with the predicates by which a node leads to expressions, or expressions to it."""
    outgoing, incoming = selection.outgoing, selection.incoming
    return EdgeSelection(
        None if outgoing is None else tuple(sorted({*outgoing, *READ_OUTWARDS})),
        None if incoming is None else tuple(sorted({*incoming, *READ_INWARDS})),
    )


def is_of_axiom(predicate: Iri, *, is_incoming: bool) -> bool:
    """Return whether a predicate leads from a node to an expression, or from one to the node, that may say an edge."""
    return predicate in (READ_INWARDS if is_incoming else READ_OUTWARDS)


def may_lead_to_content(predicate: Iri) -> bool:
    """Return whether a predicate may lead from a node to what is no end of an edge, and equals nothing."""
    return is_of_axiom(predicate, is_incoming=False) or node(predicate) in CONTENT


def _parts_beside(content: Content) -> list[Iri]:
    """Return the keys of blank nodes of which a node may be a part, or which are parts of it."""
    return [
        end.value
        for predicate, end in (*content.says, *content.said)
        if isinstance(end, BlankTerm) and predicate != HAS_VALUE
    ]


def _individuals(content: Content) -> list[Iri]:
    """Return the keys of the blank nodes to which a restriction leads as to individuals."""
    return blank_ends(content.says, {HAS_VALUE})


def _groups(
    groups: Iterable[Sequence[Iri]],
    found: Mapping[Iri, Content],
    unread: AbstractSet[Iri],
    lists: AbstractSet[Iri],
    evidence: AbstractSet[Iri],
) -> dict[Iri, tuple[Terms, ...] | None]:
    """Return the triples of each group of blank nodes that hang together; None where they fit no rule."""
    read: dict[Iri, tuple[Terms, ...] | None] = {}
    for group in groups:
        is_whole = all(found[key].mark.whole and unread.isdisjoint(_parts_beside(found[key])) for key in group)
        # A list would be one of what the expression is about.
        is_whole = is_whole and lists.isdisjoint(end for key in group for end in _individuals(found[key]))
        triples = _triples_of(group, found, evidence) if is_whole else []
        copies = [key for key in group if not evidence.isdisjoint(blank_ends(found[key].said))]
        fits = is_whole and _fits(group, triples, copies)
        read |= dict.fromkeys(group, tuple(triples) if fits else None)
    return read


def _triples_of(group: Iterable[Iri], contents: Mapping[Iri, Content], evidence: AbstractSet[Iri]) -> list[Terms]:
    """Return what expressions say and what is said of them, but for what states something about their axioms."""
    triples: dict[Terms, None] = {}
    for key in group:
        for predicate, end in contents[key].says:
            triples[label_of(key), node(predicate), term_of(end)] = None
        for predicate, end in contents[key].said:
            if not (isinstance(end, BlankTerm) and end.value in evidence):
                triples[term_of(end), node(predicate), label_of(key)] = None
    return list(triples)


_ANY_CLASS = node(f"{OWN}any-class")
_SUBCLASS, _TYPE = node(SUBCLASS_OF), node(RDF_TYPE)


def _fits(group: Iterable[Iri], triples: Sequence[Terms], copies: Iterable[Iri]) -> bool:
    """Return whether all of an expression is read; `copies` stand in what states something about an axiom."""
    labels = frozenset(map(label_of, group))
    read = fold_expressions([*triples, *((_ANY_CLASS, _SUBCLASS, label_of(key)) for key in copies)])
    # A type is no edge: nothing else would say that a node has it.
    says_types = any(triple[1] == _TYPE for triple in set(read.triples).difference(triples))
    return not read.unread and not says_types and all(labels.isdisjoint(triple) for triple in read.triples)


def _read_again(known: _Read, contents: Mapping[Iri, Content]) -> set[int]:
    """Return which expressions are copies in annotations that were read by other keys: one walk to them of several."""
    stated = known.stated
    again: set[int] = set()
    labels = set(map(label_of, known.groups))
    in_use = {name_of(value) for _, predicate, value in stated.triples if predicate == _OBJECT}
    read = stated.owners - stated.unread
    for key, group in known.groups.items():
        stating = blank_ends(contents[key].said, TO_OBJECT)
        about = [end for one in stating if one in contents for end in _subjects(contents[one])]
        is_read = key not in in_use and about and read.issuperset(about)
        if group and is_read and all(subject in labels for subject, _, _ in group):
            again.add(id(group))
    return again


def _subjects(content: Content) -> list[Iri]:
    """Return the subjects of the triples about which a node states something."""
    return [
        end.value for predicate, end in content.says if predicate in TO_SUBJECT and isinstance(end, BlankTerm | IriTerm)
    ]


def _assertion(said: Iterable[tuple[str, str]], terms: Mapping[str, Term]) -> Assertion:
    properties: defaultdict[Iri, dict[ValueOfNode, None]] = defaultdict(dict)
    for predicate, text in said:
        known = terms.get(text)
        item = _literal(text) if known is None else value_of(known)
        if item is not None:
            properties[predicate[1:-1]][item] = None
    return Assertion({predicate: tuple(values) for predicate, values in properties.items()})


_LITERAL = re.compile(r'"(.*)"\^\^<(.*)>')


def _literal(term: str) -> Literal:
    """Return a term that says how an expression says its edge."""
    found = _LITERAL.fullmatch(term)
    text, datatype = found.groups() if found else (term, "")
    return Literal(text, "" if datatype == f"{XSD}string" else datatype)
