"""Types and predicates whose names have a meaning near to a name that is none: for the error that says so.

They are listed and never taken: of 94 paraphrases of predicates of Wikidata, a static model has the right one among the
first five for 67, but first for 38 only ("published by" is nearest to `published in`).
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, get_args

from gateway.arguments import Arguments
from gateway.errors import Fault, quoted
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.values import Iri
from gateway.graph.walks import Operator
from gateway.meaning.embedder import Embedded, Embedder
from gateway.members.conditions import RESERVED
from gateway.schema.types import WORDS
from gateway.schema.view import SchemaView, TermLookup
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Clock
from gateway.terms.iri import local_name
from gateway.terms.names import cut
from gateway.terms.prefixes import PrefixMap, in_prose
from gateway.tools.shapes import ShapeReader

# A plain install has no numpy.
if TYPE_CHECKING:
    from gateway.meaning.embedder import Matrix

_log = logging.getLogger(__name__)

_OF_TYPES = ("node_types", "only_node_types", "exclude_node_types")
_OF_EDGES = ("only_predicates",)
_OF_MEMBERS = ("where", "values", "sort_by", "group_by")
"""The arguments that have names of types, of predicates of edges, and of these and predicates of literals."""

_NO_NAMES = frozenset({*get_args(Operator), *RESERVED})
"""Words of a condition that end the name of a predicate, or are none."""

_MOST_TERMS = 20_000
"""Types or predicates whose names are compared."""

_MOST_NAMES = 3
"""Names that are looked for in one call."""

_SHOWN = 5

_LONGEST = 200
"""Characters of a name that is looked for."""

_SHARE = 0.3
"""The share of the time that is left in which names of terms become vectors."""

_AGAIN_SECONDS = 60.0
"""Time after a failure of the embedder in which it is not asked for these vectors."""

_END_OF_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-]+")
"""Where a word of a local name ends: `writtenBy`, `written_by`."""

_Kind = Literal["type", "predicate"]


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A name that is none: what it should be a name of, and the terms that it could mean."""

    name: str
    kind: _Kind
    place: str
    terms: Sequence[TermLookup]


@dataclass(frozen=True, slots=True)
class _Known:
    """The vectors of some names, and the model that made them."""

    texts: Sequence[str]
    vectors: Matrix
    model: str

    def nearest(self, asked: Matrix, least: float) -> list[str]:
        """Return the names whose cosine with the only row of a matrix is not below the least, the nearest first."""
        scored = zip((self.vectors @ asked[0]).tolist(), self.texts, strict=True)
        return [text for _, text in sorted((-score, text) for score, text in scored if score >= least)]


@dataclass(slots=True)
class _Begun:
    """The vectors of some names as far as they are made: those of each portion, by the place of its first name."""

    texts: Sequence[str]
    model: str
    portions: dict[int, Matrix] = field(default_factory=dict)


class TermVectors:
    """The vectors of the names of terms, each made once: what is made stays, whatever becomes of the rest.

    Args:
        embedder: What makes them.
        clock: The time in seconds.
    """

    def __init__(self, embedder: Embedder, clock: Clock = time.monotonic) -> None:
        self._embedder = embedder
        self._clock = clock
        self._again_at = -math.inf
        self._whole: dict[str, _Known] = {}
        self._begun: dict[str, _Begun] = {}

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embedded:
        """Return the vectors of texts; see `Embedder.embed`.

        Raises:
            Fault: They could not be made, or the embedder failed a moment ago.
        """
        if self._clock() < self._again_at:
            raise Fault("The embedder failed a moment ago.")
        try:
            return await self._embedder.embed(texts, deadline)
        except Fault:
            self._again_at = self._clock() + _AGAIN_SECONDS
            raise

    async def of(self, place: str, texts: Sequence[str], asked: Embedded, deadline: Deadline) -> _Known:
        """Return the vectors of the names of terms, made anew where the terms or the model are others.

        Args:
            place: Where these terms are named.
            texts: The names.
            asked: The vectors with which they will be compared.
            deadline: When they must be there.

        Raises:
            Fault: They could not all be made. What was made stays for the next time.
        """
        if not texts:
            return _Known(texts, asked.vectors[:0], asked.model)
        known = self._whole.get(place)
        if known is not None and known.texts == texts and known.model == asked.model:
            return known
        import numpy as np  # noqa: PLC0415 - an extra

        begun = self._begun.get(place)
        if begun is None or begun.texts != texts or begun.model != asked.model:
            begun = self._begun[place] = _Begun(texts, asked.model)
        at_once = self._embedder.at_once
        for first in range(0, len(texts), at_once):
            # Another call may make the same ones at the same time.
            if first not in begun.portions:
                portion = await self.embed(texts[first : first + at_once], deadline)
                if portion.model != asked.model or portion.vectors.shape[1] != asked.vectors.shape[1]:
                    self._begun.pop(place, None)
                    self._again_at = self._clock() + _AGAIN_SECONDS
                    raise Fault("The embedder uses another model now than a moment ago.")
                begun.portions[first] = portion.vectors
        vectors = [begun.portions[first] for first in range(0, len(texts), at_once)]
        known = self._whole[place] = _Known(texts, np.concatenate(vectors), asked.model)
        self._begun.pop(place, None)
        return known


