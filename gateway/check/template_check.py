"""Sends every template that a tool may need once, about the endpoint's own data, and compares what several of them say.

An endpoint may answer each harmless query and refuse what a tool asks, or leave out rows without a word: engines lose
rows under DISTINCT, or never join a predicate with an object (docs/notes/endpoints.md).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.check.probes import Prober
from gateway.check.report import TemplateCheck
from gateway.errors import (
    AnswerCut,
    Banned,
    BudgetSpent,
    DeadlinePassed,
    Fault,
    GaveUp,
    NetworkFault,
    QuotaSpent,
    Throttled,
)
from gateway.graph.call import Call, Deadline
from gateway.graph.values import Edge
from gateway.settings.found_by_check import without_evidence
from gateway.settings.profile import Profile
from gateway.sparql import template
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import EngineDetector
from gateway.sparql.rule import EdgeRule, StatedWays
from gateway.sparql.store import SparqlStore
from gateway.sparql.table import edge
from gateway.sparql.template import Parameter, Template
from gateway.transport.http import Http

WITHOUT_EVIDENCE = 'edges.evidence_nodes = false, evidence.ways = "refused"'
"""The settings of a graph without statements about edges: queries then have no NOT EXISTS and no IN over them."""

_NOT_BY_TOOLS = (
    "check/",
    "policy/",
    "figures/",
    "blank_nodes/",
    "nameless_",
    "names_all",
    "search/letter_classes",
    "search/folded",
)
"""What tools do not need here: probes, what is asked of files alone or where something is hidden, and what has another
way beside it.

