"""RDF values as the typed metadata of a page: what has a role under that, all else under its predicate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from typing_extensions import TypeIs

from gateway.answers.reference import notation
from gateway.answers.values import (
    DEEPEST,
    Amount,
    Array,
    EdgeMetadata,
    Id,
    Nested,
    NodeMetadata,
    PageAssertion,
    PageValue,
    expression_of,
    list_of,
    members_in_order,
    position_key,
    uncoined,
    with_name,
    without_orders,
)
from gateway.expand_compact import INCOMING
from gateway.graph.call import Call
from gateway.graph.values import (
    Assertion,
    BlankNode,
    Evidence,
    Iri,
    NoValue,
    Properties,
    Quantity,
    Resource,
    Schema,
    Value,
)
from gateway.settings.profile import Profile
from gateway.terms.iri import ARRAY, NEGATED, POSITION, is_shown, is_skolem, local_name
from gateway.terms.literals import JsonScalar, Literal, best_text, language_order, shown_texts, sorted_values
from gateway.terms.name_predicates import joined_name
from gateway.terms.names import compact, one_line
from gateway.terms.prefixes import PrefixMap

_UNKNOWN = NoValue(unknown=True)

_BEYOND = 600
"""Characters of what is shown of where a blank node leads outside of the answer, of which one value may have more."""

_SET = frozenset({"true", "1", "yes"})
"""Texts that set a flag; the first two are those of xsd:boolean."""

_ByPredicate = dict[Iri, tuple[Value, ...]]
_Ranks = Mapping[str, int]


class MetadataBuilder:
    """Builds metadata under a profile's roles."""

    def __init__(self, profile: Profile, prefixes: PrefixMap) -> None:
        self._profile = profile
        roles = self._roles = profile.roles
        self._mentions, self._confidence, self._sources, self._negated = map(
            _ranks, (roles.mentions, roles.confidence, roles.source, roles.negated)
        )
        self._prefixes = prefixes
        self._languages = language_order(profile.names.languages)
        self._shows_all = False
        self._only = ""

    def for_call(self, call: Call, schema: Schema) -> MetadataBuilder:
        """Return the builder of the answer to a call: texts are in the language that it asks for."""
        made = copy(self)
        made._languages = language_order(self._profile.names.languages, call.language, schema.languages)  # noqa: SLF001 - its own class
        made._shows_all = call.in_every_language  # noqa: SLF001
        made._only = call.language if call.in_no_other_language else ""  # noqa: SLF001
        return made

    def node(self, properties: Properties, types: Sequence[Iri], schema: Schema) -> NodeMetadata:
        """Return the metadata of a full node.

        Args:
            properties: What the graph says of it.
            types: Its types.
            schema: Says which predicates carry names in this graph.
        """
        left = without_orders(properties)
        other_languages = self._other_languages(left)
        names = self._take_names(left, tuple(dict.fromkeys((*(schema.names or ()), *self._roles.name))))
        descriptions = self._take_texts(left, (*self._roles.description, *schema.descriptions), in_line=False)
        # A second name is one more way to call the node.
        further = self._take_texts(left, tuple(dict.fromkeys((*self._roles.synonym, *schema.synonyms))))
        synonyms = sorted({*names[1:], *further} - set(names[:1]))
        mentions = self._take_numbers(left, self._mentions)
        said = self._assertion_from(left, properties)
        return NodeMetadata(
            name=names[0] if names else None,
            types=sorted(map(self._id, types), key=uncoined) if len(types) > 1 else (),
            descriptions=descriptions,
            synonyms=synonyms,
            total_mentions=mentions,
            confidence=said.confidence,
            source_documents=said.source_documents,
            properties=said.properties,
            other_languages=other_languages,
        )

    def _other_languages(self, properties: Properties) -> Mapping[str, int]:
        """Return how many texts are not shown because others say the same, by language, also in blank nodes."""
        counts: Counter[str] = Counter()
        for values in properties.values():
            literals = [value for value in values if _is_scalar(value)]
            if any(one.language for one in literals):
                shown = {one.value for one in self._shown(literals)}
                counts.update(one.language for one in literals if one.value not in shown)
            for value in values:
                if isinstance(value, BlankNode):
                    counts.update(self._other_languages(value.properties))
        return counts

    def _shown(self, literals: Iterable[Literal]) -> list[Literal]:
        """Return the texts that are shown: of translations those in the best one, unless all or one is asked for."""
        return list(literals) if self._shows_all else shown_texts(literals, self._languages, self._only)

    def _tagged(self, text: str, literal: Literal) -> str:
        """Return a text as it is shown: with its language where all are asked for."""
        return f"{text}@{literal.language}" if self._shows_all and literal.language else text

    def _scalar(self, literal: Literal) -> JsonScalar:
        value = literal.json
        return self._tagged(value, literal) if isinstance(value, str) else value

    def other_languages_of(self, evidence: Evidence) -> Mapping[str, int]:
        """Return how many texts of some evidence are not shown because others say the same, by language."""
        counts: Counter[str] = Counter()
        for assertion in evidence.assertions:
            counts.update(self._other_languages(without_orders(assertion.properties)))
        return counts

    def beyond(
        self, outgoing: Properties, incoming: Properties, lists: Properties, names: Mapping[str, str], *, cut: bool
    ) -> Nested:
        """Return where a blank node leads, as much as a reader takes in, its IDs with their names behind them.

        Args:
            outgoing: The nodes to which it leads, by predicate.
            incoming: The nodes that lead to it, by predicate.
            lists: Its properties, which have the lists of which some of those nodes are members.
            names: The names of nodes by ID.
            cut: Whether it leads to more.
        """
        shown: dict[str, list[PageValue]] = {}
        left, is_cut = _BEYOND, cut
        written = self._properties(outgoing, lists)
        written |= {f"{INCOMING}{key}": values for key, values in self._properties(incoming).items()}
        for key, values in written.items():
            for value in values:
                named = _named(value, names)
                if isinstance(named, Nested) and named.id is not None and len(notation(named)) > left:
                    named, is_cut = Nested({}, cut=True, id=named.id), True
                left -= len(key) + len(notation(named))
                if left < 0 and shown:
                    is_cut = True
                else:
                    shown.setdefault(key, []).append(named)
        return Nested(shown, is_cut)

    def edge(self, evidence: Evidence, omitted: dict[Iri, int]) -> EdgeMetadata | None:
        """Return the metadata of a full edge, or None; count texts that are too long in `omitted`, by predicate."""
        assertions = [self._assertion(one, omitted) for one in evidence.assertions]
        if len(assertions) == 1:
            return None if assertions[0].is_empty else EdgeMetadata(assertions)
        if not assertions:
            return None
        # What denies the edge comes first, where no shortening cuts it off.
        ordered = sorted(assertions, key=lambda one: (not one.negated, notation(one)))
        return EdgeMetadata(ordered, _combined(assertions))

    def mentions(self, properties: Properties) -> float | None:
        """Return how often a node is mentioned, the largest of several numbers; None where nothing says so."""
        return max(map(float, self._take_numbers(dict(properties), self._mentions)), default=None)

    def _id(self, iri: Iri) -> Id:
        return Id(self._prefixes.shorten(iri), self._prefixes.declared_form(iri))

    def _value(self, value: Value) -> PageValue:
        match value:
            case Literal():
                return self._array(value) if value.datatype == ARRAY else value.json
            case Resource():
                return _UNKNOWN if is_skolem(value.iri) else self._id(value.iri)
            case Quantity():
                return Amount(value.amount.json, self._id(value.unit))
            case NoValue():
                return value
            case BlankNode():
                if not (value.properties or value.cut or value.iri):
                    return _UNKNOWN
                return Nested(self._properties(value.properties), value.cut, self._id(value.iri) if value.iri else None)

    def _array(self, literal: Literal) -> PageValue:
        members = [self._member(item, DEEPEST) for item in list_of(literal)]
        # A class expression by itself is no list.
        return members[0] if len(members) == 1 and _is_expression(members[0]) else Array(members)

    def _member(self, item: object, levels: int) -> PageValue:
        """Return a member of a list, a value as JSON-LD has it; lists in it have at most so many levels."""
        match item:
            case list() if levels:
                return Array([self._member(each, levels - 1) for each in item])
            case {"@id": str(iri)} if is_shown(iri):
                return self._value(Resource(iri))
            case {"@value": str(text), **about}:
                return Literal(text, str(about.get("@type", "")), str(about.get("@language", ""))).json
            case str():
                return item
            case dict() if levels and (said := expression_of(item)):
                parts = {key: [self._member(one, levels - 1) for one in values] for key, values in said.items()}
                return Nested({self._id(key): parts[key] for key in sorted(parts)})
            case _:
                # An expression that is not known, or an IRI that no caller could send back.
                return Nested({}, cut=True)

    def _properties(self, properties: Properties, lists: Properties | None = None) -> dict[str, list[PageValue]]:
        """Return the values of properties by the ID of the predicate, in the order of these.

        Args:
            properties: The properties.
            lists: Those that have the lists of which some values are members; None if `properties` do.
        """
        of_lists = properties if lists is None else lists
        written = {
            self._id(predicate): (
                sorted(map(self._value, values), key=position_key)
                if predicate == POSITION
                else self._values(values, of_lists.get(predicate, ()))
            )
            for predicate, values in without_orders(properties).items()
        }
        # Of a predicate that has texts in other languages alone, nothing is shown.
        return {key: written[key] for key in sorted(written, key=uncoined) if written[key]}

    def _values(self, values: Sequence[Value], lists: Iterable[Value] = ()) -> list[PageValue]:
        """Return the values of one predicate: members of lists in their order, others sorted, those with parts last."""
        nodes = {value.iri: value for value in values if isinstance(value, Resource | BlankNode)}
        members = [nodes.pop(iri) for iri in members_in_order(lists) if iri in nodes] if nodes else []
        placed = frozenset(value.iri for value in members)
        others = (value for value in values if not (isinstance(value, Resource | BlankNode) and value.iri in placed))
        return [*map(self._value, members), *self._sorted(others)]

    def _sorted(self, values: Iterable[Value]) -> list[PageValue]:
        """Return values sorted: scalars and IDs, then those with parts."""
        listed = list(values)
        shown = self._shown(value for value in listed if _is_scalar(value))
        scalars: list[JsonScalar] = [self._scalar(literal) for literal in shown]
        others = [self._value(value) for value in listed if not _is_scalar(value)]
        scalars += [value for value in others if isinstance(value, Id)]
        with_parts = (value for value in others if not isinstance(value, Id))
        return [*sorted_values(scalars, uncoined), *sorted(with_parts, key=notation)]

    def _assertion(self, assertion: Assertion, omitted: dict[Iri, int]) -> PageAssertion:
        left = without_orders(assertion.properties)
        negated = self._take_negation(left)
        sources = {*map(self._id, assertion.sources)} | self._sources_of_references(left)
        return replace(self._assertion_from(left, assertion.properties, omitted, sources), negated=negated)

    def _take_negation(self, left: _ByPredicate) -> bool:
        """Take out what says that the contrary is asserted, and return whether something does."""
        negated = False
        denied = [NEGATED] if NEGATED in left else []
        for predicate in dict.fromkeys([*denied, *_matching(left, self._negated)]):
            if all(isinstance(value, Literal) and _is_true(value) for value in left[predicate]):
                del left[predicate]
                negated = True
        return negated

    def _assertion_from(
        self,
        left: _ByPredicate,
        properties: Properties,
        omitted: dict[Iri, int] | None = None,
        sources: Iterable[str] = (),
    ) -> PageAssertion:
        """Take confidence and sources out of `left`; return them, `sources` and all else.

        Texts that are too long are left out if there is an `omitted`, which counts them by predicate. `properties` are
        those of which `left` was made, and have the lists of which some values are members.
        """
        confidence = self._take_numbers(left, self._confidence, guessed=_is_share)
        documents = sorted({*sources, *self._take_sources(left)}, key=uncoined)
        if omitted is not None:
            left = self._without_long_texts(left, omitted)
        return PageAssertion(
            confidence=confidence, source_documents=documents, properties=self._properties(left, properties)
        )

    def _take_names(self, left: _ByPredicate, predicates: Sequence[Iri]) -> list[str]:
        """Take the names out, that in the best language of the first predicate first."""
        texts = {at: [one for one in left[at] if isinstance(one, Literal)] for at in predicates if at in left}
        name = one_line(best_text(texts, predicates, self._languages))
        if not name:
            texts = {at: [one for one in values if isinstance(one, Literal)] for at, values in left.items()}
            name = joined_name(texts, self._languages)
        others = self._take_texts(left, predicates)
        return [*([name] if name else []), *(other for other in others if other != name)]

    def _take_texts(self, left: _ByPredicate, predicates: Sequence[Iri], *, in_line: bool = True) -> list[str]:
        """Take the texts of some predicates out, in the best language of each, those of the first predicate first.

        Names are written in one line.
        """
        texts: dict[str, None] = {}
        for predicate in filter(left.__contains__, predicates):
            values = left.pop(predicate)
            literals = [value for value in values if isinstance(value, Literal)]
            if others := tuple(value for value in values if not isinstance(value, Literal)):
                left[predicate] = others
            shown = [(one_line(one.text) if in_line else one.text, one) for one in self._shown(literals)]
            written = sorted_values(self._tagged(text, one) for text, one in shown if text)
            texts.update(dict.fromkeys(map(str, written)))
        return list(texts)

    def _take_numbers(
        self, left: _ByPredicate, role: _Ranks, guessed: Callable[[JsonScalar], bool] | None = None
    ) -> list[JsonScalar]:
        """Take the numbers out that the first predicate of a role gives; none where none gives numbers only.

        Where only a local name says what a predicate means, they must be as `guessed` says: a `weight` of 70 is none.
        """
        for predicate in _matching(left, role):
            blanks = tuple(value for value in left[predicate] if isinstance(value, BlankNode))
            numbers = [value.json for value in left[predicate] if isinstance(value, Literal)]
            fits = _is_number if guessed is None or predicate in role else guessed
            if numbers and len(numbers) + len(blanks) == len(left[predicate]) and all(map(fits, numbers)):
                del left[predicate]
                if blanks:
                    left[predicate] = blanks
                return sorted_values(numbers)
        return []

    def _take_sources(self, left: _ByPredicate) -> set[str]:
        """Take the documents out that any predicate of the role names."""
        documents: set[str] = set()
        for predicate in _matching(left, self._sources):
            if all(map(_is_document, left[predicate])):
                documents.update(self._source(value) for value in left.pop(predicate))
        return documents

    def _sources_of_references(self, properties: Properties) -> set[str]:
        """Return the documents that references name; those stay, because they say more about the documents."""
        references = (value for value in chain.from_iterable(properties.values()) if isinstance(value, BlankNode))
        return {
            self._source(value)
            for reference in references
            for predicate in _matching(reference.properties, self._sources)
            for value in reference.properties[predicate]
            if _is_document(value)
        }

    def _source(self, value: Value) -> str:
        if isinstance(value, Literal) and self._roles.source_id:
            return Id(self._roles.source_id.replace("{value}", str(value.json)))
        source = self._value(value)
        return source if isinstance(source, Id) else str(source)

    def _without_long_texts(self, properties: Properties, omitted: dict[Iri, int]) -> _ByPredicate:
        longest = self._profile.size.evidence_text_characters
        left: _ByPredicate = {}
        for predicate, values in properties.items():
            short = tuple(value for value in values if not (isinstance(value, Literal) and len(value.value) > longest))
            if len(short) < len(values):
                omitted[predicate] = omitted.get(predicate, 0) + len(values) - len(short)
            if short:
                left[predicate] = short
        return left


