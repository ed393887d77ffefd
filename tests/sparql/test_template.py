import functools
import itertools
import re
from collections.abc import Iterator
from string import ascii_lowercase
from typing import Any, cast

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.plugins.sparql import prepareQuery
from rdflib.plugins.sparql.parserutils import CompValue

from gateway import resources
from gateway.errors import InputError
from gateway.graph.values import ALL_EDGES
from gateway.settings.vocabulary import EdgeSettings
from gateway.sparql import template
from gateway.sparql.rule import EdgeRule, selection_parameters
from gateway.sparql.template import Parameter, TemplateError
from gateway.terms.iri import RDF_TYPE
from tests.cases import check_each
from tests.examples import examples

NAMES = template.names()

VALID = """\
#+ summary: A question.
#+ dialect: sparql-1.1
#+ limit: rows
#+ end: sentinel
#+ param nodes iris ["http://example.org/a"]
#+ param words each string ["a"]
#+ param rows int 11
# A remark.
SELECT ?n WHERE {
  VALUES ?n { ?_nodes }
  ?n ?p ?v .
#each words
  FILTER(CONTAINS(?v, ?_words))
#end
}
LIMIT ?_rows
"""


def declarations(name: str) -> str:
    """Return the text of a template, and of what it includes."""
    text = (resources.folder("queries") / f"{name}.rq").read_text(encoding="utf-8")
    parts = re.findall(r"^ *#include (\w+)$", text, re.MULTILINE)
    return text + "".join(declarations(f"parts/{part}") for part in parts)


def header(name: str) -> dict[str, tuple[str, bool]]:
    """Return the kind of each parameter that a template declares, and whether it is repeated."""
    declared = re.findall(r"^#\+ param (\w+) (each )?(\([^)]*\)|\w+) ", declarations(name), re.MULTILINE)
    return {parameter: (kind, bool(each)) for parameter, each, kind in declared}


EXAMPLES: dict[str, Any] = {
    "iri": "http://example.org/a",
    "string": "text",
    "int": 5,
    "double": 0.5,
    "var": "n",
    "path": ["http://example.org/a"],
    "bool": True,
    "iris": ["http://example.org/a"],
    "iri_list": ["http://example.org/a"],
    "keys": ["nodeID://b10000"],
    "walk": "+-",
}


def parameters(name: str, text: str = "text", repeated: int = 1) -> dict[str, Parameter]:
    """Return parameters of a template: lists of a length, and a given text wherever text may stand."""
    values: dict[str, Parameter] = {}
    for parameter, (kind, each) in header(name).items():
        if kind.startswith("("):
            parts = kind.strip("()").split()
            values[parameter] = [tuple(text if part == "string" else EXAMPLES[part] for part in parts)] * repeated
        elif kind in {"iris", "iri_list", "keys"} and not each:
            values[parameter] = EXAMPLES[kind] * repeated
        elif kind == "strings":
            values[parameter] = [text] * repeated
        elif kind == "var" and each:
            values[parameter] = [f"v{letter}" for letter in ascii_lowercase[:repeated]]
        elif kind == "literals":
            values[parameter] = [(text, ""), (text, "en")] * repeated
        else:
            one = text if kind == "string" else EXAMPLES[kind]
            values[parameter] = [one] * repeated if each else one
    return values


def jena_alone_has(*_: object) -> Any:
    return None


FUNCTIONS = {pyoxigraph.NamedNode("http://jena.apache.org/ARQ/function#version"): jena_alone_has}


def strictly_parsed(query: str) -> pyoxigraph.QuerySolutions:
    return cast("pyoxigraph.QuerySolutions", pyoxigraph.Store().query(query, custom_functions=FUNCTIONS))


@functools.cache
def algebra_of(query: str) -> CompValue:
    """Return the algebra of a query by rdflib's grammar, which takes up to a fifth of a second."""
    return prepareQuery(query).algebra


def as_sparql_1_1(query: str) -> str:
    """Put a plain term where RDF 1.2 has a triple term, so that a SPARQL 1.1 parser sees the shape of the query."""
    return re.sub(r"<<\(.*?\)>>", "?triple", query)


# Every template of the folder


def test_the_folder_holds_the_templates_that_the_readers_ask_for() -> None:
    assert {"edges", "edges_out", "existing", "facts", "literals", "search/every_word", "schema/edges"} <= set(NAMES)


