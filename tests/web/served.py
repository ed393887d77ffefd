"""The page over a graph, as `explore` serves it, and a graph of hostile names with a hub."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final


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


NAME: Final = (
    "alpha <img src=x onerror=\"document.title='run'\"><script>document.title='run'</script></script><!--"
    "\u202e gnp.exe \ufffe\uffff\u061c " + "long " * 2_000
)
"""More than 10,000 characters."""

HUB_EDGES: Final = 400


def hostile_graph(folder: Path) -> Path:
    """Write the graph, and return its file."""
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    text = NAME.replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'<http://e.org/a> {label} "{text}" .', f'<http://e.org/hub> {label} "hub" .']
    lines += [f"<http://e.org/a> <http://e.org/p> <http://e.org/n{n}> ." for n in range(5)]
    lines += [f"<http://e.org/hub> <http://e.org/has> <http://e.org/m{n}> ." for n in range(HUB_EDGES)]
    lines += ["<http://e.org/hub> <http://e.org/rare> <http://e.org/a> ."]
    graph = folder / "hostile.nt"
    graph.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return graph
