"""The port: what turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from gateway.graph.call import Deadline

# A plain install has no numpy.
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.float32]

MOST_DIMENSIONS = 8_192
"""Numbers of a vector; the largest models known have half as many."""

LONGEST_TEXT = 500
"""Characters of a text that are read; of a longer one, the beginning."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of some texts.

    Attributes:
        vectors: A row for each text, of length one, or of zeros where the model knows nothing of the text.
        model: What made them; vectors of two models are not compared.
    """

    vectors: Matrix
    model: str


class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        name: What it is, for people.
        at_once: Texts that are best given at once.
        seconds: Time that a search waits for it.
    """

    name: str
    at_once: int
    seconds: float

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embedded:
        """Return the vectors of texts.

        Raises:
            Fault: They could not be made. The text says why.
        """
        ...

    async def close(self) -> None:
        """Close connections and stop threads."""
        ...


def as_sent(text: str) -> str:
    """Return the beginning of a text as every model takes it: half of a surrogate pair is no character."""
    return text[:LONGEST_TEXT].encode(errors="replace").decode()


def unit_rows(vectors: Matrix) -> Matrix:
    """Return vectors with their rows at length one; zeros stay."""
    import numpy as np  # noqa: PLC0415 - an extra

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Matrix = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit
