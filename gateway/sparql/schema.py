"""Types and predicates of a graph, and what describes them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import pyoxigraph

from gateway.errors import EndpointFault, Fault, QueryRefused
from gateway.graph.call import Call, together
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.counts import (
    HUB_EDGES,
    MOST_HUBS,
    TermCounts,
    by_frequency,
    schema_of,
    superclasses_of,
    types_of_hubs,
    without_counts,
)
from gateway.graph.kept import WEEK
from gateway.graph.values import Basis, BlankCounts, BlankShare, Iri, Schema, SchemaMethod
from gateway.settings.profile import Profile
from gateway.sparql import template
from gateway.sparql.client import SparqlClient
from gateway.sparql.evidence import TERMS_OF_EVIDENCE
from gateway.sparql.json_rows import decode
from gateway.sparql.name_finder import FoundNames, NamePredicateFinder
from gateway.sparql.nodes import NodeReader
from gateway.sparql.rule import EdgeRule
from gateway.sparql.schema_counts import (
    FIRST_TRIPLES,
    Counts,
    Sample,
    Sampler,
    Scan,
    StartedSamples,
    TermCounter,
    counts_in,
)
from gateway.sparql.search import has_blank_names
from gateway.sparql.table import EMPTY, LiteralTerm, Table, binding, integer, iri, literal, optional, read
from gateway.sparql.template import Parameter
from gateway.telemetry.tally import Clock
from gateway.terms.iri import OWL, OWN, RDF_TYPE, is_entity_type, is_iri, is_reached_by

_MOST = 1_000
"""Terms of one description that are read."""

_LOOKED_FOR = 50
"""Terms that one query looks for, in a branch each (docs/notes/endpoints.md, "A limit for each node")."""

_BATCHES = 4
"""Queries for the terms of one list; further terms are not looked for, and the list counts as cut."""

_EXAMPLES = 5
"""Triples of each predicate, and nodes of each type, that are looked at: they may be evidence."""

_MOST_ANNOTATIONS = 100
"""Predicates of what is stated about edges that are read."""

_TRIPLE = (iri("p"), iri("s"), iri("o"))

VOID = "http://rdfs.org/ns/void#"
_PUBLISHED_CLASS = f"{VOID}class"
_DECLARED_PREDICATE = f"{OWL}ObjectProperty"


class DescriptionReader:
    """Reads VoID descriptions and declarations."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, nodes: NodeReader, profile: Profile) -> None:
        self._client = client
        self._rule = rule
        self._nodes = nodes
        self._types = profile.edges.types

    async def published(self, service_description: str, call: Call) -> TermCounts:
        """Return the terms that VoID lists, in the graph or in the service description (Turtle; may be empty)."""
        in_graph, is_cut = await self._rows("schema/published", call)
        tables = in_graph, _in_description(service_description)
        found = TermCounts(is_cut=is_cut)
        for kind, listed, counted in chain.from_iterable(
            read(rows, iri("kind"), iri("term"), optional("count")) for rows in tables
        ):
            count = int(counted.value) if isinstance(counted, LiteralTerm) and counted.value.isdecimal() else None
            terms = found.types if kind == _PUBLISHED_CLASS else found.predicates
            # The whole and its parts may both be described: the larger figure is that of the whole.
            terms[listed] = max(count, terms.get(listed) or 0) if count is not None else None
        return self._allowed(found)

    async def declared(self, call: Call) -> TermCounts:
        """Return the classes and object properties that the graph declares."""
        rows, is_cut = await self._rows("schema/declared", call)
        found = TermCounts(is_cut=is_cut)
        for kind, declared in read(rows, iri("kind"), iri("term")):
            terms = found.predicates if kind == _DECLARED_PREDICATE else found.types
            terms[declared] = None
        return self._allowed(found)

    async def used(self, listed: TermCounts, call: Call) -> TermCounts:
        """Return those of the terms of which the graph has a node or an edge."""
        (types, cut_types), (predicates, cut_predicates) = await asyncio.gather(
            self._used_types(list(listed.types), call), self.used_predicates(list(listed.predicates), call)
        )
        return TermCounts(
            {iri: listed.types[iri] for iri in listed.types if iri in types},
            {iri: listed.predicates[iri] for iri in listed.predicates if iri in predicates},
            cut_types or cut_predicates,
        )

    async def used_predicates(self, predicates: Sequence[Iri], call: Call) -> tuple[set[Iri], bool]:
        """Return those of some predicates of which the graph has an edge, and whether not all were looked for."""
        given: dict[str, Parameter] = {"edges": _EXAMPLES, **self._rule.ends}
        rows, is_cut = await self._examples("schema/ends", "predicates", predicates, given, call)
        found = [(predicate, (predicate, *ends)) for table in rows for predicate, *ends in read(table, *_TRIPLE)]
        return await self._stating_nothing(found, call), is_cut

    async def _used_types(self, types: Sequence[Iri], call: Call) -> tuple[set[Iri], bool]:
        given: dict[str, Parameter] = {"types": self._types, "nodes": _EXAMPLES}
        rows, is_cut = await self._examples("schema/used_types", "wanted", types, given, call)
        found = [(of_node, (node,)) for table in rows for of_node, node in read(table, iri("t"), iri("n"))]
        return await self._stating_nothing(found, call), is_cut

    async def _examples(
        self, name: str, parameter: str, terms: Sequence[Iri], given: Mapping[str, Parameter], call: Call
    ) -> tuple[list[Table], bool]:
        """Return rows about each of some terms, and whether not all terms were looked for."""
        tables: list[Table] = []
        is_cut = len(terms) > _LOOKED_FOR * _BATCHES
        for start in range(0, min(len(terms), _LOOKED_FOR * _BATCHES), _LOOKED_FOR):
            rows, was_cut = await self._rows(name, call, {**given, parameter: terms[start : start + _LOOKED_FOR]})
            tables.append(rows)
            is_cut = is_cut or was_cut
        return tables, is_cut

    async def _stating_nothing(self, found: Sequence[tuple[Iri, tuple[Iri, ...]]], call: Call) -> set[Iri]:
        """Return the terms with an example of which nothing states evidence."""
        if not self._rule.may_have_evidence:
            return {term for term, _ in found}
        plain = await self._nodes.without_evidence(list(chain.from_iterable(nodes for _, nodes in found)), call)
        return {term for term, nodes in found if plain.issuperset(nodes)}

    async def _rows(self, name: str, call: Call, given: Mapping[str, Parameter] | None = None) -> tuple[Table, bool]:
        """Return the rows that the endpoint could return, and whether these are not all."""
        try:
            return (await self._client.rows(name, call, given or {}, at_most=_MOST)).part()
        except Fault:
            return EMPTY, True

    def _allowed(self, found: TermCounts) -> TermCounts:
        # What no query can name cannot be looked for.
        types = {iri: count for iri, count in found.types.items() if is_iri(iri) and is_entity_type(iri)}
        excepted = self._rule.excepted
        predicates = {
            iri: count
            for iri, count in found.predicates.items()
            if is_iri(iri) and iri not in excepted and self._rule.allows(iri)
        }
        return TermCounts(types, predicates, found.is_cut)


