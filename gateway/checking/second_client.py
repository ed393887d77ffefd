"""The other client: SPARQLWrapper, synchronous, and without a line of this gateway's transport.

It goes where the gateway goes and nowhere else: no redirect is followed, and no proxy but the profile's.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any, cast

from SPARQLWrapper import JSON, POST, SPARQLWrapper
from SPARQLWrapper.SPARQLExceptions import SPARQLWrapperException

from gateway.errors import Fault
from gateway.graph.deadline import Deadline
from gateway.transport.credentials import Access, user_agent
from gateway.transport.http import Http
from gateway.transport.verdict import Reply

_LIBRARY = "SPARQLWrapper"
_MOST_BYTES = 1 << 24
_ERROR_BYTES = 1 << 14


class NotAnsweredError(Exception):
    """The other client got no answer; the text says why, and holds nothing that the endpoint wrote.

    Attributes:
        fault: What the endpoint's refusal means, where it refused.
    """

    def __init__(self, why: str, fault: Fault | None = None) -> None:
        super().__init__(why)
        self.fault = fault


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for the error that it is here: it would send credentials elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


class _Wrapper(SPARQLWrapper):
    """SPARQLWrapper with an opener of its own: the process-wide one follows redirects and the environment's proxies."""

    def __init__(self, url: str, agent: str, opener: urllib.request.OpenerDirector) -> None:
        super().__init__(url, agent=agent)
        self._opener = opener

    def _query(self) -> tuple[Any, str]:
        return self._opener.open(self._createRequest(), timeout=self.timeout), self.returnFormat


class SecondClient:
    """Asks the endpoint of a transport by SPARQLWrapper."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def rows(self, query: str, seconds: float) -> Sequence[dict[str, str]]:
        """Ask one question and return the text of each bound variable.

        Raises:
            NotAnsweredError: No answer came in time, or none that SPARQLWrapper takes for one.
        """
        try:
            async with self._http.flow.sending(Deadline.after(seconds)) as request:
                answer = await self._answered(query, seconds)
                request.answered(failed=isinstance(answer, NotAnsweredError))
        except Fault as fault:
            raise NotAnsweredError(fault.wrong) from None
        if isinstance(answer, NotAnsweredError):
            if answer.fault is not None:
                self._http.flow.quota.obey(answer.fault)
            raise answer
        return _texts(answer)

    async def _answered(self, query: str, seconds: float) -> Any:
        """Return what came, or why nothing did.

        Raises:
            NotAnsweredError: The time is up; the request may still be under way.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def settle(result: Any) -> None:
            if not done.done():
                done.set_result(result)

        def work() -> None:
            result: Any = NotAnsweredError("SPARQLWrapper failed")
            try:
                result = self._asked(query, seconds)
            finally:
                # The loop may be closed when a late answer comes.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(settle, result)

        # A daemon: what never answers must not keep this process.
        threading.Thread(target=work, name="SPARQLWrapper", daemon=True).start()
        try:
            async with asyncio.timeout(seconds):
                return await done
        except TimeoutError:
            raise NotAnsweredError(f"SPARQLWrapper had no answer within {seconds:.0f} s") from None

    def _asked(self, query: str, seconds: float) -> Any:
        headers = dict(self._http.access.headers)
        own = headers.pop("User-Agent", None)
        agent = _LIBRARY if own is None else user_agent(self._http.access.contact, _LIBRARY)
        wrapper = _Wrapper(self._http.url, agent, _opener(self._http.url, self._http.access))
        wrapper.setQuery(query)
        wrapper.setReturnFormat(JSON)
        wrapper.setOnlyConneg(True)
        wrapper.setMethod("GET" if self._http.method == "get" else POST)
        wrapper.setTimeout(int(seconds) or 1)
        for graph in self._http.graphs:
            wrapper.addDefaultGraph(graph)
        for name, value in {**headers, **self._http.access.proxy_headers}.items():
            wrapper.addCustomHttpHeader(name, value)
        try:
            # Its own conversion warns where the content type is not JSON's, and reads without a bound.
            return json.loads(wrapper.query().response.read(_MOST_BYTES))
        except urllib.error.HTTPError as error:
            return NotAnsweredError(f"SPARQLWrapper got HTTP status {error.code}", _meaning(error))
        except (OSError, http.client.HTTPException, SPARQLWrapperException, ValueError) as error:
            return NotAnsweredError(f"SPARQLWrapper failed: {type(error).__name__}")


def _meaning(error: urllib.error.HTTPError) -> Fault:
    text = b""
    with contextlib.suppress(OSError, http.client.HTTPException):
        text = error.read(_ERROR_BYTES)
    headers = cast("Mapping[str, str]", error.headers)  # It takes names in any case, as a dict would not.
    return Reply(error.code, headers, error.headers.get_content_type(), 0).fault(text)


def _opener(url: str, access: Access) -> urllib.request.OpenerDirector:
    handlers: list[urllib.request.BaseHandler] = [
        _NoRedirects(),
        urllib.request.ProxyHandler({"http": access.proxy, "https": access.proxy} if access.proxy else {}),
        urllib.request.HTTPSHandler(context=access.tls),
    ]
    if access.login is not None:
        passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, url, *access.login)
        handlers.append(urllib.request.HTTPDigestAuthHandler(passwords))
    return urllib.request.build_opener(*handlers)


def _texts(answer: Any) -> Sequence[dict[str, str]]:
    try:
        return [
            {variable: term["value"] for variable, term in row.items() if isinstance(term["value"], str)}
            for row in answer["results"]["bindings"]
        ]
    except (KeyError, TypeError, AttributeError):
        raise NotAnsweredError("SPARQLWrapper got something that is no answer") from None
