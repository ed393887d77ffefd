"""The ID of a blank node without a key: a walk that leads to it from a node with an IRI, and a digest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from gateway.errors import InputError
from gateway.graph.values import Iri
from gateway.sparql.blank.keys import KEY, WALK_STEP
from gateway.terms.iri import BLANK_NODE, MAX_IRI
from gateway.terms.prefixes import PrefixMap

_INVERSE: Final = "-"
"""Before a predicate against whose direction a walk goes: it begins no prefix and no scheme."""

_DIGEST: Final = "~"

_PARTS = re.compile(
    rf"[^{WALK_STEP}{_DIGEST}]+(?:{WALK_STEP}[^{WALK_STEP}{_DIGEST}]+)+{_DIGEST}[a-z2-7]+(?:\.[0-9]+-[0-9]+)?"
)

Step = tuple[Iri, bool]
"""A predicate, and whether the walk goes against its direction."""


@dataclass(frozen=True, slots=True, order=True)
class AnchoredWalk:
    """A walk from a node with an IRI over blank nodes to one.

    Attributes:
        anchor: Where it begins.
        steps: The predicates that it follows.
    """

    anchor: Iri
    steps: tuple[Step, ...]

    @property
    def directions(self) -> str:
        """The direction of each step, as templates have it."""
        return directions_of(self.steps)


def directions_of(steps: tuple[Step, ...]) -> str:
    """Return the direction of each step, as templates have it."""
    return "".join("-" if is_inverse else "+" for _, is_inverse in steps)


def is_walk_key(key: Iri) -> bool:
    """Return whether an IRI stands for what the ID of a blank node says that has no key."""
    return key.startswith(KEY) and _PARTS.fullmatch(key, len(KEY)) is not None


def id_of(key: Iri) -> Iri:
    """Return the ID of a blank node, as it crosses the port, from what stands for it here."""
    return BLANK_NODE + key[len(KEY) :]


def key_of(walk: AnchoredWalk, digest: str, prefixes: PrefixMap) -> Iri:
    """Return what stands for a blank node in this package; empty where its ID would be too long to be sent back."""
    steps = (f"{_INVERSE if is_inverse else ''}{_quoted(predicate, prefixes)}" for predicate, is_inverse in walk.steps)
    text = f"{WALK_STEP.join([_quoted(walk.anchor, prefixes), *steps])}{_DIGEST}{digest}"
    return KEY + text if len(BLANK_NODE) + len(text) <= MAX_IRI else ""


def walk_of(key: Iri, prefixes: PrefixMap) -> AnchoredWalk | None:
    """Return the walk that an ID says; None where it says none."""
    if not is_walk_key(key):
        return None
    walk, _, digest = key[len(KEY) :].partition(_DIGEST)
    anchor, *steps = walk.split(WALK_STEP)
    try:
        read = AnchoredWalk(
            prefixes.expand(unquote(anchor)),
            tuple((prefixes.expand(unquote(one.removeprefix(_INVERSE))), one.startswith(_INVERSE)) for one in steps),
        )
    except InputError:
        return None
    return read if key_of(read, digest, prefixes) == key else None


def without_number(key: Iri) -> Iri:
    """Return what stands for a blank node, without the number that it has among equal ones."""
    walk, sign, digest = key.rpartition(_DIGEST)
    return walk + sign + digest.partition(".")[0]


def _quoted(iri: Iri, prefixes: PrefixMap) -> str:
    return re.sub("[%!~]", lambda found: f"%{ord(found[0]):02X}", prefixes.declared_form(iri))
