"""What blank nodes of an endpoint say, read by their keys, and what follows from it: what they are, and their IDs.

All that the port asks about a blank node is answered from this, so that no other query has to state a blank node.
It is read once for a call. The next call reads it again: what was read before says nothing about a key that the engine
may have given to another node since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final
from weakref import WeakKeyDictionary

from gateway.errors import EndpointFault
from gateway.files.lists import is_list_part
from gateway.graph.call import Call, Requester
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.sparql.batches import BatchedQuery, about_nodes
from gateway.sparql.blank.cells import cells_beside
from gateway.sparql.blank.keys import (
    WALK_STEP,
    NodeId,
    Way,
    beside_keys,
    bindings_of,
    by_key,
    can_state,
    end_as_text,
    ends_in,
    hash_of,
    keys_in,
    may_be_rounded,
    parameters_of,
    template_of,
    written,
)
from gateway.sparql.blank.probes import ExpressionProbe
from gateway.sparql.blank.rule import BlankRule, Triple, blank_ends
from gateway.sparql.client import SparqlClient
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm, Table, Term, UnexpectedRows, iri, literal
from gateway.sparql.template import Parameter
from gateway.terms.iri import (
    ALL_DIFFERENT,
    ANNOTATED,
    EVIDENCE_MARKERS,
    EXPRESSION_PREDICATES,
    HAS_VALUE,
    INTO_EXPRESSIONS,
    RDF_OBJECT,
    RDF_SUBJECT,
    RDF_TYPE,
    RESTRICTION,
    TO_ALL_DIFFERENT,
)

_BATCHES: Final[Mapping[Way, int]] = {"iris": 200, "labels": 200, "fields": 100}
"""Nodes in one query: RDF4J is sent a field for each, and takes more time for the second hundred than for the first."""

_OWNERS: Final = 200
"""Nodes with an IRI in one query."""

TO_SUBJECT: Final = (RDF_SUBJECT, ANNOTATED[0])
TO_OBJECT: Final = (RDF_OBJECT, ANNOTATED[2])
"""Predicates from what states something about a triple to its terms."""

_ROUNDS: Final = 12
"""How far blank nodes are followed upwards to find out whether one belongs to an expression."""

_DEEPEST: Final = 100
"""Blank nodes in each other of which it is found out whether they belong to an expression."""

_WITH_IRI: Final = Mark(EndpointFault("What a node with an IRI states about a blank node is not read."), at_least=0)

_EVIDENCE = frozenset((*EVIDENCE_MARKERS, *ANNOTATED))


class Kind(Enum):
    """What a blank node is."""

    NODE = auto()
    LIST = auto()
    OTHER = auto()
    UNREAD = auto()


@dataclass(frozen=True, slots=True)
class Content:
    """What one blank node says.

    Attributes:
        says: What it leads to, values too.
        said: What leads to it.
        outgoing: What of it is an edge, by the rule of the profile.
        incoming: The same of what leads to it.
        mark: Whether this is all.
    """

    says: tuple[Triple, ...] = ()
    said: tuple[Triple, ...] = ()
    outgoing: tuple[Triple, ...] = ()
    incoming: tuple[Triple, ...] = ()
    mark: Mark = WHOLE

    @property
    def exists(self) -> bool:
        """Whether there is such a node."""
        return bool(self.says or self.said)

    @property
    def blank_ends(self) -> Iterable[Iri]:
        """The keys of the blank nodes at the other ends of its edges."""
        return blank_ends((*self.outgoing, *self.incoming))

    @property
    def blank_neighbours(self) -> Iterable[Iri]:
        """The keys of the blank nodes at the other ends."""
        return blank_ends((*self.says, *self.said))

    @property
    def own_kind(self) -> Kind:
        """What it is by its own triples."""
        if not self.mark.whole or not self.exists:
            return Kind.UNREAD
        predicates = {predicate for predicate, _ in self.says}
        types = {end.value for predicate, end in self.says if predicate == RDF_TYPE and isinstance(end, IriTerm)}
        if not _EVIDENCE.isdisjoint(predicates):
            return Kind.OTHER
        if is_all_different(self.says):
            return Kind.OTHER
        is_expression = not EXPRESSION_PREDICATES.isdisjoint(predicates) or RESTRICTION in types
        if is_expression or any(predicate in INTO_EXPRESSIONS for predicate, _ in self.said):
            return Kind.OTHER
        return Kind.LIST if any(map(is_list_part, predicates)) else Kind.NODE


@dataclass(slots=True)
class _Read:
    """What one call has read."""

    contents: dict[Iri, Content] = field(default_factory=dict)
    kinds: dict[Iri, Kind] = field(default_factory=dict)
    ids: dict[Iri, Iri] = field(default_factory=dict)
    evidence: dict[Iri, bool] = field(default_factory=dict)
    has_expressions: bool | None = None


class ContentReader:
    """Reads blank nodes by their keys.

    Args:
        client: Sends the queries.
        rule: Says what is an edge.
        levels: How many levels of blank neighbours the digest of a node has: none where an engine gives no key twice.
        expressions: Finds out whether there are expressions.

    Attributes:
        way: How queries state keys.
    """

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, way: Way, levels: int, expressions: ExpressionProbe
    ) -> None:
        self._client = client
        self._rule = rule
        self._edges = BlankRule(client, rule)
        self.way: Way = way
        self._levels = levels
        self._expressions = expressions
        self._of_calls: WeakKeyDictionary[Requester, _Read] = WeakKeyDictionary()

    async def read(self, keys: Iterable[Iri], call: Call) -> Mapping[Iri, Content]:
        """Return what some nodes say, with that of others which the call has read."""
        known = self._of(call).contents
        wanted = [key for key in dict.fromkeys(keys) if key not in known]
        if wanted:
            known |= await self.read_anew(wanted, call)
        return known

    async def read_anew(self, keys: Sequence[Iri], call: Call) -> Mapping[Iri, Content]:
        """Return what some nodes say now."""
        rule = await self._rule.refreshed(call)
        statable = [key for key in keys if can_state(self.way, key)]
        if self._edges.is_of_engine:
            found = await self._asked("contents", statable, rule, call)
        else:
            found = await self._asked("triples", statable, beside_keys(self.way, statable), call)
            rounded = [key for key, one in found.items() if any(may_be_rounded(key, end) for _, end in one.says)]
            found |= await self._asked("contents", rounded, rule, call) if rounded else {}
            found = await self._with_edges(found, call)
        refused = Content(mark=Mark(EndpointFault("The endpoint knows a blank node by what no query can state.")))
        # A walk is in the IDs of engines that have no keys.
        others = {key: Content() if WALK_STEP in key else refused for key in keys if key not in found}
        return {**found, **others}

    async def _asked(
        self, template: str, keys: Sequence[Iri], given: Mapping[str, Parameter], call: Call
    ) -> dict[Iri, Content]:
        query = BatchedQuery[Iri, Content](
            self._client,
            template_of(template, self.way),
            _BATCHES[self.way],
            lambda batch: {**parameters_of(self.way, batch), **given},
            _read_triples if template == "triples" else _read_contents,
            bindings=lambda batch: bindings_of(self.way, batch),
        )
        return await query.run(keys, call)

    async def open(self, keys: Sequence[Iri], call: Call) -> None:
        """Read what is beside some blank nodes that are asked for; by a key, that is asked for when it is needed."""

    async def _with_edges(self, contents: Mapping[Iri, Content], call: Call) -> dict[Iri, Content]:
        """Return contents with what of them are edges, where the engine did not say it."""
        triples = {key: (content.says, content.said) for key, content in contents.items()}
        edges = await self._edges.edges(triples, self._of(call).evidence, call)
        found: dict[Iri, Content] = {}
        for key, content in contents.items():
            (outgoing, incoming), mark = edges[key]
            mark = mark if content.mark.whole else content.mark
            found[key] = Content(content.says, content.said, outgoing, incoming, mark)
        return found

    def note_nodes(self, nodes: Iterable[Iri], call: Call) -> None:
        """Note that some nodes with an IRI have edges, and so state no evidence."""
        self._of(call).evidence |= dict.fromkeys(nodes, False)

    async def ids(self, keys: Iterable[Iri], call: Call) -> Mapping[Iri, Iri]:
        """Return the IDs of those blank nodes that are nodes and could be read, with others of the call."""
        wanted = list(dict.fromkeys(keys))
        known = self._of(call)
        await self._read_around(wanted, call)
        for key in wanted:
            if key not in known.ids and self._kind(key, known) is Kind.NODE:
                digest = self._digest(key, self._levels, known.contents)
                if digest and (node := NodeId(key, written(digest)).iri):
                    known.ids[key] = node
        return known.ids

    def with_lists(self, key: Iri, said: str, call: Call) -> Iri:
        """Return the ID of a node by what it says and what lists say of it; empty where it could not be read."""
        digest = self._digest(key, self._levels, self._of(call).contents)
        return NodeId(key, written(hash_of(digest + said.encode()))).iri if digest else ""

    def kind(self, key: Iri, call: Call) -> Kind:
        """Return what a blank node is whose ID was asked for."""
        return self._kind(key, self._of(call))

    def is_unread(self, key: Iri, call: Call) -> bool:
        """Return whether it could not be found out what a blank node is whose ID was asked for."""
        known = self._of(call)
        kind = self._kind(key, known)
        exists = known.contents[key].exists
        return exists and (kind is Kind.UNREAD or (kind is Kind.NODE and key not in known.ids))

    async def stating(self, nodes: Sequence[Iri], call: Call) -> Mapping[Iri, BlankEnds]:
        """Return the blank nodes that state something about triples of some nodes whose objects are blank nodes.

        A node of which something with an IRI states such a thing is marked: that is not read.
        """
        given = {"to_subject": TO_SUBJECT, "to_object": TO_OBJECT}

        def read_stating(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, BlankEnds]:
            found: dict[Iri, dict[BlankEnd, None]] = {node: {} for node in batch}
            with_iri: set[Iri] = set()
            for node, end in zip(iri("n")(rows), by_key(rows, "v"), strict=True):
                if isinstance(end, BlankTerm):
                    found[node][BlankEnd("", end.value, is_incoming=True)] = None
                else:
                    with_iri.add(node)
            return {
                node: BlankEnds(tuple(ends), _WITH_IRI if mark.whole and node in with_iri else mark)
                for node, ends in found.items()
            }

        return await about_nodes(self._client, "blank_nodes/about_axioms", _OWNERS, given, read_stating).run(
            nodes, call
        )

    def contents(self, call: Call) -> Mapping[Iri, Content]:
        """Return all that the call has read."""
        return self._of(call).contents

    def _of(self, call: Call) -> _Read:
        known = self._of_calls.get(call.requester)
        return self._of_calls.setdefault(call.requester, _Read()) if known is None else known

    async def _read_around(self, keys: Sequence[Iri], call: Call) -> None:
        """Read nodes, those of which they are parts, and those of which their digests are made."""
        levels = dict.fromkeys(keys, self._levels)
        level = list(keys)
        has_expressions = await self.has_expressions(call)
        # What a long list is a part of is many cells away.
        has_sets = has_expressions and await self._expressions.are_all_different_there(call)
        chained: set[Iri] = set()
        for _ in range(_ROUNDS + self._levels):
            if not level:
                return
            known = await self.read(level, call)
            following: dict[Iri, int] = {}
            for key in level:
                content, left = known[key], levels[key]
                if left:
                    following |= {end: max(left - 1, following.get(end, 0)) for end in content.blank_neighbours}
                if has_expressions and content.own_kind in {Kind.NODE, Kind.LIST}:
                    following |= {end: following.get(end, 0) for end in _owners(content)}
            cells = [key for key in level if key not in chained and known[key].own_kind is Kind.LIST]
            if cells and has_sets:
                for one in (await cells_beside(cells, self._client, self.way, call)).values():
                    following |= {cell: following.get(cell, 0) for cell in one.cells}
                    chained.update(one.cells)
            level = [key for key, left in following.items() if levels.get(key, -1) < left]
            levels |= {key: following[key] for key in level}

    async def has_expressions(self, call: Call) -> bool:
        """Return whether the graph may have expressions of OWL: blank nodes to which they lead are parts of them."""
        known = self._of(call)
        if known.has_expressions is None:
            known.has_expressions = await self._expressions.are_there(call)
        return known.has_expressions

    def _kind(self, key: Iri, known: _Read) -> Kind:
        kind = known.kinds.get(key)
        if kind is None:
            kind = self._kind_within(key, known, frozenset())
            # What is missing may be read later in this call.
            if kind is not Kind.UNREAD:
                known.kinds[key] = kind
        return kind

    def _kind_within(self, key: Iri, known: _Read, below: frozenset[Iri]) -> Kind:
        """Return what a node is: a part of an expression where one leads to it, by whatever blank nodes."""
        content = known.contents.get(key)
        own = Kind.UNREAD if content is None else content.own_kind
        if content is None or own not in {Kind.NODE, Kind.LIST}:
            return own
        if known.has_expressions is False:
            return own
        if len(below) > _DEEPEST:
            return Kind.UNREAD
        for owner in _owners(content):
            if owner in below or owner == key:
                continue
            kind = known.kinds.get(owner) or self._kind_within(owner, known, below | {key})
            owner_content = known.contents.get(owner)
            states = owner_content is not None and is_evidence(owner_content)
            if kind is Kind.UNREAD or (kind is Kind.OTHER and not states):
                return kind
        return own

    def _digest(self, key: Iri, levels: int, known: Mapping[Iri, Content]) -> bytes:
        """Return the digest of what a node says; empty where something of it was not read."""
        content = known.get(key)
        if content is None or not content.mark.whole:
            return b""
        lines: list[bytes] = []
        for sign, triples in ((">", content.says), ("<", content.said)):
            for predicate, end in triples:
                said = f"{sign}{predicate} {end_as_text(end)}".encode()
                if isinstance(end, BlankTerm) and levels:
                    below = self._digest(end.value, levels - 1, known)
                    if not below:
                        return b""
                    said += below
                lines.append(said)
        return hash_of(b"\n".join(sorted(lines)))


def _owners(content: Content) -> list[Iri]:
    """Return the keys of the blank nodes that lead to a node as to a part of them."""
    return [end.value for predicate, end in content.said if isinstance(end, BlankTerm) and predicate != HAS_VALUE]


def is_all_different(says: Iterable[Triple]) -> bool:
    """Return whether a blank node says that all members of a list are different or disjoint, and nothing else."""
    predicates = [predicate for predicate, _ in says if predicate != RDF_TYPE]
    types = [end.value for predicate, end in says if predicate == RDF_TYPE and isinstance(end, IriTerm)]
    return len(predicates) == 1 and predicates[0] in TO_ALL_DIFFERENT and not ALL_DIFFERENT.keys().isdisjoint(types)


def is_evidence(content: Content) -> bool:
    """Return whether a blank node states something about a triple."""
    return any(predicate in _EVIDENCE for predicate, _ in content.says)


def _read_contents(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Content]:
    """Read the rows of a template of contents."""
    found = triples_by_kind(keys_in(rows, "n"), rows, ends_in(rows))
    if not found.keys() <= set(batch):
        raise UnexpectedRows
    contents = {key: Content(mark=mark) for key in batch}
    return contents | {node: Content(says, said, out, into, mark) for node, (says, said, out, into) in found.items()}


def triples_by_kind(
    nodes: Iterable[Iri], rows: Table, ends: Iterable[Term], kinds: Sequence[str] = ("says", "said", "out", "in")
) -> dict[Iri, list[tuple[Triple, ...]]]:
    """Return the triples of each node, those of each kind apart, from rows with ?kind and ?p beside these columns."""
    found: defaultdict[Iri, dict[str, dict[Triple, None]]] = defaultdict(lambda: {kind: {} for kind in kinds})
    for node, kind, predicate, end in zip(nodes, literal("kind")(rows), iri("p")(rows), ends, strict=True):
        if kind.value not in kinds:
            raise UnexpectedRows
        found[node][kind.value][predicate, end] = None
    return {node: [*map(tuple, said.values())] for node, said in found.items()}


def _read_triples(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Content]:
    """Read the rows of a template of triples; one between two nodes of the batch is of both."""
    says: dict[Iri, dict[Triple, None]] = {key: {} for key in batch}
    said: dict[Iri, dict[Triple, None]] = {key: {} for key in batch}
    for subject, predicate, end in zip(by_key(rows, "s"), iri("p")(rows), by_key(rows, "o"), strict=True):
        outgoing = says.get(subject.value) if isinstance(subject, BlankTerm) else None
        incoming = said.get(end.value) if isinstance(end, BlankTerm) else None
        if (outgoing is None and incoming is None) or subject is None or end is None:
            raise UnexpectedRows
        if outgoing is not None:
            outgoing[predicate, end] = None
        if incoming is not None:
            incoming[predicate, subject] = None
    return {key: Content(tuple(says[key]), tuple(said[key]), mark=mark) for key in batch}


@dataclass(frozen=True, slots=True)
class BlankEnd:
    """The blank end of an edge of another node.

    Attributes:
        predicate: The predicate of the edge.
        key: The key of the blank node.
        is_incoming: Whether the blank node is the subject.
    """

    predicate: Iri
    key: Iri
    is_incoming: bool


@dataclass(frozen=True, slots=True)
class BlankEnds:
    """The blank ends of all edges of a node, as far as its mark says."""

    ends: tuple[BlankEnd, ...] = ()
    mark: Mark = WHOLE


def stating_in(said: Iterable[Triple]) -> tuple[BlankEnd, ...]:
    """Return the blank nodes that state something about a node, by what is said of it."""
    return tuple(
        BlankEnd(predicate, end.value, is_incoming=True)
        for predicate, end in said
        if predicate in TO_SUBJECT and isinstance(end, BlankTerm)
    )


def read_beside(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, BlankEnds]:
    """Read the rows of `blank_nodes/beside`."""
    found: dict[Iri, dict[BlankEnd, None]] = {node: {} for node in batch}
    columns = iri("n")(rows), literal("kind")(rows), iri("p")(rows), keys_in(rows, "v")
    for node, kind, predicate, key in zip(*columns, strict=True):
        found[node][BlankEnd(predicate, key, kind.value == "in")] = None
    return {node: BlankEnds(tuple(ends), mark) for node, ends in found.items()}


def blank_ends_in(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, BlankEnds]:
    """Read the blank ends in rows of edges of nodes with an IRI."""
    found: dict[Iri, dict[BlankEnd, None]] = {node: {} for node in batch}
    for subject, predicate, target in zip(by_key(rows, "s"), iri("p")(rows), by_key(rows, "o"), strict=True):
        if isinstance(target, BlankTerm) and isinstance(subject, IriTerm):
            found[subject.value][BlankEnd(predicate, target.value, is_incoming=False)] = None
        elif isinstance(subject, BlankTerm) and isinstance(target, IriTerm):
            found[target.value][BlankEnd(predicate, subject.value, is_incoming=True)] = None
    return {node: BlankEnds(tuple(ends), mark) for node, ends in found.items()}


def groups_of(beside: Mapping[Iri, Iterable[Iri]]) -> list[list[Iri]]:
    """Return blank nodes in groups of those that hang together, by what is beside each; what is no key is left out."""
    left = dict.fromkeys(beside)
    groups = []
    while left:
        key, _ = left.popitem()
        group, frontier = [key], [key]
        while frontier:
            for other in beside[frontier.pop()]:
                if other in left:
                    del left[other]
                    group.append(other)
                    frontier.append(other)
        groups.append(group)
    return groups
