"""The whole check, of an endpoint or of a graph in this process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyoxigraph

from gateway.checking import probes
from gateway.checking.claims import Claim, Claims, Report, not_determined
from gateway.checking.comparison import Comparer
from gateway.checking.endpoint_discovery import find_query_endpoint
from gateway.checking.prober import SECONDS_EACH, Prober
from gateway.checking.probes import determined
from gateway.checking.second_client import SecondClient
from gateway.checking.self_description import SelfDescription, gather
from gateway.checking.suggested_profile import settings_for
from gateway.checking.text_search import text_search
from gateway.errors import DeadlinePassed, Fault, NetworkFault, NoQueryEndpoint
from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import EndpointSettings, EngineName, Graphs
from gateway.settings.profile import Profile
from gateway.settings.urls import without_query
from gateway.sparql.engines.traits import TRAITS, timeout_policy
from gateway.sparql.store import SparqlStore
from gateway.transport.advice import OPERATOR
from gateway.transport.http import Http
from gateway.transport.inprocess import InProcess

_HERE = "the graph is in this process"


async def check_endpoint(http: Http, profile: Profile, *, seconds_each: float = SECONDS_EACH) -> Report:
    """Find out what an endpoint can do, and how it must be asked.

    Args:
        http: The way to it.
        profile: What the operator says about it already.
        seconds_each: Time for one probe; one that takes longer leaves its claim undetermined.

    Raises:
        Fault: It is not reached, or it is no SPARQL endpoint.
    """
    prober = Prober.of(http, profile.endpoint, seconds_each)
    await _reach(http, prober)
    evidence = await gather(http, prober)
    http.timeout_policy = timeout_policy(profile.endpoint, _asked_as(profile.endpoint, evidence))
    claims = await _claims(http, prober, profile, evidence)
    graphs = await _graphs(prober, profile, evidence, claims)
    return Report(
        place=without_query(http.url),
        claims=claims,
        comparisons=await _comparer(http, prober, profile, evidence, claims).compared(
            claims.triples, several=_several(profile.endpoint, claims.named_graphs, claims.union_default_graph)
        ),
        warnings=tuple(_warnings(profile, evidence, claims)),
        settings=settings_for(http.url, evidence.recognised.engine, claims, graphs),
    )


async def _reach(http: Http, prober: Prober) -> None:
    """Make sure that there is an endpoint; where it is at another URL, say which.

    Raises:
        Fault: There is none.
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
    """Find out the same of a graph in this process, as far as it makes sense there.

    Args:
        transport: The way to it.
        place: What to call it.
        profile: How it is read.
    """
    prober = Prober.of(transport, profile.endpoint, SECONDS_EACH)
    graphs = await determined(probes.named_graphs(prober))
    claims = Claims(
        engine=Claim("oxigraph", f"{_HERE}, under this engine"),
        version=Claim(pyoxigraph.__version__, "the version of pyoxigraph"),
        post=not_determined(f"{_HERE}: nothing is sent"),
        get=not_determined(f"{_HERE}: nothing is sent"),
        row_cap=await determined(probes.row_cap(prober, profile.limits.query_rows)),
        time_limit=Claim("none", f"{_HERE}, and a query ends with its call"),
        deadline=Claim("kept here", "the engine's output is stopped when the time of a call is up"),
        lateral=await determined(probes.lateral(prober)),
        rdf_1_2=await determined(probes.rdf_1_2(prober)),
        text_search=await determined(text_search(prober, "oxigraph", profile.roles.name)),
        named_graphs=replace(graphs, why=f"{graphs.why}; names of graphs are folded away when files are loaded"),
        union_default_graph=await determined(probes.union_default_graph(prober, graphs)),
        triples=await determined(probes.triples(prober, several=False)),
    )
    return Report(place, claims, (), tuple(_empty(claims.triples)), "")


async def _claims(http: Http, prober: Prober, profile: Profile, evidence: SelfDescription) -> Claims:
    engine = evidence.recognised.engine
    everything = http.over_all_graphs()
    try:
        bare = prober.through(everything)
        graphs = await determined(probes.named_graphs(bare))
        union = _told_union(await determined(probes.union_default_graph(bare, graphs)), evidence)
    finally:
        await everything.close()
    several = _several(profile.endpoint, graphs, union)
    return Claims(
        engine=_engine(evidence),
        version=await _version(prober, evidence),
        post=await _takes(http, prober, "POST"),
        get=await _takes(http, prober, "GET"),
        row_cap=await determined(probes.row_cap(prober, profile.limits.query_rows)),
        time_limit=evidence.time_limit,
        deadline=_deadline(http, profile.endpoint, evidence),
        lateral=await determined(probes.lateral(prober)),
        rdf_1_2=await determined(probes.rdf_1_2(prober)),
        text_search=await determined(text_search(prober, engine, profile.roles.name)),
        named_graphs=graphs,
        union_default_graph=union,
        triples=_told_triples(await determined(probes.triples(prober, several=several)), evidence),
    )


def _engine(evidence: SelfDescription) -> Claim:
    recognised = evidence.recognised
    if recognised.engine == "unknown":
        return not_determined(recognised.evidence)
    return Claim(recognised.engine, recognised.evidence)


