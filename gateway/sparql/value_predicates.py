"""The predicates of literals: counted in a small graph, seen at some nodes of a large one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import chain

from gateway.errors import Fault
from gateway.graph.call import Call, together
from gateway.graph.shapes import (
    NO_VALUES,
    ValuePredicate,
    ValuePredicates,
    ValueTally,
    in_order,
    kind_of_datatype,
    value_predicates_of,
)
from gateway.graph.values import Iri, Schema
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes import NodeReader
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import Table, binding, integer, iri, literal, read
from gateway.sparql.template import Parameter
from gateway.terms.iri import ARRAY, ORDER, RDF, XSD, is_iri

_TRIPLES = 500_000
"""Triples of a graph in which the nodes are counted, where the profile lets the schema be counted at once."""

_TIME_FOR_COUNTING = 0.12
"""The share of the time for the first look at the schema that this may take; else some nodes are looked at."""

_PREDICATES = 1_000
"""Predicates that are listed at most."""

_WITH_VALUES = 40
"""Predicates of which values are read: as many as an answer lists."""

_AT_ONCE = 8
"""Predicates in one query for values."""

_VALUES = 1_000
"""Different values of one predicate that are read: a range is that of all of them where there are no more."""

_TEXTS = frozenset({f"{XSD}string", f"{RDF}langString"})
"""Datatypes of which the engine gives the first and the last text; of all others values are read."""

_TYPES = 20
_OF_TYPE = 20
"""Types of a large graph, the most frequent ones, and nodes of each that are looked at."""

_FEW = 5
"""Types, and nodes of each, at an endpoint that limits what one client may ask: its nodes may have many values."""

_PLACES = (0, 20_000)
_AT_PLACE = 1_000
_SUBJECTS = 100
"""Triples before each place of a large graph, triples there, and subjects of these that are looked at."""


class ValuePredicateReader:
    """Reads which predicates of a graph have literals, and which literals.

    Args:
        client: Sends the queries.
        rule: Says what is evidence.
        nodes: Reads nodes.
        profile: The profile.
        blank_are_nodes: Finds out whether blank nodes are nodes, of which the literals are read too.
    """

    def __init__(
        self,
        client: SparqlClient,
        rule: EdgeRule,
        nodes: NodeReader,
        profile: Profile,
        blank_are_nodes: Callable[[Call], Awaitable[bool]],
    ) -> None:
        self._client = client
        self._blank_are_nodes = blank_are_nodes
        self._rule = rule
        self._nodes = nodes
        self._types = profile.edges.types
        self._counting_seconds = _TIME_FOR_COUNTING * profile.limits.schema_seconds
        self._most_counted = min(profile.orientation.glance_triples, _TRIPLES)

    async def predicates(self, schema: Schema, call: Call) -> ValuePredicates:
        """Return the predicates of literals; see `GraphStore.value_predicates`."""
        await self._rule.refresh(call)
        triples = schema.basis.triples
        if schema.exact and triples is not None and triples <= self._most_counted:
            try:
                with call.within(self._counting_seconds):
                    return await self._counted(triples, call)
            except Fault:
                # It takes too long, or the engine cannot do it.
                call.deadline.check()
        return await self._seen(schema, call)

    async def _counted(self, triples: int, call: Call) -> ValuePredicates:
        # What was loaded since the triples were counted is no reason to read without an end.
        scan = 2 * triples + 1
        counts, are_all = await self._counts(scan, call, by_datatype=True)
        tallies: dict[Iri, ValueTally] = {}
        nodes: Counter[Iri] = Counter()
        datatypes: Counter[Iri] = Counter()
        others: set[Iri] = set()
        for (predicate, datatype), (count, *texts) in counts.items():
            tally, kind = tallies.setdefault(predicate, ValueTally()), kind_of_datatype(datatype)
            if datatype == ORDER:
                tally.unshown = True
                continue
            datatypes[predicate] += 1
            tally.kinds[kind] += count
            tally.has_lists = tally.has_lists or datatype == ARRAY
            nodes[predicate] = max(count, nodes[predicate])
            if datatype in _TEXTS:
                tally.add_texts(kind, texts)
            else:
                others.add(predicate)
        if several := {predicate for predicate, count in datatypes.items() if count > 1}:
            # A node with values of two datatypes is one.
            whatever, are_still_all = await self._counts(scan, call, by_datatype=False)
            nodes |= {predicate: count for (predicate, _), (count, *_) in whatever.items() if predicate in several}
            are_all = are_all and are_still_all
        read_first = sorted(filter(is_iri, others), key=lambda predicate: (-nodes[predicate], predicate))[:_WITH_VALUES]
        read_values, cut = await self._tallies(read_first, scan, call)
        for predicate, read_tally in read_values.items():
            # What was read is all, or its kinds and texts are a part of what was counted.
            tallies[predicate] = tallies[predicate].with_ranges(read_tally) if predicate in cut else read_tally
        cut |= others.difference(read_values)
        found = (ValuePredicate(iri, nodes[iri], tally, iri not in cut) for iri, tally in tallies.items())
        return ValuePredicates(in_order(found), are_all)

    async def _counts(
        self, scan: int, call: Call, *, by_datatype: bool
    ) -> tuple[Mapping[tuple[Iri, Iri], tuple[int, str, str]], bool]:
        """Return how many nodes have each predicate, by datatype or not, with two texts, and whether these are all."""
        given: dict[str, Parameter] = {
            "scan": scan,
            "by_datatype": by_datatype,
            "with_blank": await self._blank_are_nodes(call),
            **self._rule.evidence_of_nodes,
        }
        rows, is_cut = (await self._client.rows("schema/values", call, given, at_most=_PREDICATES)).part()
        # A scan that finds nothing is one empty group on some engines.
        rows = binding(rows, "p", "first", "last")
        found = read(rows, iri("p"), literal("kind"), integer("count"), _texts)
        return {(predicate, datatype.value): (count, *texts) for predicate, datatype, count, texts in found}, not is_cut

    async def _tallies(
        self, predicates: Sequence[Iri], scan: int, call: Call
    ) -> tuple[dict[Iri, ValueTally], set[Iri]]:
        """Return what values of some predicates are, and of which of them these are not all values."""
        batches = [predicates[start : start + _AT_ONCE] for start in range(0, len(predicates), _AT_ONCE)]
        async with together() as tasks:
            reading = [tasks.create_task(self._values(batch, scan, call)) for batch in batches]
        tallies: dict[Iri, ValueTally] = {}
        cut: set[Iri] = set()
        for found, some in (task.result() for task in reading):
            tallies |= found
            cut |= some
        return tallies, cut

    async def _values(self, predicates: Sequence[Iri], scan: int, call: Call) -> tuple[dict[Iri, ValueTally], set[Iri]]:
        given: dict[str, Parameter] = {
            "predicates": predicates,
            "scan": scan,
            "values": _VALUES,
            "with_blank": await self._blank_are_nodes(call),
            **self._rule.evidence_of_nodes,
        }
        rows, is_cut = (await self._client.rows("schema/values_of", call, given)).part()
        tallies: dict[Iri, ValueTally] = {}
        counts: Counter[Iri] = Counter()
        for predicate, value in read(rows, iri("p"), literal("v", "text")):
            counts[predicate] += 1
            tallies.setdefault(predicate, ValueTally()).add(value)
        return tallies, {predicate for predicate in tallies if is_cut or counts[predicate] >= _VALUES}

    async def _seen(self, schema: Schema, call: Call) -> ValuePredicates:
        """Return those of some nodes: of the most frequent types, and at some places of the graph."""
        is_frugal = self._client.flow.quota.is_limited
        types = [term.iri for term in schema.types[: _FEW if is_frugal else _TYPES] if is_iri(term.iri)]
        places = () if is_frugal and types else _PLACES
        found = await asyncio.gather(
            self._of_types(types, _FEW if is_frugal else _OF_TYPE, call),
            *(self._at(place, call) for place in places),
            return_exceptions=True,
        )
        faults = [one for one in found if isinstance(one, BaseException)]
        for fault in faults:
            if not isinstance(fault, Fault) or len(faults) == len(found):
                raise fault
        nodes = [*dict.fromkeys(chain.from_iterable(one for one in found if not isinstance(one, BaseException)))]
        if self._rule.may_have_evidence:
            plain = await self._nodes.without_evidence(nodes, call)
            nodes = [node for node in nodes if node in plain]
        if not nodes:
            return NO_VALUES
        described = await self._nodes.metadata(nodes, call, blank_nodes=False, precise=False)
        marks = [description.mark for description in described.values()]
        if all(mark.fault is not None for mark in marks) and marks[0].fault is not None:
            raise marks[0].fault
        return value_predicates_of(described.values(), counted=False)

    async def _of_types(self, types: Sequence[Iri], nodes: int, call: Call) -> Iterable[Iri]:
        if not types:
            return ()
        given: dict[str, Parameter] = {"types": self._types, "wanted": types, "nodes": nodes}
        rows, _ = (await self._client.rows("schema/used_types", call, given)).part()
        return iri("n")(rows)

    async def _at(self, place: int, call: Call) -> Iterable[Iri]:
        given: dict[str, Parameter] = {"skip": place, "scan": _AT_PLACE}
        rows, _ = (await self._client.rows("schema/subjects", call, given)).part()
        return [*iri("s")(rows)][:_SUBJECTS]


def _texts(rows: Table) -> Iterable[tuple[str, str]]:
    """Return the first and the last text of each row."""
    return ((first.value, last.value) for first, last in read(rows, literal("first"), literal("last")))
