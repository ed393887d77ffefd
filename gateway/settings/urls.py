"""What a URL in a setting may be: no secret is part of it, and who can read what is sent there."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from gateway.terms.iri import is_iri

_SECRET_NAME = re.compile(
    r"(^|[-_])(api[-_]?key|access[-_]?key|key|token|auth|pwd)$|secret|passw|credential|authorization|cookie|apikey",
    re.IGNORECASE,
)
"""Names of headers and parameters whose values are usually secret."""

NOT_HTTP: Final = "it is not a URL that begins with http:// or https:// and names a host"
"""What `url_problem` says of what is no such URL at all."""


def is_secret_name(name: str) -> bool:
    """Return whether the value of a header or a parameter of this name is meant to be secret."""
    return _SECRET_NAME.search(name) is not None


def url_problem(url: str) -> str:
    """Return why a URL may not stand in a profile or on a command line, without repeating it; empty where it may."""
    try:
        parts = urlsplit(url)
        known_port = parts.port is None or parts.port > 0
    except ValueError:
        parts, known_port = urlsplit(""), False
    if parts.scheme not in {"http", "https"} or not parts.hostname or not known_port or not is_iri(url):
        return NOT_HTTP
    if "@" in parts.netloc:
        return (
            "the URL contains a user or a password; give them as endpoint.access.user and endpoint.access.password in "
            "a profile, the password written as `env:NAME` or `file:/path`"
        )
    if any(is_secret_name(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        return (
            "the URL contains a key or a token; give it as a header in endpoint.access.secret_headers in a profile, "
            "written as `env:NAME` or `file:/path`"
        )
    return ""


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_of_own_network(url: str) -> bool:
    """Return whether the host of a URL is on the operator's network: a private address, or a name without a domain."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".localhost"))


def without_query(url: str) -> str:
    """Return a URL as a log may show it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(an invalid URL)"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"
