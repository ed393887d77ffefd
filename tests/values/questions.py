"""Draws questions as the arguments of the tools, from the words and the values of a graph."""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from tests.values.comparing import is_nan, number_of, period_of, read_number, read_period
from tests.values.graphs import PREFIXES, DrawnGraph
from tests.values.oracle import Expected, answer
from tests.values.terms import OWL, Literal, is_blank
from tests.values.walks import OPERATORS, Graph, Walk

Question: TypeAlias = dict[str, Any]

_TRIES: Final = 60
"""How often a question is drawn anew whose answer would be empty, or everything."""

_TRIVIAL: Final = 0.1
"""The share of questions that may be so."""

_TO_VALUES: Final = (
    *("ex:weight", "ex:height", "ex:released", "ex:updated", "ex:note", "ex:code", "ex:active"),
    *("weight in grams", "released", "<https://example.org/values/note>", "Weight", "ex:amount", "ex:motto"),
    *("ex:price/ex:amount", "price/amount", "ex:madeBy/ex:motto", "made by/rdfs:label", "^ex:about/ex:height"),
    *("ex:partOf/ex:weight", "ex:hasPart/ex:note", "ex:madeBy/ex:employs/ex:height", "^ex:price/ex:released"),
    *("ex:madeBy/ex:employs/ex:manager/ex:height", "^ex:partOf/^ex:about/ex:height", "ex:employs/^ex:reviewer/height"),
    *("^ex:madeBy/ex:price/ex:amount", "^ex:city/^ex:madeBy/ex:code", "ex:tag", "ex:partOf/ex:partOf/ex:released"),
)
_TO_NODES: Final = (
    *("ex:madeBy", "made by", "located in/on site", "ex:city", "ex:employs", "ex:manager", "ex:unit", "ex:tag"),
    *("made by/ex:city", "ex:price/ex:unit", "^ex:about/ex:reviewer", "ex:partOf/ex:madeBy", "^ex:price/ex:madeBy"),
    *(
        "ex:madeBy/ex:employs/ex:manager",
        "^ex:madeBy/^ex:about/ex:reviewer",
        "<https://example.org/values/partOf>/site",
    ),
)
_NAMED_NODES: Final = ("ex:madeBy", "made by/ex:city", "ex:manager", "^ex:about/ex:reviewer")
"""Walks to nodes that all have names, which nodes are ordered by."""

_TYPES: Final = (
    "ex:Product",
    "ex:Tool",
    "Tool",
    "ex:Drill",
    "electric drill",
    "ex:Saw",
    "ex:Part",
    "Maker",
    "ex:Person",
)

_TRAVERSALS: Final[Sequence[tuple[str, int, Sequence[Any]]]] = (
    ("City", 1, [["^ex:city/^ex:madeBy"]]),
    ("City", 2, [["^ex:city"], ["^ex:madeBy"]]),
    ("City", 2, [["^ex:city/^made by"], ["ex:price"]]),
    ("City", 1, ["^ex:city/^ex:madeBy", "^located in/on site"]),
    ("City", 2, []),
    ("City", 2, [[], ["^ex:madeBy"]]),
    ("Person", 1, ["^ex:employs/^ex:madeBy", "^ex:reviewer"]),
    ("Person", 2, [["^ex:manager", "^ex:employs"], ["^ex:manager", "^ex:madeBy"]]),
    ("Person", 1, [["^ex:reviewer/ex:about"]]),
    ("Person", 3, ["ex:manager"]),
    ("Maker", 1, [["^ex:madeBy/ex:price"]]),
    ("Maker", 1, []),
    ("Maker", 2, [["^made by"], ["ex:partOf", "^ex:hasPart/ex:hasPart"]]),
    ("Maker", 2, [["^madeBy/ex:partOf"], ["^ex:partOf/^ex:about"]]),
    ("item", 2, [["ex:partOf"], ["ex:partOf"]]),
    ("item", 2, ["ex:partOf"]),
    ("item", 1, []),
    ("item", 3, [["ex:madeBy"], ["^ex:madeBy"], ["ex:site", "ex:price"]]),
    ("item", 1, [["ex:madeBy/^ex:madeBy"]]),
    ("item", 1, [["ex:tag", "ex:price"]]),
)
"""What seeds are, `max_hops`, and `only_predicates`."""

