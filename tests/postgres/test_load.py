"""`load`: what was written answers as the files do, and a load that fails changes nothing."""

import random
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from gateway.api import open_gateway
from gateway.settings.load import load_profile
from gateway.tools.gateway import Gateway
from tests.calls import Json, asked, connected
from tests.cli.conftest import FIXTURES, Run, run  # noqa: F401 - a fixture
from tests.clocks import fixed_wall_clock
from tests.columns import declared_prefixes
from tests.databases.proxy import PostgresMessages, running_proxy
from tests.postgres.database import Database
from tests.servers.loopback import HOST
from tests.servers.postgres import USER
from tests.shared_data import shared_data

pytestmark = pytest.mark.server

FILMS = FIXTURES / "films.ttl"
_COUNTED = ("counts", "comprehensive")
"""What the schemas of all engines have in common."""

_LONG = "".join(f"{number:x}" for number in range(1_500))
"""Text that PostgreSQL does not compress below what an index takes."""


@pytest.fixture
def load(run: Run, database: Database) -> Run:  # noqa: F811 - the fixture
    """Run `load` with the password of the server."""
    return lambda *argv: run("load", *argv, "--user", USER, "--password-file", database.server.password)


def _opened(database: Database, name: str, prefixes: dict[str, str]) -> Gateway:
    profile = load_profile("bfsql-postgres")
    endpoint = profile.endpoint.model_copy(update={"access": database.access()})
    profile = profile.model_copy(update={"endpoint": endpoint})
    return open_gateway(database.url(name), profile=profile, prefixes=prefixes, wall_clock=fixed_wall_clock)


async def _answers(gateway: Gateway) -> list[Json]:
    async with connected(gateway) as client:
        hops = await asked(client, "bfs_query", seeds=["RxNorm:3251"], max_hops=2, max_tokens=100_000)
        described = await asked(client, "describe_entity", id="MeSH:D003480")
        shared = await asked(client, "intersect_subgraphs", seeds=["RxNorm:3251", "MeSH:D003480"], k=2)
        schema = await asked(client, "describe_schema")
    return [hops, described, shared, {key: schema[key] for key in _COUNTED}]


@pytest.mark.anyio
@pytest.mark.data
async def test_a_loaded_graph_answers_as_its_file_does(load: Run, database: Database) -> None:
    file = shared_data("medlit.ttl.gz")
    url = database.make_database("medlit")
    # The command runs an event loop of its own.
    ran = await anyio.to_thread.run_sync(lambda: load(file, "--to", url))
    assert (ran.status, ran.err) == (0, "")
    prefixes = declared_prefixes(file)
    profile = load_profile("bfsql-postgres")
    there = await _answers(_opened(database, "medlit", prefixes))
    here = await _answers(open_gateway(file, profile=profile, prefixes=prefixes, wall_clock=fixed_wall_clock))
    assert there == here
    assert len(there[0]["nodes"]) == 84
    assert there[0]["complete"] is True


_BEGINNINGS = (
    *("http://e.test/", "https://e.test/a#", "ftp://e.test/", "ex://host/", "file:///", "x:/", "urn:", "urn:uuid:"),
    *("tag:e.test,2026:", "info:", "mailto:a@", "doi:10.", "tel:+1", "geo:", "RxNorm:", "Foo::", "a:", "x.y+z-1:"),
    # What prefixes of the file and of the profile, and the bases, make of texts.
    *("declared:", "near:", "id:", "term:", "http://e.test/declared/", "mailto:near", "HTTP:"),
    *(
        f"urn:x-bfsql:{kind}:{rest}"
        for kind in ("id", "term")
        for rest in ("", "a%20b", "a/b", "a%2fb", "%40x", "ex%3A")
    ),
)
_LOCAL = ("n", "é", "字", "%2F", "%C3%A9", "/", ":", "'", "(", ")", "@", ";", "?q=1", "#f", "!", "$", "*", "~", "//")
_DECLARED = {"declared": "http://e.test/declared/", "near": "mailto:near"}


def _drawn_iris(draw: random.Random, count: int) -> list[str]:
    """Draw IRIs of all kinds, which end in different numbers."""
    return [
        f"{draw.choice(_BEGINNINGS)}{''.join(draw.choices(_LOCAL, k=draw.randrange(4)))}{number}"
        for number in range(count)
    ]


def _drawn_graph(draw: random.Random, nodes: Sequence[str]) -> str:
    """Return a graph in Turtle in which each node has a name, a type, a property and two edges, one with a source."""
    predicates, types, properties = (_drawn_iris(draw, 6) for _ in range(3))
    lines = [f"@prefix {name}: <{namespace}> ." for name, namespace in _DECLARED.items()]
    lines += ["@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> ."]
    for number, node in enumerate(nodes):
        edge = f"<{draw.choice(predicates)}>", f"<{draw.choice(nodes)}>"
        lines += [
            f'<{node}> a <{draw.choice(types)}> ; <http://www.w3.org/2000/01/rdf-schema#label> "name{number}" .',
            f'<{node}> <{draw.choice(properties)}> "value{number}" .',
            f"<{node}> <{draw.choice(predicates)}> <{draw.choice(nodes)}> ; {' '.join(edge)} .",
            f"[] rdf:subject <{node}> ; rdf:predicate {edge[0]} ; rdf:object {edge[1]} ;",
            f"  <http://www.w3.org/ns/prov#wasDerivedFrom> <{draw.choice(nodes)}> .",
        ]
    return "\n".join(lines)


