"""A graph whose walks are followed one by one, and what walks and conditions are written as."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tests.values.comparing import Right, fold
from tests.values.terms import (
    ALIAS,
    CONTENT,
    FIRST,
    LABEL,
    NIL,
    OWL,
    RDFS,
    REST,
    SKOS,
    SUBCLASS,
    TYPE,
    XSD,
    End,
    Literal,
    Triple,
    is_blank,
    is_content,
)

NO_EDGES: Final = frozenset(
    {TYPE, LABEL, RDFS + "comment", SKOS + "prefLabel", ALIAS, SKOS + "definition", FIRST, REST}
)
"""Predicates of the drawn graphs that are no edges (docs/contract.md, "Nodes and edges")."""

NAMES: Final = (LABEL, SKOS + "prefLabel")
"""Of the display name, the best first; a name of any other is an alias."""

OPERATORS: Final = ("<=", ">=", "!=", "=", "<", ">", "in", "contains", "starts", "exists", "missing")

_LANGUAGES: Final = ("", "mul", "en")
_STEP: Final = re.compile(r"\^?(?:<[^<>]*>|[^/<>]+)")
_NAMED_IRI: Final = re.compile(r"<([^<>]*)>")
_QUOTED: Final = re.compile(r'"([^"]*)"')
_MEMBER: Final = re.compile(r'\s*(?:"([^"]*)"|([^,]*))\s*(?:,|$)')


@dataclass(frozen=True)
class Step:
    """One step: any of some predicates, or backward."""

    predicates: frozenset[str]
    is_inverse: bool = False


Walk: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True)
class Condition:
    """A condition as it was written.

    Attributes:
        left: A walk, or one of the words `name`, `type` and `any`.
        operator: One of `OPERATORS`.
        right: What with: values, or another walk.
    """

    left: "Walk | str"
    operator: str
    right: "Sequence[Right] | Walk" = ()

    @property
    def is_of_property(self) -> bool:
        """Whether it compares two properties of one node."""
        return bool(self.right) and isinstance(self.right[0], Step)


class Graph:
    """A graph as the contract sees it.

    Attributes:
        blank_nodes: Whether blank nodes are nodes and lists are read: in process and in PostgreSQL.
        nodes: All that exists and has an ID.
        predicates: All predicates, of values too.
        types: The types of each node that has some; of an untyped blank node `(p)` for each predicate to it.
    """

    def __init__(self, triples: Iterable[Triple], prefixes: Mapping[str, str], *, blank_nodes: bool = True) -> None:
        everything = list(dict.fromkeys(triples))
        shown = list(dict.fromkeys(_folded([*_without_expressions(everything)]))) if blank_nodes else everything
        self.blank_nodes = blank_nodes
        self._prefixes = prefixes
        self._out: defaultdict[str, defaultdict[str, set[End]]] = defaultdict(lambda: defaultdict(set))
        self._into: defaultdict[End, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        nodes: set[str] = set()
        types: defaultdict[str, set[str]] = defaultdict(set)
        for s, p, o in shown:
            self._out[s][p].add(o)
            self._into[o][p].add(s)
            named = (end for end in (s, o) if isinstance(end, str) and not is_content(end))
            nodes.update(end for end in named if blank_nodes or not is_blank(end))
            if p == TYPE and isinstance(o, str):
                types[s].add(o)
        for node in nodes:
            if is_blank(node) and node not in types:
                types[node] = {f"({predicate})" for predicate in self._into[node]}
        self.nodes = frozenset(nodes)
        self.predicates = frozenset(p for _, p, _ in shown)
        self.types = {node: frozenset(kinds) for node, kinds in types.items()}
        self._terms = self._by_name()

    def step(self, node: str, step: Step) -> set[End]:
        """Return where one step leads."""
        found: set[End] = set()
        for predicate in step.predicates:
            if step.is_inverse:
                found |= self._into[node][predicate] if node in self._into else set()
            else:
                found |= self._out[node][predicate] if node in self._out else set()
        return found

    def ends(self, node: str, walk: Walk) -> set[End]:
        """Return the distinct ends of a walk; what lies between are nodes, blank ones too."""
        places: set[End] = {node}
        for step in walk:
            places = {end for place in places if isinstance(place, str) for end in self.step(place, step)}
        return places

    def ways(self, node: str, walk: Walk) -> Counter[End]:
        """Return how many ways over distinct triples lead to each end of a walk."""
        places: Counter[End] = Counter([node])
        for step in walk:
            after: Counter[End] = Counter()
            for place, count in places.items():
                if isinstance(place, str):
                    for end in self.step(place, step):
                        after[end] += count
            places = after
        return places

    def edge_ends(self, node: str, direction: str = "both", predicates: frozenset[str] | None = None) -> set[str]:
        """Return the nodes to which edges lead, of some predicates or of any."""
        found: set[End] = set()
        for way, links in (("out", self._out), ("in", self._into)):
            if direction in {"both", way} and node in links:
                for predicate, ends in links[node].items():
                    if predicate not in NO_EDGES and (predicates is None or predicate in predicates):
                        found.update(ends)
        return {end for end in found if isinstance(end, str) and end in self.nodes}

    def literals(self, node: str) -> set[End]:
        """Return all literals of a node."""
        ends = self._out[node].values() if node in self._out else ()
        return {end for of_predicate in ends for end in of_predicate if isinstance(end, Literal)}

    def names(self, node: str) -> set[End]:
        """Return all names and aliases of a node."""
        return {end for end in self.ends(node, (Step(frozenset({*NAMES, ALIAS})),)) if isinstance(end, Literal)}

    def display_name(self, node: str) -> str:
        """Return the name that is shown: of the first predicate, in the best language, the first; empty if none."""
        for predicate in NAMES:
            names = [end for end in self.ends(node, (Step(frozenset({predicate})),)) if isinstance(end, Literal)]
            if names:
                best = min((name.language for name in names), key=_rank)
                return min(name.text for name in names if name.language == best)
        return ""

    def kinds(self, type_: str) -> frozenset[str]:
        """Return a type and all its subclasses."""
        found, new = {type_}, {type_}
        while new:
            below = {one for kind in new for one in self.step(kind, Step(frozenset({SUBCLASS}), is_inverse=True))}
            new = {one for one in below if isinstance(one, str)} - found
            found |= new
        return frozenset(found)

    def named(self, name: str) -> frozenset[str]:
        """Return the nodes that a text means: by ID, or by name."""
        iri = self.iri(name)
        if iri is not None:
            return frozenset({iri}) & self.nodes
        return frozenset(
            node
            for node in self.nodes
            if any(isinstance(each, Literal) and fold(each.text) == fold(name) for each in self.names(node))
        )

    def iri(self, given: str) -> str | None:
        """Return the IRI of an ID, None where the text is no ID."""
        if found := _NAMED_IRI.fullmatch(given):
            return found[1]
        prefix, colon, local = given.partition(":")
        if colon and prefix in self._prefixes:
            return self._prefixes[prefix] + local
        return given if given in self.nodes or given in self.predicates else None

    def type_named(self, given: str) -> frozenset[str]:
        """Return the types that an ID, a local name or a label means."""
        iri = self.iri(given)
        return frozenset({iri}) if iri is not None else self._terms.get(_plain(given), frozenset())

    def predicates_named(self, given: str) -> frozenset[str]:
        """Return the predicates that an ID, a local name or a label means."""
        iri = self.iri(given)
        return frozenset({iri} if iri is not None else self._terms.get(_plain(given), frozenset())) & self.predicates

    def walk(self, given: str) -> Walk:
        """Return the walk that a text is.

        Raises:
            ValueError: It is none.
        """
        bare = given.removeprefix("^")
        if whole := self.predicates_named(bare):
            return (Step(whole, is_inverse=bare != given),)
        parts = _STEP.findall(given)
        if "/".join(parts) != given or not 1 <= len(parts) <= 4:
            raise ValueError(f"no walk: {given!r}")
        steps = tuple(Step(self.predicates_named(part.removeprefix("^")), part.startswith("^")) for part in parts)
        if not all(step.predicates for step in steps):
            raise ValueError(f"a predicate of {given!r} is unknown")
        return steps

    def condition(self, given: str) -> Condition:
        """Return the condition that a text is.

        Raises:
            ValueError: It is none, or it could be read in two ways.
        """
        found = list(self._readings(given))
        if len(found) != 1:
            raise ValueError(f"{len(found)} ways to read {given!r}")
        return found[0]

    def _readings(self, given: str) -> Iterator[Condition]:
        words = re.finditer(rf"\s({'|'.join(map(re.escape, OPERATORS))})(?=\s|$)", given)
        for word in words:
            left, operator, right = given[: word.start()].strip(), word[1], given[word.end() :].strip()
            if (operator in {"exists", "missing"}) == bool(right):
                continue
            try:
                side = self._left(left)
            except ValueError:
                continue
            yield Condition(side, operator, self._right(side, operator, right))

    def _left(self, given: str) -> "Walk | str":
        return given if given in {"name", "type", "any"} else self.walk(_unquoted(given))

    def _right(self, left: "Walk | str", operator: str, given: str) -> "Sequence[Right] | Walk":
        if given.startswith("@"):
            return self.walk(_unquoted(given[1:]))
        if not given:
            return ()
        if operator != "in":
            return (self._value(left, _unquoted(given), is_text=given != _unquoted(given)),)
        members = [(quoted, plain.strip()) for quoted, plain in _MEMBER.findall(given) if quoted or plain.strip()]
        return tuple(self._value(left, quoted or plain, is_text=bool(quoted)) for quoted, plain in members)

    def _value(self, left: "Walk | str", given: str, *, is_text: bool) -> Right:
        if left == "type":
            kinds = frozenset(kind for one in self.type_named(given) for kind in self.kinds(one))
            return Right(given, is_text=True, nodes=kinds)
        nodes = frozenset() if isinstance(left, str) else self.named(given)
        return Right(given, is_text=is_text or left == "name", nodes=nodes)

    def _by_name(self) -> Mapping[str, frozenset[str]]:
        """Return types and predicates by local name and by label."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        types = {kind for kinds in self.types.values() for kind in kinds}
        above = {kind for by_predicate in self._out.values() for kind in by_predicate.get(SUBCLASS, ())}
        for term in {*self.predicates, *types, *(kind for kind in above if isinstance(kind, str))}:
            found[_plain(re.split(r"[#/:]", term)[-1])].add(term)
            for label in self.names(term):
                if isinstance(label, Literal):
                    found[_plain(label.text)].add(term)
        return {name: frozenset(terms) for name, terms in found.items()}


