"""The command line of a Fuseki."""

from collections.abc import Sequence
from pathlib import Path

from tests.servers.java import SHORT_RUN, find_java
from tests.servers.maven import FUSEKI, runnable_jar


def fuseki_command(
    version: str, *, port: int, config: Path, java_options: Sequence[str] = SHORT_RUN
) -> list[str | Path]:
    """Return the command that serves a configuration on loopback, without UI and admin area.

    Args:
        version: 6.2.0 (Java 21) or 5.6.0 (Java 17).
        port: on loopback.
        config: the configuration file.
        java_options: how Java compiles and collects; none for a server that runs for long, or is measured.

    Raises:
        ServerUnavailable: there is no Java new enough or no jar.
        ChecksumMismatchError: the jar is not the pinned one.
    """
    release = FUSEKI[version]
    java = find_java(release.java)
    return [
        java.path,
        "-Xmx1g",
        *java_options,
        *java.quiet_options,
        *("-cp", runnable_jar(release)),
        "org.apache.jena.fuseki.main.cmds.FusekiMainCmd",
        *("--localhost", "--port", str(port), "--ping", "--config", config),
    ]
