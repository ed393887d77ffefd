"""Checks an endpoint, or a graph in this process, and returns the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyoxigraph

from gateway.checking import probes
from gateway.checking.comparison import Comparer
from gateway.checking.endpoint_discovery import find_query_endpoint
from gateway.checking.prober import SECONDS_EACH, Prober
from gateway.checking.probes import determined, text_search
from gateway.checking.report import Claim, Claims, Report, not_determined, settings_for
from gateway.checking.second_client import SecondClient
from gateway.checking.self_description import SelfDescription, read_self_description
from gateway.errors import DeadlinePassed, Fault, NetworkFault, NoQueryEndpoint
from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import EndpointSettings, EngineName, Graphs
from gateway.settings.profile import Profile
from gateway.settings.urls import without_query
from gateway.sparql.engines.traits import TRAITS, timeout_policy
from gateway.sparql.sparql_store import SparqlStore
from gateway.transport.http import Http
from gateway.transport.inprocess import InProcess
from gateway.transport.verdict import OPERATOR

_HERE = "the graph is in this process"


async def check_endpoint(http: Http, profile: Profile, *, seconds_each: float = SECONDS_EACH) -> Report:
    """Return what an endpoint can do, and how it must be queried.

    A probe may take `seconds_each`; the claim of one that takes longer is not determined.

    Raises:
        Fault: The endpoint cannot be reached, or it is no SPARQL endpoint.
    """
    prober = Prober.of(http, profile.endpoint, seconds_each)
    await _check_reachable(http, prober)
    description = await read_self_description(http, prober)
    http.timeout_policy = timeout_policy(profile.endpoint.timeout, _asked_as(profile.endpoint, description))
    claims = await _claims(http, prober, profile, description)
    graphs = await _graphs(prober, profile, description, claims)
    return Report(
        place=without_query(http.url),
        claims=claims,
        comparisons=await _comparer(http, prober, profile, description, claims).comparisons(
            claims.triples, several=_several(profile.endpoint, claims.named_graphs, claims.union_default_graph)
        ),
        warnings=tuple(_warnings(profile, description, claims)),
        settings=settings_for(http.url, description.recognised.engine, claims, graphs),
    )


async def _check_reachable(http: Http, prober: Prober) -> None:
    """Check that there is an endpoint.

    Raises:
        Fault: There is none; the text names the URL if it is at another one.
    """
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


async def check_graph(transport: InProcess, place: str, profile: Profile) -> Report:
    """Return the report on a graph in this process, named `place`, as far as the claims apply to it."""
    prober = Prober.of(transport, profile.endpoint, SECONDS_EACH)
    graphs = await determined(probes.named_graphs(prober))
    claims = Claims(
        engine=Claim("oxigraph", f"{_HERE}, under this engine"),
        version=Claim(pyoxigraph.__version__, "the version of pyoxigraph"),
        post=not_determined(f"{_HERE}: nothing is sent"),
        get=not_determined(f"{_HERE}: nothing is sent"),
        row_cap=await determined(probes.row_cap(prober, profile.limits.query_rows)),
        time_limit=Claim("none", f"{_HERE}, and a query ends with its call"),
        deadline=Claim("enforced by this gateway", "the query is stopped when the time of a call is up"),
        lateral=await determined(probes.lateral(prober)),
        rdf_1_2=await determined(probes.rdf_1_2(prober)),
        text_search=await determined(text_search(prober, "oxigraph", profile.roles.name)),
        named_graphs=replace(graphs, why=f"{graphs.why}; loading files merges their named graphs"),
        union_default_graph=await determined(probes.union_default_graph(prober, graphs)),
        triples=await determined(probes.triples(prober, several=False)),
    )
    return Report(place, claims, (), tuple(_empty(claims.triples)), "")


async def _claims(http: Http, prober: Prober, profile: Profile, description: SelfDescription) -> Claims:
    engine = description.recognised.engine
    everything = http.over_all_graphs()
    try:
        bare = prober.with_transport(everything)
        graphs = await determined(probes.named_graphs(bare))
        union = _with_described_union(await determined(probes.union_default_graph(bare, graphs)), description)
    finally:
        await everything.close()
    several = _several(profile.endpoint, graphs, union)
    return Claims(
        engine=_engine(description),
        version=await _version(prober, description),
        post=await _takes(http, prober, "POST"),
        get=await _takes(http, prober, "GET"),
        row_cap=await determined(probes.row_cap(prober, profile.limits.query_rows)),
        time_limit=description.time_limit,
        deadline=_deadline(http, profile.endpoint, description),
        lateral=await determined(probes.lateral(prober)),
        rdf_1_2=await determined(probes.rdf_1_2(prober)),
        text_search=await determined(text_search(prober, engine, profile.roles.name)),
        named_graphs=graphs,
        union_default_graph=union,
        triples=_with_described_triples(await determined(probes.triples(prober, several=several)), description),
    )


def _engine(description: SelfDescription) -> Claim:
    recognised = description.recognised
    if recognised.engine == "unknown":
        return not_determined(recognised.evidence)
    return Claim(recognised.engine, recognised.evidence)


async def _version(prober: Prober, description: SelfDescription) -> Claim:
    recognised = description.recognised
    if recognised.version:
        return Claim(recognised.version, recognised.version_evidence)
    if recognised.engine == "fuseki":
        return await determined(probes.version_of_jena(prober))
    return not_determined("the server does not publish it")


async def _takes(http: Http, prober: Prober, method: str) -> Claim:
    other = http.by("post" if method == "POST" else "get")
    try:
        return await determined(probes.takes(prober.with_transport(other), method))
    finally:
        await other.close()


def _asked_as(endpoint: EndpointSettings, description: SelfDescription) -> EngineName:
    return description.recognised.engine if endpoint.engine == "auto" else endpoint.engine


def _deadline(http: Http, endpoint: EndpointSettings, description: SelfDescription) -> Claim:
    """Return how the endpoint receives the time limit of a query; to test it would take a heavy query."""
    engine = _asked_as(endpoint, description)
    traits, policy = TRAITS[engine], http.timeout_policy
    if policy.sends_time:
        way = (
            f"header {policy.timeout_header}" if policy.timeout_header else f"form parameter {policy.timeout_parameter}"
        )
        said = endpoint.timeout.parameter or endpoint.timeout.header
        return Claim(
            f"{way}, in {policy.timeout_unit}",
            "the profile says so" if said else f"what {traits.name} is known to accept; not tried",
        )
    if traits.cuts_at_deadline:
        return Claim("none is sent", f"{traits.name} would answer it with a part of the rows")
    if engine == "unknown":
        return Claim("none is sent", "the engine is not recognised, and the profile names no parameter")
    return Claim("none is sent", f"no way to send it to {traits.name} is known here, and the profile names none")


def _with_described_union(union: Claim, description: SelfDescription) -> Claim:
    """Return the claim, compared with the service description."""
    if not description.is_union or union.value is None:
        return union
    if union.value:
        return replace(union, why=f"{union.why}; its service description says so too")
    return not_determined(f"its service description says that it is, but {union.why}")


def _with_described_triples(triples: Claim, description: SelfDescription) -> Claim:
    """Return the claim, with the number that the server reports beside the counted one."""
    if description.triples is None or triples.value is None:
        return triples
    return replace(triples, why=f"{triples.why}; the server's own number is {description.triples:,}")


def _several(endpoint: EndpointSettings, graphs: Claim, union: Claim) -> bool:
    """Return whether the queried graph may be the union of several graphs, where a triple may occur repeatedly."""
    if endpoint.graphs == "default":
        return graphs.value != 0 and union.value is not False
    return endpoint.graphs == "union" or len(endpoint.graphs) > 1


def _is_elsewhere(profile: Profile, claims: Claims) -> bool:
    """Return whether the queried graph is empty and a named graph is not."""
    return (
        profile.endpoint.graphs == "default"
        and claims.triples.value == 0
        and bool(claims.named_graphs.value)
        and claims.union_default_graph.value is not True
    )


async def _graphs(prober: Prober, profile: Profile, description: SelfDescription, claims: Claims) -> Graphs:
    """Return the graphs to query: if all triples are in named graphs, their union on Fuseki, else their names."""
    if not _is_elsewhere(profile, claims):
        return profile.endpoint.graphs
    if description.recognised.engine == "fuseki":
        return "union"
    try:
        return await probes.names_of_graphs(prober) or "default"
    except Fault:
        return "default"


def _comparer(http: Http, prober: Prober, profile: Profile, description: SelfDescription, claims: Claims) -> Comparer:
    known = profile.endpoint.model_copy(
        update={
            "engine": _asked_as(profile.endpoint, description),
            "lateral": "auto" if claims.lateral.value is None else bool(claims.lateral.value),
        }
    )
    store = SparqlStore(http, profile.model_copy(update={"endpoint": known}))
    return Comparer(store, SecondClient(http), prober, profile)


def _warnings(profile: Profile, description: SelfDescription, claims: Claims) -> Iterator[str]:
    recognised, pinned = description.recognised.engine, profile.endpoint.engine
    if pinned not in {"auto", "unknown", recognised}:
        yield f"The profile says {pinned}; the evidence: {recognised} ({description.recognised.evidence})."
    cap = claims.row_cap
    rows = profile.limits.query_rows if "query_rows" in profile.limits.model_fields_set else 0
    if cap.value is not None and not cap.at_least and rows >= int(cap.value):
        yield f"limits.query_rows = {rows} is not below the row cap of {cap.value}."
    if profile.endpoint.lateral is True and claims.lateral.value is False:
        yield "The profile says that the engine supports LATERAL, but it does not."
    if TRAITS[recognised].cuts_silently and profile.endpoint.trusted:
        yield f"A time-out of {TRAITS[recognised].name} cuts answers without a sign, unless it is configured otherwise."
    if _is_elsewhere(profile, claims):
        yield "The queried graph is empty; the triples are in named graphs."
    else:
        yield from _empty(claims.triples)


def _empty(triples: Claim) -> Iterator[str]:
    if triples.value == 0 and not triples.at_least:
        yield "The queried graph is empty."
