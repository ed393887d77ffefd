"""A database that the reference implementation filled is read as it is: its tables, made by hand."""

import json
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.errors import EndpointFault
from gateway.settings.databases import EdgeTable, EvidenceTable, NodeTable, PostgresSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.stores.endpoints import make_label_index
from gateway.tools.entity_finder import LOCAL_NAMES_NOT_COMPARED
from gateway.tools.gateway import Gateway
from tests.calls import asked, connected
from tests.cases import await_each
from tests.databases.drawn_names import check_nothing_is_lost, drawn_nodes
from tests.postgres.database import Database

pytestmark = [pytest.mark.anyio, pytest.mark.server]

EXISTING = """
CREATE TABLE entity (
  entity_id text PRIMARY KEY, entity_type text, name text, status text, confidence float, source text,
  canonical_url text, synonyms json, properties json, embedding json, usage_count int, merged_into text
);
CREATE TABLE relationship (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), subject_id text, predicate text, object_id text, confidence float,
  source_documents json, properties json, UNIQUE (subject_id, predicate, object_id)
);
INSERT INTO entity
  (entity_id, entity_type, name, status, confidence, synonyms, properties, embedding, usage_count) VALUES
  ('MeSH:D003480', 'disease', 'Cushing syndrome', 'canonical', 0.8, '["CS", "hypercortisolism"]', '{"onset": "slow"}',
    '[0.1, 0.2]', 36),
  ('RxNorm:3251', 'drug', 'desmopressin', 'canonical', 0.8, '[]', '{}', null, 6),
  ('prov:old', 'drug', 'desmopresin', 'merged', 0.5, null, null, null, 0),
  ('a drug/50 %', 'drug', null, null, null, null, null, null, null);
INSERT INTO relationship (subject_id, predicate, object_id, confidence, source_documents, properties) VALUES
  ('RxNorm:3251', 'TREATS', 'MeSH:D003480', 0.95, '["PMC1", "PMC2"]', '{"dose": {"value": 5, "unit": "mg"}}'),
  ('a drug/50 %', 'INTERACTS WITH', 'RxNorm:3251', null, null, null),
  ('RxNorm:3251', 'INTERACTS WITH', 'RxNorm:3251', null, null, null);
"""

_EVIDENCE = """
CREATE TABLE evidence (
  id serial, relationship_id uuid, paper_id text, evidence_type text, confidence_score float, metadata_ jsonb
);
INSERT INTO evidence (relationship_id, paper_id, evidence_type, confidence_score, metadata_)
  SELECT id, 'PMC1', 'rct', 0.9, '{"quote": "it did"}' FROM relationship WHERE predicate = 'TREATS';
"""

_BUNDLE = """
CREATE TABLE bundle_evidence (
  relationship_key text, document_id text, section text, start_offset int, end_offset int, text_span text,
  confidence float, supports boolean
);
INSERT INTO bundle_evidence VALUES
  ('RxNorm:3251:TREATS:MeSH:D003480', 'PMC9', 'results', 1, 5, 'it did', 0.7, true);
"""

UUID = "5d0c5d2e-3a0f-4a2b-9b63-6f6c2b0c8a1"
"""One without its last digit."""

OTHER = """
CREATE SCHEMA "My graph";
CREATE VIEW "My graph"."Things" AS SELECT entity_id AS "the id", name AS title FROM entity;
CREATE VIEW "My graph".links AS SELECT subject_id AS a, predicate AS "is", object_id AS b FROM relationship;
"""


MESH = "http://id.nlm.nih.gov/mesh/"
RXNORM = "http://purl.bioontology.org/ontology/RXNORM/"
PREFIXES = {"MeSH": MESH, "RxNorm": RXNORM}


def profile_of(database: Database, tables: PostgresSettings | None = None) -> Profile:
    """Return the profile that comes with the gateway, with the password in a file."""
    profile = load_profile("bfsql-postgres")
    endpoint = profile.endpoint.model_copy(update={"access": database.access()})
    return profile.model_copy(update={"endpoint": endpoint, "postgres": tables or PostgresSettings()})


def opened(database: Database, url: str, tables: PostgresSettings | None = None) -> Gateway:
    """Open a gateway by URL."""
    return open_gateway(url, profile=profile_of(database, tables), prefixes=PREFIXES)


