"""Runnable jars of servers, fetched once by Maven and held to pinned checksums."""

import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.servers.cache import CACHE, locked
from tests.servers.unavailable import ServerUnavailable

# 2.10 copies the jar alone. Later versions first read its POM, and that of its parent, which is not always to be had.
_PLUGINS: Final = (
    "org.apache.maven.plugins:maven-dependency-plugin:2.10:copy",
    "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
)
_FETCH_TIMEOUT_S: Final = 240


@dataclass(frozen=True, slots=True)
class Release:
    """A release that the tests know: its coordinates, the jar's sha256, the Java it needs, and how it is packed."""

    group: str
    artifact: str
    version: str
    sha256: str
    java: int
    packaging: str = "jar"

    @property
    def file_name(self) -> str:
        """The jar's name, in Maven's repository as here."""
        return f"{self.artifact}-{self.version}.{self.packaging}"


def _fuseki(version: str, sha256: str, java: int) -> Release:
    return Release("org.apache.jena", "jena-fuseki-server", version, sha256, java)


FUSEKI: Final = {
    release.version: release
    for release in (
        _fuseki("6.2.0", "2c92c598e65ab69d99820052e05f4277ed1d77980a8845f87545ad35b71a76ee", 21),
        _fuseki("5.6.0", "d28c1eaf703122ee628895a460c20fa4aa60a892f435d403ea8c036f241da1f8", 17),
    )
}
BLAZEGRAPH: Final = Release(
    "com.blazegraph",
    "blazegraph-jar",
    "2.1.5",
    "8f38b1dae5ad92b0c786b92d1f260a18a4ca64151b62c8d5017dd59b743e131e",
    17,
)

RDF4J: Final = Release(
    "org.eclipse.rdf4j",
    "rdf4j-http-server",
    "4.1.3",
    "7cee02ac474451a09d8e012af9807aaa71e6e44c6380dc7f1a7e892fc8f629b3",
    17,
    "war",
)
"""The last release of the server that Maven Central has; later ones come in an archive of the project's."""

JETTY: Final = Release(
    "org.eclipse.jetty",
    "jetty-runner",
    "9.4.58.v20250814",
    "b692f66bb7a53bfa739b7eb466dc2bf75bddd5bfa0e7d425cd2a0434233987c2",
    17,
)
"""Runs a web application without a container that is installed."""


class ChecksumMismatchError(Exception):
    """A jar is not the pinned one. It has been deleted."""


def runnable_jar(release: Release, *, folder: Path = CACHE) -> Path:
    """Return the release's jar, fetching it where it is absent, and verified in either case.

    Raises:
        ServerUnavailable: Maven is absent or could not fetch it.
        ChecksumMismatchError: the jar, fetched or found, is not the pinned one.
    """
    jar = folder / release.file_name
    if not jar.exists():
        # Maven's local repository is not made for two processes at a time.
        with locked(folder, "maven"):
            if not jar.exists():
                _fetch(release, jar, folder / "m2")
                return jar
    verify(jar, release.sha256)
    return jar


def verify(file: Path, sha256: str) -> None:
    """Delete and refuse a file whose sha256 is not the one given.

    Raises:
        ChecksumMismatchError: it is another file than the pinned one.
    """
    with file.open("rb") as content:
        actual = hashlib.file_digest(content, "sha256").hexdigest()
    if actual != sha256:
        file.unlink()
        raise ChecksumMismatchError(
            f"{file.name} has sha256 {actual}, pinned is {sha256}. "
            "It was deleted unused; the next run fetches it again."
        )


def _fetch(release: Release, jar: Path, repository: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise ServerUnavailable(
            f"needs {release.file_name}: install Maven (`mvn`), or put the jar into {jar.parent.name}/"
        )
    with tempfile.TemporaryDirectory(dir=jar.parent, prefix="fetch-") as folder:
        try:
            failures: list[str] = []
            for plugin in _PLUGINS:
                failure = _copy(maven, plugin, release, Path(folder), repository)
                if failure is None:
                    break
                failures.append(failure)
            else:
                raise ServerUnavailable(f"Maven could not fetch {release.file_name}: {failures[-1]}")
        finally:
            # The second copy, 57 MB; and a bad one must not be served again.
            cached = repository.joinpath(*release.group.split("."), release.artifact, release.version)
            shutil.rmtree(cached, ignore_errors=True)
        fetched = Path(folder) / release.file_name
        verify(fetched, release.sha256)
        fetched.replace(jar)


def _copy(maven: str, plugin: str, release: Release, folder: Path, repository: Path) -> str | None:
    """Run one copy; return None when the jar is there, else the end of Maven's log."""
    command = [
        maven,
        *("-q", "-B", "-U", "--strict-checksums", plugin),
        f"-Dmaven.repo.local={repository}",
        f"-Dartifact={release.group}:{release.artifact}:{release.version}:{release.packaging}",
        f"-DoutputDirectory={folder}",
    ]
    try:
        # Maven from PATH with arguments of our own making.
        done = subprocess.run(  # noqa: S603
            command, cwd=folder, capture_output=True, text=True, timeout=_FETCH_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0 and (folder / release.file_name).exists():
        return None
    return (done.stdout + done.stderr)[-1000:].strip() or f"exit {done.returncode}, no message"
