"""One fault that can be injected, and how faults are written down."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.reply import Answer, Reply

Spoil = Callable[[Answer], Reply | None]


@dataclass(frozen=True)
class InjectedFault:
    """A way in which an endpoint fails.

    Attributes:
        name: Its name, unique.
        imitates: Which engine or proxy does this, and its source: a section of a page in `docs/notes`,
            or an RFC.
        spoil: Makes of the server's answer what the client sees; None where it cannot be done to this answer (a
            row cap that cuts nothing is none).
        asks: Whether the server is asked at all; otherwise `spoil` is given an empty answer.
        detectable: Whether a client can know it from the answer to any query.
        by_sentinel: Whether it can know it otherwise where the query asks for a last row that proves the end.
        in_rows: Whether only a reader who knows what the rows must hold can tell.
        stalls: Whether only the clock tells.
    """

    name: str
    imitates: str
    spoil: Spoil
    asks: bool = True
    detectable: bool = True
    by_sentinel: bool = False
    in_rows: bool = False
    stalls: bool = False

    def __repr__(self) -> str:
        """Return the name, for the IDs of tests and for reports."""
        return self.name
