"""What starts servers: the fetched jars, Java, and what says that a machine cannot."""

import hashlib
import os
from pathlib import Path

import pytest

from tests.servers.cache import copy_sparsely
from tests.servers.java import find_java, parse_major
from tests.servers.maven import FUSEKI, ChecksumMismatchError, runnable_jar, verify
from tests.servers.maven_libraries import NEO4J, Libraries, checksum, fetched
from tests.servers.unavailable import ServerUnavailable, skip_or_fail


def test_a_sparse_copy_has_the_same_bytes_and_no_lock_files(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "inner").mkdir(parents=True)
    content = b"head" + bytes(300_000) + b"middle" + bytes(200_000)
    (source / "inner" / "data").write_bytes(content)
    (source / "empty").touch()
    (source / "tdb.lock").write_text("4711")
    copy_sparsely(source, tmp_path / "copy")
    assert (tmp_path / "copy" / "inner" / "data").read_bytes() == content
    assert (tmp_path / "copy" / "empty").read_bytes() == b""
    assert not (tmp_path / "copy" / "tdb.lock").exists()


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)', 17),
        ('openjdk version "25" 2025-09-16 LTS', 25),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ('java version "1.8.0_392"\nJava(TM) SE Runtime Environment', 8),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21.0.2" 2024-01-16', 21),
    ],
)
def test_the_major_version_is_read_whatever_its_notation(text: str, major: int) -> None:
    assert parse_major(text) == major


@pytest.mark.parametrize("text", ["", "The operation couldn't be completed. Unable to locate a Java Runtime."])
def test_text_without_a_version_has_no_major_version(text: str) -> None:
    assert parse_major(text) is None


def test_a_java_newer_than_all_is_unavailable_and_the_reason_names_what_to_do() -> None:
    with pytest.raises(ServerUnavailable, match=r"needs Java 999 or newer .* set JAVA_HOME"):
        find_java(999)


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


# The jars of Neo4j are fetched once, and are the pinned ones


def test_without_maven_it_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerUnavailable, match="install Maven"):
        fetched(NEO4J, folder=tmp_path / "cache")


def test_jars_that_are_not_the_pinned_ones_never_reach_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven = tmp_path / "mvn"
    maven.write_text(
        '#!/bin/sh\nfor argument; do case "$argument" in -DoutputDirectory=*) folder="${argument#*=}" ;; esac; done\n'
        'mkdir "$folder"; echo other > "$folder/neo4j.jar"\n'
    )
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "cache"
    with pytest.raises(ChecksumMismatchError):
        fetched(Libraries("neo4j-0", NEO4J.pom, NEO4J.sha256, NEO4J.java), folder=folder)
    assert not list(folder.glob("**/*.jar"))


def test_the_checksum_is_that_of_names_and_contents(tmp_path: Path) -> None:
    for name in ("b.jar", "B.jar"):
        (tmp_path / name).write_text("content")
    before = checksum(tmp_path)
    (tmp_path / "b.jar").rename(tmp_path / "c.jar")
    assert checksum(tmp_path) != before


def test_on_a_workstation_a_missing_server_skips_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no Java here"):
        skip_or_fail(ServerUnavailable("no Java here"))


def test_on_ci_a_missing_server_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no Java here"):
        skip_or_fail(ServerUnavailable("no Java here"))