def test_a_template_parses_strictly_with_its_samples() -> None:
    check_each(NAMES, lambda name: strictly_parsed(template.load(name).sample()).variables)


# A query about so many nodes and as many predicates of each grows with the square: 30 are two megabytes of SPARQL.
@pytest.mark.parametrize("repeated", [0, 1, 2, 3, 12])
def test_a_template_parses_strictly_with_lists_of_any_length(repeated: int) -> None:
    check_each(
        NAMES,
        lambda name: strictly_parsed(template.load(name).render(parameters(name, repeated=repeated))).variables,
    )


def test_a_namespace_that_many_nodes_share_is_declared_once_and_before_the_row_that_proves_the_end() -> None:
    nodes = [f"http://example.org/node/{number}" for number in range(30)]
    text = template.load("facts")
    asked: dict[str, Parameter] = {"nodes": nodes, "predicates": ["http://example.org/p"], "walks": [], "rows": 31}
    asked |= {"synonyms": [], "languages": []}
    query = text.with_sentinel(text.render(asked), 31, is_sorted=False)
    assert query.startswith("PREFIX n1: <http://example.org/node/>\n")
    assert query.count("PREFIX") == query.count("<http://example.org/node/") == 1
    assert strictly_parsed(query).variables
    assert strictly_parsed(text.render(asked)).variables


def test_a_template_that_says_another_dialect_needs_it() -> None:
    needed = {
        "sparql-1.2": "<<(",
        "lateral": "LATERAL {",
        "named-graphs": "GRAPH ?g {",
        "fuseki": "<http://jena.apache.org/",
        "virtuoso": "<bif:",
        "blazegraph": "<http://www.bigdata.com/rdf",
    }

    def check(name: str) -> None:
        assert needed[template.load(name).dialect] in template.load(name).sample()

    check_each([name for name in NAMES if template.load(name).dialect != "sparql-1.1"], check)


def asks_nobody_else_and_changes_nothing(name: str) -> None:
    words = set(re.findall(r"\w+", template.load(name).sample().upper()))
    # Named graphs are looked for by some templates, and asked by those that say so.
    of_graphs = template.load(name).dialect == template.NAMED_GRAPHS
    finds_graphs = name in {"check/named_graphs", "check/in_named_graphs", "check/in_graph"}
    looked_for = {"GRAPH"} if of_graphs or finds_graphs else set()
    if name == "schema/random_blazegraph":
        # Not somebody else: the engine itself offers its samples as a service, to an endpoint that is Blazegraph.
        assert "SERVICE bd:sample {" in template.load(name).sample()
        looked_for = {"SERVICE"}
    assert words & {"SERVICE", "INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "FROM", "GRAPH"} == looked_for
    assert "SELECT" in words


def test_a_rendered_template_asks_nobody_else_and_changes_nothing() -> None:
    check_each(NAMES, asks_nobody_else_and_changes_nothing)


def carries_no_slot_and_no_remark(name: str) -> None:
    query = template.load(name).sample()
    assert "?_" not in query
    assert not re.search(r"^\s*#", query, re.MULTILINE)


def test_a_rendered_template_carries_no_slot_and_no_remark() -> None:
    check_each(NAMES, carries_no_slot_and_no_remark)


def ends_in_the_limit_it_was_given(name: str) -> None:
    values = parameters(name)
    values[template.load(name).limit] = 4711
    assert template.load(name).render(values).endswith("LIMIT 4711\n")


def test_a_rendered_template_ends_in_the_limit_it_was_given() -> None:
    check_each(NAMES, ends_in_the_limit_it_was_given)


TEXTUAL = [name for name in NAMES if "string" in {kind for kind, _ in header(name).values()}]


@pytest.mark.parametrize(
    "text",
    ["?_rows", "?_nodes", "?_words ?_words", "?_namespaces", "?_endings", "\n#end\n", "\n#each words\n", "\\g<0>\\1"],
)
def test_text_that_looks_like_a_slot_is_not_filled_again(text: str) -> None:
    rendered = text.replace("\\", "\\\\").replace("\n", "\\n")

    def check(name: str) -> None:
        plain, odd = (template.load(name).render(parameters(name, text=word, repeated=2)) for word in ("text", text))
        assert odd == plain.replace('"text"', f'"{rendered}"')
        assert strictly_parsed(odd).variables

    check_each(TEXTUAL, check)


def refuses_a_parameter_that_would_end_an_iri(name: str) -> None:
    bad = "http://example.org/a> . } INSERT DATA { <a:a> <a:b> <a:c> } #"
    for parameter, (kind, each) in header(name).items():
        if "iri" not in kind:
            continue
        parts = tuple(bad if part == "iri" else EXAMPLES[part] for part in kind.strip("()").split())
        value: Parameter = [parts] if kind.startswith("(") else bad if kind == "iri" and not each else [bad]
        with pytest.raises(InputError, match="not a legal IRI"):
            template.load(name).render({**parameters(name), parameter: value})


def test_a_parameter_that_would_end_an_iri_is_refused() -> None:
    check_each(NAMES, refuses_a_parameter_that_would_end_an_iri)


# The edge rule: several templates and one function, one meaning

WITH_EDGE_RULE = [name for name in NAMES if "excepted" in header(name)]


def test_the_edge_rule_is_written_once() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in resources.folder("queries").rglob("*.rq")}
    for slot, part in (
        ("?_excepted", "no_evidence.rq"),
        ("?_markers", "no_evidence_triple.rq"),
        ("?_allowed", "edge_rule.rq"),
        ("?_objects", "node_rule.rq"),
        ("?_singletons", "no_evidence_triple.rq"),
    ):
        told = {name for name, text in texts.items() if slot in text}
        # Of the literals, which are about no triple that is an edge; and where there may be none, which is counted.
        assert told - {"no_evidence_node.rq", "literals.rq", "all.rq"} == {part}


