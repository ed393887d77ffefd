"""URLs and addresses that a profile may give, checked.

Wikimedia's policy requires it of every program (https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy);
programs without it share one small quota (docs/notes/wikimedia.md, "The User-Agent").
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from gateway.errors import ConfigurationError, quoted
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


SCHEMES: Final = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
"""Schemes of the driver: `+s` encrypts and checks the certificate, `+ssc` encrypts and takes any."""

_NEO4J_FORM = "neo4j://user@host:7687/database or bolt://…, with neo4j+s:// or bolt+s:// for TLS"


def is_neo4j_url(url: str) -> bool:
    """Return whether a URL is that of a Neo4j server."""
    scheme, found, _ = url.partition("://")
    return bool(found) and scheme.lower() in SCHEMES


def neo4j_url_problem(url: str) -> str:
    """Return why the URL of a server may not stand in a profile or on a command line; empty where it may."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return f"it is not a URL of the form {_NEO4J_FORM}"
    if parts.password is not None:
        return (
            "the URL contains a password; give user and password as endpoint.access.user and endpoint.access.password "
            "in a profile, the password written as `env:NAME` or `file:/path`, or as --user and --password-file"
        )
    is_one_name = "/" not in parts.path.strip("/")
    if not parts.hostname or port == 0 or parts.query or parts.fragment or not is_one_name or not url.isprintable():
        return f"it is not a URL of the form {_NEO4J_FORM}"
    return ""


_SCHEMES = ("postgresql", "postgres")

SSL_MODES: Final = ("disable", "require", "verify-ca", "verify-full")
"""Values of `sslmode`: no encryption; encryption with whoever answers; who signed the server's certificate is checked;
and its host, too."""

_UNSURE: Final = ("allow", "prefer")
"""Values of libpq's that let the server decide whether a connection is encrypted."""

_POSTGRES_FORM = f"postgresql://user@host:5432/database, perhaps with ?sslmode={'|'.join(SSL_MODES)} or ?host=/folder"

_IGNORED: Final = ("application_name",)

_TAKEN: Final = ("channel_binding", "connect_timeout", "host", "sslmode", "user")
"""Options of libpq (PostgreSQL's documentation, "Parameter Key Words") that mean something here."""

_LONGEST_CONNECT: Final = 600
"""Seconds of `connect_timeout`."""

_OPTION_NAME = re.compile(r"[a-z_]{1,40}")
"""What the name of an option may be for an error to repeat it; libpq's are all so."""

_INSTEAD: Final = {
    "options": "make such settings at the database, for the user of the gateway",
    "sslrootcert": "give the file as endpoint.access.ca_bundle in a profile",
}
"""What to do in the place of an option that is not taken, where leaving it out is not enough."""


def is_database_url(url: str) -> bool:
    """Return whether a URL is that of a database: a PostgreSQL or a Neo4j."""
    return is_postgres_url(url) or is_neo4j_url(url)


def is_postgres_url(url: str) -> bool:
    """Return whether a URL is that of a PostgreSQL database."""
    scheme, found, _ = url.partition("://")
    return bool(found) and scheme.lower() in _SCHEMES


def check_endpoint_url(url: str) -> None:
    """Check a URL that a user gave for an endpoint or a database.

    Raises:
        ConfigurationError: It is none, or holds a secret. The text does not repeat it.
    """
    if problem := endpoint_url_problem(url):
        raise ConfigurationError(f"The endpoint is wrong: {problem}.")


def endpoint_url_problem(url: str) -> str:
    """Return why a URL may stand for neither an endpoint nor a database, in a profile or on a command line.

    An empty text is returned where it may.
    """
    if is_neo4j_url(url):
        return neo4j_url_problem(url)
    if is_postgres_url(url):
        return postgres_url_problem(url)
    problem = url_problem(url)
    is_other = problem == NOT_HTTP
    return (
        f"{problem}, nor that of a database: postgresql://user@host/name or neo4j://host/name" if is_other else problem
    )


def postgres_url_problem(url: str) -> str:
    """Return why a URL may not stand for a PostgreSQL database; empty where it may."""
    try:
        parts = urlsplit(url)
        port = parts.port
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        return f"it is not a URL of the form {_POSTGRES_FORM}"
    if parts.password is not None or "password" in options:
        return (
            "the URL contains a password; give user and password as endpoint.access.user and endpoint.access.password "
            "in a profile, the password written as `env:NAME` or `file:/path`, or as --user and --password-file"
        )
    folder = options.get("host", "")
    is_place = folder.startswith("/") if "host" in options else bool(parts.hostname)
    if not is_place or port == 0 or parts.fragment:
        return f"it is not a URL of the form {_POSTGRES_FORM}"
    if problem := _option_problem(options):
        return problem
    if not unquote(parts.path).strip("/") or not url.isprintable():
        return "it names no database after the host"
    return ""


