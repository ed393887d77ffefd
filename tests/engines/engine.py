"""What is asked: an engine that holds some graphs, and how it is started."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from gateway.settings.profile import Profile
from tests.columns import Asked, Files

Start = Callable[[Files, Path], AbstractContextManager[Mapping[str, Asked]]]
"""Serves the files of some graphs, with a folder for its own files; gives how each graph is asked for."""


def unchanged(profile: Profile) -> Profile:
    """Return a profile as it is."""
    return profile


@dataclass(frozen=True)
class Engine:
    """An engine.

    Attributes:
        name: Its name in the table and on the command line.
        version: Its version.
        bound: What binds it to loopback.
        files: Writes the graphs into a folder, in files that it can load.
        start: Serves some of them; None where it is the engine of this process.
        alone: Whether a server of it holds one graph.
        settled: Adds to a profile what this engine needs, and nothing would find out.
        settings: What is added, for people.
        evidence: Whether what states evidence is then kept out of the graph.
        graphs: The graphs that it is asked about; all of them where none is named.
    """

    name: str
    version: str
    bound: str
    files: Callable[[Path], Mapping[str, Sequence[Path]]]
    start: Start | None
    alone: bool = False
    settled: Callable[[Profile], Profile] = unchanged
    settings: str = ""
    evidence: bool = True
    graphs: tuple[str, ...] = ()

    def served_together(self, files: Files) -> Iterable[Files]:
        """Return the graphs that one server after the other holds."""
        return [{graph: paths} for graph, paths in files.items()] if self.alone else [files]
