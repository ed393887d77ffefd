"""Asking drawn questions of one engine, of files or of a database, and counting what the answers are worth."""

import asyncio
import random
import tempfile
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from rdflib import Literal as RdfLiteral
from rdflib import URIRef

from gateway.answers.models import Answer, Subgraph
from gateway.errors import GatewayError
from gateway.tools.gateway import Gateway
from tests.columns import Column, files_for
from tests.drawn.judging import Truth, judge
from tests.drawn.questions import WIKIDATA_RULE, Question, draw, is_wikidata, profile_for
from tests.graphs import asserted_files, linked
from tests.harness.asking import all_pages, at_once, judged
from tests.harness.kind import Kind, Say
from tests.harness.report import Judgement, Report, Verdict
from tests.harness.stores import STORES, StoreName, store_with
from tests.oracle import DEFAULT_RULE, RDFS, SCHEMA, SKOS, OracleGraph, Term, read_triples
from tests.servers.engines import ColumnName, Files

_IN_DATABASES: Final = ("names", "random", "medical", "films", "movies", "medlit")
"""Graphs that a database can hold: of another shape than Wikidata's, and with what states evidence left out."""


def _files_for(store: StoreName, folder: Path, graphs: Sequence[str]) -> Files:
    if store in {"postgres", "neo4j"}:
        return _without_blank_nodes(folder, graphs)
    files = files_for("in-process" if store == "files" else cast("ColumnName", store), folder)
    return {graph: files[graph] for graph in graphs if graph in files}


def _without_blank_nodes(folder: Path, graphs: Sequence[str]) -> dict[str, list[Path]]:
    """Write the graphs without what no table can hold: blank nodes, and nodes that state evidence."""
    files = asserted_files(folder)
    plain = folder / "plain"
    plain.mkdir()
    return {
        graph: [linked(files[graph][0], plain / f"{graph}.nt")]
        for graph in graphs
        if graph in _IN_DATABASES and graph in files
    }


_NAMES: Final = frozenset(
    {RDFS + "label", SKOS + "prefLabel", SKOS + "altLabel", *(schema + "name" for schema in SCHEMA)}
)
_WIKIDATA_NAMES: Final = frozenset({RDFS + "label", SKOS + "altLabel"})


_AWKWARD = "https://example.org/awkward/"
_REWRITTEN: Final[Mapping[str, Mapping[Term, Term]]] = {
    # It resolves dot segments when it loads Turtle; see tests/every_engine/test_same_values.py.
    "fuseki": {URIRef(f"{_AWKWARD}{dots}"): URIRef(f"{_AWKWARD}y") for dots in ("./y", "x/../y")}
}
"""IRIs that an engine stores as others."""


def truth_of(graph: str, files: Sequence[Path], engine: str = "", *, evidence: bool = True) -> Truth:
    """Read the files of a graph without the gateway, as an engine stores them where one is given.

    Args:
        graph: The graph.
        files: Its files.
        engine: The engine.
        evidence: Whether what states evidence is kept out of a graph that has not the shape of Wikidata.
    """
    rewritten = _REWRITTEN.get(engine, {})
    triples = [(rewritten.get(s, s), p, rewritten.get(o, o)) for file in files for s, p, o in read_triples(file)]
    predicates = _WIKIDATA_NAMES if is_wikidata(graph) else _NAMES
    names: defaultdict[str, set[str]] = defaultdict(set)
    labels: defaultdict[str, set[str]] = defaultdict(set)
    english: defaultdict[str, set[str]] = defaultdict(set)
    for s, p, o in triples:
        if isinstance(s, URIRef) and str(p) in predicates and isinstance(o, RdfLiteral):
            names[str(s)].add(str(o))
            if (o.language or "en").partition("-")[0] in {"en", "mul"}:
                english[str(s)].add(str(o))
            if str(p) != f"{SKOS}altLabel":
                labels[str(s)].add(str(o))
    rule = WIKIDATA_RULE if is_wikidata(graph) else replace(DEFAULT_RULE, evidence=evidence)
    others = {node: said - english[node] for node, said in names.items()}
    return Truth(OracleGraph(triples, rule), dict(names), dict(labels), others)


