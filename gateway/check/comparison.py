"""The answers of two clients to the same questions.

It follows no redirect and uses no proxy but the profile's: credentials go only where the gateway sends them.

The graph may change in between, so each difference is asked once more of both clients before it is reported.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import http.client
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from SPARQLWrapper import GET, JSON, POST, POSTDIRECTLY, SPARQLWrapper
from SPARQLWrapper.SPARQLExceptions import SPARQLWrapperException

from gateway.check.probes import Prober
from gateway.check.report import Claim, Comparison
from gateway.errors import Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql import template
from gateway.sparql.rule import EdgeRule, StatedWays
from gateway.sparql.table import edge
from gateway.sparql.template import Parameter
from gateway.transport.credentials import user_agent
from gateway.transport.http import Http
from gateway.transport.response_verdict import Reply

Result = TypeVar("Result")

_LIBRARY = "SPARQLWrapper"
"""How requests name their sender, and the name of the thread."""

_MAX_BYTES = 1 << 24
_MAX_ERROR_BYTES = 1 << 14
"""Of an answer (5,000 rows of three IRIs of ordinary length take some 3 MB) and of an error's text."""


class NotAnsweredError(Exception):
    """The second client got no answer; the text says why, and quotes nothing from the endpoint.

    Attributes:
        fault: The meaning of the endpoint's refusal; None if it did not refuse.
    """

    def __init__(self, why: str, fault: Fault | None = None) -> None:
        super().__init__(why)
        self.fault = fault


class SecondClient:
    """Sends queries to the endpoint of a transport with SPARQLWrapper."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def rows(self, query: str, seconds: float) -> Sequence[Mapping[str, str]]:
        """Return the rows of a query: the text of each bound variable.

        Raises:
            NotAnsweredError: No answer came in time, or none that is SPARQL JSON.
        """
        wrapper = _Wrapper(self._http)
        wrapper.setQuery(query)
        wrapper.setTimeout(int(seconds) or 1)
        try:
            async with self._http.flow.sending(Deadline.after(seconds)) as request, asyncio.timeout(seconds):
                try:
                    answer = await _in_daemon_thread(wrapper.answer)
                except NotAnsweredError:
                    request.answered(failed=True)
                    raise
                request.answered(failed=False)
        except TimeoutError:
            raise NotAnsweredError(f"SPARQLWrapper got no answer within {seconds:.0f} s") from None
        except Fault as fault:
            raise NotAnsweredError(fault.wrong) from None
        except NotAnsweredError as error:
            if error.fault is not None:
                self._http.flow.quota.obey(error.fault)
            raise
        return _rows(answer)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Makes an error of a redirect, which would send credentials elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


class _Wrapper(SPARQLWrapper):
    """SPARQLWrapper with an opener of its own; the shared one follows redirects and the environment's proxies."""

    def __init__(self, http: Http) -> None:
        access = http.access
        super().__init__(http.url, returnFormat=JSON, agent=user_agent(access.contact, _LIBRARY))
        self.setOnlyConneg(True)
        self.setMethod(GET if http.method == "get" else POST)
        if http.method == "direct":
            self.setRequestMethod(POSTDIRECTLY)
        for graph in http.graphs:
            self.addDefaultGraph(graph)
        for name, value in {**access.headers, **access.proxy_headers}.items():
            if name != "User-Agent":
                self.addCustomHttpHeader(name, value)
        self._opener = urllib.request.build_opener(
            _NoRedirects(),
            urllib.request.ProxyHandler({"http": access.proxy, "https": access.proxy} if access.proxy else {}),
            urllib.request.HTTPSHandler(context=access.tls),
        )
        if access.login is not None:
            passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
            passwords.add_password(None, http.url, *access.login)
            self._opener.add_handler(urllib.request.HTTPDigestAuthHandler(passwords))

    def answer(self) -> Any:
        try:
            # Its own conversion reads without a limit, and warns if the content type is not that of JSON.
            return json.loads(self.query().response.read(_MAX_BYTES))
        except urllib.error.HTTPError as error:
            raise NotAnsweredError(f"SPARQLWrapper got HTTP status {error.code}", _meaning(error)) from None
        except (OSError, http.client.HTTPException, SPARQLWrapperException, ValueError, RecursionError) as error:
            raise NotAnsweredError(f"SPARQLWrapper failed: {type(error).__name__}") from None

    def _query(self) -> tuple[Any, str]:
        return self._opener.open(self._createRequest(), timeout=self.timeout), self.returnFormat


