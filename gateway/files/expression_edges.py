"""Reads the class expressions of a graph: each becomes edges with what they say as evidence, or content.

docs/contract.md, "Class expressions". What fits no rule stays the blank nodes that it is made of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import TypeAlias

import pyoxigraph

from gateway.files.axioms import Said, meaning
from gateway.files.class_expressions import (
    COMPLEMENT,
    DOMAIN,
    EQUIVALENT,
    ON_PROPERTY,
    RANGE,
    SAYING_NOTHING,
    SETS,
    SUBCLASS,
    TYPE,
    UNION,
    Reader,
    Step,
    UnreadError,
    is_expression,
)
from gateway.files.lists import Array, ArrayValue, ExpressionValue
from gateway.files.ntriples import TRIPLE_TERM, Terms, is_blank, is_node, literal, node
from gateway.files.property_paths import PATH, check_path
from gateway.terms.iri import (
    ALL_DIFFERENT,
    CLOSED,
    NEGATED,
    OF,
    ONE_OF,
    ORDER,
    OWL,
    RDF_FIRST,
    RDF_NIL,
    RDF_OBJECT,
    RDF_PREDICATE,
    RDF_REIFIES,
    RDF_REST,
    RDF_SUBJECT,
    RESTRICTED,
    STATED,
    TO_ALL_DIFFERENT,
    XSD,
    path_iri,
)

_AXIOMS = frozenset({SUBCLASS, EQUIVALENT, TYPE, DOMAIN, RANGE})
_STATED = {node(RDF_SUBJECT): 0, node(RDF_PREDICATE): 1, node(RDF_OBJECT): 2}
_REIFIES = node(RDF_REIFIES)
_SAYING_NOTHING = frozenset(map(node, (f"{OWL}Axiom", "http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement")))
_FIRST, _REST, _NIL = node(RDF_FIRST), node(RDF_REST), node(RDF_NIL)
_TRUE = literal("true", f"{XSD}boolean")
_UNCERTAIN = frozenset(map(node, (RESTRICTED, ONE_OF, NEGATED)))

CONTENT = frozenset(
    [node(f"{OWL}{name}") for name in ("propertyChainAxiom", "hasKey", "disjointUnionOf", "disjointWith")] + [PATH]
)
"""Predicates of which lists, expressions and paths are content."""

_ALL_DIFFERENT = {node(kind): node(predicate) for kind, predicate in ALL_DIFFERENT.items()}
_MEMBERS = frozenset(map(node, TO_ALL_DIFFERENT))

_MOST_DIFFERENT = 200
"""Members of a set of which each has all others as content; a larger set stays a node with edges to them."""

_MOST_BOUNDS = 20_000
"""Edges of which cardinalities without a class are said; beyond that they are content."""

_MOST_SHARED = 100_000
"""Parts of content that come from parts which several expressions share; beyond that axioms are not read."""

_DEEPEST = 50
"""Expressions and lists in each other that are content; an axiom with more is not read."""


@dataclass(slots=True)
class Expressions:
    """What was read of the class expressions of a graph.

    Attributes:
        triples: All other triples, with the edges that expressions say.
        stated: What is stated about these edges: the predicates and terms of each statement.
        arrays: What is content, and for axioms of which no edge has their predicate that they are there.
        edges: How many axioms became edges, and nothing else.
        content: How many became content, perhaps beside edges.
        unread: How many fit no rule.
    """

    triples: list[Terms]
    stated: list[tuple[Terms, list[tuple[str, str]]]] = field(default_factory=list)
    arrays: list[ArrayValue] = field(default_factory=list)
    edges: int = 0
    content: int = 0
    unread: int = 0


@dataclass(slots=True)
class _Statement:
    """What states something about an axiom: its node, the axiom, and what it says."""

    node: str
    axiom: list[str] = field(default_factory=lambda: ["", "", ""])
    says: list[tuple[str, str]] = field(default_factory=list)


_ByAxiom: TypeAlias = Mapping[tuple[str, str], Mapping[str, list[_Statement]]]
"""Statements by the subject and the predicate of the axiom, and the key of its expression."""


def fold_expressions(triples: list[Terms], others: pyoxigraph.Store | None = None) -> Expressions:
    """Return triples in which class expressions are edges and content.

    Args:
        triples: All triples of a graph in which a blank node or a part of a list is, each once.
        others: All other triples, of which those are stated that an expression is about; None where they are not known.
    """
    if not any(predicate.startswith(_OF_OWL) or predicate == PATH for _, predicate, _ in triples):
        return Expressions(triples)
    return _Folder(triples, others).folded()


_OF_OWL = f"<{OWL}"


class _Folder:
    def __init__(self, triples: list[Terms], others: pyoxigraph.Store | None) -> None:
        self._triples = triples
        self._others = others
        self._reader = Reader(triples)
        self._found = Expressions([])
        self._consumed: set[Terms] = set()
        self._parts: set[str] = set()
        self._said: dict[str, list[tuple[Said, list[_Statement]]]] = defaultdict(list)
        self._bounds: list[tuple[Said, Terms, Array, list[_Statement]]] = []
        self._as_content: set[Terms] = set()
        self._arrays: dict[Terms, Array] = {}
        self._beside: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        self._room = _MOST_SHARED + 4 * len(triples)
        self._certain: set[Terms] = set()
        self._stated = self._by_axiom()

    def folded(self) -> Expressions:
        found = self._found
        about = self._reader.about
        for triple in self._triples:
            subject, predicate, value = triple
            is_left = is_blank(subject) and is_expression(about[subject])
            is_right = is_blank(value) and is_expression(about.get(value, {}))
            if predicate in _MEMBERS and is_blank(subject):
                self._read_different(subject, predicate, value)
            elif is_left:
                found.unread += predicate in {SUBCLASS, EQUIVALENT}
            elif (predicate in _AXIOMS and is_right) or (predicate in SETS and not _is_iri(value)):
                self._read_axiom(triple)
            elif predicate in CONTENT and is_blank(value):
                self._add_content(triple)
        self._add_bounds()
        for said in self._said.values():
            self._add_edges(said)
        self._add_axioms()
        self._take_out()
        return found

    def _by_axiom(self) -> _ByAxiom:
        by_axiom: dict[tuple[str, str], dict[str, list[_Statement]]] = defaultdict(lambda: defaultdict(list))
        for one in _statements(self._triples).values():
            subject, predicate, value = one.axiom
            if is_blank(value) and is_blank(one.node):
                by_axiom[subject, predicate][self._reader.key(value)].append(one)
        return by_axiom

    def _stated_about(self, triple: Terms) -> list[_Statement]:
        subject, predicate, value = triple
        same = self._stated.get((subject, predicate))
        return same.get(self._reader.key(value), []) if same else []

    def _read_axiom(self, triple: Terms) -> None:
        subject, predicate, expression = triple
        try:
            if predicate in SETS:
                means = meaning(subject, EQUIVALENT, self._reader.of_set(predicate, expression))
            else:
                means = meaning(subject, predicate, self._reader.expression(expression))
            if means.is_content:
                self._arrays[triple] = self._array(expression, predicate)
            of = "equivalentClass" if predicate in SETS or predicate == EQUIVALENT else ""
            values = [(step, self._content_of(part, of)) for step, part in means.values]
            bounds = [(step, words, self._content_of(part, of)) for step, words, part in means.bounds]
        except UnreadError:
            self._found.unread += 1
            return
        statements = self._stated_about(triple)
        self._consume(triple, expression)
        # A list as content has no place for what is stated about it.
        has_place = means.edges or bounds or values or (predicate not in SETS and means.is_content)
        statements = self._taken(statements, has_place=bool(has_place))
        self._said[subject] += [(said, statements) for said in means.edges]
        self._bounds += [
            (Said(subject, (step,), "", (words,), of), triple, content, statements) for step, words, content in bounds
        ]
        self._found.edges += 1
        for step, content in values:
            self._add_as_content(triple, ArrayValue(subject, step, _with(content, statements)))
        if means.is_content:
            self._add_as_content(triple, ArrayValue(subject, predicate, _with(self._arrays[triple], statements)))
        elif all((one[0], one[1]) != (subject, predicate) for one in map(_edge_of, means.edges)):
            self._beside[subject, predicate][self._reader.key(expression)] = None

    def _add_axioms(self) -> None:
        """Say of each axiom that nothing stands under its predicate: `exists` is about what the graph has."""
        for (subject, predicate), expressions in self._beside.items():
            unshown: Array = [(at, {}) for at, _ in enumerate(expressions, 1)]
            self._found.arrays.append(ArrayValue(subject, predicate, unshown, ORDER))

    def _content_of(self, restriction: str, of: str) -> Array:
        """Return what a restriction says of its property, as content under that; of a definition as such.

        Raises:
            UnreadError: Something in it is malformed, or parts that several share make too much of it.
        """
        match self._array(restriction, SUBCLASS):
            case [(at, Mapping() as content)]:
                left = {key: value for key, value in content.items() if key != ON_PROPERTY}
                return [(at, {EQUIVALENT: [left]} if of else left)]
            case other:
                return other

    def _taken(self, statements: list[_Statement], *, has_place: bool) -> list[_Statement]:
        """Return statements whose nodes are taken out because their evidence has a place; others are counted."""
        if not has_place:
            self._found.unread += len(statements)
            return []
        for one in statements:
            self._parts.add(one.node)
            self._parts.update(self._reader.below(one.axiom[2], one.axiom[1]))
        return statements

    def _consume(self, triple: Terms, part: str) -> None:
        self._consumed.add(triple)
        self._parts.update(self._reader.below(part, triple[1]))

    def _add_as_content(self, triple: Terms, content: ArrayValue) -> None:
        """Add content that an axiom says; it is counted once."""
        self._found.arrays.append(content)
        if triple not in self._as_content:
            self._as_content.add(triple)
            self._found.content += 1
            self._found.edges -= 1

    def _add_bounds(self) -> None:
        """Say a cardinality without a class of each edge of the same property, or as content."""
        ends: dict[tuple[str, tuple[Step, ...]], dict[str, None]] = defaultdict(dict)
        for said in self._said.values():
            for one, _ in said:
                if one.words and not one.denied:
                    ends[one.subject, one.path][one.object] = None
        count = 0
        for bound, triple, content, statements in self._bounds:
            at = ends.get((bound.subject, bound.path), {})
            count += len(at)
            if not at or count > _MOST_BOUNDS:
                predicate = _predicate_of(bound.path)
                self._add_as_content(triple, ArrayValue(bound.subject, predicate, _with(content, statements)))
                continue
            words, denied = f"{bound.words[0]} of all", bound.words[0] in {"max 0", "exactly 0"}
            of_all = replace(bound, words=(words,), denied=denied)
            self._said[bound.subject] += [(replace(of_all, object=end), statements) for end in at]

    def _add_edges(self, said: Sequence[tuple[Said, list[_Statement]]]) -> None:
        """Add the edges of the axioms about one class."""

        def place(one: tuple[Said, list[_Statement]]) -> tuple[str, str, str, str]:
            return one[0].subject, str(one[0].path), one[0].object, one[0].of

        for _, group in groupby(sorted(said, key=place), place):
            for one, statements in _closed(list(group)):
                edge = _edge_of(one)
                self._found.triples.append(edge)
                says = _evidence_of(one)
                if not says:
                    self._certain.add(edge)
                for statement in statements:
                    self._found.stated.append((edge, [*says, *statement.says]))
                if says and not statements:
                    self._found.stated.append((edge, says))

    def _read_different(self, subject: str, predicate: str, value: str) -> None:
        """Read a set of classes, properties or individuals of which each is other than each."""
        said = self._reader.about[subject]
        kinds = [kind for kind in said.get(TYPE, ()) if kind in _ALL_DIFFERENT]
        if len(kinds) != 1 or said.keys() != {TYPE, predicate} or len(said[predicate]) != 1:
            return
        try:
            members = self._reader.members(value)
        except UnreadError:
            return
        if len(members) > _MOST_DIFFERENT or not all(is_node(one) and not is_blank(one) for one in members):
            return
        self._consume((subject, predicate, value), value)
        self._parts.add(subject)
        for member in members:
            others = [(at, one) for at, one in enumerate(members, 1) if one != member]
            self._found.arrays.append(ArrayValue(member, _ALL_DIFFERENT[kinds[0]], list(others)))
        self._found.content += 1

    def _add_content(self, triple: Terms) -> None:
        """Add a list of parts, an expression, or a path, as content."""
        subject, predicate, value = triple
        about = self._reader.about.get(value, {})
        if _FIRST not in about and not is_expression(about) and predicate != PATH:
            return
        try:
            if predicate == PATH:
                check_path(value, self._reader)
            elif _FIRST in about:
                self._reader.members(value)
            else:
                self._reader.expression(value)
            array = self._array(value, predicate)
        except UnreadError:
            self._found.unread += 1
            return
        statements = self._stated_about(triple)
        self._consume(triple, value)
        array = _with(array, self._taken(statements, has_place=_FIRST not in about))
        self._found.arrays.append(ArrayValue(subject, predicate, array))
        self._found.content += 1

    def _array(self, value: str, of: str) -> Array:
        """Return a list or an expression as content.

        Raises:
            UnreadError: Something in it is malformed, or parts that several share make too much of it.
        """
        content = self._content(value, 0, frozenset(self._reader.below(value, of)))
        return [(1, content)] if isinstance(content, Mapping) else content if isinstance(content, list) else []

    def _content(self, term: str, depth: int, parts: frozenset[str]) -> str | Array | ExpressionValue:
        """Return what a part of an expression says."""
        self._room -= 1
        if self._room < 0:
            raise UnreadError
        if term == _NIL:
            return []
        about = self._reader.about.get(term)
        if about is None or term not in parts:
            return term
        if depth > _DEEPEST:
            raise UnreadError
        if _FIRST in about:
            return [(at, self._content(one, depth + 1, parts)) for at, one in enumerate(self._reader.members(term), 1)]
        # What has no order of its own is written in one, whatever order an engine gives it in.
        return {
            predicate: _in_order(
                [self._content(value, depth + 1, parts) for value in values if value not in SAYING_NOTHING]
            )
            for predicate, values in sorted(about.items())
            if predicate != TYPE or not SAYING_NOTHING.issuperset(values)
        }

    def _take_out(self) -> None:
        """Take out the triples of what was read, unless something else leads to it."""
        parts = self._parts
        kept: set[str] = set()
        for triple in self._triples:
            subject, _, value = triple
            is_led_to = value in parts and subject not in parts and triple not in self._consumed
            if is_led_to and value not in kept:
                kept.update(self._reader.below(value))
        left_out = parts - kept
        left = [
            triple
            for triple in self._triples
            if triple[0] in kept or (triple not in self._consumed and triple[0] not in left_out)
        ]
        self._add_certain(left)
        self._found.triples[:0] = left
        # An edge that two axioms say is one triple.
        self._found.triples = list(dict.fromkeys(self._found.triples))

    def _add_certain(self, left: Sequence[Terms]) -> None:
        """State of each edge that it is certain, where an expression says less of it than another axiom or triple."""
        found = self._found
        edges = {edge for edge, says in found.stated if not _UNCERTAIN.isdisjoint(key for key, _ in says)}
        in_store = set() if self._others is None else _in_store(edges, self._others)
        certain = edges & self._certain.union(left, in_store)
        found.stated += [(edge, [(node(STATED), _TRUE)]) for edge in sorted(certain)]


def _in_order(
    contents: list[str | Array | ExpressionValue],
) -> list[str | Array | ExpressionValue]:
    return sorted(contents, key=str) if len(contents) > 1 else contents


def _with(array: Array, statements: Sequence[_Statement]) -> Array:
    """Return an expression as content, with what is stated about its axiom."""
    match array:
        case [(at, Mapping() as content)]:
            said = {key: list(values) for key, values in content.items()}
            for key, term in sorted(chain.from_iterable(one.says for one in statements)):
                said.setdefault(key, []).append(term)
            return [(at, said)]
    return array


def _in_store(edges: Iterable[Terms], store: pyoxigraph.Store) -> set[Terms]:
    """Return those of some edges that are triples of a store."""
    asked = pyoxigraph.Store()
    lines = "".join(f"{' '.join(edge)} .\n" for edge in edges if not any(map(is_blank, edge)))
    asked.bulk_load(lines.encode(), pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)
    return {
        (str(quad.subject), str(quad.predicate), str(quad.object))
        for quad in asked
        if any(store.quads_for_pattern(quad.subject, quad.predicate, quad.object, None))
    }


def _is_iri(term: str) -> bool:
    return is_node(term) and not is_blank(term) and term != _NIL


def _statements(triples: Iterable[Terms]) -> Mapping[str, _Statement]:
    """Return what states something about a triple, by its node."""
    found: dict[str, _Statement] = {}
    for subject, predicate, value in triples:
        if predicate in _STATED:
            found.setdefault(subject, _Statement(subject)).axiom[_STATED[predicate]] = value
        elif predicate == _REIFIES and (stated := TRIPLE_TERM.fullmatch(value)):
            found.setdefault(subject, _Statement(subject)).axiom = [*stated.groups()]
    for subject, predicate, value in triples if found else ():
        says_more = predicate not in _STATED and predicate != _REIFIES
        if says_more and subject in found and not (predicate == TYPE and value in _SAYING_NOTHING):
            found[subject].says.append((predicate, value))
    return found


def _closed(
    said: Sequence[tuple[Said, list[_Statement]]],
) -> Sequence[tuple[Said, list[_Statement]]]:
    """Return what is said of one edge, each once, `only` beside `some` written as closed."""

    def closes(one: Said) -> bool:
        return one.words == ("only",) and not one.denied

    only = [statements for one, statements in said if closes(one)]
    some = [one for one, _ in said if one.words == ("some",) and not one.denied]
    found: dict[Said, list[_Statement]] = {}
    for one, statements in said:
        if only and one in some:
            found.setdefault(replace(one, closed=True), []).extend([*statements, *chain.from_iterable(only)])
        elif not (some and closes(one)):
            found.setdefault(one, []).extend(statements)
    return [(one, list({id(each): each for each in statements}.values())) for one, statements in found.items()]


def _edge_of(said: Said) -> Terms:
    path = said.path
    if path == ((SUBCLASS, False),) and (said.denied or said.one_of):
        # Readers take `rdfs:subClassOf` for certain wherever classes are asked for.
        path = (*path, (COMPLEMENT if said.denied else UNION, False))
    elif said.denied:
        # Conditions, columns and walks follow a predicate without looking at evidence.
        at = _where_denied(said)
        path = (*path[:at], (COMPLEMENT, False), *path[at:])
    return said.subject, _predicate_of(path), said.object


def _where_denied(said: Said) -> int:
    """Return before which step of its path something is denied: `not some` before its own, `some not` behind it."""
    first = len(said.path) - len(said.words)
    for place, words in enumerate(said.words, first):
        if words.startswith(_NONE):
            return place
    return len(said.path)


_NONE = ("not ", "max 0", "exactly 0")
"""How restrictions begin that deny all of what they say."""


def _predicate_of(path: Sequence[Step]) -> str:
    if len(path) > 1 or path[0][1]:
        return node(path_iri((one[1:-1], inverse) for one, inverse in path))
    return path[0][0]


def _evidence_of(said: Said) -> list[tuple[str, str]]:
    says = []
    if said.denied:
        says.append((node(NEGATED), _TRUE))
    if said.words:
        says.append((node(RESTRICTED), literal("/".join(said.words), f"{XSD}string")))
    if said.closed:
        says.append((node(CLOSED), _TRUE))
    if said.one_of:
        says.append((node(ONE_OF), literal(str(said.one_of), f"{XSD}integer")))
    if said.of:
        says.append((node(OF), literal(said.of, f"{XSD}string")))
    return says
