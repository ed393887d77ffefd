"""What every kind of store reads alike: answers that callers can send back, all names, and nodes within some hops.

Some engines load any text between `<` and `>`. Such a term can be asked for by no query, and would stand in an answer
as text of the graph where an ID is expected; so would an IRI that is too long. Both are left out, and the answer about
each ID counts what it lacks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Generic, NamedTuple, Protocol, TypeVar

from gateway.errors import AnswerCut, EndpointFault, Fault, QueryRefused
from gateway.graph.call import Call, Deadline, together
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.counts import EdgeCounts
from gateway.graph.values import (
    WHOLE,
    Assertion,
    BlankNode,
    Description,
    Edge,
    Evidence,
    Hit,
    Hits,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
    Properties,
    Reach,
    Resource,
    Value,
    all_terms,
)
from gateway.terms.iri import is_sendable, is_skolem, not_sendable
from gateway.terms.local_names import local_part, readable
from gateway.terms.names import MOST_WORDS, Fit, Sought, fold_accents, is_unspaced

_FEW_TERMS = 4_000
"""Edges, nodes or values that are looked at in some milliseconds."""

_NO_NODE = "A node within reach has an ID that is no IRI, or is too long."


def sendable_edges(
    answers: Mapping[Iri, Neighbourhood], terms: Iterable[Iri] | None = None
) -> dict[Iri, Neighbourhood]:
    """Return neighbourhoods without the edges of which a term is not sendable.

    Args:
        answers: The neighbourhoods.
        terms: The terms of all their edges, and perhaps others, where these are known.
    """
    if terms is None:
        terms = chain.from_iterable(all_terms(answer.edges) for answer in answers.values())
    bad = not_sendable(terms)
    return {node: _without(answer, bad) for node, answer in answers.items()} if bad else dict(answers)


async def checked_edges(answers: Mapping[Iri, Neighbourhood], call: Call) -> Mapping[Iri, Neighbourhood]:
    """Return neighbourhoods without the edges of which a term is not sendable; many of them in a thread."""
    is_few = sum(len(answer.edges) for answer in answers.values()) <= _FEW_TERMS
    return await in_thread(call, lambda _: sendable_edges(answers), unless=is_few)


async def checked_counts(answers: Mapping[Iri, EdgeCounts], call: Call) -> Mapping[Iri, EdgeCounts]:
    """Return counts without the predicates and neighbours that are not sendable; many of them in a thread."""
    terms = sum(1 + len(count.neighbours) for one in answers.values() for count in one.counts)
    return await in_thread(call, lambda _: _counts_of(answers), unless=terms <= _FEW_TERMS)


def _facts_of(answers: Mapping[Iri, NodeFacts]) -> Mapping[Iri, NodeFacts]:
    """Return facts without the types that are not sendable."""
    bad = not_sendable(chain.from_iterable(facts.types for facts in answers.values()))
    return {node: _known(facts, bad) for node, facts in answers.items()} if bad else answers


async def checked_facts(answers: Mapping[Iri, NodeFacts], call: Call) -> Mapping[Iri, NodeFacts]:
    """Return facts without the types that are not sendable; many of them in a thread."""
    types = sum(len(facts.types) for facts in answers.values())
    return await in_thread(call, lambda _: _facts_of(answers), unless=types <= _FEW_TERMS)


async def checked_descriptions(answers: Mapping[Iri, Description], call: Call) -> Mapping[Iri, Description]:
    """Return descriptions without the predicates and values that are not sendable; many of them in a thread."""
    said = [one.properties for one in answers.values()]
    is_few = sum(map(len, chain.from_iterable(one.values() for one in said))) <= _FEW_TERMS
    return await in_thread(call, lambda _: answers if _are_plain(said) else _descriptions_of(answers), unless=is_few)


async def checked_reach(answers: Mapping[Iri, Reach], call: Call) -> Mapping[Iri, Reach]:
    """Return sets of nodes; one that has a node that is not sendable is not whole; many nodes in a thread."""
    nodes = sum(len(reach.distances) for reach in answers.values())
    return await in_thread(call, lambda _: _reach_of(answers), unless=nodes <= _FEW_TERMS)


def _descriptions_of(answers: Mapping[Iri, Description]) -> Mapping[Iri, Description]:
    """Return descriptions without the predicates and values that are not sendable."""

    def checked(one: Description) -> Description:
        properties, left_out = _properties(one.properties)
        return replace(one, properties=properties, left_out=left_out) if left_out else one

    return {node: checked(description) for node, description in answers.items()}


async def checked_evidence(answers: Mapping[Edge, Evidence], call: Call) -> Mapping[Edge, Evidence]:
    """Return evidence without the predicates, values and sources that are not sendable; much of it in a thread."""
    assertions = list(chain.from_iterable(one.assertions for one in answers.values()))
    values = sum(len(one.sources) + sum(map(len, one.properties.values())) for one in assertions)

    def checked(_: Deadline) -> Mapping[Edge, Evidence]:
        sources = chain.from_iterable(one.sources for one in assertions)
        are_plain = _are_plain([one.properties for one in assertions]) and not not_sendable(sources)
        return answers if are_plain else _evidence_of(answers)

    return await in_thread(call, checked, unless=values <= _FEW_TERMS)


def _reach_of(answers: Mapping[Iri, Reach]) -> Mapping[Iri, Reach]:
    bad = not_sendable(chain.from_iterable(reach.distances for reach in answers.values()))
    return {
        node: reach if bad.isdisjoint(reach.distances) else Reach(mark=Mark(QueryRefused(_NO_NODE)))
        for node, reach in answers.items()
    }


def _counts_of(answers: Mapping[Iri, EdgeCounts]) -> Mapping[Iri, EdgeCounts]:
    def checked(one: EdgeCounts) -> EdgeCounts:
        known = [count for count in one.counts if is_sendable(count.predicate)]
        named = tuple(replace(count, neighbours=tuple(filter(is_sendable, count.neighbours))) for count in known)
        return replace(one, counts=named, left_out=one.left_out + len(one.counts) - len(known))

    return {node: checked(counts) for node, counts in answers.items()}


def _evidence_of(answers: Mapping[Edge, Evidence]) -> Mapping[Edge, Evidence]:

    def checked(one: Evidence) -> Evidence:
        assertions = [(_properties(assertion.properties), assertion.sources) for assertion in one.assertions]
        sendable = tuple(
            Assertion(properties, tuple(filter(is_sendable, sources))) for (properties, _), sources in assertions
        )
        left_out = sum(count for (_, count), _ in assertions)
        left_out += sum(len(was.sources) - len(now.sources) for was, now in zip(one.assertions, sendable, strict=True))
        return replace(one, assertions=sendable, left_out=left_out) if left_out else one

    return {edge: checked(evidence) for edge, evidence in answers.items()}


def _are_plain(said: Sequence[Properties]) -> bool:
    """Return whether all is sendable at a glance: as most is, without a blank node and under ordinary IRIs."""
    values = list(chain.from_iterable(chain.from_iterable(one.values() for one in said)))
    nodes = [value.iri for value in values if isinstance(value, Resource)]
    return not (any(isinstance(value, BlankNode) for value in values) or not_sendable(chain(nodes, *said)))


def _properties(properties: Properties) -> tuple[Properties, int]:
    """Return values by predicate without what is not sendable, and how much that is."""
    sendable: dict[Iri, tuple[Value, ...]] = {}
    left_out = 0
    for predicate, values in properties.items():
        if not is_sendable(predicate):
            left_out += 1
            continue
        checked = [_value(value) for value in values]
        left_out += sum(count for _, count in checked)
        if some := tuple(value for value, _ in checked if value is not None):
            sendable[predicate] = some
    return sendable, left_out


def _value(value: Value) -> tuple[Value | None, int]:
    """Return a value, or None where it is not sendable, and how much is left out of it."""
    if isinstance(value, Resource) and not (is_skolem(value.iri) or is_sendable(value.iri)):
        return None, 1
    if not isinstance(value, BlankNode):
        return value, 0
    properties, left_out = _properties(value.properties)
    return (BlankNode(properties, cut=True), left_out) if left_out else (value, 0)


def _without(answer: Neighbourhood, bad: frozenset[Iri]) -> Neighbourhood:
    edges = tuple(edge for edge in answer.edges if bad.isdisjoint(edge.triple))
    if len(edges) == len(answer.edges):
        return answer
    left_out = frozenset(hash(edge) for edge in answer.edges if not bad.isdisjoint(edge.triple))
    return replace(answer, edges=edges, left_out=answer.left_out | left_out)


def _known(facts: NodeFacts, bad: frozenset[Iri]) -> NodeFacts:
    types = tuple(iri for iri in facts.types if iri not in bad)
    if len(types) == len(facts.types):
        return facts
    return replace(facts, types=types, left_out=len(facts.types) - len(types))


AllRows = TypeVar("AllRows")


class ReceivedRows(Generic[AllRows]):
    """The rows of one answer.

    This is no sequence: a reader asks for the whole or accepts a part, so it cannot overlook that rows are missing.

    Attributes:
        missing: Why rows are missing, or may be; None where these are all.
    """

    __slots__ = ("_rows", "missing")

    def __init__(self, rows: AllRows, missing: AnswerCut | None = None) -> None:
        self._rows = rows
        self.missing = missing

    def whole(self) -> AllRows:
        """Return all rows.

        Raises:
            AnswerCut: There are more than came, or may be.
        """
        if self.missing is not None:
            raise self.missing
        return self._rows

    def part(self) -> tuple[AllRows, bool]:
        """Return the rows that came, and whether there are more, or may be."""
        return self._rows, self.missing is not None


class Scan(Protocol):
    """One scan of all names, of which a store reads so many and no more."""

    async def __call__(self, words: Sequence[str], *, every: bool, whole: bool) -> Hits:
        """Return the names with every word, or with any, and perhaps others: the caller compares again.

        Args:
            words: Words as `gateway.terms.names.folded_words` returns them.
            every: Whether a name is to have all of them, or begin with the text of which they are.
            whole: Whether names may be left out that have one of the words as a part of another only.
        """
        ...


async def compare_names(text: str, scan: Scan, call: Call) -> Hits:
    """Return the names with every word of a text; if there are none, those with some.

    Raises:
        Fault: The graph could not be asked.
    """
    sought = Sought.of(text)
    words = sought.words[:MOST_WORDS]
    found = looked_at = await _with_every(sought, words, scan, call)
    unseen = _unseen(words, found)
    if len(words) > 1 and not found.hits:
        some = await _with_any(words, scan)
        # What the first scan could not read whole may have every word.
        found = looked_at = replace(
            some,
            truncated=some.truncated or found.truncated,
            exhaustive=some.exhaustive and found.exhaustive,
            local_names=some.local_names and found.local_names,
        )
    elif len(words) > 1 and unseen and found.exhaustive:
        looked_at = await _looked_for(unseen, scan, call)
    absent = () if looked_at.truncated or not looked_at.exhaustive else _unseen(unseen, looked_at)
    # A word that was not looked for may be all that a name has.
    return replace(found, exhaustive=found.exhaustive and words == sought.words, absent=absent)


async def _with_every(sought: Sought, words: Sequence[str], scan: Scan, call: Call) -> Hits:
    """Return the names that fit, at least by parts of words; where there are too many, all that fit by words first."""
    found = await scan(words, every=True, whole=False)
    hits = found.hits
    if found.truncated and not all(map(is_unspaced, words)):
        with suppress(Fault), call.reserving(requests=0.5, time=0.5):
            hits = (*(await scan(words, every=True, whole=True)).hits, *hits)
    fitting = await in_thread(
        call,
        lambda _: tuple(hit for hit in dict.fromkeys(hits) if sought.is_in(hit.text)),
        unless=len(hits) <= FEW_FOR_A_THREAD,
    )
    return replace(found, hits=fitting)


async def _with_any(words: Sequence[str], scan: Scan) -> Hits:
    """Return the names that have one of the words, or its singular or plural."""
    found = await scan(words, every=False, whole=True)
    sought = Sought("", tuple(words))
    return replace(found, hits=tuple(hit for hit in found.hits if min(sought.fits(hit.text)) <= Fit.FORM))


async def _looked_for(words: Sequence[str], scan: Scan, call: Call) -> Hits:
    """Look whether other names have some words; what is found is no proof of anything if there is no time for that."""
    try:
        with call.reserving(requests=0.5, time=0.5):
            return await _with_any(words, scan)
    except Fault:
        return Hits((), truncated=True, how="")


def _unseen(words: Sequence[str], found: Hits) -> tuple[str, ...]:
    """Return the words that none of the names has as a word."""
    unseen = tuple(words)
    for hit in found.hits:
        if not unseen:
            break
        fits = Sought("", unseen).fits(hit.text)
        unseen = tuple(word for word, fit in zip(unseen, fits, strict=True) if fit > Fit.FORM)
    return unseen


_FEW_NODES = 4_000
"""Neighbours that are looked at in some milliseconds."""


class Neighbours(NamedTuple):
    """The distinct neighbours of the nodes of one query, and whether these are all."""

    nodes: frozenset[Iri] = frozenset()
    mark: Mark = WHOLE


class _BlankNodesError(EndpointFault):
    """Blank nodes are among the neighbours, and the edges to them are to be counted."""


def beside_blank_nodes() -> Mark:
    """Return the mark of neighbours among which blank nodes are that are no nodes."""
    return Mark(_BlankNodesError("Blank nodes are among the neighbours; their edges were not counted."))


def are_beside_blank_nodes(mark: Mark) -> bool:
    """Return whether a mark says that."""
    return isinstance(mark.fault, _BlankNodesError)


Ask = Callable[[Sequence[Iri]], Awaitable[Mapping[Iri, Neighbours]]]
"""Asks for the neighbours of nodes; those that stand in one query have one answer."""


async def reach_of(ids: Sequence[Iri], hops: int, ask: Ask, call: Call) -> Mapping[Iri, Reach]:
    """Return the nodes within some hops of each node; see `GraphStore.reach`."""
    async with together() as tasks:
        running = {node: tasks.create_task(_within(node, hops, ask, call)) for node in dict.fromkeys(ids)}
    return await checked_reach({node: task.result() for node, task in running.items()}, call)


async def _within(node: Iri, hops: int, ask: Ask, call: Call) -> Reach:
    distances = {node: 0}
    frontier = [node]
    for hop in range(1, hops + 1):
        answers = await ask(frontier)
        distinct = list({id(answer): answer for answer in answers.values()}.values())
        few = sum(len(answer.nodes) for answer in distinct) <= _FEW_NODES
        try:
            frontier = await in_thread(call, partial(_not_known, distinct, distances), unless=few)
        except Fault as fault:
            return Reach(distances, Mark(fault))
        distances |= dict.fromkeys(frontier, hop)
        for answer in distinct:
            if not answer.mark.whole:
                return Reach(distances, answer.mark)
    return Reach(distances)


def _not_known(answers: Iterable[Neighbours], known: Mapping[Iri, int], deadline: Deadline) -> list[Iri]:
    """Return the neighbours that are not known, each once."""
    found = (node for answer in answers for node in deadline.checking(answer.nodes) if node not in known)
    return list(dict.fromkeys(found))


def local_hits(node: Iri, typed: str) -> Iterator[Hit]:
    """Yield what a node without a name is found by: what does not read as a name, only where it is typed whole.

    Args:
        node: The node.
        typed: The text that is searched.
    """
    local = local_part(node)
    words = readable(local)
    # As one word and as several: people type both.
    for text in dict.fromkeys([words, local]) if words else [local]:
        if text and (words or fold_accents(text) == Sought.of(typed).text):
            yield Hit(node, text, is_synonym=False, kind="id")
