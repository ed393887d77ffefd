"""Fuseki 3.17, which is still met in the wild: a graph in memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.servers.java import SHORT_RUN, find_java
from tests.servers.maven import Release, runnable_jar

RELEASE: Final = Release(
    "org.apache.jena",
    "jena-fuseki-server",
    "3.17.0",
    "9f3b897da44635adcb402796684ef9d132d053468f88e4af1bfd6c9b009b1374",
    17,
)
PATH: Final = "ds/sparql"


def command(file: Path, port: int, _: Path) -> Sequence[str | Path]:
    """Return the command that serves a file.

    Raises:
        ServerUnavailable: There is no Java new enough or no jar.
        ChecksumMismatchError: The jar is not the pinned one.
    """
    java = find_java(RELEASE.java)
    jar = runnable_jar(RELEASE)
    return [java.path, "-Xmx1g", *SHORT_RUN, "-jar", jar, "--localhost", "--port", str(port), "--file", file, "/ds"]
