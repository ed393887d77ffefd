"""Asking drawn questions of one engine, of files or of a database, and counting what the answers are worth."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from rdflib import Literal as RdfLiteral
from rdflib import URIRef

from gateway.answers.models import Answer, Subgraph
from gateway.api import open_gateway
from gateway.errors import GatewayError
from gateway.tools.gateway import Gateway
from tests.columns import Column, ColumnName, column
from tests.drawn.judging import Truth, judge
from tests.drawn.questions import WIKIDATA_RULE, Question, draw, is_wikidata, profile_for
from tests.graphs import asserted_files
from tests.neo4j.database import Neo4jColumn, address_at, own_database
from tests.oracle import DEFAULT_RULE, RDFS, SCHEMA, SKOS, OracleGraph, Term, read_triples
from tests.postgres.database import PostgresColumn, running_database
from tests.postgres.linked_files import linked
from tests.soak.verdict import Verdict

EngineName = Literal["files", "postgres", "neo4j"] | ColumnName
"""`files` is the engine of this process as a user opens it: from the files, with the label index."""

ENGINES: Final[Sequence[EngineName]] = ("files", *get_args(ColumnName), "postgres", "neo4j")

_IN_DATABASES: Final = ("names", "random", "medical", "films", "movies", "medlit")
"""Graphs that a database can hold: of another shape than Wikidata's, and with what states evidence left out."""


@contextmanager
def engine_with(name: EngineName, folder: Path, graphs: Sequence[str]) -> Iterator[Column]:
    """Start an engine, or a database, with some of the graphs, and stop it again."""
    if name == "postgres":
        with running_database(folder) as database:
            yield PostgresColumn("in-process", _without_blank_nodes(folder, graphs), database=database)
    elif name == "neo4j":
        files = _without_blank_nodes(folder, graphs)
        with own_database(folder, files) as server:
            yield Neo4jColumn("in-process", files, address=address_at(server.port))
    else:
        with column("in-process" if name == "files" else name, folder, graphs) as there:
            yield there


def opened(name: EngineName, there: Column, graph: str) -> Gateway:
    """Open a gateway over a graph."""
    if name == "files":
        return open_gateway(*there.files[graph], profile=profile_for(graph))
    return there.open(graph, profile_for(graph))


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


AT_ONCE: Final = 4
_NAMES: Final = frozenset(
    {RDFS + "label", SKOS + "prefLabel", SKOS + "altLabel", *(schema + "name" for schema in SCHEMA)}
)
_WIKIDATA_NAMES: Final = frozenset({RDFS + "label", SKOS + "altLabel"})


@dataclass
class Report:
    """What the answers of one engine are worth.

    Attributes:
        engine: The engine.
        verdicts: How many answers have each verdict, by tool.
        findings: Each answer that is wrong, untrue, an error or a crash, with its question.
    """

    engine: str
    verdicts: Counter[tuple[str, Verdict]] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)

    def add(self, question: Question, verdict: Verdict, detail: str) -> None:
        """Count an answer."""
        self.verdicts[question.tool, verdict] += 1
        if verdict not in (Verdict.RIGHT, Verdict.MARKED):
            self.findings.append(
                {"engine": self.engine, "verdict": verdict.value, "detail": detail, "question": question.as_json()}
            )

    def as_text(self) -> str:
        """Return one line a tool."""
        tools = sorted({tool for tool, _ in self.verdicts})
        counts = (
            f"{self.engine:12} {tool:20} "
            + ", ".join(
                f"{verdict} {self.verdicts[tool, verdict]}" for verdict in Verdict if self.verdicts[tool, verdict]
            )
            for tool in tools
        )
        return "".join(f"{line}\n" for line in counts)


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
    for s, p, o in triples:
        if isinstance(s, URIRef) and str(p) in predicates and isinstance(o, RdfLiteral):
            names[str(s)].add(str(o))
    rule = WIKIDATA_RULE if is_wikidata(graph) else replace(DEFAULT_RULE, evidence=evidence)
    return Truth(OracleGraph(triples, rule), dict(names))


def drawn(graph: str, truth: Truth, seed: int, count: int, engine: str = "", steered: float = 0.5) -> list[Question]:
    """Draw the questions about a graph; the same for every engine but those about IRIs that it stores as others.

    `tests/every_engine/test_rewritten_iris.py` asks for these.
    """
    names = sorted((node, name) for node, texts in truth.names.items() for name in texts)
    dice = random.Random(f"{seed} {graph}")  # noqa: S311 - not a secret
    questions = draw(graph, truth.oracle, names, dice, count, steered)
    rewritten = {str(iri) for iri in _REWRITTEN.get(engine, {})}
    return [question for question in questions if rewritten.isdisjoint(question.ids)]


async def ask_all(
    opened: Callable[[str], Gateway],
    questions: Mapping[str, Sequence[Question]],
    truths: Mapping[str, Truth],
    report: Report,
) -> None:
    """Ask the questions about every graph on one engine.

    Args:
        opened: Opens a gateway over a graph.
        questions: By graph.
        truths: What is right, by graph.
        report: Counts the answers.
    """
    for graph, about in questions.items():
        async with opened(graph) as gateway:
            waiting = iter(about)

            async def work(gateway: Gateway = gateway, waiting: Any = waiting, graph: str = graph) -> None:
                for question in waiting:
                    report.add(question, *await asked(gateway, question, truths[graph]))

            async with asyncio.TaskGroup() as tasks:
                for _ in range(AT_ONCE):
                    tasks.create_task(work())


async def asked(gateway: Gateway, question: Question, truth: Truth) -> tuple[Verdict, str]:
    """Ask a question, read all pages of the answer, and judge them."""
    try:
        pages = await _pages(gateway, question)
    except GatewayError as error:
        return judge(question, truth, error, gateway.prefixes.expand, gateway.prefixes.declared_form)
    except Exception as error:  # noqa: BLE001 - an exception that is no error of the gateway's is a finding
        return Verdict.CRASHED, repr(error)
    return judge(question, truth, pages, gateway.prefixes.expand, gateway.prefixes.declared_form)


async def _pages(gateway: Gateway, question: Question) -> list[Answer]:
    pages: list[Answer] = [await gateway.call(question.tool, question.arguments)]
    while isinstance(last := pages[-1], Subgraph) and last.next_offset is not None:
        further = {"offset": last.next_offset, "edge_offset": last.next_edge, "snapshot": last.snapshot}
        pages.append(await gateway.call(question.tool, {**question.arguments, **further}))
    return pages
