"""The command `sparql` over files: what it runs, what it refuses, and how it prints."""

import io
import json
import sys
from pathlib import Path
from random import Random

import pytest
import rdflib
from rdflib.compare import isomorphic

from tests.cases import check_each
from tests.cli.conftest import FIXTURES, Run

pytestmark = pytest.mark.process

GRAPH = r"""
@prefix x: <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:a a x:T ; rdfs:label "=one,\"two\"\tthree\u001B[2J"@en-GB ; x:n 01, 2.50 ; x:list ( x:a "b" [ x:in "c" ] ) ;
    x:address [ x:city "Bonn" ] .
x:T rdfs:subClassOf [ a owl:Restriction ; owl:onProperty x:n ; owl:someValuesFrom x:U ] .
"""
REIFIED = '<< x:a x:n 1 >> x:said "yes" .\n'
VALUES = "SELECT ?n { x:a x:n ?n } ORDER BY ?n"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    return path


def test_blank_nodes_and_lists_are_what_the_file_says_and_no_name_of_ours_is_shown(run: Run, graph: Path) -> None:
    whole = run("sparql", "CONSTRUCT WHERE { ?s ?p ?o }", "-g", graph, "-f", "ntriples")
    # Literals come as the engine has them: numbers in their canonical form, tags of languages in lower case.
    text = GRAPH.replace("01, 2.50", "1, 2.5").replace("@en-GB", "@en-gb")
    found = rdflib.Graph().parse(data=whole.out, format="nt")
    assert isomorphic(found, rdflib.Graph().parse(data=text, format="turtle"))

    def is_so(function: str, count: int) -> None:
        query = f"SELECT (COUNT(*) AS ?n) {{ x:a ?p ?o FILTER({function}(?o)) }}"
        assert run("sparql", query, "-g", graph, "-f", "csv").out == f"n\r\n{count}\r\n"

    check_each([("isBlank", 2), ("isIRI", 1), ("isLiteral", 3)], lambda case: is_so(*case))
    shown = run("sparql", "SELECT * { ?s ?p ?o }", "-g", graph)
    assert "x-bfsql" not in shown.out
    assert "18 rows, complete." in shown.err


def test_numbers_of_a_tsv_are_short_and_read_as_what_they_are(run: Run, graph: Path) -> None:
    query = "SELECT ?n { VALUES ?n { 796 1.5 1e3 2.5e-7 } }"
    out = run("sparql", query, "-g", graph, "--tsv").out.splitlines()[1:]
    terms = [rdflib.util.from_n3(number) for number in out]
    assert [number.count('"') for number in out] == [0, 0, 0, 0]
    assert terms == [
        rdflib.Literal(796),
        rdflib.Literal("1.5", datatype=rdflib.XSD.decimal),
        *map(rdflib.Literal, (1e3, 2.5e-7)),
    ]


def test_an_answer_is_written_in_the_formats_of_the_w3c(run: Run, graph: Path) -> None:
    query = "SELECT ?label ?city ?none { x:a rdfs:label ?label ; x:address ?city }"
    given = (query, "-g", graph)
    ran = run("sparql", *given, "--format", "csv")
    assert ran.out == 'label,city,none\r\n"=one,""two""\tthree\x1b[2J",_:b0,\r\n'
    assert run("sparql", *given, "-f", "csv", "--guard-formulas").out.splitlines()[1].startswith("\"'=one")
    columns = '?label\t?city\t?none\n"=one,\\"two\\"\\tthree\\u001b[2J"@en-gb\t_:b0\t\n'
    assert run("sparql", *given, "--tsv").out == run("sparql", *given).out == columns
    as_json = run("sparql", *given, "--json").out
    assert as_json == run("sparql", *given, "-f", "json").out
    label = {"type": "literal", "value": '=one,"two"\tthree\x1b[2J', "xml:lang": "en-gb"}
    assert json.loads(as_json) == {
        "head": {"vars": ["label", "city", "none"]},
        "results": {"bindings": [{"label": label, "city": {"type": "bnode", "value": "b0"}}]},
    }


def test_what_is_true_and_what_is_a_graph_have_formats_too(run: Run, graph: Path) -> None:
    graph.write_text(GRAPH + REIFIED, encoding="utf-8")
    ask = ("sparql", "ASK { x:a a x:T }", "-g", graph)
    assert run(*ask).out == run(*ask, "--text").out.rstrip("\n") + "\n" == "true\n"
    assert json.loads(run(*ask, "--json").out) == {"head": {}, "boolean": True}
    turtle = run("sparql", "DESCRIBE x:T", "-g", graph).out
    assert turtle.startswith("@prefix ")
    assert len(rdflib.Graph().parse(data=turtle, format="turtle")) == 4
    triple = run("sparql", "SELECT ?t { ?r rdf:reifies ?t }", "-g", graph).out.splitlines()[1]
    assert triple.startswith("<<( <http://example.org/a> <http://example.org/n> ")


