"""Reads the types and edge predicates of a graph: quickly, or by counting every triple."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from gateway.errors import Fault, QueryRefused
from gateway.graph.call import Call, together
from gateway.graph.deadline import Clock
from gateway.graph.superclasses import superclasses_of
from gateway.graph.term_counts import TermCounts, by_frequency, schema_of, types_of_hubs, without_counts
from gateway.graph.values import Basis, Iri, Method, Schema
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.nodes.reader import NodeReader
from gateway.sparql.schema.counting import Scan, TermCounter, counts_in
from gateway.sparql.schema.descriptions import DescriptionReader
from gateway.sparql.schema.name_predicate_finder import NamePredicateFinder
from gateway.sparql.schema.sampling import FIRST_TRIPLES, Sample, Sampler, StartedSamples
from gateway.sparql.template import Parameter

_QUICK_SECONDS = 1.4
"""Time for the quick reading of a large graph: its first answer should come within two seconds."""

_FIRST_SHARE = 0.7
"""The share of the time for samples and descriptions; the rest is for look-ups of the terms that they name."""

_LABELS_SECONDS = 0.3
"""The least time for labels; without them, the lists are usable."""

_ONLY = "only {:,} triples of a large graph were read"

_IN_NAMED_GRAPHS = (
    "the graph that is asked is empty, and the endpoint has triples in named graphs; `endpoint.graphs` in the profile "
    "of this gateway says which graphs are asked"
)

_HUB_EDGES = 100
"""Edges, of those that were read, that make a node a hub: the `max_degree` that the tools advise."""

_HUBS = 20
"""Hubs whose types are read."""


class SchemaReader:
    """Reads the schema of a graph."""

    def __init__(
        self,
        client: SparqlClient,
        rule: EdgeRule,
        nodes: NodeReader,
        name_predicates: NamePredicateFinder,
        profile: Profile,
        wall_clock: Clock,
    ) -> None:
        self._client = client
        self._profile = profile
        self._wall_clock = wall_clock
        self._rule = rule
        self._nodes = nodes
        self._counter = TermCounter(client, rule, profile)
        self._sampler = Sampler(client, rule, profile)
        self._name_predicates = name_predicates
        self._descriptions = DescriptionReader(client, rule, nodes, profile)

    async def quick_schema(self, call: Call) -> Schema:
        """Return the whole schema of a small graph, and what samples and descriptions show of a large one."""
        await self._rule.refresh(call)
        if self._client.flow.quota.is_limited:
            return await self._sampled_frugally(call)
        limit = self._quick_limit
        clock = call.deadline.clock
        end = clock() + _QUICK_SECONDS
        began = self._wall_clock()
        async with StartedSamples(self._sampler, replace(call)) as samples:
            totals = await self._counter.totals_at_once(limit, call)
            # An enumeration would not read more either.
            is_all_that_may_be_read = bool(totals.counts) and limit == self._profile.limits.scan_rows
            if not totals.is_whole and not is_all_that_may_be_read:
                return await self._sampled(samples, max(0.0, end - clock()), call)
            # The first sample is not needed; by now it has come, so no query is cancelled.
            return await self._counted(totals, began, call, partly=False)

    async def read(self, call: Call) -> Schema:
        """Return the schema; exact unless the graph is larger than the profile allows, or the time is not enough."""
        await self._rule.refresh(call)
        limit = self._profile.limits.scan_rows
        began = self._wall_clock()
        totals = await self._counter.totals(limit, call)
        schema = await self._counted(totals, began, call, partly=True)
        if schema.exact and (await self._counter.totals(limit, call)).counts != totals.counts:
            return replace(schema, exact=False, reason="the graph was changed while it was read")
        return schema

    @property
    def _quick_limit(self) -> int:
        """Triples of a graph that the quick reading counts."""
        return min(self._profile.limits.scan_rows, self._profile.orientation.glance_triples)

    async def _counted(self, totals: Scan, began: float, call: Call, *, partly: bool) -> Schema:
        """Return the schema of a graph whose predicates are known; what was loaded since `began` may be missing."""
        async with together() as tasks:
            counting = tasks.create_task(self._counter.count(totals, call, partly=partly))
            naming = tasks.create_task(self._name_predicates.find(call, totals.triples if totals.is_whole else None))
            finding = tasks.create_task(self._types_of_hubs(call))
        counts = counting.result()
        reason = counts.reason or totals.reason
        if not reason and not totals.counts:
            reason = await self._reason_for_emptiness(call)
        found = TermCounts(
            by_frequency(counts.types), by_frequency(counts.predicates), counts.is_cut or totals.has_cut_terms
        )
        basis = _basis(totals, began, is_part=counts.is_part)
        above = await superclasses_of(list(found.types), self._nodes.broader, call)
        schema = await schema_of(
            found, basis, reason, self._nodes.labels, call, left_out=counts.left_out, superclasses=above
        )
        return replace(schema, names=naming.result(), hubs=finding.result())

    async def _sampled(self, samples: StartedSamples, seconds: float, caller: Call) -> Schema:
        """Return the schema that samples, descriptions and declarations of a large graph show in so many seconds."""
        clock = caller.deadline.clock
        end = clock() + seconds
        # The shorter deadlines of this reading are not those of the samples that are under way.
        call = replace(caller)
        with call.within(seconds * _FIRST_SHARE):
            async with together() as tasks:
                # Requests queue in this order, so the quick ones come first.
                naming = tasks.create_task(self._name_predicates.find(call))
                publishing = tasks.create_task(self._descriptions.published(self._client.service_description, call))
                declaring = tasks.create_task(self._descriptions.declared(call))
                counting = tasks.create_task(self._counter.triples(call))
                sampling = tasks.create_task(samples.finish(seconds * _FIRST_SHARE))
        sample, published, declared = sampling.result(), publishing.result(), declaring.result()
        listed = declared.followed_by(published)
        with call.within(end - clock()):
            types = [iri for iri, _ in sample.types.most_common()]
            used, of_classes, above = await asyncio.gather(
                self._descriptions.used(listed, call),
                self._of_classes(types, call),
                superclasses_of(types, self._nodes.broader, call),
            )
        seen = TermCounts(
            without_counts(sample.types),
            without_counts(sample.predicates + of_classes),
            is_cut=sample.is_cut or listed.is_cut,
        )
        methods: list[Method] = ["sampled"]
        methods += ["published"] if published else []
        methods += ["declared"] if declared else []
        triples = counting.result()
        # A sample that goes beyond the last triple has fewer than it could.
        read = sample.triples if triples is None else min(sample.triples, triples)
        basis = Basis(tuple(methods), self._wall_clock(), read, triples)
        with call.within(max(_LABELS_SECONDS, end - clock())):
            schema = await schema_of(
                seen.followed_by(used), basis, _ONLY.format(read), self._nodes.labels, call, superclasses=above
            )
        return replace(schema, names=naming.result())

    async def _of_classes(self, types: Sequence[Iri], call: Call) -> Counter[Iri]:
        """Return the predicates of a few nodes of the first types, without those that evidence alone has."""
        found = await self._sampler.of_classes(types, call)
        if self._rule.may_have_evidence:
            used, _ = await self._descriptions.used_predicates(list(found), call)
            return Counter({predicate: count for predicate, count in found.items() if predicate in used})
        return found

    async def _sampled_frugally(self, call: Call) -> Schema:
        """Return the schema that one or two samples show, by one query after the other, all of them awaited.

        An endpoint that limits query time charges the most for a query that is cancelled, and the next calls would have
        to wait for that.
        """
        sample = await self._sampler.at(0, FIRST_TRIPLES, call)
        with contextlib.suppress(Fault):
            sample = Sample.of([sample, await self._sampler.at_random(call)])
        names = await self._name_predicates.find(call)
        seen = TermCounts(without_counts(sample.types), without_counts(sample.predicates), sample.is_cut)
        basis = Basis(("sampled",), self._wall_clock(), sample.triples, None)
        schema = await schema_of(seen, basis, _ONLY.format(sample.triples), self._nodes.labels, call)
        return replace(schema, names=names)

    async def _types_of_hubs(self, call: Call) -> tuple[Iri, ...]:
        """Return the types of the nodes with the most edges, those of the largest first; none if that fails."""
        # Leaving out the edges of evidence nodes would read every triple, and change no hub.
        given: dict[str, Parameter] = {
            "excepted": self._rule.excepted,
            "markers": (),
            "associations": (),
            "singletons": (),
            **self._rule.ends,
            "scan": self._quick_limit,
            "least": _HUB_EDGES,
        }
        try:
            # The largest come first, so those that came are enough.
            rows, _ = (await self._client.rows("schema/pointed_to", call, given, at_most=_HUBS)).part()
            hubs = counts_in(rows, "o")
            facts = await self._nodes.facts(list(hubs), call, names=False, descriptions=False)
        except Fault:
            return ()
        return types_of_hubs(hubs, facts)

    async def _reason_for_emptiness(self, call: Call) -> str:
        """Return why the lists of an empty graph may not be all: the endpoint has its triples in named graphs."""
        if not self._client.is_remote or self._profile.endpoint.graphs != "default":
            return ""
        try:
            # One row is enough.
            rows, _ = (await self._client.rows("check/named_graphs", call, {}, at_most=1)).part()
        except QueryRefused:
            # An engine without named graphs refuses to be asked for them.
            return ""
        except Fault as fault:
            return f"the graph that is asked is empty, and named graphs could not be looked for: {fault.wrong}"
        return _IN_NAMED_GRAPHS if rows else ""


def _basis(totals: Scan, began: float, *, is_part: bool) -> Basis:
    method: Method = "enumerated" if totals.is_whole and not is_part else "sampled"
    if totals.is_whole:
        return Basis((method,), began, 0, totals.triples)
    return Basis((method,), began, min(totals.limit, totals.triples), None)