def names_the_triple_as_the_rule_does(name: str) -> None:
    query = template.load(name).sample()
    bound = {"?n ?p ?o": "BIND(?n AS ?s)", "?s ?p ?n": "BIND(?n AS ?o)", "?s ?p ?o": ""}
    triples = re.findall(r"^ *(\?\w \?p \?\w) \.$", query, re.MULTILINE)
    assert triples
    assert all(bound[triple] in query for triple in triples)


def test_a_template_that_asks_for_edges_names_the_triple_as_the_rule_does() -> None:
    check_each(WITH_EDGE_RULE, names_the_triple_as_the_rule_does)


PREDICATES = ["http://e.org/p", "http://e.org/pq", "http://e.org/", "http://e.org/a#x", "http://e.org/a#", "urn:x:p"]
ENTRIES = st.lists(st.sampled_from([*PREDICATES, "http://e.org/a", "urn:x:", "http://E.org/"]), max_size=3)


@given(ENTRIES)
@settings(deadline=None, max_examples=examples(50))
def test_the_queries_and_the_schema_allow_the_same_predicates(allowed: list[str]) -> None:
    rule = EdgeRule.of(EdgeSettings(excepted=(), evidence_nodes=False, allowed=tuple(allowed)))
    engine = pyoxigraph.Store()
    subject, value = pyoxigraph.NamedNode("http://e.org/s"), pyoxigraph.NamedNode("http://e.org/o")
    engine.extend([pyoxigraph.Quad(subject, pyoxigraph.NamedNode(predicate), value) for predicate in PREDICATES])
    for name, node in (("edges", subject), ("edges", value), ("edges_out", subject)):
        every: dict[str, Parameter] = {"predicates": []} if name == "edges_out" else {"outgoing": [], "incoming": []}
        query = template.load(name).render({"nodes": [node.value], "rows": 100, **every, **rule.parameters})
        rows = cast("pyoxigraph.QuerySolutions", engine.query(query))
        found = {cast("pyoxigraph.NamedNode", row["p"]).value for row in rows}
        assert found == {predicate for predicate in PREDICATES if rule.allows(predicate)}


def test_every_predicate_is_none_of_an_empty_list() -> None:
    engine = pyoxigraph.Store()
    engine.add(pyoxigraph.Quad(*map(pyoxigraph.NamedNode, ("http://e.org/s", RDF_TYPE, "http://e.org/o"))))
    rule = EdgeRule.of(EdgeSettings(types=(), excepted=()))
    every = selection_parameters(ALL_EDGES)
    query = template.load("edges").render({"nodes": ["http://e.org/s"], "rows": 100, **every, **rule.parameters})
    assert len(list(cast("pyoxigraph.QuerySolutions", engine.query(query)))) == 1


