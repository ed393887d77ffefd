"""The W3C's evaluation tests for SPARQL, by the command line: `python -m tests.suites.sparql_evaluation FOLDER`.

The folder is a clone of https://github.com/w3c/rdf-tests. Tests on anything but one default graph are counted and not
run. Answers are compared up to the labels of blank nodes; where they differ, once more with the literals of both in the
canonical form in which Oxigraph stores them. See docs/conformance.md, "SPARQL".
"""

import contextlib
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph
import rdflib
from rdflib import RDF, BNode, Graph, Literal, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.compare import isomorphic
from rdflib.term import Node

from gateway.cli.main import main as run_command

TESTS = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
QUERIES = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-query#")
RESULTS = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/result-set#")
OTHER_KINDS = ("syntax", "update", "entailment")
FORMATS = {
    ".srx": pyoxigraph.QueryResultsFormat.XML,
    ".srj": pyoxigraph.QueryResultsFormat.JSON,
    ".tsv": pyoxigraph.QueryResultsFormat.TSV,
}
WRITTEN = {".csv": "csv", ".tsv": "tsv"}
STRING = URIRef("http://www.w3.org/2001/XMLSchema#string")
COMMENT_OR_IRI = re.compile(r"#[^\n]*|<[^>]*>")
KIND = re.compile(r"\b(select|ask|construct|describe)\b", re.IGNORECASE)
OTHER_DATASET = re.compile(r"\b(FROM|GRAPH|SERVICE)\b")

Row = dict[str, Node]


@dataclass(frozen=True)
class Case:
    """A test: its name, its files, whether they are one graph, and whether rows may come any number of times."""

    name: str
    query: Path
    data: tuple[Path, ...]
    result: Path
    is_on_one_graph: bool
    is_lax: bool


@dataclass(frozen=True)
class Rows:
    """An answer with rows."""

    rows: list[Row]
    are_ordered: bool = False

    def graph(self) -> Graph:
        """Return them as a graph, in which each row is a blank node."""
        found = Graph()
        for number, row in enumerate(self.rows):
            node = BNode()
            found.add((node, RDF.type, RESULTS.row))
            if self.are_ordered:
                found.add((node, RESULTS["index"], Literal(number)))
            for name, value in row.items():
                found.add((node, URIRef(f"urn:variable:{name}"), value))
        return found


Answer = bool | Rows | Graph | list[str]


def cases(root: Path) -> Iterator[Case]:
    """Yield the evaluation tests."""
    for path in sorted(root.glob("sparql/sparql1[01]/*/manifest.ttl")):
        if any(kind in path.parent.name for kind in OTHER_KINDS):
            continue
        manifest = Graph().parse(path, format="turtle", publicID=path.as_uri())
        for entries in manifest.objects(None, TESTS.entries):
            for test in Collection(manifest, entries):
                kinds = set(manifest.objects(test, RDF.type))
                if kinds & {TESTS.QueryEvaluationTest, TESTS.CSVResultFormatTest}:
                    yield _case(manifest, test, path)


def _case(manifest: Graph, test: Node, path: Path) -> Case:
    action = manifest.value(test, TESTS.action)
    query = _path(manifest.value(action, QUERIES.query))
    others = [*manifest.objects(action, QUERIES.graphData), *manifest.objects(action, QUERIES.serviceData)]
    text = COMMENT_OR_IRI.sub("", query.read_text(encoding="utf-8"))
    return Case(
        f"{path.parent.parent.name}/{path.parent.name}/{str(test).rpartition('#')[2]}",
        query,
        tuple(map(_path, manifest.objects(action, QUERIES.data))),
        _path(manifest.value(test, TESTS.result)),
        not others and OTHER_DATASET.search(text) is None,
        manifest.value(test, TESTS.resultCardinality) == TESTS.LaxCardinality,
    )


def _path(uri: Node | None) -> Path:
    return Path(str(uri).removeprefix("file://"))


def verdict(case: Case, root: Path, empty: Path) -> tuple[str, str]:
    """Return how an answer compares with what is expected, and what the program said."""
    if not case.is_on_one_graph:
        return "other dataset", ""
    text = COMMENT_OR_IRI.sub("", case.query.read_text(encoding="utf-8"))
    found = KIND.search(text)
    is_graph = found is not None and found[1].lower() in {"construct", "describe"}
    wanted = "ntriples" if is_graph else WRITTEN.get(case.result.suffix, "json")
    base = (case.data or (case.query,))[0].relative_to(root)
    options = ["--format", wanted, "--no-cache", "--timeout", "60", "--base", f"http://tests.example/{base}"]
    graphs = [word for path in case.data or (empty,) for word in ("--graph", str(path))]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_command(["sparql", str(case.query), *options, *graphs])
    if status:
        return "refused", err.getvalue().strip()
    ours = _ours(out.getvalue(), wanted)
    theirs = _theirs(case.result, f"http://tests.example/{case.result.relative_to(root)}", is_graph=is_graph)
    if case.is_lax and isinstance(ours, Rows) and isinstance(theirs, Rows):
        ours, theirs = _once(ours), _once(theirs)
    if _are_equal(ours, theirs):
        return "equal", ""
    return ("canonical literals", "") if _are_equal(_canonical(ours), _canonical(theirs)) else ("different", "")


