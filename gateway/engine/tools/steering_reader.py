"""Reads the arguments that say which edges a traversal follows: `only_predicates` and `direction`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.engine import messages
from gateway.engine.arguments import BfsQuery, TraversalArguments
from gateway.engine.schema.term_lookup import HINTED, first_warnings
from gateway.engine.schema.view import SchemaView
from gateway.engine.traversal.steering import PredicateChoice, Steering
from gateway.errors import InputError
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.terms.folding import compact
from gateway.terms.iri import local_name
from gateway.terms.known_iris import REIFICATION
from gateway.terms.prefixes import PrefixMap

_ARGUMENT = "only_predicates"

_OF_STATEMENTS = re.compile(
    r"/prop/(?:(?P<part>statement|qualifier|reference)/(?:value/|value-normalized/)?)?(?P<property>P[0-9]+)$"
)
"""How a predicate of the statements of a Wikibase ends, which the software fixes (RDF dump format)."""


class SteeringReader:
    """Resolves the names of predicates, each with `^` before it where only its incoming edges are meant."""

    def __init__(self, profile: Profile, prefixes: PrefixMap) -> None:
        self._edges = profile.edges
        self._is_wikibase = profile.values.wikibase
        self._prefixes = prefixes

    def read(self, arguments: TraversalArguments, seeds: int, known: SchemaView) -> tuple[Steering, list[str]]:
        """Return what a question follows, and warnings.

        Args:
            arguments: The arguments of the question.
            seeds: How many seeds it gives.
            known: The schema.

        Raises:
            InputError: A name matches nothing, a predicate is no edge, or the lists are too many or too few.
        """
        given = arguments.only_predicates or []
        is_listed = any(isinstance(entry, list) for entry in given)
        lists = [entry if isinstance(entry, list) else [entry] for entry in given] if is_listed else [_flat(given)]
        if is_listed:
            self._check_number(arguments, len(lists), seeds)
        warnings: dict[str, None] = {}
        followed = tuple(tuple(self._followed(names, known, warnings)) for names in lists)
        # One list for one hop is a list for all.
        return Steering(followed, arguments.direction, is_listed and len(lists) > 1), first_warnings(
            _ARGUMENT, list(warnings)
        )

    def _check_number(self, arguments: TraversalArguments, lists: int, seeds: int) -> None:
        wanted, each = (arguments.max_hops, "hop") if isinstance(arguments, BfsQuery) else (seeds, "seed")
        if lists != wanted:
            raise messages.wrong_number_of_lists(arguments.tool, lists, wanted, each)

    def _followed(self, names: Sequence[str], known: SchemaView, warnings: dict[str, None]) -> list[PredicateChoice]:
        found: dict[PredicateChoice, None] = {}
        for name in names:
            is_inverse = name.startswith("^")
            bare = self._prefixes.without_name(name.removeprefix("^"))
            iri = self._iri(bare)
            if iri is not None:
                self._check_edge(iri)
            try:
                iris, warning = known.predicates.required(_ARGUMENT, bare, hinted=len(warnings) < HINTED)
            except InputError:
                self._check_no_edge_is_called(bare)
                raise
            if warning:
                warnings[warning] = None
            found |= dict.fromkeys(PredicateChoice(one, is_inverse) for one in iris)
        return sorted(found, key=lambda one: (self._prefixes.declared_form(one.predicate), one.is_inverse))

    def _iri(self, name: str) -> Iri | None:
        try:
            iri = self._prefixes.expand(name)
        except InputError:
            return None
        return iri if iri != name or "://" in name else None

    def _check_edge(self, predicate: Iri) -> None:
        if not self._edges.allows(predicate):
            raise messages.no_edge_predicate(self._prefixes.in_prose(predicate), self._where_shown(predicate))

    def _check_no_edge_is_called(self, name: str) -> None:
        """Refuse the local name of a predicate that is no edge, with where it is shown."""
        for predicate in self._edges.excluded:
            if compact(local_name(predicate)) == compact(name):
                self._check_edge(predicate)

    def _where_shown(self, predicate: Iri) -> str:
        """Return where answers show a predicate that is no edge."""
        edges = self._edges
        if predicate in edges.types:
            return messages.AS_TYPE
        if predicate in edges.redirects:
            return messages.AS_MERGED
        if predicate in REIFICATION:
            return messages.AS_EVIDENCE
        if predicate in edges.excluded:
            return messages.AS_METADATA
        part = _OF_STATEMENTS.search(predicate) if self._is_wikibase else None
        if part is None:
            return messages.AS_UNLISTED
        direct = f"{predicate[: part.start()]}/prop/direct/{part['property']}"
        is_value = part["part"] in {None, "statement"} and edges.allows(direct)
        return messages.as_statement(self._prefixes.in_prose(direct)) if is_value else messages.AS_EVIDENCE


def _flat(given: Sequence[str | list[str]]) -> list[str]:
    return [name for name in given if isinstance(name, str)]
