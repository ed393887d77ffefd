"""Characters that hide, reorder or control text: one or more of each kind, for tests to put into graphs."""

import unicodedata
from pathlib import Path

import pyoxigraph

HIDDEN = (
    "\x00\x07\x08\t\n\r\x1b\x7f\x80\x9b\x9f"  # controls
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u180f\u3164\uffa0"  # fillers
    "\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\u206f"  # zero width, bidirectional
    "\ud800\ue000\ufe00\ufe0f\ufeff\ufff9\ufffb\uffff"
    "\U0001bca0\U0001d173\U000e0001\U000e0041\U000e007f\U000e0100\U000f0000\U00100000"  # tags, private use
)

IN_LITERALS = HIDDEN.replace("\ud800", "").replace("\x00", "")
IN_IRIS = "\xad\u200b\u200d\u202e\u2066\ufe0f\u061c\u3164"
NAME = f"start{IN_LITERALS}end \\u202e"
X = "http://example.org/"
A, B, C = (f"{X}{letter}{IN_IRIS}" for letter in "abc")
ABSENT = f"{X}absent{IN_IRIS}"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co"})


def hidden_in(text: str) -> list[str]:
    """Return the characters of a text that ought to be escaped, each once."""
    return [one for one in dict.fromkeys(text) if one in HIDDEN or unicodedata.category(one) in _CATEGORIES]


def write_hidden_graph(folder: Path) -> Path:
    """Write a graph whose every text has these characters to a file whose name has them too."""
    iri, text = pyoxigraph.NamedNode, pyoxigraph.Literal(NAME)
    kind, predicate, note = iri(f"{X}Type{IN_IRIS}"), iri(f"{X}p{IN_IRIS}"), iri(f"{X}note{IN_IRIS}")
    quads = []
    for node in map(iri, (A, B, C)):
        quads += [
            pyoxigraph.Quad(node, iri(f"{RDF}type"), kind),
            pyoxigraph.Quad(node, iri(LABEL), text),
            pyoxigraph.Quad(node, note, text),
            pyoxigraph.Quad(node, note, pyoxigraph.Literal(NAME * 300)),
        ]
    for term in (kind, predicate, note):
        quads.append(pyoxigraph.Quad(term, iri(LABEL), text))
    for subject, target in ((A, B), (B, C), (C, A)):
        edge = pyoxigraph.Triple(iri(subject), predicate, iri(target))
        reifier = pyoxigraph.BlankNode()
        quads += [
            pyoxigraph.Quad(*edge),
            pyoxigraph.Quad(reifier, iri(f"{RDF}reifies"), edge),
            pyoxigraph.Quad(reifier, note, text),
        ]
    path = folder / f"hostile{IN_IRIS}.nt"
    pyoxigraph.serialize((quad.triple for quad in quads), output=path, format=pyoxigraph.RdfFormat.N_TRIPLES)
    return path