def _unquoted(given: str) -> str:
    """Return what stands in quotes, or the text if it is not in quotes as a whole."""
    found = _QUOTED.fullmatch(given)
    return given if found is None else found[1]


def _plain(name: str) -> str:
    return re.sub(r"[_\- ]+", " ", name).casefold().strip()


def _rank(language: str) -> tuple[int, str]:
    known = _LANGUAGES.index(language) if language in _LANGUAGES else len(_LANGUAGES)
    return known, language


def _without_expressions(triples: Sequence[Triple]) -> Iterator[Triple]:
    """Yield the triples with what the class expressions of the drawn ontologies say in their place."""
    about: defaultdict[End, dict[str, End]] = defaultdict(dict)
    for s, p, o in triples:
        if is_blank(s) and p != TYPE:
            about[s][p] = o
    expressions = {node for node, said in about.items() if not said.keys().isdisjoint(_OF_EXPRESSIONS)}
    parts = {end for said in about.values() for end in said.values()} & about.keys()
    own = expressions | {node for node in parts if FIRST in about[node] and _is_within(node, expressions, about)}
    for s, p, o in triples:
        if s in own:
            continue
        if o not in expressions:
            yield s, p, o
            continue
        said = list(_said(s, p, o, about))
        yield from said
        if all((one[0], one[1]) != (s, p) for one in said):
            yield s, p, f"{CONTENT}{_structure(o, about)}"