async def _all_that_is_known(gateway: Gateway, nodes: Sequence[str]) -> dict[str, Json]:
    """Return what each tool says of each node, asked for by its IRI."""
    said: dict[str, Json] = {}
    async with connected(gateway) as client:
        for number, node in enumerate(nodes):
            iri, other = f"<{node}>", f"<{nodes[number - 1]}>"
            said[f"bfs {node}"] = await asked(client, "bfs_query", seeds=[iri], max_hops=1, max_tokens=100_000)
            said[f"describe {node}"] = await asked(client, "describe_entity", id=iri)
            said[f"search {node}"] = await asked(client, "search_entities", query=f"name{number}")
            said[f"shared {node}"] = await asked(client, "intersect_subgraphs", seeds=[iri, other], k=1)
        said["describe all"] = await asked(client, "describe_entities", ids=[f"<{node}>" for node in nodes])
        schema = await asked(client, "describe_schema")
        said["schema"] = {key: schema[key] for key in _COUNTED}
    return {question: _content(answer) for question, answer in said.items()}


def _content(answer: Json) -> Json:
    """Return what an answer says of the graph, and not how it was found."""
    return {key: value for key, value in answer.items() if key not in {"searched", "read", "cost", "hint", "as_of"}}


@pytest.mark.anyio
@pytest.mark.parametrize("seed", ["2026 a", "2026 b", "2026 c"])
async def test_an_iri_of_any_kind_stays_what_it_is_for_every_tool(
    load: Run, database: Database, tmp_path: Path, seed: str
) -> None:
    draw = random.Random(seed)  # noqa: S311 - a test that can be repeated
    nodes = _drawn_iris(draw, 40)
    file = tmp_path / "drawn.ttl"
    file.write_text(_drawn_graph(draw, nodes), encoding="utf-8")
    url = database.make_database(f"iris {seed}")
    ran = await anyio.to_thread.run_sync(lambda: load(file, "--to", url))
    assert (ran.status, ran.err) == (0, "")
    profile = load_profile("bfsql-postgres")
    there = await _all_that_is_known(_opened(database, f"iris {seed}", _DECLARED), nodes)
    here = await _all_that_is_known(open_gateway(file, profile=profile, wall_clock=fixed_wall_clock), nodes)
    differing = {question for question, answer in here.items() if there[question] != answer}
    assert differing == set()


@pytest.mark.anyio
@pytest.mark.parametrize("iri", ["mailto:a@b.test", "doi:10.1000/182", "id:5", "urn:x-bfsql:id:a/b", "declared:1"])
async def test_a_loaded_iri_is_found_without_the_prefixes_of_the_file(
    load: Run, database: Database, tmp_path: Path, iri: str
) -> None:
    file = tmp_path / "one.ttl"
    file.write_text(f"@prefix declared: <http://e.test/declared/> . <{iri}> <http://e.test/p> <http://e.test/o> .")
    url = database.make_database(f"one {iri}")
    ran = await anyio.to_thread.run_sync(lambda: load(file, "--to", url))
    assert (ran.status, ran.err) == (0, "")
    async with _opened(database, f"one {iri}", {}) as gateway:
        answer = await gateway.bfs_query([f"<{iri}>"], 1)
    assert (answer.complete, answer.edge_count) == (True, 1)


def test_the_report_has_counts_and_the_prefixes_of_the_files(load: Run, database: Database) -> None:
    ran = load(FILMS, "--to", database.make_database("reported"))
    assert ran.status == 0
    assert "Loaded 78 nodes, 138 edges and 61 statements about edges into entity, relationship" in ran.out
    assert "[prefixes]\n" in ran.out


def test_tables_that_are_there_are_left_alone_before_a_file_is_read(
    load: Run, database: Database, tmp_path: Path
) -> None:
    url = database.make_database("there", "CREATE TABLE relationship (one int); INSERT INTO relationship VALUES (1)")
    ran = load(tmp_path / "absent.ttl", "--to", url)
    assert ran.status == 2
    assert "has tables of these names already" in ran.err
    assert database.rows("SELECT one FROM relationship", "there") == [(1,)]
    assert database.rows("SELECT to_regclass('entity') IS NULL", "there") == [(True,)]


