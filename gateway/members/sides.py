"""The sides of a condition as they are written: walks, such as `pv:price/pv:amount`, and values (docs/values.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from typing import Literal as Literal_

from gateway.errors import GatewayError, InputError, counted, quoted
from gateway.graph.values import Iri
from gateway.graph.walks import LONGEST_WALK, Role, Step, Walk
from gateway.terms.comparable import Number, Period, Text, duration_in, folded, number_in, period_in, year_in

LONGEST_TEXT: Final = 1_000
"""Characters of a condition or a walk."""

WALK_FORM: Final = (
    f"A walk is one to {LONGEST_WALK} predicates with / between them, ^ before one that leads in: pv:price/pv:amount."
)
_STEP_FORM = "A predicate whose name holds a / is written in quotes, an ID that holds one as <IRI>."
_SHOWN = 8
"""Predicates that an error lists."""


class PredicateNames(Protocol):
    """What the names of predicates mean in one graph."""

    def predicates(self, name: str) -> Collection[Iri]:
        """Return the predicates that have a name, ID, label or alias; `<IRI>` is an ID; none for an unknown name."""
        ...

    def is_alias(self, name: str) -> bool:
        """Return whether a name is no more than an alias of its predicates, of which one alone may then be meant."""
        ...

    def is_id(self, name: str) -> bool:
        """Return whether a name is an ID: its predicates are then one, and it is not known which the graph has."""
        ...

    def unknown(self, name: str) -> GatewayError:
        """Return the error of a name that no predicate has, or may have."""
        ...

    def listed(self, predicates: Sequence[Iri], most: int) -> str:
        """Return the IDs of the first predicates for a sentence, and the number of the others."""
        ...


@dataclass(frozen=True, slots=True)
class NamedWalk:
    """A walk as it was named.

    Attributes:
        walk: The walk.
        ambiguous: Its names that fit several predicates, each with these.
    """

    walk: Walk
    ambiguous: tuple[tuple[str, tuple[Iri, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class StepText:
    """One step as it is written, and its name or ID."""

    name: str
    is_inverse: bool


_IN_LANGUAGE = re.compile(r"(.+)@([A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*)", re.DOTALL)
_OF_NODES = frozenset({"name", "label"})
"""What people call names that no predicate need be called."""


class WalkReader:
    """Reads walks of one argument.

    Args:
        names: What names mean.
        argument: The argument that has the walks, for errors.
        union: Whether a name that fits several predicates means all of them; else, and for an alias, an error.
    """

    def __init__(self, names: PredicateNames, argument: str, *, union: bool) -> None:
        self._names = names
        self._argument = argument
        self._union = union

    def walk(self, text: str) -> NamedWalk | None:
        """Return the walk that a text names; None if it names none, so that another reading of it may be tried.

        Raises:
            InputError: A name fits several predicates, and means no union.
        """
        whole = self._whole(text)
        if whole is not None and not self._names.is_alias(whole.name):
            return self._named([whole])
        steps = split_steps(text)
        if steps is None or not 1 <= len(steps) <= LONGEST_WALK:
            return None if whole is None else self._named([whole])
        *inner, last = steps
        is_known = all(self._names.predicates(step.name) for step in inner)
        is_walk = is_known and (self._names.predicates(last.name) or _is_role(last, inner))
        # A walk by names goes before an alias of the whole text, and that before a walk by aliases.
        if whole is not None and not (is_walk and not any(self._names.is_alias(step.name) for step in steps)):
            return self._named([whole])
        return self._named(steps) if is_walk else None

    def required(self, text: str) -> NamedWalk:
        """Return the walk that a text names.

        Raises:
            InputError: It names none, or a name fits several predicates and means no union.
        """
        named = self.walk(text)
        if named is None:
            raise self.unknown(text)
        return named

    def unknown(self, text: str) -> GatewayError:
        """Return the error of a text that names no walk."""
        start = f"{self._argument}: {quoted(text)}"
        if len(text) > LONGEST_TEXT:
            return InputError(f"{start} is longer than {LONGEST_TEXT:,} characters.", valid=WALK_FORM)
        steps = split_steps(text)
        if steps is None:
            return InputError(f"{start} has a step without a name.", valid=WALK_FORM, next_step=_STEP_FORM)
        if len(steps) > LONGEST_WALK:
            return InputError(f"{start} has {counted(len(steps), 'step')}.", valid=WALK_FORM, next_step=_STEP_FORM)
        tagged = _IN_LANGUAGE.fullmatch(steps[-1].name)
        if tagged is not None and (tagged[1] in _OF_NODES or self._names.predicates(tagged[1])):
            return in_language(self._argument, quoted(text), text.strip().removesuffix(f"@{tagged[2]}"), tagged[2])
        for place, step in enumerate(steps):
            if not self._names.predicates(step.name) and not (step is steps[-1] and _is_role(step, steps[:place])):
                return self._names.unknown(step.name)
        return InputError(f"{start} is no walk.", valid=WALK_FORM, next_step=_STEP_FORM)

    def _whole(self, text: str) -> StepText | None:
        """Return the step of a text that as a whole names a predicate, whatever it holds."""
        if len(text) > LONGEST_TEXT:
            return None
        stripped = text.strip()
        if self._names.predicates(stripped):
            return StepText(stripped, is_inverse=False)
        rest = stripped.removeprefix("^").strip()
        if rest != stripped and rest and self._names.predicates(rest):
            return StepText(rest, is_inverse=True)
        return None

    def _named(self, steps: Sequence[StepText]) -> NamedWalk:
        walk, ambiguous = [], []
        for place, step in enumerate(steps):
            predicates = tuple(sorted(self._names.predicates(step.name)))
            if not predicates and _is_role(step, steps[:place]):
                walk.append(Step(_ROLES[step.name]))
                continue
            if len(predicates) > 1 and self._names.is_alias(step.name):
                raise self._several(step.name, predicates)
            if len(predicates) > 1 and not self._names.is_id(step.name):
                ambiguous.append((step.name, predicates))
            walk.append(Step(predicates, step.is_inverse))
        if ambiguous and not self._union:
            raise self._several(*ambiguous[0])
        return NamedWalk(tuple(walk), tuple(ambiguous))

    def _several(self, name: str, predicates: Sequence[Iri]) -> InputError:
        return InputError(
            f"{self._argument}: {quoted(name)} fits {counted(len(predicates), 'predicate')}.",
            valid=f"Write the ID of one: {self._names.listed(predicates, _SHOWN)}.",
        )


_ROLES: Final[Mapping[str, Role]] = {"name": "name", "type": "type"}
"""Words that end a walk: at the names of a node, or at its types."""


def _is_role(step: StepText, before: Sequence[StepText]) -> bool:
    """Return whether a step that names no predicate is a word that ends a walk of several steps."""
    return bool(before) and not step.is_inverse and step.name in _ROLES


def split_steps(text: str) -> list[StepText] | None:
    """Return the steps of a text; None if one has no name, or a quote or a `<` is not closed."""
    if len(text) > LONGEST_TEXT:
        return None
    steps: list[StepText] = []
    place = 0
    while True:
        end = _end_of_step(text, place)
        step = None if end is None else _step(text[place:end].strip())
        if end is None or step is None:
            return None
        steps.append(step)
        if end >= len(text):
            return steps
        place = end + 1


def _end_of_step(text: str, start: int) -> int | None:
    """Return where a step ends: at the next `/` that is not in `<...>` or in quotes; None if those are not closed."""
    place = start
    while place < len(text) and (text[place].isspace() or text[place] == "^"):
        place += 1
    closing = {"<": ">", '"': '"'}.get(text[place : place + 1])
    if closing is not None:
        place = text.find(closing, place + 1)
        if place < 0:
            return None
    end = text.find("/", place)
    return len(text) if end < 0 else end


def _step(text: str) -> StepText | None:
    name = text.removeprefix("^").strip()
    if name.startswith('"'):
        if not name.endswith('"') or name.count('"') != len('""'):
            return None
        name = name[1:-1].strip()
    return StepText(name, is_inverse=text.startswith("^")) if name.strip("^") else None


MOST_MEMBERS: Final = 200
"""Members of an operator `in`."""

DATE_FORMS: Final = "A date is written 1990, 1990-05, 1990-05-01 or 1990-05-01T12:30:00Z."
QUOTES: Final = 'What is in quotes is a text: "1990-05".'

_INFINITIES: dict[str, Literal_["INF", "-INF"]] = {"INF": "INF", "+INF": "INF", "-INF": "-INF"}
_LIKE_A_DATE = re.compile(r"-?[0-9]{4,}-[0-9]{1,2}(?:-[0-9]{1,2}(?:[T ][0-9:.]*)?)?(?:Z|[+-][0-9:]*)?")
_LIKE_A_NUMBER = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
_UNQUOTED = re.compile(r"\\([\"'\\])")
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_QUOTES = "\"'"


@dataclass(frozen=True, slots=True)
class ValueText:
    """A value as it is written.

    Attributes:
        text: The text, without quotes.
        is_quoted: Whether it was written in quotes, so that it is no number and no date.
    """

    text: str
    is_quoted: bool = False


def read_value(text: str) -> ValueText:
    """Return the value that a text is.

    Raises:
        InputError: A quote is not closed, or something stands behind it.
    """
    end = closing_quote(text, 0)
    if end is None:
        if text.startswith('"'):
            raise InputError(
                f"where: the quote of {quoted(text)} is not closed.", next_step=r"Write \" for a quote in it."
            )
        return ValueText(text)
    if text[end + 1 :].strip():
        if text.startswith("'"):
            return ValueText(text)
        raise InputError(
            f"where: something stands behind the closing quote in {quoted(text)}.",
            valid='A text is written "like this", several as members of in: in "one", "two".',
        )
    return ValueText(_UNQUOTED.sub(r"\1", text[1:end]), is_quoted=True)


def read_members(text: str) -> tuple[ValueText, ...]:
    """Return the members of an operator `in`.

    Raises:
        InputError: One is empty or not closed, or there are too many.
    """
    if _IN_BRACKETS.fullmatch(text):
        text = text[1:-1]
    parts = _parts(text)
    if not all(parts):
        raise InputError(
            f"where: a member of {quoted(text)} is empty.",
            valid='Members are written with commas between, in quotes where they hold one: in red, "dark, blue".',
        )
    if len(parts) > MOST_MEMBERS:
        raise InputError(
            f"where: in has {len(parts):,} members.",
            valid=f"It takes {MOST_MEMBERS} at most.",
            next_step="Ask for the others in a call of their own.",
        )
    return tuple(map(read_value, parts))


def _parts(text: str) -> list[str]:
    """Return what stands between the commas that are not in quotes, without blanks around it."""
    parts, start, place = [], 0, 0
    while place < len(text):
        if text[place] in _QUOTES and not text[start:place].strip():
            place = closing_quote(text, place) or place
        elif text[place] == ",":
            parts.append(text[start:place].strip())
            start = place + 1
        place += 1
    return [*parts, text[start:].strip()]


def closing_quote(text: str, opening: int) -> int | None:
    """Return where the quote is closed that is opened at a place; None if there is none, or it is not closed."""
    quote = text[opening : opening + 1]
    if not quote or quote not in _QUOTES:
        return None
    place = opening + 1
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] == quote:
            return place
        place += 1
    return None


def literal_value(value: ValueText) -> Number | Period | Text:
    """Return what a value is where it is no node: a number, a date, or a text, which may be a duration too.

    Raises:
        InputError: It looks like a number or a date and is none; in quotes it is a text.
    """
    text = value.text.strip()
    if value.is_quoted:
        return Text(folded(value.text))
    if text in _INFINITIES:
        return Number(_INFINITIES[text])
    number = number_in(text)
    if number is not None:
        return Number(number.value, year_in(text))
    period = period_in(text)
    if period is not None:
        return period
    if _LIKE_A_DATE.fullmatch(text):
        raise InputError(f"where: {quoted(text)} is no date.", valid=DATE_FORMS, next_step=QUOTES)
    if _LIKE_A_NUMBER.fullmatch(text) and any(map(str.isdigit, text)) and text.count(".") <= 1:
        raise InputError(f"where: the number {quoted(text)} is too long to be compared.", next_step=QUOTES)
    return Text(folded(value.text), duration_in(text))


def kind_of(value: Number | Period | Text) -> str:
    """Return the word for what a value was taken for."""
    match value:
        case Number():
            return "number"
        case Period():
            return "date"
        case Text(duration=None):
            return "text"
        case Text():
            return "duration or text"


def in_language(argument: str, text: str, walk: str, language: str) -> InputError:
    """Return the error of a walk with a language behind it."""
    return InputError(
        f"{argument}: {text} has a language behind it, and a walk has none.",
        valid=f"Write {quoted(walk)}, and the argument language: {quoted(language)}.",
        next_step="Names, and of translations the texts, are then those in that language.",
    )
