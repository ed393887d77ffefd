"""The two processes of a sidecar: started, killed, stopped and started again, each apart from the other."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from tests.servers.fuseki import FusekiServer, running_fuseki
from tests.servers.loopback import HOST, Answer, free_port, send
from tests.servers.process import Running, running

DATASET: Final = "ds"
DEADLINE_SECONDS: Final = 6.0
"""What one call may take, by the profile of the gateway."""

_BOUND_SECONDS: Final = 60.0
"""After which a state that does not come counts as never coming."""

_LOOK_SECONDS: Final = 0.2
_PREFIX: Final = re.compile(r"^@?prefix\s+(\w+):\s*<([^>]+)>", re.IGNORECASE | re.MULTILINE)

_Result = TypeVar("_Result")


def profile_of(graph: Path) -> str:
    """Return the profile of the gateway: that of a Fuseki, with the prefixes of the graph and short deadlines."""
    prefixes = _PREFIX.findall(graph.read_text(encoding="utf-8"))
    return "\n".join(
        [
            'extends = "fuseki"',
            "[limits]",
            f"deadline_seconds = {DEADLINE_SECONDS}",
            # A traversal is many requests, so that what ends the endpoint ends some calls in the middle.
            "batch = 4",
            # Each call has to reach the endpoint.
            "[cache]",
            "megabytes = 0",
            "[prefixes]",
            *(f'{name} = "{namespace}"' for name, namespace in prefixes),
            "",
        ]
    )


@dataclass
class Half:
    """One of the two processes.

    Attributes:
        pid: Its process; 0 while none runs.
        starts: How often it was started.
    """

    enter: Callable[[], AbstractContextManager[Running]]
    pid: int = 0
    starts: int = 0
    _stack: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.pid = self._stack.enter_context(self.enter()).pid
        self.starts += 1

    def clear(self) -> None:
        """End it if it still runs."""
        self.pid = 0
        self._stack.close()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)


class Pair:
    """A Fuseki and a gateway in front of it, on this machine.

    Processes end with the thread that started them, so one thread starts them all.

    Args:
        folder: Where both keep their files.
        graph: The graph that they serve.
    """

    def __init__(self, folder: Path, graph: Path) -> None:
        self._thread = ThreadPoolExecutor(1)
        fuseki_port, port, self._operators = free_port(), free_port(), free_port()
        self.url = f"http://{HOST}:{port}/mcp"
        self.endpoint = f"http://{HOST}:{fuseki_port}/{DATASET}/sparql"
        self.audit_log, self.log = folder / "audit.jsonl", folder / "gateway.log"
        self.profile = folder / "sidecar.toml"
        self.profile.write_text(profile_of(graph), encoding="utf-8")
        command = [
            *(sys.executable, "-m", "gateway", "serve", "--http", "--port", str(port), "--endpoint", self.endpoint),
            *("--profile", str(self.profile), "--shape", "reference", "--log-format", "json", "-v"),
            *("--metrics-port", str(self._operators), "--audit-log", str(self.audit_log)),
        ]

        def fuseki() -> AbstractContextManager[Running]:
            return _process_of(running_fuseki({DATASET: [graph]}, port=fuseki_port, workdir=folder))

        def gateway() -> AbstractContextManager[Running]:
            alive = f"http://{HOST}:{self._operators}/healthz"
            return running(command, ready_url=alive, log=self.log, cwd=Path.cwd())

        self.fuseki, self.gateway = Half(fuseki), Half(gateway)

    async def start(self, half: Half) -> None:
        """Start a half that does not run."""
        await self._apart(half.clear)
        await self._apart(half.start)

    async def close(self) -> None:
        """End both."""
        await self._apart(self.gateway.clear)
        await self._apart(self.fuseki.clear)
        self._thread.shutdown()

    async def page(self, path: str) -> Answer:
        """Return a page for operators."""
        return await asyncio.to_thread(send, "GET", f"http://{HOST}:{self._operators}{path}")

    async def until_ready(self, *, is_ready: bool) -> float:
        """Wait until the gateway says that it is ready, or that it is not, and return the seconds.

        Raises:
            TimeoutError: It never does.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with asyncio.timeout(_BOUND_SECONDS):
            # A page can only be looked at again.
            while ((await self.page("/readyz")).status == 200) is not is_ready:  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_SECONDS)
        return loop.time() - began

    async def _apart(self, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


@contextmanager
def _process_of(server: AbstractContextManager[FusekiServer]) -> Iterator[Running]:
    with server as started:
        yield started.process
