"""What is left of a graph under a policy, where the drawn graphs have no such thing."""

import os
import sys
import threading
from pathlib import Path

import pyoxigraph
import pytest
import rdflib

from gateway import resources
from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.files.cached_graph import FileCache, open_cached
from gateway.files.hiding import visible_part
from gateway.files.loading import load_files
from gateway.files.parser_process import FileToParse, ParserProcess
from gateway.files.parser_streams import ParseRequest
from gateway.files.rdflib_graphs import load_rdflib
from gateway.files.stored_graph import folder_of, open_stored
from gateway.settings.hidden import HiddenSettings, Policy
from gateway.settings.profile import Profile, policy_of

PREFIXES = """
PREFIX : <https://example.org/>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX p: <https://example.org/p/>
PREFIX ps: <https://example.org/ps/>
PREFIX pq: <https://example.org/pq/>
PREFIX pqv: <https://example.org/pqv/>
"""
WIKIBASE = """
:P1 wikibase:directClaim :wdtP1 ; wikibase:claim p:P1 ; wikibase:statementProperty ps:P1 ; rdfs:label "hush" .
:P2 wikibase:directClaim :wdtP2 ; wikibase:claim p:P2 ; wikibase:statementProperty ps:P2 ;
    wikibase:qualifier pq:P2 ; wikibase:qualifierValue pqv:P2 .
:open p:P1 :s1 ; p:P2 :s2, :s3 .
:s1 ps:P1 :other ; pq:P2 "hush" ; pqv:P2 :v1 ; wikibase:rank wikibase:NormalRank ; prov:wasDerivedFrom :r1 .
:s2 ps:P2 :shut ; pq:P2 "hush" ; pqv:P2 :v2 ; wikibase:rank wikibase:NormalRank ; prov:wasDerivedFrom :r2 .
:s3 ps:P2 :other ; pq:P2 "seen" ; pqv:P2 :v3 ; wikibase:rank wikibase:NormalRank ; prov:wasDerivedFrom :r3 .
:v1 :time "hush" . :v2 :time "hush" . :v3 :time "seen" .
:r1 :url "hush" . :r2 :url "hush" . :r3 :url "seen" .
:shut a :Hush .
"""


def policy(**hidden: tuple[str, ...]) -> Policy:
    whole = {key: tuple(f"https://example.org/{name}" for name in names) for key, names in hidden.items()}
    found = policy_of(Profile(hidden=HiddenSettings(**whole)))
    assert found is not None
    return found


def left(turtle: str, hidden: Policy) -> str:
    """Return what is left of a graph, as lines in their order."""
    whole = pyoxigraph.Store()
    whole.load((PREFIXES + turtle).encode(), format=pyoxigraph.RdfFormat.TURTLE)
    return "\n".join(sorted(str(quad.triple) for quad in visible_part(whole, hidden)))


def same(turtle: str, expected: str, hidden: Policy) -> bool:
    return left(turtle, hidden) == left(expected, policy(types=("NotThere",)))


def test_a_hidden_property_of_a_wikibase_hides_its_statements_with_their_parts() -> None:
    rest = left(WIKIBASE, policy(predicates=("wdtP1",), types=("Hush",)))
    assert "hush" not in rest.lower()
    assert all(f"/{name}>" not in rest for name in ("P1", "s1", "s2", "v1", "v2", "r1", "r2", "shut"))
    assert rest.count("seen") == 3


def test_what_has_no_value_of_a_hidden_property_stays() -> None:
    graph = ":P1 wikibase:directClaim :wdtP1 ; wikibase:novalue :noP1 . :open a :Person, :noP1 ; :knows :other ."
    assert same(graph, ":open a :Person ; :knows :other .", policy(predicates=("wdtP1",)))
    assert left(graph, policy(types=("noP1",))) == ""


def test_hidden_literals_of_a_wikibase_hide_the_property_and_so_does_any_of_its_predicates() -> None:
    for hidden in (policy(literals=("ps/P1",)), policy(predicates=("p/P1",)), policy(predicates=("P1",))):
        rest = left(WIKIBASE, hidden)
        assert all(f"/{name}>" not in rest for name in ("P1", "wdtP1", "s1", "v1", "r1"))
        assert "/s2>" in rest