_JOINS: Final[Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]]] = (
    (("City", "Person"), (("^ex:city/^ex:madeBy",), ("^ex:employs/^ex:madeBy",))),
    (("Maker", "City"), (("^ex:madeBy",), ("^located in/on site",))),
    (("Maker", "Person"), (("^ex:madeBy",), ("^ex:reviewer/ex:about",))),
    (("Maker", "Maker"), (("^made by",), ("^ex:madeBy/ex:partOf", "^ex:madeBy"))),
    (("Person", "Person"), (("^ex:manager",), ("^ex:manager/^ex:manager",))),
    (("item", "City"), (("ex:partOf", "^ex:hasPart"), ("^ex:city/^ex:madeBy", "^site"))),
    (("City", "City"), (("^ex:city",), ("^ex:city",))),
    (("Maker", "City", "Person"), (("^ex:madeBy",), ("^ex:city/^ex:madeBy",), ("^ex:employs/^made by",))),
)
"""What seeds are, and a list of walks for each."""

_IN_TEXT: Final = re.compile(rf"\s(?:{'|'.join(map(re.escape, OPERATORS))})(?:\s|$)")
_OF_MEMBERS: Final = ("where", "values", "sort_by")
GROUPED: Final = 0.3
"""The share of questions about groups and figures, unless they are asked for alone."""

_COMPARING: Final = ("=", "!=", "<", "<=", ">", ">=")


def draw(
    graph: DrawnGraph, dice: random.Random, count: int, *, blank_nodes: bool = True, grouped: float = GROUPED
) -> list[Question]:
    """Draw questions about a graph, most of them with an answer that is neither empty nor everything.

    Args:
        graph: The graph.
        dice: Draws.
        count: How many.
        blank_nodes: Whether blank nodes are nodes where it is asked.
        grouped: The share of questions about groups and figures.
    """
    drawing = _Drawing(Graph(graph.triples, PREFIXES, blank_nodes=blank_nodes), dice, grouped)
    return [drawing.question() for _ in range(count)]


_AXIOMS: Final = (f"<{OWL}equivalentClass>", "rdfs:subClassOf", "ex:partOf", "ex:weight")


def about_axioms(graph: DrawnGraph, dice: random.Random) -> list[Question]:
    """Draw questions about what class expressions of a graph say, and about the axioms that it has."""
    types: Question = {"tool": "search_entities", "node_types": ["ex:Product"]}
    known = Graph(graph.triples, PREFIXES)
    items = sorted(node for node in known.nodes if re.fullmatch(r".*/item\d+", node))
    found: list[Question] = []
    for axiom in (*_AXIOMS, f"ex:partOf/{_AXIOMS[0]}", "^rdfs:subClassOf", "ex:partOf/ex:madeBy"):
        node = f"ex:{dice.choice(items).removeprefix(PREFIXES['ex'])}"
        found += [types | {"where": [f"{axiom} {how}"]} for how in ("exists", "missing", f"= {node}", f"!= {node}")]
        found += [types | {"values": [axiom]}, types | {"sort_by": axiom, "limit": 5}, types | {"sort_by": f"-{axiom}"}]
        found += [
            types | {"group_by": axiom},
            types | {"compute": [f"distinct {axiom}"]},
        ]
        seeds = {"seeds": [node], "max_hops": 2, "where": [f"{axiom} {dice.choice(('exists', 'missing'))}"]}
        found.append({"tool": "bfs_query", **seeds, "only_predicates": ["ex:partOf", "rdfs:subClassOf"]})
        found.append(
            {"tool": "intersect_subgraphs", "seeds": [node, f"ex:item0{dice.randrange(9)}"], "k": 1, "values": [axiom]}
        )
    return [one for one in found if len({*one.get("seeds", ("", " "))}) == len(one.get("seeds", ("", " ")))]


