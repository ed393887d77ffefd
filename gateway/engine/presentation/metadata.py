"""RDF values as metadata: the protocol's own keys for what has a role, canonical IDs for all else.

The protocol's keys are bare and every other key has a colon, so they cannot collide
(docs/contract.md, "Keys of metadata").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from gateway.engine.presentation.size import Id
from gateway.graph.values import Assertion, BlankNode, Evidence, Iri, NoValue, Properties, Quantity, Resource, Value
from gateway.settings.profile import Profile
from gateway.terms.folding import compact
from gateway.terms.iri import is_skolem, local_name
from gateway.terms.literals import JsonScalar, Literal, in_best_language, scalar_or_list, sorted_values
from gateway.terms.prefixes import PrefixMap

Json = Any
"""A JSON value; what Python calls it is not worth a recursive type."""

Metadata = dict[str, Json]

_UNKNOWN = {"unknown": True}
"""What is written for a value that is there, and of which nothing else is said."""


class MetadataWriter:
    """Writes values under a profile's roles."""

    def __init__(self, profile: Profile, prefixes: PrefixMap) -> None:
        self._profile = profile
        self._roles = profile.roles
        self._prefixes = prefixes

    def node(self, properties: Properties, types: Sequence[Iri], named_by: Sequence[Iri]) -> Metadata:
        """Return the metadata of a full node.

        Args:
            properties: Its values by predicate.
            types: Its entity types, listed where there are several.
            named_by: Predicates that carry names in this graph; the profile's do so too.
        """
        left = dict(properties)
        written: Metadata = {}
        names = self._texts(left, tuple(dict.fromkeys((*named_by, *self._roles.name))))
        if names:
            written["name"] = names[0]
        if len(types) > 1:
            written["types"] = sorted(Id(self._prefixes.shorten(iri)) for iri in types)
        descriptions = self._texts(left, self._roles.description)
        if descriptions:
            written["description"] = descriptions[0] if len(descriptions) == 1 else descriptions
        # A second name is one more way to call the node.
        synonyms = sorted({*names[1:], *self._texts(left, self._roles.synonym)} - set(names[:1]))
        if synonyms:
            written["synonyms"] = synonyms
        mentions = self._number(left, self._roles.mentions)
        if mentions is not None:
            written["total_mentions"] = mentions
        return written | self._assertion(left)

    def edge(self, evidence: Evidence, left_out: dict[str, int]) -> Metadata:
        """Return the metadata of a full edge, flat for one assertion and a list for several.

        Args:
            evidence: The edge's assertions.
            left_out: Counts, by predicate, the texts that were too long to be told here; added to.
        """
        assertions = [self._of_edge(one, left_out) for one in evidence.assertions]
        if not assertions:
            return {}
        if len(assertions) == 1:
            return assertions[0]
        whole: Metadata = {}
        if all(map(_is_negated, assertions)):
            whole["negated"] = True
        confidences = [assertion.get("confidence") for assertion in assertions]
        if confidences[0] is not None and all(confidence == confidences[0] for confidence in confidences):
            whole["confidence"] = confidences[0]
        sources = {source for assertion in assertions for source in assertion.get("source_documents", ())}
        if sources:
            whole["source_documents"] = sorted(sources)
        # What denies the edge comes first, where no shortening cuts it off.
        whole["assertions"] = sorted(assertions, key=lambda one: (not _is_negated(one), repr(one)))
        return whole

    def mentions(self, properties: Properties) -> float | None:
        """Return how often a node is mentioned, the largest of several numbers; None where nothing says so."""
        found = self._number(dict(properties), self._roles.mentions)
        if found is None:
            return None
        return float(max(found) if isinstance(found, list) else found)

    def value(self, value: Value) -> Json:
        """Return one value as JSON."""
        match value:
            case Literal():
                return value.json
            case Resource():
                return dict(_UNKNOWN) if is_skolem(value.iri) else Id(self._prefixes.shorten(value.iri))
            case Quantity():
                return {"amount": value.amount.json, "unit": Id(self._prefixes.shorten(value.unit))}
            case NoValue():
                return dict(_UNKNOWN) if value.unknown else {"no_value": True}
            case BlankNode():
                if not value.properties and not value.cut:
                    return dict(_UNKNOWN)
                written = {
                    self._prefixes.shorten(predicate): self._values(values)
                    for predicate, values in sorted(value.properties.items())
                    if values
                }
                return written | {"more": True} if value.cut else written

    def _of_edge(self, assertion: Assertion, left_out: dict[str, int]) -> Metadata:
        """Write one assertion of an edge; that it denies the edge comes first."""
        left = dict(assertion.properties)
        denied: Metadata = {"negated": True} if self._denies(left) else {}
        sources = {Id(self._prefixes.shorten(iri)) for iri in assertion.sources} | self._of_references(left)
        return denied | self._assertion(left, left_out, sources)

    def _denies(self, left: dict[Iri, tuple[Value, ...]]) -> bool:
        """Take out what says that the contrary is asserted, and tell whether something does."""
        said = False
        for predicate in self._matching(left, self._roles.negated):
            if all(isinstance(value, Literal) and _is_true(value) for value in left[predicate]):
                del left[predicate]
                said = True
        return said

    def _assertion(
        self,
        left: dict[Iri, tuple[Value, ...]],
        left_out: dict[str, int] | None = None,
        sources: Iterable[str] = (),
    ) -> Metadata:
        """Write confidence and sources under their own keys, and the rest under its predicates' IDs.

        Args:
            left: Values by predicate; those that have a role are taken out.
            left_out: Counts the quotes that are left out, by predicate; None: none is.
            sources: Further documents.
        """
        written: Metadata = {}
        confidence = self._number(left, self._roles.confidence, guessed=_is_share)
        if confidence is not None:
            written["confidence"] = confidence
        documents = {*sources, *self._sources(left)}
        if documents:
            written["source_documents"] = sorted(documents)
        if left_out is not None:
            left = self._without_quotes(left, left_out)
        rest = {self._prefixes.shorten(predicate): self._values(values) for predicate, values in left.items()}
        return written | dict(sorted(rest.items()))

    def _values(self, values: Iterable[Value]) -> Json:
        """Return values of one predicate: one as itself, several as a sorted list."""
        listed = list(values)
        scalars: list[JsonScalar] = [
            literal.json
            for literal in in_best_language(
                (value for value in listed if isinstance(value, Literal)), self._profile.names.languages
            )
        ]
        others = [self.value(value) for value in listed if not isinstance(value, Literal)]
        scalars += [value for value in others if isinstance(value, Id)]
        nested = [value for value in others if not isinstance(value, Id)]
        if not nested:
            return scalar_or_list(scalars)
        together = [*sorted_values(scalars), *sorted(nested, key=repr)]
        return together[0] if len(together) == 1 else together

    def _texts(self, left: dict[Iri, tuple[Value, ...]], predicates: Sequence[Iri]) -> list[str]:
        """Take the texts of some predicates out, in the best language of each, those of the first predicate first."""
        texts: dict[str, None] = {}
        for predicate in predicates:
            values = left.pop(predicate, ())
            literals = [value for value in values if isinstance(value, Literal)]
            if others := tuple(value for value in values if not isinstance(value, Literal)):
                left[predicate] = others
            best = in_best_language(literals, self._profile.names.languages)
            texts.update(dict.fromkeys(str(text) for text in sorted_values(str(one.json) for one in best)))
        return list(texts)

    def _number(
        self,
        left: dict[Iri, tuple[Value, ...]],
        role: Sequence[str],
        guessed: Callable[[JsonScalar], bool] | None = None,
    ) -> Json:
        """Take the numbers out that the first predicate of a role gives; None where none gives numbers only.

        Args:
            left: Values by predicate.
            role: IRIs and bare local names.
            guessed: What a number must be like where only the local name says what it means: a `weight` of 70 is none.
        """
        for predicate in self._matching(left, role):
            blanks = tuple(value for value in left[predicate] if isinstance(value, BlankNode))
            numbers = [value.json for value in left[predicate] if isinstance(value, Literal)]
            fits = _is_number if guessed is None or predicate in role else guessed
            if numbers and len(numbers) + len(blanks) == len(left[predicate]) and all(map(fits, numbers)):
                del left[predicate]
                if blanks:
                    left[predicate] = blanks
                return scalar_or_list(numbers)
        return None

    def _sources(self, left: dict[Iri, tuple[Value, ...]]) -> set[str]:
        """Take the documents out that any predicate of the role names."""
        documents: set[str] = set()
        for predicate in self._matching(left, self._roles.source):
            if all(map(_is_document, left[predicate])):
                documents.update(self._source(value) for value in left.pop(predicate))
        return documents

    def _of_references(self, properties: Properties) -> set[str]:
        """Return the documents that references name; those stay, because they say more about the documents."""
        references = (value for value in chain.from_iterable(properties.values()) if isinstance(value, BlankNode))
        return {
            self._source(value)
            for said in (reference.properties for reference in references)
            for predicate in self._matching(said, self._roles.source)
            for value in said[predicate]
            if _is_document(value)
        }

    def _source(self, value: Value) -> str:
        if isinstance(value, Literal) and self._roles.source_id:
            return Id(self._roles.source_id.replace("{value}", str(value.json)))
        written = self.value(value)
        return written if isinstance(written, Id) else str(written)

    def _matching(self, left: Mapping[Iri, object], role: Sequence[str]) -> list[Iri]:
        """Return the predicates that a role names, in the role's order, then by IRI."""
        ranks = {entry if ":" in entry else compact(entry): rank for rank, entry in reversed(list(enumerate(role)))}
        ranked = [
            (ranks[key], predicate)
            for predicate in left
            for key in (predicate, compact(local_name(predicate)))
            if key in ranks
        ]
        return list(dict.fromkeys(predicate for _, predicate in sorted(ranked)))

    def _without_quotes(self, properties: Properties, left_out: dict[str, int]) -> dict[Iri, tuple[Value, ...]]:
        longest = self._profile.size.evidence_text
        kept: dict[Iri, tuple[Value, ...]] = {}
        for predicate, values in properties.items():
            short = tuple(value for value in values if not (isinstance(value, Literal) and len(value.value) > longest))
            if len(short) < len(values):
                key = self._prefixes.shorten(predicate)
                left_out[key] = left_out.get(key, 0) + len(values) - len(short)
            if short:
                kept[predicate] = short
        return kept


def _is_number(value: JsonScalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_share(value: JsonScalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _is_document(value: Value) -> bool:
    return _is_text(value) or (isinstance(value, Resource) and not is_skolem(value.iri))


def negations(metadata: Metadata) -> tuple[int, int]:
    """Return how many assertions of an edge deny it, and how many it has."""
    assertions = metadata.get("assertions", [metadata])
    return sum(map(_is_negated, assertions)), len(assertions)


def _is_negated(metadata: Metadata) -> bool:
    return "negated" in metadata


def _is_true(literal: Literal) -> bool:
    """Tell whether a flag is set; some converters write booleans as texts."""
    return literal.json is True or (isinstance(literal.json, str) and literal.json.lower() == "true")


def _is_text(value: Value) -> bool:
    return isinstance(value, Literal) and isinstance(value.json, str)