async def _in_daemon_thread(work: Callable[[], Result]) -> Result:
    """Return the result of a function in a thread that does not keep the process running: a read may never end."""
    future: concurrent.futures.Future[Result] = concurrent.futures.Future()
    # A running future cannot be cancelled: a late result is accepted, and dropped.
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whatever it is, the waiting task raises it
            future.set_exception(error)

    threading.Thread(target=run, name=_LIBRARY, daemon=True).start()
    return await asyncio.wrap_future(future)


def _meaning(error: urllib.error.HTTPError) -> Fault:
    text = b""
    with contextlib.suppress(OSError, http.client.HTTPException):
        text = error.read(_MAX_ERROR_BYTES)
    headers = cast("Mapping[str, str]", error.headers)  # Unlike a dictionary, it accepts names in any case.
    return Reply(error.code, headers, error.headers.get_content_type(), 0).fault(text)


def _rows(answer: Any) -> Sequence[Mapping[str, str]]:
    try:
        return [
            {variable: term["value"] for variable, term in row.items() if isinstance(term["value"], str)}
            for row in answer["results"]["bindings"]
        ]
    except (KeyError, TypeError, AttributeError):
        raise NotAnsweredError("SPARQLWrapper got something that is not an answer") from None


_READ = 200
_CANDIDATES = 10
_NODES = 3
"""Edges that are read, nodes at each of their ends whose edges are counted, and nodes that are compared."""

_DEGREE = 500
"""Nodes with more edges are not compared, because the second client reads all edges in one answer."""

_ROWS = 5_000
"""Rows of one answer to the second client."""

_SHOWN = 3
"""Differences of one kind that are reported in full; the others are counted."""