def test_a_graph_takes_the_place_of_another_one(load: Run, database: Database, tmp_path: Path) -> None:
    url = database.make_database("replaced")
    assert load(FILMS, "--to", url).status == 0
    other = tmp_path / "other.nt"
    other.write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    assert load(other, "--to", url, "--replace").status == 0
    assert database.rows("SELECT entity_id FROM entity ORDER BY 1", "replaced") == [("http://e/a",), ("http://e/b",)]


def test_given_and_family_names_beside_a_name_are_a_further_name(load: Run, database: Database, tmp_path: Path) -> None:
    file = tmp_path / "people.ttl"
    file.write_text(
        """@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        <http://e/a> rdfs:label "Mister B" ; foaf:givenName "Bob" ; foaf:familyName "Ley" ; foaf:knows <http://e/b> .
        <http://e/b> foaf:givenName "Ada" ; foaf:familyName "Roy" .""",
        encoding="utf-8",
    )
    assert load(file, "--to", database.make_database("people")).status == 0
    rows = database.rows("SELECT name, synonyms FROM entity ORDER BY entity_id", "people")
    assert rows == [("Mister B", '["Bob Ley"]'), ("Ada Roy", "[]")]


def test_what_cannot_be_an_id_is_left_out_and_counted(load: Run, database: Database, tmp_path: Path) -> None:
    file = tmp_path / "long.nt"
    file.write_text(f"<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> <urn:{'x' * 2_000}> .\n", encoding="utf-8")
    ran = load(file, "--to", database.make_database("long", ""))
    assert (ran.status, "1 edge" in ran.out) == (0, True), ran.err
    assert "1 part of the graph with an IRI that is none, or is too long for an ID: left out." in ran.err


def test_a_load_that_fails_leaves_the_graph_that_was_there(load: Run, database: Database, tmp_path: Path) -> None:
    url = database.make_database("kept")
    assert load(FILMS, "--to", url).status == 0
    before = database.rows("SELECT count(*) FROM entity", "kept")
    wrong = tmp_path / "wrong.nt"
    wrong.write_text(f"<http://e/a> <http://e/p> <http://e/{_LONG}> .\n")
    ran = load(wrong, "--to", url, "--replace")
    assert ran.status == 2
    assert "too long for an index" in ran.err
    assert database.rows("SELECT count(*) FROM entity", "kept") == before


@pytest.mark.anyio
async def test_a_load_of_which_a_row_is_lost_on_the_way_is_undone(load: Run, database: Database) -> None:
    database.make_database("lost")

    def one_less(message: bytes, _: int) -> bytes:
        return message.replace(b"COPY 78\0", b"COPY 77\0")

    async with running_proxy(database.server.port, PostgresMessages) as proxy:
        proxy.edited = one_less
        url = f"postgresql://{USER}@{HOST}:{proxy.port}/lost"
        ran = await anyio.to_thread.run_sync(lambda: load(FILMS, "--to", url))
    assert ran.status == 2
    assert "took other rows than were sent" in ran.err
    assert database.rows("SELECT to_regclass('entity') IS NULL", "lost") == [(True,)]


def test_the_profile_names_the_tables(load: Run, database: Database, tmp_path: Path) -> None:
    url = database.make_database("named", "CREATE SCHEMA app")
    profile = tmp_path / "app.toml"
    tables = "".join(f'[postgres.{name}]\ntable = "app.{name}"\n' for name in ("nodes", "edges", "evidence"))
    profile.write_text(f'extends = "bfsql-postgres"\n{tables}')
    assert load(FILMS, "--to", url, "--profile", profile).status == 0
    assert database.rows("SELECT count(*) FROM app.nodes", "named") == [(78,)]


def test_columns_of_other_names_are_refused(load: Run, database: Database, tmp_path: Path) -> None:
    profile = tmp_path / "columns.toml"
    profile.write_text('extends = "bfsql-postgres"\n[postgres.nodes]\nid = "key"\n')
    ran = load(FILMS, "--to", database.url(), "--profile", profile)
    assert (ran.status, ran.out) == (2, "")
    assert "other columns in postgres.nodes" in ran.err


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("ALTER DATABASE refused SET default_transaction_read_only = on", "takes no changes"),
        ("ALTER DATABASE refused SET search_path = nowhere", "no such schema"),
    ],
)
def test_a_database_that_takes_no_tables_is_an_error_that_says_why(
    load: Run, database: Database, sql: str, said: str
) -> None:
    name = f"refused_{said.replace(' ', '_')}"
    database.make_database(name)
    database.execute(sql.replace("refused", name))
    ran = load(FILMS, "--to", database.url(name))
    assert ran.status == 2
    assert said in ran.err


@pytest.mark.parametrize("url", ["neo4j://127.0.0.1/graph", "http://127.0.0.1/sparql", "postgresql://:x@127.0.0.1/a"])
def test_a_graph_is_loaded_into_postgresql_only(load: Run, url: str) -> None:
    ran = load(FILMS, "--to", url)
    assert (ran.status, ran.out) == (2, "")
    assert "postgresql://" in ran.err or "password" in ran.err
