"""What one command stores for the next: names, coined prefixes and indexes, of what a profile shows."""

import asyncio
import json
import random
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gateway.cli.graph_source import GraphSource, needs_of
from gateway.cli.options import CommonOptions
from tests.cases import check_each
from tests.cli.conftest import FIXTURES, Run
from tests.examples import examples
from tests.search_index.small_indexes import ManyNames, over_names
from tests.search_index.test_indexed_store import answering
from tests.transport.fake_endpoint import fake_endpoint

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
GRAPH = "".join(f'<urn:n{n}> <{LABEL}> "name {n}" ; <urn:p> <urn:n{(n + 1) % 60}> .\n' for n in range(60))

BY_NAME: Sequence[Sequence[str]] = [
    ["bfs", "name 7"],
    ["bfs", "name 7", "--all"],
    ["bfs", "name 7", "--format", "turtle"],
    ["describe", "name 7"],
    ["describe", "urn:n1", "name 7"],
    ["intersect", "name 7", "urn:n9"],
]


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    return path


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A profile under which the graph is too large for the quick reading of its schema."""
    path = tmp_path / "large.toml"
    path.write_text("[orientation]\nglance_triples = 20\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("command", BY_NAME, ids=" ".join)
def test_a_first_command_by_name_stores_names_and_schema_for_the_next_one(
    run: Run, graph: Path, large: Path, tmp_path: Path, command: Sequence[str]
) -> None:
    store = tmp_path / "store"
    assert run(*command, "-g", graph, "-p", large, "--store", store).status == 0
    for name in ("labels-*.sqlite", "schema.json"):
        assert len(list(store.glob(f"*/graph/store-*/derived/*/{name}"))) == 1


def test_names_and_schema_of_a_file_of_a_megabyte_are_there_for_the_second_command(run: Run, tmp_path: Path) -> None:
    graph, cache = tmp_path / "graph.ttl", tmp_path / "cache"
    graph.write_text(GRAPH + f'<urn:long> <urn:text> "{"long " * 210_000}" .\n', encoding="utf-8")
    assert run("bfs", "name 7", "-g", graph, "--cache", cache).status == 0
    stored = sorted(cache.glob("*/graph/store-*/derived/*/*.*"))
    assert {path.name for path in stored} > {"schema.json", "nameless.json"}
    stamps = [path.stat().st_mtime_ns for path in stored]
    assert run("bfs", "name 7", "-g", graph, "--cache", cache).status == 0
    assert [path.stat().st_mtime_ns for path in stored] == stamps


def test_a_command_by_id_reads_no_names(run: Run, graph: Path, large: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert run("bfs", "urn:n7", "-g", graph, "-p", large, "--store", store).status == 0
    assert not list(store.glob("*/graph/store-*/derived/*/labels-*"))


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "waits"),
    [
        ("search_entities", {"query": "Ann"}, True),
        ("search_entities", {"query": "", "node_types": ["T"]}, False),
        ("bfs_query", {"seeds": ["x:ann", "Ann Ley"]}, True),
        ("bfs_query", {"seeds": ["x:ann"]}, False),
        ("describe_entity", {"id": "Ann: the film"}, True),
        ("describe_entity", {"id": "https://example.org/x/ann"}, False),
        ("describe_entities", {"ids": ["x:ann", "x:dee"]}, False),
        ("describe_schema", {}, False),
    ],
)
async def test_a_command_on_files_that_are_not_stored_waits_for_the_names_that_it_compares(
    tool: str, arguments: dict[str, object], waits: bool
) -> None:
    names, said = ManyNames(), list[str]()

    async def progress(_done: int, _total: int, message: str) -> None:
        said.append(message)
        names.seen.set()

    async with over_names("x:ann rdfs:label 'Ann Ley' .", names) as gateway:
        await GraphSource(CommonOptions()).wait(gateway, tool, arguments, progress)
    assert ("Reading names of 20,003 entities" in said) is waits


@pytest.mark.parametrize(
    ("tool", "arguments", "needed"),
    [
        ("describe_schema", {}, "schema.json"),
        ("search_entities", {"query": "Ann"}, "labels-*.sqlite"),
        ("bfs_query", {"seeds": ["x:ann", "Ann Ley"]}, "labels-*.sqlite"),
        ("intersect_subgraphs", {"seeds": ["x:ann Ann Ley", "x:dee"]}, ""),
        ("describe_entity", {"id": "Ann"}, "labels-*.sqlite"),
        ("describe_entities", {"ids": ["x:ann", "<https://example.org/x/dee>"]}, ""),
    ],
)
def test_a_stored_graph_is_in_memory_while_that_is_read_of_it_which_a_command_waits_for(
    tool: str, arguments: dict[str, object], needed: str
) -> None:
    assert needs_of(tool, arguments) == needed


DATA = "http://data.example.org/resources/"


@pytest.fixture
def bare_graph(tmp_path: Path) -> str:
    """Write a graph without prefixes."""
    lines = [
        line
        for number in range(12)
        for line in (
            f"<{DATA}hub> <{DATA}has> <{DATA}n{number}> .",
            f'<{DATA}n{number}> <{LABEL}> "Node {number}" .',
        )
    ]
    (tmp_path / "graph.nt").write_text("\n".join(lines), encoding="utf-8")
    return str(tmp_path / "graph.nt")


def test_an_id_that_one_command_prints_is_an_argument_of_the_next(run: Run, bare_graph: str) -> None:
    found = run("search", "node", "-g", bare_graph).out
    short = next(word for word in found.split() if word.endswith(":n7"))
    name = short.partition(":")[0]
    assert f"{name}: stands for {DATA}" in found
    described = run("describe", short, "-g", bare_graph).out
    assert f"{DATA}n7" in described
    assert f"{name}: stands for {DATA}" in described
    traversal = run("bfs", short, "--hops", "2", "-g", bare_graph).out
    assert f"{name}:n11" in traversal
    assert f"{name}: stands for {DATA}" in traversal


def test_the_store_has_them_where_one_is_given(run: Run, bare_graph: str, tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store")]
    answer = json.loads(run("bfs", f"{DATA}hub", "--hops", "1", "-g", bare_graph, *store, "--json").out)
    assert [*answer["prefixes"].values()] == [DATA]
    (name,) = answer["prefixes"]
    (stored,) = (tmp_path / "store").rglob("prefixes.jsonl")
    assert [json.loads(line) for line in stored.read_text().split()] == [[name, DATA]]
    assert f"{DATA}n7" in run("describe", f"{name}:n7", "-g", bare_graph, *store).out


def test_a_declared_prefix_leaves_nothing_to_coin(run: Run, bare_graph: str) -> None:
    assert "stands for" not in run("bfs", "r:hub", "--hops", "1", "-g", bare_graph, "--prefix", f"r={DATA}").out


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


FILMS = FIXTURES / "films.ttl"
X = "https://example.org/films"


@pytest.fixture
def hiding(tmp_path: Path) -> Path:
    path = tmp_path / "hiding.toml"
    path.write_text(
        f'[prefixes]\nf = "{X}/"\n[hidden]\npredicates = ["f:actedIn"]\nliterals = ["f:released"]\n', encoding="utf-8"
    )
    return path


COMMANDS = [
    ["schema", "--all"],
    ["search", "Ripley"],
    ["search", "acted"],
    ["bfs", f"{X}/film/Alien", "--max-hops", "2"],
    ["describe", f"{X}/film/Alien"],
    ["intersect", f"{X}/film/Alien", f"{X}/film/Aliens", "-k", "2"],
]


@pytest.mark.slow
def test_no_command_shows_what_a_profile_hides(run: Run, tmp_path: Path, hiding: Path) -> None:
    def words(command: list[str], *options: str | Path) -> set[str]:
        ran = run(*command, "--graph", FILMS, "--json", *options)
        shown = ran.out + ran.err
        asked = " ".join(command)
        return {word for word in ("actedIn", "Ripley", "1979", "released") if word in shown and word not in asked}

    def check(command: list[str]) -> None:
        store = ("--store", tmp_path / "store")
        seen.update(words(command, *store))
        for _ in range(2):
            assert not words(command, *store, "--profile", hiding)
        assert not words(command, "--profile", hiding)

    seen: set[str] = set()
    check_each(COMMANDS, check)
    # Without the policy they show all of it.
    assert seen == {"actedIn", "Ripley", "1979", "released"}


def test_a_check_of_a_graph_counts_what_is_left(run: Run, hiding: Path) -> None:
    whole, left = (
        run("check", "--graph", FILMS, "--json"),
        run("check", "--graph", FILMS, "--json", "--profile", hiding),
    )
    assert whole.status == left.status == 0
    assert whole.out != left.out


@pytest.mark.slow
def test_an_endpoint_that_does_not_answer_is_reported_without_what_is_hidden(run: Run, hiding: Path) -> None:
    for command in (["schema"], ["index"], ["refresh"]):
        ran = run(*command, "--endpoint", "http://127.0.0.1:9/sparql", "--profile", hiding)
        assert ran.status == 2
        assert "the connection was refused" in " ".join(ran.err.split())
        assert "actedIn" not in ran.err


def test_an_endpoint_is_not_checked_by_a_profile_that_hides_something(run: Run, hiding: Path) -> None:
    ran = run("check", "--endpoint", "http://127.0.0.1:9/sparql", "--profile", hiding)
    assert ran.status == 2
    assert "the profile hides a part of it" in ran.err


REPEATED = (("bfs", f"{DATA}hub"), ("search", "node"), ("describe", f"{DATA}hub"), ("schema",))


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--json", "--text"])
@pytest.mark.parametrize("is_stored", [False, True])
def test_a_command_writes_the_same_bytes_each_time_with_others_between(
    run: Run, bare_graph: str, tmp_path: Path, option: str, is_stored: bool
) -> None:
    place = ["--store", str(tmp_path / "store")] if is_stored else []
    drawn = random.Random(7)  # noqa: S311 - a drawn order
    seen: dict[tuple[str, ...], set[str]] = {command: set() for command in REPEATED}
    for _ in range(examples(10)):
        for command in drawn.sample(REPEATED, len(REPEATED)):
            # But for the minute in which the schema was read.
            seen[command].add(re.sub(r'"read_at":"[^"]*"', "", run(*command, option, "-g", bare_graph, *place).out))
    assert {command: len(texts) for command, texts in seen.items()} == dict.fromkeys(REPEATED, 1)


def test_a_command_shows_texts_in_the_language_that_is_asked_for_and_counts_others(run: Run, tmp_path: Path) -> None:
    graph = tmp_path / "two.ttl"
    graph.write_text(
        '@prefix x: <http://example.org/x/> . x:a a x:T ; x:said "one"@en , "eins"@de ; x:p x:b . x:b a x:T .\n',
        encoding="utf-8",
    )
    ran = run("list", "x:T", "--value", "said", "--language", "de", "-g", graph)
    assert "eins" in ran.out
    assert "one" not in ran.out
    assert "Not shown, in other languages: en 1. See --language." in ran.out + ran.err
    described = run("describe", "x:a", "--language", "de", "-g", graph, "--json")
    assert json.loads(described.out)["x:said"] == "eins"
    assert "it must be a language tag" in run("describe", "x:a", "--language", "German tongue", "-g", graph).err
