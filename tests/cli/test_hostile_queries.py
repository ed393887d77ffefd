"""Queries that would change something, reach elsewhere, or never end: each is an error, and the program goes on."""

from pathlib import Path

import pytest

from tests.cases import check_each
from tests.cli.conftest import Run

pytestmark = [pytest.mark.process]

IRI = "<http://example.org/a>"
TRIPLE = f"{IRI} {IRI} {IRI}"
AWAY = "<http://127.0.0.1:9/sparql>"

UPDATES = [
    f"INSERT DATA {{ {TRIPLE} }}",
    f"insert data {{ {TRIPLE} }}",
    f"  \n# SELECT * {{ ?s ?p ?o }}\nInSeRt DaTa{{{TRIPLE}}}",
    f"PREFIX x: <http://example.org/> INSERT DATA {{ {TRIPLE} }}",
    f"BASE <http://example.org/> INSERT {{ {TRIPLE} }} WHERE {{ ?s ?p ?o }}",
    f"DELETE DATA {{ {TRIPLE} }}",
    "DELETE WHERE { ?s ?p ?o }",
    "delete { ?s ?p ?o } where { ?s ?p ?o }",
    f"DELETE {{ ?s ?p ?o }} INSERT {{ {TRIPLE} }} WHERE {{ ?s ?p ?o }}",
    f"WITH {IRI} DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}",
    f"INSERT {{ GRAPH {IRI} {{ ?s ?p ?o }} }} USING {IRI} WHERE {{ ?s ?p ?o }}",
    f"INSERT DATA {{ GRAPH {IRI} {{ {TRIPLE} }} }}",
    "LOAD <file:///etc/passwd>",
    "LOAD SILENT <file:///etc/passwd>",
    f"LOAD <http://127.0.0.1:9/graph.ttl> INTO GRAPH {IRI}",
    "CLEAR ALL",
    "CLEAR DEFAULT",
    f"CLEAR SILENT GRAPH {IRI}",
    "DROP ALL",
    "DROP NAMED",
    f"DROP SILENT GRAPH {IRI}",
    f"CREATE GRAPH {IRI}",
    f"ADD DEFAULT TO {IRI}",
    f"MOVE DEFAULT TO {IRI}",
    f"COPY DEFAULT TO {IRI}",
    "SELECT * { ?s ?p ?o } ; DROP ALL",
    f"SELECT * {{ ?s ?p ?o }} ; INSERT DATA {{ {TRIPLE} }}",
    f"ASK {{}} INSERT DATA {{ {TRIPLE} }}",
    f"SELECT * {{ INSERT DATA {{ {TRIPLE} }} }}",
    "SELECT * { { DELETE WHERE { ?s ?p ?o } } }",
    f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ INSERT {{ {TRIPLE} }} }}",
    f"DESCRIBE {IRI}; CLEAR ALL",
    f"\\u0049NSERT DATA {{ {TRIPLE} }}",
    "\ufeffDROP ALL",
    f"INSERT\tDATA\r\n{{{TRIPLE}}}",
    f"INSERT#c\nDATA#c\n{{{TRIPLE}}}",
]
ELSEWHERE = [
    f"SELECT * {{ SERVICE {AWAY} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ service silent {AWAY} {{ ?s ?p ?o }} }}",
    f"SELECT*{{SERVICE{AWAY}{{?s?p?o}}}}",
    f"SELECT * {{ VALUES ?e {{ {AWAY} }} SERVICE ?e {{ ?s ?p ?o }} }}",
    f"SELECT * {{ SERVICE#\n{AWAY}#\n{{ ?s ?p ?o }} }}",
    "PREFIX a: <http://127.0.0.1:9/> SELECT * { SERVICE a:sparql { ?s ?p ?o } }",
    f"SELECT * {{ ?s ?p 1 OPTIONAL {{ SERVICE {AWAY} {{ ?s ?p ?o }} }} }}",
    f"SELECT * {{ FILTER EXISTS {{ SERVICE {AWAY} {{ ?s ?p ?o }} }} }}",
    f"SELECT * {{ {{ SELECT ?s {{ SERVICE {AWAY} {{ ?s ?p ?o }} }} }} }}",
    f"ASK {{ {{ ?s ?p ?o }} UNION {{ SERVICE {AWAY} {{ ?s ?p ?o }} }} }}",
    f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ SERVICE {AWAY} {{ ?s ?p ?o }} }}",
    f"DESCRIBE ?s {{ SERVICE {AWAY} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ MINUS {{ SERVICE {AWAY} {{ ?s ?p ?o }} }} }}",
    f'SELECT * {{ ?s ?p """ " """ SERVICE {AWAY} {{ ?s ?p ?o }} }}',
    f"SELECT * {{ ?s ?p '''\\'''' . SERVICE {AWAY} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ ?s ?p ?a FILTER(?a<?p#>\n) SERVICE {AWAY} {{ ?s ?p ?o }} }}",
    f'SELECT * {{ ?s ?p ?a FILTER(?a<?p#>"""\n) SERVICE {AWAY} {{ ?s ?p ?o }} #"""\n}}',
    f"SELECT * {{ ?s ?p ?a FILTER(?a<?p)SERVICE{AWAY}{{?s ?p ?o}} FILTER(?a>?p) }}",
    f"SELECT * {{ \\u0053ERVICE {AWAY} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ ?s ?p true SERVICE {AWAY} {{ ?s ?p ?o }} }}",
    "SELECT * FROM <file:///etc/passwd> { ?s ?p ?o }",
    f"SELECT * FROM {AWAY} {{ ?s ?p ?o }}",  # noqa: S608 - it is SPARQL
    f"SELECT * FROM NAMED {AWAY} {{ GRAPH ?g {{ ?s ?p ?o }} }}",  # noqa: S608
    f"SELECT*from{AWAY}{{?s?p?o}}",
    "ASK FROM <file:///etc/passwd> { ?s ?p ?o }",
    "CONSTRUCT { ?s ?p ?o } FROM <file:///etc/passwd> WHERE { ?s ?p ?o }",
    "DESCRIBE <http://example.org/a> FROM <file:///etc/passwd>",
    "SELECT * { GRAPH <file:///etc/passwd> { ?s ?p ?o } }",
    'define get:soft "replace" SELECT * FROM <http://127.0.0.1:9/> { ?s ?p ?o }',
]
_PREFIXES = "PREFIX : <http://127.0.0.1:9/> PREFIX a: <http://127.0.0.1:9/> "
GLUED = [
    *(
        f"{_PREFIXES}SELECT * {{ {before}{word}{{ ?s ?p ?o }} }}"
        for before, word in [
            ("", "SERVICE:sparql "),
            ("", "service:sparql"),
            ("", "SERVICEa:sparql "),
            ("", "SERVICESILENT:sparql "),
            ("", "SERVICE SILENTa:sparql "),
            ("", f"SERVICESILENT{AWAY}"),
            ("", "SERVICE#\n:sparql#\n"),
            ("", "SERVICE:sparql\u3001"),
            ("", r"SERVICE:sparql\-"),
            ("VALUES ?x { :sparql } ", "SERVICE?x"),
            ("VALUES ?x { :sparql } ", "SERVICE$x"),
            ("VALUES ?x\u3001 { :sparql } ", "SERVICE ?x\u3001"),
            ("?s ?p 1", "SERVICE:sparql "),
            ("?s ?p 1e5", f"SERVICE{AWAY}"),
            ("?s ?p true", "SERVICEa:sparql "),
            ("?s ?p true.", "SERVICE:sparql "),
            ("?s ?p 'a'", "SERVICE:sparql "),
            ("?s ?p 'a'", "SERVICESILENT:sparql "),
            ("{}", "SERVICE:sparql "),
            ("FILTER(true)", "SERVICEa:sparql "),
            ("{}#\n", "SERVICE:sparql "),
            ("", "GRAPH:foo "),
            ("", "GRAPHa:foo "),
            ("", "GRAPH?g"),
            ("", f"GRAPH{AWAY}"),
            ("?s ?p true.", "graph:foo"),
        ]
    ),
    *(
        f"{_PREFIXES}{head}{word}{tail}"
        for head, word, tail in [
            ("SELECT*", "FROM:foo", "{ ?s ?p ?o }"),
            ("SELECT ?s ", "from:foo", " WHERE { ?s ?p ?o }"),
            ("SELECT (1 AS ?s)", "FROMa:foo", "#\n{ ?s ?p ?o }"),
            ("SELECT*", f"FROM{AWAY}", "{ ?s ?p ?o }"),
            ("SELECT*", "FROM NAMED:foo", "{ ?s ?p ?o }"),
            ("SELECT*", "FROMNAMED:foo", "{ ?s ?p ?o }"),
            ("SELECT*", f"FROMNAMED{AWAY}", "{ ?s ?p ?o }"),
            ("SELECT*", f"FROM:foo FROM{AWAY}", "{ ?s ?p ?o }"),
            ("SELECT*", "FROM:foo FROM:bar", "{ ?s ?p ?o }"),
            ("ASK ", "FROM:foo", "{ ?s ?p ?o }"),
            ("ASK", "FROM:foo", "{ ?s ?p ?o }"),
            ("CONSTRUCT { ?s ?p ?o }", "FROM:foo", " WHERE { ?s ?p ?o }"),
            ("DESCRIBE :a ", "FROM:foo", ""),
            ("DESCRIBE ?s ", "FROM:foo", "{ ?s ?p ?o } LIMIT 5"),
        ]
    ),
]
"""Words without a blank before the name that follows them, as an engine reads them."""

