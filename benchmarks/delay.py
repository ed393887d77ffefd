"""A proxy on loopback that makes every request take longer by a fixed time, as a distant endpoint would.

`python -m benchmarks.delay TARGET_PORT SECONDS` prints its own port and runs until its standard input ends.

What a client sends is passed on so many seconds after it came; what the server sends is passed on at once. It
copies bytes and knows no HTTP, so connections stay alive and nothing is rewritten. It is a process of its own, so
that its work is in nobody's CPU time.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from tests.servers.cache import CHECKOUT
from tests.servers.loopback import HOST

_CHUNK: Final = 1 << 18
_ARGUMENTS: Final = 3

Parcel = tuple[float, bytes]
"""When bytes are due, and the bytes; none of them: the client has ended."""


class DelayingProxy:
    """Listens on a free loopback port and passes on to another.

    Blocking sockets in threads: a chunk costs two system calls and no event loop.
    """

    def __init__(
        self,
        target_port: int,
        seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._target_port = target_port
        self._seconds = seconds
        self._clock = clock
        self._sleep = sleep
        self._listener = socket.create_server((HOST, 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]

    def start(self) -> None:
        """Take connections in the background until the proxy is closed."""
        _in_background(self._accept)

    def close(self) -> None:
        """Take no more connections."""
        # Closing alone would not wake the thread that waits in `accept`.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            _in_background(partial(self._serve, client))

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection((HOST, self._target_port))
        except OSError:
            client.close()
            return
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        under_way: queue.SimpleQueue[Parcel] = queue.SimpleQueue()
        _in_background(lambda: self._take(client, under_way))
        _in_background(lambda: self._deliver(under_way, server))
        _copy(server, client)
        for end in (client, server):
            end.close()

    def _take(self, client: socket.socket, under_way: queue.SimpleQueue[Parcel]) -> None:
        """Note when each piece of a request is due; two pieces of one request are not delayed twice."""
        with contextlib.suppress(OSError):
            while chunk := client.recv(_CHUNK):
                under_way.put((self._clock() + self._seconds, chunk))
        under_way.put((self._clock(), b""))

    def _deliver(self, under_way: queue.SimpleQueue[Parcel], server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                due, chunk = under_way.get()
                if not chunk:
                    break
                if (early := due - self._clock()) > 0:
                    self._sleep(early)
                server.sendall(chunk)
            server.shutdown(socket.SHUT_WR)


def _copy(source: socket.socket, target: socket.socket) -> None:
    room = bytearray(_CHUNK)
    view = memoryview(room)
    with contextlib.suppress(OSError):
        while count := source.recv_into(room):
            target.sendall(view[:count])
        target.shutdown(socket.SHUT_WR)


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()


@contextlib.contextmanager
def delayed(port: int, seconds: float) -> Iterator[int]:
    """Run a delaying proxy as a process of its own in front of a loopback port, and give its port."""
    command = [sys.executable, "-m", "benchmarks.delay", str(port), str(seconds)]
    # Our own interpreter and module.
    with subprocess.Popen(  # noqa: S603
        command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()


def main() -> None:
    """Run one proxy until standard input ends, which it does when the parent dies."""
    if len(sys.argv) != _ARGUMENTS:
        sys.exit(__doc__)
    proxy = DelayingProxy(int(sys.argv[1]), float(sys.argv[2]))
    proxy.start()
    sys.stdout.write(f"{proxy.port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
