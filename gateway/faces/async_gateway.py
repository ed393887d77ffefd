"""What `open_gateway` returns: a gateway to be awaited, from which `with` makes one that is not."""

from __future__ import annotations

from contextlib import ExitStack
from inspect import iscoroutinefunction
from typing import Self

from gateway.faces.pending_call import said_if_not_awaited
from gateway.faces.sync_gateway import SyncGateway
from gateway.tools.gateway import Gateway


class AsyncGateway(Gateway):
    """A gateway whose calls are awaited. Opened by `with`, or by `synchronous`, it has calls that return answers.

    It has either face, not both: what it keeps belongs to one event loop.
    """

    _entered: ExitStack | None = None

    def synchronous(self) -> SyncGateway:
        """Return its synchronous face, for a notebook whose cells share it; close that in the end."""
        return SyncGateway(self)

    def __enter__(self) -> SyncGateway:
        with ExitStack() as stack:
            face = stack.enter_context(self.synchronous())
            self._entered = stack.pop_all()
        return face

    def __exit__(self, *_: object) -> None:
        if self._entered is not None:
            self._entered.close()

    async def __aenter__(self) -> Self:
        return self


for _name, _call in vars(Gateway).items():
    if iscoroutinefunction(_call) and not _name.startswith("_"):
        setattr(AsyncGateway, _name, said_if_not_awaited(_call))