class TermsByMeaning:
    """Finds the types and predicates of one graph that are near in meaning to names that are none.

    Args:
        embedder: What makes the vectors.
        profile: The settings.
        prefixes: The prefixes of IDs.
        shapes: Knows the predicates of literals.
        clock: The time in seconds.
    """

    def __init__(
        self, embedder: Embedder, profile: Profile, prefixes: PrefixMap, shapes: ShapeReader, clock: Clock
    ) -> None:
        self._seconds = embedder.seconds
        self._least = profile.meaning.least
        self._prefixes = prefixes
        self._shapes = shapes
        self._vectors = TermVectors(embedder, clock)

    async def near(self, arguments: Arguments, view: SchemaView, call: Call) -> str:
        """Return which types and predicates are near to names in arguments that are none, as sentences; empty if none.

        A fault is in the log, and costs nothing but these sentences.
        """
        deadline = call.deadline.within(min(self._seconds, call.deadline.seconds_left * _SHARE))
        try:
            values = await self._shapes.value_terms(view, call, only_known=True)
            unknown = list(_unknown(arguments, view, values.by_name))[:_MOST_NAMES]
            return " ".join([await self._sentence(one, view, deadline, call) for one in unknown]).strip()
        except Fault as fault:
            _log.info("names of types and predicates are not compared by their meaning: %s", fault)
            return ""

    async def near_to(self, question: str, view: SchemaView, call: Call) -> str:
        """Return which types and predicates are near in meaning to a question, as sentences; empty if none.

        A fault is in the log, and costs nothing but these sentences.
        """
        deadline = call.deadline.within(min(self._seconds, call.deadline.seconds_left * _SHARE))
        try:
            values = await self._shapes.value_terms(view, call, only_known=True)
            name = question.strip()[:_LONGEST]
            asked = (
                _Unknown(name, "type", "types", [view.types]),
                _Unknown(name, "predicate", "both", [view.predicates, values.by_name]),
            )
            return " ".join(filter(None, [await self._sentence(one, view, deadline, call) for one in asked]))
        except Fault as fault:
            _log.info("names of types and predicates are not compared by their meaning: %s", fault)
            return ""

    async def _sentence(self, one: _Unknown, view: SchemaView, deadline: Deadline, call: Call) -> str:
        """Return which terms are near to a name."""
        count = sum(map(len, one.terms))
        if count > _MOST_TERMS:
            return ""
        are_few = count <= FEW_FOR_A_THREAD
        terms = await in_thread(call, lambda _: _words_of(one.terms), unless=are_few)
        asked = await self._vectors.embed([one.name], deadline)
        known = await self._vectors.of(one.place, list(terms), asked, deadline)
        if known.model != asked.model or known.vectors.shape[1] != asked.vectors.shape[1]:
            return ""
        near = await in_thread(call, lambda _: known.nearest(asked.vectors, self._least), unless=are_few)
        iris = list(dict.fromkeys(terms[text] for text in near))[:_SHOWN]
        listed = ", ".join(self._written(iri, view) for iri in iris)
        return near_in_meaning(one.kind, quoted(cut(one.name, _LONGEST)), listed) if listed else ""

    def _written(self, iri: Iri, view: SchemaView) -> str:
        label = view.labels.get(iri, "")
        written = in_prose(self._prefixes.shorten(iri))
        return f"{written} ({quoted(label)})" if label and label != local_name(iri) else written


def _unknown(arguments: Arguments, view: SchemaView, values: TermLookup) -> Iterator[_Unknown]:
    """Yield the names in arguments that are neither terms nor IDs."""
    edges, both = [view.predicates], [view.predicates, values]
    places: Sequence[tuple[str, Sequence[str], _Kind, Sequence[TermLookup]]] = (
        ("types", _OF_TYPES, "type", [view.types]),
        ("edges", _OF_EDGES, "predicate", edges),
        ("both", _OF_MEMBERS, "predicate", both),
    )
    for place, fields, kind, terms in places:
        for text in (text for argument in fields for text in _flat(getattr(arguments, argument, None) or ())):
            name = _name_in(text) if fields is _OF_MEMBERS else text.removeprefix("^").strip()
            is_name = 0 < len(name) <= _LONGEST and not any(sign in name for sign in ":/<>^@")
            if is_name and not any(lookup.found_or_aliased(name) for lookup in terms):
                yield _Unknown(name, kind, place, terms)


def _flat(given: str | Sequence[str | Sequence[str]]) -> Iterator[str]:
    if isinstance(given, str):
        yield given
        return
    for one in given:
        yield from _flat(one)


def _name_in(text: str) -> str:
    """Return the name of a predicate with which a condition, a column or an order begins."""
    words = text.strip().removeprefix("-").removeprefix("^").split()
    return " ".join(takewhile(lambda word: word not in _NO_NAMES, words))


def _words_of(terms: Sequence[TermLookup]) -> Mapping[str, Iri]:
    """Return the names of terms in words, with the term of each."""
    named = ((text, iri) for lookup in terms for text, iri in lookup.words().items() if iri not in WORDS)
    return {_END_OF_WORD.sub(" ", text): iri for text, iri in named}


# --- sentences that a model reads ---


def near_in_meaning(kind: str, name: str, listed: str) -> str:
    """Return which terms are near to a name that is none."""
    return f"By their meaning, {kind}s near to {name}: {listed}."
