"""Facts about nodes in a database, and about edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from sys import getsizeof
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from gateway.databases.client import DatabaseClient, DatabaseReader, Row, in_batches
from gateway.databases.edges import EdgeReader
from gateway.databases.terms import (
    SOURCES,
    TYPES,
    JsonValues,
    decoded,
    decoded_object,
    merged,
    without_lists,
)
from gateway.errors import EndpointFault, Fault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.reading import checked_descriptions, checked_evidence, checked_facts
from gateway.graph.values import (
    WHOLE,
    Assertion,
    BlankNode,
    Description,
    DirectSubclasses,
    Edge,
    EdgeSelection,
    Evidence,
    Existence,
    Identities,
    Iri,
    Mark,
    NodeFacts,
    Properties,
    Value,
)
from gateway.settings.vocabulary import VALUE_MARK
from gateway.terms.bounded_map import BoundedMap
from gateway.terms.iri import DEPRECATED, is_sendable, is_skolem, local_name
from gateway.terms.literals import Literal, best_text, is_relative, language_order
from gateway.terms.name_predicates import aliases_among
from gateway.terms.names import compact, one_line

Answer = TypeVar("Answer")

_BYTES = 1 << 18
"""Bytes of the properties of one node; one query asks for no more nodes than have so many bytes in one answer."""

_NAMES = 4
"""How many times `limits.facts_batch` nodes one query asks for, where only types and names are wanted: short rows."""

_NAME_CHARACTERS = 4_000
"""Of a name that stands alone; the queries for names cut longer ones as well."""

_KNOWN_TYPES_BYTES = 1 << 20
"""Memory for lists of types as databases write them: many nodes have the same few."""


class _Node(NamedTuple):
    """What the rows of one node say: it may be written in several ways, and be there more than once.

    Attributes:
        types: Its types.
        name: Its name; empty if it has none.
        properties: Its properties and names by predicate, if they were asked for.
        mark: Whether they could be read.
        types_mark: Whether the types could be read.
    """

    types: tuple[Iri, ...] = ()
    name: str = ""
    properties: Properties | None = None
    mark: Mark = WHOLE
    types_mark: Mark = WHOLE

    def with_more(self, other: _Node) -> _Node:
        """Return what this row and another one say."""
        properties: dict[Iri, tuple[Value, ...]] | None = None
        if self.properties is not None or other.properties is not None:
            ours, theirs = self.properties or {}, other.properties or {}
            properties = {**ours}
            for predicate, values in theirs.items():
                known = properties.get(predicate, ())
                properties[predicate] = (*known, *(value for value in values if value not in known))
        # Which row comes first is the database's choice.
        name = min(filter(None, (self.name, other.name)), default="")
        types = tuple(sorted({*self.types, *other.types}))
        return _Node(types, name, properties, _first(self.mark, other.mark), _first(self.types_mark, other.types_mark))


def _first(one: Mark, other: Mark) -> Mark:
    """Return the first of two marks that something is missing, or that nothing is."""
    return other if one.whole else one


def _literals(node: _Node) -> Mapping[Iri, Sequence[Literal]]:
    return {
        predicate: [value for value in values if isinstance(value, Literal)]
        for predicate, values in (node.properties or {}).items()
    }


_UNKNOWN = _Node()
"""A node that no row is about."""


class NodeContent(NamedTuple):
    """What the rows of one node say, but for its edges.

    Attributes:
        types: Its types.
        properties: Its properties and names by predicate.
        names: Its names and synonyms.
        mark: Whether they could be read.
        types_mark: Whether the types could be read.
    """

    types: tuple[Iri, ...] = ()
    properties: Properties = MappingProxyType({})
    names: tuple[Literal, ...] = ()
    mark: Mark = WHOLE
    types_mark: Mark = WHOLE


class NodeReader(DatabaseReader):
    """Reads nodes of one graph."""

    def __init__(self, client: DatabaseClient, edges: EdgeReader) -> None:
        super().__init__(client)
        profile = client.profile
        self._edges = edges
        self._values = JsonValues(client.ids, client.terms)
        self._name_predicates = (*profile.roles.name, *profile.roles.synonym)
        self._synonyms = profile.roles.synonym
        self._batch = profile.limits.facts_batch
        self._with_properties = min(self._batch, max(1, profile.limits.body_bytes // _BYTES))
        self._known_types: BoundedMap[str, tuple[Iri, ...]] = BoundedMap(_KNOWN_TYPES_BYTES)

    def iri(self, text: str) -> Iri:
        """Return the IRI of an ID."""
        return self._ids.iri(text)

    async def existing(self, ids: Sequence[Iri], call: Call, *, as_subjects: bool = False) -> Mapping[Iri, Existence]:
        """Return which nodes the database has; see `GraphStore.existing` and `GraphStore.subjects`."""

        async def ask(batch: Sequence[Iri]) -> Mapping[Iri, Existence]:
            rows = await self._client.rows("existing", call, self._ids.texts_of(batch), not as_subjects)
            found = {self._ids.iri(node) for (node,) in rows.whole()}
            return {node: Existence(node in found) for node in batch}

        return await in_batches(ids, self._batch, call, ask, Existence)

    async def facts(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Return types, names and descriptions; see `GraphStore.nodes`."""
        in_language = names and call.language
        # Thousands of nodes have the same few types and no name: one answer is enough for all of them.
        shared: dict[tuple[tuple[Iri, ...], str], NodeFacts] = {}

        def named(node: _Node) -> NodeFacts:
            types, name = node.types, self._name_of(node, call) if names else ""
            if node.types_mark is not WHOLE:
                return NodeFacts(types, name, node.types_mark)
            return shared.get((types, name)) or shared.setdefault((types, name), NodeFacts(types, name))

        def described(node: _Node) -> NodeFacts:
            text = self._described(node, call)
            return NodeFacts(
                node.types,
                self._name_of(node, call) if names else "",
                node.types_mark,
                text,
                is_described=bool(text) or node.mark.whole,
                is_deprecated=any(
                    isinstance(value, Literal) and value.json is True
                    for value in (node.properties or {}).get(DEPRECATED, ())
                ),
            )

        facts = described if descriptions else named
        found = await self._read(ids, call, facts, NodeFacts, properties=descriptions or bool(in_language))
        return await checked_facts(found, call)

    def _name_of(self, node: _Node, call: Call) -> str:
        """Return the name of a node, in the language that the call asks for where a property has one in it."""
        if not call.language:
            return node.name
        names = self._profile.roles.name
        texts = {
            predicate: [one for one in literals if one.language and is_relative(one.language, call.language)]
            for predicate, literals in _literals(node).items()
        }
        return one_line(best_text(texts, names, [call.language])) or node.name

    def _described(self, node: _Node, call: Call) -> str:
        order = language_order(self._profile.names.languages, call.language)
        return best_text(_literals(node), self._profile.roles.description, order)

    async def labels(self, types: Sequence[Iri], predicates: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the names and synonyms that terms of the schema have as nodes."""
        return await self.terms([*types, *predicates], call)

    async def terms(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the names and synonyms of types and predicates; see `GraphStore.predicates`."""

        def named(node: _Node) -> NodeFacts:
            name = self._name_of(node, call)
            aliases = aliases_among(_literals(node), self._synonyms, name, self._profile.roles.name)
            return NodeFacts(node.types, name, node.types_mark, aliases=aliases)

        return await checked_facts(await self._read(ids, call, named, NodeFacts, properties=True), call)

    async def metadata(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        blank_nodes: bool,
        precise: bool = True,  # noqa: ARG002 - databases have no value nodes
    ) -> Mapping[Iri, Description]:
        """Return the properties of each node; see `GraphStore.node_metadata`."""

        def description(node: _Node) -> Description:
            properties = node.properties or {}
            return Description(properties if blank_nodes else _without_blank_nodes(properties), node.mark)

        described = await self._read(ids, call, description, Description, properties=True)
        return await checked_descriptions(described, call)

    async def contents(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeContent]:
        """Return all that the rows of each node say."""

        def content(node: _Node) -> NodeContent:
            properties = node.properties or {}
            return NodeContent(node.types, properties, self._names(node, properties), node.mark, node.types_mark)

        return await self._read(ids, call, content, NodeContent, properties=True)

    def _names(self, node: _Node, properties: Properties) -> tuple[Literal, ...]:
        """Return names and synonyms: the values of their predicates, and the name also where no predicate is one."""
        values = chain.from_iterable(properties.get(at, ()) for at in self._name_predicates)
        names = dict.fromkeys(value for value in values if isinstance(value, Literal))
        if node.name and node.name not in {name.value for name in names}:
            names[Literal(node.name)] = None
        return tuple(names)

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return the properties that count mentions; see `GraphStore.mentions`."""
        roles = self._profile.roles.mentions
        local = {compact(role) for role in roles if ":" not in role}

        def description(node: _Node) -> Description:
            properties = (node.properties or {}).items()
            return Description(
                {at: values for at, values in properties if at in roles or compact(local_name(at)) in local}, node.mark
            )

        if not roles:
            return {node: Description() for node in ids}
        return await self._read(ids, call, description, Description, properties=True)

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Return the direct subclasses of each class; see `GraphStore.narrower`."""
        incoming = EdgeSelection(outgoing=(), incoming=tuple(sorted(self._profile.types.narrowed_by)))
        around = await self._edges.around(ids, call, selection=incoming)
        return {
            parent: DirectSubclasses(tuple(sorted({edge.subject for edge in found.edges})), found.mark)
            for parent, found in around.items()
        }

    async def broader(self, ids: Sequence[Iri], call: Call) -> tuple[Mapping[Iri, tuple[Iri, ...]], bool]:
        """Return the direct superclasses of each class, and whether these are all that there are."""
        predicates = self._profile.types.narrowed_by
        outgoing = EdgeSelection(outgoing=tuple(sorted(predicates)), incoming=())
        around = await self._edges.around(ids, call, selection=outgoing)
        above = {child: tuple(sorted({edge.object for edge in found.edges})) for child, found in around.items()}
        return above, all(found.mark.whole for found in around.values())

    async def identities(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Identities]:
        """Return the IRIs by which other graphs may know each node; see `GraphStore.identities`."""
        settings = self._profile.identity
        if not settings.predicates:
            return {node: Identities() for node in ids}
        same = tuple(sorted(settings.same_as))
        around = await self._edges.around(ids, call, selection=EdgeSelection(same, same))
        described = await self.metadata(ids, call, blank_nodes=False)
        found: dict[Iri, Identities] = {}
        for node in dict.fromkeys(ids):
            others = {end for edge in around[node].edges for end in (edge.subject, edge.object)}
            for predicate, values in described[node].properties.items():
                formatter = settings.formatters.get(predicate, "")
                others |= {formatter.replace(VALUE_MARK, one.value) for one in values if isinstance(one, Literal)}
            known = {one for one in others if one != node and is_sendable(one) and not is_skolem(one)}
            mark = around[node].mark if not around[node].mark.whole else described[node].mark
            found[node] = Identities(tuple(sorted(known)), mark)
        return found

    async def _read(
        self,
        ids: Sequence[Iri],
        call: Call,
        answer: Callable[[_Node], Answer],
        kind: Callable[..., Answer],
        *,
        properties: bool,
    ) -> Mapping[Iri, Answer]:
        async def ask(batch: Sequence[Iri]) -> Mapping[Iri, Answer]:
            known = self._ids.iri_by_text(batch)
            rows = await self._client.rows("nodes", call, list(known), properties, _BYTES)
            read = self._node if properties else self._named_node
            nodes: dict[Iri, _Node] = {}
            for row in rows.whole():
                # A database may compare texts in its own way.
                iri = known.get(row[0]) or self._ids.iri(row[0])
                node = read(row)
                nodes[iri] = nodes[iri].with_more(node) if iri in nodes else node
            return {iri: answer(nodes.get(iri, _UNKNOWN)) for iri in batch}

        size = self._with_properties if properties else _NAMES * self._batch
        return await in_batches(ids, size, call, ask, kind)

    def _named_node(self, row: Row) -> _Node:
        """Return what a row says of types and names, which is all that was asked for."""
        _, types, text, *_ = row
        name = text[:_NAME_CHARACTERS] if text and not text.isspace() else ""
        try:
            return _Node(self._types(types), name)
        except EndpointFault as fault:
            return _Node((), name, types_mark=Mark(fault))

    def _types(self, sent: str | list[Any] | None) -> tuple[Iri, ...]:
        """Return the types that a database sent as JSON or as a list."""
        if not isinstance(sent, str):
            return self._listed(_texts(sent))
        found = self._known_types.known.get(sent)
        if found is None:
            found = self._listed(_texts(decoded(sent)))
            self._known_types.add(sent, found, getsizeof(sent) + sum(map(getsizeof, found)))
        return found

    def _listed(self, texts: Iterable[str]) -> tuple[Iri, ...]:
        return tuple(sorted({self._terms.iri(text) for text in texts}))

    def _node(self, row: Row) -> _Node:
        node = self._named_node(row)
        _, _, name, is_too_large, properties, synonyms, columns = row
        if is_too_large:
            fault = QueryRefused(f"The properties of a node have more than {_BYTES:,} bytes.")
            return node._replace(mark=Mark(fault))
        try:
            content = merged(decoded_object(columns), decoded_object(properties))
            further = _scalars(decoded(synonyms))
        except EndpointFault as unreadable:
            return node._replace(mark=Mark(unreadable))
        values = self._values.properties(content, but=TYPES if self._are_all_in(content.get(TYPES), node) else "")
        return node._replace(properties=self._named(values, name if node.name else "", further))

    def _are_all_in(self, types: Any, node: _Node) -> bool:
        """Return whether what the properties of a node say of its types is read as such."""
        return all(isinstance(one, str) and self._terms.iri(one) in node.types for one in without_lists(types))

    def _named(self, properties: Properties, name: str, synonyms: Sequence[str]) -> Properties:
        """Return properties with the name and the synonyms, but for those that they have by their own predicates."""
        roles = self._profile.roles
        own = [value for at in chain(roles.name, roles.synonym) for value in properties.get(at, ())]
        known = {value.value for value in own if isinstance(value, Literal)}
        named = {**properties}
        # A name beside other names would be one of several that the node may be shown by.
        of_name = roles.synonym if any(at in properties for at in roles.name) else roles.name
        for texts, role in (([name], of_name), (synonyms, roles.synonym)):
            new = [text for text in dict.fromkeys(texts) if text and text not in known]
            if new and role:
                named[role[0]] = (*named.get(role[0], ()), *map(Literal, new))
                known.update(new)
        return named


def _texts(found: Any) -> list[str]:
    """Return the texts of JSON: one, or those of lists."""
    return [text for text in without_lists(found) if isinstance(text, str)]


def _scalars(found: Any) -> list[str]:
    """Return the same, with numbers and truth values as texts, and without texts that are blank."""
    texts: list[str] = []
    for one in without_lists(found):
        match one:
            case Literal():
                texts.append(one.value)
            case bool():
                texts.append(str(one).lower())
            case str() if one and not one.isspace():
                texts.append(one)
    return texts


def _without_blank_nodes(properties: Properties) -> Properties:
    kept = {
        predicate: tuple(value for value in values if not isinstance(value, BlankNode))
        for predicate, values in properties.items()
    }
    return {predicate: values for predicate, values in kept.items() if values}


MAX_BYTES = 1 << 16
"""Bytes of what one row says about an edge; one query returns no more rows than have so many bytes in one answer."""


@dataclass(slots=True)
class EdgeStatements:
    """What was read about one edge; `keys` are what evidence refers to, `fault` is why some of it could not be read."""

    assertions: list[Assertion] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    fault: Fault | None = None

    @property
    def evidence(self) -> Evidence:
        """It, as the port has it."""
        return Evidence(tuple(self.assertions), Mark(self.fault))


class EvidenceReader(DatabaseReader):
    """Reads the statements about edges."""

    def __init__(self, client: DatabaseClient) -> None:
        super().__init__(client)
        limits = client.profile.limits
        self._values = JsonValues(client.ids, client.terms)
        self._batch = limits.facts_batch
        self._most_rows = max(1, limits.body_bytes // MAX_BYTES)

    async def about(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge; see `GraphStore.edge_metadata`."""

        async def ask(batch: Sequence[Edge]) -> Mapping[Edge, Evidence]:
            by_edge = {edge: EdgeStatements() for edge in batch}
            await self._read(by_edge, call)
            return {edge: one.evidence for edge, one in by_edge.items()}

        return await checked_evidence(await in_batches(edges, self._batch, call, ask, Evidence), call)

    async def _read(self, by_edge: Mapping[Edge, EdgeStatements], call: Call) -> None:
        """Read what the database says about the edges.

        Raises:
            Fault: It did not all come.
        """
        await self._read_rows(by_edge, call)

    async def _read_rows(self, by_edge: Mapping[Edge, EdgeStatements], call: Call, *, by_triple: bool = False) -> None:
        """Read what the rows of the edges say, and their keys: the triples where these are the keys."""
        wanted = [
            (subject, predicate, target)
            for edge in by_edge
            for subject in self._ids.texts(edge.subject)
            for predicate in self._terms.texts(edge.predicate)
            for target in self._ids.texts(edge.object)
        ]
        columns = [list(column) for column in zip(*wanted, strict=True)] or [[], [], []]
        found = await self._client.rows("edge_metadata", call, *columns, MAX_BYTES, at_most=self._most_rows)
        for subject, predicate, target, key, *row in found.whole():
            one = by_edge[Edge(self._ids.iri(subject), self._terms.iri(predicate), self._ids.iri(target))]
            one.keys.add(f"{subject}:{predicate}:{target}" if by_triple else key)
            self._add(one, row)

    def _add(self, one: EdgeStatements, row: Row) -> None:
        """Add what one row says, if it says anything."""
        is_too_large, properties, columns = row
        if is_too_large:
            one.fault = QueryRefused(f"What is stated about an edge has more than {MAX_BYTES:,} bytes.")
            return
        try:
            content = merged(decoded_object(columns), decoded_object(properties))
        except EndpointFault as fault:
            one.fault = fault
            return
        sources = [text for text in without_lists(content.get(SOURCES)) if text is not None]
        are_ids = all(isinstance(text, str) for text in sources)
        values = self._values.properties(content, but=SOURCES if are_ids else "")
        assertion = Assertion(values, tuple(map(self._ids.iri, dict.fromkeys(sources))) if are_ids else ())
        if assertion.properties or assertion.sources:
            one.assertions.append(assertion)
