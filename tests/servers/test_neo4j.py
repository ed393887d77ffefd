"""The jars of Neo4j are fetched once, and are the pinned ones."""

import os
from pathlib import Path

import pytest

from tests.servers.maven import ChecksumMismatchError
from tests.servers.maven_libraries import NEO4J, Libraries, checksum, fetched
from tests.servers.unavailable import ServerUnavailable


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