_OF_EXPRESSIONS: Final = frozenset(OWL + name for name in ("onProperty", "complementOf", "unionOf", "intersectionOf"))
_About: TypeAlias = Mapping[End, Mapping[str, End]]


def _is_within(cell: End, expressions: set[End], about: _About) -> bool:
    """Return whether a cell is one of the list of an expression."""
    above = [node for node, said in about.items() if cell in said.values()]
    return any(node in expressions or (FIRST in about[node] and _is_within(node, expressions, about)) for node in above)


def _said(s: str, p: str, o: End, about: _About) -> Iterator[Triple]:
    """Yield what the axiom of an expression says (docs/contract.md, "Class expressions")."""
    match {predicate.removeprefix(OWL): end for predicate, end in about[o].items()}:
        case {"onProperty": str(by), **rest}:
            (filler,) = rest.values()
            # What restricts data is content of its property.
            is_data = isinstance(filler, str) and filler.startswith(XSD)
            yield s, by, f"{CONTENT}{_structure(o, about)}" if is_data else filler
        case {"complementOf": denied}:
            yield s, f"{about[denied][OWL + 'onProperty']}-denied", _members_of(denied, about)[0]
        case {"intersectionOf": cells}:
            for member in _list_of(cells, about):
                yield from _said(s, p, member, about) if is_blank(member) else [(s, SUBCLASS, member)]
        case {"unionOf": cells}:
            for member in _list_of(cells, about):
                if p != SUBCLASS and isinstance(member, str):
                    yield member, SUBCLASS, s
                else:
                    yield s, f"{SUBCLASS}-one-of", member


def _members_of(restriction: End, about: _About) -> list[End]:
    return [end for predicate, end in about[restriction].items() if predicate.endswith("ValuesFrom")]


def _list_of(cell: End, about: _About) -> list[End]:
    return [] if cell == NIL else [about[cell][FIRST], *_list_of(about[cell][REST], about)]


def _structure(end: End, about: _About) -> str:
    """Return a text that is the same for expressions that say the same."""
    if end not in about:
        return str(end)
    return str(sorted((predicate, _structure(value, about)) for predicate, value in about[end].items()))


def _folded(triples: Sequence[Triple]) -> Iterator[Triple]:
    """Yield the triples with the members of lists in the place of their heads; lists here have an owner each."""
    first: dict[End, End] = {s: o for s, p, o in triples if p == FIRST and is_blank(s)}
    rest: dict[End, End] = {s: o for s, p, o in triples if p == REST and is_blank(s)}

    def members(cell: End) -> Iterator[End]:
        while cell != NIL:
            member = first[cell]
            if member in first:
                yield from members(member)
            else:
                yield member
            cell = rest[cell]

    for s, p, o in triples:
        if s in first:
            continue
        if o in first:
            yield from ((s, p, member) for member in members(o))
        else:
            yield s, p, o
