"""Conditions as they are written: `WALK OPERATOR VALUE` (docs/values.md).

A text is read in two steps, because the names of entities are looked up in between: `read_condition` tells the sides
apart, and `resolved` puts in what the entities are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, get_args
from typing import Literal as Literal_

from gateway import messages
from gateway.errors import GatewayError, InputError, counted, quoted
from gateway.graph.values import Iri
from gateway.graph.walks import (
    ANY_LITERAL,
    NAMES,
    TYPES,
    Alternatives,
    Condition,
    Nodes,
    Operand,
    Operator,
    OtherWalk,
    Walk,
)
from gateway.members.sides import (
    LONGEST_TEXT,
    NamedWalk,
    ValueText,
    WalkReader,
    closing_quote,
    kind_of,
    literal_value,
    read_members,
    read_value,
)
from gateway.terms.comparable import Number, Period, Text, folded
from gateway.terms.names import cut

MOST_CONDITIONS: Final = 20
_MOST_READINGS = 10
"""Places of one condition at which its operator is looked for: each may need a look-up of names."""

RESERVED: Final[Mapping[str, Walk]] = {"name": NAMES, "type": TYPES, "any": ANY_LITERAL}
"""Words that stand for a walk in conditions."""

_OPERATORS: Final[Mapping[str, Operator]] = {operator: operator for operator in get_args(Operator)}
_WITHOUT_VALUE: frozenset[Operator] = frozenset({"exists", "missing"})
_OF_TEXTS: frozenset[Operator] = frozenset({"contains", "starts"})
_OF_ORDER: frozenset[Operator] = frozenset({"<", "<=", ">", ">="})
_EQUALITY: frozenset[Operator] = frozenset({"=", "!=", "in"})

CONDITION_FORM: Final = (
    f"A condition is WALK OPERATOR VALUE with blanks around the operator, one of {', '.join(_OPERATORS)}: "
    '"pv:weight_g < 50", "name starts U", "pv:manager missing".'
)
_IN_QUOTES = "Write a name that holds an operator in quotes, and a text that holds one too."

_SHOWN_NODES = 3
_LONGEST_WRITTEN = 300
_WORD = re.compile(r"\S+")

EndKind = Literal_["nodes", "literals", "both", "literals and IDs"]
"""Where a walk ends. With the last, as far as is known at literals: lists with nodes may not have been looked at, and
only IDs mean nodes."""


@dataclass(frozen=True, slots=True)
class ConditionText:
    """A condition whose sides are told apart.

    Attributes:
        left: The left side, as it is written.
        walk: The walk that it names.
        operator: The operator.
        values: The values on the right; none for `exists`, `missing`, and another walk.
        other: The walk on the right, as it is written behind `@`; empty if there is none.
        other_walk: The walk that it names; None if there is none.
        ambiguous: Names in its walks that fit several predicates, each with these.
        hides_predicate: Whether the left side is a reserved word and the name of a predicate too.
    """

    left: str
    walk: Walk
    operator: Operator
    values: tuple[ValueText, ...] = ()
    other: str = ""
    other_walk: Walk | None = None
    ambiguous: tuple[tuple[str, tuple[Iri, ...]], ...] = ()
    hides_predicate: bool = False

    @property
    def entity_names(self) -> tuple[str, ...]:
        """The values that are IDs or names of entities, or of types, if the walk ends at nodes."""
        return tuple(value.text for value in self.values) if self.operator in _EQUALITY else ()


def read_conditions(texts: Sequence[str], walks: WalkReader) -> list[ConditionText]:
    """Return the conditions of an argument.

    Raises:
        InputError: There are too many, or some are wrong; the text says all that is wrong.
    """
    if len(texts) > MOST_CONDITIONS:
        raise InputError(f"where has {counted(len(texts), 'condition')}.", valid=f"It takes {MOST_CONDITIONS} at most.")
    found: list[ConditionText] = []
    wrong: list[InputError] = []
    for text in texts:
        try:
            found.append(read_condition(text, walks))
        except InputError as error:
            wrong.append(error)
    if wrong:
        raise messages.all_wrong(wrong)
    return found


def read_condition(text: str, walks: WalkReader) -> ConditionText:
    """Return a condition whose sides are told apart.

    Raises:
        InputError: It has no operator whose left side is a walk, or two; or its right side is none.
    """
    if len(text) > LONGEST_TEXT:
        raise InputError(
            f"where: a condition has {len(text):,} characters.",
            valid=f"It may have {LONGEST_TEXT:,}.",
            next_step="Shorten its text, or write an in with many members as several calls.",
        )
    candidates = list(_candidates(text))
    if not candidates:
        raise InputError(f"where: {quoted(text)} has no operator.", valid=CONDITION_FORM)
    if len(candidates) > _MOST_READINGS:
        raise InputError(f"where: {quoted(text)} has {len(candidates)} operators.", next_step=_IN_QUOTES)
    found = [(each, named) for each in candidates if (named := _walk_of(each.left, walks)) is not None]
    if not found:
        raise _unresolved(text, candidates, walks)
    if len(found) > 1:
        shown = " or ".join(quoted(each.as_read) for each, _ in found)
        raise InputError(f"where: {quoted(text)} can be read as {shown}.", next_step=_IN_QUOTES)
    ((candidate, named),) = found
    return _with_right_side(candidate, named, walks)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One way of telling the sides of a condition apart."""

    left: str
    operator: Operator
    right: str

    @property
    def as_read(self) -> str:
        return f"[{self.left}] {self.operator} [{self.right}]" if self.right else f"[{self.left}] {self.operator}"


