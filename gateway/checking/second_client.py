"""The second client: SPARQLWrapper, synchronous, and independent of this gateway's transport.

It follows no redirect and uses no proxy but the profile's: credentials go only where the gateway sends them.
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
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from SPARQLWrapper import GET, JSON, POST, SPARQLWrapper
from SPARQLWrapper.SPARQLExceptions import SPARQLWrapperException

from gateway.errors import Fault
from gateway.graph.deadline import Deadline
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
        """Return the JSON of the answer.

        Raises:
            NotAnsweredError: There is none.
        """
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
