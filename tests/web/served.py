"""The page over a graph, as `explore` serves it."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def explored(folder: Path, *options: str) -> Iterator[str]:
    """Run `explore` with the options that select a graph, and give the URL of its page; its log is in the folder."""
    command = [sys.executable, "-m", "gateway", "explore", "--no-browser", *options]
    with (folder / "explore.log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=log, text=True)  # noqa: S603 - our own command
        try:
            assert process.stderr is not None
            said = ""
            while not (found := re.search(r"The page is at (\S+)\n", said)):
                line = process.stderr.readline()
                assert line, f"it ended:\n{said}"
                said += line
            yield found[1]
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
