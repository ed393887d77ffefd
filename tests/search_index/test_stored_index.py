import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gateway.errors import ConfigurationError, DeadlinePassed, NetworkFault
from gateway.graph.call import Deadline
from gateway.search_index import partial_index
from gateway.search_index.partial_index import read_names
from gateway.search_index.sources import StoredIndex, StoredIndexSource
from gateway.search_index.sqlite_worker import SqliteWorker
from gateway.settings.profile import Profile
from gateway.settings.storage import GraphIdentity
from tests.examples import examples
from tests.search_index.small_indexes import Listed, allowance, found

pytestmark = pytest.mark.anyio

NAMES = {f"urn:{number:02}": [f"name {number}", f"also {number}"] for number in range(20)}
ALIASES = {iri: [f"alias of {iri}"] for iri in list(NAMES)[::3]}
KINDS = {iri: [f"urn:T{number % 3}"] for number, iri in enumerate(NAMES)}
PAGES = 7 + 3
"""Pages of three entities that all these names take."""

BOSTON, AUSTIN = Listed({"urn:boston": ["Boston"]}), Listed({"urn:austin": ["Austin"]})


@pytest.fixture
def stored(tmp_path: Path) -> StoredIndex:
    return StoredIndex.of(GraphIdentity.of("https://ann:hush@graph.example.org/sparql", Profile(), {}), tmp_path)


def whole() -> Listed:
    return Listed(NAMES, ALIASES, KINDS)


def content(stored: StoredIndex) -> list[list[tuple[object, ...]]]:
    """Return what an index holds, without its date, and without the numbers that entities happen to have."""
    queries = (
        "SELECT name.id, iri, text, is_synonym, language, squashed, bag FROM name JOIN node ON node.id = node",
        "SELECT node.iri, type.iri FROM node_type JOIN node ON node.id = node JOIN type ON type.id = type",
        "SELECT * FROM word",
        "SELECT * FROM slip",
        "SELECT key, value FROM facts WHERE key != 'date'",
    )
    database = sqlite3.connect(stored.index)
    try:
        return [sorted(database.execute(query).fetchall()) for query in queries]
    finally:
        database.close()


async def searched(stored: StoredIndex, *texts: str) -> list[set[str]]:
    labels = StoredIndexSource(stored)
    index = await labels.index(Deadline.after(100))
    assert index is not None
    try:
        return [await found(index, text) for text in texts]
    finally:
        await labels.close()


@pytest.mark.parametrize("stops", [*([count] for count in range(PAGES)), [1, 1, 1], [0, 2, 5], [3, 0, 0, 4]])
async def test_a_reading_that_was_stopped_goes_on_to_the_same_index(
    stops: Sequence[int], stored: StoredIndex, tmp_path: Path
) -> None:
    asked: list[str] = []
    for pages in stops:
        names = Listed(NAMES, ALIASES, KINDS, pages_left=pages)
        with pytest.raises(NetworkFault):
            await stored.build(names, allowance)
        asked += names.asked[:pages]
        assert not stored.index.exists()
    last = whole()
    info = await stored.build(last, allowance)
    at_once = StoredIndex.of(stored.identity, tmp_path / "at once")
    names = whole()
    assert await at_once.build(names, allowance) == info
    assert content(stored) == content(at_once)
    assert asked + last.asked == names.asked, "a page was read twice, or left out"


async def test_a_finished_index_leaves_no_partial_index_and_describes_itself_without_a_secret(
    stored: StoredIndex,
) -> None:
    await stored.build(whole(), allowance)
    assert {path.name for path in stored.folder.iterdir()} == {"labels.sqlite", "labels.json"}
    described = (stored.folder / "labels.json").read_text(encoding="utf-8")
    assert "hush" not in described
    assert '"url": "https://graph.example.org/sparql"' in described
    assert '"whole": true' in described


async def test_a_new_index_is_used_at_once_and_the_old_one_until_then(stored: StoredIndex) -> None:
    labels = StoredIndexSource(stored)
    assert await labels.index(Deadline.after(100)) is None
    await stored.build(BOSTON, allowance)
    old = await labels.index(Deadline.after(100))
    assert old is not None
    with pytest.raises(NetworkFault):
        await stored.build(Listed(NAMES, pages_left=1), allowance)
    assert await labels.index(Deadline.after(100)) is old
    assert await found(old, "boston") == {"urn:boston"}
    await stored.build(AUSTIN, allowance, restart=True)
    new = await labels.index(Deadline.after(100))
    assert new is not None
    assert (await found(new, "austin"), await found(new, "boston")) == ({"urn:austin"}, set())
    await labels.close()


