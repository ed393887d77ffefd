"""Facts about nodes, read in batches: names, literals, identities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from gateway.graph.call import Call, together
from gateway.graph.reading import checked_descriptions, checked_facts
from gateway.graph.values import (
    WHOLE,
    BlankNode,
    Description,
    DirectSubclasses,
    Existence,
    Identities,
    Iri,
    Mark,
    NodeFacts,
    Value,
)
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import VALUE_MARK, IdentitySettings, RoleSettings
from gateway.sparql.batches import Answer, BatchedQuery, BatchReader
from gateway.sparql.client import SparqlClient
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import (
    BlankTerm,
    IriTerm,
    LiteralTerm,
    Overflow,
    Table,
    Term,
    UnexpectedRows,
    binding,
    iri,
    literal_of,
    read,
    term,
    value,
)
from gateway.sparql.template import Parameter
from gateway.sparql.value_nodes import Refinement, ValueNodeReader
from gateway.terms.iri import DEPRECATED, OWN, REIFICATION, is_sendable, is_skolem
from gateway.terms.literals import Literal, best_text, language_order
from gateway.terms.name_predicates import aliases_among, joined_name, pairs_among, plain, rows_of
from gateway.terms.names import compact, one_line


class NamePredicates:
    """The predicates of names and synonyms that are in force, shared by everything that reads or searches names.

    They can change while the graph is in use, because they are detected from the data.

    Attributes:
        names: Predicates of the display name, the best first.
        synonyms: Predicates of further names, without those of names.
        all: Both, the names first.
        walks: Those of them, and of the descriptions, that are walks, as queries are given them.
        codes: Predicates of notations, codes and identifiers, whose values are found where they are typed whole.
        languages: The languages of names, the commonest first.
        descriptions: Walks to descriptions one step away.
        parts: Predicates of given and family names, which make one name where there is no other.
    """

    def __init__(self, roles: RoleSettings) -> None:
        self._roles = roles
        self._listeners: list[Callable[[], None]] = []
        self.codes: tuple[Iri, ...] = ()
        self.languages: tuple[str, ...] = ()
        self.descriptions: tuple[Iri, ...] = ()
        self.parts: tuple[Iri, ...] = ()
        self._are_joined = True
        self._set(roles.name, ())

    @property
    def pairs_compared(self) -> list[tuple[Iri, Iri]]:
        """The predicates of given and family names, pair by pair, that a comparison of all names joins."""
        return pairs_among(self.parts) if self._are_joined else []

    def join_none(self) -> None:
        """Compare no joined names any more: they make queries too long, as at Virtuoso."""
        self._are_joined = False

    @property
    def configured(self) -> tuple[Iri, ...]:
        """The predicates of names that the profile gives."""
        return self._roles.name

    def use(
        self,
        names: Iterable[Iri],
        synonyms: Iterable[Iri] = (),
        codes: Iterable[Iri] = (),
        languages: Iterable[str] = (),
        descriptions: Iterable[Iri] = (),
        parts: Iterable[Iri] = (),
    ) -> None:
        """Let other predicates be the names, the best first, and call the listeners if they are not those in force.

        Args:
            names: The predicates of names.
            synonyms: Predicates of further names, beside those of the profile.
            codes: Predicates of codes.
            languages: The languages of names, the commonest first.
            descriptions: Walks to descriptions.
            parts: Predicates of given and family names.
        """
        before = (self.all, self.codes, self.languages, self.descriptions, self.parts)
        self.descriptions = tuple(descriptions)
        self._set(names, synonyms)
        self.codes = tuple(one for one in dict.fromkeys(codes) if one not in self.all)
        self.languages = tuple(languages)
        self.parts = tuple(parts)
        if (self.all, self.codes, self.languages, self.descriptions, self.parts) != before:
            for listener in self._listeners:
                listener()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function whenever other predicates are in force: stored answers contain names by the old ones."""
        self._listeners.append(listener)

    def _set(self, names: Iterable[Iri], synonyms: Iterable[Iri]) -> None:
        self.names = tuple(dict.fromkeys(names))
        further = dict.fromkeys((*self._roles.synonym, *synonyms))
        self.synonyms = tuple(iri for iri in further if iri not in self.names)
        self.all = (*self.names, *self.synonyms)
        self.walks = rows_of((*self.all, *self.descriptions))


