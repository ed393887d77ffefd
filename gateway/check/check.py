"""Checks an endpoint, or a graph in this process, and what its profile says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import pyoxigraph

from gateway.check import probes
from gateway.check.comparison import Comparer, SecondClient
from gateway.check.discovery import SelfDescription, find_query_endpoint, read_self_description
from gateway.check.probes import SECONDS_EACH, Prober, number_of
from gateway.check.report import (
    Claim,
    Claims,
    Report,
    SettingCheck,
    TemplateCheck,
    found_settings,
    not_determined,
    settings_for,
)
from gateway.check.template_check import TemplateChecker
from gateway.errors import DeadlinePassed, Fault, NetworkFault, NoQueryEndpoint
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri
from gateway.messages import without_names
from gateway.settings.endpoint import Graphs
from gateway.settings.profile import Profile, has_blank_nodes
from gateway.settings.urls import without_query
from gateway.sparql.blank.nodes import WayBack
from gateway.sparql.engines import TRAITS, timeout_policy
from gateway.sparql.store import SparqlStore
from gateway.sparql.template import NAMED_GRAPHS
from gateway.terms.prefixes import PrefixMap
from gateway.terms.well_known_prefixes import WELL_KNOWN
from gateway.transport.http import Http
from gateway.transport.inprocess import InProcess
from gateway.transport.response_verdict import OPERATOR

_PREDICATES: Mapping[str, Sequence[str]] = {
    "edges": ("types", "also_excepted", "redirects"),
    "types": ("subclass_of",),
    "roles": ("name", "synonym", "description", "mentions", "confidence", "source", "negated"),
    "names": ("predicate_entity",),
    "identity": ("same_as", "formatters"),
}
"""Settings that name predicates of the graph, by their tables."""

_MOST_TERMS = 20
"""Predicates, or named graphs, of one setting that are looked for."""


@dataclass(frozen=True, slots=True)
class ProfileCheck:
    """The comparison of a profile with an endpoint.

    Attributes:
        profile: The profile.
        url: The endpoint.
        prober: Asks the graphs that the profile selects.
        bare: Asks the endpoint without a selection of graphs.
    """

    profile: Profile
    url: str
    prober: Prober
    bare: Prober

    async def settings(self, claims: Claims) -> tuple[SettingCheck, ...]:
        """Return what holds of the settings that the profile itself gives; `claims` is what the endpoint shows."""
        given = [*self._of_claims(claims)]
        graphs = self.profile.endpoint.graphs
        if isinstance(graphs, tuple):
            given.append(await self._terms("endpoint.graphs", graphs, self._has_graph, "is in"))
        for setting, predicates in self._predicates():
            given.append(await self._terms(setting, predicates, self._is_used, "has"))
        return tuple(given)

    def _of_claims(self, claims: Claims) -> Iterator[SettingCheck]:
        endpoint, limits = self.profile.endpoint, self.profile.limits
        if endpoint.url:
            is_asked = endpoint.url == self.url
            why = "it answers SPARQL queries" if is_asked else "another endpoint was checked"
            yield SettingCheck("endpoint.url", without_query(endpoint.url), True if is_asked else None, why)
        if endpoint.engine not in {"auto", "unknown"}:
            yield _equal("endpoint.engine", endpoint.engine, claims.engine)
        if isinstance(endpoint.lateral, bool):
            yield _equal("endpoint.lateral", endpoint.lateral, claims.lateral)
        if endpoint.quota.time_limit_seconds:
            limit = endpoint.quota.time_limit_seconds
            yield _granted("endpoint.quota.time_limit_seconds", limit, claims.time_limit, least=limit)
        if "query_rows" in limits.model_fields_set:
            # An answer that is cut at just as many rows as were asked for looks whole.
            yield _granted("limits.query_rows", limits.query_rows, claims.row_cap, least=limits.query_rows + 1)

    def _predicates(self) -> Iterator[tuple[str, Sequence[Iri]]]:
        """Yield the settings of the profile that name predicates; bare local names fit any."""
        for table, keys in _PREDICATES.items():
            section = getattr(self.profile, table)
            for key in keys:
                predicates = [entry for entry in getattr(section, key) if ":" in entry]
                if key in section.model_fields_set and predicates:
                    yield f"{table}.{key}", predicates

    async def _terms(
        self, setting: str, terms: Sequence[Iri], is_there: Callable[[Iri], Awaitable[bool]], verb: str
    ) -> SettingCheck:
        """Return whether the endpoint has every term of a list; `verb` is between a triple and a term."""
        short = PrefixMap(self.profile.prefixes).declared_form
        stated = ", ".join(map(short, terms))
        try:
            absent = [short(term) for term in terms[:_MOST_TERMS] if not await is_there(term)]
        except Fault as fault:
            return SettingCheck(setting, stated, None, fault.wrong)
        if absent:
            return SettingCheck(setting, stated, False, f"no triple {verb} {', '.join(absent)}")
        if len(terms) > _MOST_TERMS:
            return SettingCheck(setting, stated, None, f"the first {_MOST_TERMS} are there, the others were not tried")
        return SettingCheck(setting, stated, True, f"a triple {verb} {'each' if len(terms) > 1 else 'it'}")

    async def _is_used(self, predicate: Iri) -> bool:
        return number_of(await self.prober.rows("check/used", 1, predicate=predicate, most=1), "count") > 0

    async def _has_graph(self, graph: Iri) -> bool:
        return number_of(await self.bare.rows("check/in_graph", 1, graph=graph, most=1), "count") > 0


def _equal(setting: str, stated: bool | str, claim: Claim) -> SettingCheck:
    holds = None if claim.value is None else claim.value == stated
    return SettingCheck(setting, str(stated).lower() if isinstance(stated, bool) else stated, holds, claim.why)


def _granted(setting: str, stated: float, claim: Claim, *, least: float) -> SettingCheck:
    """Return whether the endpoint grants as much as the profile counts on; a lower bound proves only that it does."""
    granted = claim.value if isinstance(claim.value, int) else None
    holds = None if granted is None or (claim.at_least and granted < least) else granted >= least
    return SettingCheck(setting, f"{stated:,.15g}", holds, claim.why)


_HERE = "the graph is in this process"


async def check_endpoint(http: Http, profile: Profile, *, seconds_each: float = SECONDS_EACH) -> Report:
    """Return what an endpoint can do, and how it must be queried.

    A probe may take `seconds_each`; the claim of one that takes longer is not determined.

    Raises:
        Fault: The endpoint cannot be reached, or it is not a SPARQL endpoint.
    """
    prober = Prober.of(http, profile.endpoint, seconds_each)
    await _check_reachable(http, prober)
    return await _EndpointCheck(http, prober, profile, await read_self_description(http, prober)).report()


async def check_graph(
    transport: InProcess, place: str, profile: Profile, prefixes: Mapping[str, str] = MappingProxyType({})
) -> Report:
    """Return the report on a graph in this process, named `place`, as far as the claims apply to it.

    `prefixes` are those of its files, by which it names what it found.
    """
    prober = Prober.of(transport, profile.endpoint, SECONDS_EACH)
    graphs = await probes.named_graphs(prober)
    claims = Claims(
        engine=Claim("oxigraph", f"{_HERE}, under this engine"),
        version=Claim(pyoxigraph.__version__, "the version of pyoxigraph"),
        post=not_determined(f"{_HERE}: nothing is sent"),
        get=not_determined(f"{_HERE}: nothing is sent"),
        row_cap=await probes.row_cap(prober, profile.limits.query_rows),
        sentinel=not_determined(f"{_HERE}: nothing can be cut off an answer"),
        format=Claim("JSON", f"{_HERE}: nothing is sent"),
        time_limit=Claim("none", f"{_HERE}, and a query ends with its call"),
        deadline=Claim("enforced by this gateway", "the query is stopped when the time of a call is up"),
        lateral=await probes.lateral(prober),
        rdf_1_2=await probes.rdf_1_2(prober),
        text_search=await probes.text_search(prober, "oxigraph", profile.roles.name),
        named_graphs=replace(graphs, why=f"{graphs.why}; loading files merges their named graphs"),
        union_default_graph=await probes.union_default_graph(prober, graphs),
        triples=await probes.triples(prober, several=False),
        blank_nodes=await probes.blank_nodes(prober, PrefixMap(prefixes)),
        names=await names(SparqlStore(transport, profile), SECONDS_EACH, prefixes),
    )
    imports = await probes.missing_imports(prober, PrefixMap(prefixes))
    return Report(place, claims, (), (*_empty(claims.triples), *imports), "")


async def names(store: GraphStore, seconds: float, prefixes: Mapping[str, str]) -> Claim:
    """Return the predicates that are taken for names, and how many nodes have none."""
    call = Call(Deadline.after(4 * seconds), _REQUESTS, _ROWS, _ROWS)
    try:
        schema = await store.quick_schema(call)
        found = await store.nameless(schema, call)
    except Fault as fault:
        return not_determined(fault.wrong)
    if schema.names is None:
        return not_determined("the predicates of names could not be read")
    listed = PrefixMap(prefixes, None, WELL_KNOWN).listed(schema.names, _NAMES)
    counted_so = "how many nodes have no name is not known" if found is None else without_names(found)
    return Claim(listed or "none", counted_so)


async def _check_reachable(http: Http, prober: Prober) -> None:
    """Raise the fault of an endpoint that is none; the text names the URL if it is at another one."""
    try:
        await probes.alive(prober)
    except DeadlinePassed:
        raise NetworkFault(
            f"The endpoint did not answer a harmless query within {prober.seconds_each:g} s.", next_step=OPERATOR
        ) from None
    except NoQueryEndpoint as fault:
        found = await find_query_endpoint(http, Deadline.after(prober.seconds_each))
        if found is not None and found != http.url:
            raise NoQueryEndpoint(fault.wrong, next_step=f"The query endpoint is {found}") from None
        raise NoQueryEndpoint(fault.wrong, next_step=OPERATOR) from None


_NAMES = 5
"""Predicates of names that are listed."""

_REQUESTS, _ROWS = 50, 50_000
"""What finding out may take whether blank nodes can be asked for again."""

_WAYS_BACK: Mapping[WayBack | None, str] = {
    "keys": "they can be asked for again, so that traversals follow them",
    "walks": "they can be asked for by walks from nodes with an IRI, so that traversals follow those that differ",
    "none": "they cannot be asked for again, so that no path leads through them",
    None: "whether they can be asked for again could not be found out",
}


class _EndpointCheck:
    """The check of one endpoint that answers."""

    def __init__(self, http: Http, prober: Prober, profile: Profile, description: SelfDescription) -> None:
        self._http = http
        self._prober = prober
        self._profile = profile
        self._endpoint = profile.endpoint
        self._description = description
        self._recognised = description.recognised
        self._engine = self._recognised.engine if self._endpoint.engine == "auto" else self._endpoint.engine
        http.timeout_policy = timeout_policy(self._endpoint.timeout, self._engine)

    async def report(self) -> Report:
        everything = self._http.over_all_graphs()
        try:
            bare = self._prober.with_transport(everything)
            named = await probes.named_graphs(bare)
            union = self._with_described_union(await probes.union_default_graph(bare, named))
            several = self._several(named, union)
            claims = await self._claims(named, union, several=several)
            # Its own time, so that a slow endpoint does not leave all settings undetermined.
            prober = Prober.of(self._http, self._endpoint, self._prober.seconds_each)
            other = prober.with_transport(everything)
            profile = await ProfileCheck(self._profile, self._http.url, prober, other).settings(claims)
        finally:
            await everything.close()
        graphs = await self._graphs(claims)
        lateral = "auto" if claims.lateral.value is None else bool(claims.lateral.value)
        templates = await self._templates(claims, lateral)
        comparer = Comparer(self._store(lateral=lateral), SecondClient(self._http), self._prober, self._profile)
        engine = self._recognised.engine
        found = found_settings(self._http, engine, claims, templates)
        return Report(
            place=without_query(self._http.url),
            claims=claims,
            comparisons=await comparer.comparisons(claims.triples, several=several),
            warnings=(
                *self._warnings(claims),
                *await probes.missing_imports(self._prober, PrefixMap(self._profile.prefixes)),
            ),
            settings=settings_for(self._http, engine, claims, graphs, found),
            found=found,
            profile=profile,
            templates=templates,
        )

    async def _claims(self, named: Claim, union: Claim, *, several: bool) -> Claims:
        prober, recognised = self._prober, self._recognised
        engine = Claim(recognised.engine, recognised.evidence)
        row_cap = await probes.row_cap(prober, self._profile.limits.query_rows)
        return Claims(
            engine=engine if recognised.engine != "unknown" else not_determined(recognised.evidence),
            version=await self._version(),
            post=await self._takes("POST"),
            get=await self._takes("GET"),
            row_cap=row_cap,
            sentinel=await probes.sentinel(prober, row_cap),
            format=await self._format(),
            time_limit=self._description.time_limit,
            deadline=self._deadline(),
            lateral=await probes.lateral(prober),
            rdf_1_2=await probes.rdf_1_2(prober),
            text_search=await probes.text_search(prober, recognised.engine, self._profile.roles.name),
            named_graphs=named,
            union_default_graph=union,
            triples=self._with_described_triples(await probes.triples(prober, several=several)),
            blank_nodes=await self._blank_nodes(),
            names=await self._names(),
        )

    async def _names(self) -> Claim:
        return await names(self._store(), self._prober.seconds_each, self._profile.prefixes)

    def _store(self, **found: object) -> SparqlStore:
        """Return a store that asks the endpoint as its engine, and what else was found of it, wants it."""
        return SparqlStore(self._http, self._known(**found))

    async def _blank_nodes(self) -> Claim:
        """Return the share of blank nodes, and whether they can be asked for again."""
        claim = await probes.blank_nodes(self._prober, PrefixMap(self._profile.prefixes))
        if claim.value in {None, "none"} or not has_blank_nodes(self._profile):
            return claim
        seconds = self._prober.seconds_each
        way_back = await self._store().way_back(Call(Deadline.after(4 * seconds), _REQUESTS, _ROWS, _ROWS))
        return replace(claim, why=f"{claim.why}; {_WAYS_BACK[way_back]}")

    async def _version(self) -> Claim:
        if self._recognised.version:
            return Claim(self._recognised.version, self._recognised.version_evidence)
        if self._recognised.engine == "fuseki":
            return await probes.version_of_jena(self._prober)
        return not_determined("the server does not publish it")

    async def _takes(self, method: str) -> Claim:
        other = self._http.by("post" if method == "POST" else "get")
        try:
            return await probes.takes(self._prober.with_transport(other), method)
        finally:
            await other.close()

    async def _format(self) -> Claim:
        wanted, traits = self._endpoint.format, TRAITS[self._engine]
        if wanted == "json":
            return Claim("JSON", "the profile says so")
        if wanted == "auto" and not traits.writes_tsv:
            return Claim("JSON", f"{traits.name} is not known to write TSV faster")
        return await probes.tsv(self._prober, self._http)

    def _deadline(self) -> Claim:
        """Return how the endpoint receives the time limit of a query; to test it would take a heavy query."""
        traits, policy, timeout = TRAITS[self._engine], self._http.timeout_policy, self._endpoint.timeout
        if policy.sends_time:
            header, parameter = policy.timeout_header, policy.timeout_parameter
            given = timeout.parameter or timeout.header
            return Claim(
                f"{f'header {header}' if header else f'form parameter {parameter}'}, in {policy.timeout_unit}",
                "the profile says so" if given else f"what {traits.name} is known to accept; not tried",
            )
        if traits.cuts_at_deadline:
            return Claim("none is sent", f"{traits.name} would answer it with a part of the rows")
        if self._engine == "unknown":
            return Claim("none is sent", "the engine is not recognised, and the profile names no parameter")
        return Claim("none is sent", f"no way to send it to {traits.name} is known here, and the profile names none")

    def _with_described_union(self, union: Claim) -> Claim:
        """Return the claim, compared with the service description."""
        if not self._description.is_union or union.value is None:
            return union
        if union.value:
            return replace(union, why=f"{union.why}; its service description says so too")
        return not_determined(f"its service description says that it is, but {union.why}")

    def _with_described_triples(self, triples: Claim) -> Claim:
        """Return the claim, with the number that the server reports beside the counted one."""
        described = self._description.triples
        if described is None or triples.value is None:
            return triples
        return replace(triples, why=f"{triples.why}; the server's own number is {described:,}")

    def _several(self, named: Claim, union: Claim) -> bool:
        """Return whether the queried graph may be the union of several graphs, where a triple may occur repeatedly."""
        graphs = self._endpoint.graphs
        if graphs == "default":
            return named.value != 0 and union.value is not False
        return graphs == "union" or len(graphs) > 1

    def _is_elsewhere(self, claims: Claims) -> bool:
        """Return whether the queried graph is empty and a named graph is not."""
        return (
            self._endpoint.graphs == "default"
            and claims.triples.value == 0
            and bool(claims.named_graphs.value)
            and claims.union_default_graph.value is not True
        )

    async def _graphs(self, claims: Claims) -> Graphs:
        """Return the graphs to query: if all triples are in named graphs, their union on Fuseki, else their names."""
        if not self._is_elsewhere(claims):
            return self._endpoint.graphs
        if self._recognised.engine == "fuseki":
            return "union"
        try:
            return await probes.names_of_graphs(self._prober) or "default"
        except Fault:
            return "default"

    def _known(self, **found: object) -> Profile:
        """Return the profile with the engine, and what it supports, as they were found."""
        known = self._endpoint.model_copy(update={"engine": self._engine, **found})
        return self._profile.model_copy(update={"endpoint": known})

    async def _templates(self, claims: Claims, lateral: bool | str) -> TemplateCheck:
        found = {
            "lateral": claims.lateral.value,
            "sparql-1.2": claims.rdf_1_2.value,
            NAMED_GRAPHS: claims.named_graphs.value,
        }
        dialects = {dialect for dialect, supported in found.items() if supported}
        if claims.text_search.value:
            dialects.add(self._engine)
        prober = Prober.of(self._http, self._endpoint, self._prober.seconds_each)
        return await TemplateChecker(self._http, self._known(lateral=lateral), prober, frozenset(dialects)).check()

    def _warnings(self, claims: Claims) -> Iterator[str]:
        recognised, limits = self._recognised, self._profile.limits
        if self._endpoint.engine not in {"auto", "unknown", recognised.engine}:
            evidence = f"{recognised.engine} ({recognised.evidence})"
            yield f"The profile says {self._endpoint.engine}; the evidence: {evidence}."
        cap = claims.row_cap
        rows = limits.query_rows if "query_rows" in limits.model_fields_set else 0
        if cap.value is not None and not cap.at_least and rows >= int(cap.value):
            yield f"limits.query_rows = {rows} is not below the row cap of {cap.value}."
        pinned, found = self._endpoint.sentinel, claims.sentinel.value
        asked = (TRAITS[self._engine].sentinel or "sorted") if pinned == "auto" else pinned
        if asked != "none" and found == "none":
            yield "No last row proves the end of answers here: they are counted, or not complete (end_unproven)."
        elif asked != "none" and found is not None and found not in {asked, "united"}:
            yield f"Queries ask for the sentinel as {asked}, but it is last only as {found}: set endpoint.sentinel."
        if self._endpoint.lateral is True and claims.lateral.value is False:
            yield "The profile says that the engine supports LATERAL, but it does not."
        if self._is_elsewhere(claims):
            yield "The queried graph is empty; the triples are in named graphs."
        else:
            yield from _empty(claims.triples)


def _empty(triples: Claim) -> Iterator[str]:
    if triples.value == 0 and not triples.at_least:
        yield "The queried graph is empty."
