"""Where a server is and how to log in, from its URL and the profile."""

from __future__ import annotations

import ssl
from urllib.parse import unquote, urlsplit

from gateway.errors import ConfigurationError
from gateway.neo4j.connection import Address
from gateway.settings.endpoint import AccessSettings, EndpointSettings
from gateway.settings.neo4j_url import neo4j_url_problem
from gateway.settings.secret import is_reference, read
from gateway.settings.tls import trusting
from gateway.settings.urls import is_loopback

_PORT = 7687


def address_of(url: str, endpoint: EndpointSettings) -> Address:
    """Return the address of a database.

    Raises:
        ConfigurationError: The URL is wrong or holds a password, a secret or certificate cannot be read, or a password
            would go unencrypted over a network. The text holds no secret.
    """
    if problem := neo4j_url_problem(url):
        raise ConfigurationError(f"The endpoint is wrong: {problem}.")
    parts, access = urlsplit(url), endpoint.access
    host = parts.hostname or ""
    user = access.user or unquote(parts.username or "")
    if is_reference(user):
        user = read(user, "endpoint.access.user").get_secret_value()
    scheme, _, encryption = parts.scheme.partition("+")
    if not encryption and access.password and not is_loopback(host) and not access.credentials_over_http:
        raise ConfigurationError(
            "The password of the database would go unencrypted over a network.",
            valid=f"Write {scheme}+s://, or set endpoint.access.credentials_over_http = true in the profile.",
        )
    if not encryption and is_loopback(host):
        # With `neo4j:` the server says where its databases are, which may be on another machine.
        scheme = "bolt"
    place = f"[{host}]" if ":" in host else host
    return Address(
        url=f"{scheme}://{place}:{parts.port or _PORT}",
        database=unquote(parts.path).strip("/") or None,
        user=user,
        password=read(access.password, "endpoint.access.password") if access.password else None,
        tls=_context(access, is_checked=encryption == "s") if encryption else None,
        connect_seconds=endpoint.requests.connect_seconds,
    )


def _context(access: AccessSettings, *, is_checked: bool) -> ssl.SSLContext:
    context = trusting(access.ca_bundle)
    if not is_checked:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
