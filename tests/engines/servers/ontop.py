"""Ontop 5.1 over H2 in memory: a virtual graph, behind an HTTP server of the tests, because Maven Central has none."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from gateway.settings.profile import Profile
from tests.graphs import asserted_files
from tests.oracle import RDF
from tests.servers.java import SHORT_RUN, find_java
from tests.servers.loopback import HOST
from tests.servers.maven_libraries import Libraries, fetched

ONTOP: Final = Libraries(
    "ontop-5.1.2",
    Path(__file__).with_name("ontop.pom.xml"),
    "1fdaf7694ee30aa2ada790b995480a371b6705e69d53db410f86e6e8496cabc5",
    17,
)
VERSION: Final = "5.1.2 (H2 2.2.224)"
PATH: Final = "sparql"
SETTINGS: Final = '`edges.evidence_nodes = false`, `evidence.ways = "refused"`'

_BLANK_TYPE: Final = re.compile(rf"^\S+ <{re.escape(RDF)}type> _:")
_LAUNCHER: Final = Path(__file__).with_name("OntopServer.java")


def command(file: Path, port: int, _: Path) -> Sequence[str | Path]:
    """Return the command that serves a file.

    Raises:
        ServerUnavailable: There is no Java Development Kit new enough, or Maven could not fetch the jars.
        ChecksumMismatchError: The jars are not the pinned ones.
    """
    java = find_java(ONTOP.java)
    return [java.path, "-Xmx1g", *SHORT_RUN, "-cp", f"{fetched(ONTOP)}/*", _LAUNCHER, HOST, str(port), file]


def files(folder: Path) -> Mapping[str, Sequence[Path]]:
    """Write the graphs without types that are blank nodes: a mapping of Ontop can say none."""
    graphs = asserted_files(folder)
    for (file,) in graphs.values():
        # The shared graphs are not written here, and not asked about.
        if file.parent == folder:
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            file.write_text("".join(line for line in lines if not _BLANK_TYPE.search(line)), encoding="utf-8")
    return graphs


def settled(profile: Profile) -> Profile:
    """Return a profile that asks for no evidence: Ontop knows neither EXISTS nor IN."""
    edges = profile.edges.model_copy(update={"evidence_nodes": False})
    evidence = profile.evidence.model_copy(update={"ways": "refused"})
    return profile.model_copy(update={"edges": edges, "evidence": evidence})