# A selection of edges: all, unless a block of predicates stands in the query

DIRECTED = [name for name in NAMES if "incoming" in header(name)]
SELECTING = [*DIRECTED, "edges_between", "edges_out"]


def names_no_predicate_unless_some_are_selected(name: str) -> None:
    given = parameters(name)
    slots = {"outgoing", "incoming", "predicates"} & header(name).keys()
    every = template.load(name).render({**given, **{slot: [] for slot in slots}})
    two = ["http://e.org/p", "http://e.org/q"]
    some = template.load(name).render({**given, **{slot: [two] for slot in slots}})
    assert "VALUES ?p" not in every
    assert some.count("VALUES ?p { <http://e.org/p> <http://e.org/q> }") == len(slots)
    # Without it Oxigraph looks up no pair of a node and a predicate, but reads all that either has.
    ordered = r"LATERAL \{\n *\?\w \?p \?\w \.\n *\}" if name.startswith("lateral/") else r"BIND\(\?p AS \?asked\)"
    # Virtuoso does not come to an end with it where it counts, and there it is not needed.
    in_order = 0 if name == "degrees" else len(slots)
    assert len(re.findall(rf"^ *VALUES \?p .*\n *{ordered}$", some, re.MULTILINE)) == in_order
    added = {line.strip() for line in some.splitlines()} - {line.strip() for line in every.splitlines()}
    assert {line for line in added if "?p" not in line} <= {"FILTER(!isBlank(?s))"}


def test_a_question_about_all_edges_names_no_predicate_and_one_about_some_names_them_by_direction() -> None:
    assert len(SELECTING) == 13
    check_each(SELECTING, names_no_predicate_unless_some_are_selected)


def test_a_self_loop_is_left_to_the_outgoing_edges_only_where_all_of_these_are_asked_for() -> None:
    for name in ("degrees", "degrees_each", "edges_capped", "lateral/degrees", "lateral/edges_capped"):
        text, given = template.load(name), parameters(name)
        for outgoing, incoming in itertools.product(([], [["http://e.org/p"]]), repeat=2):
            query = text.render({**given, "outgoing": outgoing, "incoming": incoming})
            assert ("?s != " in query) == (not outgoing)


# The shape that Virtuoso answers wrongly, with status 200


def counts_nothing_right_under_a_limit_of_its_own(name: str) -> None:
    query = template.load(name).sample()
    outermost = query[query.index("SELECT") : query.index("WHERE")]
    # Without GROUP BY the count then goes no further than the last LIMIT of the query.
    if "COUNT(" in outermost and "GROUP BY" not in query:
        assert query.count("LIMIT") == 1


def test_no_template_counts_what_a_limit_bounds_right_under_a_limit_of_its_own() -> None:
    check_each(NAMES, counts_nothing_right_under_a_limit_of_its_own)


# The shape that Blazegraph answers wrongly, with status 200


def selects(node: Any, distinct: bool = False) -> Iterator[tuple[CompValue, bool]]:
    """Yield every SELECT of an algebra tree, and whether it is DISTINCT."""
    if isinstance(node, CompValue):
        if node.name == "Project":
            yield node, distinct
        for key, inner in node.items():
            if key != "expr":
                yield from selects(inner, distinct=node.name == "Distinct")
    elif isinstance(node, list | tuple):
        for inner in node:
            yield from selects(inner)


def own_parts(node: Any) -> Iterator[CompValue]:
    """Yield the parts of a SELECT's own group, without those of a SELECT inside it and of EXISTS."""
    if isinstance(node, CompValue):
        yield node
        if node.name != "Project":
            for key, inner in node.items():
                if key != "expr" or node.name == "Aggregate_Count":
                    yield from own_parts(inner)
    elif isinstance(node, list | tuple):
        for inner in node:
            yield from own_parts(inner)


def is_trap(query: str) -> bool:
    """Return whether a query has VALUES, one triple pattern, and a lone COUNT or a DISTINCT of one variable."""
    if re.search(r"FILTER\s*\(\s*true\s*\)", query, re.IGNORECASE):
        return False
    for select, distinct in selects(algebra_of(as_sparql_1_1(query))):
        parts = list(own_parts(select.p))
        patterns = sum(len(part.triples) for part in parts if part.name == "BGP")
        values = any(part.name == "values" for part in parts)
        aggregates = [part.name for part in parts if part.name.startswith("Aggregate_")]
        counts = [kind for kind in aggregates if kind != "Aggregate_Sample"] == ["Aggregate_Count"]
        if values and patterns == 1 and (counts or (distinct and len(select.PV) == 1)):
            return True
    return False