class _Drawing:
    """Draws questions about one graph."""

    def __init__(self, graph: Graph, dice: random.Random, grouped: float) -> None:
        self._graph = graph
        self._dice = dice
        self._share_grouped = grouped
        self._seeds = self._nodes_by_kind()
        self._values = {walk: self._literals(walk) for walk in _TO_VALUES if self._is_known(walk)}
        self._ends = {walk: self._nodes(walk) for walk in _TO_NODES if self._is_known(walk)}

    def question(self) -> Question:
        """Draw a question."""
        trivial = self._dice.random() < _TRIVIAL
        make = self._dice.choice((self._of_types, self._of_types, self._of_traversal, self._of_join))
        question, expected = self._drawn(make)
        for _ in range(_TRIES):
            if trivial or _is_telling(question, expected):
                break
            question, expected = self._drawn(make)
        return question

    def _drawn(self, make: Callable[[], Question]) -> tuple[Question, Expected]:
        dice = self._dice
        question = make()
        members = answer(self._graph, question).members
        if dice.random() < self._share_grouped:
            return self._grouped(question, members)
        if conditions := [self._condition(members) for _ in range(dice.choice((0, 1, 1, 1, 2, 2, 3)))]:
            question["where"] = conditions
        if columns := self._columns(members):
            question["values"] = columns
            if dice.random() < 0.2:
                question["show"] = "id"
        if dice.random() < 0.5:
            question["sort_by"] = dice.choice(("", "-")) + self._sorted_by(members)
            if dice.random() < 0.8:
                question["limit"] = dice.choice(self._before_ties(question) or (1, 2, 3, 5, 5, 8, 20))
        if question["tool"] != "search_entities" and dice.random() < 0.6:
            question["edges"] = False
        if question["tool"] == "search_entities" and question.keys().isdisjoint(_OF_MEMBERS):
            # Without rows there are no pages.
            question["limit"] = 100
        return question, answer(self._graph, question)

    def _grouped(self, question: Question, members: Sequence[str]) -> tuple[Question, Expected]:
        """Make a question one about groups or figures."""
        dice = self._dice
        if conditions := [self._condition(members) for _ in range(dice.choice((0, 0, 0, 1)))]:
            question["where"] = conditions
        if dice.random() < 0.75:
            walks = [*self._values, *self._ends, *self._ends]
            question["group_by"] = "type" if dice.random() < 0.1 else self._walk_of(members, walks)
        if "group_by" not in question or dice.random() < 0.85:
            figures = [self._figure(members) for _ in range(dice.choice((1, 2, 3)))]
            # Two names of one walk are one figure.
            question["compute"] = list({self._meaning(figure): figure for figure in figures}.values())
        if "group_by" in question:
            if dice.random() < 0.4:
                columns = [question["group_by"], *question.get("compute", ["count"])]
                question["sort_by"] = dice.choice(("", "-")) + dice.choice(columns)
            if dice.random() < 0.4:
                question["limit"] = dice.choice((1, 2, 3, 5))
        return question, answer(self._graph, question)

    def _figure(self, members: Sequence[str]) -> str:
        kind = self._dice.choice(("count", "count", "sum", "sum", "avg", "min", "max", "distinct"))
        if kind == "count":
            return kind
        walks = [*self._values, *self._values, *self._ends] if kind == "distinct" else list(self._values)
        return f"{kind} {self._walk_of(members, walks)}"

    def _meaning(self, figure: str) -> tuple[str, Walk]:
        kind, _, walk = figure.partition(" ")
        return kind, self._graph.walk(walk) if walk else ()

    def _before_ties(self, question: Question) -> list[int]:
        """Return limits that end among equal values, for some questions."""
        if self._dice.random() < 0.3:
            return []
        expected = answer(self._graph, question)
        keys = [expected.keys[node] for node in expected.members]
        return [place for place in range(1, len(keys)) if keys[place] is not None and keys[place] == keys[place - 1]]

    def _of_types(self) -> Question:
        types = self._dice.sample(_TYPES, self._dice.choice((1, 1, 1, 2)))
        if self._dice.random() < 0.1:
            types = ["untyped", *types[1:]]
        return {"tool": "search_entities", "node_types": types}

    def _of_traversal(self) -> Question:
        dice = self._dice
        kind, hops, lists = dice.choice([one for one in _TRAVERSALS if self._are_known(one[2])])
        question: Question = {"tool": "bfs_query", "seeds": self._some_seeds([kind] * dice.choice((1, 1, 2)))}
        question["max_hops"] = hops
        if lists:
            question["only_predicates"] = [list(one) if isinstance(one, list) else one for one in lists]
            if dice.random() < 0.2:
                question["direction"] = dice.choice(("out", "in"))
        return question

    def _of_join(self) -> Question:
        kinds, lists = self._dice.choice([one for one in _JOINS if self._are_known(one[1])])
        question: Question = {"tool": "intersect_subgraphs", "seeds": self._some_seeds(kinds), "k": 1}
        question["only_predicates"] = [list(one) for one in lists]
        return question

    def _some_seeds(self, kinds: Sequence[str]) -> list[str]:
        found: list[str] = []
        for kind in kinds:
            node = self._dice.choice([one for one in self._seeds[kind] if one not in found])
            found.append(node)
        return [self._id(node) for node in found]

    def _condition(self, members: Sequence[str]) -> str:
        condition = self._any_condition(members)
        # A name that holds an operator is written in quotes.
        return re.sub("^weight in grams(?= )", '"weight in grams"', condition)

    def _any_condition(self, members: Sequence[str]) -> str:
        match self._dice.random():
            case share if share < 0.58:
                return self._value_condition(members)
            case share if share < 0.75:
                return self._node_condition(members)
            case share if share < 0.83:
                return self._property_condition()
            case share if share < 0.9:
                walk = self._walk_of(members, [*self._values, *self._ends])
                return f"{walk} {self._dice.choice(('missing', 'exists'))}"
            case _:
                return self._word_condition(members)

    def _value_condition(self, members: Sequence[str]) -> str:
        walk = self._walk_of(members, list(self._values))
        values = self._values[walk]
        return f"{walk} {self._compared(values)}" if values else f"{walk} exists"

    def _compared(self, values: Sequence[Literal]) -> str:
        """Return an operator and a right side that some of the values may fulfil."""
        dice = self._dice
        value = dice.choice(values)
        if not is_nan(value) and (number := number_of(value)) is not None and dice.random() < 0.9:
            rights = [
                _as_number(number, dice),
                *(_as_number(one, dice) for one in map(number_of, values) if one is not None),
            ]
            if dice.random() < 0.15:
                return f"in {', '.join(dice.sample(rights, min(3, len(rights))))}"
            return f"{dice.choice(_COMPARING)} {rights[0]}"
        if period_of(value) is not None and dice.random() < 0.9:
            return f"{dice.choice(_COMPARING)} {self._as_date(value.text)}"
        if not _is_plain(value.text):
            return "exists"
        return self._of_text(value, values)

    def _of_text(self, value: Literal, values: Sequence[Literal]) -> str:
        dice = self._dice
        given = dice.choice((value.text, value.text.upper(), value.text.lower()))
        match dice.random():
            case share if share < 0.3:
                start = dice.randrange(len(given))
                part = given[start : start + dice.randint(1, 4)]
                return f"contains {part}" if _is_plain(part) else f'= "{given}"'
            case share if share < 0.5:
                part = given[: dice.randint(1, 5)]
                return f"starts {part}" if _is_plain(part) else f'= "{given}"'
            case share if share < 0.65:
                others = [one.text for one in values if _is_plain(one.text)]
                chosen = [given, *dice.sample(others, min(2, len(others)))]
                return "in " + ", ".join(f'"{one}"' if "," in one else one for one in chosen)
            case _:
                return f"{dice.choice(('=', '=', '!=', '<', '>', '<=', '>='))} {_quoted(given, dice)}"

    def _as_date(self, given: str) -> str:
        """Return a date of a value, or a shorter or another one."""
        dice = self._dice
        found = re.match(r"(-?\d{4,})(-\d\d)?(-\d\d)?", given)
        if found is None or dice.random() < 0.2:
            return given
        parts = [part for part in found.groups() if part]
        return "".join(parts[: dice.randint(1, len(parts))])

    def _node_condition(self, members: Sequence[str]) -> str:
        dice = self._dice
        walk = self._walk_of(members, list(self._ends))
        rights = [one for node in self._ends[walk] if (one := self._node_text(node))]
        if not rights:
            return f"{walk} exists"
        if dice.random() < 0.25:
            chosen = dice.sample(rights, min(2, len(rights)))
            return f"{walk} in " + ", ".join(f'"{one}"' if "," in one else one for one in chosen)
        return f"{walk} {dice.choice(('=', '=', '!='))} {dice.choice(rights)}"

    def _node_text(self, node: str) -> str:
        """Return the ID of a node, or its name if that means it alone; nothing of a blank node."""
        if is_blank(node):
            return ""
        name = self._graph.display_name(node)
        if name and _is_plain(name) and self._dice.random() < 0.6 and len(self._graph.named(name)) == 1:
            return name
        return self._id(node)

    def _property_condition(self) -> str:
        pairs = (
            *(
                ("ex:weight", "ex:height"),
                ("ex:code", "ex:weight"),
                ("ex:released", "ex:updated"),
                ("ex:height", "code"),
            ),
            *(("ex:price/ex:amount", "ex:weight"), ("ex:partOf/ex:weight", "weight in grams"), ("ex:note", "ex:motto")),
            *(
                ("ex:madeBy", "ex:partOf/ex:madeBy"),
                ("located in/on site", "made by/ex:city"),
                ("ex:height", "ex:height"),
            ),
        )
        known = [(one, other) for one, other in pairs if self._is_known(one) and self._is_known(other)]
        one, other = self._dice.choice(known)
        to_nodes = one in self._ends
        operator = self._dice.choice(("=", "!=") if to_nodes else _COMPARING)
        return f"{one} {operator} @{other}"

    def _word_condition(self, members: Sequence[str]) -> str:
        dice = self._dice
        match dice.choice(("name", "any", "type", "name")):
            case "name":
                names = [self._graph.display_name(node) for node in members]
                known = [name for name in names if _is_plain(name) and read_number(name) is None]
                if not known or dice.random() < 0.15:
                    return f"name {dice.choice(('missing', 'exists'))}"
                name = dice.choice(known)
                part = name[: dice.randint(1, len(name))].strip()
                return f"name {dice.choice(('starts', 'contains', '=', '!=', '>', '<='))} {part}"
            case "any":
                values = sorted(
                    {one for node in members for one in self._graph.literals(node) if isinstance(one, Literal)}
                )
                return f"any {self._compared(values)}" if values else "any exists"
            case _:
                return f"type {dice.choice(('=', '!='))} {dice.choice(_TYPES)}"

    def _columns(self, members: Sequence[str]) -> list[str]:
        if self._dice.random() < 0.3:
            return []
        walks = [self._walk_of(members, [*self._values, *self._ends]) for _ in range(self._dice.randint(1, 3))]
        return list(dict.fromkeys(walks)) if self._dice.random() < 0.9 else ["name"]

    def _sorted_by(self, members: Sequence[str]) -> str:
        nodes = [walk for walk in _NAMED_NODES if walk in self._ends]
        chosen = self._walk_of(members, self._dice.choice((list(self._values), list(self._values), nodes)))
        return self._dice.choice((chosen, chosen, chosen, chosen, "name", "ex:active"))

    def _walk_of(self, members: Sequence[str], walks: Sequence[str]) -> str:
        """Return a walk that leads somewhere from a member, if one is found soon."""
        walk = self._dice.choice(walks)
        for _ in range(_TRIES):
            if any(self._graph.ends(node, self._graph.walk(walk)) for node in members):
                break
            walk = self._dice.choice(walks)
        return walk

    def _literals(self, walk: str) -> list[Literal]:
        steps = self._graph.walk(walk)
        ends = {end for node in self._graph.nodes for end in self._graph.ends(node, steps)}
        return sorted(end for end in ends if isinstance(end, Literal))

    def _nodes(self, walk: str) -> list[str]:
        steps = self._graph.walk(walk)
        ends = {end for node in self._graph.nodes for end in self._graph.ends(node, steps)}
        return sorted(end for end in ends if isinstance(end, str))

    def _nodes_by_kind(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {kind: [] for kind in ("City", "Person", "Maker", "item")}
        for node in sorted(self._graph.nodes):
            local = node.removeprefix(PREFIXES["ex"])
            if re.fullmatch(r"item\d+", local):
                found["item"].append(node)
            for kind in self._graph.types.get(node, ()):
                if (name := kind.removeprefix(PREFIXES["ex"])) in found:
                    found[name].append(node)
        return found

    def _is_known(self, walk: str) -> bool:
        try:
            self._graph.walk(walk)
        except ValueError:
            return False
        return True

    def _are_known(self, lists: Sequence[Any]) -> bool:
        return all(map(self._is_known, _flat(lists)))

    @staticmethod
    def _id(node: str) -> str:
        return "ex:" + node.removeprefix(PREFIXES["ex"])


def _flat(lists: Sequence[Any]) -> Iterator[str]:
    for one in lists:
        if isinstance(one, str):
            yield one
        else:
            yield from one


def _is_telling(question: Question, expected: Expected) -> bool:
    if "where" in question:
        return 0 < expected.found < expected.unfiltered
    return expected.found > 0 and any(name in question for name in ("values", "sort_by", "only_predicates"))


def _as_number(number: Fraction | float, dice: random.Random) -> str:
    """Write a number in one of the ways in which a question may have it."""
    if isinstance(number, float):
        return "INF" if number > 0 else "-INF"
    if number.denominator == 1 and abs(number) < 10**40:
        ways = [str(number), f"{number}.0", f"{number}e0"]
        return dice.choice(ways)
    if number.denominator <= 10**25 and abs(number) < 10**40:
        digits = 25
        whole = abs(number.numerator) * 10**digits // number.denominator
        exact = f"{whole // 10**digits}.{whole % 10**digits:025}".rstrip("0")
        if Fraction(exact) == abs(number):
            return f"-{exact}" if number < 0 else exact
    return "1e300"


def _is_plain(given: str) -> bool:
    """Return whether a text can stand on the right of a condition as it is."""
    words = given and given == given.strip() and not given.startswith("@") and given.isprintable()
    return bool(words) and '"' not in given and _IN_TEXT.search(f" {given} ") is None


def _quoted(given: str, dice: random.Random) -> str:
    """Write a text in quotes where it would be a number or a date without, and elsewhere now and then."""
    is_other = read_number(given, infinite=True) is not None or read_period(given) is not None
    return f'"{given}"' if is_other or dice.random() < 0.1 else given
