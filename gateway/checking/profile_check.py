"""Compares what a profile says of its endpoint with what the endpoint shows, setting by setting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.checking.prober import Prober, number_of
from gateway.checking.report import Claim, Claims, SettingCheck
from gateway.errors import Fault
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.settings.urls import without_query
from gateway.terms.prefixes import PrefixMap

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
        """Yield the settings about which the claims say enough."""
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
    return SettingCheck(setting, _text(stated), holds, claim.why)


def _granted(setting: str, stated: float, claim: Claim, *, least: float) -> SettingCheck:
    """Return whether the endpoint grants as much as the profile counts on; a lower bound proves only that it does."""
    granted = claim.value if isinstance(claim.value, int) else None
    holds = None if granted is None or (claim.at_least and granted < least) else granted >= least
    return SettingCheck(setting, f"{stated:,.15g}", holds, claim.why)


def _text(value: bool | str) -> str:
    return str(value).lower() if isinstance(value, bool) else value
