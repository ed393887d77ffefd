"""The jars that a POM names, with all that these need, fetched once by Maven and held to a pinned checksum."""

import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.servers.cache import CACHE, locked
from tests.servers.maven import ChecksumMismatchError
from tests.servers.unavailable import ServerUnavailable

_PLUGIN: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_FETCH_TIMEOUT_S: Final = 480


@dataclass(frozen=True, slots=True)
class Libraries:
    """Jars that the tests know: the POM that names them, the checksum of all of them, and the Java they need."""

    name: str
    pom: Path
    sha256: str
    java: int


NEO4J: Final = Libraries(
    "neo4j-5.26.30",
    Path(__file__).with_name("neo4j.pom.xml"),
    "b39dcc8742460b796812b2494bde19cb6474ab73862fe3ac9af878e5012afeb8",
    17,
)


def fetched(libraries: Libraries, *, folder: Path = CACHE) -> Path:
    """Return the folder of the jars, fetching them where they are absent.

    Raises:
        ServerUnavailable: Maven is absent or could not fetch them.
        ChecksumMismatchError: What was fetched is not what is pinned.
    """
    target = folder / libraries.name
    if not target.exists():
        # Maven's local repository is not made for two processes at a time.
        with locked(folder, "maven"):
            if not target.exists():
                _fetch(libraries, target)
    return target


def checksum(jars: Path) -> str:
    """Return the sha256 of a list of names and checksums, as `sha256sum * | sha256sum` gives it."""
    lines = []
    for jar in sorted(jars.iterdir(), key=lambda path: path.name.encode()):
        with jar.open("rb") as content:
            lines.append(f"{hashlib.file_digest(content, 'sha256').hexdigest()}  {jar.name}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _fetch(libraries: Libraries, target: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise ServerUnavailable(f"needs {libraries.name}: install Maven (`mvn`)")
    # The repository is as large as the jars, and is not needed again.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="fetch-") as scratch:
        jars = Path(scratch) / "jars"
        command = [
            maven,
            *("-q", "-B", "-U", "--strict-checksums", "-f", str(libraries.pom), _PLUGIN),
            f"-Dmaven.repo.local={scratch}/m2",
            "-DincludeScope=runtime",
            f"-DoutputDirectory={jars}",
        ]
        try:
            # Maven from PATH with arguments of our own making.
            done = subprocess.run(  # noqa: S603
                command, cwd=scratch, capture_output=True, text=True, timeout=_FETCH_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ServerUnavailable(f"Maven could not fetch {libraries.name}: {error}") from error
        if done.returncode != 0 or not jars.exists():
            text = (done.stdout + done.stderr)[-1000:].strip()
            raise ServerUnavailable(f"Maven could not fetch {libraries.name}: {text or f'exit {done.returncode}'}")
        if (found := checksum(jars)) != libraries.sha256:
            raise ChecksumMismatchError(
                f"The jars of {libraries.name} have sha256 {found}, pinned is {libraries.sha256}. They were deleted "
                "unused; the next run fetches them again."
            )
        jars.rename(target)
