import hashlib
import os
from pathlib import Path

import pytest

from tests.servers.maven import FUSEKI, ChecksumMismatchError, runnable_jar, verify
from tests.servers.unavailable import ServerUnavailable

FAKE_MAVEN = """#!/bin/sh
for argument; do
  case "$argument" in -DoutputDirectory=*) folder="${argument#*=}" ;; esac
done
echo not the pinned jar > "$folder/jena-fuseki-server-6.2.0.jar"
"""


def test_a_file_with_the_pinned_checksum_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.jar"
    file.write_bytes(b"right")
    verify(file, hashlib.sha256(b"right").hexdigest())
    assert file.read_bytes() == b"right"


def test_a_cached_jar_that_is_not_the_pinned_one_is_refused_and_deleted(tmp_path: Path) -> None:
    jar = tmp_path / "jena-fuseki-server-6.2.0.jar"
    jar.write_bytes(b"wrong")
    with pytest.raises(ChecksumMismatchError, match="deleted unused"):
        runnable_jar(FUSEKI["6.2.0"], folder=tmp_path)
    assert not jar.exists()


def test_a_fetched_jar_that_is_not_the_pinned_one_never_reaches_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binaries = tmp_path / "bin"
    binaries.mkdir()
    maven = binaries / "mvn"
    maven.write_text(FAKE_MAVEN)
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{binaries}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "cache"
    with pytest.raises(ChecksumMismatchError):
        runnable_jar(FUSEKI["6.2.0"], folder=folder)
    assert not list(folder.glob("**/*.jar"))


def test_without_maven_the_jar_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerUnavailable, match="install Maven"):
        runnable_jar(FUSEKI["6.2.0"], folder=tmp_path)


def test_a_failing_maven_is_unavailability_with_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven = tmp_path / "mvn"
    maven.write_text("#!/bin/sh\necho Unknown host repo.example\nexit 1\n")
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ServerUnavailable, match=r"could not fetch.*Unknown host repo\.example"):
        runnable_jar(FUSEKI["6.2.0"], folder=tmp_path)
