"""The gateway's HTTP server on an event loop that notes how long it is held.

`python -m benchmarks.timed_server PORT --graph FILE|--endpoint URL` is such a server, in a process of its own. For each
line on standard input, it writes what was noted since the last one as a line of JSON. It ends with standard input.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from benchmarks.loop_hold import Holds, timed_loop
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.server.access.http_access import HttpAccess
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.run import serve_http
from gateway.settings.serving import HttpSettings
from tests.servers.loopback import HOST


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.timed_server")
    parser.add_argument("port", type=int)
    parser.add_argument("--graph")
    parser.add_argument("--endpoint")
    parser.add_argument("--profile")
    options = parser.parse_args(arguments)
    graph = [options.graph] if options.graph else None
    source = GraphSource(CommonOptions(graph=graph, endpoint=options.endpoint, profile=options.profile))
    holds = Holds()
    with asyncio.Runner(loop_factory=partial(timed_loop, holds)) as runner:
        runner.run(_serve(GatewayOpener(source.profile, source.open), options.port, holds))


async def _serve(opener: GatewayOpener, port: int, holds: Holds) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_tell, args=(holds, partial(loop.call_soon_threadsafe, stop.set)), daemon=True).start()
    await serve_http(opener, HttpAccess(HttpSettings(HOST, port)), stop)


def _tell(holds: Holds, end: partial[object]) -> None:
    for _ in sys.stdin:
        noted = json.dumps(asdict(holds))
        holds.clear()
        sys.stdout.write(f"{noted}\n")
        sys.stdout.flush()
    end()


if __name__ == "__main__":
    main()
