"""Keys of expressions: the same for copies of one expression, which statements about axioms have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from gateway.files.ntriples import is_blank


class ExpressionKeys:
    """Makes keys of expressions.

    Args:
        said: Returns what a blank node says as a part of an expression.
    """

    def __init__(self, said: Callable[[str], Mapping[str, Sequence[str]]]) -> None:
        self._said = said
        self._keys: dict[str, str] = {}

    def key(self, term: str) -> str:
        """Return a text that is the same for expressions of the same structure."""
        to_do = [term]
        while to_do:
            one = to_do[-1]
            values = [] if one in self._keys else [value for all_of in self._said(one).values() for value in all_of]
            # What is in itself keeps its own name there.
            self._keys.setdefault(one, one)
            if new := [value for value in values if is_blank(value) and value not in self._keys]:
                to_do += new
                continue
            to_do.pop()
            if self._keys[one] == one and (said := self._said(one)):
                lines = sorted(
                    f"{by} {self._keys.get(value, value)}" for by, all_of in said.items() for value in all_of
                )
                self._keys[one] = sha256("\n".join(lines).encode()).hexdigest()
        return self._keys[term]
