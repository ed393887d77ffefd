"""The right answers to questions about values, computed slowly and obviously, without a line of the gateway.

Written from the specification alone. Where that leaves a choice, a function of its own has it, and says so.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeAlias

from tests.values.comparing import (
    Kind,
    Number,
    Period,
    Right,
    fold,
    holds,
    is_nan,
    kind_of,
    number_of,
    pair_holds,
    period_of,
    text_of,
)
from tests.values.terms import STRING, End, Literal, is_blank, is_content
from tests.values.walks import Condition, Graph, Step, Walk

Arguments: TypeAlias = Mapping[str, Any]
"""The arguments of a tool, and `tool`."""

Key: TypeAlias = tuple[Kind, Any]
"""What a value is ordered by."""


@dataclass(frozen=True)
class Tally:
    """What one condition says of all members.

    Attributes:
        fulfilled: How many members fulfil it.
        uncomparable: How many values could not be compared.
        texts: How many texts were read as numbers.
    """

    fulfilled: int = 0
    uncomparable: int = 0
    texts: int = 0


@dataclass(frozen=True)
class Expected:
    """The right answer.

    Attributes:
        members: The members that fulfil all conditions: in order where one is asked for, else by IRI.
        keys: What each of them is ordered by, None where it has no value; empty where no order is asked for.
        cells: For each of them, the ends of each column, or its names.
        tied: How many members behind the first `limit` have the value of the last of these; None without an order.
        unfiltered: How many members there are without the conditions.
        tallies: What each condition alone says of these.
        seeds_left_out: Of an intersection, how many seeds would be members and fulfil all conditions.
        on_the_way: Nodes that stay where they lead to a member, which the answer may show beside these; seeds too.
    """

    members: tuple[str, ...]
    keys: Mapping[str, Key | None] = field(default_factory=dict)
    cells: Mapping[str, Sequence[frozenset[End]]] = field(default_factory=dict)
    tied: int | None = None
    unfiltered: int = 0
    tallies: tuple[Tally, ...] = ()
    seeds_left_out: int = 0
    on_the_way: frozenset[str] = frozenset()

    @property
    def found(self) -> int:
        """How many members fulfil all conditions."""
        return len(self.members)


@dataclass(frozen=True)
class _Set:
    members: frozenset[str]
    seeds: frozenset[str] = frozenset()
    """Those of an intersection that would be members."""

    leading: Callable[[Collection[str]], frozenset[str]] = lambda _: frozenset()
    """Returns what stays where it leads to some members."""


def answer(graph: Graph, question: Arguments) -> Expected:
    """Return the right answer to a question."""
    given = _set_of(graph, question)
    conditions = [graph.condition(one) for one in question.get("where") or ()]
    kept, seeds, tallies = set(given.members), set(given.seeds), []
    for condition in conditions:
        fulfilling, tally = _fulfilling(graph, given.members, condition)
        kept &= fulfilling
        seeds &= _fulfilling(graph, given.seeds, condition)[0]
        tallies.append(tally)
    members, keys, tied = _arranged(graph, kept, question)
    columns = _columns(question)
    return Expected(
        members,
        keys,
        {node: tuple(_column(graph, node, column) for column in columns) for node in members},
        tied,
        len(given.members),
        tuple(tallies),
        len(seeds),
        given.leading(kept),
    )


def is_grouped(question: Arguments) -> bool:
    """Return whether a question asks for groups or figures, which have an order and pages of their own."""
    return "group_by" in question or "compute" in question


def _columns(question: Arguments) -> Sequence[str]:
    """Return the columns of the rows: no name beside names, and what is sorted by where no column is asked for."""
    if is_grouped(question):
        return []
    by = question.get("sort_by", "").removeprefix("-")
    columns = question.get("values") or ([by] if by else [])
    return [column for column in columns if column != "name" or question.get("show") == "id"]


def order_key(graph: Graph, node: str, by: str, *, descending: bool) -> Key | None:
    """Return what a node is ordered by: its smallest value, or largest; None if it has none.

    Numbers stand before dates, dates before texts, and texts before nodes in both directions: who sorts descending asks
    for the largest number, and not for a text beside numbers. NaN is no value.
    """
    if by == "name":
        name = graph.display_name(node)
        return (Kind.TEXT, (fold(name), name)) if name else None
    ends = without_translations(set(graph.ends(node, graph.walk(by))))
    values = [key for end in ends if (key := value_key(graph, end)) is not None]
    if not values:
        return None
    first = min(kind for kind, _ in values)
    of_kind = [key for key in values if key[0] is first]
    return max(of_kind) if descending else min(of_kind)


def without_translations(ends: Collection[End]) -> list[End]:
    """Return ends without texts that say the same as others in English, or else in the language of the first tag.

    Texts are translations where each language has equally many, or, of three and more, one more or less, unless a text
    without a language stands beside a language with two.
    """
    texts = [end for end in ends if isinstance(end, Literal) and (end.language or end.datatype == STRING)]
    counts = Counter(end.language for end in texts if end.language)
    difference = max(counts.values(), default=0) - min(counts.values(), default=0)
    has_other = any(not end.language for end in texts)
    if len(counts) < 2 or difference > (len(counts) > 2) or (has_other and max(counts.values()) > 1):
        return list(ends)
    best = "en" if "en" in counts else min(counts)
    return [end for end in ends if not isinstance(end, Literal) or end.language in {"", best}]


def value_key(graph: Graph, end: End) -> Key | None:
    """Return what a value is ordered by; a text that reads as a number is ordered as one."""
    if isinstance(end, str):
        # A blank node without a name has nothing to be ordered by.
        name = graph.display_name(end) or ("" if is_blank(end) else end)
        return (Kind.NODE, (fold(name), name)) if name else None
    if is_nan(end):
        return None
    number: Number | Period | None = number_of(end)
    if number is not None:
        return Kind.NUMBER, number
    if (period := period_of(end)) is not None:
        return Kind.DATE, (period.start, period.end)
    value = text_of(end) or ""
    return Kind.TEXT, (fold(value), value)


def _arranged(
    graph: Graph, kept: Iterable[str], question: Arguments
) -> tuple[tuple[str, ...], dict[str, Key | None], int | None]:
    """Return members in order, what they are ordered by, and how many are tied with the last of the first."""
    members = sorted(kept, key=lambda node: (is_blank(node), node))
    if is_grouped(question) or not (by := question.get("sort_by")):
        return tuple(members), {}, None
    descending = by.startswith("-")
    keys = {node: order_key(graph, node, by.removeprefix("-"), descending=descending) for node in members}
    ordered: list[str] = []
    for kind in Kind:
        of_kind = [(key[1], node) for node, key in keys.items() if key is not None and key[0] is kind]
        # A sort that turns the order keeps what is equal in its place.
        ordered += [node for _, node in sorted(of_kind, key=itemgetter(0), reverse=descending)]
    ordered += [node for node in members if keys[node] is None]
    tied, limit = 0, question.get("limit")
    if limit and limit < len(ordered):
        last = keys[ordered[limit - 1]]
        tied = sum(last is not None and are_tied(keys[node], last) for node in ordered[limit:])
    return tuple(ordered), keys, tied


def are_tied(key: Key | None, last: Key) -> bool:
    """Return whether two nodes are ordered by the same value: texts that differ in case alone are the same."""
    if key is None or key[0] is not Kind.TEXT or last[0] is not Kind.TEXT:
        return key == last
    return bool(key[1][0] == last[1][0])


def _fulfilling(graph: Graph, members: Iterable[str], condition: Condition) -> tuple[set[str], Tally]:
    """Return the members that fulfil a condition, and what it says of all."""
    fulfilling: set[str] = set()
    uncomparable = texts = 0
    for node in members:
        left = _left_ends(graph, node, condition)
        if condition.operator in {"exists", "missing"}:
            found = bool(left) == (condition.operator == "exists")
        else:
            # A value is comparable if one on the right can be compared with it.
            results = {end: _results(graph, node, end, condition) for end in left}
            uncomparable += sum(not of_end for of_end in results.values())
            texts += sum(_is_read(end, condition) for end, of_end in results.items() if of_end)
            texts += _read_on_the_right(graph, node, left, condition)
            every = [result for of_end in results.values() for result in of_end]
            # No pair equals: that is more than one pair that differs.
            found = all(every) and bool(every) if condition.operator == "!=" else any(every)
        if found:
            fulfilling.add(node)
    return fulfilling, Tally(len(fulfilling), uncomparable, texts)


def _left_ends(graph: Graph, node: str, condition: Condition) -> set[End]:
    match condition.left:
        case "name":
            return graph.names(node)
        case "any":
            return graph.literals(node)
        case "type":
            return set(graph.types.get(node, ()))
        case str():
            raise ValueError(f"no word for a walk: {condition.left}")
        case walk:
            return graph.ends(node, walk)


def _results(graph: Graph, node: str, end: End, condition: Condition) -> list[bool]:
    if condition.is_of_property:
        walk: Walk = tuple(step for step in condition.right if isinstance(step, Step))
        others = [] if is_content(end) else [other for other in graph.ends(node, walk) if not is_content(other)]
        found = [pair_holds(end, condition.operator, other) for other in others]
    else:
        rights = [right for right in condition.right if isinstance(right, Right)]
        found = [] if is_content(end) else [holds(end, condition.operator, rights)]
    return [one for one in found if one is not None]


def _is_read(end: End, condition: Condition) -> bool:
    """Return whether a value that was compared is a text that was read as a number."""
    if not isinstance(end, Literal) or kind_of(end) is not Kind.TEXT or condition.operator in {"contains", "starts"}:
        return False
    if condition.is_of_property:
        return number_of(end) is not None
    numbers = [right for right in condition.right if isinstance(right, Right) and right.number is not None]
    return bool(numbers) and number_of(end) is not None


def _read_on_the_right(graph: Graph, node: str, left: Iterable[End], condition: Condition) -> int:
    """Return how many texts of another property are read as numbers, because there are numbers on the left."""
    if not condition.is_of_property or all(isinstance(end, str) or number_of(end) is None for end in left):
        return 0
    walk: Walk = tuple(step for step in condition.right if isinstance(step, Step))
    return sum(_is_read(end, condition) for end in graph.ends(node, walk))


def _column(graph: Graph, node: str, column: str) -> frozenset[End]:
    if column == "name":
        name = graph.display_name(node)
        return frozenset({Literal(name)} if name else ())
    return frozenset(graph.ends(node, graph.walk(column)))


def _set_of(graph: Graph, question: Arguments) -> _Set:
    match question["tool"]:
        case "search_entities":
            return _of_types(graph, question["node_types"])
        case "bfs_query":
            return _of_traversal(graph, question)
        case "intersect_subgraphs":
            return _of_intersection(graph, question)
        case tool:
            raise ValueError(f"{tool} finds no set")


def _of_types(graph: Graph, given: Sequence[str]) -> _Set:
    """Return the nodes of some types and their subclasses; `untyped` are those without any."""
    kinds = {kind for name in given for one in graph.type_named(name) for kind in graph.kinds(one)}
    members = {node for node in graph.nodes if graph.types.get(node, frozenset()) & kinds}
    if "untyped" in given:
        members |= {node for node in graph.nodes if not graph.types.get(node)}
    return _Set(frozenset(members))


def _of_traversal(graph: Graph, question: Arguments) -> _Set:
    seeds = _seeds(graph, question)
    lists, direction = question.get("only_predicates") or [], question.get("direction", "both")
    hops = question["max_hops"]
    if any(isinstance(one, list) for one in lists):
        # The ends of the last list, a seed too where a walk leads back to it.
        reached = [frozenset(seeds)]
        for entries in lists:
            reached.append(frozenset(end for node in reached[-1] for end in _hop(graph, node, entries, direction)))

        def leading(kept: Collection[str]) -> frozenset[str]:
            goals, stay = set(kept), set(seeds)
            for entries, places in zip(reversed(lists), reversed(reached[:-1]), strict=True):
                goals = {node for node in places if _hop(graph, node, entries, direction) & goals}
                stay |= goals
            return frozenset(stay)

        return _Set(reached[-1], leading=leading)
    near, frontier = set(seeds), set(seeds)
    for _ in range(hops):
        frontier = {end for node in frontier for end in _hop(graph, node, lists, direction)} - near
        near |= frontier
    return _Set(frozenset(near - seeds), leading=lambda _: frozenset(seeds))


def _of_intersection(graph: Graph, question: Arguments) -> _Set:
    """Return the nodes near every seed but the seeds; a seed is near itself."""
    seeds = [_one(graph, seed) for seed in question["seeds"]]
    lists, direction = question.get("only_predicates") or [], question.get("direction", "both")
    of_seeds = any(isinstance(one, list) for one in lists)
    near = []
    for place, seed in enumerate(seeds):
        entries = lists[place] if of_seeds else lists
        mine = frontier = {seed}
        for _ in range(question["k"]):
            frontier = {end for node in frontier for end in _hop(graph, node, entries, direction)} - mine
            mine = mine | frontier
        near.append(mine)
    both = frozenset(set.intersection(*near))
    return _Set(both - set(seeds), both & set(seeds), leading=lambda _: both & set(seeds))


def _hop(graph: Graph, node: str, entries: Sequence[str], direction: str) -> set[str]:
    """Return the nodes where one hop leads: an entry of one step goes both ways, one of several as it is written."""
    if not entries:
        return graph.edge_ends(node, direction)
    found: set[str] = set()
    for entry in entries:
        walk = graph.walk(entry)
        if len(walk) > 1:
            found |= {end for end in graph.ends(node, walk) if isinstance(end, str) and end in graph.nodes}
        elif walk[0].is_inverse:
            found |= graph.edge_ends(node, "in", walk[0].predicates)
        else:
            found |= graph.edge_ends(node, direction, walk[0].predicates)
    return found


def _seeds(graph: Graph, question: Arguments) -> set[str]:
    return {_one(graph, seed) for seed in question["seeds"]}


def _one(graph: Graph, given: str) -> str:
    (node,) = graph.named(given)
    return node