def _candidates(text: str) -> Iterator[_Candidate]:
    """Yield the ways in which a text has an operator between two sides, outside of quotes."""
    place = 0
    while (word := _WORD.search(text, place)) is not None:
        place = word.end()
        operator = _OPERATORS.get(word[0].lower())
        if operator is None:
            place = max(place, _end_of_quotes(text, word.start()))
            continue
        left, right = text[: word.start()].strip(), text[word.end() :].strip()
        if left and (not right or operator not in _WITHOUT_VALUE):
            yield _Candidate(left, operator, right)


def _end_of_quotes(text: str, start: int) -> int:
    """Return where what begins with a quote ends; the start, if it does not, or is not closed."""
    opening = start
    while text[opening : opening + 1] in {"^", "/"}:
        opening += 1
    closing = closing_quote(text, opening)
    return start if closing is None else closing + 1


def _walk_of(text: str, walks: WalkReader) -> NamedWalk | None:
    return NamedWalk(RESERVED[text]) if text in RESERVED else walks.walk(text)


def _unresolved(text: str, candidates: Sequence[_Candidate], walks: WalkReader) -> GatewayError:
    error = walks.unknown(candidates[0].left)
    if len(candidates) == 1:
        return error
    lefts = ", ".join(quoted(each.left) for each in candidates[:_SHOWN_NODES])
    return InputError(
        f"where: {quoted(text)} has {len(candidates)} operators, and what stands before none of them is a walk ({lefts}"
        f"{', …' if len(candidates) > _SHOWN_NODES else ''}). {error.wrong}",
        valid=error.valid,
        next_step=error.next_step or _IN_QUOTES,
    )


def _with_right_side(candidate: _Candidate, named: NamedWalk, walks: WalkReader) -> ConditionText:
    left, operator, right = candidate.left, candidate.operator, candidate.right
    _check_type(named.walk, operator)
    hides = left in RESERVED and walks.walk(left) is not None
    alone = ConditionText(left, named.walk, operator, ambiguous=named.ambiguous, hides_predicate=hides)
    if operator in _WITHOUT_VALUE:
        return alone
    if not right:
        raise InputError(f"where: nothing stands behind {quoted(f'{left} {operator}')}.", valid=CONDITION_FORM)
    if right.startswith("@"):
        return _with_other_walk(alone, right.removeprefix("@").strip(), walks)
    values = read_members(right) if operator == "in" else (read_value(right),)
    if operator in _OF_TEXTS and not values[0].text.strip():
        raise InputError(
            f"where: {operator} has an empty text.", valid=f"Whether there is a value: {quoted(f'{left} exists')}."
        )
    return replace(alone, values=values)


def _check_type(walk: Walk, operator: Operator) -> None:
    if walk == TYPES and operator in _OF_TEXTS | _OF_ORDER:
        raise _no_text(operator, "type is compared with types")


def _no_text(operator: Operator, why: str) -> InputError:
    return InputError(
        f"where: {why}, which {operator} does not compare.",
        valid="There it is =, !=, in, exists or missing.",
        next_step="To compare names, add their predicate to the walk, as in pv:city/rdfs:label contains Tou.",
    )


def _with_other_walk(alone: ConditionText, text: str, walks: WalkReader) -> ConditionText:
    operator = alone.operator
    if operator in _OF_TEXTS or operator == "in":
        raise InputError(
            f"where: {operator} compares with no other property.",
            valid="@ stands behind =, !=, <, <=, > and >=.",
            next_step='A text that begins with @ is written in quotes: "@home".',
        )
    named = _walk_of(text, walks)
    if named is None:
        raise walks.unknown(text)
    return replace(alone, other=text, other_walk=named.walk, ambiguous=alone.ambiguous + named.ambiguous)