def drawn(graph: str, truth: Truth, seed: int, count: int, engine: str = "", steered: float = 0.5) -> list[Question]:
    """Draw the questions about a graph; the same for every engine but those about IRIs that it stores as others.

    `tests/every_engine/test_rewritten_iris.py` asks for these.
    """
    names = sorted((node, name) for node, texts in truth.names.items() for name in texts)
    dice = random.Random(f"{seed} {graph}")  # noqa: S311 - not a secret
    questions = draw(graph, truth.oracle, names, dice, count, steered)
    rewritten = {str(iri) for iri in _REWRITTEN.get(engine, {})}
    return [question for question in questions if rewritten.isdisjoint(question.ids)]


async def ask(
    column: Column, graph: str, questions: Sequence[Question], truth: Truth, report: Report, *, store: str = ""
) -> None:
    """Ask an engine the questions about one graph.

    Args:
        column: The engine.
        graph: The graph.
        questions: The questions.
        truth: What is right.
        report: Counts the answers.
        store: What the engine is called in the report, if not by its own name.
    """
    async with column.open(graph, profile_for(graph)) as gateway:
        worth = await at_once(questions, lambda question: asked(gateway, question, truth))
    for question, judgement in zip(questions, worth, strict=True):
        report.add(store or column.name, question.tool, question.as_json(), judgement)


async def asked(gateway: Gateway, question: Question, truth: Truth) -> Judgement:
    """Ask a question, read all pages of the answer, and judge them."""

    def judge_all(pages: Sequence[Answer] | GatewayError) -> Judgement:
        return judge(question, truth, pages, gateway.prefixes.expand, gateway.prefixes.declared_form)

    def further(page: Answer) -> Mapping[str, Any] | None:
        if not isinstance(page, Subgraph) or page.next_offset is None:
            return None
        return {"offset": page.next_offset, "edge_offset": page.next_edge, "snapshot": page.snapshot}

    def call(more: Mapping[str, Any]) -> Awaitable[Answer]:
        return gateway.call(question.tool, {**question.arguments, **more})

    return await judged(all_pages(call, further), judge_all)


_SHARES: Final = {
    "names": 0.2,
    "random": 0.2,
    "medical": 0.08,
    "films": 0.06,
    "wikidata-slice": 0.04,
    "associations": 0.03,
    "singletons": 0.03,
    "awkward": 0.08,
    "movies": 0.06,
    "medlit": 0.1,
    "codex-m": 0.06,
    "wd50k": 0.06,
}
"""Which part of the questions is about which graph."""


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--graph", action="append", choices=list(_SHARES), help="may be given again; all where absent")
    parser.add_argument("--steered", type=float, default=0.5, metavar="SHARE", help="of the traversals")


def _run(options: Namespace, say: Say) -> Report:
    report = Report()
    for store in options.engine or STORES:
        with tempfile.TemporaryDirectory(prefix="drawn-") as folder:
            _ask_store(store, Path(folder), options, report)
        say(f"{store}: {report.count(*Verdict, engine=store)} answers")
    return report


def _ask_store(store: StoreName, folder: Path, options: Namespace, report: Report) -> None:
    files = _files_for(store, folder, options.graph or list(_SHARES))
    whole = sum(_SHARES[graph] for graph in files)
    with store_with(store, folder, files) as column:
        for graph, paths in files.items():
            truth = truth_of(graph, paths)
            count = round(options.questions * _SHARES[graph] / whole)
            questions = drawn(graph, truth, options.seed, count, store, options.steered)
            as_loaded = truth_of(graph, paths, store) if graph == "awkward" else truth
            asyncio.run(ask(column, graph, questions, as_loaded, report, store=store))


KIND: Final = Kind(
    "drawn traversals, intersections, descriptions and searches on every engine and database, compared with the oracle",
    _run,
    questions=5_000,
    counted="on each engine",
    engines=STORES,
    options=_options,
)
