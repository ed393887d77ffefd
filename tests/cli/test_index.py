"""`index` and `refresh`: against an endpoint that one more thread serves."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.search_index.test_indexed_store import answering
from tests.transport.fake_endpoint import fake_endpoint


@pytest.fixture
def url() -> Iterator[str]:
    """Serve a small graph while the test runs."""
    loop = asyncio.new_event_loop()
    started: list[str] = []
    ready = threading.Event()
    over = asyncio.Event()

    async def serve() -> None:
        async with fake_endpoint(answering) as endpoint:
            started.append(endpoint.url)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(60)
    yield started[0]
    loop.call_soon_threadsafe(over.set)
    thread.join(60)
    loop.close()


def test_index_reports_its_content_and_its_folder(run: Run, url: str, tmp_path: Path) -> None:
    ran = run("index", "--endpoint", url, "--store", tmp_path)
    assert ran.status == 0
    assert "77 names of 42 entities" in ran.out
    assert str(tmp_path) in ran.out.replace("\n", "")
    (place,) = tmp_path.iterdir()
    assert (place / "labels.sqlite").exists()


def test_refresh_rebuilds_the_index(run: Run, url: str, tmp_path: Path) -> None:
    run("index", "--endpoint", url, "--store", tmp_path)
    (index,) = tmp_path.glob("*/labels.sqlite")
    before = index.stat().st_ino
    ran = run("refresh", "--endpoint", url, "--store", tmp_path)
    assert ran.status == 0
    assert index.stat().st_ino != before
    assert "predicates." in ran.out
    assert (index.parent / "schema.json").exists()


def test_an_index_is_stored_in_the_users_cache(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert run("index", "--endpoint", url).status == 0
    assert list(tmp_path.glob("bfsql-gateway/*/labels.sqlite"))
    assert "local label index of" in run("search", "warfrin", "--endpoint", url).out


@pytest.mark.parametrize("command", ["index", "refresh"])
def test_without_an_endpoint_there_is_nothing_to_read(run: Run, command: str) -> None:
    ran = run(command)
    assert (ran.status, ran.out) == (2, "")
    assert "--endpoint URL" in ran.err


def test_an_endpoint_that_is_gone_is_an_error_that_says_how_to_resume(run: Run, tmp_path: Path) -> None:
    ran = run("index", "--endpoint", "http://127.0.0.1:9/sparql", "--store", tmp_path)
    assert ran.status == 2
    assert "continues from there" in ran.err
