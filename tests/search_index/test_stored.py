"""The label index and the schema of files are stored beside their parsed store, and belong to exactly that content."""

import asyncio
import contextlib
import gc
import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.answers.models import SchemaResult, SearchResult
from gateway.api import open_gateway
from gateway.cli.main import main
from gateway.graph.call import Deadline
from gateway.search_index.partial_index import no_progress
from gateway.search_index.sources import InProcessIndexSource
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import RoleSettings
from tests.clocks import fixed_wall_clock
from tests.search_index.small_indexes import Listed, allowance, found

pytestmark = pytest.mark.anyio

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
GRAPH = "".join(
    f'<urn:n{n}> a <urn:T{n % 3}> ; <{LABEL}> "name {n}" ; <urn:p> <urn:n{(n + 1) % 60}> .\n' for n in range(60)
)
LARGE = Profile(orientation=OrientationSettings(glance_triples=20))
"""Under it, this graph is too large for the quick reading."""


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def stored(store: Path, pattern: str) -> list[Path]:
    return sorted(store.glob(f"*/graph/store-*/derived/*/{pattern}"))


def derived(store: Path) -> Path:
    """Return the folder for what is derived from the one stored graph; it need not exist."""
    (manifest,) = store.glob("*/graph/store-*/manifest.json")
    return manifest.with_name("derived")


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


async def asked(
    graph: Path, store: Path | None, query: str = "nmae 7", profile: Profile | None = None
) -> tuple[SchemaResult, SearchResult]:
    async with open_gateway(graph, store=store, profile=profile, wall_clock=fixed_wall_clock) as gateway:
        await gateway.wait_until_ready()
        return await gateway.describe_schema(explain=True), await gateway.search_entities(query)


def guessed(answer: SearchResult) -> list[str]:
    """Return the entities whose names are similar, as only an index finds them."""
    return [hit.id for hit in answer.guesses or ()]


async def test_the_second_run_reads_neither_names_nor_schema_and_answers_the_same(graph: Path, store: Path) -> None:
    first_schema, first = await asked(graph, store, profile=LARGE)
    (index,), (schema,) = stored(store, "labels-*.sqlite"), stored(store, "schema.json")
    stamps = (index.stat().st_mtime_ns, schema.stat().st_mtime_ns)
    again_schema, again = await asked(graph, store, profile=LARGE)
    assert (index.stat().st_mtime_ns, schema.stat().st_mtime_ns) == stamps
    assert again.as_json() == first.as_json()
    assert again.complete
    assert guessed(first) == ["urn:n7"]
    first_schema.explain = again_schema.explain = None
    assert again_schema.as_json() == first_schema.as_json()
    assert again_schema.comprehensive


async def test_a_stored_schema_is_complete_at_once_although_the_graph_is_large(graph: Path, store: Path) -> None:
    await asked(graph, store, profile=LARGE)
    async with open_gateway(graph, store=store, profile=LARGE) as gateway:
        answer = await gateway.describe_schema(explain=True)
    assert answer.comprehensive
    assert answer.entity_types_total == 3
    assert answer.explain is not None
    # Values are not stored: they come from some nodes of the types that are known.
    of_values = {"schema/used_types", "schema/subjects", "schema/without_evidence", "evidence/in_use", "literals"}
    assert {sent.template for sent in answer.explain.sent} <= of_values


async def test_with_and_without_a_store_the_answers_are_the_same(graph: Path, store: Path) -> None:
    plain_schema, plain = await asked(graph, None)
    for _ in range(2):
        schema, found = await asked(graph, store)
        assert found.as_json() == plain.as_json()
        schema.explain = plain_schema.explain = None
        assert schema.as_json() == plain_schema.as_json()


async def test_a_graph_with_names_by_a_predicate_of_its_own_is_searched_alike_in_the_second_run(
    graph: Path, store: Path
) -> None:
    write(graph, GRAPH.replace(LABEL, "http://example.org/title"))
    schema, first = await asked(graph, store)
    assert schema.names == ["http://example.org/title"]
    assert guessed(first) == ["urn:n7"]
    async with open_gateway(graph, store=store) as gateway:
        gateway.start()
        await gateway.wait_until_ready()
        again = await gateway.search_entities("nmae 7")
    assert again.as_json() == first.as_json()
    assert len(stored(store, "labels-*.sqlite")) == 1