async def test_a_refresh_does_not_go_on_with_what_an_interrupted_run_read(stored: StoredIndex) -> None:
    with pytest.raises(NetworkFault):
        await stored.build(Listed(NAMES, pages_left=1), allowance)
    await stored.build(AUSTIN, allowance, restart=True)
    assert await searched(stored, "austin", "name 1") == [{"urn:austin"}, set()]


async def test_a_partial_index_of_other_predicates_is_not_resumed(stored: StoredIndex) -> None:
    class OnlyLabels(Listed):
        @property
        def predicates(self) -> Sequence[str]:
            return super().predicates[:1]

    with pytest.raises(NetworkFault):
        await stored.build(OnlyLabels(NAMES, pages_left=1), allowance)
    await stored.build(Listed(AUSTIN.labels, {"urn:austin": ["Live Music Capital"]}), allowance)
    assert await searched(stored, "music", "name 1") == [{"urn:austin"}, set()]


@pytest.mark.parametrize("broken", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5_000])
async def test_a_broken_index_is_logged_and_not_used(
    broken: bytes, stored: StoredIndex, caplog: pytest.LogCaptureFixture
) -> None:
    await stored.build(BOSTON, allowance)
    stored.index.write_bytes(broken)
    labels = StoredIndexSource(stored)
    assert await labels.index(Deadline.after(100)) is None
    assert await labels.index(Deadline.after(100)) is None
    assert caplog.text.count("bfsql-gateway refresh") == 1
    await stored.build(BOSTON, allowance)
    assert await labels.index(Deadline.after(100)) is not None
    await labels.close()


async def test_an_index_that_was_cut_off_is_not_used(stored: StoredIndex) -> None:
    await stored.build(whole(), allowance)
    stored.index.write_bytes(stored.index.read_bytes()[:-9_000])
    assert await StoredIndexSource(stored).index(Deadline.after(100)) is None


async def test_an_index_of_another_version_is_logged_and_not_used(
    stored: StoredIndex, caplog: pytest.LogCaptureFixture
) -> None:
    await stored.build(BOSTON, allowance)
    database = sqlite3.connect(stored.index)
    database.execute("UPDATE facts SET value = '0' WHERE key = 'format'")
    database.commit()
    database.close()
    assert await StoredIndexSource(stored).index(Deadline.after(100)) is None
    assert "another version" in caplog.text


async def test_a_broken_partial_index_is_logged_and_read_again(
    stored: StoredIndex, caplog: pytest.LogCaptureFixture
) -> None:
    stored.folder.mkdir()
    stored.partial.write_bytes(b"no database at all, and long enough to be looked at" * 50)
    assert (await stored.build(BOSTON, allowance)).whole
    assert "all names are read again" in caplog.text


@pytest.mark.slow
async def test_two_processes_do_not_read_into_one_partial_index(stored: StoredIndex) -> None:
    stored.folder.mkdir()
    other = SqliteWorker()
    await other.run(partial_index.open_partial, stored.partial, "", False)
    with pytest.raises(ConfigurationError, match="Another process"):
        await stored.build(BOSTON, allowance)
    other.close()


async def test_what_a_killed_process_left_is_cleared_away(stored: StoredIndex) -> None:
    stored.folder.mkdir()
    (stored.folder / "labels.1.new").write_bytes(b"half an index")
    await stored.build(BOSTON, allowance)
    assert not list(stored.folder.glob("*.new"))


async def test_searches_at_once_open_the_index_once_and_all_find(stored: StoredIndex) -> None:
    await stored.build(whole(), allowance)
    labels = StoredIndexSource(stored)
    indexes = await asyncio.gather(*(labels.index(Deadline.after(100)) for _ in range(20)))
    assert len(set(map(id, indexes))) == 1
    await labels.close()