def resolved(read: ConditionText, ends: EndKind, entities: Mapping[str, frozenset[Iri]]) -> Condition:
    """Return a condition with what its values mean.

    Args:
        read: The condition.
        ends: Where its walk ends; of `type`, `name` and `any` it is known.
        entities: The entities, or the types, that have a name or ID of `entity_names`, where such are meant.

    Raises:
        InputError: A value means no entity, and the walk ends at nodes; or it cannot be compared so.
    """
    if read.operator in _WITHOUT_VALUE:
        return Condition(read.walk, read.operator)
    if read.other_walk is not None:
        return Condition(read.walk, read.operator, OtherWalk(read.other_walk))
    kind = _kind_of_ends(read.walk, ends)
    if kind == "nodes" and read.operator not in _EQUALITY:
        raise _no_text(read.operator, f"{quoted(read.left)} ends at nodes")
    if read.operator in _OF_TEXTS:
        return Condition(read.walk, read.operator, Text(folded(read.values[0].text)))
    if read.operator in _OF_ORDER:
        return Condition(read.walk, read.operator, _literal(read, read.values[0]))
    members = tuple(member for value in read.values for member in _members(read, value, kind, entities))
    operand: Operand = members[0] if len(members) == 1 and read.operator != "in" else Alternatives(members)
    return Condition(read.walk, read.operator, operand)


def _kind_of_ends(walk: Walk, ends: EndKind) -> EndKind:
    if walk == TYPES:
        return "nodes"
    return "literals" if walk in {NAMES, ANY_LITERAL} else ends


def _members(
    read: ConditionText, value: ValueText, kind: EndKind, entities: Mapping[str, frozenset[Iri]]
) -> Iterator[Number | Period | Text | Nodes]:
    iris = entities.get(value.text, frozenset()) if kind != "literals" else frozenset()
    if iris:
        yield Nodes(iris)
    if kind != "nodes":
        # What is a name besides may look like a date that there is not: the season 2019-20.
        yield _literal(read, ValueText(value.text, is_quoted=True) if iris and not _is_literal(value) else value)
    elif not iris:
        noun = "type" if read.walk == TYPES else "entity"
        raise InputError(
            f"where: {quoted(value.text)} is no {noun} of this graph, and {quoted(read.left)} ends at nodes.",
            valid="Its value is an ID or a name.",
            next_step="Call describe_schema for the types."
            if noun == "type"
            else "Call search_entities to find its ID.",
        )


def _is_literal(value: ValueText) -> bool:
    try:
        literal_value(value)
    except InputError:
        return False
    return True


def _literal(read: ConditionText, value: ValueText) -> Number | Period | Text:
    # A name that reads as a number is a name: 1984 is not 1984.0.
    return Text(folded(value.text)) if read.walk == NAMES else literal_value(value)


def written(read: ConditionText, condition: Condition, shown: Callable[[Iri], str]) -> str:
    """Return what a condition was taken for, as answers say it.

    Args:
        read: The condition as it was read.
        condition: What it means.
        shown: Returns the ID and the name of a node.
    """
    start = f"{read.left} {read.operator}"
    match condition.operand:
        case None:
            return cut(start, _LONGEST_WRITTEN)
        case OtherWalk():
            return cut(f"{start} @{read.other} (property)", _LONGEST_WRITTEN)
        case _:
            said = ", ".join(_said(read, condition, shown))
            return cut(f"{start} {said}", _LONGEST_WRITTEN)


def _said(read: ConditionText, condition: Condition, shown: Callable[[Iri], str]) -> Iterator[str]:
    operand = condition.operand
    members = operand.members if isinstance(operand, Alternatives) else (operand,)
    texts = iter(read.values)
    previous_was_node = False
    text = ""
    for member in members:
        # A text that is read as nodes and as a text has both readings, one behind the other.
        if not (previous_was_node and not isinstance(member, Nodes)):
            text = next(texts).text
        previous_was_node = isinstance(member, Nodes)
        match member:
            case Nodes(iris):
                yield _listed(iris, shown)
            case Number() | Period() | Text():
                yield f"{text} ({kind_of(member)})"


def _listed(iris: frozenset[Iri], shown: Callable[[Iri], str]) -> str:
    first = " or ".join(map(shown, sorted(iris)[:_SHOWN_NODES]))
    more = len(iris) - _SHOWN_NODES
    return f"{first} or {more:,} more" if more > 0 else first