Answer = frozenset[str]
Question = Callable[[], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Comparer:
    """Asks this gateway's store and SPARQLWrapper the same questions about nodes that the prober finds."""

    store: GraphStore
    other: SecondClient
    prober: Prober
    profile: Profile

    async def comparisons(self, triples: Claim, *, several: bool) -> tuple[Comparison, ...]:
        """Return comparisons of the edges and types of a few nodes, and of the number of triples if that is exact.

        `several`: the graph is the union of several graphs.
        """
        results = []
        try:
            nodes = await self._nodes()
        except Fault as fault:
            nodes = []
            results.append(Comparison("edges and types", not_compared=f"no node could be read: {fault.wrong}"))
        else:
            if not nodes:
                results.append(Comparison("edges and types", not_compared="no node with a few edges was found"))
        for node in nodes:
            edges = partial(self._our_edges, node), partial(self._their_edges, node)
            types = partial(self._our_types, node), partial(self._their_types, node)
            results += [await _compare(f"edges of {node}", *edges), await _compare(f"types of {node}", *types)]
        results.append(await self._counts(triples, "check/count_distinct" if several else "check/count"))
        return tuple(results)

    async def _nodes(self) -> list[Iri]:
        sample = list(edge(await self.prober.rows("check/sample", _READ, **self._edge_rule())))
        # From both ends: all sampled edges may belong to one hub.
        ends = (dict.fromkeys(one.subject for one in sample), dict.fromkeys(one.object for one in sample))
        found = sorted({node for nodes in ends for node in list(nodes)[:_CANDIDATES]})
        degrees = await self.store.degrees(found, _DEGREE, self._call())
        return [node for node in found if degrees[node].mark.whole and 0 < degrees[node].count <= _DEGREE][:_NODES]

    def _edge_rule(self) -> Mapping[str, Parameter]:
        return EdgeRule.of(self.profile.edges, StatedWays.of(self.profile.evidence)).parameters

    def _call(self) -> Call:
        limits = self.profile.limits
        left = min(2 * self.prober.seconds_each, self.prober.deadline.seconds_left)
        return Call(Deadline.after(left, self.prober.deadline.clock), 20, limits.rows, limits.nodes)

    async def _our_edges(self, node: Iri) -> Answer:
        answer = (await self.store.edges([node], self._call()))[node]
        if answer.mark.fault is not None:
            raise answer.mark.fault
        return frozenset(" ".join(one.triple) for one in answer.edges)

    async def _their_edges(self, node: Iri) -> Answer:
        parameters = {"node": node, **self._edge_rule()}
        rows = [*await self._theirs("check/edges_out", parameters), *await self._theirs("check/edges_in", parameters)]
        return frozenset(_text_of(row, "s", "p", "o") for row in rows)

    async def _our_types(self, node: Iri) -> Answer:
        answer = (await self.store.nodes([node], self._call(), names=False))[node]
        if answer.mark.fault is not None:
            raise answer.mark.fault
        return frozenset(answer.types)

    async def _their_types(self, node: Iri) -> Answer:
        rows = await self._theirs("check/types", {"node": node, "predicates": self.profile.edges.types})
        return frozenset(_text_of(row, "t") for row in rows)

    async def _counts(self, triples: Claim, name: str) -> Comparison:
        about = "the number of triples"
        if triples.value is None or triples.at_least:
            return Comparison(about, not_compared="this gateway did not count all of them")
        try:
            theirs = await self._their_count(name)
            if theirs != triples.value:
                # The graph may have changed.
                theirs = await self._their_count(name)
        except NotAnsweredError as error:
            return Comparison(about, not_compared=str(error))
        ours = int(triples.value)
        differences = () if ours == theirs else (f"this gateway counts {ours:,}, SPARQLWrapper {theirs:,}",)
        return Comparison(about, ours, theirs, differences)

    async def _their_count(self, name: str) -> int:
        rows = await self._theirs(name, {}, limit=1)
        text = rows[0].get("count", "") if len(rows) == 1 else ""
        if not text.isascii() or not text.isdigit():
            raise NotAnsweredError("SPARQLWrapper got no number for a count")
        return int(text)

    async def _theirs(
        self, name: str, parameters: Mapping[str, Parameter], limit: int = _ROWS
    ) -> Sequence[Mapping[str, str]]:
        text = template.load(name).render({**parameters, "rows": limit})
        rows = await self.other.rows(text, max(0.1, min(self.prober.seconds_each, self.prober.deadline.seconds_left)))
        if limit > 1 and len(rows) >= limit:
            raise NotAnsweredError(f"there are more than {limit:,} rows")
        return rows


async def _compare(about: str, ours: Question, theirs: Question) -> Comparison:
    try:
        mine, other = await ours(), await theirs()
        if mine != other:
            mine, other = await ours(), await theirs()
    except Fault as fault:
        return Comparison(about, not_compared=fault.wrong)
    except NotAnsweredError as error:
        return Comparison(about, not_compared=str(error))
    return Comparison(
        about,
        len(mine),
        len(other),
        (*_only("this gateway", mine - other), *_only("SPARQLWrapper", other - mine)),
    )


def _only(who: str, answer: Iterable[str]) -> Iterable[str]:
    ordered = sorted(answer)
    yield from (f"only {who} has {text}" for text in ordered[:_SHOWN])
    if len(ordered) > _SHOWN:
        yield f"only {who} has {len(ordered) - _SHOWN:,} more"


def _text_of(row: Mapping[str, str], *variables: str) -> str:
    try:
        return " ".join(row[variable] for variable in variables)
    except KeyError:
        raise NotAnsweredError("SPARQLWrapper's rows lack what the query asked for") from None