SET = "VALUES ?s { <http://example.org/a> <http://example.org/b> }"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT (COUNT(*) AS ?n) {{ {SET} ?s ?p ?o }}",
        f"SELECT ?s (COUNT(*) AS ?n) {{ {SET} ?s ?p ?o }} GROUP BY ?s",
        f"SELECT ?p (COUNT(*) AS ?n) {{ {SET} ?s ?p ?o }} GROUP BY ?p",
        f"SELECT DISTINCT ?p {{ {SET} ?s ?p ?o }}",
        f"SELECT DISTINCT ?s {{ {SET} ?s ?p ?o }} LIMIT 5",
        f"SELECT ?p {{ {{ SELECT DISTINCT ?p {{ {SET} ?s ?p ?o }} LIMIT 5 }} }}",
        f"SELECT DISTINCT ?s {{ {SET} ?s ?p ?o FILTER(isIRI(?o)) }}",
        f"SELECT DISTINCT ?p {{ ?s ?p ?o }} {SET}",
    ],
)
def test_the_trap_is_recognised(query: str) -> None:
    assert is_trap(query)


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT DISTINCT ?s ?p {{ {SET} ?s ?p ?o }}",
        f"SELECT DISTINCT ?p {{ {SET} ?s ?p ?o . ?o ?q ?r }}",
        f"SELECT DISTINCT ?p {{ {SET} ?s ?p ?o FILTER(true) }}",
        f"SELECT (COUNT(*) AS ?n) (MIN(?o) AS ?m) {{ {SET} ?s ?p ?o }}",
        f"SELECT ?s ?p {{ {SET} ?s ?p ?o }}",
        "SELECT DISTINCT ?p { ?s ?p ?o FILTER(?s IN (<http://example.org/a>, <http://example.org/b>)) }",
        f"SELECT (COUNT(*) AS ?n) {{ {{ SELECT ?s ?o {{ {SET} ?s ?p ?o }} LIMIT 5 }} }}",
    ],
)
def test_what_the_engine_answers_rightly_is_no_trap(query: str) -> None:
    assert not is_trap(query)


# One test, because each worker has to parse what it asks about.
@pytest.mark.parametrize("name", [name for name in NAMES if template.load(name).dialect != "lateral"])
def test_a_template_is_sparql_1_1_if_it_says_so_and_has_no_shape_that_an_engine_answers_wrongly(name: str) -> None:
    loaded = template.load(name)
    sample, empty = loaded.sample(), loaded.render(parameters(name, repeated=0))
    # No block is left out of the sample, and a block that is there twice has the shape of one that is there once.
    assert sample.count("\n") >= loaded.render(parameters(name)).count("\n")
    for query in (sample, empty):
        if loaded.dialect == "sparql-1.1":
            assert algebra_of(query).name == "SelectQuery"
        assert not is_trap(query)


# The loader


ASKS_FOR_AN_IRI = re.compile(r"isIRI\((\?\w)\)(?! && !isBlank\(\1\)| \|\| isBlank\(\1\))")


def takes_no_blank_node_for_an_iri(name: str) -> None:
    # Virtuoso says of a blank node that it is an IRI; and on a subject it tests that with every triple it has, which
    # takes a hundred times as long as to test that it is no blank node.
    text = declarations(name)
    assert not ASKS_FOR_AN_IRI.search(text)
    assert "isIRI(?s)" not in text


def test_no_template_takes_a_blank_node_for_an_iri() -> None:
    check_each([name for name in NAMES if name != "iris_as_read"], takes_no_blank_node_for_an_iri)


def test_a_template_has_what_its_header_says() -> None:
    loaded = template.parse("valid", VALID)
    assert (loaded.name, loaded.summary, loaded.dialect, loaded.limit) == ("valid", "A question.", "sparql-1.1", "rows")
    assert loaded.sample() == (
        "SELECT ?n WHERE {\n  VALUES ?n { <http://example.org/a> }\n  ?n ?p ?v .\n"
        '  FILTER(CONTAINS(?v, "a"))\n}\nLIMIT 11\n'
    )


