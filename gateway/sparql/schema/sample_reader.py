"""The schema of a large graph from samples and descriptions: in a second or two, and never complete."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

from gateway.errors import Fault
from gateway.graph.call import Call, together
from gateway.graph.deadline import Clock
from gateway.graph.values import Basis, Method, Schema
from gateway.sparql.client import SparqlClient
from gateway.sparql.schema.assembler import SchemaAssembler
from gateway.sparql.schema.descriptions import DescriptionReader
from gateway.sparql.schema.graph_size import GraphSize
from gateway.sparql.schema.name_predicate_finder import NamePredicateFinder
from gateway.sparql.schema.sampling import FIRST_TRIPLES, Sample, Sampler, StartedSamples
from gateway.sparql.schema.term_counts import TermCounts, without_counts

_FIRST_SHARE = 0.7
"""The share of the time for samples and descriptions; the rest is for look-ups of the terms that they name."""

_LABELS_SECONDS = 0.3
"""The least time for labels; without them, the lists are usable."""

_ONLY = "only {:,} triples of a large graph were read"


class SampleReader:
    """Reads schemas of large graphs."""

    def __init__(
        self,
        client: SparqlClient,
        sampler: Sampler,
        descriptions: DescriptionReader,
        size: GraphSize,
        name_predicates: NamePredicateFinder,
        assembler: SchemaAssembler,
        wall_clock: Clock,
    ) -> None:
        self._client = client
        self._sampler = sampler
        self._descriptions = descriptions
        self._size = size
        self._name_predicates = name_predicates
        self._assembler = assembler
        self._wall_clock = wall_clock

    async def read(self, samples: StartedSamples, seconds: float, caller: Call) -> Schema:
        """Return the schema that samples, descriptions and declarations show in so many seconds.

        Raises:
            Fault: No sample came, however long it took.
        """
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
                counting = tasks.create_task(self._size.triples(call))
                sampling = tasks.create_task(samples.finish(seconds * _FIRST_SHARE))
        sample, published, declared = sampling.result(), publishing.result(), declaring.result()
        listed = declared.followed_by(published)
        with call.within(end - clock()):
            used, of_classes = await asyncio.gather(
                self._descriptions.used(listed, call),
                self._sampler.of_classes([iri for iri, _ in sample.types.most_common()], call),
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
            schema = await self._assembler.assemble(seen.followed_by(used), basis, _ONLY.format(read), call)
        return replace(schema, names=naming.result())

    async def read_frugally(self, call: Call) -> Schema:
        """Return the schema that one or two samples show, by one query after the other, all of them awaited.

        An endpoint that limits query time charges the most for a query that is cancelled, and the next calls would have
        to wait for that.

        Raises:
            Fault: No sample came.
        """
        sample = await self._sampler.at(0, FIRST_TRIPLES, call)
        with contextlib.suppress(Fault):
            sample = Sample.of([sample, await self._sampler.at_random(call)])
        names = await self._name_predicates.find(call)
        seen = TermCounts(without_counts(sample.types), without_counts(sample.predicates), sample.is_cut)
        basis = Basis(("sampled",), self._wall_clock(), sample.triples, None)
        schema = await self._assembler.assemble(seen, basis, _ONLY.format(sample.triples), call)
        return replace(schema, names=names)