async def test_its_nodes_and_edges_are_found_with_their_metadata(database: Database) -> None:
    url = database.make_database("plain", EXISTING)
    async with connected(opened(database, url)) as client:
        answer = await asked(client, "bfs_query", seeds=["MeSH:D003480"], max_hops=2)
    assert answer["complete"] is True
    assert {node["id"]: node["entity_type"] for node in answer["nodes"]} == {
        "MeSH:D003480": "term:disease",
        "RxNorm:3251": "term:drug",
        "id:a%20drug%2F50%20%25": "term:drug",
    }
    assert answer["nodes"][0]["metadata"] == {
        "name": "Cushing syndrome",
        "synonyms": ["CS", "hypercortisolism"],
        "total_mentions": 36,
        "confidence": 0.8,
        "term:onset": "slow",
        "term:status": "canonical",
    }
    by_predicate = {(edge["subject"], edge["predicate"]): edge.get("metadata") for edge in answer["edges"]}
    assert by_predicate == {
        ("RxNorm:3251", "term:TREATS"): {
            "confidence": 0.95,
            "source_documents": ["PMC1", "PMC2"],
            "term:dose": {"term:unit": "mg", "term:value": 5},
        },
        ("id:a%20drug%2F50%20%25", "term:INTERACTS%20WITH"): None,
        ("RxNorm:3251", "term:INTERACTS%20WITH"): None,
    }


async def test_the_label_index_has_the_ids_that_the_prefixes_make_and_is_used_with_these_alone(
    database: Database, tmp_path: Path
) -> None:
    url = database.make_database("plain", EXISTING)
    profile = profile_of(database)
    await make_label_index(url, profile, prefixes=PREFIXES, store=tmp_path)
    async with open_gateway(url, profile=profile, prefixes=PREFIXES, store=tmp_path) as gateway:
        # Only an index finds a name with a mistake in it.
        (found,) = (await gateway.search_entities("Cushnig")).guesses or []
        assert (found.id, (await gateway.bfs_query([found.id], 1)).edge_count) == ("MeSH:D003480", 1)
    async with open_gateway(url, profile=profile, prefixes={"RxNorm": RXNORM}, store=tmp_path) as gateway:
        assert not (await gateway.search_entities("Cushnig")).guesses
        (found,) = (await gateway.search_entities("Cushing")).result
        assert (found.id, (await gateway.bfs_query([found.id], 1)).edge_count) == ("MeSH:D003480", 1)


async def test_merged_entities_are_neither_found_nor_counted(database: Database) -> None:
    url = database.make_database("plain", EXISTING)
    async with connected(opened(database, url)) as client:
        found = await asked(client, "search_entities", query="desmopresin")
        schema = await asked(client, "describe_schema")
    assert [hit["id"] for hit in found["result"]] == []
    assert schema["comprehensive"] is True
    assert schema["counts"] == {"term:drug": 2, "term:disease": 1, "term:INTERACTS%20WITH": 2, "term:TREATS": 1}


async def test_a_synonym_is_found_in_any_case(database: Database) -> None:
    url = database.make_database("plain", EXISTING)
    async with connected(opened(database, url)) as client:
        found = await asked(client, "search_entities", query="HyperCortisolism")
        narrow = await asked(client, "search_entities", query="cushing", node_types=["drug"])
    assert [hit["id"] for hit in found["result"]] == ["MeSH:D003480"]
    assert narrow["result"] == []


@pytest.mark.parametrize(
    ("name", "tables", "paper", "confidence"), [("kg", _EVIDENCE, "PMC1", 0.9), ("bundle", _BUNDLE, "PMC9", 0.7)]
)
async def test_each_row_of_evidence_is_an_assertion_beside_that_of_the_edge(
    database: Database, name: str, tables: str, paper: str, confidence: float
) -> None:
    url = database.make_database(name, EXISTING + tables)
    async with connected(opened(database, url)) as client:
        answer = await asked(client, "bfs_query", seeds=["RxNorm:3251"], max_hops=1)
    (edge,) = [edge for edge in answer["edges"] if edge["predicate"] == "term:TREATS"]
    stated = [(one["confidence"], one["source_documents"]) for one in edge["metadata"]["assertions"]]
    assert sorted(stated) == sorted([(0.95, ["PMC1", "PMC2"]), (confidence, [paper])])
    assert edge["metadata"]["source_documents"] == sorted({"PMC1", "PMC2", paper})