def _ours(text: str, wanted: str) -> Answer:
    match wanted:
        case "ntriples":
            return Graph().parse(data=text, format="nt")
        case "csv":
            return _lines(text)
        case "tsv":
            return _rows(pyoxigraph.parse_query_results(text.encode(), format=pyoxigraph.QueryResultsFormat.TSV))
    content = json.loads(text)
    if "boolean" in content:
        return bool(content["boolean"])
    return _rows(pyoxigraph.parse_query_results(text.encode(), format=pyoxigraph.QueryResultsFormat.JSON))


def _theirs(path: Path, base: str, *, is_graph: bool) -> Answer:
    if path.suffix == ".csv":
        return _lines(path.read_text(encoding="utf-8"))
    if path.suffix in FORMATS:
        found = pyoxigraph.parse_query_results(path.read_bytes(), format=FORMATS[path.suffix])
        return bool(found) if isinstance(found, pyoxigraph.QueryBoolean) else _rows(found)
    graph = Graph().parse(path, format="xml" if path.suffix == ".rdf" else "turtle", publicID=base)
    sets = [*graph.subjects(RDF.type, RESULTS.ResultSet)]
    if is_graph or not sets:
        return graph
    truth = graph.value(sets[0], RESULTS.boolean)
    if truth is not None:
        return str(truth) in {"true", "1"}
    numbered: list[tuple[int, Row]] = []
    for solution in graph.objects(sets[0], RESULTS.solution):
        bindings = graph.objects(solution, RESULTS.binding)
        values = {str(graph.value(one, RESULTS.variable)): graph.value(one, RESULTS.value) for one in bindings}
        number = graph.value(solution, RESULTS["index"])
        row = {name: _comparable(value) for name, value in values.items() if value is not None}
        numbered.append((int(str(number or 0)), row))
    numbered.sort(key=lambda one: one[0])
    return Rows([row for _, row in numbered], any(number for number, _ in numbered))


def _once(answer: Rows) -> Rows:
    return Rows([dict(row) for row in {tuple(sorted(row.items())) for row in answer.rows}])


def _lines(text: str) -> list[str]:
    """Return the lines of CSV without the labels of blank nodes."""
    return sorted(re.sub(r"_:\w+", "_:", text).splitlines())


def _rows(found: object) -> Rows:
    assert isinstance(found, pyoxigraph.QuerySolutions)
    names = [variable.value for variable in found.variables]
    return Rows([{name: _node(row[name]) for name in names if row[name] is not None} for row in found])


def _node(term: object) -> Node:
    match term:
        case pyoxigraph.NamedNode():
            return URIRef(term.value)
        case pyoxigraph.BlankNode():
            return BNode(term.value)
        case pyoxigraph.Literal():
            if term.language:
                return Literal(term.value, lang=term.language)
            return _comparable(Literal(term.value, datatype=URIRef(term.datatype.value)))
        case _:
            raise TypeError(term)


def _comparable(term: Node) -> Node:
    """Return a term as RDF 1.1 has it: a plain text is an `xsd:string`."""
    return Literal(str(term)) if isinstance(term, Literal) and term.datatype == STRING else term


def _are_equal(ours: Answer, theirs: Answer) -> bool:
    if isinstance(ours, Rows) and isinstance(theirs, Rows):
        return isomorphic(Rows(ours.rows, theirs.are_ordered).graph(), theirs.graph())
    if isinstance(ours, Graph) and isinstance(theirs, Graph):
        return isomorphic(ours, theirs)
    return ours == theirs


def _canonical(answer: Answer) -> Answer:
    match answer:
        case Rows(rows, are_ordered):
            return Rows([{name: _stored(value) for name, value in row.items()} for row in rows], are_ordered)
        case Graph():
            changed = Graph()
            for subject, predicate, value in answer:
                changed.add((subject, predicate, _stored(value)))
            return changed
        case list():
            return [",".join(map(_number, line.split(","))) for line in answer]
        case _:
            return answer


def _stored(term: Node) -> Node:
    """Return a literal as Oxigraph stores it."""
    if not isinstance(term, Literal) or term.datatype is None:
        return term
    literal = pyoxigraph.Literal(str(term), datatype=pyoxigraph.NamedNode(str(term.datatype)))
    store, node = pyoxigraph.Store(), pyoxigraph.NamedNode("urn:a")
    store.add(pyoxigraph.Quad(node, node, literal))
    return _node(next(iter(store)).object)


def _number(text: str) -> str:
    try:
        return str(float(text))
    except ValueError:
        return text


def main(arguments: Sequence[str]) -> None:
    """Run all tests below a folder, and print what is not equal, and how many of each there are."""
    rdflib.NORMALIZE_LITERALS = False
    root = Path(arguments[0]).resolve()
    with TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.nt"
        empty.touch()
        counts = Counter(_shown(cases(root), root, empty))
    sys.stdout.write(f"{dict(counts)}\n")


def _shown(all_cases: Iterable[Case], root: Path, empty: Path) -> Iterator[str]:
    for case in all_cases:
        kind, said = verdict(case, root, empty)
        if kind not in {"equal", "other dataset"}:
            sys.stdout.write(f"{kind}: {case.name} {said}\n")
        yield kind


if __name__ == "__main__":
    main(sys.argv[1:])