def name_parameters(predicates: Iterable[Iri]) -> dict[str, Parameter]:
    """Return predicates of names as template parameters: those of the nodes themselves, and walks to names."""
    given = [*predicates]
    return {"predicates": plain(given), "walks": rows_of(given)}


class NodeReader:
    """Reads what the graph says about nodes."""

    def __init__(
        self,
        client: SparqlClient,
        rule: EdgeRule,
        profile: Profile,
        name_predicates: NamePredicates,
        value_nodes: ValueNodeReader,
    ) -> None:
        self._client = client
        self._value_nodes = value_nodes
        self._rule = rule
        self._profile = profile
        self._name_predicates = name_predicates
        self._batch = profile.limits.facts_batch
        self._values = profile.edges.shown

    @property
    def type_predicates(self) -> Sequence[Iri]:
        """The predicates from a node to its types."""
        return self._profile.edges.types

    async def existing(self, ids: Sequence[Iri], call: Call, *, as_subjects: bool = False) -> Mapping[Iri, Existence]:
        """Return which nodes exist; see `GraphStore.existing` and `GraphStore.subjects`."""

        def read_found(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Existence]:
            found = set(iri("n")(rows))
            if not found.issubset(batch):
                raise UnexpectedRows
            return {node: Existence(node in found, mark) for node in batch}

        return await self._query("subjects" if as_subjects else "existing", read_found).run(ids, call)

    async def without_evidence(self, ids: Sequence[Iri], call: Call) -> set[Iri]:
        """Return those of some nodes, and predicates, that state no evidence, as far as the graph could be asked."""

        def read_found(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Existence]:
            found = set(iri("n")(rows))
            return {node: Existence(node in found, mark) for node in batch}

        query = self._query("schema/without_evidence", read_found, **self._rule.evidence_of_nodes)
        found = await query.run(ids, call)
        return {node for node, existence in found.items() if existence.mark.whole and existence.exists}

    async def facts(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Return the types of each node, and its name and description on request; see `GraphStore.nodes`."""
        types, named, described = self._predicates_of_facts(names=names, descriptions=descriptions)
        if len(types) == 1 and not named and not described:
            query = self._query("types", _read_types, type=types[0])
        else:
            read_facts = self._facts_by(types, named, described, language=call.language)
            given = [*types, *named, *(self._name_predicates.parts if named else ()), *described]
            query = self._facts_query(read_facts, given)
        return await checked_facts(await query.run(ids, call), call)

    def facts_in(
        self, ids: Sequence[Iri], said: Table, call: Call, *, names: bool, descriptions: bool
    ) -> dict[Iri, NodeFacts]:
        """Return the same by what was read of the nodes: rows of ?n, ?p and ?v."""
        types, named, described = self._predicates_of_facts(names=names, descriptions=descriptions)
        return self._facts_by(types, named, described, language=call.language)(ids, said, WHOLE)

    def _predicates_of_facts(
        self, *, names: bool, descriptions: bool
    ) -> tuple[Sequence[Iri], Sequence[Iri], Sequence[Iri]]:
        """Return the predicates of types, names and descriptions, as far as they are asked for."""
        return (
            self._profile.edges.types,
            self._name_predicates.names if names else (),
            (*self._profile.roles.description, *self._name_predicates.descriptions, DEPRECATED) if descriptions else (),
        )

    async def predicates(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the name of each predicate: that of the entity behind it where the profile says how, or its own.

        Its synonyms are those of the same entity.
        """
        via, names, synonyms = self._profile.names.predicate_entity, *self._names_of_terms
        if not via:
            return await self._named(ids, call)
        read_names = self._facts_by((), names, language=call.language, synonyms=synonyms)
        query = self._query(
            "predicate_labels", read_names, via=via, names=plain(names), **self._synonym_parameters(synonyms)
        )
        found = dict(await query.run(ids, call))
        if unnamed := [iri for iri, facts in found.items() if facts.mark.whole and not facts.name]:
            found |= await self._named(unnamed, call)
        return found

    async def labels(self, types: Sequence[Iri], predicates: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the names and synonyms that terms of the schema have."""
        if not self._profile.names.predicate_entity:
            return await self._named([*types, *predicates], call)
        async with together() as tasks:
            of_predicates = tasks.create_task(self.predicates(predicates, call))
            of_types = await self._named(types, call)
        return {**of_types, **of_predicates.result()}

    async def _named(self, ids: Sequence[Iri], call: Call) -> dict[Iri, NodeFacts]:
        names, synonyms = self._names_of_terms
        read_names = self._facts_by((), names, language=call.language, synonyms=synonyms)
        if self._profile.names.predicate_entity:
            query = self._facts_query(read_names, names, synonyms)
        else:
            query = self._facts_query(read_names, [*names, *synonyms])
        found = await query.run(ids, call)
        # The label of a term must not be lost for its many synonyms.
        if cut := [iri for iri, facts in found.items() if synonyms and isinstance(facts.mark.fault, Overflow)]:
            found |= await self._facts_query(self._facts_by((), names, language=call.language), names).run(cut, call)
        return found

    @property
    def _names_of_terms(self) -> tuple[Sequence[Iri], Sequence[Iri]]:
        """The predicates of the names and of the synonyms of types and predicates."""
        return self._name_predicates.names, self._name_predicates.synonyms

    def _synonym_parameters(self, synonyms: Sequence[Iri]) -> dict[str, Parameter]:
        """Return the parameters for synonyms in the languages that answers prefer: in all, some items have hundreds."""
        languages = language_order(self._profile.names.languages, "", self._name_predicates.languages[:1])
        return {"synonyms": plain(synonyms), "languages": [*filter(None, languages)] if synonyms else []}

    async def have_names(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, bool]:
        """Return which nodes a search finds by a name, without those about which the graph could not be asked."""
        names = self._name_predicates.all
        pairs = self._name_predicates.pairs_compared
        asked = [*names, *chain.from_iterable(pairs)]
        facts = await self._facts_query(self._facts_by((), names), asked).run(ids, call)
        return {node: bool(fact.name) for node, fact in facts.items() if fact.mark.whole}

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Return the direct subclasses of each class."""

        def read_classes(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, DirectSubclasses]:
            found: dict[Iri, set[Iri]] = {parent: set() for parent in batch}
            for parent, child in read(rows, iri("n"), iri("class")):
                found[parent].add(child)
            return {parent: DirectSubclasses(tuple(sorted(children)), mark) for parent, children in found.items()}

        return await self._query("narrower", read_classes, predicates=self._profile.types.narrowed_by).run(ids, call)

    async def broader(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, tuple[Iri, ...]]:
        """Return the direct superclasses of each class; none of one about which the graph could not be asked."""
        predicates = self._profile.types.narrowed_by
        found = await self._facts_query(self._facts_by(predicates, ()), predicates).run(ids, call)
        return {iri: facts.types for iri, facts in found.items()}

    async def identities(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Identities]:
        """Return what other graphs call each node, without a query where no predicate says; see `GraphStore`."""
        settings = self._profile.identity
        if not settings.predicates:
            return {node: Identities() for node in ids}

        def read_values(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Identities]:
            found: dict[Iri, set[Iri]] = {node: set() for node in batch}
            for node, predicate, named in read(rows, iri("n"), iri("p"), term("v")):
                other = _named_by(predicate, named, settings)
                if other != node and is_sendable(other) and not is_skolem(other):
                    found[node].add(other)
            return {node: Identities(tuple(sorted(others)), mark) for node, others in found.items()}

        same_as = [settings.same_as] if settings.same_as else []
        query = self._query("identities", read_values, predicates=settings.predicates, same_as=same_as)
        return await query.run(ids, call)

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return only what says how often each node is mentioned; see `GraphStore.mentions`."""
        roles = self._profile.roles.mentions
        if not roles:
            return {node: Description() for node in ids}
        query = self._query(
            "mentions",
            _descriptions,
            exact=[role for role in roles if ":" in role],
            endings=[compact(role) for role in roles if ":" not in role],
        )
        return await query.run(ids, call)

    async def metadata(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        blank_nodes: bool,
        precise: bool = True,
        leading: set[Iri] | None = None,
    ) -> Mapping[Iri, Description]:
        """Return the literals of each node, and more on request; see `GraphStore.node_metadata`.

        Args:
            ids: The nodes.
            call: The call that asks.
            blank_nodes: Whether the content is wanted of the blank nodes to which they lead.
            precise: Whether dates and quantities are wanted as precisely as they are stated.
            leading: Filled with the nodes that lead to blank nodes by predicates that are no edges.
        """
        others = {**self._rule.predicates, **self._rule.ends}
        walks = self._name_predicates.walks if precise else []
        query = self._query("literals", _said, also=self._values, walks=walks, blank=[True] * blank_nodes, **others)
        said = await query.run(ids, call)
        described = {node: one.description for node, one in said.items()}
        if leading is not None:
            leading.update(node for node, one in said.items() if one.has_blank)
        beside = [node for node, one in said.items() if one.has_blank or not one.mark.whole] if blank_nodes else []
        async with together() as tasks:
            reading = self._query("blank_content", self._read_blank).run(beside, call) if beside else None
            contents = None if reading is None else tasks.create_task(reading)
            if precise and self._value_nodes.are_there:
                described = dict(await self._refined(described, call))
        if contents is not None:
            described |= {node: _together(described[node], one) for node, one in contents.result().items()}
        return await checked_descriptions(described, call)

    def metadata_in(self, ids: Sequence[Iri], said: Table) -> dict[Iri, Description]:
        """Return the literals of nodes by what was read of them: rows of ?n, ?p, ?v and ?text."""
        also, objects = frozenset(self._values), self._rule.objects

        def is_value(predicate: Iri, bound: Term) -> bool:
            if not isinstance(bound, IriTerm):
                return isinstance(bound, LiteralTerm)
            if bound.value.startswith(OWN):
                return False
            is_no_node = bool(objects) and not bound.value.startswith(objects) and self._rule.allows(predicate)
            return predicate in also or is_no_node

        wanted = [is_value(*each) for each in read(said, iri("p"), term("v"))]
        return _descriptions(ids, said.where(wanted), WHOLE)

    def mentions_in(self, ids: Sequence[Iri], said: Table) -> dict[Iri, Description]:
        """Return what says how often nodes are mentioned by what was read of them: rows of ?n, ?p and ?v."""
        roles = self._profile.roles.mentions
        exact = frozenset(role for role in roles if ":" in role)
        endings = tuple(compact(role) for role in roles if ":" not in role)
        wanted = [
            isinstance(bound, LiteralTerm) and (predicate in exact or compact(predicate).endswith(endings))
            for predicate, bound in read(said, iri("p"), term("v"))
        ]
        return _descriptions(ids, said.where(wanted), WHOLE)

    async def _refined(self, described: Mapping[Iri, Description], call: Call) -> Mapping[Iri, Description]:
        """Return descriptions with the precisions of their dates and the units of their quantities."""
        values = [
            ((node, predicate), items)
            for node, description in described.items()
            for predicate, items in description.properties.items()
        ]
        refinements = await self._value_nodes.refinements(values, call)
        if not refinements:
            return described
        unrefined = {node for (node, _), refinement in refinements.items() if not refinement.mark.whole}
        return {
            node: replace(
                description,
                properties={
                    predicate: refinements.get((node, predicate), Refinement()).of(items)
                    for predicate, items in description.properties.items()
                },
                refined=node not in unrefined,
            )
            for node, description in described.items()
        }

    def _facts_by(
        self,
        types: Collection[Iri],
        names: Sequence[Iri],
        descriptions: Sequence[Iri] = (),
        *,
        language: str = "",
        synonyms: Sequence[Iri] = (),
    ) -> BatchReader[Iri, NodeFacts]:
        """Return what reads facts from rows of ?n, ?p and ?v, by their predicates; of names, the best come first."""
        languages = language_order(self._profile.names.languages, language, self._name_predicates.languages)

        def read_facts(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, NodeFacts]:
            types_of: dict[Iri, tuple[Iri, ...]] = {}
            texts_of: dict[Iri, dict[Iri, dict[Literal, None]]] = {}
            entity_types = _EntityTypes()
            for node, predicate, bound in read(rows, iri("n"), iri("p"), term("v")):
                if isinstance(bound, IriTerm):
                    type_ = entity_types[bound.value] if predicate in types else None
                    if type_ is not None:
                        types_of[node] = (*types_of[node], type_) if node in types_of else (type_,)
                elif isinstance(bound, LiteralTerm):
                    texts_of.setdefault(node, {}).setdefault(predicate, {})[literal_of(bound)] = None
            known = _typed(batch, rows, types_of, mark)
            for node, texts in texts_of.items():
                name = one_line(best_text(texts, names, languages)) or (joined_name(texts, languages) if names else "")
                is_deprecated = any(one.json is True for one in texts.pop(DEPRECATED, ()))
                description = best_text(texts, descriptions, languages)
                aliases = aliases_among(texts, synonyms, name, names) if synonyms else ()
                if name or description or is_deprecated or aliases:
                    known[node] = NodeFacts(
                        known[node].types, name, mark, description, is_deprecated=is_deprecated, aliases=aliases
                    )
            return known

        return read_facts

    def _facts_query(
        self, read: BatchReader[Iri, Answer], predicates: Sequence[Iri], synonyms: Sequence[Iri] = ()
    ) -> BatchedQuery[Iri, Answer]:
        """Return the question about the values of predicates, and about synonyms in some languages."""
        return self._query("facts", read, **name_parameters(predicates), **self._synonym_parameters(synonyms))

    def _query(
        self, template: str, read: BatchReader[Iri, Answer], **parameters: Parameter
    ) -> BatchedQuery[Iri, Answer]:
        return BatchedQuery(self._client, template, self._batch, lambda batch: {"nodes": batch, **parameters}, read)

    def _read_blank(self, batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Description]:
        skipped = {*REIFICATION}
        by_node: dict[Iri, dict[Iri, dict[str, list[int]]]] = {node: {} for node in batch}
        for position, (node, predicate, blank) in enumerate(read(rows, iri("n"), iri("p"), term("b"))):
            if predicate not in skipped:
                by_node[node].setdefault(predicate, {}).setdefault(blank.value, []).append(position)

        def content(found: Mapping[Iri, Mapping[str, Sequence[int]]]) -> dict[Iri, tuple[Value, ...]]:
            return {
                predicate: tuple(_blank(rows.at(positions)) for positions in blanks.values())
                for predicate, blanks in found.items()
            }

        return {node: Description(content(found), mark) for node, found in by_node.items()}


def _named_by(predicate: Iri, value: Term, settings: IdentitySettings) -> Iri:
    """Return the IRI that a value of an identity predicate stands for; empty if it stands for none."""
    match value:
        case IriTerm() if predicate in settings.same_as:
            return value.value
        case LiteralTerm() if predicate in settings.formatters:
            return settings.formatters[predicate].replace(VALUE_MARK, value.value)
    return ""


class _EntityTypes(dict[Iri, Iri | None]):
    """Types as texts that all nodes share, each looked at once; None for one that is no type of an entity."""

    def __missing__(self, type_: Iri) -> Iri | None:
        """Look at a type."""
        found = self[type_] = None if is_skolem(type_) else type_
        return found


def _read_types(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, NodeFacts]:
    """Read types from rows of ?n and ?v."""
    types_of: dict[Iri, tuple[Iri, ...]] = {}
    entity_types = _EntityTypes()
    for node, bound in read(rows, iri("n"), iri("v")):
        type_ = entity_types[bound]
        if type_ is not None:
            types_of[node] = (*types_of[node], type_) if node in types_of else (type_,)
    return _typed(batch, rows, types_of, mark)


def _typed(
    batch: Sequence[Iri], rows: Table, types_of: Mapping[Iri, tuple[Iri, ...]], mark: Mark
) -> dict[Iri, NodeFacts]:
    """Return the nodes of a batch with their types.

    Thousands of nodes have the same few types and no name, or nothing: one answer is enough for all of them.

    Raises:
        UnexpectedRows: Some ?n of the rows is not in the batch.
    """
    shared: dict[tuple[Iri, ...], NodeFacts] = {(): NodeFacts(mark=mark)}
    known = dict.fromkeys(batch, shared[()])
    if not known.keys() >= set(iri("n")(rows)):
        raise UnexpectedRows
    for node, found in types_of.items():
        known[node] = shared.get(found) or shared.setdefault(found, NodeFacts(_distinct(found), mark=mark))
    return known


def _distinct(types: Sequence[Iri]) -> tuple[Iri, ...]:
    return tuple(types) if len(types) == 1 else tuple(sorted(set(types)))


def _descriptions(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Description]:
    found: dict[Iri, dict[Iri, dict[Value, None]]] = {node: {} for node in batch}
    for node, predicate, bound in read(rows, iri("n"), iri("p"), term("v", "text")):
        item = value(bound)
        if item is not None:
            found[node].setdefault(predicate, {})[item] = None
    return {
        node: Description({predicate: tuple(items) for predicate, items in properties.items()}, mark)
        for node, properties in found.items()
    }


@dataclass(frozen=True, slots=True)
class _Said:
    """What a node says, and whether it leads to blank nodes."""

    description: Description
    has_blank: bool

    @property
    def mark(self) -> Mark:
        return self.description.mark


def _said(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, _Said]:
    beside = {node for node, bound in read(rows, iri("n"), term("v")) if isinstance(bound, BlankTerm)}
    return {node: _Said(one, node in beside) for node, one in _descriptions(batch, rows, mark).items()}


def _blank(rows: Table) -> BlankNode:
    """Build one blank node from its rows: its own values, and those of the blank nodes it points to."""
    own: dict[Iri, dict[Value, None]] = defaultdict(dict)
    below: dict[Iri, dict[str, dict[Iri, dict[Value, None]]]] = defaultdict(dict)
    cut: set[str] = set()
    for predicate, target in read(binding(rows, "q"), iri("q"), term("v", "text")):
        if isinstance(target, BlankTerm):
            below[predicate].setdefault(target.value, {})
        else:
            own[predicate].update(_single(target))
    for predicate, target, key, bound in read(binding(rows, "r"), iri("q"), term("v"), iri("r"), term("w", "inner")):
        if isinstance(bound, BlankTerm):
            cut.add(target.value)
        below[predicate][target.value].setdefault(key, {}).update(_single(bound))
    properties: dict[Iri, tuple[Value, ...]] = {predicate: tuple(values) for predicate, values in own.items()}
    for predicate, blanks in below.items():
        nested = tuple(
            BlankNode({key: tuple(values) for key, values in inner.items() if values}, label in cut)
            for label, inner in blanks.items()
        )
        properties[predicate] = (*properties.get(predicate, ()), *nested)
    return BlankNode(properties)


def _single(binding: Term) -> dict[Value, None]:
    item = value(binding)
    return {} if item is None else {item: None}


def _together(one: Description, other: Description) -> Description:
    properties = dict(one.properties)
    for predicate, items in other.properties.items():
        properties[predicate] = (*properties.get(predicate, ()), *items)
    return Description(properties, one.mark if not one.mark.whole else other.mark, refined=one.refined)
