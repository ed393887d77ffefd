"""A schema as calls look at it: its terms by their names."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, Self

from gateway import messages
from gateway.errors import Fault, GatewayError, InputError, quoted
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, computed_once, in_thread
from gateway.graph.values import Iri, Schema, Term
from gateway.schema.types import WORDS, TypeChooser
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import TypeSettings
from gateway.terms.iri import (
    ON_PROPERTY,
    is_entity_type,
    is_walk,
    local_name,
)
from gateway.terms.names import fold
from gateway.terms.prefixes import PrefixMap, in_prose
from gateway.terms.spelling import nearest

_NOTHING: Mapping[Iri, str] = {}
_SHOWN = 8
"""Terms that one message lists."""

_WARNED = 5
"""Warnings about one argument; a further one counts the other names."""

HINTED = 3
"""Unknown names for which a message has the nearest listed ones; finding these takes some milliseconds each."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The types or predicates that a filter names.

    Attributes:
        iris: The types or predicates that match.
        warnings: Names that match nothing, or several terms.
        whole: Whether the names can mean nothing else; if not all terms are known, only an ID is that definite.
    """

    iris: frozenset[str]
    warnings: tuple[str, ...] = ()
    whole: bool = True


_Names = tuple[Mapping[str, set[str]], Mapping[str, str]]
"""The terms that have a name, and how it is spelled, by its folded form."""


class TermLookup:
    """The types or the predicates of a graph, by every name that a caller may use."""

    def __init__(
        self,
        kind: Literal["type", "predicate"],
        terms: Sequence[Term],
        prefixes: PrefixMap,
        *,
        comprehensive: bool,
        words: Sequence[str] = (),
        unread: Fault | None = None,
    ) -> None:
        """Look up terms; `words` are names that are no IRIs, and `unread` says why terms or names are missing."""
        self._kind = kind
        self._unread = unread
        self._prefixes = prefixes
        self._comprehensive = comprehensive
        self._words = words
        self._terms = terms
        self._listed = dict.fromkeys((*words, *(term.iri for term in terms)))

    @property
    def terms(self) -> Sequence[Term]:
        """The terms, with a label and aliases each; one may be there for several languages."""
        return self._terms

    def __len__(self) -> int:
        return len(self._listed)

    def with_terms(self, iris: Iterable[Iri]) -> TermLookup:
        """Return a look-up of these terms too."""
        return TermLookup(
            self._kind,
            (*self._terms, *(Term(iri, None) for iri in iris)),
            self._prefixes,
            comprehensive=self._comprehensive,
            words=self._words,
            unread=self._unread,
        )

    @property
    def is_indexed(self) -> bool:
        """Whether its names and aliases have been computed."""
        return "aliases" in vars(self)

    @computed_once
    def names(self) -> _Names:
        """The terms by their names; of many it takes long to compute, in whatever thread."""
        by_name: dict[str, set[str]] = defaultdict(set)
        spelled: dict[str, str] = {}

        def index(name: str, iri: str) -> None:
            folded = fold(name)
            by_name[folded].add(iri)
            spelled.setdefault(folded, name)

        for word in self._words:
            index(word, word)
        for term in self._terms:
            index(self._prefixes.declared_form(term.iri), term.iri)
            index(term.iri, term.iri)
            index(local_name(term.iri), term.iri)
            if term.label:
                index(term.label, term.iri)
        return by_name, spelled

    @computed_once
    def aliases(self) -> Mapping[str, set[str]]:
        """The terms by their synonyms in folded form, without those that are names of other terms."""
        by_alias: dict[str, set[str]] = defaultdict(set)
        for term in self._terms:
            for alias in term.aliases:
                by_alias[fold(alias)].add(term.iri)
        names, _ = self.names
        return {alias: iris for alias, iris in by_alias.items() if alias not in names}

    def words(self) -> Mapping[str, Iri]:
        """Return the labels and local names of the terms, each with the first of its terms: no IDs."""
        by_name, spelled = self.names
        return {name: min(by_name[folded]) for folded, name in spelled.items() if ":" not in name}

    def choose(
        self, argument: str, names: Sequence[str], seen: Mapping[Iri, str] = _NOTHING, *, leaves_out: bool = False
    ) -> Chosen:
        """Return the terms that the names of a filter mean.

        Args:
            argument: The argument.
            names: The names.
            seen: Terms of an answer, with their labels.
            leaves_out: Whether a name that matches nothing is left out, with a warning, if another one matches.

        Raises:
            InputError: A name matches nothing and the schema is comprehensive; the text names the nearest. Or it is an
                alias of several terms; the text lists them.
        """
        iris: set[str] = set()
        warnings: list[str] = []
        unknown: list[InputError] = []
        further = {iri: label for iri, label in seen.items() if label or iri not in self._listed}
        whole = True
        for name in names:
            found = self._find(name, further)
            ids = self._ids(name, further)
            if not found and (found := self._by_alias(argument, name)):
                warnings.append(self._taken(argument, name, found))
            if not found and self._comprehensive:
                unknown.append(self._no_such(argument, name, hinted=len(unknown) < HINTED))
                continue
            whole = whole and bool(found) and (self._comprehensive or not ids.isdisjoint(found))
            if not found:
                nearest_known = self._nearest(name) if len(warnings) < HINTED else ""
                warnings.append(messages.perhaps_unknown_name(argument, quoted(name), self._kind, nearest_known))
            elif len(found) > 1 and not found <= ids:
                meant = self._prefixes.listed(found, _SHOWN)
                warnings.append(messages.several_meant(argument, quoted(name), self._kind, meant))
            iris |= found
        if unknown and not (leaves_out and iris):
            raise messages.all_wrong(unknown)
        warnings += map(messages.left_out, unknown)
        return Chosen(frozenset(iris), tuple(first_warnings(argument, warnings)), whole)

    def required(self, argument: str, name: str, *, hinted: bool) -> tuple[frozenset[str], str]:
        """Return the terms that one name means, and a warning, or an empty text; an IRI is meant as given.

        Args:
            argument: The argument that has the name.
            name: The name.
            hinted: Whether a warning has the nearest listed names.

        Raises:
            InputError: The name matches nothing; the text names the nearest. Or it is an alias of several terms.
            Fault: The name matches nothing, and terms or names could not be read.
        """
        found, ids = self._find(name, _NOTHING), self._ids(name)
        if len(found) > 1 and not found <= ids:
            meant = self._prefixes.listed(found, _SHOWN)
            return frozenset(found), messages.several_meant(argument, quoted(name), self._kind, meant)
        if found:
            return frozenset(found), ""
        if ids:
            if not self._comprehensive:
                return ids, ""
            nearest = self._nearest(name) if hinted else ""
            return ids, messages.absent_term(argument, in_prose(name), self._kind, nearest)
        if found := self._by_alias(argument, name):
            return frozenset(found), self._taken(argument, name, found)
        raise self.unknown(argument, name)

    def unknown(self, argument: str, name: str) -> GatewayError:
        """Return the error of a name that matches nothing: no term has it, or none that is known, or it is unread."""
        return self._unread or self._no_such(argument, name)

    @property
    def unread(self) -> Fault | None:
        """Why a name that matches nothing may be that of a term: terms or names could not be read; or None."""
        return self._unread

    def found(self, name: str) -> set[Iri]:
        """Return the terms that a name means, as an ID, a label or a local name."""
        return self._find(name, _NOTHING)

    def found_or_aliased(self, name: str) -> set[Iri]:
        """Return the terms that a name means, or else those of which it is an alias."""
        return self._find(name, _NOTHING) or self.aliased(name)

    def aliased(self, name: str) -> set[Iri]:
        """Return the terms of which a name is an alias; none of an ID."""
        return set() if self._ids(name) else set(self.aliases.get(fold(name), ()))

    def named(self, name: str) -> set[Iri]:
        """Return the terms that have a name, which is not read as an ID."""
        return set(self.names[0].get(fold(name), ()))

    @property
    def comprehensive(self) -> bool:
        """Whether there are no other terms."""
        return self._comprehensive

    def has_any(self, iris: Iterable[Iri]) -> bool:
        """Return whether one of some IRIs is a term."""
        return any(iri in self._listed for iri in iris)

    def near(self, name: str) -> str:
        """Return the names that are near to one that means nothing, for a sentence."""
        return self._nearest(name)

    def unlisted(self, iris: Iterable[Iri]) -> list[Iri]:
        """Return those IRIs that are not among the terms, sorted."""
        return sorted({iri for iri in iris if iri not in self._listed and not is_walk(iri)})

    def iris_of(self, names: Sequence[str]) -> list[Iri]:
        """Return the IRIs of those names that are IRIs or CURIEs, listed or not; none if all terms are listed."""
        return [] if self._comprehensive else self.as_iris(names)

    def as_iris(self, names: Sequence[str]) -> list[Iri]:
        """Return the IRIs of those names that are IRIs or CURIEs, listed or not."""
        return [iri for name in names for iri in sorted(self._ids(name))]

    def _find(self, name: str, further: Mapping[Iri, str]) -> set[str]:
        ids = self._ids(name, further)
        if any(iri in self._listed or iri in further for iri in ids):
            return set(ids)
        folded = fold(name)
        found = set(self.names[0].get(folded, ()))
        return found | {
            other
            for other, label in further.items()
            if folded in {fold(other), fold(local_name(other)), fold(self._prefixes.declared_form(other)), fold(label)}
        }

    def _by_alias(self, argument: str, name: str) -> set[Iri]:
        """Return the term of which a name that matches nothing is an alias; empty if there is none.

        Raises:
            InputError: There are several: unlike labels, aliases are often of what is only related.
        """
        found = self.aliased(name)
        if len(found) > 1:
            raise messages.alias_of_several(argument, quoted(name), self._kind, self._prefixes.listed(found, _SHOWN))
        return found

    def _taken(self, argument: str, name: str, found: Iterable[Iri]) -> str:
        return messages.taken_by_alias(argument, quoted(name), self._kind, self._prefixes.listed(found))

    def _ids(self, name: str, further: Mapping[Iri, str] = _NOTHING) -> frozenset[Iri]:
        """Return the IRIs that a name means as an ID, listed or not; none if it is no ID.

        They are several where an ID has several meanings, and it is not known which of them the graph has.
        """
        try:
            meant = self._prefixes.meanings(self._prefixes.without_name(name))
        except InputError:
            return frozenset()
        first = meant[0]
        if first in self._listed:
            return frozenset({first})
        there = frozenset(iri for iri in meant if iri in self._listed or iri in further)
        is_id = first != name or "://" in name
        return there if not is_id or (there and self._comprehensive) else frozenset(meant)

    def _no_such(self, argument: str, name: str, *, hinted: bool = True) -> InputError:
        shown = self._prefixes.in_order(itertools.islice(self._listed, _SHOWN))
        some = ", ".join(map(in_prose, shown)) + (", …" if len(self._listed) > _SHOWN else "")
        return messages.unknown_name(
            argument, quoted(name), self._kind, self._nearest(name) if hinted else "", some, are_all=self._comprehensive
        )

    def _nearest(self, name: str) -> str:
        near = nearest(fold(name), self.names[0], 3)
        return ", ".join(in_prose(name) for name in dict.fromkeys(self.names[1][folded] for folded in near))


def called_so(name: str, predicates: Iterable[Iri], prefixes: PrefixMap) -> Iri | None:
    """Return the first of some predicates that has a name as its ID or local name."""
    wanted = fold(name)
    named = (
        iri for iri in predicates if wanted in {fold(local_name(iri)), fold(prefixes.declared_form(iri)), fold(iri)}
    )
    return next(named, None)


def first_warnings(argument: str, warnings: Sequence[str]) -> list[str]:
    """Return the first warnings about the names in an argument, and one that counts the others."""
    more = len(warnings) - _WARNED
    return [*warnings[:_WARNED], *([messages.more_names(argument, more)] if more > 0 else [])]


LONGEST_LABEL = 200
"""Characters of a label that an answer shows."""


@dataclass(frozen=True, slots=True)
class SchemaView:
    """Look-ups in a schema: a `Schema` is what a reading returned, a `SchemaView` is what calls ask.

    Attributes:
        schema: The types and predicates.
        comprehensive: Whether these are all: every triple was counted, or the operator vouches for the lists, and no
            blank node is left out of the counts.
        chooser: Chooses one type per node.
        types: The types by every name.
        predicates: The predicates by every name.
        labels: Labels by IRI.
        fault: Why the schema could not be read, or None.
        instances: How many nodes have each type, as far as that is known.
    """

    schema: Schema
    comprehensive: bool
    chooser: TypeChooser
    types: TermLookup
    predicates: TermLookup
    labels: dict[Iri, str]
    fault: Fault | None
    instances: Mapping[Iri, int | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        schema: Schema,
        type_settings: TypeSettings,
        prefixes: PrefixMap,
        *,
        lists_all: bool,
        has_types: bool,
        fault: Fault | None,
    ) -> Self:
        """Return the look-ups in a schema.

        Args:
            schema: The schema.
            type_settings: Which type of a node is shown.
            prefixes: Shortens IRIs.
            lists_all: Whether every type and predicate of nodes is in it.
            has_types: Whether some predicate gives nodes a type.
            fault: Why it could not be read.
        """
        # Without all labels, a name that matches nothing may be a label.
        closed = lists_all and _is_labelled(schema)
        # What only blank nodes have is no term that the graph has not.
        types = _with_others(schema.types, schema.blank.types)
        # A class may have subclasses, and no entity of its own.
        types = _with_others(types, dict.fromkeys(itertools.chain.from_iterable(schema.superclasses.values()), 0))
        predicates = _with_others(schema.predicates, schema.blank.predicates)
        unread = _unread(schema, fault)
        return cls(
            schema,
            lists_all and not schema.blank,
            TypeChooser(schema, type_settings, prefixes),
            TermLookup(
                "type",
                types,
                prefixes,
                comprehensive=closed or not has_types,
                words=WORDS,
                unread=unread if has_types else None,
            ),
            # Class expressions that were not read here may say edges of other predicates.
            TermLookup(
                "predicate",
                predicates,
                prefixes,
                comprehensive=closed and ON_PROPERTY not in schema.blank.predicates,
                unread=unread,
            ),
            {term.iri: term.label for term in (*schema.types, *schema.predicates) if term.label},
            fault,
            {term.iri: term.count for term in schema.types},
        )

    async def prepare(self, call: Call) -> None:
        """Compute what look-ups by name need, beside the event loop where there are many terms."""
        for terms in (self.types, self.predicates):
            if not terms.is_indexed and len(terms) > FEW_FOR_A_THREAD:
                await in_thread(call, partial(_indexed, terms))

    def with_predicates(self, iris: Iterable[Iri]) -> SchemaView:
        """Return look-ups of these predicates too, which the schema does not list."""
        return replace(self, predicates=self.predicates.with_terms(iris))

    def unlisted(self, types: Iterable[Iri], predicates: Iterable[Iri]) -> tuple[list[Iri], list[Iri]]:
        """Return those types and predicates that the schema does not have."""
        entity_types = (iri for iri in types if is_entity_type(iri))
        return self.types.unlisted(entity_types), self.predicates.unlisted(predicates)


def _with_others(terms: Sequence[Term], others: Mapping[Iri, int]) -> Sequence[Term]:
    if not others:
        return terms
    listed = {term.iri for term in terms}
    return (*terms, *(Term(iri, None) for iri in sorted(others) if iri not in listed))


def _indexed(terms: TermLookup, _: Deadline) -> object:
    return terms.aliases


def names_in_doubt(view: SchemaView, profile: Profile) -> bool:
    """Return whether the name predicates are unknown; names may then be missing or wrong."""
    return view.schema.names is None and "name" not in profile.roles.model_fields_set


def _unread(schema: Schema, fault: Fault | None) -> Fault | None:
    if fault is not None:
        return terms_unread(fault.wrong)
    return None if _is_labelled(schema) else names_unread()


def _is_labelled(schema: Schema) -> bool:
    """Return whether the labels are all that there are: others may stand under a predicate that was not found."""
    return schema.labelled and schema.names is not None


# --- sentences that a model reads ---


def terms_unread(why: str) -> Fault:
    """Return the fault of a name that matches nothing in a graph whose terms could not be read."""
    return Fault(
        f"The types and predicates of this graph could not be read, so names cannot be looked up: {why}",
        next_step="Try again in a minute, or write IDs.",
    )


def names_unread() -> Fault:
    """Return the fault of a name that matches nothing in a graph of whose terms not all names could be read."""
    return Fault(
        "The names of types and predicates of this graph could not all be read, so not every one can be looked up.",
        next_step="Try again, or write IDs.",
    )