_LARGE = """
INSERT INTO entity (entity_id, entity_type, name, properties) VALUES
  ('large', 'drug', 'a large one', json_build_object('text', repeat('x', 300000))),
  ('small', 'drug', 'a small one', '{"http://www.w3.org/2000/01/rdf-schema#comment": "A small one."}');
"""


async def test_a_description_that_could_not_be_read_is_no_absence(database: Database) -> None:
    url = database.make_database("large_properties", EXISTING + _LARGE)
    async with connected(opened(database, url)) as client:
        large = await asked(client, "search_entities", query="large")
        small = await asked(client, "search_entities", query="small")
    assert [(hit["id"], hit["entity_type"]) for hit in large["result"]] == [("id:large", "term:drug")]
    assert (large["complete"], small["complete"]) == (False, True)
    assert any("The descriptions of id:large could not be read" in warning for warning in large["warnings"])
    assert [hit.get("description") for hit in small["result"]] == ["A small one."]


_KEYS = """
DROP TABLE relationship;
CREATE TABLE relationship (id @edge, subject_id text, predicate text, object_id text);
CREATE TABLE evidence (relationship_id @evidence, paper_id text);
INSERT INTO relationship VALUES
  ('@first', 'RxNorm:3251', 'TREATS', 'MeSH:D003480'), ('@second', 'RxNorm:3251', 'CAUSES', 'MeSH:D003480');
INSERT INTO evidence VALUES ('@other', 'PMC1'), ('@second', 'PMC2');
"""


@pytest.mark.parametrize(
    ("name", "edge", "evidence", "keys"),
    [
        ("upper", "text", "uuid", (f"{UUID.upper()}1", f"{UUID}2", f"{UUID}1")),
        ("char", "uuid", "char(36)", (f"{UUID}1", f"{UUID}2", f"{UUID}1")),
        ("padded", "char(40)", "varchar(40)", (f"{UUID}1", f"{UUID}2", f"{UUID}1")),
        ("scaled", "int", "numeric(9, 2)", ("1", "2", "1.00")),
        ("short", "text", "char(3)", ("abcd", "abc", "ab")),
    ],
)
async def test_evidence_is_found_by_a_key_that_its_table_writes_in_another_way(
    database: Database, name: str, edge: str, evidence: str, keys: tuple[str, str, str]
) -> None:
    sql = _KEYS.replace("@edge", edge).replace("@evidence", evidence)
    for place, key in zip(("@first", "@second", "@other"), keys, strict=True):
        sql = sql.replace(place, key)
    url = database.make_database(f"keys_{name}", EXISTING + sql)
    async with connected(opened(database, url)) as client:
        answer = await asked(client, "bfs_query", seeds=["RxNorm:3251"], max_hops=1)
    assert "degraded" not in answer
    documents = {edge["predicate"]: edge.get("metadata", {}).get("source_documents") for edge in answer["edges"]}
    # No evidence has the key of the first edge there; it only begins as that of the second one does.
    assert documents == {"term:TREATS": None if name == "short" else ["PMC1"], "term:CAUSES": ["PMC2"]}


_TWICE = """
ALTER TABLE entity DROP CONSTRAINT entity_pkey;
INSERT INTO entity (entity_id, entity_type, name, properties) VALUES
  ('RxNorm:3251', 'drug', null, null),
  ('RxNorm:3251', 'hormone', 'a later name', '{"onset": "slow"}'),
  ('http://purl.bioontology.org/ontology/RXNORM/3251', 'peptide', null, null);
"""


async def test_a_node_with_several_rows_has_what_all_of_them_say(database: Database) -> None:
    url = database.make_database("twice", EXISTING + _TWICE)
    async with connected(opened(database, url)) as client:
        answer = await asked(client, "describe_entity", id="RxNorm:3251")
    assert (answer["name"], answer["synonyms"], answer["complete"]) == ("a later name", ["desmopressin"], True)
    assert answer["types"] == ["term:drug", "term:hormone", "term:peptide"]
    assert answer["term:onset"] == "slow"


async def test_a_node_with_several_rows_is_counted_once(database: Database) -> None:
    once = database.make_database("once", EXISTING)
    async with connected(opened(database, once)) as client:
        before = await asked(client, "describe_schema")
    async with connected(opened(database, database.make_database("twice", EXISTING + _TWICE))) as client:
        after = await asked(client, "describe_schema")
    assert after["comprehensive"] is True
    assert after["counts"]["term:drug"] == before["counts"]["term:drug"]