def test_the_members_of_a_hidden_type_are_hidden_by_any_type_predicate_and_by_a_hidden_one() -> None:
    settings = Profile(
        hidden=HiddenSettings(types=("https://example.org/Hush",), predicates=("https://example.org/kind",))
    )
    edges = settings.edges.model_copy(update={"types": ("https://example.org/kind",)})
    hidden = policy_of(settings.model_copy(update={"edges": edges}))
    assert hidden is not None
    graph = ":a :kind :Below ; :knows :b . :b :knows :c . :Below rdfs:subClassOf [ a owl:Class ], :Hush . :d a :Hush ."
    assert same(graph, ":b :knows :c .", hidden)


def test_parts_without_a_name_go_with_what_they_are_parts_of() -> None:
    graph = ":shut a :Hush ; :has ( [ :note 'hush' ] 'hush' ) . :a :knows :shut, :b ; :has [ :note 'seen' ] ."
    rest = left(graph, policy(types=("Hush",)))
    assert "hush" not in rest.lower()
    assert rest.count("\n") == 2


def test_parts_with_a_name_in_place_of_a_blank_node_go_too() -> None:
    part = "<https://example.org/.well-known/genid/1>"
    assert same(
        f":shut a :Hush ; :has {part} . {part} :note 'hush' . :a :knows :b .", ":a :knows :b .", policy(types=("Hush",))
    )


def test_statements_go_with_their_subject_or_value_where_no_predicate_is_declared() -> None:
    graph = """
    :shut a :Hush ; <https://example.org/prop/P1> :s1 . :s1 wikibase:rank :Normal ; pq:P2 "hush" .
    :open <https://example.org/prop/P1> :s2 . :s2 wikibase:rank :Normal ; pq:P2 "hush" ;
        <https://example.org/prop/statement/P1> :shut .
    """
    assert left(graph, policy(types=("Hush",))) == ""


def test_value_nodes_go_with_their_statement_where_no_declared_predicate_leads_to_them() -> None:
    values = ":v1 wikibase:quantityAmount 1 ; wikibase:quantityNormalized :v2 . :v2 wikibase:quantityAmount 2 ."
    assert left(f":shut a :Hush ; :normalised :v1 . {values}", policy(types=("Hush",))) == ""


def test_nothing_of_a_hidden_property_is_left_of_a_wikibase() -> None:
    whole = pyoxigraph.Store()
    whole.load(path=resources.folder("fixtures") / "wikibase.ttl", format=pyoxigraph.RdfFormat.TURTLE)
    for number in range(1, 6):
        direct = f"https://wb.example.org/prop/direct/P{number}"
        hidden = policy_of(Profile(hidden=HiddenSettings(predicates=(direct,))))
        assert hidden is not None
        rest = [str(quad) for quad in visible_part(whole, hidden)]
        assert len(rest) > 30
        assert not [line for line in rest if f"/P{number}>" in line]
        # A value node that is left is one that something visible has.
        values = {line.split(" ")[0] for line in rest if line.startswith("<https://wb.example.org/value/")}
        assert all(any(f" {value}" in line for line in rest) for value in values)


def test_axioms_about_hidden_triples_are_hidden() -> None:
    graph = (
        "[] a owl:Axiom ; owl:annotatedSource :a ; owl:annotatedProperty :pay ; owl:annotatedTarget 7 ; :by 'hush' ."
    )
    for hidden in (policy(predicates=("pay",)), policy(literals=("pay",))):
        assert left(graph, hidden) == ""


def test_a_literal_of_a_hidden_datatype_is_hidden_with_what_is_stated_about_it() -> None:
    graph = ":a :note 'x'^^:Hush {| :by 'hush' |} ; :note 'seen' . :r rdf:object 'x'^^:Hush ; :by 'hush' ."
    assert same(graph, ":a :note 'seen' .", policy(types=("Hush",)))


def test_hidden_literals_leave_nodes_under_the_same_predicate() -> None:
    assert same(":a :pay 7 {| :by 'hush' |} ; :pay :b .", ":a :pay :b .", policy(literals=("pay",)))


TRIG = (
    PREFIXES
    + ":a :knows :b . GRAPH :shut { :a :knows :c . :a :knows :b } GRAPH :seen { :a :knows :d . :shut :note 'hush' }"
)


