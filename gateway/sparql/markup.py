"""The markup of query templates.

A slot ``?_name`` takes one rendered parameter. The lines between ``#each name`` and ``#end`` are repeated for each
element of a parameter, or left out where it is empty; inside, the slot ``?_name`` is the element. With
``#each name joined UNION`` that word stands between the repetitions. The lines between ``#if name`` and ``#end`` are
written once where that parameter has elements, those between ``#unless name`` and ``#end`` where it has none. Blocks
may stand inside blocks. A line ``#visible`` with the three terms of a triple pattern, or a slot that is all of
them, stands in the pattern's own group;
under a policy it becomes the conditions under which the triple is visible, and nothing otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Literal

_SLOT = re.compile(r"\?_([a-z_]+)")
_BLOCK = re.compile(
    r"[ \t]*#(?:each (?P<each>[a-z_]+)(?: joined (?P<joint>[A-Z]+))?|if (?P<if>[a-z_]+)|unless (?P<unless>[a-z_]+))"
)
_END = re.compile(r"[ \t]*#end")
_VISIBLE = re.compile(r"(?P<indent>[ \t]*)#visible (?P<terms>\S+ \S+ \S+|\?_[a-z_]+)")


class MarkupError(Exception):
    """The blocks of a template do not fit together."""


Condition = Literal["each", "if", "unless"]


TriplePattern = tuple[str, str, str]
"""Its terms, as SPARQL."""


@dataclass(frozen=True, slots=True)
class Visible:
    """The place of the conditions under which a policy leaves a triple.

    Attributes:
        terms: The terms of the triple pattern; slots among them.
        indent: What stands before each line.
    """

    terms: str
    indent: str

    def written(self, slots: Mapping[str, str], conditions: Callable[[TriplePattern], str]) -> str:
        """Return the conditions for the terms that slots give."""
        subject, predicate, value = _SLOT.sub(lambda match: slots[match[1]], self.terms).split(" ")
        return indent(conditions((subject, predicate, value)), self.indent)


@dataclass(frozen=True, slots=True)
class Block:
    """A part that depends on the elements of a parameter.

    Attributes:
        condition: Whether it is repeated for each element, or written once if there are any, or if there are none.
        name: The parameter.
        joint: What stands between the repetitions.
        parts: Its text, and the blocks inside it.
    """

    condition: Condition
    name: str
    joint: str
    parts: Sequence[Part]


Part = str | Visible | Block


def read(body: str) -> Sequence[Part]:
    """Read a template's body; a block without an end, or an end without a block, is a `MarkupError`."""
    lines = iter(body.splitlines(keepends=True))
    parts, ended = _read_parts(lines)
    if ended:
        raise MarkupError("#end without #each, #if or #unless")
    return parts


def _read_parts(lines: Iterator[str]) -> tuple[Sequence[Part], bool]:
    parts: list[Part] = []
    text = ""
    for line in lines:
        block, visible, end = (one.fullmatch(line.rstrip("\n")) for one in (_BLOCK, _VISIBLE, _END))
        if block is None and visible is None and end is None:
            text += line
            continue
        if text:
            parts.append(text)
            text = ""
        if end is not None:
            return parts, True
        if visible is not None:
            parts.append(Visible(visible["terms"], visible["indent"]))
        if block is not None:
            inner, ended = _read_parts(lines)
            if not ended:
                raise MarkupError(f"{block[0].strip()} without #end")
            parts.append(_block(block, inner))
    return [*parts, text] if text else parts, False


def _block(match: re.Match[str], inner: Sequence[Part]) -> Block:
    conditions: tuple[Condition, ...] = ("each", "if", "unless")
    condition = next(one for one in conditions if match[one])
    return Block(condition, match[condition], f"{match['joint']}\n" if match["joint"] else "", inner)


def slots_of(parts: Sequence[Part]) -> Iterator[str]:
    """Yield the name of every slot."""
    for part in parts:
        match part:
            case Block():
                yield from slots_of(part.parts)
            case Visible():
                yield from _SLOT.findall(part.terms)
            case _:
                yield from _SLOT.findall(part)


def has_visible(parts: Sequence[Part]) -> bool:
    """Return whether there is a place for the conditions of a policy."""
    return any(isinstance(part, Visible) or (isinstance(part, Block) and has_visible(part.parts)) for part in parts)


def blocks_of(parts: Sequence[Part]) -> Iterator[Block]:
    """Yield every block, those inside others too."""
    for part in parts:
        if isinstance(part, Block):
            yield part
            yield from blocks_of(part.parts)


def write(
    parts: Sequence[Part],
    slots: Mapping[str, str],
    elements: Callable[[str], Sequence[str]],
    conditions: Callable[[TriplePattern], str] | None = None,
) -> Iterator[str]:
    """Write a body in pieces; what was written for a slot is never read as a slot again.

    Args:
        parts: The body.
        slots: What stands in each slot.
        elements: Returns those of a repeated parameter.
        conditions: Returns the conditions under which a policy leaves a triple; None without a policy.
    """
    for part in parts:
        if isinstance(part, str):
            yield _SLOT.sub(lambda match: slots[match[1]], part)
            continue
        if isinstance(part, Visible):
            yield "" if conditions is None else part.written(slots, conditions)
            continue
        given = elements(part.name)
        if part.condition != "each":
            if bool(given) == (part.condition == "if"):
                yield from write(part.parts, slots, elements, conditions)
            continue
        for number, element in enumerate(given):
            if number:
                yield part.joint
            yield from write(part.parts, {**slots, part.name: element}, elements, conditions)
