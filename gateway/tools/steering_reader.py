"""The predicates that a traversal follows, as the graph knows their names."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, product

from gateway import messages
from gateway.arguments import MAX_HOPS, BfsQuery, IntersectSubgraphs, TraversalArguments
from gateway.errors import InputError, UnknownTermError, quoted
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri
from gateway.graph.walks import LONGEST_WALK
from gateway.members.expression_notes import about_paths, says_edges_unseen
from gateway.members.sides import StepText, split_steps
from gateway.schema.view import HINTED, SchemaView, called_so, first_warnings
from gateway.settings.profile import Profile
from gateway.terms.iri import REIFICATION, is_walk, local_name, walk_iri, walk_steps
from gateway.terms.names import compact
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.steering import PredicateChoice, Steering

_ARGUMENT = "only_predicates"

_MOST_WALKS = 24
"""Walks of single predicates that one entry may mean."""

_OF_STATEMENTS = re.compile(
    r"/prop/(?:(?P<part>statement|qualifier|reference)/(?:value/|value-normalized/)?)?(?P<property>P[0-9]+)$"
)
"""How a predicate of the statements of a Wikibase ends, which the software fixes (RDF dump format)."""


class SteeringReader:
    """Resolves the names of predicates, each with `^` before it where only its incoming edges are meant."""

    def __init__(self, profile: Profile, prefixes: PrefixMap, store: GraphStore) -> None:
        self._store = store
        self._edges = profile.edges
        self._is_wikibase = profile.values.wikibase
        self._prefixes = prefixes

    def read(
        self, arguments: TraversalArguments, seeds: int, known: SchemaView, *, leaves_out: bool = False
    ) -> tuple[Steering, list[str]]:
        """Return what a question follows, and warnings.

        Args:
            arguments: The arguments of the question.
            seeds: How many seeds it gives.
            known: The schema.
            leaves_out: Whether what matches nothing is left out, with a warning, if another entry of its list does not.

        Raises:
            InputError: A name matches nothing, a predicate is no edge, or the lists are too many or too few.
        """
        if not arguments.only_predicates:
            return Steering(direction=arguments.direction), []
        given = arguments.only_predicates
        is_listed = any(isinstance(entry, list) for entry in given)
        lists = [entry if isinstance(entry, list) else [entry] for entry in given] if is_listed else [_flat(given)]
        if is_listed:
            self._check_number(arguments, len(lists), seeds)
        warnings: dict[str, None] = {}
        followed = self._all_followed(lists, known, warnings, leaves_out=leaves_out)
        self._check_steps(arguments, followed)
        predicates = chain.from_iterable(map(_predicates_of, chain.from_iterable(followed)))
        are_unseen = says_edges_unseen(self._store, known)
        warnings |= dict.fromkeys(about_paths(predicates, known, self._prefixes, are_unseen=are_unseen))
        # One list for one hop is a list for all.
        return Steering(followed, arguments.direction, is_listed and len(lists) > 1), first_warnings(
            _ARGUMENT, list(warnings)
        )

    def names_of(self, given: Sequence[str | list[str]]) -> list[str]:
        """Return the names of predicates in entries that are walks, or single predicates."""
        entries = [*_flat(given), *chain.from_iterable(entry for entry in given if isinstance(entry, list))]
        steps = chain.from_iterable(split_steps(entry) or () for entry in entries)
        return [self._prefixes.without_name(step.name) for step in steps]

    def _check_steps(self, arguments: TraversalArguments, followed: Sequence[Sequence[PredicateChoice]]) -> None:
        """Check that walks are not too long, all hops together, and that one of several steps is a whole answer."""
        longest = [
            max((len(walk_steps(one.predicate)) for one in some if is_walk(one.predicate)), default=1)
            for some in followed
        ]
        if max(longest) == 1:
            return
        hops = arguments.max_hops if isinstance(arguments, BfsQuery) else arguments.k
        if isinstance(arguments, IntersectSubgraphs):
            if hops > 1:
                raise messages.walks_need_one_hop(arguments.tool)
            return
        steps = sum(longest) if len(longest) == hops else longest[0] * hops
        if steps > MAX_HOPS:
            raise messages.walks_too_long(arguments.tool, steps, MAX_HOPS)

    def _check_number(self, arguments: TraversalArguments, lists: int, seeds: int) -> None:
        wanted, each = (arguments.max_hops, "hop") if isinstance(arguments, BfsQuery) else (seeds, "seed")
        if lists != wanted:
            raise messages.wrong_number_of_lists(arguments.tool, lists, wanted, each)

    def _all_followed(
        self, lists: Sequence[Sequence[str]], known: SchemaView, warnings: dict[str, None], *, leaves_out: bool
    ) -> tuple[tuple[PredicateChoice, ...], ...]:
        """Return what the lists mean, and warn of what is left out; none may be left empty.

        Raises:
            InputError: Entries are wrong; the text says all that is wrong.
        """
        wrong: list[InputError] = []
        followed: list[tuple[PredicateChoice, ...]] = []
        for names in lists:
            found: dict[PredicateChoice, None] = {}
            for name in names:
                try:
                    found |= dict.fromkeys(self._followed(name, known, warnings))
                except UnknownTermError as error:
                    wrong.append(error)
            in_order = sorted(found, key=lambda one: (self._prefixes.declared_form(one.predicate), one.is_inverse))
            followed.append(tuple(in_order))
        has_all = all(found or not names for found, names in zip(followed, lists, strict=True))
        if wrong and not (leaves_out and has_all):
            raise messages.all_wrong(wrong)
        warnings.update(dict.fromkeys(map(messages.left_out, wrong)))
        return tuple(followed)

    def _followed(self, name: str, known: SchemaView, warnings: dict[str, None]) -> list[PredicateChoice]:
        """Return what one entry means."""
        steps = self._steps(name, known)
        meant = [self._predicates(step, known, warnings) for step in steps]
        if len(steps) == 1:
            return [PredicateChoice(one, steps[0].is_inverse) for one in meant[0]]
        if math.prod(map(len, meant)) > _MOST_WALKS:
            raise messages.too_many_walks(quoted(name))
        signs = [step.is_inverse for step in steps]
        walks = (zip(predicates, signs, strict=True) for predicates in product(*map(sorted, meant)))
        return [PredicateChoice(walk_iri(walk)) for walk in walks]

    def _steps(self, name: str, known: SchemaView) -> Sequence[StepText]:
        """Return the steps of an entry; one that as a whole is a predicate is that predicate, whatever it holds.

        An alias as a whole is taken where the steps are not all names.
        """
        bare = self._prefixes.without_name(name.removeprefix("^"))
        is_path = bare.startswith("(") and bare.endswith(")")
        is_whole = is_path or ("://" in bare.partition("/<")[0].partition("^")[0] and not bare.startswith("<"))
        steps = None if is_whole or known.predicates.found(bare) else split_steps(name)
        if steps is None or len(steps) == 1 or (known.predicates.aliased(bare) and not self._are_names(steps, known)):
            return [StepText(bare, name.startswith("^"))]
        if len(steps) > LONGEST_WALK:
            raise messages.walk_too_long(quoted(name), LONGEST_WALK)
        return [replace(step, name=self._prefixes.without_name(step.name)) for step in steps]

    def _are_names(self, steps: Sequence[StepText], known: SchemaView) -> bool:
        """Return whether each of the steps of a walk is an ID or the name of a predicate, and none an alias."""
        names = [self._prefixes.without_name(step.name) for step in steps]
        return len(names) <= LONGEST_WALK and all(known.predicates.found(name) or self._iris(name) for name in names)

    def _predicates(self, step: StepText, known: SchemaView, warnings: dict[str, None]) -> frozenset[Iri]:
        """Return the edge predicates that a step means."""
        ids = self._iris(step.name)
        if ids and not any(map(self._edges.allows, ids)):
            self._check_edge(ids[0])
        if not ids and not known.predicates.found(step.name):
            self._check_no_other_is_called(step.name, known)
        iris, warning = known.predicates.required(_ARGUMENT, step.name, hinted=len(warnings) < HINTED)
        if warning:
            warnings[warning] = None
        # Of the meanings of an ID, some may be no edges.
        return iris.difference(iri for iri in ids if not self._edges.allows(iri))

    def _iris(self, name: str) -> Sequence[Iri]:
        """Return the IRIs that a name may mean as an ID."""
        try:
            meant = self._prefixes.meanings(name)
        except InputError:
            return ()
        return meant if meant[0] != name or "://" in name else ()

    def _check_edge(self, predicate: Iri) -> None:
        if not self._edges.allows(predicate):
            raise no_edge_predicate(self._prefixes.in_prose(predicate), self._where_shown(predicate))

    def _check_no_other_is_called(self, name: str, known: SchemaView) -> None:
        """Refuse the local name of a predicate that is no edge, with where it is shown."""
        for predicate in self._edges.excluded:
            if compact(local_name(predicate)) == compact(name):
                self._check_edge(predicate)
        if (iri := called_so(name, known.schema.annotations, self._prefixes)) is not None:
            raise messages.of_evidence(_ARGUMENT, self._prefixes.in_prose(iri))

    def _where_shown(self, predicate: Iri) -> str:
        """Return where answers show a predicate that is no edge."""
        edges = self._edges
        if predicate in edges.types:
            return AS_TYPE
        if predicate in edges.redirects:
            return AS_MERGED
        if predicate in REIFICATION:
            return AS_EVIDENCE
        if predicate in edges.excluded:
            return AS_METADATA
        part = _OF_STATEMENTS.search(predicate) if self._is_wikibase else None
        if part is None:
            return AS_UNLISTED
        direct = f"{predicate[: part.start()]}/prop/direct/{part['property']}"
        is_value = part["part"] in {None, "statement"} and edges.allows(direct)
        return as_statement(self._prefixes.in_prose(direct)) if is_value else AS_EVIDENCE


def _predicates_of(choice: PredicateChoice) -> list[Iri]:
    """Return the predicates of a step, or of a walk."""
    predicate = choice.predicate
    return [one for one, _ in walk_steps(predicate)] if is_walk(predicate) else [predicate]


def _flat(given: Sequence[str | list[str]]) -> list[str]:
    return [name for name in given if isinstance(name, str)]


# --- sentences that a model reads ---

AS_TYPE = "as entity_type, and in the metadata of a node; find nodes of a type by search_entities with node_types"
AS_MERGED = "by itself: a traversal that begins at a merged node begins where it was merged into"
AS_METADATA = "in the metadata of a node: call describe_entity"
AS_EVIDENCE = "as the evidence of edges, in their metadata: call bfs_query or intersect_subgraphs without topology_only"
AS_UNLISTED = (
    "where it says something about an edge, in the metadata of that edge (bfs_query), and where its value is a "
    "literal, in that of its node (describe_entity); what links two nodes by it is not shown"
)


def no_edge_predicate(name: str, shown: str) -> UnknownTermError:
    """Return the error of a predicate that is no edge, and where it is shown instead."""
    return UnknownTermError(
        f"only_predicates: {name} is no edge in this graph, so it cannot be followed.", valid=f"It is shown {shown}."
    )


def as_statement(direct: str) -> str:
    """Return where the value of a statement of a Wikibase is shown, and the rest of the statement."""
    return (
        f"as {direct}: an edge where its value is a node, else in the metadata of its node (describe_entity); what a "
        "statement says besides is in the metadata of the edge (bfs_query)"
    )
