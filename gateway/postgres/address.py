"""Where a database is and how to log in, from its URL and the profile."""

from __future__ import annotations

import ssl
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from gateway.errors import ConfigurationError
from gateway.postgres.connection import Address
from gateway.settings.database_url import postgres_url_problem
from gateway.settings.endpoint import AccessSettings, EndpointSettings
from gateway.settings.secret import is_reference, read
from gateway.settings.tls import trusting
from gateway.settings.urls import is_loopback

_PORT = 5432


def address_of(url: str, endpoint: EndpointSettings) -> Address:
    """Return the address of a database.

    Raises:
        ConfigurationError: The URL is wrong or holds a password, no user is named, a secret or certificate cannot be
            read, or a password would go unencrypted over a network. The text holds no secret.
    """
    if problem := postgres_url_problem(url):
        raise ConfigurationError(f"The endpoint is wrong: {problem}.")
    parts, access = urlsplit(url), endpoint.access
    options = dict(parse_qsl(parts.query))
    host = options.get("host") or parts.hostname or ""
    user = access.user or unquote(parts.username or "")
    if is_reference(user):
        user = read(user, "endpoint.access.user").get_secret_value()
    if not user:
        raise ConfigurationError(
            "The URL of the database names no user.",
            valid="postgresql://user@host/database, or endpoint.access.user in a profile, or --user.",
            next_step="Give a user who may only read.",
        )
    return Address(
        host=host,
        port=parts.port or _PORT,
        database=unquote(parts.path).strip("/"),
        user=user,
        password=read(access.password, "endpoint.access.password") if access.password else None,
        tls=_encryption(host, options.get("sslmode", ""), access),
        connect_seconds=endpoint.requests.connect_seconds,
    )


def _encryption(host: str, mode: str, access: AccessSettings) -> Any:
    """Return asyncpg's `ssl`: off on this machine, and a checked certificate elsewhere, unless the URL says otherwise.

    Raises:
        ConfigurationError: A password would go unencrypted over a network.
    """
    is_here = host.startswith("/") or is_loopback(host)
    if mode == "disable" or (not mode and is_here):
        if access.password and not is_here and not access.credentials_over_http:
            raise ConfigurationError(
                "The password of the database would go unencrypted over a network.",
                valid="Leave out sslmode=disable, or set endpoint.access.credentials_over_http = true in the profile.",
            )
        return False
    context = trusting(access.ca_bundle)
    if mode == "require":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