What states blank nodes is tried with blank nodes of the graph: of none, an engine may answer with all that it has.
"""

_EXAMPLES = "http://example.org/"
_PREDICATES = frozenset({f"{_EXAMPLES}p", f"{_EXAMPLES}q"})
"""What stands in the samples of headers for nodes, and for predicates."""

_SAMPLE = 50
"""Edges that are read to find nodes to ask about."""

_COMPARED = 2
"""Nodes whose answers are compared."""

_MOST_EDGES = 500
"""Nodes with more edges are not compared."""

_STATED = 5
"""Edges whose evidence is compared."""

_NOT_ANSWERED = (AnswerCut, Banned, BudgetSpent, DeadlinePassed, GaveUp, NetworkFault, QuotaSpent, Throttled)
"""Faults that do not say that the endpoint cannot answer the query: it was cut, took too long, or was not sent."""


@dataclass(frozen=True, slots=True)
class TemplateChecker:
    """Sends templates to one endpoint.

    Attributes:
        http: The endpoint.
        profile: The profile, with the engine and what it supports as they were found.
        prober: Has the time for each query, and for all.
        dialects: The dialects that the endpoint was found to support, beside SPARQL 1.1.
    """

    http: Http
    profile: Profile
    prober: Prober
    dialects: frozenset[str]

    async def check(self) -> TemplateCheck:
        """Return what became of all templates that tools may send to this endpoint."""
        try:
            edges = list(edge(await self.prober.rows("check/sample", _SAMPLE, **_rule(self.profile))))
        except Fault:
            # What the query of edges needs is found below, template by template.
            edges = []
        texts = [template.load(name) for name in template.names() if self._is_sent(name)]
        found = await self._sent(texts, edges[:1], self.profile)
        doubts = [doubt async for doubt in self._doubts(edges)] if not found.refused else []
        return TemplateCheck(
            found.answered, found.refused, found.not_run, tuple(doubts), await self._helps(found, edges[:1])
        )

    def _is_sent(self, name: str) -> bool:
        dialect = template.load(name).dialect
        return not name.startswith(_NOT_BY_TOOLS) and (dialect == "sparql-1.1" or dialect in self.dialects)

    async def _sent(self, texts: Iterable[Template], edges: Sequence[Edge], profile: Profile) -> TemplateCheck:
        client = SparqlClient(self.http, profile, self.http.flow, EngineDetector(self.http, profile, self.http.flow))
        answered, refused, not_run = 0, dict[str, str](), dict[str, str]()
        at_inner_nodes = EdgeRule.of(profile.edges, StatedWays.of(profile.evidence)).evidence_at(["a"])
        for text in texts:
            parameters = {**_own(text.samples(), edges), **_in(text, _rule(profile) | at_inner_nodes)}
            # Most graphs have no names one step away, and are never asked for them.
            parameters |= _in(text, {"walks": ()})
            rows = parameters.pop(text.limit)
            try:
                await client.rows(text.name, self._call(), parameters, at_most=max(1, int(str(rows)) - 1))
            except _NOT_ANSWERED as fault:
                not_run[text.name] = fault.wrong
            except Fault as fault:
                refused[text.name] = fault.wrong
            else:
                answered += 1
        return TemplateCheck(answered, refused, not_run)

    async def _helps(self, found: TemplateCheck, edges: Sequence[Edge]) -> str:
        """Return settings under which the endpoint answers what it refuses."""
        if not found.refused or not self.profile.edges.evidence_nodes:
            return ""
        # What reads statements about edges is not sent under these settings.
        wanted = [template.load(name) for name in found.refused if not name.startswith("evidence/")]
        again = await self._sent(wanted, edges, without_evidence(self.profile))
        return WITHOUT_EVIDENCE if not again.refused and not again.not_run else ""

    def _call(self) -> Call:
        limits = self.profile.limits
        left = min(self.prober.seconds_each, self.prober.deadline.seconds_left)
        return Call(Deadline.after(left, self.prober.deadline.clock), 8, limits.rows, limits.nodes, retries=False)

    async def _doubts(self, edges: Sequence[Edge]) -> AsyncIterator[str]:
        """Yield what does not fit together in the answers about some nodes; a fault is no doubt."""
        store = SparqlStore(self.http, self.profile)
        for node in list(dict.fromkeys(one.subject for one in edges))[:_COMPARED]:
            about = (await store.edges([node], self._call()))[node]
            if not about.mark.whole or len(about.edges) > _MOST_EDGES:
                continue
            reach = (await store.reach([node], 1, self._call()))[node]
            near, beside = {*about.ends} - {node}, {*reach.distances} - {node}
            if reach.mark.whole and near != beside:
                yield f"{node} has {len(near)} neighbours by its edges, and {len(beside)} by a query of its neighbours"
            counts = (await store.edge_counts([node], self._call()))[node]
            loops = sum(one.subject == one.object for one in about.edges)
            counted = sum(one.count for one in counts.counts) - loops
            if counts.mark.whole and not counts.left_out and counted != len(about.edges):
                yield f"{node} has {len(about.edges)} edges, and {counted} by their count"
        lost = await self._lost_evidence(store)
        if lost is not None:
            yield f"something is stated about the edge {' '.join(lost.triple)}, and the query of evidence finds nothing"

    async def _lost_evidence(self, store: SparqlStore) -> Edge | None:
        """Return an edge that something is stated about, which the query of evidence does not find."""
        if self.profile.evidence.ways != "auto":
            return None
        try:
            stated = list(edge(await self.prober.rows("check/stated", _STATED)))
        except Fault:
            return None
        found = await store.edge_metadata(stated, self._call()) if stated else {}
        return next((one for one, about in found.items() if about.mark.whole and not about.assertions), None)


def _rule(profile: Profile) -> dict[str, Parameter]:
    return EdgeRule.of(profile.edges, StatedWays.of(profile.evidence)).parameters


def _in(text: Template, parameters: Mapping[str, Parameter]) -> Mapping[str, Parameter]:
    """Return those of some parameters that a template has."""
    return {name: value for name, value in parameters.items() if name in text.samples()}


def _own(samples: Mapping[str, Parameter], edges: Sequence[Edge]) -> dict[str, Any]:
    """Return samples with terms of the graph in the place of example ones."""

    def own(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(_EXAMPLES) and value != _EXAMPLES and edges:
            return edges[0].predicate if value in _PREDICATES else edges[0].subject
        return [own(one) for one in value] if isinstance(value, list) else value

    return {name: own(value) for name, value in samples.items()}
