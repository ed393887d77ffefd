"""The command line of a Fuseki."""

from pathlib import Path

from tests.servers.java import find_java
from tests.servers.maven import FUSEKI, runnable_jar


def fuseki_command(version: str, *, port: int, config: Path) -> list[str | Path]:
    """Return the command that serves a configuration on loopback, without UI and admin area.

    Raises:
        ServerUnavailable: there is no Java new enough or no jar.
        ChecksumMismatchError: the jar is not the pinned one.
    """
    release = FUSEKI[version]
    java = find_java(release.java)
    return [
        java.path,
        "-Xmx1g",
        *java.quiet_options,
        *("-cp", runnable_jar(release)),
        "org.apache.jena.fuseki.main.cmds.FusekiMainCmd",
        *("--localhost", "--port", str(port), "--ping", "--config", config),
    ]
