"""Prefixes that everybody knows, in graphs that declare none."""

from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.terms.iri import RDF_TYPE, RDFS, is_iri
from gateway.terms.prefixes import PrefixMap, is_prefix, is_scheme
from gateway.terms.well_known_prefixes import WELL_KNOWN

pytestmark = pytest.mark.anyio


def test_each_is_a_prefix_and_none_the_name_of_a_scheme() -> None:
    assert len(WELL_KNOWN) == len(set(WELL_KNOWN.values())) > 100
    for name, namespace in WELL_KNOWN.items():
        assert is_prefix(name, namespace)
        assert is_iri(namespace)
        assert not is_scheme(name)
        assert namespace.endswith(("/", "#"))


def test_ids_are_read_back_as_the_same_iri() -> None:
    prefixes = PrefixMap({}, well_known=WELL_KNOWN)
    for name, namespace in WELL_KNOWN.items():
        iri = f"{namespace}a_1"
        assert prefixes.shorten(iri) == f"{name}:a_1"
        assert prefixes.expand(f"{name}:a_1") == iri
    assert prefixes.prefixes == {}


def test_what_is_declared_wins() -> None:
    prefixes = PrefixMap({"rdfs": "http://example.org/", "o": "http://www.w3.org/2002/07/owl#"}, well_known=WELL_KNOWN)
    assert prefixes.expand("rdfs:a") == "http://example.org/a"
    assert prefixes.shorten(f"{RDFS}label") == f"{RDFS}label"
    assert prefixes.shorten("http://www.w3.org/2002/07/owl#Thing") == "o:Thing"
    # What the graph calls otherwise is read by its usual name all the same.
    assert prefixes.expand("owl:Thing") == "http://www.w3.org/2002/07/owl#Thing"


def test_an_iri_that_looks_like_such_an_id_is_written_whole() -> None:
    prefixes = PrefixMap({}, well_known=WELL_KNOWN)
    assert prefixes.shorten("org:a") == "<org:a>"
    assert prefixes.expand("<org:a>") == "org:a"


async def test_a_file_without_prefixes_is_asked_and_answered_with_them(tmp_path: Path) -> None:
    file = tmp_path / "graph.nt"
    file.write_text(
        f"<http://example.org/a> <{RDFS}subClassOf> <http://example.org/b> .\n"
        f"<http://example.org/a> <{RDF_TYPE}> <http://xmlns.com/foaf/0.1/Person> .\n",
        encoding="utf-8",
    )
    async with open_gateway(str(file)) as gateway:
        around = await gateway.bfs_query(["http://example.org/a"], 1, only_predicates=["rdfs:subClassOf"])
        found = await gateway.search_entities("", ["foaf:Person"])
        schema = await gateway.describe_schema()
    assert [edge.predicate for edge in around.edges] == ["rdfs:subClassOf"]
    assert [(hit.id, hit.entity_type) for hit in found.result] == [("http://example.org/a", "foaf:Person")]
    assert (list(schema.entity_types), list(schema.predicates)) == (["foaf:Person"], ["rdfs:subClassOf"])
    assert schema.prefixes == {}
