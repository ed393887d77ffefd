"""The order of nodes by where a walk ends, and which of them have the same value (docs/values.md).

Numbers stand before dates, dates before durations, these before texts, texts before nodes, in both directions: who
sorts descending asks for the largest number. A text that reads as a number or a duration is one. Nodes without a value
stand last in both directions, and those with the same value stand by IRI, blank nodes behind others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from operator import itemgetter
from types import MappingProxyType
from typing import Final, TypeVar
from typing import Literal as Literal_

from gateway.errors import counted
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.graph.walks import NAMES, End, Ends, Order
from gateway.terms.comparable import Duration, Number, Period, Text, comparable, folded, number_in
from gateway.terms.iri import XSD, is_blank_node
from gateway.terms.literals import Literal, are_translations, is_in, shown_texts

_NUMBER, _DATE, _DURATION, _TEXT, _NODE = range(5)
_BOOLEAN = f"{XSD}boolean"

Key = (
    tuple[int, float, Fraction | float]
    | tuple[int, float, Fraction, Fraction]
    | tuple[int, float, Fraction, tuple[Fraction, ...]]
    | tuple[int, str, str]
)  # fmt: skip
"""What orders values; keys of different kinds differ in their first part.

Before an exact number stands the float that is next to it: floats compare ten times as fast, and are in the same order.
"""

ReadAs = Literal_["number", "duration"] | None
"""What a text was read as; None for what was compared as what it is."""

_NO_ENDS: Final = Ends()

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Ordered:
    """Nodes in an order.

    Attributes:
        nodes: The nodes.
        values: What nodes with the same value have in common, of those that have a value.
        unsure: The nodes of which not all ends are known, or not all names of these, so that they may stand elsewhere.
        mark: Whether there are none such, and why.
        read_as_numbers: How many texts were ordered as the numbers that they read as.
        not_comparable: How many values were left out because they have no place in an order.
        by_average: How many durations have no order with others, and stand by their average length.
        read_as_durations: How many texts were ordered as the durations that they read as.
    """

    nodes: tuple[Iri, ...]
    values: Mapping[Iri, Hashable]
    unsure: tuple[Iri, ...] = ()
    mark: Mark = WHOLE
    read_as_numbers: int = 0
    not_comparable: int = 0
    by_average: int = 0
    read_as_durations: int = 0

    @property
    def warnings(self) -> list[str]:
        """What a reader should know about the values that it rests on."""
        texts = [texts_ordered(self.read_as_numbers, "number")] if self.read_as_numbers else []
        texts += [texts_ordered(self.read_as_durations, "duration")] if self.read_as_durations else []
        texts += [durations_unordered(self.by_average)] if self.by_average else []
        return texts + ([values_unordered(self.not_comparable)] if self.not_comparable else [])

    def tied(self, until: int) -> int:
        """Return how many nodes behind the first so many have the same value as the last of these."""
        if not 0 < until < len(self.nodes) or self.nodes[until - 1] not in self.values:
            return 0
        value = self.values[self.nodes[until - 1]]
        behind = range(until, len(self.nodes))
        return next(
            (place - until for place in behind if self.values.get(self.nodes[place]) != value), len(self.nodes) - until
        )


def value_key(end: End, names: Mapping[Iri, str]) -> Key | None:
    """Return what orders an end among all others; None for a literal that has no place, such as NaN.

    Args:
        end: The end.
        names: The names of nodes; one without a name is ordered by its IRI.
    """
    return placed(end, names)[0]


def placed(end: End, names: Mapping[Iri, str]) -> tuple[Key | None, ReadAs]:
    """Return the key of an end, and what it was read as if it is a text that is ordered as something else."""
    if not isinstance(end, Literal):
        # A blank node without a name has nothing to be ordered by.
        name = names.get(end) or ("" if is_blank_node(end) else end)
        return ((_NODE, folded(name), name) if name else None), None
    match value := comparable(end):
        case Number() as number:
            return number_key(number.key), None
        case Period(start, until):
            return (_DATE, _near(start), start, until), None
        case (Duration() as duration) | Text(duration=Duration() as duration):
            # Who is before another one in their order has the smaller sum.
            total = sum(duration.seconds, Fraction())
            return (_DURATION, _near(total), total, duration.seconds), "duration" if isinstance(value, Text) else None
        case Text(text):
            read = number_in(text)
            shown = text if end.datatype == _BOOLEAN else end.value
            return ((_TEXT, text, shown), None) if read is None else (number_key(read.key), "number")
        case None:
            return None, None


def number_key(exact: Fraction | float) -> Key:
    """Return what orders a number among all values."""
    return (_NUMBER, _near(exact), exact)


def _near(exact: Fraction | float) -> float:
    try:
        return float(exact)
    except OverflowError:
        return inf if exact > 0 else -inf


def value_of(key: Key) -> Hashable:
    """Return what keys have in common that are those of equal values: texts by their folded form."""
    return key[:2] if key[0] == _TEXT else key


def durations_without_order(keys: Iterable[Key]) -> int:
    """Return how many durations have no order with a shorter one."""
    count, longest = 0, tuple[Fraction, ...]()
    for seconds in map(_seconds, sorted({key for key in keys if key[0] == _DURATION})):
        count += any(before >= one for before, one in zip(longest, seconds, strict=False))
        longest = tuple(map(max, longest, seconds)) or seconds
    return count


def is_extreme(key: Key, keys: Iterable[Key]) -> bool:
    """Return whether a key has an order with all others of its kind: durations may have none."""
    duration = Duration(_seconds(key))
    return key[0] != _DURATION or all(
        duration.has_order_with(Duration(_seconds(other))) for other in keys if other[0] == _DURATION
    )


def _seconds(key: Key) -> tuple[Fraction, ...]:
    seconds = key[-1]
    return seconds if isinstance(seconds, tuple) else ()


def place_of(iri: Iri) -> tuple[bool, Iri]:
    """Return what orders nodes with the same value."""
    return (is_blank_node(iri), iri)


def in_one_language(ends: Iterable[End], languages: Sequence[str], only: str = "") -> list[End]:
    """Return ends without texts that say the same as others in a better language; with `only`, in no other."""
    found = [end for end in ends if not isinstance(end, Literal) or is_in(end, only)]
    literals = [end for end in found if isinstance(end, Literal)]
    if not are_translations(literals):
        return found
    shown = frozenset(shown_texts(literals, languages))
    return [end for end in found if not isinstance(end, Literal) or end in shown]


def in_order(
    nodes: Sequence[Iri],
    order: Order,
    ends: Mapping[Iri, Ends],
    names: Mapping[Iri, str],
    unnamed: Mapping[Iri, Mark] = MappingProxyType({}),
    languages: Sequence[str] = (),
) -> Ordered:
    """Return nodes by the smallest end of a walk, or by the largest, descending.

    Texts that are not shown, because others say the same in a better language, have no part in it.

    Args:
        nodes: The nodes.
        order: The order.
        ends: Where its walk ends, by node; not needed for `NAMES`.
        names: The display names of nodes, and of ends that are nodes.
        unnamed: Those of them whose names could not be read, with the marks that say why.
        languages: The languages in which texts are shown, the best first.
    """
    if order.walk == NAMES:
        by_name = {node: (_TEXT, folded(names[node]), names[node]) for node in nodes if names.get(node)}
        return _under(_sorted(nodes, by_name, order), {node: unnamed[node] for node in nodes if node in unnamed})
    keys: dict[Iri, Key] = {}
    durations = set[Key]()
    read_as = Counter[ReadAs]()
    left_out = 0
    for node in nodes:
        places = [placed(end, names) for end in in_one_language(ends.get(node, _NO_ENDS).ends, languages)]
        found = [key for key, _ in places if key is not None]
        left_out += len(places) - len(found)
        read_as.update(one for _, one in places)
        durations.update(key for key in found if key[0] == _DURATION)
        if found:
            keys[node] = extreme(found, largest=order.descending)
    marks = {node: ends.get(node, _NO_ENDS).mark for node in nodes}
    for node in nodes if unnamed else ():
        if marks[node].whole:
            ends_of_node = ends.get(node, _NO_ENDS).ends
            marks[node] = next((unnamed[end] for end in ends_of_node if isinstance(end, str) and end in unnamed), WHOLE)
    ordered = _under(_sorted(nodes, keys, order), marks)
    by_average = durations_without_order(durations)
    return replace(
        ordered,
        read_as_numbers=read_as["number"],
        not_comparable=left_out,
        by_average=by_average,
        read_as_durations=read_as["duration"],
    )


def _under(ordered: Ordered, marks: Mapping[Iri, Mark]) -> Ordered:
    """Return nodes in order with those that may stand elsewhere."""
    unsure = tuple(node for node in ordered.nodes if not marks.get(node, WHOLE).whole)
    return replace(ordered, unsure=unsure, mark=marks[unsure[0]]) if unsure else ordered


def extreme(keys: Sequence[Key], *, largest: bool) -> Key:
    """Return the smallest of the keys of the first kind, or the largest."""
    if not largest:
        return min(keys)
    kind = min(key[0] for key in keys)
    return max(key for key in keys if key[0] == kind)


def _sorted(nodes: Sequence[Iri], keys: Mapping[Iri, Key], order: Order) -> Ordered:
    ordered = in_kinds(sorted(nodes, key=place_of), keys.get, descending=order.descending)
    return Ordered(tuple(ordered), {node: value_of(key) for node, key in keys.items()})


def in_kinds(items: Iterable[Item], key_of: Callable[[Item], Key | None], *, descending: bool) -> list[Item]:
    """Return items by their keys, those without one last; equal ones stay as they stood.

    Args:
        items: The items.
        key_of: Returns the key of one.
        descending: Whether the largest of each kind stand first. Kinds stand in one order whatever the direction.
    """
    pairs = [(key_of(item), item) for item in items]
    with_key = [(key, item) for key, item in pairs if key is not None]
    with_key.sort(key=itemgetter(0), reverse=descending)
    with_key.sort(key=lambda pair: pair[0][0])
    return [item for _, item in with_key] + [item for key, item in pairs if key is None]


# --- sentences that a model reads ---


def were(count: int) -> str:
    """Return the verb of so many."""
    return "was" if count == 1 else "were"


def texts_ordered(count: int, read_as: str) -> str:
    """Return a warning: some texts were ordered as numbers, or as durations."""
    return f"sort_by: {counted(count, 'text')} that read as a {read_as} {were(count)} ordered as one."


def durations_unordered(count: int) -> str:
    """Return a warning: some durations have no order."""
    stand = "stands" if count == 1 else "stand"
    return (
        f"sort_by: {counted(count, 'duration')} {stand} by average length, because a month and 30 days have no order: "
        "some months are shorter, some longer."
    )


def values_unordered(count: int) -> str:
    """Return a warning: some values have no place in an order."""
    return f"sort_by: {counted(count, 'value')} without a place in an order, such as NaN, left out."
