"""JSON from outside in which no object has a name twice: parsers take the last one, and what stood before is lost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


class RepeatedNameError(ValueError):
    """An object has one name twice (RFC 8259, 4: what a reader makes of that is unpredictable)."""


def loads(text: bytes) -> Any:
    """Return what a JSON text in UTF-8 says.

    Raises:
        RepeatedNameError: An object has one name twice.
        ValueError: It is no JSON, or not in UTF-8.
        RecursionError: It is nested beyond reason.
    """
    return _decoder.decode(text.decode("utf-8-sig"))


def _each_once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise RepeatedNameError("a name occurs twice in one object")
    return content


_decoder = json.JSONDecoder(object_pairs_hook=_each_once)
