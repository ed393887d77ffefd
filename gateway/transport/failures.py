"""What aiohttp raises where no answer came, as faults: one table, the most specific kind first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus

import aiohttp

from gateway.errors import EndpointFault, Fault, NetworkFault
from gateway.transport.advice import LATER, OPERATOR

RAISED = (aiohttp.ClientError, OSError)
"""All that a request may raise, except the deadline's `TimeoutError`, which is one of these and is caught before."""

_PROXY = "Whoever runs this gateway should check its proxy settings."


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
            "Whoever runs this gateway should give the CA that signed it, as `endpoint.ca_bundle`.",
        ),
    ),
    (
        aiohttp.ClientSSLError,
        _always(EndpointFault, "No secure connection to the endpoint could be made.", OPERATOR),
    ),
    (aiohttp.ClientResponseError, _always(EndpointFault, "The endpoint's answer is no valid HTTP.", LATER)),
    (aiohttp.InvalidURL, _always(EndpointFault, "The configured endpoint is no valid URL.", OPERATOR)),
    (BaseException, _always(NetworkFault, "The endpoint could not be reached.", OPERATOR)),
)