DEPTH = 40_000
DEEP = {
    "groups": f"SELECT * {{ {'{' * DEPTH}{'}' * DEPTH} }}",
    "brackets": f"SELECT * {{ FILTER({'(' * DEPTH}1{')' * DEPTH}) }}",
    "not": f"SELECT * {{ FILTER({'!' * DEPTH}true) }}",
    "minus": f"SELECT ({'-(' * DEPTH}1{')' * DEPTH} AS ?x) {{}}",
    "optionals": f"SELECT * {{ {'OPTIONAL { ?a ?b ?c ' * DEPTH}{'}' * DEPTH} }}",
    "selects": f"SELECT * {{ {'{ SELECT * { ' * DEPTH}{'} }' * DEPTH} }}",
    "lists": f"SELECT * {{ ?s ?p {'(' * DEPTH}1{')' * DEPTH} }}",
    "blank nodes": f"SELECT * {{ ?s ?p {'[ ?p ' * DEPTH}1{']' * DEPTH} }}",
    "paths": f"SELECT * {{ ?s {'(' * DEPTH}{IRI}{')' * DEPTH} ?o }}",
    "stars": f"SELECT * {{ ?s {'(' * DEPTH}{IRI}{'*)' * DEPTH} ?o }}",
    "exists": f"SELECT * {{ {'FILTER EXISTS { ' * DEPTH}{'}' * DEPTH} }}",
    "functions": f"SELECT ({'STR(' * DEPTH}1{')' * DEPTH} AS ?x) {{}}",
    "triple terms": f"SELECT * {{ ?s ?p {'<<( ?s ?p ' * DEPTH}?o{')>>' * DEPTH} }}",
    "an open string": 'SELECT * { ?s ?p "' + "a" * 900_000,
    "open comments": "SELECT * { #" + '<a#>"""' * 100_000,
    "a name without end": f"SELECT * {{ ?s {'a.' * 400_000} ?o }}",
    "a word without end": "SELECT * { " + "SERVICE" * 140_000,
    "quotation marks": "SELECT * { ?s ?p " + '"""' * 300_000,
}
LETTERS = "abcdefghijklm"
CROSS = " . ".join(f"?{letter}1 ?{letter}2 ?{letter}3" for letter in LETTERS)
DIGITS = " ".join(f"VALUES ?{letter} {{ 0 1 2 3 4 5 6 7 8 9 }}" for letter in LETTERS)
NEVER, NO_DIGITS = (
    f"FILTER(STRLEN(CONCAT({', '.join(f'STR(?{letter}{number})' for letter in LETTERS)})) < 0)" for number in ("1", "")
)
"""Conditions over all that is multiplied, which no engine decides before it is."""

