"""The types and edge predicates of a graph: all of them where they can be counted, else what a short look shows."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Mapping
from dataclasses import replace

from gateway.errors import DeadlinePassed, Fault, GaveUp, QueryRefused
from gateway.graph.call import Call
from gateway.graph.tasks import together
from gateway.graph.values import Basis, Iri, Method, Schema, Term
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.engines.traits import TRAITS
from gateway.sparql.nodes.name_predicates import NamePredicates
from gateway.sparql.nodes.reader import NodeReader
from gateway.sparql.results.columns import UnexpectedRows, integer
from gateway.sparql.schema.counting import Counter, is_at, stopped
from gateway.sparql.schema.described import Described, DescriptionReader
from gateway.sparql.schema.hub_finder import HubFinder
from gateway.sparql.schema.name_finder import NameFinder
from gateway.sparql.schema.sampling import FIRST_TRIPLES, Drawing, Sample, Sampler
from gateway.terms.iri import MAX_IRI, is_sendable

_GLANCE_SECONDS = 1.4
"""Time for a look at a graph that is too large to be read at once: its first answer should come within two seconds."""

_TOTALS_SECONDS = 0.7
"""Time for finding out whether it is; a graph that takes longer is not small."""

_SMALL = 30_000
_SIZE_SECONDS = 0.25
"""A graph of so few triples is not taken for a large one because its engine is busy; this is found out in no time."""

_UNBOUNDED = 1_000_000_000_000

_LABELS_SECONDS = 0.3
"""Labels have at least so much; without them the lists are what they are."""

_ONLY = "only {:,} triples of a large graph were read"

_NOT_SENDABLE = f"{{:,}} types and predicates are left out: they are no IRIs, or have more than {MAX_IRI} characters"

_NAMED_GRAPHS = 1

_IN_NAMED_GRAPHS = (
    "the graph that is asked is empty, and the endpoint has triples in named graphs; `endpoint.graphs` in the profile "
    "of this gateway says which graphs are asked"
)

_DRAWING = 0.7
"""The share of the time for samples; the rest is for what is looked up because of them."""


class SchemaReader:
    """Reads the schema of a graph."""

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, nodes: NodeReader, name_predicates: NamePredicates, profile: Profile
    ) -> None:
        self._client = client
        self._nodes = nodes
        self._profile = profile
        self._counter = Counter(client, rule, profile)
        self._sampler = Sampler(client, rule, profile)
        self._descriptions = DescriptionReader(client, rule, profile)
        self._names = NameFinder(client, nodes, name_predicates, profile)
        self._hubs = HubFinder(client, rule, nodes)

    async def quick_schema(self, call: Call) -> Schema:
        """Return the whole schema of a small graph, and what samples and descriptions show of a large one.

        Raises:
            Fault: The graph could not be asked.
        """
        if self._client.flow.quota.is_limited:
            return await self._briefly(call)
        limits = self._profile.limits
        limit = min(limits.scan_rows, self._profile.orientation.glance_triples)
        clock = call.deadline.clock
        end = clock() + _GLANCE_SECONDS
        began = time.time()
        async with self._sampler.drawing(replace(call)) as drawing:
            totals, whole = await self._totals_in_time(limit, _TOTALS_SECONDS, call)
            if not whole and not totals and await self._is_small(call):
                # The engine is slow, or busy: the graph is not large.
                totals, whole = await self._totals_in_time(limit, call.deadline.seconds_left, call)
            if not whole and not (totals and limit == limits.scan_rows):
                return await self._sampled(drawing, max(0.0, end - clock()), call)
            # The sample is not needed; by now it has come, and nothing has to be given up.
            return await self._counted(totals, limit, call, began, whole=whole, partly=False)

    async def read(self, call: Call) -> Schema:
        """Return the schema; exact unless the graph is larger than the profile allows, or the time is not enough.

        Raises:
            Fault: The graph could not be asked.
        """
        limit = self._profile.limits.scan_rows
        began = time.time()
        totals, whole = await self._counter.totals(limit, call)
        schema = await self._counted(totals, limit, call, began, whole=whole, partly=True)
        if schema.exact and (await self._counter.totals(limit, call))[0] != totals:
            return replace(schema, exact=False, reason="the graph was changed while it was read")
        return schema

    async def names(self, call: Call) -> tuple[Iri, ...] | None:
        """Find out which predicates name nodes, have them used from now on, and return them; see `NameFinder.find`."""
        return await self._names.find(call)

    async def _counted(
        self, totals: Mapping[Iri, int], limit: int, call: Call, began: float, *, whole: bool, partly: bool
    ) -> Schema:
        looked_at = min(limit, self._profile.orientation.glance_triples)
        async with together() as tasks:
            counting = tasks.create_task(self._counter.count(totals, limit, call, partly=partly))
            name_predicates = tasks.create_task(self._names.find(call, sum(totals.values()) if whole else None))
            hubs = tasks.create_task(self._hubs.find(looked_at, call))
        counts = counting.result()
        reason = counts.missing or ("" if whole else stopped(limit, totals))
        if not reason and not totals:
            reason = await self._elsewhere(call)
        found = Described(_by_frequency(counts.types), _by_frequency(counts.predicates))
        read = sum(totals.values())
        method: Method = "enumerated" if whole and not counts.is_part else "sampled"
        # What was loaded while it was read may be missing.
        basis = Basis((method,), began, 0 if whole else min(limit, read), read if whole else None)
        labelled = await self._labelled(found, basis, reason, call, left_out=counts.left_out)
        is_cut = labelled.is_cut or counts.is_cut or not (whole or is_at(limit, totals))
        return replace(labelled, names=name_predicates.result(), hubs=hubs.result(), is_cut=is_cut)

    async def _elsewhere(self, call: Call) -> str:
        """Return why the lists of an empty graph may not be all: the endpoint has its triples in named graphs."""
        if not self._client.is_remote or self._profile.endpoint.graphs != "default":
            return ""
        try:
            # One row is enough.
            rows, _ = (await self._client.rows("check/named_graphs", call, {}, at_most=_NAMED_GRAPHS)).part()
        except QueryRefused:
            # An engine without named graphs refuses to be asked for them.
            return ""
        except Fault as fault:
            return f"the graph that is asked is empty, and named graphs could not be looked for: {fault.wrong}"
        return _IN_NAMED_GRAPHS if rows else ""

    async def _sampled(self, drawing: Drawing, seconds: float, call: Call) -> Schema:
        """Return what samples, descriptions and declarations show in so many seconds; none of them is a whole schema.

        Raises:
            Fault: No sample came, however long it took.
        """
        end = call.deadline.clock() + seconds
        beside = replace(call)
        with beside.within(seconds * _DRAWING):
            async with together() as tasks:
                # In the order in which they take their turns: what is quick first.
                name_predicates = tasks.create_task(self._names.find(beside))
                publishing = tasks.create_task(self._descriptions.published(self._client.service_description, beside))
                declaring = tasks.create_task(self._descriptions.declared(beside))
                counting = tasks.create_task(self._count(beside))
                sampling = tasks.create_task(drawing.finish(seconds * _DRAWING))
            sample, published, declared = sampling.result(), publishing.result(), declaring.result()
        with beside.within(end - call.deadline.clock()):
            used, of_classes = await asyncio.gather(
                self._descriptions.used(_both(published, declared), beside),
                self._sampler.of_classes([iri for iri, _ in sample.types.most_common()], beside),
            )
        found = Described(
            {**_uncounted(sample.types), **used.types},
            {**_uncounted(sample.predicates + of_classes), **used.predicates},
        )
        methods: list[Method] = ["sampled"]
        methods += ["published"] if published else []
        methods += ["declared"] if declared else []
        triples = counting.result()
        # A window that goes beyond the last triple has fewer than it could.
        read = sample.triples if triples is None else min(sample.triples, triples)
        basis = Basis(tuple(methods), time.time(), read, triples)
        reason = _ONLY.format(read)
        with beside.within(max(_LABELS_SECONDS, end - call.deadline.clock())):
            labelled = await self._labelled(found, basis, reason, beside)
        is_cut = labelled.is_cut or sample.is_cut or published.is_cut or declared.is_cut or used.is_cut
        return replace(labelled, names=name_predicates.result(), is_cut=is_cut)

    async def _briefly(self, call: Call) -> Schema:
        """Return what a look shows that costs little: a sample or two, one query after the other, and none given up.

        An endpoint that counts query time charges the most it can for a query that is given up, and the calls that
        come next would have to wait for that.

        Raises:
            Fault: No sample came.
        """
        sample = await self._sampler.at(0, FIRST_TRIPLES, call)
        with contextlib.suppress(Fault):
            sample = Sample.of([sample, await self._sampler.at_random(call)])
        names = await self._names.find(call)
        found = Described(_uncounted(sample.types), _uncounted(sample.predicates))
        basis = Basis(("sampled",), time.time(), sample.triples, None)
        labelled = await self._labelled(found, basis, _ONLY.format(sample.triples), call)
        return replace(labelled, names=names, is_cut=labelled.is_cut or sample.is_cut)

    async def _totals_in_time(self, limit: int, seconds: float, call: Call) -> tuple[Mapping[Iri, int], bool]:
        """Return the totals of all predicates, and whether these are all; nothing where it takes longer."""
        try:
            with call.within(seconds):
                return await self._counter.totals(limit, call)
        except (DeadlinePassed, GaveUp):
            call.deadline.check()
            return {}, False

    async def _is_small(self, call: Call) -> bool:
        """Tell whether a graph whose triples were not counted in time has few of them all the same."""
        try:
            with call.within(_SIZE_SECONDS):
                return await self._triples(_SMALL + 1, call) <= _SMALL
        except Fault:
            return False

    async def _count(self, call: Call) -> int | None:
        """Count all triples where the engine knows them at once; None where it does not."""
        if not TRAITS[await self._client.engine(call)].counts_at_once:
            return None
        try:
            return await self._triples(_UNBOUNDED, call)
        except Fault:
            return None

    async def _triples(self, most: int, call: Call) -> int:
        """Count triples up to a bound."""
        counts = [*integer("count")((await self._client.rows("check/triples", call, {"most": most})).whole())]
        if len(counts) != 1:
            raise UnexpectedRows
        return counts[0]

    async def _labelled(self, found: Described, basis: Basis, reason: str, call: Call, *, left_out: int = 0) -> Schema:
        types, predicates = _sendable(found.types), _sendable(found.predicates)
        left_out += len(found.types) - len(types) + len(found.predicates) - len(predicates)
        if left_out:
            reason = "; ".join(filter(None, [reason, _NOT_SENDABLE.format(left_out)]))
        labels, labelled = await self._nodes.labels(list(types), list(predicates), call)
        return Schema(
            types=_terms(types, labels),
            predicates=_terms(predicates, labels),
            exact=not reason,
            labelled=labelled,
            reason=reason,
            version=_version(types, predicates),
            basis=basis,
            left_out=left_out,
            is_cut=bool(left_out),
        )


def _by_frequency(counts: Mapping[Iri, int]) -> dict[Iri, int | None]:
    return {iri: counts[iri] for iri in sorted(counts, key=lambda iri: (-counts[iri], iri))}


def _uncounted(seen: Mapping[Iri, int]) -> dict[Iri, int | None]:
    """Order terms by how often a sample saw them, which is not how often the graph has them."""
    return dict.fromkeys(_by_frequency(seen))


def _sendable(terms: Mapping[Iri, int | None]) -> dict[Iri, int | None]:
    return {iri: count for iri, count in terms.items() if is_sendable(iri)}


def _both(one: Described, other: Described) -> Described:
    return Described({**other.types, **one.types}, {**other.predicates, **one.predicates})


def _terms(counts: Mapping[Iri, int | None], labels: Mapping[Iri, str]) -> tuple[Term, ...]:
    return tuple(Term(iri, count, labels.get(iri, "")) for iri, count in counts.items())


def _version(types: Mapping[Iri, int | None], predicates: Mapping[Iri, int | None]) -> str:
    content = repr((sorted(types.items()), sorted(predicates.items())))
    return hashlib.sha256(content.encode()).hexdigest()[:12]