def test_a_hidden_graph_of_a_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "a.trig"
    file.write_text(TRIG, encoding="utf-8")
    graph = load_files([file], policy=policy(graphs=("shut",)))
    assert sorted(str(quad.object) for quad in graph.engine) == [f"<https://example.org/{name}>" for name in "bd"]
    assert graph.prefixes == [("a.trig", {})]


def test_a_hidden_graph_of_an_rdflib_dataset_is_not_copied() -> None:
    dataset = rdflib.Dataset()
    a, knows, b, c, d, shut = (rdflib.URIRef(f"https://example.org/{n}") for n in ("a", "knows", "b", "c", "d", "shut"))
    dataset.default_graph.add((a, knows, b))
    dataset.graph(shut).add((a, knows, c))
    dataset.graph(d).add((a, knows, d))
    dataset.graph(d).add((shut, knows, c))
    graph = load_rdflib(dataset, policy(graphs=("shut",)))
    assert sorted(str(quad.object) for quad in graph.engine) == [f"<https://example.org/{name}>" for name in "bd"]
    assert graph.prefixes == [("the rdflib graph", {})]


def test_what_is_stored_under_one_policy_is_never_opened_under_another(tmp_path: Path) -> None:
    file = tmp_path / "a.nt"
    file.write_text("<https://example.org/a> <https://example.org/pay> <https://example.org/b> .\n", encoding="utf-8")
    hidden = policy(predicates=("pay",))
    folders = {folder_of([file], tmp_path / "store", each) for each in (None, hidden, policy(types=("Hush",)))}
    assert len(folders) == 3
    for _ in range(2):
        assert len(open_stored([file], tmp_path / "store").engine) == 1
        assert len(open_stored([file], tmp_path / "store", policy=hidden).engine) == 0
        cache = FileCache(tmp_path / "cache", large=1)
        assert len(open_cached([file], cache).engine) == 1
        assert len(open_cached([file], cache, policy=hidden).engine) == 0
    stored = folder_of([file], tmp_path / "store", hidden)
    assert not [path for path in stored.rglob("*") if path.is_file() and b"example.org/pay" in path.read_bytes()]


def test_the_error_about_a_file_quotes_nothing_of_it(tmp_path: Path) -> None:
    file = tmp_path / "hush.ttl"
    file.write_text("<https://example.org/a> <https://example.org/hush> <not an iri> .", encoding="utf-8")
    with pytest.raises(ConfigurationError) as error:
        open_gateway(file, profile=Profile(hidden=HiddenSettings(types=("https://example.org/Hush",))))
    assert str(error.value) == "The graph cannot be loaded. The operator's log says why."


@pytest.mark.parser_process
@pytest.mark.skipif(sys.platform != "linux", reason="where the arguments of a process stand is Linux's")
def test_no_argument_of_the_process_that_parses_names_a_hidden_graph(tmp_path: Path) -> None:
    # A pipe that brings nothing keeps the process alive.
    reading, writing = os.pipe()
    request = ParseRequest("nq", "", "http://x.org/", 512, 10, 10, hidden_graphs=["http://x.org/secret"])
    with (
        os.fdopen(writing, "wb"),
        os.fdopen(reading, "rb") as file,
        ParserProcess([FileToParse(tmp_path / "graph.nq", request)], file, None),
    ):
        # A process that was just started has no arguments yet.
        arguments = next((found for _ in range(100_000) if b"gateway" in (found := arguments_of_children())), b"")
    assert b"gateway" in arguments
    assert b"secret" not in arguments


def arguments_of_children() -> bytes:
    """Return the arguments of the processes that this thread started."""
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text(encoding="ascii")
    return b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children.split())


def test_literals_of_a_datatype_of_xml_schema_that_is_hidden_as_a_member_of_a_type_are_hidden(tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text(
        f"""{PREFIXES} PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
        xsd:date a rdfs:Datatype . :a :p :b ; :born "1980-01-01"^^xsd:date ; :size 7 .""",
        encoding="utf-8",
    )
    whole = load_files([path]).engine
    hidden = HiddenSettings(types=("http://www.w3.org/2000/01/rdf-schema#Datatype",))
    policy = policy_of(Profile(hidden=hidden))
    assert policy is not None
    left = visible_part(whole, policy)
    assert sorted(quad.predicate.value.rpartition("/")[2] for quad in left) == ["p", "size"]
