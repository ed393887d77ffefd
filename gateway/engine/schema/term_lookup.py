"""What the names in filters mean: types and their subclasses, predicates (docs/contract.md, "Names of filters")."""

from __future__ import annotations

import difflib
import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gateway.engine import messages
from gateway.engine.traversal.computed_once import computed_once
from gateway.errors import InputError, quoted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, Term
from gateway.settings.profile import Profile
from gateway.terms.folding import fold
from gateway.terms.iri import is_iri, local_name
from gateway.terms.prefixes import PrefixMap, in_prose

_NOTHING: Mapping[Iri, str] = {}
_SHOWN = 8
"""Terms that one message lists."""

_COMPARED = 1_000
_NAME_LENGTH = 100
"""Known names, and characters of each and of an unknown one, that are compared for the nearest: other calls wait."""

_WARNED = 5
"""Warnings about one argument; a further one counts the other names."""

HINTED = 3
"""Unknown names for which a message has the nearest listed ones; finding these takes some milliseconds each."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The types or predicates that a filter names.

    Attributes:
        iris: The types or predicates that match.
        warnings: Names that match nothing, or several terms.
        whole: Whether the names can mean nothing else; if not all terms are known, only an ID is that definite.
    """

    iris: frozenset[str]
    warnings: tuple[str, ...] = ()
    whole: bool = True


_Names = tuple[Mapping[str, set[str]], Mapping[str, str]]
"""The terms that have a name, and how it is spelled, by its folded form."""


class TermLookup:
    """The types or the predicates of a graph, by every name that a caller may use."""

    def __init__(
        self,
        kind: Literal["type", "predicate"],
        terms: Sequence[Term],
        prefixes: PrefixMap,
        *,
        comprehensive: bool,
        words: Sequence[str] = (),
    ) -> None:
        """Look up terms; `words` are names that are no IRIs, such as `untyped`."""
        self._kind = kind
        self._prefixes = prefixes
        self._comprehensive = comprehensive
        self._words = words
        self._terms = terms
        self._listed = dict.fromkeys((*words, *(term.iri for term in terms)))

    def __len__(self) -> int:
        """Return how many terms and words there are."""
        return len(self._listed)

    @property
    def is_indexed(self) -> bool:
        """Whether its names have been computed."""
        return "names" in vars(self)

    @computed_once
    def names(self) -> _Names:
        """The terms by their names; of many it takes long to compute, in whatever thread."""
        by_name: dict[str, set[str]] = defaultdict(set)
        spelled: dict[str, str] = {}

        def index(name: str, iri: str) -> None:
            folded = fold(name)
            by_name[folded].add(iri)
            spelled.setdefault(folded, name)

        for word in self._words:
            index(word, word)
        for term in self._terms:
            index(self._prefixes.declared_form(term.iri), term.iri)
            index(term.iri, term.iri)
            index(local_name(term.iri), term.iri)
            if term.label:
                index(term.label, term.iri)
        return by_name, spelled

    def choose(self, argument: str, names: Sequence[str], seen: Mapping[Iri, str] = _NOTHING) -> Chosen:
        """Return the terms that the names of a filter mean; `seen` are terms of an answer, with their labels.

        Raises:
            InputError: A name matches nothing and the schema is comprehensive; the text names the nearest.
        """
        iris: set[str] = set()
        warnings: list[str] = []
        further = {iri: label for iri, label in seen.items() if label or iri not in self._listed}
        whole = True
        for name in names:
            found = self._find(name, further)
            whole = whole and bool(found) and (self._comprehensive or self._as_iri(name) in found)
            if not found:
                warnings.append(self._unknown(argument, name, hinted=len(warnings) < HINTED))
            elif len(found) > 1:
                meant = self._prefixes.listed(found, _SHOWN)
                warnings.append(messages.several_meant(argument, quoted(name), self._kind, meant))
            iris |= found
        return Chosen(frozenset(iris), tuple(first_warnings(argument, warnings)), whole)

    def required(self, argument: str, name: str, *, hinted: bool) -> tuple[frozenset[str], str]:
        """Return the terms that one name means, and a warning, or an empty text; an IRI is meant as given.

        Args:
            argument: The argument that has the name.
            name: The name.
            hinted: Whether a warning has the nearest listed names.

        Raises:
            InputError: The name matches nothing; the text names the nearest.
        """
        found = self._find(name, _NOTHING)
        if len(found) > 1:
            meant = self._prefixes.listed(found, _SHOWN)
            return frozenset(found), messages.several_meant(argument, quoted(name), self._kind, meant)
        if found:
            return frozenset(found), ""
        iri = self._as_iri(name)
        if is_iri(iri) and (iri != name or "://" in name):
            if not self._comprehensive:
                return frozenset({iri}), ""
            nearest = self._nearest(name) if hinted else ""
            return frozenset({iri}), messages.absent_term(argument, in_prose(name), self._kind, nearest)
        raise self._no_such(argument, name)

    def unlisted(self, iris: Iterable[Iri]) -> list[Iri]:
        """Return those IRIs that are not among the terms, sorted."""
        return sorted({iri for iri in iris if iri not in self._listed})

    def iris_of(self, names: Sequence[str]) -> list[Iri]:
        """Return the IRIs of those names that are IRIs or CURIEs, listed or not; none if all terms are listed."""
        if self._comprehensive:
            return []
        expanded = [(name, self._as_iri(name)) for name in names]
        return [iri for name, iri in expanded if is_iri(iri) and (iri != name or "://" in name)]

    def _find(self, name: str, further: Mapping[Iri, str]) -> set[str]:
        iri = self._as_iri(name)
        if is_iri(iri) and (iri in self._listed or iri in further):
            return {iri}
        folded = fold(name)
        found = set(self.names[0].get(folded, ()))
        return found | {
            other
            for other, label in further.items()
            if folded in {fold(other), fold(local_name(other)), fold(self._prefixes.declared_form(other)), fold(label)}
        }

    def _as_iri(self, name: str) -> str:
        try:
            return self._prefixes.expand(self._prefixes.without_name(name))
        except InputError:
            return name

    def _unknown(self, argument: str, name: str, *, hinted: bool) -> str:
        if self._comprehensive:
            raise self._no_such(argument, name)
        return messages.perhaps_unknown_name(argument, quoted(name), self._kind, self._nearest(name) if hinted else "")

    def _no_such(self, argument: str, name: str) -> InputError:
        shown = self._prefixes.in_order(itertools.islice(self._listed, _SHOWN))
        some = ", ".join(map(in_prose, shown)) + (", …" if len(self._listed) > _SHOWN else "")
        return messages.unknown_name(argument, quoted(name), self._kind, self._nearest(name), some)

    def _nearest(self, name: str) -> str:
        short = (known for known in self.names[0] if len(known) <= _NAME_LENGTH)
        compared = list(itertools.islice(short, _COMPARED))
        near = difflib.get_close_matches(fold(name[:_NAME_LENGTH]), compared, n=3)
        return ", ".join(in_prose(name) for name in dict.fromkeys(self.names[1][folded] for folded in near))


