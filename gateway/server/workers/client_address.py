"""The address of a client whose request came by way of another worker: the socket between workers does not tell it."""

from __future__ import annotations

from gateway.server.http_guard import App, Message, Receive, Send
from gateway.server.workers.worker import Worker

_HEADER = b"bfsql-client"
"""In which one worker tells another the address. From outside it is taken off."""

Header = tuple[bytes, bytes]


class ClientAddress:
    """ASGI middleware that believes other workers who their client is.

    Args:
        app: What answers.
        worker: Which worker this is.
    """

    def __init__(self, app: App, worker: Worker) -> None:
        self._app = app
        self._private = str(worker.path_of(worker.index))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] == "http":
            said = [value for name, value in scope["headers"] if name == _HEADER]
            others = [(name, value) for name, value in scope["headers"] if name != _HEADER]
            scope = {**scope, "headers": others}
            # A missing `client` proves nothing: that of a connection that was reset at once is missing too.
            if said and scope["server"] == (self._private, None):
                scope["client"] = (said[0].decode("latin-1"), 0)
        await self._app(scope, receive, send)


def client_headers(scope: Message) -> list[Header]:
    """Return what another worker must hear about the client of a request."""
    client = scope["client"]
    return [(_HEADER, str(client[0]).encode("latin-1"))] if client else []
