"""Corese 4.5: its own SPARQL resources, in a launcher of the tests that binds to loopback."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from tests.servers.java import SHORT_RUN, find_java
from tests.servers.loaded import LoadError
from tests.servers.loopback import HOST, send
from tests.servers.maven import Release, runnable_jar

RELEASE: Final = Release(
    "fr.inria.corese",
    "corese-server",
    "4.5.0",
    "060034ebe52fda139a5565c6adc358d7218bb6193d44f901ad4fcb99e6af5d0b",
    17,
)
PATH: Final = "sparql"

_LAUNCHER: Final = Path(__file__).with_name("CoreseServer.java")


def command(_: Path, port: int, __: Path) -> Sequence[str | Path]:
    """Return the command that serves nothing yet.

    Raises:
        ServerUnavailable: There is no Java Development Kit new enough or no jar.
        ChecksumMismatchError: The jar is not the pinned one.
    """
    java = find_java(RELEASE.java)
    return [java.path, "-Xmx1g", *SHORT_RUN, "-cp", runnable_jar(RELEASE), _LAUNCHER, HOST, str(port)]


def fill(port: int, file: Path) -> None:
    """Load a file, as the server does it at its start.

    Raises:
        LoadError: It was refused.
    """
    for step, form in (("reset", {"entailments": "false", "localhost": "true"}), ("load", {"remote_path": str(file)})):
        answer = send(
            "POST",
            f"http://{HOST}:{port}/{PATH}/{step}",
            body=urlencode(form).encode(),
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )
        if answer.status != 200:
            raise LoadError(f"{file.name}: {step}: {answer.status} {answer.text.strip()[-1000:]}")
