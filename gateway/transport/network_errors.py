"""What aiohttp raises where no answer came, as faults: one table, the most specific kind first."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Self

import aiohttp

from gateway.errors import EndpointFault, Fault, NetworkFault
from gateway.graph.deadline import deadline_passed
from gateway.transport.response_verdict import LATER, OPERATOR

_log = logging.getLogger(__name__)

RAISED = (aiohttp.ClientError, OSError)
"""All that a request may raise; the deadline's `TimeoutError` is one of these."""

_PROXY = "The operator of this gateway should check its proxy settings."


class CaughtFault:
    """Catches what a request raises in a block, as the fault that is then raised after the block.

    Not in the block: an error of aiohttp holds the request's headers, which are secret, and would hang on the fault as
    its context.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self._fault: Fault | None = None

    @property
    def fault(self) -> Fault:
        """The fault; there is one where the block has not returned."""
        assert self._fault is not None  # noqa: S101 - a block that neither returns nor raises is a bug
        return self._fault

    def __enter__(self) -> Self:
        """Begin the block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        """Catch what is no fault yet."""
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            self._fault = fault_of(error)
        elif isinstance(error, TimeoutError):
            self._fault = deadline_passed()
        elif isinstance(error, RAISED):
            self._fault = fault_of(error)
            _log.warning("no answer from %s: %s", self._server, self._fault.wrong)
        return self._fault is not None


def fault_of(error: BaseException) -> Fault:
    """Return the fault that an error of aiohttp or of a socket means."""
    return next(fault(error) for kind, fault in _TABLE if isinstance(error, kind))


def _proxy_refused(error: BaseException) -> Fault:
    status = error.status if isinstance(error, aiohttp.ClientResponseError) else 0
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return EndpointFault("The proxy before the endpoint asks for credentials.", next_step=_PROXY)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return NetworkFault("The proxy could not reach the endpoint.", next_step=OPERATOR)
    return EndpointFault("The proxy before the endpoint refuses to connect to it.", next_step=_PROXY)


def _unreachable(error: BaseException) -> Fault:
    """Return why there was no answer; no address is in it, because a model reads it."""
    why = ""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        why = "its host name is unknown"
    elif isinstance(error, OSError) and error.errno == errno.ECONNREFUSED:
        why = "the connection was refused"
    elif isinstance(error, OSError) and error.errno in {errno.ENETUNREACH, errno.EHOSTUNREACH}:
        why = "its network is unreachable"
    elif isinstance(error, TimeoutError):
        why = "no connection was made in time"
    elif isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError | aiohttp.ClientPayloadError):
        why = "it closed the connection without an answer"
    return NetworkFault(f"The endpoint could not be reached{why and f': {why}'}.", next_step=OPERATOR)


def _always(kind: type[Fault], wrong: str, next_step: str) -> Callable[[BaseException], Fault]:
    return lambda _: kind(wrong, next_step=next_step)


_TABLE: Sequence[tuple[type[BaseException], Callable[[BaseException], Fault]]] = (
    (aiohttp.ClientProxyConnectionError, _always(NetworkFault, "The proxy could not be reached.", _PROXY)),
    (aiohttp.ClientHttpProxyError, _proxy_refused),
    (
        aiohttp.ClientConnectorCertificateError,
        _always(
            EndpointFault,
            "The endpoint's certificate is not trusted.",
            "The operator of this gateway should give the CA that signed it, as `endpoint.access.ca_bundle`.",
        ),
    ),
    (aiohttp.ClientSSLError, _always(EndpointFault, "No secure connection to the endpoint could be made.", OPERATOR)),
    (aiohttp.ClientResponseError, _always(EndpointFault, "The endpoint's answer is no valid HTTP.", LATER)),
    (aiohttp.InvalidURL, _always(EndpointFault, "The configured endpoint is no valid URL.", OPERATOR)),
    (BaseException, _unreachable),
)