def test_a_block_is_repeated_for_each_element_and_left_out_for_none() -> None:
    loaded = template.parse("valid", VALID)
    queries = [loaded.render({"nodes": [], "words": words, "rows": 1}) for words in ([], ["a"], ["a", "b", "a"])]
    assert [re.findall(r'\?v, "(\w)"', query) for query in queries] == [[], ["a"], ["a", "b", "a"]]


def test_a_block_stands_where_a_list_has_elements_or_where_it_has_none() -> None:
    conditions = "#if words\n  # left out as a remark\n  ?n ?q ?w .\n#end\n#unless words\n  ?n ?r ?w .\n#end\n"
    loaded = template.parse("valid", VALID.replace("#each words", f"{conditions}#each words"))
    queries = [loaded.render({"nodes": [], "words": words, "rows": 1}) for words in ([], ["a"], ["a", "b"])]
    assert [(query.count("?q"), query.count("?r")) for query in queries] == [(0, 1), (1, 0), (1, 0)]
    assert not any("#" in query for query in queries)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("?n ?p ?v .", "?n ?_path ?v .", "path"),
        ('#+ param words each string ["a"]\n', "", "words"),
        ("{ ?_nodes }", "{ }", "nodes"),
        ("?_words", "?v", "words"),
        ("nodes iris", "nodes uris", "unknown kind 'uris'"),
        ("words each string", "words each (string text)", "unknown kind"),
        ("nodes iris [", "nodes [", "cannot read the declaration"),
        ("param nodes iris", "param Nodes iris", "cannot read the declaration"),
        ("\nLIMIT ?_rows", "", "LIMIT ?_rows"),
        ("LIMIT ?_rows", "LIMIT 10 # ?_rows", "LIMIT ?_rows"),
        ("LIMIT ?_rows", "LIMIT ?_rows OFFSET 5", "LIMIT ?_rows"),
        ("#+ limit: rows", "#+ limit: nodes", "LIMIT ?_nodes"),
        ("#+ limit: rows\n", "", "limit"),
        ("#+ summary: A question.\n", "", "summary"),
        ("#+ dialect: sparql-1.1", "#+ dialect: sparql-1.1\n#+ author: somebody", "author"),
        ("sparql-1.1", "sparql-2.0", "'sparql-2.0'"),
        ("#+ end: sentinel\n", "", "end"),
        ("end: sentinel", "end: somewhere", "'somewhere'"),
        ("CONTAINS(?v, ?_words)", "CONTAINS(?v, ?p)", "words"),
        ("words each string", "words string", "each"),
        ("nodes iris", "nodes each iri", "each"),
        ("#end\n", "", "#each words without #end"),
        ("?n ?p ?v .", "#if words\n?n ?p ?v .", "#if words without #end"),
        ("?n ?p ?v .", "#unless nodes\n?n ?p ?v .\n#end", "differ"),
        ("?n ?p ?v .", "#if paths\n?n ?p ?v .\n#end", "differ"),
        ("#each words\n", "", "#end without #each"),
        ("#each words", "#each nodes", "block of nodes"),
    ],
)
def test_the_loader_refuses_a_template_that_contradicts_its_header(old: str, new: str, told: str) -> None:
    assert old in VALID
    with pytest.raises(TemplateError) as caught:
        template.parse("broken", VALID.replace(old, new))
    assert "broken.rq" in str(caught.value)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"nodes": [], "rows": 1},
        {"nodes": [], "words": [], "rows": 1, "wrods": []},
        {},
    ],
)
def test_a_query_is_not_rendered_with_missing_or_unknown_parameters(given: dict[str, Parameter]) -> None:
    with pytest.raises(TemplateError, match="missing or unknown parameters"):
        template.parse("valid", VALID).render(given)


def test_a_repeated_parameter_is_not_rendered_from_one_value() -> None:
    with pytest.raises(TemplateError, match="words"):
        template.parse("valid", VALID).render({"nodes": [], "words": 5, "rows": 1})


def test_an_element_of_several_terms_needs_all_of_them() -> None:
    with pytest.raises(ValueError, match="zip"):
        template.load("evidence/annotations").render({"edges": [("http://example.org/a",)], "stated_by": [], "rows": 1})


def test_a_template_is_read_once() -> None:
    assert template.load("edges") is template.load("edges")