async def test_a_usual_name_goes_before_one_of_the_graphs_own_in_the_second_run_too(graph: Path, store: Path) -> None:
    own = GRAPH.replace(LABEL, "http://example.org/title")
    write(graph, f'{own}<urn:n7> <{LABEL}> "the usual name 7" .')
    schema, first = await asked(graph, store, "usual name")
    assert schema.names == ["rdfs:label", "http://example.org/title"]
    assert [hit.name for hit in first.result] == ["the usual name 7"]
    (index,) = stored(store, "labels-*.sqlite")
    _, again = await asked(graph, store, "usual name")
    assert again.as_json() == first.as_json()
    assert stored(store, "labels-*.sqlite") == [index]


async def test_what_was_stored_of_other_content_is_not_used_and_is_removed(graph: Path, store: Path) -> None:
    await asked(graph, store)
    (before,) = stored(store, "labels-*.sqlite")
    write(graph, GRAPH + f'<urn:new> <{LABEL}> "brand new" .')
    # What the first gateway holds of its store is let go.
    gc.collect()
    _, found = await asked(graph, store, "brand new")
    assert [hit.id for hit in found.result] == ["urn:new"]
    assert not before.exists()
    assert len(stored(store, "labels-*.sqlite")) == 1


async def test_another_way_to_read_the_graph_has_a_schema_of_its_own_and_the_same_names(
    graph: Path, store: Path
) -> None:
    await asked(graph, store)
    (index,) = stored(store, "labels-*.sqlite")
    stamp = index.stat().st_mtime_ns
    await asked(graph, store, profile=LARGE)
    assert len(stored(store, "schema.json")) == 2
    assert stored(store, "labels-*.sqlite") == [index]
    assert index.stat().st_mtime_ns == stamp


async def test_other_roles_have_an_index_of_their_own(graph: Path, store: Path) -> None:
    await asked(graph, store)
    _, other = await asked(graph, store, profile=Profile(roles=RoleSettings(name=("urn:none",))))
    assert other.result == []
    assert len(stored(store, "labels-*.sqlite")) == 2
    _, again = await asked(graph, store)
    assert guessed(again) == ["urn:n7"]
    assert len(stored(store, "labels-*.sqlite")) == 2


