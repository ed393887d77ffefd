"""The page over a graph, as `explore` serves it."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def explored(graph: Path, folder: Path, *options: str) -> Iterator[str]:
    """Run `explore` over a graph, and give the URL of its page; its log is in the folder."""
    command = [sys.executable, "-m", "gateway", "explore", "--no-browser", "--graph", str(graph), *options]
    with (folder / "explore.log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=log, text=True)  # noqa: S603 - our own command
        try:
            assert process.stderr is not None
            yield next(found[1] for line in process.stderr if (found := re.search(r"The page is at (\S+)", line)))
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
