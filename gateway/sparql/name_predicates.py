"""Finds the predicates that name the nodes of a graph, and makes the store use them."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes import NamePredicates, NodeReader
from gateway.sparql.table import iri
from gateway.terms.iri import is_sendable, local_name
from gateway.terms.literals import Literal
from gateway.terms.names import compact

_TRIPLES = 2_000
"""Neighbouring triples whose subjects are taken."""

_NODES = 100
"""Subjects of one place whose literals are read."""

_FEW_NODES = 20
"""Nodes at most whose literals are read at a slow endpoint."""

_SECOND_PLACE = 30_000
"""Triples before the second place in a graph of unknown size."""

_FARTHEST = 500_000
"""Triples before a place at most: engines walk there."""

_NAME_WORDS = re.compile(r"(name|title|label|term|caption|heading)$|^(name|title|label)")
"""Folded local names of predicates for names. For other languages, only the values count."""

_SHORTEST, _LONGEST = 2, 120
_NOT_A_NAME = re.compile(r"\w+://\S+|\S+@\S+|[\d\W_]+|[0-9a-fA-F-]{16,}")
"""An address, a number, a date or a hash."""

_NAMED = 0.2
"""Share of the nodes that must have a name for a predicate to be the one that names them."""

_DISTINCT = 0.5
"""Share of the values that must differ; a status or a category is the same for many nodes."""

_HINT = 2.0
"""How much more a predicate counts whose local name has such a word."""

Text = tuple[Iri, Iri, Literal]
"""A node, a predicate and a literal."""


class NamePredicateFinder:
    """Finds the name predicates of a graph."""

    def __init__(
        self, client: SparqlClient, nodes: NodeReader, name_predicates: NamePredicates, profile: Profile
    ) -> None:
        self._client = client
        self._nodes = nodes
        self._name_predicates = name_predicates
        self._roles = profile.roles
        self._is_pinned = "name" in profile.roles.model_fields_set

    async def find(self, call: Call, triples: int | None = None, *, is_slow: bool = False) -> tuple[Iri, ...] | None:
        """Return the name predicates of the graph, the best first; None if they could not be found.

        Args:
            call: The call that asks.
            triples: The triples of the graph, if that is known.
            is_slow: Whether few nodes of one place have to be enough.

        If the usual ones name hardly any node, another one may; a name predicate in the profile overrides both. An
        engine may store its triples by predicate, so neighbouring triples only choose the nodes, none of them behind
        the last of `triples`; a predicate is judged by all literals of these nodes. A usual name of a node comes before
        another one, so no sample decides between the two.
        """
        usual = self._roles.name
        if self._is_pinned:
            return await self._used(usual, call)
        used, texts = await asyncio.gather(self._used(usual, call), self._texts(triples, call, is_slow=is_slow))
        if used is None or texts is None:
            return None
        other = likely_name_predicate(texts, usual, (*self._roles.synonym, *self._roles.description))
        self._name_predicates.use((*usual, *other))
        return (*used, *other)

    async def _used(self, predicates: tuple[Iri, ...], call: Call) -> tuple[Iri, ...] | None:
        try:
            answer = await self._client.rows("schema/used_names", call, {"predicates": predicates})
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
        rows, _ = (await self._client.rows("schema/subjects", call, {"skip": place, "scan": _TRIPLES})).part()
        askable = [subject for subject in iri("s")(rows) if is_sendable(subject)]
        return askable[:: max(1, -(-len(askable) // _NODES))]


def _places(triples: int | None) -> list[int]:
    """Return the number of triples before each place: the quarters of a graph whose size is known."""
    if triples is None:
        return [0, _SECOND_PLACE]
    if triples <= _TRIPLES:
        return [0]
    return sorted({min(triples * quarter // 4, _FARTHEST) for quarter in range(4)})


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
    for node, predicate, literal in sorted(texts, key=lambda text: (text[0], text[1], text[2].value, text[2].language)):
        if predicate not in left_out:
            values[predicate].setdefault(node, literal)
    scores = {predicate: _score(predicate, by_node, len(nodes)) for predicate, by_node in values.items()}
    best = sorted((-score, predicate) for predicate, score in scores.items() if score)
    return (best[0][1],) if best else ()


def _score(predicate: Iri, by_node: Mapping[Iri, Literal], nodes: int) -> float:
    """Return how well a predicate names nodes; 0 if it does not."""
    named = len(by_node) / nodes
    likely = [literal for literal in by_node.values() if _may_be_name(literal)]
    distinct = len({literal.value for literal in likely})
    has_name_word = bool(_NAME_WORDS.search(compact(local_name(predicate))))
    if named < _NAMED or distinct < _DISTINCT * len(by_node) or len(by_node) < (1 if has_name_word else 3):
        return 0.0
    return named * distinct / len(by_node) * (_HINT if has_name_word else 1.0)


def _may_be_name(literal: Literal) -> bool:
    text = literal.value.strip()
    return (
        not literal.datatype
        and _SHORTEST <= len(text) <= _LONGEST
        and _NOT_A_NAME.fullmatch(text) is None
        and any(map(str.isalpha, text))
    )
