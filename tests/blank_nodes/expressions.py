"""What class expressions should become: edges with what they say, content, or nothing that is read.

Written from docs/contract.md, "Class expressions", over the triples of rdflib, without a line of the gateway.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from rdflib import OWL, RDF, RDFS, SH, XSD, BNode, Literal, URIRef

Expr: TypeAlias = tuple[Any, ...]
"""("name", term), ("data",), ("and" | "or" | "one", parts...), ("not", part), or (word, number, property, filler)."""

_PATH: Final = "urn:x-bfsql-blank:path:"
_DEFINING: Final = {OWL.unionOf: "or", OWL.intersectionOf: "and", OWL.oneOf: "one"}
_AXIOMS: Final = {RDFS.subClassOf, OWL.equivalentClass, RDF.type, RDFS.domain, RDFS.range}
_COUNTS: Final = {
    OWL.minCardinality: "min",
    OWL.maxCardinality: "max",
    OWL.cardinality: "exactly",
    OWL.minQualifiedCardinality: "min",
    OWL.maxQualifiedCardinality: "max",
    OWL.qualifiedCardinality: "exactly",
}
_BARE: Final = {OWL.minCardinality, OWL.maxCardinality, OWL.cardinality}
_IMPLIED: Final = {OWL.Class, OWL.Restriction, OWL.DataRange, OWL.ObjectProperty, RDFS.Class, RDFS.Datatype, RDF.List}
_FACETS: Final = {OWL.onDatatype, OWL.withRestrictions, OWL.datatypeComplementOf}
_MARKS: Final = {OWL.onProperty, OWL.complementOf, *_DEFINING, *_FACETS}
_RDF_DATA: Final = {
    RDF.langString,
    RDF.PlainLiteral,
    RDF.XMLLiteral,
    RDF.HTML,
    RDF.JSON,
    URIRef(str(RDF) + "dirLangString"),
}
_DIFFERENT: Final = {
    OWL.AllDisjointClasses: OWL.disjointWith,
    OWL.AllDisjointProperties: OWL.propertyDisjointWith,
    OWL.AllDifferent: OWL.differentFrom,
}
_LISTED: Final = {OWL.propertyChainAxiom, OWL.hasKey, OWL.disjointUnionOf, OWL.disjointWith, SH.path}
_OF_ONE_PATH: Final = {SH.inversePath, SH.zeroOrMorePath, SH.oneOrMorePath, SH.zeroOrOnePath}
_MOST_DIFFERENT: Final = 200

EXPRESSION: Final = ("expression",)
"""Stands in arrays for a part that is an expression."""


class _NoRule(Exception):
    """An expression that is not read."""


@dataclass
class Reading:
    """What was read.

    Attributes:
        triples: All triples but those of expressions that were read, with their edges.
        says: How expressions say an edge, each way as text.
        arrays: Content that is an array, by its owner and predicate.
        owners: The nodes that have content which is no array.
        edges: Axioms that became edges alone.
        content: Axioms with content.
        unread: Axioms that fit no rule, as text.
    """

    triples: list[Any] = field(default_factory=list)
    says: dict[Any, set[str]] = field(default_factory=lambda: defaultdict(set))
    arrays: dict[Any, list[Any]] = field(default_factory=lambda: defaultdict(list))
    owners: set[Any] = field(default_factory=set)
    edges: int = 0
    content: int = 0
    unread: list[str] = field(default_factory=list)


@dataclass
class _Way:
    """One way in which an edge is said."""

    subject: Any
    path: tuple[tuple[Any, bool], ...]
    end: Any
    words: tuple[str, ...]
    denied: bool
    choices: int
    defines: bool


class _Graph:
    def __init__(self, triples: Sequence[Any]) -> None:
        self.triples = triples
        self.of: dict[Any, dict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
        for s, p, o in triples:
            self.of[s][p].append(o)

    def told(self, node: Any) -> dict[Any, Any]:
        """Return what a part of an expression says, each predicate once."""
        found = {}
        for p, values in self.of.get(node, {}).items():
            left = [v for v in values if not (p == RDF.type and v in _IMPLIED)]
            if len(left) > 1:
                raise _NoRule
            if left:
                found[p] = left[0]
        return found

    def is_expression(self, node: Any) -> bool:
        return isinstance(node, BNode) and bool(_MARKS & self.of.get(node, {}).keys())

    def members(self, head: Any) -> list[Any]:
        found: list[Any] = []
        cells: set[Any] = set()
        while head != RDF.nil:
            told = self.told(head) if isinstance(head, BNode) else {}
            if head in cells or set(told) != {RDF.first, RDF.rest}:
                raise _NoRule
            cells.add(head)
            found.append(told[RDF.first])
            head = told[RDF.rest]
        return found

    def read(self, node: Any, above: tuple[Any, ...] = ()) -> Expr:
        if isinstance(node, URIRef):
            is_data = str(node).startswith(str(XSD)) or node in {*_RDF_DATA, RDFS.Literal, OWL.real, OWL.rational}
            return ("data",) if is_data else ("name", node)
        if not isinstance(node, BNode) or node in above or len(above) > 50:
            raise _NoRule
        told, within = self.told(node), (*above, node)
        if told and set(told) <= _FACETS:
            return ("data",)
        if OWL.onProperty in told:
            return self._restriction(told, within)
        if len(told) != 1:
            raise _NoRule
        ((p, value),) = told.items()
        return self.defined(p, value, within)

    def defined(self, p: Any, value: Any, within: tuple[Any, ...] = ()) -> Expr:
        if p == OWL.complementOf:
            return ("not", self.read(value, within))
        if p not in _DEFINING or not (members := self.members(value)):
            raise _NoRule
        if p == OWL.oneOf:
            named = all(isinstance(each, URIRef | BNode) for each in members)
            if not named and not within:
                raise _NoRule
            return ("one", *(("name", each) for each in members)) if named else ("data",)
        return (_DEFINING[p], *(self.read(each, within) for each in members))

    def _restriction(self, told: Mapping[Any, Any], within: tuple[Any, ...]) -> Expr:
        step = self._property(told[OWL.onProperty])
        rest = {p: v for p, v in told.items() if p != OWL.onProperty}
        on = [rest.pop(p) for p in (OWL.onClass, OWL.onDataRange) if p in rest]
        if len(rest) != 1 or len(on) > 1:
            raise _NoRule
        ((p, value),) = rest.items()
        if p in _COUNTS:
            text = str(value)
            is_number = isinstance(value, Literal) and text.isascii() and text.isdecimal() and len(text) < 10
            if not is_number or (p in _BARE) == bool(on):
                raise _NoRule
            return (_COUNTS[p], int(text), step, self.read(on[0], within) if on else None)
        if on:
            raise _NoRule
        if p == OWL.hasValue:
            return ("value", 0, step, ("data",) if isinstance(value, Literal) else ("name", value))
        if p == OWL.hasSelf:
            return ("self", 0, step, None)
        if p in {OWL.someValuesFrom, OWL.allValuesFrom}:
            return ("some" if p == OWL.someValuesFrom else "only", 0, step, self.read(value, within))
        raise _NoRule

    def _property(self, prop: Any) -> tuple[Any, bool]:
        if isinstance(prop, BNode):
            inner = self.told(prop)
            if set(inner) != {OWL.inverseOf} or not isinstance(inner[OWL.inverseOf], URIRef):
                raise _NoRule
            return (inner[OWL.inverseOf], True)
        if not isinstance(prop, URIRef):
            raise _NoRule
        return (prop, False)

    def below(self, node: Any, of: Any = None) -> set[Any]:
        """Return the blank nodes of which something is made; individuals are none of them."""
        found, new = {node}, [(node, of)]
        while new:
            part, role = new.pop()
            for p, values in self.of.get(part, {}).items():
                if p == OWL.hasValue or (role == OWL.oneOf and p == RDF.first):
                    continue
                inner = {v for v in values if isinstance(v, BNode) and v in self.of} - found
                found |= inner
                new += [(v, role if p == RDF.rest else p) for v in inner]
        return found

    def structure(self, node: Any, above: tuple[Any, ...] = ()) -> object:
        """Return something that is equal for copies of an expression."""
        if not isinstance(node, BNode) or node not in self.of or node in above:
            return node
        told = self.of[node]
        lines = (
            (p, repr(self.structure(v, (*above, node))))
            for p, vs in told.items()
            for v in vs
            if not (p == RDF.type and v in _IMPLIED)
        )
        return tuple(sorted(lines))


def _parts(expr: Expr, kind: str) -> list[Expr]:
    return [inner for part in expr[1:] for inner in _parts(part, kind)] if expr[0] == kind else [expr]


def _words(expr: Expr) -> str:
    return f"{expr[0]} {expr[1]}" if expr[0] in {"min", "max", "exactly"} else str(expr[0])


@dataclass(frozen=True)
class _At:
    """Where in an axiom an expression stands.

    `splits` is whether each part of it holds by itself.
    """

    path: tuple[tuple[Any, bool], ...] = ()
    words: tuple[str, ...] = ()
    denied: bool = False
    choices: int = 0
    splits: bool = True


def _has_alternatives(at: _At) -> bool:
    """Return whether of a union there each part may be the one that holds."""
    return at.words == ("only",) or all(word in {"some", "min 1"} for word in at.words)


def _without_not(expr: Any) -> Expr | None:
    """Return what is said by "not" before an expression: by the dualities of OWL; None where it stays "not"."""
    if expr[0] == "not":
        return tuple(expr[1])
    if expr[0] not in {"only", "min", "max", "exactly"}:
        return None
    word, number, step, filler = expr
    if word == "only":
        return None if filler[0] == "data" else ("some", 0, step, ("not", filler))
    if word == "max" or (word, number) == ("exactly", 0):
        return ("min", number + 1, step, filler)
    return ("max", number - 1, step, filler) if word == "min" and number > 0 else None


class _Axiom:
    """What one axiom says: its ways, and whether any of it is content."""

    def __init__(self, subject: Any, predicate: Any, expr: Expr) -> None:
        self.ways: list[_Way] = []
        self.bare: list[tuple[tuple[Any, bool], str]] = []
        self.has_content = False
        self._subject = subject
        self.defines = predicate == OWL.equivalentClass
        self._base = RDFS.subClassOf if self.defines else predicate
        self._lead = ((predicate, False),) if predicate in {RDFS.domain, RDFS.range} else ()
        parts = _parts(expr, "and")
        for part in parts:
            self._top(part, alone=len(parts) == 1)
        # A class that is defined as everything.
        self.has_content |= self.defines and not self.ways and not self.bare

    def _top(self, part: Expr, *, alone: bool) -> None:
        kind = part[0]
        if kind in {"min", "max", "exactly"} and part[3] is None and not self._lead:
            if _words(part) != "min 0":
                self.bare.append((part[2], _words(part)))
        elif kind == "one" and self.defines and alone:
            for _, member in part[1:]:
                self.ways.append(_Way(self._subject, ((OWL.oneOf, False),), member, (), False, 0, True))
        elif kind == "or" and self.defines and alone:
            choices = _parts(part, "or")
            for choice in choices:
                if choice[0] == "name":
                    path = ((RDFS.subClassOf, False),)
                    self.ways.append(_Way(choice[1], path, self._subject, (), False, 0, True))
                else:
                    self._in(choice, _At(self._lead, choices=len(choices)))
        else:
            self._in(part, _At(self._lead))

    def _content(self, _expr: Expr, _at: _At) -> None:
        self.has_content = True

    def _in(self, expr: Expr, at: _At) -> None:
        """Read an expression that stands somewhere in the axiom."""
        if at.denied and all(word.endswith(" not") for word in at.words[-1:]) and (says := _without_not(expr)):
            expr, at = says, replace(at, denied=False, words=tuple(word.removesuffix(" not") for word in at.words))
        read = {
            "name": self._name,
            "and": self._and,
            "or": self._or,
            "one": self._one,
            "not": self._not,
            "data": self._content,
        }.get(expr[0], self._restricted)
        read(expr, at)

    def _name(self, expr: Expr, at: _At) -> None:
        if not at.path and self._base == RDF.type and (at.denied or at.choices):
            self._content(expr, at)
            return
        path = at.path or ((self._base, False),)
        words = at.words
        if not at.choices and words and words[-1] == "only not":
            words = (*words[:-1], "max 0")
        self.ways.append(_Way(self._subject, path, expr[1], words, at.denied, at.choices, self.defines))

    def _and(self, expr: Expr, at: _At) -> None:
        parts = _parts(expr, "and")
        if at.denied and at.path == self._lead and not at.choices:
            self._each(parts, replace(at, choices=len(parts)))
        elif not at.denied and at.splits:
            self._each(parts, at)
        else:
            self._content(expr, at)

    def _or(self, expr: Expr, at: _At) -> None:
        parts = _parts(expr, "or")
        if at.denied:
            self._each(parts, at)
        elif at.choices or not _has_alternatives(at):
            self._content(expr, at)
        else:
            self._each(parts, replace(at, choices=len(parts)))

    def _one(self, expr: Expr, at: _At) -> None:
        several = len(expr) > 2
        if not at.path or at.denied or (several and (at.choices or not _has_alternatives(at))):
            self._content(expr, at)
        else:
            self._each(expr[1:], replace(at, choices=len(expr) - 1) if several else at)

    def _not(self, expr: Expr, at: _At) -> None:
        if at.denied or not at.splits:
            self._content(expr, at)
        else:
            words = (*at.words[:-1], f"{at.words[-1]} not") if at.words else ()
            self._in(expr[1], replace(at, words=words, denied=True))

    def _each(self, parts: Iterable[Expr], at: _At) -> None:
        for part in parts:
            self._in(part, at)

    def _restricted(self, expr: Expr, at: _At) -> None:
        word, number, step, filler = expr
        if word == "min" and number == 0 and not at.denied:
            # Of what each is, it says nothing; of one that there is, or of several, it says that there is one.
            if at.choices or set(at.words) - {"only"}:
                self._content(expr, at)
            return
        counts_none = word in {"max", "exactly"} and number == 0
        is_deep = len(at.path) == 2 or filler is None or filler[0] == "data"
        # Beside "only", the number of alternatives is that of what may stand there.
        is_one_of_several = word == "only" and at.choices
        in_denied = at.denied and at.words and not at.words[-1].endswith(" not")
        is_denied_twice = at.denied and word in {"only", "min", "max", "exactly"}
        denied = at.denied or counts_none
        if is_deep or is_one_of_several or in_denied or is_denied_twice or (denied and filler[0] not in {"name", "or"}):
            self._content(expr, at)
            return
        before = tuple(each.removesuffix(" not") for each in at.words) if at.denied else at.words
        now = f"not {_words(expr)}" if at.denied else _words(expr)
        splits = word in {"some", "only", "min"} and not denied
        self._in(filler, _At((*at.path, step), (*before, now), denied, at.choices, splits))


def read_expressions(triples: Iterable[Any]) -> Reading:
    """Return what the class expressions of a graph should become."""
    graph = _Graph(list(triples))
    found = Reading()
    gone: set[Any] = set()
    made_of: set[Any] = set()
    ways: list[_Way] = []
    axioms: list[tuple[Any, Any, _Axiom]] = []
    copies = _copies(graph)
    for triple in graph.triples:
        s, p, o = triple
        if p in {OWL.members, OWL.distinctMembers} and isinstance(s, BNode):
            _read_different(graph, triple, found, gone, made_of)
        elif (about := _of_axiom(graph, triple)) is None:
            if p in _LISTED and isinstance(o, BNode) and not graph.is_expression(s):
                _read_listed(graph, triple, found, gone, made_of)
            elif graph.is_expression(s) and p in {RDFS.subClassOf, OWL.equivalentClass}:
                found.unread.append(f"{p} of an expression")
        else:
            try:
                axiom = _read_axiom(graph, p, *about)
            except _NoRule:
                found.unread.append(f"{p} {sorted(map(str, graph.of.get(about[1], {})))}")
                continue
            gone.add(triple)
            made_of |= graph.below(about[1], p)
            ways += axiom.ways
            axioms.append((triple, about[0], axiom))
            for statement, copy in copies.get((s, p, repr(graph.structure(o))), ()):
                made_of |= {statement} | graph.below(copy, p)
    for (s, p, o), owner, axiom in axioms:
        ways += _bare(owner, axiom, ways)
        if axiom.has_content and p in _DEFINING:
            found.arrays[s, str(p)].append(_array(graph, o, p))
        found.owners |= {owner} if axiom.has_content else set()
        found.content += axiom.has_content
        found.edges += not axiom.has_content
    _say(ways, found)
    _take_out(graph, found, gone, made_of)
    return found


def _of_axiom(graph: _Graph, triple: Any) -> tuple[Any, Any] | None:
    """Return what an axiom is about, and its expression; nothing where it is none that is read."""
    s, p, o = triple
    if graph.is_expression(s):
        return (o, s) if p == OWL.equivalentClass and not isinstance(o, BNode) else None
    is_own = p in {*_DEFINING, OWL.complementOf} and (isinstance(o, BNode) or o == RDF.nil)
    return (s, o) if is_own or (p in _AXIOMS and graph.is_expression(o)) else None


def _read_axiom(graph: _Graph, p: Any, owner: Any, about: Any) -> _Axiom:
    if p in {*_DEFINING, OWL.complementOf}:
        return _Axiom(owner, OWL.equivalentClass, graph.defined(p, about))
    return _Axiom(owner, p, graph.read(about))


def _bare(owner: Any, axiom: _Axiom, ways: Sequence[_Way]) -> Iterator[_Way]:
    """Yield the ways of cardinalities without a class; without an edge of the same property, they are content."""
    for step, words in axiom.bare:
        at = {way.end for way in ways if way.subject == owner and way.path == (step,) and way.words and not way.denied}
        none = words.endswith(" 0")
        yield from (_Way(owner, (step,), end, (f"{words} of all",), none, 0, axiom.defines) for end in at)
        axiom.has_content = axiom.has_content or not at


def _copies(graph: _Graph) -> Mapping[Any, list[tuple[Any, Any]]]:
    """Return the blank statements about axioms, by the axiom."""
    found = defaultdict(list)
    for node, told in list(graph.of.items()):
        if not isinstance(node, BNode):
            continue
        for source, prop, target in (
            (OWL.annotatedSource, OWL.annotatedProperty, OWL.annotatedTarget),
            (RDF.subject, RDF.predicate, RDF.object),
        ):
            if all(len(told.get(each, ())) == 1 for each in (source, prop, target)):
                copy = told[target][0]
                if isinstance(copy, BNode):
                    found[told[source][0], told[prop][0], repr(graph.structure(copy))].append((node, copy))
    return found


def _read_different(graph: _Graph, triple: Any, found: Reading, gone: set[Any], made_of: set[Any]) -> None:
    s, p, o = triple
    told = graph.of[s]
    kinds = [kind for kind in told.get(RDF.type, ()) if kind in _DIFFERENT]
    if len(kinds) != 1 or set(told) != {RDF.type, p} or len(told[p]) != 1:
        return
    try:
        members = graph.members(o)
    except _NoRule:
        return
    if len(members) > _MOST_DIFFERENT or not all(isinstance(each, URIRef) for each in members):
        return
    gone.add(triple)
    made_of |= {s} | graph.below(o)
    for member in members:
        found.arrays[member, str(_DIFFERENT[kinds[0]])].append(tuple(each for each in members if each != member))


def _read_listed(graph: _Graph, triple: Any, found: Reading, gone: set[Any], made_of: set[Any]) -> None:
    s, p, o = triple
    is_list = RDF.first in graph.of.get(o, {})
    if not is_list and not graph.is_expression(o) and p != SH.path:
        return
    try:
        if p == SH.path:
            _read_path(graph, o)
        else:
            graph.members(o) if is_list else graph.read(o)
    except _NoRule:
        found.unread.append(f"{p}")
        return
    gone.add(triple)
    made_of |= graph.below(o)
    found.owners.add(s)
    if is_list:
        found.arrays[s, str(p)].append(_array(graph, o))


def _read_path(graph: _Graph, node: Any, above: tuple[Any, ...] = ()) -> None:
    """Check that a node is a property path of SHACL."""
    if isinstance(node, URIRef):
        return
    if not isinstance(node, BNode) or node in above or len(above) > 50:
        raise _NoRule
    told = graph.told(node)
    if RDF.first in told:
        inner = graph.members(node)
    elif len(told) == 1 and _OF_ONE_PATH & told.keys():
        inner = list(told.values())
    elif set(told) == {SH.alternativePath} and told[SH.alternativePath] != RDF.nil:
        inner = graph.members(told[SH.alternativePath])
    else:
        raise _NoRule
    for each in inner:
        _read_path(graph, each, (*above, node))


def _array(graph: _Graph, head: Any, of: Any = None) -> tuple[Any, ...]:
    """Return a list as content has it."""
    inner = graph.below(head, of)

    def shown(each: Any) -> Any:
        if each not in inner:
            return each
        return _array(graph, each, of) if RDF.first in graph.of[each] else EXPRESSION

    return tuple(map(shown, graph.members(head)))


def _say(ways: Sequence[_Way], found: Reading) -> None:
    """Say each edge, `only` beside `some` as closed."""
    at: dict[Any, list[_Way]] = defaultdict(list)
    for way in ways:
        at[way.subject, way.path, way.end, way.defines].append(way)
    for group in at.values():
        only = [way for way in group if way.words == ("only",) and not way.denied]
        some = [way for way in group if way.words == ("some",) and not way.denied]
        for way in group:
            is_closed = bool(only) and way in some
            if way in only and some:
                continue
            edge = way.subject, URIRef(_predicate(way)), way.end
            found.says[edge].add(_text(way, closed=is_closed))


def _predicate(way: _Way) -> str:
    path = way.path
    if way.denied:
        # "not some" denies its own step, "some not" the class behind it.
        denying = [
            word.split()[0] == "not" or word.split()[:2] in (["max", "0"], ["exactly", "0"]) for word in way.words
        ]
        denied = len(path) - len(way.words) + denying.index(True) if True in denying else len(path)
        path = (*path[:denied], (OWL.complementOf, False), *path[denied:])
    elif path == ((RDFS.subClassOf, False),) and way.choices:
        path = (*path, (OWL.unionOf, False))
    if len(path) == 1 and not path[0][1]:
        return str(path[0][0])
    return _PATH + "/".join("!" * inverse + quote(str(step), safe="") for step, inverse in path)


def _text(way: _Way, *, closed: bool) -> str:
    said = {
        "negated": way.denied,
        "restriction": "/".join(way.words),
        "closed": closed,
        "one of": way.choices,
        "of": "equivalentClass" if way.defines else "",
    }
    return said_text(said)


def said_text(said: Mapping[str, Any]) -> str:
    """Return what an expression says of an edge, as text; empty where it is nothing."""
    keys = ("closed", "negated", "of", "one of", "restriction", "stated")
    return " ".join(f"{key}={str(said[key]).lower()}" for key in keys if said.get(key))


def _take_out(graph: _Graph, found: Reading, gone: set[Any], made_of: set[Any]) -> None:
    """Leave all triples but those of what was read, unless something else leads there."""
    kept: set[Any] = set()
    for triple in graph.triples:
        if triple[2] in made_of and triple[0] not in made_of and triple not in gone:
            kept |= graph.below(triple[2])
    found.triples = [
        triple for triple in graph.triples if triple[0] in kept or (triple not in gone and triple[0] not in made_of)
    ]
    bare = set(found.triples)
    for edge, texts in found.says.items():
        is_uncertain = any(key in text for text in texts for key in ("negated=", "restriction=", "one of="))
        if is_uncertain and (edge in bare or "" in texts):
            texts.add("stated=true")
    found.triples = list(dict.fromkeys([*found.triples, *found.says]))
