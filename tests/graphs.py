"""The graphs of the tests, as files that an engine can load."""

import functools
import gzip
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Final, cast

import pyoxigraph

from gateway import resources
from tests.drawn.names import names_graph
from tests.random_graphs import write_corpus
from tests.shared_data import shared_data_or_none

FIXTURES: Final = ("medical", "films", "wikidata-slice", "wikibase", "singletons", "associations", "awkward")
ODD_TRIPLES: Final = (
    "<http://ex.org/a> <http://ex.org/p> <http://ex.org/docs/../report>",
    "<http://ex.org/docs/../report> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://ex.org/Report>",
    "<http://ex.org/docs/../report> <http://ex.org/p> <http://ex.org/c>",
    "<http://ex.org/d> <http://ex.org/p> <http://ex.org/c>",
    "<http://ex.org/a> <http://ex.org/p> <urn:a/../b>",
    "<urn:a/../b> <http://ex.org/p> <http://ex.org/e>",
    "<http://ex.org/a> <http://ex.org/p> <http://EX.org/upper>",
    "<http://EX.org/upper> <http://ex.org/p> <http://ex.org/f>",
    "<http://ex.org/a> <http://ex.org/p> <http://ex.org/caf\u00e9>",
    "<http://ex.org/caf\u00e9> <http://ex.org/p> <http://ex.org/g>",
)
"""IRIs that some engine takes for others in a query, though it keeps them as they are when it loads N-Triples."""

_SHARED: Final = {
    "medlit": "medlit.ttl.gz",
    "movies": "movies.ttl.gz",
    "wd50k": "wd50k.nt.gz",
    "codex-m": "codex-m.nt.gz",
}
SHARED: Final = {**_SHARED, "wd50k-rdf12": "wd50k-rdf12.ttl.gz"}
"""The files of the reference graphs, which need not be there."""

_SHARED_ASSERTED: Final = {**_SHARED, "medlit": "medlit-rdf11.ttl.gz", "movies": "movies-rdf11.ttl.gz"}