def _in_description(turtle: str) -> Table:
    """Return the rows of a service description, as the graph would return them; none if it is not Turtle."""
    if VOID not in turtle:
        return EMPTY
    store = pyoxigraph.Store()
    text = template.load("schema/published")
    try:
        store.load(turtle.encode(), pyoxigraph.RdfFormat.TURTLE, base_iri="http://endpoint.invalid/")
        answer = store.query(text.render({"rows": _MOST}))
        assert isinstance(answer, pyoxigraph.QuerySolutions)  # noqa: S101 - the template is a SELECT
        body = answer.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        assert body is not None  # noqa: S101 - it was given no file to write to
        return decode(body, text.variables)
    except (SyntaxError, EndpointFault):
        return EMPTY


_QUICK_SECONDS = 1.4
"""Time for the quick reading of a large graph: its first answer should come within two seconds."""

_FIRST_SHARE = 0.7
"""The share of the time for samples and descriptions; the rest is for look-ups of the terms that they name."""

_LABELS_SECONDS = 0.3
"""The least time for labels; without them, the lists are usable."""

_SLOW_SECONDS = 0.1
"""Time for the first sample above which a graph is not counted beside calls."""

_PACE = "seconds for a sample"
"""How fast the endpoint is, among what is kept of it."""

_QUERY_SECONDS = 1.0
"""Time that a query may keep such an endpoint from answering a call."""

