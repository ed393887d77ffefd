"""The text of a walk: `pv:price/pv:amount`, `^wdt:P27/^wdt:P26` (docs/values.md)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gateway.errors import GatewayError, InputError, counted, quoted
from gateway.graph.values import Iri
from gateway.graph.walks import LONGEST_WALK, Role, Step, Walk

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
        """Return the predicates that have a name, ID or label; `<IRI>` is an ID; none for an unknown name."""
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


class WalkReader:
    """Reads walks of one argument.

    Args:
        names: What names mean.
        argument: The argument that has the walks, for errors.
        union: Whether a name that fits several predicates means all of them; else it is an error.
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
        if whole is not None:
            return self._named([whole])
        steps = split_steps(text)
        if steps is None or not 1 <= len(steps) <= LONGEST_WALK:
            return None
        *inner, last = steps
        is_known = all(self._names.predicates(step.name) for step in inner)
        return self._named(steps) if is_known and (self._names.predicates(last.name) or _is_role(last, inner)) else None

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
            if len(predicates) > 1:
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
