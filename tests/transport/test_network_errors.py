import errno
import inspect
import ssl

import aiohttp
import pytest
from aiohttp import client_exceptions

from gateway.errors import EndpointFault, Fault, NetworkFault
from gateway.transport.exchange import RAISED, fault_of

RAISABLE: set[type[Exception]] = {
    kind
    for name in client_exceptions.__all__
    if inspect.isclass(kind := getattr(client_exceptions, name)) and issubclass(kind, Exception)
}
BY_THE_RESPONSE = {
    aiohttp.ClientSSLError,
    aiohttp.ClientConnectorSSLError,
    aiohttp.ClientConnectorCertificateError,
    aiohttp.ClientResponseError,
    aiohttp.ClientHttpProxyError,
    aiohttp.WSServerHandshakeError,
    aiohttp.ContentTypeError,
    *(kind for kind in RAISABLE if issubclass(kind, aiohttp.InvalidURL)),
}


@pytest.mark.parametrize("kind", sorted(RAISABLE, key=str))
def test_every_error_of_the_http_library_is_caught_and_is_a_fault(kind: type[Exception]) -> None:
    if kind is aiohttp.WSMessageTypeError:
        return  # only a websocket raises it
    assert issubclass(kind, RAISED)
    error = kind.__new__(kind)
    if isinstance(error, aiohttp.ClientResponseError):
        error.status = 403
    fault = fault_of(error)
    assert type(fault) is (EndpointFault if kind in BY_THE_RESPONSE else NetworkFault)
    assert fault.next_step


@pytest.mark.parametrize("kind", sorted(RAISABLE - {aiohttp.WSMessageTypeError}, key=str))
def test_a_fault_calls_the_server_as_its_transport_does(kind: type[Exception]) -> None:
    error = kind.__new__(kind)
    if isinstance(error, aiohttp.ClientResponseError):
        error.status = 502
    fault = fault_of(error, "the Wikibase API")
    said = f"{fault.wrong} {fault.next_step}".replace("`endpoint.access.ca_bundle`", "")
    assert "endpoint" not in said


@pytest.mark.parametrize("error", [ConnectionResetError(), BrokenPipeError(), ssl.SSLError(), OSError("no route")])
def test_every_error_of_a_socket_is_a_network_fault(error: OSError) -> None:
    assert type(fault_of(error)) is NetworkFault


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [(407, EndpointFault, "credentials"), (403, EndpointFault, "refuses"), (502, NetworkFault, "could not reach")],
)
def test_what_a_proxy_answers_to_a_connect_is_reported(status: int, kind: type[Fault], says: str) -> None:
    error = aiohttp.ClientHttpProxyError.__new__(aiohttp.ClientHttpProxyError)
    error.status = status
    fault = fault_of(error)
    assert type(fault) is kind
    assert says in fault.wrong


def connecting(number: int) -> OSError:
    key = aiohttp.client_reqrep.ConnectionKey("secret.example", 80, False, True, None, None, None, None)
    return aiohttp.ClientConnectorError(key, OSError(number, "Connect call failed ('10.0.0.7', 80)"))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (connecting(errno.ECONNREFUSED), "the connection was refused"),
        (connecting(errno.EHOSTUNREACH), "its network is unreachable"),
        (aiohttp.ConnectionTimeoutError(), "no connection was made in time"),
        (aiohttp.ServerDisconnectedError(), "closed the connection"),
        (ConnectionResetError(), "closed the connection"),
        (aiohttp.ClientOSError(errno.EPERM, "not permitted"), "could not be reached."),
    ],
)
def test_why_an_endpoint_is_not_reached_is_reported_without_its_address(error: Exception, says: str) -> None:
    fault = fault_of(error)
    assert type(fault) is NetworkFault
    assert says in fault.wrong
    assert not any(part in str(fault) for part in ("secret", "10.0.0.7", "Connect call"))
