"""`python -m benchmarks.recall [COLUMN ...] [--sample N]`: which share of names a search finds, however they are typed.

A search for a variant of a name counts as a hit if an entity with that very name is among the first five.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, Literal

import pyoxigraph
from rich.console import Console
from rich.table import Table

from benchmarks.report import Line
from benchmarks.unnamed import Found, write_local_names, write_notations
from benchmarks.variants import TARGETS, VARIANTS
from gateway.answers.models import SearchHit
from gateway.api import open_gateway
from gateway.arguments import MAX_QUERY
from gateway.errors import Fault
from gateway.settings.load import load_profile
from gateway.settings.profile import SearchSettings
from gateway.terms.iri import NAME_PREDICATES, RDF_TYPE, SCHEMA_TERM_CLASSES, SYNONYM_PREDICATES
from gateway.tools.gateway import Gateway
from tests.columns import column as engine_column
from tests.graphs import read
from tests.servers.unavailable import ServerUnavailable
from tests.shared_data import shared_data_or_none

AT: Final = 5


@dataclass(frozen=True, slots=True)
class Graph:
    """A reference graph.

    Attributes:
        file: Its file.
        profile: The profile it is asked under.
        type: The predicate that gives types.
    """

    file: str
    profile: str
    type: str

    @property
    def name(self) -> str:
        """Its name among the graphs of the tests."""
        return self.file.partition(".")[0]

    @property
    def path(self) -> Path:
        """Where it is.

        Raises:
            ServerUnavailable: It is not on this machine.
        """
        path = shared_data_or_none(self.file)
        if path is None:
            raise ServerUnavailable(f"needs the reference graph {self.file} in ../shared/data")
        return path


MEDLIT: Final = Graph("medlit.ttl.gz", "local", RDF_TYPE)
WD50K: Final = Graph("wd50k.nt.gz", "wikidata-local", "http://www.wikidata.org/prop/direct/P31")


@dataclass(frozen=True, slots=True)
class Named:
    """A name, and who has it.

    Attributes:
        text: The name.
        entities: All entities that have it, as a label or an alias.
        type: A type of one that has it as what it is asked for; empty where none has one.
    """

    text: str
    entities: frozenset[str]
    type: str


@dataclass(frozen=True, slots=True)
class Column:
    """Something that searches a graph.

    Attributes:
        graph: The graph.
        open: Opens a gateway over it, its server started where it needs one.
        sample: Labels that it is asked about, seeded; None: all.
        bound: Whether it has to reach the targets.
        at_once: Searches that go on at once, so that an engine behind HTTP and this process are both at work.
        variants: Those that are asked.
        makes: Writes a graph of other nodes, of the names of this one, and returns what they are found by.
    """

    graph: Graph
    open: Callable[[Graph], AbstractContextManager[Gateway]]
    sample: int | None = None
    bound: bool = False
    at_once: int = 1
    variants: Collection[str] = tuple(VARIANTS)
    makes: Callable[[Sequence[Named], Path], Found] | None = None


@contextmanager
def _embedded(graph: Graph) -> Iterator[Gateway]:
    yield open_gateway(graph.path, profile=graph.profile)


@contextmanager
def _own_index(engine: Literal["fuseki", "virtuoso", "blazegraph"], graph: Graph) -> Iterator[Gateway]:
    """Open a graph at an engine, every search asking that engine's own text index and exact names, and nothing else."""
    profile = load_profile(graph.profile)
    # A schema that is read while others are at work must not fail a search of this.
    limits = profile.limits.model_copy(update={"deadline_seconds": 300.0})
    asking = profile.model_copy(update={"search": SearchSettings(index=engine, scan_triples=0), "limits": limits})
    with (
        tempfile.TemporaryDirectory(prefix="recall-") as folder,
        engine_column(engine, Path(folder), {graph.name}, text_index=True) as there,
    ):
        yield there.open(graph.name, asking)


def _of_local_names(names: Sequence[Named], file: Path) -> Found:
    return write_local_names(((one.text, one.type) for one in names), file)


def _of_notations(names: Sequence[Named], file: Path) -> Found:
    # Of several entities of one name it is not known which of them has the type.
    nodes = {entity: one.type for one in names if len(one.entities) == 1 for entity in one.entities}
    return write_notations(nodes.items(), file)