def _option_problem(options: Mapping[str, str]) -> str:
    """Return which option of a URL of PostgreSQL is not taken, and what to do; empty where all are."""
    for name in options:
        if name not in (*_TAKEN, *_IGNORED):
            shown = name if _OPTION_NAME.fullmatch(name) else "that it has"
            instead = _INSTEAD.get(name, "leave it out")
            return f"the option {shown} is not taken: {instead}. Taken are {', '.join(sorted((*_TAKEN, *_IGNORED)))}"
    mode = options.get("sslmode", SSL_MODES[0])
    if mode not in SSL_MODES:
        why = ", by which the server decides whether the connection is encrypted," if mode in _UNSURE else ""
        shown = f"={mode}" if mode in _UNSURE else ""
        return (
            f"its sslmode{shown}{why} is not taken: write sslmode=verify-full, verify-ca or require, or "
            "sslmode=disable for a connection without encryption"
        )
    binding = options.get("channel_binding", "prefer")
    if binding not in _BINDINGS:
        return f"its channel_binding is not taken: write one of {', '.join(_BINDINGS)}, or leave it out"
    if binding == "require" and options.get("sslmode") == "disable":
        return "channel_binding=require and sslmode=disable exclude each other: leave out one of them"
    return _seconds_problem(options.get("connect_timeout"))


_BINDINGS: Final = ("disable", "prefer", "require")


def _seconds_problem(seconds: str | None) -> str:
    if seconds is None or (_SECONDS.fullmatch(seconds) and 1 <= int(seconds) <= _LONGEST_CONNECT):
        return ""
    return f"its connect_timeout is not taken: write a number of seconds from 1 to {_LONGEST_CONNECT}, or leave it out"


_SECONDS = re.compile(r"[0-9]{1,4}")


VARIABLE = "BFSQL_CONTACT"
"""The environment variable that gives it where neither a profile nor a command line does."""

_WIKIMEDIA = (
    "mediawiki.org", "toolforge.org", "wikibooks.org", "wikidata.org", "wikifunctions.org", "wikimedia.org",
    "wikimediafoundation.org", "wikinews.org", "wikipedia.org", "wikiquote.org", "wikisource.org", "wikiversity.org",
    "wikivoyage.org", "wiktionary.org", "wmcloud.org", "wmflabs.org",
)  # fmt: skip
"""The projects (https://www.mediawiki.org/wiki/Wikimedia_projects), and what Wikimedia hosts for others."""

_CONTACT = re.compile(r"[^()\\\x00-\x1f\x7f-\U0010ffff]*(@|://)[^()\\\x00-\x1f\x7f-\U0010ffff]*")
_LONGEST = 500
"""Characters of a contact; an e-mail address has at most 254."""


def is_contact(text: str) -> bool:
    """Return whether a text can be sent as a contact: as a comment of `User-Agent` (RFC 9110, 10.1.5)."""
    return len(text) <= _LONGEST and _CONTACT.fullmatch(text) is not None


def contact_for(host: str, given: str, *, from_environment: bool = True) -> str:
    """Return the contact to send to a host: the given one, else that of `BFSQL_CONTACT`; empty if there is none.

    Args:
        host: The host.
        given: The contact of a profile or an option; none where empty.
        from_environment: Whether others than Wikimedia may get that of `BFSQL_CONTACT`.

    Raises:
        ConfigurationError: The host is one of Wikimedia's, and there is no contact; or the variable holds no contact.
    """
    variable = os.environ.get(VARIABLE, "").strip() if from_environment or is_of_wikimedia(host) else ""
    contact = given or (checked_contact(variable, VARIABLE) if variable else "")
    if not contact and is_of_wikimedia(host):
        raise ConfigurationError(
            "Wikimedia's servers require a way to contact the operator of this gateway, and none is given. Nothing was "
            "sent.",
            valid=f"Give your e-mail address or a URL: --contact you@example.org, {VARIABLE}=you@example.org in the "
            'environment, or contact = "you@example.org" in [endpoint] of a profile.',
        )
    return contact


def is_of_wikimedia(host: str) -> bool:
    """Return whether a host is one of Wikimedia's."""
    name = host.lower().rstrip(".")
    return any(name == domain or name.endswith(f".{domain}") for domain in _WIKIMEDIA)


def checked_contact(contact: str, given_by: str) -> str:
    """Return a contact; `given_by` names where it was given, for the error.

    Raises:
        ConfigurationError: It is neither an e-mail address nor a URL.
    """
    if not is_contact(contact):
        raise ConfigurationError(
            f"{given_by} {quoted(contact)} is wrong.",
            valid=f"A contact is an e-mail address or a URL: ASCII, without brackets, at most {_LONGEST} characters.",
        )
    return contact