_FORMATS: Final = {".ttl": pyoxigraph.RdfFormat.TURTLE, ".nt": pyoxigraph.RdfFormat.N_TRIPLES}
_REIFIES: Final = pyoxigraph.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies")
_OF_EVIDENCE: Final = {_REIFIES, pyoxigraph.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#subject")}
_BOOLEAN: Final = pyoxigraph.NamedNode("http://www.w3.org/2001/XMLSchema#boolean")

_Statement = tuple[object, object, object]


def graph_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of every graph that is there, by the graph's name; the random graphs are one graph."""
    files = {name: [fixture(name)] for name in FIXTURES} | _shared(SHARED)
    return files | _made(folder) | {"random": [_random(folder)]}


def asserted_files(folder: Path) -> dict[str, list[Path]]:
    """Return the same graphs for an engine that knows RDF 1.1 only: what is asserted, without annotations."""
    files = {name: [_write(folder / f"{name}.nt", _lines(asserted(fixture(name))))] for name in FIXTURES}
    files["random"] = [_random(folder, triple_terms=False)]
    return files | _made(folder) | _shared(_SHARED_ASSERTED)


def blazegraph_files(folder: Path) -> dict[str, list[Path]]:
    """Return the graphs without annotations as Blazegraph can hold them.

    Canonically equivalent texts are one term to it (its dictionary is sorted by a Unicode collation), in the form that
    came first: so each text is given in one form. And it refuses a whole file for one ill-typed boolean.
    """
    files = asserted_files(folder)
    for name in (*FIXTURES, "names", "odd", "random"):
        (file,) = files[name]
        lines = file.read_text(encoding="utf-8").rstrip("\n").split("\n")
        remaining = (line for line in lines if not line.endswith(f'"maybe"^^{_BOOLEAN} .'))
        file.write_text("".join(f"{unicodedata.normalize('NFC', line)}\n" for line in remaining), encoding="utf-8")
    return files


def fixture(name: str) -> Path:
    """Return the file of a fixture graph."""
    return resources.folder("fixtures") / f"{name}.ttl"


@functools.cache
def existing_nodes(path: Path) -> tuple[str, ...]:
    """Return the IRIs of a file that are subject or object of a triple, sorted, read without the gateway."""
    terms = (term for quad in read(path) for term in (quad.subject, quad.object))
    return tuple(sorted({term.value for term in terms if isinstance(term, pyoxigraph.NamedNode)}))


def read(path: Path) -> Iterator[pyoxigraph.Quad]:
    """Read Turtle or N-Triples, gzipped or not."""
    zipped = path.suffix == ".gz"
    suffix = Path(path.stem).suffix if zipped else path.suffix
    with cast("IO[bytes]", gzip.open(path) if zipped else path.open("rb")) as stream:
        yield from pyoxigraph.parse(stream, _FORMATS[suffix])


def asserted(path: Path) -> Iterator[str]:
    """Yield the triples of a file as RDF 1.1 has them, each once, without annotations.

    A reifier is left out with everything that is said of it or points to it, as in `random_graphs.corpus_triples`: no
    edge comes or goes by that. Base directions of texts are left out as well; literals are otherwise as written.
    """
    quads = list(read(path))
    reifiers = {quad.subject for quad in quads if quad.predicate == _REIFIES}
    remaining: dict[_Statement, None] = {
        (quad.subject, quad.predicate, _without_direction(quad.object)): None
        for quad in quads
        if not isinstance(quad.object, pyoxigraph.Triple)
        and quad.subject not in reifiers
        and quad.object not in reifiers
    }
    # The parser labels blank nodes at random; a file that is another each time would be loaded into servers each time.
    numbers: dict[object, str] = {}
    for statement in remaining:
        yield " ".join(
            numbers.setdefault(term, f"_:b{len(numbers)}") if isinstance(term, pyoxigraph.BlankNode) else str(term)
            for term in statement
        )


def linked(source: Path, target: Path) -> Path:
    """Write the triples of a file that a database can hold, as N-Triples; return the new file.

    A row has no blank node, and a node that states evidence is no node.
    """
    triples = [quad.triple for quad in read(source)]
    left_out = {triple.subject for triple in triples if triple.predicate in _OF_EVIDENCE}
    kept = dict.fromkeys(triple for triple in triples if not _has_one_of(triple, left_out))
    pyoxigraph.serialize(kept, str(target), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return target


def _has_one_of(term: object, left_out: set[pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Triple]) -> bool:
    """Return whether a triple has one of some terms, or a blank node."""
    if isinstance(term, pyoxigraph.Triple):
        return _has_one_of(term.subject, left_out) or _has_one_of(term.object, left_out)
    return isinstance(term, pyoxigraph.BlankNode) or term in left_out


def _without_direction(term: object) -> object:
    if isinstance(term, pyoxigraph.Literal) and term.direction is not None:
        return pyoxigraph.Literal(term.value, language=term.language)
    return term


def _shared(names: Mapping[str, str]) -> dict[str, list[Path]]:
    found = {name: shared_data_or_none(file) for name, file in names.items()}
    return {name: [path] for name, path in found.items() if path is not None}


def _made(folder: Path) -> dict[str, list[Path]]:
    """Write the graphs that are lines of code here."""
    made = {"odd": ODD_TRIPLES, "names": names_graph(), "priced": priced_items()}
    return {name: [_write(folder / f"{name}.nt", _lines(lines))] for name, lines in made.items()}


RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
PRICED: Final = "https://example.org/priced/"


def priced_items() -> Iterator[str]:
    """Yield the triples of 60 items: types, and of most of them a category, a price, a maker and a text."""
    for number in range(60):
        item = f"<{PRICED}item{number}>"
        yield f"{item} <{RDF}type> <{PRICED}Item>"
        yield f'{item} <{PRICED}note> "note {number}"'
        yield f"{item} <{PRICED}madeBy> <{PRICED}maker{number % 3}>"
        if number % 4 == 0:
            yield f"{item} <{RDF}type> <{PRICED}Sample>"
        if number % 7:
            yield f"{item} <{PRICED}category> <{PRICED}category{number % 5}>"
        if number % 11 == 1 and number % 5:
            yield f"{item} <{PRICED}category> <{PRICED}category0>"
        if number % 6:
            yield f'{item} <{PRICED}price> "{number}.25"^^<{XSD}decimal>'
    for number in range(3):
        yield f'<{PRICED}maker{number}> <{PRICED}worth> "{10**number}"^^<{XSD}integer>'


def _random(folder: Path, *, triple_terms: bool = True) -> Path:
    path = folder / "random.nt"
    write_corpus(path, triple_terms=triple_terms)
    return path


def _lines(statements: Iterable[str]) -> str:
    return "".join(f"{statement} .\n" for statement in statements)


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
