"""Who this gateway is to an endpoint, and the way there: credentials, headers, certificates, proxy.

Secrets are read once, when a gateway opens, from where the profile says they are. They go to the endpoint and to
nobody else, not to the API of a Wikibase either: no redirect is followed, and nothing here shows them.
"""

from __future__ import annotations

import base64
import functools
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp

from gateway.errors import ConfigurationError
from gateway.settings.endpoint import AccessSettings, EndpointSettings, trusting
from gateway.settings.secrets import is_reference, read, revealed
from gateway.settings.urls import contact_for, is_loopback, url_problem

_NAME = "bfsql-gateway"
_SENDABLE = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")

_FIX_HTTP = (
    "Use https; or, where nobody can listen on the way, set endpoint.access.credentials_over_http "
    "(endpoint.access.proxy_credentials_over_http for the proxy's)."
)


@dataclass(frozen=True, slots=True)
class Access:
    """What every request to one endpoint carries.

    Attributes:
        headers: Headers of every request, credentials among them.
        proxy: The proxy's URL, without credentials; none where empty.
        proxy_headers: Headers for the proxy alone.
        tls: The certificates to trust; the system's where None.
        login: User and password where the endpoint wants HTTP Digest.
        connect_seconds: Time for making a connection.
        contact: Who runs this gateway; it stands in `User-Agent`.
    """

    headers: dict[str, str] = field(default_factory=dict, repr=False)
    proxy: str = field(default="", repr=False)
    proxy_headers: dict[str, str] = field(default_factory=dict, repr=False)
    tls: ssl.SSLContext | None = None
    login: tuple[str, str] | None = field(default=None, repr=False)
    connect_seconds: float = 10.0
    contact: str = ""

    def session(self, accept: str) -> aiohttp.ClientSession:
        """Return a session for requests that accept a content type; it holds no secret and no cookies."""
        return aiohttp.ClientSession(
            # No credentials: aiohttp shows a session's headers to the proxy as well.
            headers={"Accept": accept, "Accept-Encoding": "gzip"},
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(ssl=self.tls or True),
            middlewares=(aiohttp.DigestAuthMiddleware(*self.login),) if self.login else (),
            # aiohttp takes a gzip body that lacks its end for a whole one.
            auto_decompress=False,
        )

    def options(self, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return aiohttp's arguments for one request, which has these headers as well."""
        return {
            "headers": {**self.headers, **(headers or {})},
            "proxy": self.proxy or None,
            "proxy_headers": self.proxy_headers or None,
            # A redirect would lead to an address that the operator did not configure.
            "allow_redirects": False,
            # No total: the deadline around this call is the only other limit, and a time-out here is the connection's.
            "timeout": aiohttp.ClientTimeout(total=None, sock_connect=self.connect_seconds),
        }


def access_to(url: str, settings: EndpointSettings) -> Access:
    """Read what a profile says about the way to an endpoint.

    Args:
        url: The endpoint's URL, from the profile or the command line.
        settings: The profile's section.

    Raises:
        ConfigurationError: The URL is wrong or holds a secret, a contact is demanded and not given, a secret or
            certificate cannot be read, or a secret would go unencrypted over a network. The text holds no secret.
    """
    access = access_without_credentials(url, settings, "The endpoint")
    authorization, login = _credentials(settings.access)
    secret = {
        **authorization,
        **{
            name: _sendable(read(reference, f"endpoint.access.secret_headers.{name}").get_secret_value(), name)
            for name, reference in settings.access.secret_headers.items()
        },
    }
    parts = urlsplit(url)
    hidden = parts.scheme == "https" or settings.access.credentials_over_http
    if (secret or login) and not hidden and (access.proxy or not is_loopback(parts.hostname or "")):
        raise ConfigurationError("The endpoint's credentials would go unencrypted over a network.", valid=_FIX_HTTP)
    # A header of the profile replaces ours, but for the proxy's.
    headers = {**access.headers, **settings.access.headers, **secret, **_for_proxy(parts.scheme, access.proxy_headers)}
    return replace(access, headers=headers, login=login)


def access_without_credentials(url: str, settings: EndpointSettings, setting: str) -> Access:
    """Return the way to another server than the endpoint: the same way out, and nothing that is for the endpoint.

    Args:
        url: The URL, from the profile.
        settings: The profile's section about the endpoint, which has proxy, certificates and contact.
        setting: The setting that the URL stands in.

    Raises:
        ConfigurationError: The URL is wrong or holds a secret, a certificate or the proxy cannot be read, or a server
            of Wikimedia would get no contact.
    """
    if problem := url_problem(url):
        raise ConfigurationError(f"{setting} is wrong: {problem}.")
    parts = urlsplit(url)
    contact = contact_for(parts.hostname or "", settings.contact, from_environment=settings.environment_contact)
    proxy, proxy_headers = _proxy(settings.access)
    return Access(
        headers={"User-Agent": user_agent(contact), **_for_proxy(parts.scheme, proxy_headers)},
        proxy=proxy,
        proxy_headers=proxy_headers,
        tls=trusting(settings.access.ca_bundle) if settings.access.ca_bundle else None,
        connect_seconds=settings.requests.connect_seconds,
        contact=contact,
    )


def _for_proxy(scheme: str, proxy_headers: dict[str, str]) -> dict[str, str]:
    """Return the proxy's headers where it reads the request itself: towards a plain endpoint there is no CONNECT."""
    return proxy_headers if scheme == "http" else {}


def user_agent(contact: str, library: str = "aiohttp") -> str:
    """Return the User-Agent of a request: this program, the contact of its operator, and the library that it uses.

    The form is that of Wikimedia's policy (https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy).
    """
    return " ".join([_product(_NAME), *([f"({contact})"] if contact else []), _product(library)])


@functools.cache
def _product(name: str) -> str:
    """Return a distribution with its version, whose metadata is a file that is read and parsed."""
    try:
        return f"{name}/{version(name)}"
    except PackageNotFoundError:
        return name


def _credentials(settings: AccessSettings) -> tuple[dict[str, str], tuple[str, str] | None]:
    """Return the header that carries the credentials, or user and password where that is made anew each time."""
    if settings.token:
        token = read(settings.token, "endpoint.access.token").get_secret_value()
        return {"Authorization": f"Bearer {_sendable(token, 'endpoint.access.token')}"}, None
    if not settings.user:
        return {}, None
    user = revealed(settings.user, "endpoint.access.user")
    password = read(settings.password, "endpoint.access.password").get_secret_value()
    if ":" in user:
        raise ConfigurationError("endpoint.access.user is wrong: a user name cannot hold a colon.")
    return ({}, (user, password)) if settings.auth == "digest" else ({"Authorization": _basic(user, password)}, None)


def _basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def _sendable(value: str, setting: str) -> str:
    if not _SENDABLE.fullmatch(value):
        raise ConfigurationError(f"The secret of {setting} is wrong: a header holds printable ASCII characters only.")
    return value


def _proxy(settings: AccessSettings) -> tuple[str, dict[str, str]]:
    """Return the proxy's URL without its credentials, and the header that carries these."""
    if not settings.proxy:
        return "", {}
    if not is_reference(settings.proxy):
        return settings.proxy, {}
    whole = read(settings.proxy, "endpoint.access.proxy").get_secret_value()
    scheme, _, rest = whole.partition("://")
    authority, slash, path = rest.partition("/")
    userinfo, at, host = authority.rpartition("@")
    bare = f"{scheme}://{host}{slash}{path}"
    if "@" in bare or url_problem(bare):
        raise ConfigurationError(
            "The proxy that endpoint.access.proxy refers to is wrong.",
            valid="It is a URL, http://user:password@host:port, with odd characters in it written as %40.",
        )
    parts = urlsplit(bare)
    if not at:
        return bare, {}
    if parts.scheme != "https" and not settings.proxy_credentials_over_http and not is_loopback(parts.hostname or ""):
        raise ConfigurationError("The proxy's credentials would go unencrypted over a network.", valid=_FIX_HTTP)
    user, _, password = userinfo.partition(":")
    return bare, {"Proxy-Authorization": _basic(unquote(user), unquote(password))}
