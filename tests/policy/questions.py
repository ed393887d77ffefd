"""Draws questions about a graph under a policy: with what is hidden as with other things."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyoxigraph import Literal, NamedNode

from tests.policy.drawn_graph import (
    AGE,
    HIDDEN,
    HIDDEN_PREDICATES,
    HIDDEN_TYPES,
    LABEL,
    NOTE,
    PAY,
    PREDICATES,
    SINCE,
    TYPES,
    WORDS,
    DrawnGraph,
)

Question = tuple[str, dict[str, Any]]

_UNTYPED = "untyped"
_TO_VALUES = (AGE, AGE, SINCE, NOTE, LABEL)
_COMPARING = ("=", "!=", "<", "<=", ">", ">=")


class _ValueArguments:
    """Draws arguments about the values of one graph.

    Args:
        graph: The graph.
        dice: Draws.
    """

    def __init__(self, graph: DrawnGraph, dice: random.Random) -> None:
        self._graph = graph
        self._dice = dice
        self._literals = [
            quad.object.value
            for quad in graph.quads
            if quad.predicate in {AGE, SINCE, PAY} and isinstance(quad.object, Literal)
        ]
        self._names_hidden = False

    def begin(self) -> None:
        """Draw whether the next question names hidden predicates and types, most of which end in errors."""
        self._names_hidden = self._dice.random() < 0.3

    def draw(self) -> dict[str, Any]:
        """Return some of `where`, `values`, `sort_by`, `group_by`, `compute`, `show` and `edges`, at least one."""
        dice, drawn = self._dice, dict[str, Any]()
        if dice.random() < 0.25:
            return self._of_groups()
        if dice.random() < 0.7:
            drawn["where"] = [self.condition() for _ in range(dice.choice((1, 1, 1, 2, 3)))]
        if dice.random() < 0.5:
            drawn["values"] = [self._column() for _ in range(dice.randint(1, 3))]
        if dice.random() < 0.5 or not drawn:
            drawn["sort_by"] = dice.choice(("", "-")) + dice.choice((self._to_values(), self._to_values(), "name"))
        if dice.random() < 0.2:
            drawn["show"] = dice.choice(("id", "name"))
        return drawn

    def _of_groups(self) -> dict[str, Any]:
        """Return arguments about groups and figures."""
        dice, drawn = self._dice, dict[str, Any]()
        if dice.random() < 0.3:
            drawn["where"] = [self.condition()]
        if dice.random() < 0.7:
            drawn["group_by"] = dice.choice((self._to_values(), self._walk(1), self._walk(2), "type"))
        kinds = [dice.choice(("count", "sum", "avg", "min", "max", "distinct")) for _ in range(dice.randint(1, 2))]
        drawn["compute"] = [kind if kind == "count" else f"{kind} {self._to_values()}" for kind in kinds]
        if dice.random() < 0.3:
            drawn["sort_by"] = dice.choice(("", "-")) + drawn["compute"][-1]
        return drawn

    def nodes_only(self) -> dict[str, Any]:
        """Return the argument that leaves edges away, for half of the questions."""
        return {"edges": False} if self._dice.random() < 0.5 else {}

    def types(self) -> list[str]:
        """Return types of entities, and now and then those without one."""
        chosen = self._dice.sample(self._known(TYPES, HIDDEN_TYPES), self._dice.choice((1, 1, 2)))
        named = [node.value for node in chosen]
        return [_UNTYPED, *named[1:]] if self._dice.random() < 0.15 else named

    def steps(self, most: int = 3) -> list[str]:
        """Return entries of `only_predicates`: walks of so many steps at most."""
        return [self._walk(self._dice.randint(1, most)) for _ in range(self._dice.randint(1, 2))]

    def condition(self) -> str:
        """Return a condition."""
        dice = self._dice
        match dice.random():
            case share if share < 0.45:
                return f"{self._to_values()} {self._compared()}"
            case share if share < 0.7:
                return f"{self._walk(dice.choice((1, 1, 2)))} {self._with_node()}"
            case share if share < 0.8:
                return f"{self._to_values()} {dice.choice(_COMPARING)} @{self._to_values()}"
            case share if share < 0.9:
                left = dice.choice((self._to_values(), self._walk(1), "name", "type"))
                return f"{left} {dice.choice(('exists', 'missing'))}"
            case _:
                return self._of_word()

    def _of_word(self) -> str:
        match self._dice.choice(("name", "type", "any")):
            case "type":
                chosen = self._dice.choice(self._known(TYPES, HIDDEN_TYPES))
                text = self._dice.choice((chosen.value, chosen.value.rsplit("/", 1)[1]))
                return f"type {self._dice.choice(('=', '!='))} {text}"
            case word:
                return f"{word} {self._compared()}"

    def _compared(self) -> str:
        """Return an operator and a right side."""
        dice = self._dice
        texts = [*WORDS, "hush", "hush1", "am", *self._graph.names]
        match dice.random():
            case share if share < 0.6:
                return f"{dice.choice(_COMPARING)} {dice.choice(self._literals)}"
            case share if share < 0.7:
                return f"in {', '.join(dice.sample(self._literals, 3))}"
            case share if share < 0.85:
                return f"{dice.choice(('contains', 'starts'))} {dice.choice([*texts, *self._literals])}"
            case _:
                return f"{dice.choice(_COMPARING)} {dice.choice(texts)}"

    def _with_node(self) -> str:
        """Return an operator and nodes, hidden ones among them, by their IDs and names."""
        dice = self._dice
        nodes = [node for node in self._graph.nodes if self._names_hidden or "hush" not in node]
        if dice.random() < 0.2:
            nodes = self._graph.names
        if dice.random() < 0.25:
            return f"in {', '.join(dice.sample(nodes, 3))}"
        return f"{dice.choice(('=', '=', '!='))} {dice.choice(nodes)}"

    def _column(self) -> str:
        return self._dice.choice((self._to_values(), self._to_values(), self._walk(1), "name", "type"))

    def _to_values(self) -> str:
        """Return a walk to literals."""
        last = self._named(self._dice.choice(self._known(_TO_VALUES, [PAY])).value)
        if self._dice.random() < 0.7:
            return last
        return f"{self._walk(self._dice.randint(1, 2))}/{last}"

    def _walk(self, steps: int) -> str:
        """Return a walk along edges."""
        chosen: Sequence[str] = [
            self._named(self._dice.choice(self._known(PREDICATES, HIDDEN_PREDICATES)).value) for _ in range(steps)
        ]
        return "/".join(self._dice.choice(("", "^")) + step for step in chosen)

    def _known(self, seen: Sequence[NamedNode], hidden: Sequence[NamedNode]) -> Sequence[NamedNode]:
        return [*seen, *hidden] if self._names_hidden else seen

    def _named(self, iri: str) -> str:
        """Return the ID of a predicate, or its local name."""
        if iri == LABEL.value:
            return f"<{iri}>"
        return self._dice.choice((f"<{iri}>", iri.rsplit("/", 1)[1]))


def drawn_questions(graph: DrawnGraph, dice: random.Random, count: int) -> Iterator[Question]:
    """Draw questions to the tools, half of them about values, and to completions, resources and prompts."""
    for _ in range(count):
        yield _Drawing(graph, dice).make()


class _Drawing:
    def __init__(self, graph: DrawnGraph, dice: random.Random) -> None:
        self._graph = graph
        self._dice = dice
        self._values = _ValueArguments(graph, dice)

    def make(self) -> Question:
        """Draw one, half of the time about values."""
        return self._about_values() if self._dice.random() < 0.5 else self._plain()

    def _about_values(self) -> Question:
        dice, values = self._dice, self._values
        values.begin()
        kinds: Sequence[Callable[[], Question]] = (
            lambda: ("search_entities", {"node_types": values.types(), **values.draw()}),
            lambda: ("search_entities", {"query": self._text(), **values.draw()}),
            lambda: (
                "bfs_query",
                {"seeds": self._nodes(1, 3), "max_hops": 1, **self._walked([values.steps()]), **self._about_nodes()},
            ),
            lambda: (
                "bfs_query",
                {"seeds": self._nodes(1, 2), "max_hops": 2, **self._walked(values.steps(2)), **self._about_nodes()},
            ),
            lambda: (
                "intersect_subgraphs",
                {
                    "seeds": self._nodes(2, 2),
                    "k": 1,
                    "only_predicates": [values.steps(), values.steps()],
                    **self._about_nodes(),
                },
            ),
            lambda: ("describe_schema", {"node_types": values.types()}),
        )
        name, given = dice.choices(kinds, weights=(4, 1, 2, 1, 2, 1))[0]()
        if name != "describe_schema" and dice.random() < 0.5:
            given["limit"] = dice.randint(1, 6)
        return name, self._explained(given)

    def _about_nodes(self) -> dict[str, Any]:
        return (self._values.draw() if self._dice.random() < 0.8 else {}) | self._values.nodes_only()

    def _walked(self, steps: Sequence[Any]) -> dict[str, Any]:
        return {"only_predicates": list(steps)} if self._dice.random() < 0.8 else {}

    def _plain(self) -> Question:
        dice = self._dice
        kinds: Sequence[Callable[[], Question]] = (
            lambda: ("bfs_query", self._with_filters({"seeds": self._nodes(1, 3), "max_hops": dice.randint(1, 3)})),
            lambda: (
                "intersect_subgraphs",
                self._with_filters({"seeds": self._nodes(2, 3), "k": dice.randint(1, 2)}),
            ),
            lambda: (
                "search_entities",
                self._explained({"query": self._text(), **self._some(node_types=self._types())}),
            ),
            lambda: ("describe_entity", self._explained({"id": dice.choice([self._node(), self._text()])})),
            lambda: ("describe_entities", self._explained({"ids": self._nodes(1, 4)})),
            lambda: ("describe_schema", self._explained(self._some(all=True) | self._some(node_types=self._types()))),
            lambda: (dice.choice(("entity", "schema", "id", "name", "prompt", "lists")), {"text": self._text()}),
        )
        return dice.choices(kinds, weights=(2, 1, 2, 1, 1, 1, 1))[0]()

    def _with_filters(self, given: dict[str, Any]) -> dict[str, Any]:
        predicates = [node.value for node in self._dice.sample([*PREDICATES, *HIDDEN_PREDICATES], 2)]
        return self._explained(
            given
            | self._some(only_predicates=predicates)
            | self._some(predicates=predicates)
            | self._some(only_node_types=self._types())
            | self._some(exclude_node_types=self._types())
            | self._some(direction=self._dice.choice(("out", "in", "both")))
            | self._some(limit=self._dice.randint(1, 5))
            | self._some(max_edges_per_node=self._dice.randint(1, 5))
            | self._some(max_degree=self._dice.randint(1, 9))
        )

    def _some(self, **given: Any) -> dict[str, Any]:
        return given if self._dice.random() < 0.25 else {}

    def _explained(self, given: dict[str, Any]) -> dict[str, Any]:
        return given | self._some(explain=True)

    def _types(self) -> list[str]:
        return [node.value for node in self._dice.sample([*TYPES, *HIDDEN_TYPES], 2)]

    def _node(self) -> str:
        return self._dice.choice(self._graph.nodes)

    def _nodes(self, least: int, most: int) -> list[str]:
        return self._dice.sample(self._graph.nodes, self._dice.randint(least, most))

    def _text(self) -> str:
        name = self._dice.choice([*self._graph.names, *HIDDEN.types, *HIDDEN.predicates, "hush", "person", "nobody"])
        return name[: self._dice.randint(2, len(name))] if self._dice.random() < 0.3 else name