ANY = "(!<http://example.org/none>)"
ENDLESS = {
    "a product in order": f"SELECT * {{ {CROSS} }} ORDER BY ?a1",
    "a product counted": f"SELECT (COUNT(*) AS ?n) {{ {CROSS} }}",
    "a product of distinct rows": f"SELECT DISTINCT ?a1 {{ {CROSS} }} OFFSET 1000",
    "a product grouped": f"SELECT ?a1 (COUNT(*) AS ?n) {{ {CROSS} }} GROUP BY ?a1",
    "a product that never fits": f"SELECT * {{ {CROSS} {NEVER} }}",
    "a product that is not there": f"ASK {{ {CROSS} {NEVER} }}",
    "a product described": f"DESCRIBE ?a1 {{ {CROSS} {NEVER} }}",
    "a product constructed": f"CONSTRUCT {{ ?a1 ?a2 ?a3 }} WHERE {{ {CROSS} {NEVER} }}",
    "a product skipped": f"SELECT * {{ {CROSS} }} OFFSET 9000000000000",
    "digits in order": f"SELECT * {{ {DIGITS} }} ORDER BY ?a",
    "digits counted": f"SELECT (COUNT(*) AS ?n) {{ {DIGITS} }}",
    "digits that never fit": f"SELECT * {{ {DIGITS} {NO_DIGITS} }}",
    "digits asked": f"ASK {{ {DIGITS} {NO_DIGITS} }}",
    "digits summed": f"SELECT (SUM(?a) AS ?n) {{ {DIGITS} }}",
    "digits joined to a text": f"SELECT (GROUP_CONCAT(STR(?a)) AS ?n) {{ {DIGITS} }}",
    "paths on cycles": f"SELECT (COUNT(*) AS ?n) {{ ?a {ANY}* ?b . ?c {ANY}* ?d . ?e {ANY}+ ?f . ?g {ANY}* ?h }}",
    "paths of paths": f"SELECT (COUNT(*) AS ?n) {{ ?a ({ANY}/{ANY}*)+ ?b . ?b ({ANY}|^{ANY})* ?c . ?d {ANY}* ?e }}",
    "paths without end": f"SELECT * {{ ?a ({ANY}|^{ANY})* ?b . ?c ({ANY}|^{ANY})* ?d "
    "FILTER(STRLEN(CONCAT(STR(?a), STR(?d))) < 0) }",
    "paths in order": f"SELECT * {{ ?a {ANY}* ?b . ?c {ANY}* ?d . ?e {ANY}* ?f }} ORDER BY ?a ?f",
    "differences": f"SELECT * {{ {CROSS} MINUS {{ {DIGITS} ?a1 ?a2 ?a3 }} }}",
    "what there is not": f"SELECT * {{ {CROSS} FILTER NOT EXISTS {{ ?a1 ?b2 ?c3 }} {NEVER} }}",
    "optional products": f"SELECT (COUNT(*) AS ?n) {{ ?x ?y ?z OPTIONAL {{ {CROSS} }} }}",
    "unions of products": f"SELECT (COUNT(*) AS ?n) {{ {{ {CROSS} }} UNION {{ {CROSS} }} }}",
    "texts that grow": "SELECT (STRLEN(?z) AS ?n) { BIND('aaaaaaaaaaaaaaaa' AS ?a) "
    + " ".join(
        f"BIND(CONCAT({', '.join([f'?{one}'] * 16)}) AS ?{other})"
        for one, other in zip("abcdefgh", "bcdefghz", strict=True)
    )
    + " }",
}