_SCANS: Final = frozenset({"search/folded", "search/every_word", "search/any_word"})
"""Queries that compare all names, which no column is about."""

SAMPLE: Final = 5_000
COLUMNS: Final[Mapping[str, Column]] = {
    "local index, medlit": Column(MEDLIT, _embedded, bound=True),
    "local index, wd50k": Column(WD50K, _embedded, bound=True),
    "local names, wd50k": Column(
        WD50K, _embedded, bound=True, variants=[one for one in VARIANTS if one != "alias"], makes=_of_local_names
    ),
    "notations, wd50k": Column(WD50K, _embedded, bound=True, variants=["exact", "lower case"], makes=_of_notations),
    "Fuseki, wd50k": Column(WD50K, partial(_own_index, "fuseki"), SAMPLE, at_once=4),
    "Virtuoso, wd50k": Column(WD50K, partial(_own_index, "virtuoso"), SAMPLE, at_once=4),
    "Blazegraph, wd50k": Column(WD50K, partial(_own_index, "blazegraph"), SAMPLE, at_once=4),
}


@dataclass(slots=True)
class Count:
    """How often a variant was found.

    Attributes:
        hits: Times.
        asked: Of so many.
        seconds: Time that all searches took.
        missed: Some of those that were not found.
        failed: Searches that failed, which count as not found.
    """

    hits: int = 0
    asked: int = 0
    seconds: float = 0.0
    missed: list[tuple[str, str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """The share that was found."""
        return self.hits / self.asked if self.asked else 0.0


Counts = Mapping[tuple[str, bool], Count]
"""By variant, and whether a type was given."""


@functools.cache
def names_of(graph: Graph) -> tuple[Sequence[Named], Sequence[Named]]:
    """Read the labels and the aliases of a graph, without the gateway."""
    labels: dict[str, set[str]] = defaultdict(set)
    aliases: dict[str, set[str]] = defaultdict(set)
    types: dict[str, set[str]] = defaultdict(set)
    for quad in read(graph.path):
        if not isinstance(quad.subject, pyoxigraph.NamedNode):
            continue
        predicate = quad.predicate.value
        if isinstance(quad.object, pyoxigraph.Literal):
            for names, predicates in ((labels, NAME_PREDICATES), (aliases, SYNONYM_PREDICATES)):
                if predicate in predicates:
                    names[quad.object.value].add(quad.subject.value)
        elif predicate == graph.type and isinstance(quad.object, pyoxigraph.NamedNode):
            types[quad.subject.value] |= {quad.object.value} - SCHEMA_TERM_CLASSES
    return _named(labels, aliases, types), _named(aliases, labels, types)


def _named(
    these: Mapping[str, set[str]], others: Mapping[str, set[str]], types: Mapping[str, set[str]]
) -> Sequence[Named]:
    return [
        Named(
            text,
            frozenset(entities | others.get(text, set())),
            min((kind for entity in entities for kind in types.get(entity, ())), default=""),
        )
        for text, entities in sorted(these.items())
    ]


async def measure(column: Column, sample: int | None = None) -> Counts:
    """Ask for every variant of every name."""
    labels, aliases = names_of(column.graph)
    size = sample or column.sample
    if column.makes is not None:
        with tempfile.TemporaryDirectory(prefix="recall-") as folder:
            file = Path(folder) / "graph.nt"
            found = column.makes(labels, file)
            named = [Named(text, frozenset({node}), kind) for text, (node, kind) in found.items()]
            return await _measured(column, open_gateway(file), named, (), size)
    with column.open(column.graph) as opened:
        return await _measured(column, opened, labels, aliases, size)


async def _measured(
    column: Column, opened: Gateway, labels: Sequence[Named], aliases: Sequence[Named], size: int | None
) -> Counts:
    at_once = column.at_once
    counts: dict[tuple[str, bool], Count] = {}
    async with opened as gateway:
        # What is made at the first search is no part of the others' time.
        await gateway.wait_for_names()
        first = await gateway.search_entities("a name", explain=True)
        sent = [] if first.explain is None else first.explain.sent
        if asked := [query.template for query in sent if query.template in _SCANS]:
            raise ServerUnavailable(f"needs an index of names; the graph was asked instead: {', '.join(asked)}")
        for variant in column.variants:
            make = VARIANTS[variant]
            names = _spread(aliases if variant == "alias" else labels, size)
            for typed in (False, True):
                count = counts[variant, typed] = Count()
                asking = _ask_all(gateway, ((named, make(named.text)) for named in names), typed=typed, count=count)
                # They share what is left to ask.
                await asyncio.gather(*(asking() for _ in range(at_once)))
                if at_once > 1:
                    sys.stderr.write(f"{variant}{' with its type' if typed else ''}: {_cell(count)}\n")
    return counts


def _ask_all(
    gateway: Gateway, questions: Iterator[tuple[Named, str | None]], *, typed: bool, count: Count
) -> Callable[[], Awaitable[None]]:
    """Return what asks one question after the other until none is left, however many do."""

    async def work() -> None:
        for named, text in questions:
            await _ask(gateway, named, text, typed=typed, count=count)

    return work


def _spread(names: Sequence[Named], size: int | None) -> Sequence[Named]:
    return names if size is None else names[:: max(1, len(names) // size)][:size]


async def _ask(gateway: Gateway, named: Named, text: str | None, *, typed: bool, count: Count) -> None:
    if text is None or not any(map(str.isalnum, text)) or len(text) > MAX_QUERY or (typed and not named.type):
        return
    began = time.perf_counter()
    found: Sequence[SearchHit] = ()
    try:
        answer = await gateway.search_entities(text, [named.type] if typed else None, limit=AT)
        found = answer.result or answer.guesses or ()
    except Fault as fault:
        count.failed.append(f"{text}: {fault}")
    count.seconds += time.perf_counter() - began
    count.asked += 1
    if any(gateway.prefixes.expand(hit.id) in named.entities for hit in found):
        count.hits += 1
    elif len(count.missed) < AT:
        count.missed.append((named.text, text))


def lines_of(found: Mapping[str, Counts]) -> list[Line]:
    """Return the lines of the acceptance."""
    return [
        Line(
            "5",
            f"{name}: {variant}{', with its type' if typed else ''}",
            "",
            TARGETS[variant],
            count.recall,
            at_least=True,
        )
        for name, counts in found.items()
        if COLUMNS[name].bound
        for (variant, typed), count in counts.items()
        if count.asked
    ]


def _table(found: Mapping[str, Counts]) -> Table:
    table = Table(title=f"Recall at {AT}: the share of names that are found, and milliseconds a search")
    for name in ("variant", "type", "target"):
        table.add_column(name)
    for name in found:
        table.add_column(name, justify="right", overflow="fold")
    for variant in VARIANTS:
        for typed in (False, True):
            cells = [_cell(counts.get((variant, typed), Count())) for counts in found.values()]
            table.add_row(variant, "given" if typed else "", f"{TARGETS[variant]:g}", *cells)
    return table


def _cell(count: Count) -> str:
    if not count.asked:
        return ""
    failed = f", {len(count.failed)} failed" if count.failed else ""
    return f"{count.recall:.3f} of {count.asked:,}, {count.seconds / count.asked * 1000:.1f} ms{failed}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the columns and print the table; 1 where a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description="What a search finds.")
    parser.add_argument("columns", nargs="*", metavar="COLUMN", help=f"{'; '.join(COLUMNS)}; all where none is named")
    parser.add_argument("--sample", type=int, metavar="N", help="ask about so many names of each graph, and not all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there, and names that were missed")
    options = parser.parse_args(arguments)
    wrong = [name for name in options.columns if name not in COLUMNS]
    if wrong:
        parser.error(f"no such column: {', '.join(wrong)}; there are {'; '.join(COLUMNS)}")
    found: dict[str, Counts] = {}
    try:
        for name in options.columns or COLUMNS:
            found[name] = asyncio.run(measure(COLUMNS[name], options.sample))
    except ServerUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 2
    Console(width=None if sys.stdout.isatty() else 160).print(_table(found))
    if options.json is not None:
        written = {
            name: [{"variant": key[0], "typed": key[1], **asdict(count)} for key, count in counts.items()]
            for name, counts in found.items()
        }
        options.json.write_text(json.dumps(written, indent=1, ensure_ascii=False), encoding="utf-8")
    missed = [line for line in lines_of(found) if line.verdict == "missed"]
    for line in missed:
        sys.stderr.write(f"missed: {line.what}: {line.result:.3f} of {line.target:g}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