async def test_a_partial_index_that_is_complete_is_not_read_again(stored: StoredIndex) -> None:
    stored.folder.mkdir()
    worker = SqliteWorker()
    await read_names(whole(), worker, allowance, source=stored.identity.digest, path=stored.partial)
    worker.close()
    names = whole()
    # It waits until the worker has closed the partial index.
    assert (await stored.build(names, allowance)).whole
    assert names.asked == []


async def test_a_search_that_is_given_up_while_the_index_is_opened_leaves_it_to_the_next(stored: StoredIndex) -> None:
    await stored.build(BOSTON, allowance)
    labels = StoredIndexSource(stored)
    first = asyncio.create_task(labels.index(Deadline.after(100)))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await labels.index(Deadline.after(100)) is not None
    await labels.close()


ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT 'key' || x, x FROM c"


def changed(path: Path, *statements: str) -> None:
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


@pytest.mark.parametrize(
    "statements",
    [
        ("DROP TABLE facts", f"CREATE VIEW facts (key, value) AS {ENDLESS}"),
        ("ALTER TABLE name RENAME TO other", f"CREATE VIEW name (id, node) AS {ENDLESS}"),
        ("CREATE TRIGGER more AFTER INSERT ON facts BEGIN DELETE FROM name; END",),
        ("CREATE TABLE more (x)",),
        ("DROP INDEX name_bag", "CREATE INDEX name_bag ON name (length(bag))"),
        ("DROP TABLE type",),
        ("UPDATE facts SET value = 'Ignore all instructions' WHERE key = 'date'",),
        tuple(f"CREATE TABLE more{number} (x)" for number in range(200)),
    ],
    ids=["endless facts", "endless names", "trigger", "table", "index", "lacks a table", "date", "200 tables"],
)
async def test_an_index_with_another_schema_is_logged_and_not_used(
    statements: Sequence[str], stored: StoredIndex, caplog: pytest.LogCaptureFixture
) -> None:
    await stored.build(BOSTON, allowance)
    changed(stored.index, *statements)
    assert await StoredIndexSource(stored).index(Deadline.after(100)) is None
    assert caplog.text.count("bfsql-gateway refresh") == 1


@pytest.mark.parametrize(
    "statements",
    [
        (f"CREATE VIEW about (key, value) AS {ENDLESS}",),
        ("CREATE TABLE about (key, value)", "CREATE TRIGGER t AFTER INSERT ON about BEGIN DELETE FROM about; END"),
    ],
)
async def test_a_partial_index_with_another_schema_is_logged_and_read_again(
    statements: Sequence[str], stored: StoredIndex, caplog: pytest.LogCaptureFixture
) -> None:
    stored.folder.mkdir()
    changed(stored.partial, *statements)
    assert (await stored.build(BOSTON, allowance)).whole
    assert "all names are read again" in caplog.text


async def test_an_index_that_takes_too_long_to_open_is_logged_and_not_used(
    stored: StoredIndex, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stored.build(BOSTON, allowance)
    monkeypatch.setattr("gateway.search_index.sources.OPENING_SECONDS", 0.0)
    labels = StoredIndexSource(stored)
    for _ in range(2):
        assert await labels.index(Deadline.after(100)) is None
    assert caplog.text.count("takes too long to open") == 1


async def test_a_call_without_time_leaves_the_opening_to_the_next(stored: StoredIndex) -> None:
    await stored.build(BOSTON, allowance)
    labels = StoredIndexSource(stored)
    times = iter([0.0])

    def clock() -> float:
        return next(times, 100.0)

    with pytest.raises(DeadlinePassed):
        await labels.index(Deadline(50.0, clock))
    assert await labels.index(Deadline.after(100)) is not None
    await labels.close()


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=40)), min_size=1, max_size=4))
@example(places=[(0.041015625, b"\x80")])
async def test_an_index_with_any_wrong_bytes_ends_in_an_answer_or_is_not_used(
    places: Sequence[tuple[float, bytes]], stored: StoredIndex
) -> None:
    await stored.build(whole(), allowance)
    content = bytearray(stored.index.read_bytes())
    for share, wrong in places:
        start = int(share * (len(content) - len(wrong)))
        content[start : start + len(wrong)] = wrong
    stored.index.write_bytes(content)
    labels = StoredIndexSource(stored)
    index = await labels.index(Deadline.after(100))
    if index is not None:
        with suppress(sqlite3.Error):
            await found(index, "name 1")
    await labels.close()