async def test_two_views_with_other_columns_are_a_graph(database: Database) -> None:
    url = database.make_database("views", EXISTING + OTHER)
    tables = PostgresSettings(
        nodes=NodeTable(table="My graph.Things", id="the id", name="title"),
        edges=EdgeTable(table="My graph.links", subject="a", predicate="is", object="b"),
    )
    async with connected(opened(database, url, tables)) as client:
        answer = await asked(client, "bfs_query", seeds=["RxNorm:3251"], max_hops=1)
    assert (answer["node_count"], answer["edge_count"], answer["complete"]) == (3, 3, True)
    assert answer["nodes"][0] == {"id": "RxNorm:3251", "entity_type": "untyped", "metadata": {"name": "desmopressin"}}


@pytest.mark.parametrize(
    ("tables", "wrong"),
    [
        (PostgresSettings(nodes=NodeTable(table="no such")), "no table or view 'no such'"),
        (PostgresSettings(nodes=NodeTable(name="title")), "no column 'title'"),
        (PostgresSettings(edges=EdgeTable(columns=("gone",))), "no column 'gone'"),
        (PostgresSettings(edges=EdgeTable(subject="confidence")), "has the type 'double precision'"),
        (PostgresSettings(nodes=NodeTable(properties="source")), "'source' of 'entity' has the type 'text'"),
        (PostgresSettings(edges=EdgeTable(properties="predicate")), "of 'relationship' has the type 'text'"),
        (PostgresSettings(evidence=EvidenceTable(table="entity", edge="source", properties="name")), "the type 'text'"),
        (PostgresSettings(evidence=EvidenceTable(table="nothing")), "no table or view 'nothing'"),
    ],
)
async def test_a_table_or_column_that_is_missing_is_an_error_that_names_it(
    database: Database, tables: PostgresSettings, wrong: str
) -> None:
    url = database.make_database("plain", EXISTING)
    async with opened(database, url, tables) as gateway:
        with pytest.raises(EndpointFault, match=wrong) as caught:
            await gateway.bfs_query(["RxNorm:3251"], 1)
    assert caught.value.valid
    assert "[postgres]" in caught.value.next_step + caught.value.valid


_BESIDE = NodeTable(columns=("title", "note"))


def _named(name: str, synonyms: str) -> str:
    """Return what makes tables with a name and synonyms of some types."""
    return f"""
    CREATE TABLE entity (
      entity_id text, entity_type text, name {name}, synonyms {synonyms}, properties jsonb, source text,
      title jsonb, note jsonb
    );
    CREATE TABLE relationship (subject_id text, predicate text, object_id text);
    """


async def test_no_value_of_a_row_is_lost_whatever_its_names_are(database: Database) -> None:
    drawn = drawn_nodes("2026 names", 120)
    rows = f"""
    INSERT INTO entity (entity_id, name, synonyms, title, note)
    SELECT row ->> 'id', row -> 'name', row -> 'synonyms', row -> 'title', row -> 'note'
    FROM jsonb_array_elements('{json.dumps(drawn)}') AS row;
    """  # noqa: S608 - of a test
    url = database.make_database("drawn_names", _named("jsonb", "jsonb") + rows)
    async with connected(opened(database, url, PostgresSettings(nodes=_BESIDE))) as client:
        await await_each(drawn, lambda node: check_nothing_is_lost(client, node, names=("name",)))