_ONLY = "only {:,} triples of a large graph were read"

_IN_NAMED_GRAPHS = (
    "the graph that is asked is empty, and the endpoint has triples in named graphs; `endpoint.graphs` in the profile "
    "of this gateway says which graphs are asked"
)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast an endpoint is.

    Attributes:
        sample: A sample of the graph.
        seconds: The time that it took, without the way there and back.
    """

    sample: Sample
    seconds: float

    @property
    def is_slow(self) -> bool:
        """Whether to count a large graph would keep the endpoint from answering calls."""
        return self.seconds > _SLOW_SECONDS

    @property
    def room(self) -> int:
        """Triples that one query may read, which takes less time than a sample of as many."""
        return max(FIRST_TRIPLES, int(FIRST_TRIPLES * _QUERY_SECONDS / self.seconds))


AddBlank = Callable[[Counts, Call], Awaitable[tuple[BlankShare | None, str]]]
"""Adds to counts those of blank nodes, and returns how much these are, and why the counts are not exact."""


class SchemaReader:
    """Reads the schema of a graph.

    Attributes:
        with_blank: Counts blank nodes of an endpoint, where they are nodes.
    """

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
        self._known_pace: Pace | None = None
        self.with_blank: AddBlank | None = None

    async def quick_schema(self, call: Call) -> Schema:
        """Return the whole schema of a small graph, and what samples and descriptions show of a large one."""
        await self._rule.refresh(call)
        if self._client.flow.quota.is_limited:
            return await self._sampled_frugally(await self._sampler.at(0, FIRST_TRIPLES, call), call)
        pace = await self._pace(call)
        if pace is not None and pace.is_slow:
            return await self._of_slow_endpoint(pace, call)
        limit = self._quick_limit
        clock = call.deadline.clock
        end = clock() + _QUICK_SECONDS
        began = self._wall_clock()
        first = None if pace is None or not pace.sample.triples else pace.sample
        async with StartedSamples(self._sampler, replace(call), first) as samples:
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
        pace = await self._pace(call)
        if pace is not None and pace.is_slow:
            raise EndpointFault(
                f"the endpoint takes {pace.seconds:.1g} s for a sample of {FIRST_TRIPLES:,} triples, "
                "too long to count them all"
            )
        limit = self._profile.limits.scan_rows
        began = self._wall_clock()
        totals = await self._counter.totals(limit, call)
        schema = await self._counted(totals, began, call, partly=True)
        if schema.exact and (await self._counter.totals(limit, call)).counts != totals.counts:
            return replace(schema, exact=False, reason="the graph was changed while it was read")
        return schema

    async def _pace(self, call: Call) -> Pace | None:
        """Return how fast an endpoint is of whose engine nothing is known; None where that is not asked.

        Such an engine may answer one query at a time, and go on with those that nobody waits for any more.
        """
        if not self._client.is_remote or await self._client.engine(call) != "unknown":
            return None
        # An engine that has just started is slow once.
        if self._known_pace is None or self._known_pace.is_slow:
            kept = self._client.kept.known(_PACE, float, seconds=WEEK)
            if self._known_pace is None and kept is not None and kept[0] <= _SLOW_SECONDS:
                self._known_pace = Pace(Sample(), kept[0])
                return self._known_pace
            clock = call.deadline.clock
            began = clock()
            sample = await self._sampler.at(0, FIRST_TRIPLES, call)
            seconds = clock() - began
            self._known_pace = Pace(sample, max(0.0, seconds - await self._way(call)))
            self._client.kept.keep(_PACE, self._known_pace.seconds)
        return self._known_pace

    async def _way(self, call: Call) -> float:
        """Return how many seconds a request takes to an endpoint and back: one that was sent, or one more."""
        if (way := self._client.seconds_there_and_back) is not None:
            return way
        clock = call.deadline.clock
        began = clock()
        await self._client.rows("alive", call, {}, at_most=1)
        return clock() - began

    async def _of_slow_endpoint(self, pace: Pace, call: Call) -> Schema:
        """Return the schema in queries none of which takes much time: the whole one of a small graph, else a sample."""
        began = self._wall_clock()
        if await self._counter.has_at_most(pace.room, call):
            totals = await self._counter.totals(pace.room, call)
            return await self._counted(totals, began, call, partly=False)
        return await self._sampled_frugally(pace.sample, call, is_slow=True)

    @property
    def _quick_limit(self) -> int:
        """Triples of a graph that the quick reading counts."""
        return min(self._profile.limits.scan_rows, self._profile.orientation.glance_triples)

    async def _counted(self, totals: Scan, began: float, call: Call, *, partly: bool) -> Schema:
        """Return the schema of a graph whose predicates are known; what was loaded since `began` may be missing."""
        async with together() as tasks:
            # Hubs are looked for beside all of it: nothing else waits for them.
            finding = tasks.create_task(types_of_hubs(partial(self._hubs, call), self._nodes, call))
            stating = tasks.create_task(self._annotations(call))
            schema = await self._counted_without_hubs(totals, began, call, partly=partly)
        return replace(schema, hubs=finding.result(), annotations=stating.result())

    async def _counted_without_hubs(self, totals: Scan, began: float, call: Call, *, partly: bool) -> Schema:
        async with together() as tasks:
            counting = tasks.create_task(self._counter.count(totals, call, partly=partly))
            triples = totals.triples if totals.is_whole else None
            naming = tasks.create_task(self._name_predicates.find(call, triples, totals.counts))
        counts = counting.result()
        share, of_blank = (None, "") if self.with_blank is None else await self.with_blank(counts, call)
        reason = counts.reason or totals.reason or of_blank
        if not reason and not totals.counts:
            reason = await self._reason_for_emptiness(call)
        types, predicates = await in_thread(
            call,
            lambda _: (by_frequency(counts.types), by_frequency(counts.predicates)),
            unless=len(counts.types) + len(counts.predicates) <= FEW_FOR_A_THREAD,
        )
        found = TermCounts(types, predicates, counts.is_cut or totals.has_cut_terms)
        basis = _basis(totals, began, is_part=counts.is_part)
        read = self._nodes.labels, call
        schema = await schema_of(found, basis, reason, *read, left_out=counts.left_out, broader=self._nodes.broader)
        found_names = naming.result()
        names = None if found_names is None else found_names.names
        blank = await self._blank(counts, names, call, are_all=not (counts.reason or totals.reason))
        # A graph with blank nodes has some without a type; where there are none, nothing more is asked.
        if share is None and any(map(is_reached_by, types)):
            share = await self._blank_share(call)
        return replace(_named(schema, found_names), blank=blank, blank_share=share)

    async def _blank_share(self, call: Call) -> BlankShare | None:
        """Return how many edges have a blank node at an end that is a node; None where that could not be counted."""
        given: dict[str, Parameter] = {"own": OWN, "most": self._profile.limits.scan_rows}
        try:
            edges = (await self._client.rows("check/blank_edges", call, given)).whole()
            types = (await self._client.rows("check/blank_types", call, {**given, "type": RDF_TYPE})).part()[0]
        except Fault:
            return None
        counts = {
            ends.value: count for ends, count in read(binding(edges, "blank"), literal("blank"), integer("count"))
        }
        by_type = dict(read(binding(types, "type"), iri("type"), integer("count")))
        return BlankShare(counts.get("some", 0), sum(counts.values()), tuple(by_frequency(by_type)))

    async def _blank(self, counts: Counts, names: Sequence[Iri] | None, call: Call, *, are_all: bool) -> BlankCounts:
        """Return what was not counted, because it is about blank nodes; in a Wikibase these are unknown values."""
        if self._profile.values.wikibase:
            return BlankCounts(are_all=True)
        found = BlankCounts(counts.blank_types, counts.blank_predicates, are_all=are_all)
        if not found:
            return found
        # Where that cannot be asked, a name may be missed.
        are_named = True
        if names is not None:
            with contextlib.suppress(Fault):
                are_named = await has_blank_names(self._client, names, self._profile.edges.types, (), call)
        return replace(found, are_named=are_named)

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
        methods: list[SchemaMethod] = ["sampled"]
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
        return _named(schema, naming.result())

    async def _of_classes(self, types: Sequence[Iri], call: Call) -> Counter[Iri]:
        """Return the predicates of a few nodes of the first types, without those that evidence alone has."""
        found = await self._sampler.of_classes(types, call)
        if self._rule.may_have_evidence:
            used, _ = await self._descriptions.used_predicates(list(found), call)
            return Counter({predicate: count for predicate, count in found.items() if predicate in used})
        return found

    async def _sampled_frugally(self, sample: Sample, call: Call, *, is_slow: bool = False) -> Schema:
        """Return the schema that a sample or two show, by one query after the other, all of them awaited.

        An endpoint that limits query time charges the most for a query that is cancelled, and the next calls would have
        to wait for that.
        """
        with contextlib.suppress(Fault):
            sample = Sample.of([sample, await self._sampler.at_random(call)])
        names = await self._name_predicates.find(call, is_slow=is_slow)
        seen = TermCounts(without_counts(sample.types), without_counts(sample.predicates), sample.is_cut)
        basis = Basis(("sampled",), self._wall_clock(), sample.triples, None)
        schema = await schema_of(seen, basis, _ONLY.format(sample.triples), self._nodes.labels, call)
        return _named(schema, names)

    async def _hubs(self, call: Call) -> Mapping[Iri, int]:
        # Leaving out the edges of evidence nodes would read every triple, and change no hub.
        given: dict[str, Parameter] = {
            "excepted": self._rule.excepted,
            "markers": (),
            "associations": (),
            "singletons": (),
            **self._rule.ends,
            "scan": self._quick_limit,
            "least": HUB_EDGES,
        }
        rows, _ = (await self._client.rows("schema/pointed_to", call, given, at_most=MOST_HUBS)).part()
        return counts_in(rows, "o")

    async def _annotations(self, call: Call) -> tuple[Iri, ...]:
        """Return the predicates of what is stated about edges; none where that could not be read."""
        if not (markers := self._rule.read_markers):
            return ()
        given: dict[str, Parameter] = {"markers": markers, "unsaid": TERMS_OF_EVIDENCE, "scan": self._quick_limit}
        try:
            answer = await self._client.rows("schema/annotations", call, given, at_most=_MOST_ANNOTATIONS)
        except Fault:
            return ()
        rows, _ = answer.part()
        return tuple(one for one in counts_in(rows, "p") if is_iri(one) and not one.startswith(OWN))

    async def _reason_for_emptiness(self, call: Call) -> str:
        """Return why the lists of an empty graph may not be all: the endpoint has its triples in named graphs."""
        if not self._client.is_remote or self._profile.endpoint.graphs != "default":
            return ""
        try:
            has_triples = await self._client.has_rows("check/named_graphs", call, {})
        except QueryRefused:
            # An engine without named graphs refuses to be asked for them.
            return ""
        except Fault as fault:
            return f"the graph that is asked is empty, and named graphs could not be looked for: {fault.wrong}"
        return _IN_NAMED_GRAPHS if has_triples else ""


def _named(schema: Schema, found: FoundNames | None) -> Schema:
    """Return a schema with the predicates of names that were found."""
    if found is None:
        return schema
    return replace(
        schema,
        names=found.names,
        synonyms=found.synonyms,
        codes=found.codes,
        languages=found.languages,
        descriptions=found.descriptions,
        name_parts=found.parts,
    )


def _basis(totals: Scan, began: float, *, is_part: bool) -> Basis:
    method: SchemaMethod = "enumerated" if totals.is_whole and not is_part else "sampled"
    if totals.is_whole:
        return Basis((method,), began, 0, totals.triples)
    return Basis((method,), began, min(totals.limit, totals.triples), None)
