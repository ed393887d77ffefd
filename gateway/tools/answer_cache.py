"""Whole answers in the compact shape, for as long as all that they were made from is stored and fresh.

The cache in front of the graph spares requests; presentation would still take several times as long as all the rest of
a call. An answer is stored only if it is complete and nothing was asked of the graph for it: then the same call would
be answered by the same. It is stored as text, so that no caller changes the answer of another.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from cachetools import LRUCache

from gateway.answers.models import CompactAnswer
from gateway.answers.shape import Json
from gateway.arguments import Arguments
from gateway.escaping import json_text
from gateway.graph.call import Freshness
from gateway.schema.view import SchemaView

_BYTES = 8 << 20
"""Memory for answers: some hundred pages of the default size."""

_ENTRY = 2_000
"""Bytes of an entry beside its text."""

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Stored:
    """An answer, what it was made from, and the schema by which it was written."""

    text: str
    freshness: Freshness
    schema: SchemaView | None

    @property
    def size(self) -> int:
        """Bytes, for one to four a character."""
        return self.text.__sizeof__() + _ENTRY


class AnswerCache:
    """Answers by tool and arguments; those with what they cost are not stored."""

    def __init__(self, bytes_: int = _BYTES) -> None:
        self._answers: LRUCache[_Key, _Stored] = LRUCache(bytes_, getsizeof=lambda stored: stored.size)

    def get(self, question: Arguments, schema: SchemaView | None) -> CompactAnswer | None:
        """Return the answer to a question; None if none is stored, or it would be made from something else now."""
        key = _key(question)
        stored = self._answers.get(key)
        if stored is None:
            return None
        if stored.schema is not schema or not stored.freshness.holds():
            del self._answers[key]
            return None
        return CompactAnswer(json.loads(stored.text))

    def put(self, question: Arguments, written: Json, freshness: Freshness, schema: SchemaView | None) -> None:
        """Store a complete answer as it is written, if nothing was asked of the graph for it."""
        if not freshness.holds() or question.explain:
            return
        stored = _Stored(json_text(written), freshness, schema)
        if stored.size <= self._answers.maxsize:
            self._answers[_key(question)] = stored

    def clear(self) -> None:
        """Drop all answers."""
        self._answers.clear()


def _key(question: Arguments) -> _Key:
    return question.tool, question.model_dump_json()
