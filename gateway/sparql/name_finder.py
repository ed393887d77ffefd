"""Finds the predicates that name the nodes of a graph.

Rules: docs/profiles.md, "Names that a graph gives by predicates of its own".

What a predicate is called decides, and its values confirm it. Only where hardly any node has a name by that do the
values decide alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median_low

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
    has_numbered_name,
    is_code,
    is_never_a_name,
    is_short,
    may_be_name,
    name_rank,
    parts_among,
    role_of,
)
from gateway.terms.name_walks import DESCRIPTION_WALKS, NAME_WALKS, SYNONYM_WALKS, last_predicates, possible

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

_NAMED = 0.2
"""Share of the nodes that must have a name; below it, values alone decide."""

_DISTINCT = 0.5
"""Share of the values that must differ for values alone to decide; a status is the same for many nodes."""

_FEW = 5
"""Nodes from which on a predicate with one and the same value for all of them names none."""

_LIKELY = 0.5
"""Share of the values that must read as names."""

_HINT = 2.0
"""How much more a predicate counts that is called as those of names are, where values alone decide."""

Text = tuple[Iri, Iri, Literal]
"""A node, a predicate and a literal."""


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
        found = named_predicates(values, labels, self._usual | last_predicates(used))
        names = (*found.names, *(one for one in walks if one in used))
        synonyms = (*found.synonyms, *(one for one in further if one in used))
        parts = parts_among({*values, *predicates})
        if not names:
            names = likely_name_predicate(texts, usual, (*excepted, *synonyms, *parts))
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


def named_predicates(
    values: Mapping[Iri, Sequence[Literal]], labels: Mapping[Iri, str], excepted: Collection[Iri]
) -> FoundNames:
    """Return the predicates that are called as those of names are, and have such values.

    Args:
        values: Some values by predicate.
        labels: The own labels of predicates whose local names say nothing.
        excepted: Predicates that mean something else, or are names by themselves.
    """
    names: list[tuple[tuple[bool, int], Iri]] = []
    synonyms: list[Iri] = []
    for predicate, literals in values.items():
        called = labels.get(predicate) or local_name(predicate)
        role = role_of(called)
        if role is None or predicate in excepted or not _are_names(literals):
            continue
        if role == "name":
            names.append((name_rank(called), predicate))
        else:
            synonyms.append(predicate)
    return FoundNames(tuple(predicate for _, predicate in sorted(names)), tuple(sorted(synonyms)))


def _are_names(literals: Sequence[Literal]) -> bool:
    """Return whether values read as names: short texts, not the same one for every node."""
    texts = [literal.value for literal in literals]
    likely = sum(map(may_be_name, literals))
    differ = len(texts) < _FEW or len(set(texts)) > 1
    return likely >= _LIKELY * len(texts) and differ and is_short(median_low(map(len, texts)))


def likely_name_predicate(texts: Sequence[Text], usual: Iterable[Iri], excepted: Iterable[Iri]) -> tuple[Iri, ...]:
    """Return the predicate that names the nodes of a graph whose usual ones name hardly any; else nothing.

    Args:
        texts: Literals of some nodes, all that each of them has.
        usual: Predicates that carry names in most graphs.
        excepted: Predicates that mean something else: descriptions, synonyms.
    """
    nodes = {node for node, _, _ in texts}
    usual = set(usual)
    named = {node for node, predicate, _ in texts if predicate in usual}
    if not nodes or len(named) >= _NAMED * len(nodes):
        return ()
    left_out = usual | set(excepted)
    values: dict[Iri, dict[Iri, Literal]] = defaultdict(dict)
    # Of several values the same one counts in whatever order the engine sends them.
    for node, predicate, name in sorted(texts, key=lambda text: (text[0], text[1], text[2].value, text[2].language)):
        if predicate not in left_out and not is_never_a_name(local_name(predicate)):
            values[predicate].setdefault(node, name)
    scores = {predicate: _score(predicate, by_node, len(nodes)) for predicate, by_node in values.items()}
    best = sorted((-score, predicate) for predicate, score in scores.items() if score)
    return (best[0][1],) if best else ()


def _score(predicate: Iri, by_node: Mapping[Iri, Literal], nodes: int) -> float:
    """Return how well the values of a predicate name nodes; 0 if they do not."""
    named = len(by_node) / nodes
    likely = [literal for literal in by_node.values() if may_be_name(literal)]
    distinct = len({literal.value for literal in likely})
    is_called_so = role_of(local_name(predicate)) is not None
    is_long = not is_short(median_low(len(literal.value) for literal in by_node.values()))
    few = 1 if is_called_so else 3
    if named < _NAMED or distinct < _DISTINCT * len(by_node) or len(by_node) < few or is_long:
        return 0.0
    return named * distinct / len(by_node) * (_HINT if is_called_so else 1.0)