async def _version(prober: Prober, evidence: SelfDescription) -> Claim:
    recognised = evidence.recognised
    if recognised.version:
        return Claim(recognised.version, recognised.version_evidence)
    if recognised.engine == "fuseki":
        return await determined(probes.version_of_jena(prober))
    return not_determined("it does not tell")


async def _takes(http: Http, prober: Prober, method: str) -> Claim:
    other = http.by("post" if method == "POST" else "get")
    try:
        return await determined(probes.takes(prober.through(other), method))
    finally:
        await other.close()


def _asked_as(endpoint: EndpointSettings, evidence: SelfDescription) -> EngineName:
    return evidence.recognised.engine if endpoint.engine == "auto" else endpoint.engine


def _deadline(http: Http, endpoint: EndpointSettings, evidence: SelfDescription) -> Claim:
    """Say how the endpoint is told the time that is left; to try whether it obeys would take a heavy query."""
    engine = _asked_as(endpoint, evidence)
    traits, told = TRAITS[engine], http.timeout_policy
    if told.tells_time:
        way = f"header {told.timeout_header}" if told.timeout_header else f"form parameter {told.timeout_parameter}"
        said = endpoint.timeout_parameter or endpoint.timeout_header
        return Claim(
            f"{way}, in {told.timeout_unit}",
            "the profile says so" if said else f"what {traits.name} is known to take; not tried",
        )
    if traits.cuts_at_deadline:
        return Claim("none is sent", f"{traits.name} would answer it with a part of the rows")
    if engine == "unknown":
        return Claim("none is sent", "the engine is not recognised, and the profile names no parameter")
    return Claim("none is sent", f"no way to tell {traits.name} is known here, and the profile names none")


def _told_union(union: Claim, evidence: SelfDescription) -> Claim:
    """Put the service description's word beside what was found."""
    if not evidence.is_union or union.value is None:
        return union
    if union.value:
        return replace(union, why=f"{union.why}; its service description says so too")
    return not_determined(f"its service description says that it is, but {union.why}")


def _told_triples(triples: Claim, evidence: SelfDescription) -> Claim:
    """Put the server's own number beside what was counted."""
    if evidence.triples is None or triples.value is None:
        return triples
    return replace(triples, why=f"{triples.why}; the server's own number is {evidence.triples:,}")


def _several(endpoint: EndpointSettings, graphs: Claim, union: Claim) -> bool:
    """Tell whether the graph that is asked may be put together of several: then a triple may come several times."""
    if endpoint.graphs == "default":
        return graphs.value != 0 and union.value is not False
    return endpoint.graphs == "union" or len(endpoint.graphs) > 1


def _is_elsewhere(profile: Profile, claims: Claims) -> bool:
    """Tell whether the graph that is asked is empty and the named graphs are not."""
    return (
        profile.endpoint.graphs == "default"
        and claims.triples.value == 0
        and bool(claims.named_graphs.value)
        and claims.union_default_graph.value is not True
    )


async def _graphs(prober: Prober, profile: Profile, evidence: SelfDescription, claims: Claims) -> Graphs:
    """Return the graphs to ask: where all triples are in named ones, their union on Fuseki, else these by name."""
    if not _is_elsewhere(profile, claims):
        return profile.endpoint.graphs
    if evidence.recognised.engine == "fuseki":
        return "union"
    try:
        return await probes.names_of_graphs(prober) or "default"
    except Fault:
        return "default"


def _comparer(http: Http, prober: Prober, profile: Profile, evidence: SelfDescription, claims: Claims) -> Comparer:
    known = profile.endpoint.model_copy(
        update={
            "engine": _asked_as(profile.endpoint, evidence),
            "lateral": "auto" if claims.lateral.value is None else bool(claims.lateral.value),
        }
    )
    store = SparqlStore(http, profile.model_copy(update={"endpoint": known}))
    return Comparer(store, SecondClient(http), prober, profile)


def _warnings(profile: Profile, evidence: SelfDescription, claims: Claims) -> Iterator[str]:
    recognised, pinned = evidence.recognised.engine, profile.endpoint.engine
    if pinned not in {"auto", "unknown", recognised}:
        yield f"The profile says {pinned}; the evidence: {recognised} ({evidence.recognised.evidence})."
    cap = claims.row_cap
    rows = profile.limits.query_rows if "query_rows" in profile.limits.model_fields_set else 0
    if cap.value is not None and not cap.at_least and rows >= int(cap.value):
        yield f"limits.query_rows = {rows} is not below the row cap of {cap.value}."
    if profile.endpoint.lateral is True and claims.lateral.value is False:
        yield "The profile says that the engine takes LATERAL, and it does not."
    if TRAITS[recognised].cuts_silently and profile.endpoint.trusted:
        yield f"A time-out of {TRAITS[recognised].name} cuts answers without a sign, unless it is set otherwise."
    if _is_elsewhere(profile, claims):
        yield "The graph that is asked is empty; the triples are in named graphs."
    else:
        yield from _empty(claims.triples)


def _empty(triples: Claim) -> Iterator[str]:
    if triples.value == 0 and not triples.at_least:
        yield "The graph that is asked is empty."