@pytest.fixture(scope="module")
def cycles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of 400 nodes, of which each reaches every other one."""
    path = tmp_path_factory.mktemp("hostile") / "cycles.nt"
    lines = (
        f"<http://example.org/{n}> <http://example.org/p{step}> <http://example.org/{(n + step) % 400}> .\n"
        for n in range(400)
        for step in (1, 7, 31)
    )
    path.write_text("".join(lines))
    return path


def _format(query: str) -> str:
    return "ntriples" if "CONSTRUCT" in query or "DESCRIBE" in query else "tsv"


def refusal(run: Run, query: str, graph: Path, *options: str) -> str:
    """Return why a query was not answered."""
    path = graph.with_suffix(".rq")
    path.write_text(query, encoding="utf-8")
    ran = run("sparql", path, "-g", graph, "--format", _format(query), *options)
    assert ran.status == 2
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    return ran.err


def test_there_are_a_hundred_hostile_queries() -> None:
    assert len({*UPDATES, *ELSEWHERE, *DEEP.values(), *ENDLESS.values()}) >= 100


@pytest.mark.parametrize("part", range(3))
def test_no_update_is_run_however_it_is_spelled(run: Run, cycles: Path, part: int) -> None:
    def is_refused(query: str) -> None:
        said = refusal(run, query, cycles)
        assert "is an update, and graphs are only read here" in said or "This is no SPARQL query" in said

    check_each(UPDATES[part::3], is_refused)


@pytest.mark.parametrize("part", range(3))
def test_nothing_beside_the_graph_is_read(run: Run, cycles: Path, part: int) -> None:
    def is_refused(query: str) -> None:
        said = refusal(run, query, cycles)
        reasons = ("asks another endpoint (SERVICE)", "are not kept", "This is no SPARQL query")
        assert any(reason in said for reason in reasons)

    check_each([*ELSEWHERE, *GLUED][part::3], is_refused)


@pytest.mark.parametrize("name", DEEP)
def test_what_is_nested_or_long_without_end_is_refused_or_ends_in_time(run: Run, cycles: Path, name: str) -> None:
    path = cycles.with_name(f"{name.replace(' ', '-')}.rq")
    path.write_text(DEEP[name], encoding="utf-8")
    ran = run("sparql", path, "-g", cycles, "--timeout", "5", "--format", "tsv")
    # Some of these the engine answers.
    assert (ran.status, ran.err.startswith("error: ")) in {(2, True), (0, False)}
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_ended_by_its_deadline_or_its_memory(run: Run, cycles: Path, name: str) -> None:
    said = refusal(run, ENDLESS[name], cycles, "--timeout", "2")
    assert "was ended after 2 seconds" in said or "takes more memory than it may" in said
