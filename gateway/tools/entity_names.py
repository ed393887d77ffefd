"""What the IDs and names of entities and of types in conditions mean (docs/values.md, "Conditions")."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

from gateway.errors import Fault, InputError, quoted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Hits, Iri, SearchTerms
from gateway.graph.walks import Walk
from gateway.members.conditions import ConditionText, EndKind
from gateway.members.sides import ValueText, literal_value
from gateway.schema.types import Subclasses
from gateway.schema.view import SchemaView
from gateway.terms.comparable import Text
from gateway.terms.local_names import local_part
from gateway.terms.names import fold, words_of
from gateway.terms.prefixes import PrefixMap
from gateway.tools.local_names import with_local_name

_MOST_LOOKED_UP = 20
"""Names of entities in conditions that are looked up."""

_SECONDS_TO_ASK = 5.0
"""To ask for an end that is a node, or for a blank node with a name: of millions of triples an engine looks at each."""

_WITHOUT_AUTHORITY = ("urn:", "tag:", "did:", "mailto:")
"""What IRIs begin with that have no `//`, and that no name of an entity begins with."""


class WalkEnds(Protocol):
    """Where walks end: `member_names.StepNames` knows it."""

    def kind_of_ends(self, walk: Walk) -> EndKind:
        """Return where a walk ends."""
        ...

    def leads_to_nodes(self, walk: Walk) -> bool:
        """Return whether a walk leads to nodes, and perhaps to literals too."""
        ...

    def unseen_ends(self, walk: Walk) -> Collection[Iri]:
        """Return the last predicates of a walk of which it is not known whether they lead to nodes."""
        ...


@dataclass(slots=True)
class Meant:
    """What the values of one condition mean.

    Attributes:
        iris: The entities, or the types, of each value that means any.
        warnings: What was guessed, and what means no node where a walk leads to nodes.
        doubts: What may mean a node whose name was not compared.
    """

    iris: dict[str, frozenset[Iri]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Named:
    """The entities of a name; how it was guessed that they are meant, empty where it is their name.

    `is_sure` says whether all names were compared, or all that are exactly so where there is one.
    """

    iris: frozenset[Iri] = frozenset()
    guessed: str = ""
    is_sure: bool = True


@dataclass(slots=True)
class _LookedUp:
    """What the conditions of a call have asked for already.

    Attributes:
        named: What names mean, by the predicates in whose namespaces they may be local names.
        is_searched: Of which walks all names are compared.
        may_miss_blank_nodes: Whether blank nodes may have names that are not compared; None before that is asked.
    """

    named: dict[tuple[str, frozenset[Iri] | None], _Named] = field(default_factory=dict)
    is_searched: dict[Walk, bool] = field(default_factory=dict)
    may_miss_blank_nodes: bool | None = None


class EntityNames:
    """Looks up what stands in conditions.

    Args:
        store: The graph.
        prefixes: The prefixes of IDs.
    """

    def __init__(self, store: GraphStore, prefixes: PrefixMap) -> None:
        self._store = store
        self._prefixes = prefixes
        self._subclasses = Subclasses(store, prefixes)

    async def meant(
        self, read: Sequence[ConditionText], ends: WalkEnds, known: SchemaView, call: Call
    ) -> Sequence[Meant]:
        """Return what the values of each condition mean: one text may mean a type, an entity, and neither.

        Raises:
            InputError: A name means nothing, or too much.
            Fault: A name could not be looked up.
        """
        of_nodes = (one for one in read if not isinstance(one.walk[-1].predicates, str))
        of_nodes = (one for one in of_nodes if ends.kind_of_ends(one.walk) != "literals")
        ids = await self._ids(chain.from_iterable(one.entity_names for one in of_nodes), call)
        looked_up = _LookedUp()
        found = []
        for one in read:
            meant = Meant()
            values = {value.text: value for value in one.values if value.text in one.entity_names}
            for text, value in values.items():
                if one.walk[-1].predicates == "type":
                    meant.iris[text] = await self._types(text, known, call)
                elif not isinstance(one.walk[-1].predicates, str):
                    await self._add_entities(value, one, ends, ids, looked_up, meant, known, call)
            found.append(meant)
        return found

    async def _add_entities(
        self,
        value: ValueText,
        condition: ConditionText,
        ends: WalkEnds,
        ids: Mapping[str, frozenset[Iri]],
        looked_up: _LookedUp,
        meant: Meant,
        known: SchemaView,
        call: Call,
    ) -> None:
        text, kind = value.text, ends.kind_of_ends(condition.walk)
        if kind == "literals":
            return
        if text in ids:
            meant.iris[text] = ids[text]
            return
        if kind == "literals and IDs":
            return
        is_searched = await self._may_be_searched(condition.walk, ends, looked_up, call)
        named = await self._looked_up(text, condition.walk if is_searched else (), looked_up, known, call)
        if named.iris:
            meant.iris[text] = named.iris
            if named.guessed:
                listed = self._prefixes.listed(sorted(named.iris))
                meant.warnings.append(guessed_node(quoted(text), listed, named.guessed))
        elif is_searched and kind != "nodes" and _is_text(value):
            meant.warnings.append(no_node_called(quoted(text), quoted(condition.left)))
        if named.is_sure:
            return
        if kind == "nodes" and not named.iris:
            raise perhaps_no_entity(quoted(text), quoted(condition.left))
        if named.iris or _is_text(value):
            meant.doubts.append(not_all_names_compared(quoted(text)))

    async def _looked_up(
        self,
        text: str,
        walk: Walk,
        looked_up: _LookedUp,
        known: SchemaView,
        call: Call,
    ) -> _Named:
        """Return what a name means, of what a walk leads to; with an empty one, what has it exactly."""
        steps = (step.predicates for step in walk)
        beside = frozenset(chain.from_iterable(one for one in steps if not isinstance(one, str))) if walk else None
        asked = (text, beside)
        if asked not in looked_up.named:
            if len({other for other, _ in looked_up.named} | {text}) > _MOST_LOOKED_UP:
                raise too_many_names("where", _MOST_LOOKED_UP)
            named = await self._named(text, beside, known, call)
            if beside is not None and named.is_sure and not known.schema.blank.are_all:
                if looked_up.may_miss_blank_nodes is None:
                    looked_up.may_miss_blank_nodes = await self._may_miss_blank_nodes(call)
                named = replace(named, is_sure=not looked_up.may_miss_blank_nodes)
            looked_up.named[asked] = named
        return looked_up.named[asked]

    async def _may_be_searched(self, walk: Walk, ends: WalkEnds, looked_up: _LookedUp, call: Call) -> bool:
        if walk not in looked_up.is_searched:
            looked_up.is_searched[walk] = ends.leads_to_nodes(walk) or await self._may_lead_to_nodes(
                sorted(ends.unseen_ends(walk)), call
            )
        return looked_up.is_searched[walk]

    async def _may_lead_to_nodes(self, predicates: Sequence[Iri], call: Call) -> bool:
        """Return whether some predicates lead to nodes, or could not all be asked about in time."""
        if not predicates:
            return False
        try:
            with call.within(_SECONDS_TO_ASK), call.tally.stage("schema"):
                return bool(await self._store.leading_to_nodes(predicates, call))
        except Fault:
            return True

    async def _may_miss_blank_nodes(self, call: Call) -> bool:
        """Return whether blank nodes may have names that were not compared."""
        try:
            with call.within(_SECONDS_TO_ASK), call.tally.stage("search"):
                return await self._store.has_blank_nodes((), call, named=True)
        except Fault:
            return True

    async def _types(self, text: str, known: SchemaView, call: Call) -> frozenset[Iri]:
        chosen = known.types.choose("where", [text], dict.fromkeys(known.types.iris_of([text]), ""))
        if not chosen.iris:
            raise known.types.unknown("where", text)
        # With a part of the subclasses, nodes would fulfil != that do not.
        return await self._subclasses.all_of("where", chosen.iris, call)

    async def _ids(self, texts: Iterable[str], call: Call) -> Mapping[str, frozenset[Iri]]:
        """Return what those texts mean that are IDs: of several meanings the first that the graph has."""
        meant: dict[str, Sequence[Iri]] = {}
        for text in texts:
            with suppress(InputError):
                meant[text] = self._prefixes.meanings(self._prefixes.without_name(text))
        several = list(dict.fromkeys(chain.from_iterable(iris for iris in meant.values() if len(iris) > 1)))
        existing = await self._store.existing(several, call) if several else {}
        if unread := next((one.mark.fault for one in existing.values() if one.mark.fault is not None), None):
            raise unread
        found = {}
        for text, iris in meant.items():
            first, bare = iris[0], self._prefixes.without_name(text)
            there = next((iri for iri in iris if iri in existing and existing[iri].exists), None)
            if there is not None:
                found[text] = frozenset({there})
            elif first != bare or "://" in bare or bare.startswith(_WITHOUT_AUTHORITY):
                found[text] = frozenset(iris)
        return found

    async def _named(self, text: str, beside: Collection[Iri] | None, known: SchemaView, call: Call) -> _Named:
        """Return the entities of a name; if there are none, of one in any language, or else of a local name.

        Args:
            text: The name.
            beside: The predicates of the walk, in whose namespaces it may be a local name; None where no other names
                are compared than those that are exactly so in the usual languages.
            known: The schema.
            call: The call that asks.

        Raises:
            InputError: More entities have it than are read, or several by a local name.
        """
        hits = await self._store.named(text, (), call)
        found = frozenset(hit.iri for hit in hits.hits)
        words = words_of(text)
        guessed = ""
        if beside is not None and words and not (found or hits.truncated):
            hits = await self._store.search(SearchTerms(text, tuple(words)), (), call)
            wanted = fold(text)
            same = [hit for hit in hits.hits if fold(hit.text) == wanted and hit.kind != "id"]
            found = frozenset(hit.iri for hit in same)
            languages = ", ".join(sorted({hit.language for hit in same if hit.language}))
            guessed = (
                f"a name in another language ({languages})" if languages else "a name in another language or spelling"
            )
            if not found:
                local = [hit.iri for hit in hits.hits if hit.kind == "id" and fold(local_part(hit.iri)) == wanted]
                named = await self._of_local_name(text, local, beside, call)
                return replace(named, is_sure=await self._are_all_compared(hits, known, call))
        if hits.truncated:
            raise too_many_named("where", quoted(text))
        return _Named(found, guessed)

    async def _of_local_name(self, text: str, nameless: Iterable[Iri], beside: Collection[Iri], call: Call) -> _Named:
        behind = await with_local_name(text, self._prefixes, self._store, call, sorted(beside))
        spelt_so = [iri for iri in nameless if local_part(iri) == text.strip()]
        found = list(dict.fromkeys((*behind, *spelt_so))) or list(dict.fromkeys(nameless))
        if len(found) > 1:
            raise several_of_local_name("where", quoted(text), self._prefixes.listed(found))
        return _Named(frozenset(found), "its local name")

    async def _are_all_compared(self, hits: Hits, known: SchemaView, call: Call) -> bool:
        """Return whether a search compared all names, and local names where nodes have no other."""
        are_compared = (
            hits.exhaustive and not hits.truncated and hits.fault is None and self._prefixes.are_all_looked_at
        )
        if hits.local_names or not are_compared:
            return are_compared
        nameless = await self._store.nameless(known.schema, call)
        return nameless is not None and nameless.exact and not nameless.count


def _is_text(value: ValueText) -> bool:
    """Return whether a value reads as a text, and not as a number, a date, or one that there is not."""
    try:
        return isinstance(literal_value(value), Text)
    except InputError:
        return False


# --- sentences that a model reads ---


def too_many_named(argument: str, name: str) -> InputError:
    """Return the error of a name that more entities have than are read."""
    return InputError(
        f"{argument}: more entities are called {name} than are read.",
        valid="Write the ID of the one that is meant.",
        next_step="Call search_entities for their IDs.",
    )


def too_many_names(argument: str, most: int) -> InputError:
    """Return the error of conditions with more names than are looked up."""
    return InputError(
        f"{argument}: too many names of entities would have to be looked up.",
        valid=f"Write IDs, or names up to {most} in a call.",
        next_step="Call search_entities for the IDs.",
    )


def several_of_local_name(argument: str, name: str, ids: str) -> InputError:
    """Return the error of a text that is no name, and the local name of several nodes."""
    return InputError(
        f"{argument}: no node has the name {name}, and several have it as their local name: {ids}.",
        valid="Write the ID of the one that is meant, or in with several IDs.",
    )


def perhaps_no_entity(name: str, walk: str) -> InputError:
    """Return the error of a text that no node found has as its name, where a walk ends at nodes."""
    return InputError(
        f"where: no node was found that is called {name}, and {walk} ends at nodes. Not every name could be compared.",
        valid="Its value is an ID or a name.",
        next_step="Call search_entities to find its ID.",
    )


def guessed_node(name: str, ids: str, how: str) -> str:
    """Return a warning: a text in a condition is no name of a node in the usual languages, and one is taken for it."""
    return f"where: {name} is taken for {ids}, by {how}. If another node is meant, write its ID."


def not_all_names_compared(text: str) -> str:
    """Return a warning: a text in a condition means no node that was found, and may be the name of another."""
    return f"where: not every name could be compared, so a node may be called {text}. Write the ID of the one meant."


def no_node_called(text: str, walk: str) -> str:
    """Return a warning: a condition compares texts alone, and its walk leads to nodes too."""
    return (
        f"where: no node was found by {text} as its ID or name, so of what {walk} leads to, texts alone are compared."
    )