def first_warnings(argument: str, warnings: Sequence[str]) -> list[str]:
    """Return the first warnings about the names in an argument, and one that counts the others."""
    more = len(warnings) - _WARNED
    return [*warnings[:_WARNED], *([messages.more_names(argument, more)] if more > 0 else [])]


_LEVELS = 20
"""Levels of subclasses that are followed, each with at least one request."""

_MOST = 2_000
"""Subclasses of one filter; an answer warns of more."""


class Subclasses:
    """Adds to the types of a filter their subclasses, and theirs."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._prefixes = prefixes
        self._is_known = bool(profile.types.subclass_of)

    async def widened(self, argument: str, types: Collection[str], call: Call) -> tuple[frozenset[str], list[str]]:
        """Return types and all their subclasses, with warnings if these are not all; words have no subclasses."""
        found = dict.fromkeys(sorted(types))
        frontier = [iri for iri in found if is_iri(iri)]
        if not self._is_known or not frontier:
            return frozenset(types), []
        failed: list[Iri] = []
        for _ in range(_LEVELS):
            with call.tally.stage("schema"):
                below = await self._store.narrower(frontier, call)
            failed += [iri for iri, narrower in below.items() if not narrower.mark.whole]
            new = dict.fromkeys(iri for narrower in below.values() for iri in narrower.classes if iri not in found)
            frontier = list(new)
            if not frontier:
                break
            found |= new
            if len(found) > _MOST:
                break
        return frozenset(found), self._warnings(argument, failed, cut=bool(frontier))

    def _warnings(self, argument: str, failed: Sequence[Iri], *, cut: bool) -> list[str]:
        warnings = []
        if failed:
            warnings.append(messages.subclasses_unread(argument, self._prefixes.listed(failed)))
        if cut:
            warnings.append(messages.too_many_subclasses(argument, _MOST))
        return warnings