@pytest.mark.parametrize("damage", ["cut", "no database", "another version"])
async def test_a_stored_index_that_is_damaged_is_made_again(
    graph: Path, store: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, first = await asked(graph, store)
    (index,) = stored(store, "labels-*.sqlite")
    match damage:
        case "cut":
            index.write_bytes(index.read_bytes()[:-5_000])
        case "no database":
            index.write_bytes(b"this is no database" * 1_000)
        case _:
            database = sqlite3.connect(index)
            database.execute("UPDATE facts SET value = '0' WHERE key = 'format'")
            database.commit()
            database.close()
    with caplog.at_level(logging.WARNING):
        _, again = await asked(graph, store)
    assert "is not used and is rebuilt" in caplog.text
    assert again.as_json() == first.as_json()
    caplog.clear()
    await asked(graph, store)
    assert caplog.text == ""


async def test_an_index_that_cannot_be_stored_is_made_for_this_run(
    graph: Path, store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_gateway(graph, store=store):
        pass
    write(derived(store), "not a folder")
    _, found = await asked(graph, store)
    assert guessed(found) == ["urn:n7"]
    assert found.complete
    assert "cannot be stored" in caplog.text


async def test_several_gateways_of_one_process_store_the_index_of_one_graph_at_once(
    graph: Path, store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_gateway(graph, store=store):
        pass
    answers = await asyncio.gather(*(asked(graph, store) for _ in range(4)))
    assert all(found.complete and guessed(found) == ["urn:n7"] for _, found in answers)
    assert caplog.text == ""
    assert len(stored(store, "labels-*")) == 1


@pytest.mark.parametrize("is_built", [True, False])
async def test_an_index_that_a_killed_process_left_unfinished_is_removed_after_a_day(
    graph: Path, store: Path, is_built: bool
) -> None:
    await asked(graph, store)
    (index,) = stored(store, "labels-*")
    if not is_built:
        index.unlink()
    old, new = index.with_suffix(".1.new"), index.with_suffix(".2.new")
    for left in (old, new):
        write(left, "unfinished")
    os.utime(old, (time.time() - 90_000,) * 2)
    await asked(graph, store)
    assert stored(store, "labels-*") == sorted([index, new])


def test_one_search_on_the_command_line_stores_the_index_and_the_schema(
    graph: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "nmae 7", "-g", str(graph), "--store", str(store), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["complete"] is True
    assert len(stored(store, "labels-*.sqlite")) == len(stored(store, "schema.json")) == 1


@pytest.mark.slow
async def test_nodes_without_a_name_are_counted_once_for_all_runs(graph: Path, store: Path) -> None:
    # Each of a sample has a name, so only counting all of them shows that all have one.
    write(
        graph,
        "".join(f'<urn:n{n}> <{LABEL}> "name {n}" ; <urn:p> <urn:n{(n + 1) % 11_000}> .\n' for n in range(11_000)),
    )

    async def missed(profile: Profile | None = None) -> tuple[bool, list[str]]:
        async with open_gateway(graph, store=store, profile=profile) as gateway:
            answer = await gateway.search_entities("qxzzyv", explain=True)
        assert answer.explain is not None
        sent = [sent.template for sent in answer.explain.sent]
        return answer.complete, [template for template in sent if template in {"schema/ends", "schema/nameless"}]

    assert await missed() == (True, ["schema/ends", "schema/nameless"])
    assert await missed() == (True, [])
    assert await missed(Profile(roles=RoleSettings(name=("urn:none",)))) == (False, ["schema/ends"])
    (kept,) = stored(store, "nameless.json")
    write(kept, "{")
    assert await missed() == (True, ["schema/ends", "schema/nameless"])


async def test_a_graph_that_was_waited_for_has_its_nodes_without_a_name_counted(graph: Path, store: Path) -> None:
    await asked(graph, store)
    assert len(stored(store, "nameless.json")) == 1


@pytest.mark.parametrize("options", [["--json"], ["--text"], ["--shape", "reference"], ["--contact", "me@example.org"]])
def test_another_way_to_print_an_answer_reads_neither_names_nor_schema_again(
    graph: Path, store: Path, options: list[str]
) -> None:
    given = ["search", "nmae 7", "-g", str(graph), "--store", str(store)]
    assert main(given) == 0
    (index,), (schema,) = stored(store, "labels-*.sqlite"), stored(store, "schema.json")
    stamps = (index.stat().st_mtime_ns, schema.stat().st_mtime_ns)
    assert main([*given, *options]) == 0
    assert (stored(store, "labels-*.sqlite"), stored(store, "schema.json")) == ([index], [schema])
    assert (index.stat().st_mtime_ns, schema.stat().st_mtime_ns) == stamps


NAMES = {f"urn:n{n:02}": [f"name {n}"] for n in range(12)}


def _files(folder: Path, pattern: str) -> list[Path]:
    return list(folder.glob(pattern))


@contextlib.contextmanager
def _alone(draft: Path) -> Iterator[None]:
    """Have a database alone, as soon as nobody else has it."""
    with contextlib.closing(sqlite3.connect(draft, timeout=60)) as database:
        database.execute("BEGIN EXCLUSIVE")
        yield
        database.execute("ROLLBACK")


async def _built(names: Listed, folder: Path) -> list[str] | None:
    """Build the index of a graph in a folder; return what a search finds in it, or None if there is no index."""
    labels = InProcessIndexSource(names, allowance, folder)
    try:
        await labels.built(no_progress)
        index = await labels.index(Deadline.after(1)) if names.pages_left is None else None
        return None if index is None else sorted(await found(index, "name 7"))
    finally:
        await labels.close()


async def test_an_index_that_was_interrupted_goes_on_where_it_stopped(tmp_path: Path) -> None:
    at_once = Listed(NAMES)
    assert await _built(at_once, tmp_path / "at once") == ["urn:n07"]
    interrupted, resumed = Listed(NAMES, pages_left=2), Listed(NAMES)
    assert await _built(interrupted, tmp_path / "stored") is None
    (draft,) = _files(tmp_path / "stored", "*.draft")
    with _alone(draft):
        pass  # The thread of the first reading has closed the file.
    assert await _built(resumed, tmp_path / "stored") == ["urn:n07"]
    assert interrupted.asked[:2] + resumed.asked == at_once.asked
    assert not _files(tmp_path / "stored", "*.draft")


async def test_names_that_another_process_reads_or_that_are_damaged_are_read_into_a_temporary_database(
    tmp_path: Path,
) -> None:
    assert await _built(Listed(NAMES, pages_left=2), tmp_path) is None
    (draft,) = _files(tmp_path, "*.draft")
    with _alone(draft):
        assert await _built(Listed(NAMES), tmp_path) == ["urn:n07"]
    for index in _files(tmp_path, "labels-*.sqlite"):
        index.unlink()
    draft.write_bytes(b"no database" * 100)
    assert await _built(Listed(NAMES), tmp_path) == ["urn:n07"]
    assert not draft.exists()