def _ranks(role: Sequence[str]) -> _Ranks:
    """Return the place in a role of each IRI that it names, and of each local name, folded."""
    return {entry if ":" in entry else compact(entry): rank for rank, entry in reversed(list(enumerate(role)))}


@lru_cache(maxsize=1 << 12)
def _local(predicate: Iri) -> str:
    """Return the folded local name of a predicate: a graph has few, and each is looked at for each node."""
    return compact(local_name(predicate))


def _matching(left: Iterable[Iri], role: _Ranks) -> list[Iri]:
    """Return the predicates that a role names, in the role's order, then by IRI."""
    ranked = [(role[key], predicate) for predicate in left for key in (predicate, _local(predicate)) if key in role]
    return list(dict.fromkeys(predicate for _, predicate in sorted(ranked)))


def _combined(assertions: Sequence[PageAssertion]) -> PageAssertion:
    """Return what several assertions say together; nothing is averaged."""
    first = assertions[0].confidence
    return PageAssertion(
        negated=all(assertion.negated for assertion in assertions),
        confidence=first if all(assertion.confidence == first for assertion in assertions) else (),
        source_documents=sorted({*chain.from_iterable(one.source_documents for one in assertions)}, key=uncoined),
    )


def _named(value: PageValue, names: Mapping[str, str]) -> PageValue:
    """Return a value whose IDs have their names behind them."""
    match value:
        case Id():
            return Id(with_name(value, names.get(value, "")), value.uncoined)
        case Nested():
            said = {key: [_named(one, names) for one in values] for key, values in value.properties.items()}
            return replace(value, properties=said)
        case _:
            return value


def _is_expression(member: PageValue) -> bool:
    return isinstance(member, Nested) and bool(member.properties)


def _is_scalar(value: Value) -> TypeIs[Literal]:
    return isinstance(value, Literal) and value.datatype != ARRAY


def _is_number(value: JsonScalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_share(value: JsonScalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _is_document(value: Value) -> bool:
    is_text = _is_scalar(value) and isinstance(value.json, str)
    return is_text or (isinstance(value, Resource) and not is_skolem(value.iri))


def _is_true(literal: Literal) -> bool:
    """Return whether a flag is set: `true`, 1 of whatever datatype, or a text that says so.

    An edge that is denied and shown as a plain fact would be the worse error.
    """
    value = literal.json
    return value.strip().lower() in _SET if isinstance(value, str) else value == 1