def test_the_turtle_of_many_triples_declares_its_prefixes_once(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "many.ttl"
    path.write_text("@prefix x: <http://example.org/> .\n" + "".join(f"x:a{n} x:p {n} .\n" for n in range(3000)))
    ran = run("sparql", "CONSTRUCT WHERE { ?s ?p ?o }", "-g", path)
    assert ran.out.count("@prefix x:") == 1
    assert len(rdflib.Graph().parse(data=ran.out, format="turtle")) == 3000
    assert "3,000 triples, complete." in ran.err


def test_a_table_is_bounded_and_says_so(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "many.nt"
    path.write_text("".join(f'<http://example.org/{n}> <http://example.org/p> "{n}" .\n' for n in range(150)))
    query = "SELECT ?s { ?s ?p ?o }"
    table = run("sparql", query, "-g", path, "--text")
    assert table.out.count("http://example.org/") == 100
    assert "The first 100 rows; there are more: --limit N shows them." in table.out
    assert "150 rows, complete." in run("sparql", query, "-g", path, "--text", "--limit", 150).out
    few = run("sparql", query, "-g", path, "--limit", 2)
    assert (few.out.count("\n"), few.err) == (3, "The first 2 rows; there are more: --limit N shows them.\n")
    assert run("sparql", query, "-g", path, "--quiet").err == ""
    graph = run("sparql", "CONSTRUCT WHERE { ?s ?p ?o }", "-g", path, "--text")
    assert "The first 100 triples; there are more" in graph.out


def test_nothing_of_a_graph_takes_over_a_terminal(run: Run, hostile: Path) -> None:
    def is_harmless(option: str) -> None:
        ran = run("sparql", "SELECT * { ?s ?p ?o }", "-g", hostile, option)
        assert ran.status == 0
        assert "\x1b" not in ran.out
        assert "\u202e" not in ran.out

    check_each(["--text", "--json", "--tsv"], is_harmless)
    text = run("sparql", "CONSTRUCT WHERE { ?s ?p ?o }", "-g", hostile, "--text").out
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(rdflib.Graph().parse(data=text.rpartition("\n\n")[0], format="turtle")) == 10


def test_the_query_is_a_text_a_file_or_standard_input(
    run: Run, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "query.rq"
    path.write_text(f"# a comment\n{VALUES}", encoding="utf-8")
    expected = run("sparql", VALUES, "-g", graph).out
    assert expected.count("\n") == 3
    assert run("sparql", path, "-g", graph).out == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(VALUES.encode())))
    assert run("sparql", "-", "-g", graph).out == expected
    both = run("sparql", "-", "-g", "-.ttl")
    assert both.status == 2
    assert "Both the query and the graph" in both.err


_NOT_GROUPED = "the rows are grouped, and {} neither in GROUP BY nor in an aggregate: write GROUP BY {}, or take one"
_NEEDS_A_NAME = "a column that is computed needs parentheses and a name: (COUNT(…) AS ?x)."
COLUMNS = [
    ("SELECT ?s (COUNT(?o) AS ?n) WHERE { ?s ?p ?o }", _NOT_GROUPED.format("?s is", "?s")),
    ("SELECT ?s (SUM(?o) / ?p AS ?n) { ?s ?p ?o } GROUP BY ?s", _NOT_GROUPED.format("?p is", "?s ?p")),
    ("SELECT ?s $p { ?s ?p ?o } HAVING (COUNT(?o) > 1)", _NOT_GROUPED.format("?s, ?p are", "?s ?p")),
    (
        "SELECT ?s { { SELECT ?a { ?a ?b ?s } GROUP BY ?a } } GROUP BY (STR(?s) AS ?t)",
        _NOT_GROUPED.format("?s is", "?t ?s"),
    ),
    ("SELECT (COUNT(?o) AS ?n) { { SELECT ?s (MAX(?o) AS ?m) { ?s ?p ?o } } }", "line 1, column"),
    ("SELECT * { ?s ?p ?o } GROUP BY ?s", "SELECT * does not go with GROUP BY: write the columns"),
    ("SELECT ?s COUNT(?o) { ?s ?p ?o } GROUP BY ?s", _NEEDS_A_NAME),
    ("SELECT (COUNT(?o)) { ?s ?p ?o }", _NEEDS_A_NAME),
    ("SELECT (?s AS ?p) { ?s ?p ?o }", "a name behind AS is one of the query already: choose another for ?p."),
    ("SELECT (COUNT(?s) AS ?n) { ?s ?p ?o", "line 1, column 36: expected"),
]


OF_TERMS = ": an IRI is <…> or has a prefix, a text has quotation marks.\n"
WORDS = [
    ("SELEC", "line 1, column 1: SELEC is no word of SPARQL; did you mean SELECT?\n"),
    ("SELECT ?x\nWHRE { ?x a x:T }", "line 2, column 1: WHRE is no word of SPARQL; did you mean WHERE?\n"),
    ("SELECT ?x { ?x a x:T . FILTR(?x = 1) }", "line 1, column 24: FILTR is no word of SPARQL; did you mean FILTER?"),
    ("SELECT ?x { ?x a x:T } limt 5", "line 1, column 24: limt is no word of SPARQL; did you mean LIMIT, or an IRI"),
    ("SELECT ?x { ?x A x:T }", "line 1, column 16: A is no word of SPARQL; did you mean a?\n"),
    ("SELECT ?x { ?x drug 'FILTR' }", f"line 1, column 16: drug is no word of SPARQL{OF_TERMS}"),
    ("SELECT ?x { ?x x:wher 'WHRE' # LIMT\n", "line 2, column 1: expected"),
    ("SELECT ?x { ?x a 'x y }", "line 1, column 24: expected"),
    ("SELECT ?x { ?x a <http://a b> }", "line 1, column"),
]


def test_what_is_no_query_is_refused_with_what_to_do(run: Run, graph: Path, tmp_path: Path) -> None:
    empty, long, no_text = (tmp_path / f"{name}.rq" for name in ("empty", "long", "bytes"))
    empty.touch()
    long.write_text(" " * (1 << 20) + VALUES)
    no_text.write_bytes(b"SELECT * { ?s ?p '\xff' }")
    cases: list[tuple[tuple[str | Path, ...], str]] = [
        ((tmp_path / "none.rq",), "none.rq: No such file"),
        ((empty,), "The query is empty."),
        ((long,), "longer than 1 MB"),
        ((no_text,), "no text in UTF-8"),
        (("SELECT * {",), "This is no SPARQL query: line 1, column 11: expected"),
        (
            ("SELECT * { ?s unknown:p ?o }",),
            "error: The prefix unknown: is not declared. Declare it in the query, with PREFIX unknown: <IRI>, or",
        ),
        (("SELECT * { ?s ?p 'a'^^a1:t ; (a2:p/a3:p)+ a4:o }",), "error: The prefixes a1:, a2:, a3: and 1 more are not"),
        (
            ("SELECT * { ?s :p ?o }",),
            "error: The prefix : is not declared. Declare it in the query, with PREFIX : <IRI>.\n",
        ),
        (("SELECT * { ?s a1:p ?o ",), "column 23: expected"),
        (("SELECT * { ?s a1:p ?o ",), ". The prefix a1: is not declared. Declare it"),
        *[((query,), f"This is no SPARQL query: {said}") for query, said in COLUMNS],
        *[((query,), f"This is no SPARQL query: {said}") for query, said in WORDS],
        (("SELECT * { ?s ?p <relative> }",), "This is no SPARQL query"),
        (("warfarin",), "This is no SPARQL query"),
        ((VALUES, "-f", "turtle"), "The answer to SELECT is not written as turtle. Formats are csv, tsv, json."),
        (("DESCRIBE x:a", "--json"), "Formats are turtle, ntriples."),
        ((VALUES, "-f", "xml"), "it must be one of csv, tsv, json, turtle, ntriples."),
        (("SELECT * { GRAPH ?g { ?s ?p ?o } }",), "the names of graphs in them are not kept"),
        (("SELECT * FROM x:g { ?s ?p ?o }",), "Ask without FROM."),
    ]

    def is_refused(given: tuple[str | Path, ...], said: str) -> None:
        ran = run("sparql", *given, "-g", graph)
        assert (ran.status, ran.out) == (2, "")
        assert said in ran.err
        assert "Prefix not found" not in ran.err
        assert "u{" not in ran.err

    check_each(cases, lambda case: is_refused(*case))


def test_an_order_over_mixed_kinds_is_an_error_and_no_end_of_the_program(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mixed.nt"
    path.write_text(mixed(Random(0), 30))  # noqa: S311 - test data
    ran = run("sparql", "SELECT ?v { ?s ?p ?v } ORDER BY ?v", "-g", path)
    assert (ran.status, ran.out) == (2, "")
    assert "it orders values of several kinds" in ran.err
    assert run("sparql", "SELECT ?v { ?s ?p ?v } ORDER BY STR(?v)", "-g", path).status == 0


def mixed(draw: Random, count: int) -> str:
    """Return integers and dates that Oxigraph fails to order; some other draws it orders."""
    schema = "http://www.w3.org/2001/XMLSchema#"

    def value() -> str:
        if draw.random() < 0.5:
            return f'"{draw.randint(0, 50)}"^^<{schema}integer>'
        return f'"20{draw.randint(10, 30)}-0{draw.randint(1, 9)}-1{draw.randint(0, 9)}"^^<{schema}date>'

    return "".join(f"<http://x/{n}> <http://x/v> {value()} .\n" for n in range(count))


def test_a_graph_in_a_database_or_under_a_policy_is_not_asked(run: Run, tmp_path: Path) -> None:
    hiding = tmp_path / "hiding.toml"
    hiding.write_text('[hidden]\npredicates = ["http://example.org/n"]\n')
    for url in ("postgresql://reader@127.0.0.1:9/graph", "neo4j://127.0.0.1:9/neo4j"):
        ran = run("sparql", VALUES, "-e", url)
        assert ran.status == 2
        assert "which no SPARQL reaches" in ran.err
    for place in (("-g", FIXTURES / "films.ttl"), ("-e", "http://127.0.0.1:9/sparql")):
        ran = run("sparql", VALUES, *place, "-p", hiding)
        assert ran.status == 2
        assert "the profile hides a part of it ([hidden])" in ran.err


def test_a_stored_graph_is_asked_where_it_is_stored(run: Run, graph: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    blank = ("sparql", "SELECT ?b { ?a x:address ?b FILTER(isBlank(?b)) }", "-g", graph, "--store", store)
    schema = ("schema", "-g", graph, "--store", store)
    assert run(*schema).status == 0
    first = run(*blank)
    made = sorted(store.glob("*/graph/store-*"))
    assert "1 row, complete." in first.err
    # Neither command makes the store of the other one anew.
    assert run(*schema).status == 0
    assert run(*blank).out == first.out
    assert sorted(store.glob("*/graph/store-*")) == made


def test_a_stored_graph_without_blank_nodes_is_stored_once(run: Run, tmp_path: Path) -> None:
    path, store = tmp_path / "plain.nt", tmp_path / "store"
    path.write_text('<http://example.org/a> <http://example.org/p> "1" .\n')
    assert run("schema", "-g", path, "--store", store).status == 0
    made = sorted(store.glob("*/graph/store-*"))
    assert run("sparql", "SELECT ?o { ?s ?p ?o }", "-g", path, "--store", store).out == '?o\n"1"\n'
    assert sorted(store.glob("*/graph/store-*")) == made


@pytest.mark.parametrize("path", ["x:p*", "x:p?", "<http://example.org/p> *", "(x:p/x:q)*", "a?", "x:p/^x:q?"])
def test_a_path_that_may_have_no_step_gives_no_complete_answer(run: Run, graph: Path, path: str) -> None:
    ran = run("sparql", f"SELECT ?o {{ x:nowhere {path} ?o }}", "-g", graph)
    # By the standard x:nowhere itself is an answer.
    assert "not proven: by * or ? of a path" in ran.err


@pytest.mark.parametrize("query", ["SELECT * { ?s x:p+ ?o }", "SELECT (COUNT(*) AS ?n) { ?s x:p ?o . ?o x:p ?z }"])
def test_other_stars_and_question_marks_are_no_such_path(run: Run, graph: Path, query: str) -> None:
    assert "complete." in run("sparql", query, "-g", graph).err


def test_files_of_which_a_part_is_left_out_give_no_complete_answer(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "broken.nt"
    path.write_text('<http://example.org/a> <http://example.org/p> "1" .\nbroken\n')
    ran = run("sparql", "SELECT ?o { ?s ?p ?o }", "-g", path, "--lenient")
    assert ran.out == '?o\n"1"\n'
    assert "1 row; not complete: 1 part of the files left out, because not valid." in ran.err


def test_the_prefixes_of_the_options_the_profile_and_the_files_need_not_be_declared(
    run: Run, graph: Path, tmp_path: Path
) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text('[prefixes]\nmine = "http://example.org/"\n')
    query = "ASK { mine:a rdf:type x:T . own:a a ?t }"
    assert run("sparql", query, "-g", graph, "-p", profile, "--prefix", "own=http://example.org/").out == "true\n"
    # What the query says goes first.
    other = run("sparql", "PREFIX x: <http://other.example/> ASK { x:a ?p ?o }", "-g", graph)
    assert other.out == "false\n"


def test_without_a_graph_the_demo_graph_is_asked(run: Run) -> None:
    ran = run("sparql", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "-p", "demo", "--text")
    assert ran.status == 0
    assert "?n" in ran.out