@pytest.mark.parametrize(
    ("name_type", "synonyms_type", "values", "name", "synonyms", "others"),
    [
        (
            "text[]",
            "text[]",
            "ARRAY['A1', '', 'B2'], ARRAY['C3', null]",
            "A1",
            ["B2", "C3"],
            {"term:name": ["", "A1", "B2"]},
        ),
        ("text[]", "text", "'{}', 'C3'", None, ["C3"], {}),
        ("text", "text", "' ', ''", None, [], {"term:name": " ", "term:synonyms": ""}),
        ("int", "int", "1932, 7", "1932", ["7"], {}),
        ("json", "json", "'\"A1\"', '[7, [\"B2\"]]'", "A1", ["7", "B2"], {}),
        (
            "text",
            "jsonb",
            """'A1', '[{"@value": "B2", "@language": "de"}, {"said": "C3"}, [[["D4"]]]]'""",
            "A1",
            ["B2"],
            {"term:synonyms": ["B2", "D4", {"term:said": "C3"}]},
        ),
    ],
)
async def test_a_name_or_synonym_may_be_of_any_type(
    database: Database,
    name_type: str,
    synonyms_type: str,
    values: str,
    name: str | None,
    synonyms: list[str],
    others: dict[str, object],
) -> None:
    sql = f"INSERT INTO entity (entity_id, name, synonyms) SELECT 'urn:n:1', {values};"
    url = database.make_database(f"types_{name_type}_{synonyms_type}", _named(name_type, synonyms_type) + sql)
    async with connected(opened(database, url)) as client:
        described = await asked(client, "describe_entity", id="urn:n:1")
        assert (described.get("name"), described.get("synonyms", [])) == (name, synonyms)
        assert {key: value for key, value in described.items() if key.startswith("term:")} == others
        for text in [*filter(None, [name]), *synonyms]:
            if len(text) > 1:
                found = await asked(client, "search_entities", query=text)
                assert [hit["id"] for hit in found["result"]] == ["urn:n:1"], text


_BOTH = """
INSERT INTO entity (entity_id, name, synonyms, properties, source) VALUES
  ('urn:n:1', 'Beta', '["Gamma", "Alpha"]',
    '{"http://www.w3.org/2000/01/rdf-schema#label": "Alpha", "source": "there", "@type": "T", "@unit": "mg"}', 'here');
ALTER TABLE relationship ADD COLUMN confidence float, ADD COLUMN properties jsonb;
INSERT INTO relationship VALUES ('urn:n:1', 'p', 'urn:n:2', 0.5, '{"confidence": 0.25, "@graph": "urn:n:paper"}');
"""


async def test_what_columns_and_properties_both_say_is_all_shown(database: Database) -> None:
    url = database.make_database("said_by_both", _named("text", "jsonb") + _BOTH)
    async with connected(opened(database, url)) as client:
        answer = await asked(client, "bfs_query", seeds=["urn:n:1"], max_hops=1)
    (node,) = [node for node in answer["nodes"] if node["id"] == "urn:n:1"]
    assert node["entity_type"] == "term:T"
    assert node["metadata"] == {
        "name": "Alpha",
        "synonyms": ["Beta", "Gamma"],
        "source_documents": ["here", "there"],
        "term:%40unit": "mg",
    }
    (edge,) = answer["edges"]
    assert edge["metadata"] == {"confidence": [0.25, 0.5], "source_documents": ["urn:n:paper"]}


_WITHOUT_NAMES = """
INSERT INTO entity (entity_id, entity_type, name) VALUES
  ('bigpump/50', 'drug', null), ('bigpump#a', 'drug', null), ('<http://x.org/pump/>', 'drug', null),
  ('x.org/valve/2', 'drug', null), ('named', 'drug', 'Pump One');
INSERT INTO relationship (subject_id, predicate, object_id) VALUES ('bigpump/50', 'IS', 'named');
"""
_MANY_EDGES = """
INSERT INTO relationship (subject_id, predicate, object_id)
  SELECT 'named', 'IS', 'o' || n FROM generate_series(1, 200001) AS n;
"""


async def test_an_id_that_is_no_iri_is_found_by_any_part_of_it(database: Database) -> None:
    url = database.make_database("ids_without_names", EXISTING + _WITHOUT_NAMES)
    async with opened(database, url) as gateway:
        answer = await gateway.search_entities("pump")
    assert answer.complete
    assert len(answer.result) == len(("Pump One", "bigpump/50", "bigpump#a", "<http://x.org/pump/>"))


async def test_where_there_are_too_many_edges_for_ids_to_be_compared_the_answer_says_so(database: Database) -> None:
    url = database.make_database("many_edges_without_names", EXISTING + _WITHOUT_NAMES + _MANY_EDGES)
    async with opened(database, url) as gateway:
        answer = await gateway.search_entities("pump")
    assert ([hit.name for hit in answer.result], answer.complete) == (["Pump One"], False)
    assert answer.searched is not None
    assert answer.searched.how.endswith(LOCAL_NAMES_NOT_COMPARED)
