"""Finds the predicates that name the nodes of a graph.

Rules: docs/profiles.md, "Names that a graph gives by predicates of its own".

What a predicate is called decides, and its values confirm it. Only where hardly any node has a name by that do the
values decide alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes import NamePredicates, NodeReader, name_parameters
from gateway.sparql.table import binding, iri, literal, read
from gateway.sparql.template import Parameter
from gateway.terms.iri import is_sendable, local_name
from gateway.terms.literals import Literal
from gateway.terms.name_predicates import (
    DESCRIPTION_WALKS,
    NAME_WALKS,
    SYNONYM_WALKS,
    Text,
    has_numbered_name,
    is_code,
    last_predicates,
    likely_name_predicate,
    named_predicates,
    parts_among,
    possible,
    role_of,
)

_NEIGHBOURING_TRIPLES = 2_000
"""Neighbouring triples whose subjects are taken."""

_NODES = 100
"""Subjects of one place whose literals are read."""

_FEW_NODES = 20
"""Nodes at most whose literals are read at a slow endpoint."""

_SECOND_PLACE = 30_000
"""Triples before the second place in a graph of unknown size."""

_FARTHEST = 500_000
"""Triples before a place at most: engines walk there."""

_LANGUAGES = 20
"""Languages that are remembered."""

_CANDIDATES = 40
_VALUES = 50
"""Predicates outside of the sample that are called as those of names are, and values of each, that are read."""


@dataclass(frozen=True, slots=True)
class FoundNames:
    """The predicates of names that a graph has.

    Attributes:
        names: Those of display names, the best first.
        synonyms: Those of further names that no profile lists.
        codes: Those of notations, codes and identifiers.
        languages: The languages of the texts in a sample, the commonest first.
        descriptions: The walks to descriptions.
        parts: The predicates of given and family names.
    """

    names: tuple[Iri, ...] = ()
    synonyms: tuple[Iri, ...] = ()
    codes: tuple[Iri, ...] = ()
    languages: tuple[str, ...] = ()
    descriptions: tuple[Iri, ...] = ()
    parts: tuple[Iri, ...] = ()


class NamePredicateFinder:
    """Finds the name predicates of a graph."""

    def __init__(
        self, client: SparqlClient, nodes: NodeReader, name_predicates: NamePredicates, profile: Profile
    ) -> None:
        self._client = client
        self._nodes = nodes
        self._name_predicates = name_predicates
        self._roles = profile.roles
        self._usual = frozenset((*self._roles.name, *self._roles.synonym, *self._roles.description))
        self._is_pinned = "name" in profile.roles.model_fields_set

    async def find(
        self, call: Call, triples: int | None = None, known: Iterable[Iri] = (), *, is_slow: bool = False
    ) -> FoundNames | None:
        """Return the predicates of names of the graph; None if they could not be found.

        Args:
            call: The call that asks.
            triples: The triples of the graph, if that is known.
            known: Predicates of the graph, as far as they are known.
            is_slow: Whether few nodes of one place have to be enough.

        A name predicate in the profile overrides all others. An engine may store its triples by predicate, so
        neighbouring triples only choose the nodes, none of them behind the last of `triples`; a predicate is judged by
        all literals of these nodes. A usual name of a node comes before another one, so no sample decides between the
        two.
        """
        usual = self._roles.name
        if self._is_pinned:
            used = await self._used(usual, call)
            codes = codes_among(known)
            self._name_predicates.use(usual, codes=codes)
            return None if used is None else FoundNames(used, codes=codes)
        predicates = frozenset(known)
        walks = possible(NAME_WALKS, predicates)
        further = possible(SYNONYM_WALKS, predicates)
        described = possible(DESCRIPTION_WALKS, predicates)
        used, texts = await asyncio.gather(
            self._used((*usual, *walks, *further, *described), call), self._texts(triples, call, is_slow=is_slow)
        )
        if used is None or texts is None:
            return None
        excepted = (*self._roles.synonym, *self._roles.description)
        try:
            values = await self._values(texts, known, call)
            labels = await self._labels(values.keys() - self._usual, call)
        except Fault:
            return None
        # What names the nodes between is no name of theirs: they are no hits.
        called, alternative = named_predicates(values, labels, self._usual | last_predicates(used))
        names = (*called, *(one for one in walks if one in used))
        synonyms = (*alternative, *(one for one in further if one in used))
        parts = parts_among({*values, *predicates})
        if not names:
            names = likely_name_predicate(texts, usual, (*excepted, *parts))
            synonyms = tuple(one for one in synonyms if one not in names)
        codes = codes_among({*values, *known} - self._usual)
        languages = languages_among(texts)
        descriptions = tuple(one for one in described if one in used)
        self._name_predicates.use((*usual, *names), synonyms, codes, languages, descriptions, parts)
        shown = (*(one for one in usual if one in used), *names)
        return FoundNames(shown, synonyms, codes, languages, descriptions, parts)

    async def _values(self, texts: Sequence[Text], known: Iterable[Iri], call: Call) -> Mapping[Iri, Sequence[Literal]]:
        """Return values by predicate: those of the sample, and of known predicates that may carry names."""
        values: dict[Iri, list[Literal]] = defaultdict(list)
        for _, predicate, value in texts:
            values[predicate].append(value)
        candidates = sorted(one for one in known if one not in values and role_of(local_name(one)) and is_sendable(one))
        if candidates := [one for one in candidates if one not in self._usual][:_CANDIDATES]:
            given: dict[str, Parameter] = {"predicates": candidates, "most": _VALUES}
            rows, _ = (await self._client.rows("search/sample", call, given)).part()
            for predicate, value in read(binding(rows, "n", "p", "v"), iri("p"), literal("v")):
                values[predicate].append(value)
        return values

    async def _labels(self, predicates: Iterable[Iri], call: Call) -> Mapping[Iri, str]:
        """Return the own labels of predicates whose local names say nothing."""
        numbered = sorted(filter(has_numbered_name, predicates))
        if not numbered:
            return {}
        facts = await self._nodes.predicates(numbered, call)
        return {predicate: one.name for predicate, one in facts.items() if one.name}

    async def _used(self, predicates: tuple[Iri, ...], call: Call) -> tuple[Iri, ...] | None:
        try:
            answer = await self._client.rows("schema/used_names", call, name_parameters(predicates))
            used = set(iri("p")(answer.whole()))
        except Fault:
            return None
        return tuple(iri for iri in predicates if iri in used)

    async def _texts(self, triples: int | None, call: Call, *, is_slow: bool) -> list[Text] | None:
        """Return all literals of some nodes; None if they could not be read."""
        places = [0] if is_slow else _places(triples)
        try:
            subjects = await asyncio.gather(*(self._subjects_after(place, call) for place in places))
            nodes = list(dict.fromkeys(chain.from_iterable(subjects)))[: _FEW_NODES if is_slow else None]
            described = await self._nodes.metadata(nodes, call, blank_nodes=False, precise=False) if nodes else {}
        except Fault:
            return None
        whole = {node: one.properties for node, one in described.items() if one.mark.whole}
        if nodes and not whole:
            return None
        return [
            (node, predicate, value)
            for node, properties in whole.items()
            for predicate, values in properties.items()
            for value in values
            if isinstance(value, Literal) and is_sendable(predicate)
        ]

    async def _subjects_after(self, place: int, call: Call) -> Sequence[Iri]:
        """Return some subjects of the triples after a place, as far apart as possible."""
        # Any subjects will do.
        rows, _ = (
            await self._client.rows("schema/subjects", call, {"skip": place, "scan": _NEIGHBOURING_TRIPLES})
        ).part()
        askable = [subject for subject in iri("s")(rows) if is_sendable(subject)]
        return askable[:: max(1, -(-len(askable) // _NODES))]


def _places(triples: int | None) -> list[int]:
    """Return the number of triples before each place: the quarters of a graph whose size is known."""
    if triples is None:
        return [0, _SECOND_PLACE]
    if triples <= _NEIGHBOURING_TRIPLES:
        return [0]
    return sorted({min(triples * quarter // 4, _FARTHEST) for quarter in range(4)})


def languages_among(texts: Iterable[Text]) -> tuple[str, ...]:
    """Return the languages of some texts, those that most texts have first."""
    counts = Counter(text.language for _, _, text in texts if text.language)
    first = sorted(counts, key=lambda tag: (-counts[tag], tag))
    return tuple(first[:_LANGUAGES])


def codes_among(predicates: Iterable[Iri]) -> tuple[Iri, ...]:
    """Return the predicates whose values are codes by what they are called."""
    return tuple(sorted(one for one in predicates if is_sendable(one) and is_code(local_name(one)))[:_CANDIDATES])
