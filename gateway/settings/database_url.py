"""What the URL of an endpoint or a database may be: which of them it is, and that no password is part of it."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from gateway.errors import ConfigurationError
from gateway.settings.neo4j_url import is_neo4j_url, neo4j_url_problem
from gateway.settings.urls import NOT_HTTP, url_problem

_SCHEMES = ("postgresql", "postgres")

SSL_MODES: Final = ("disable", "require", "verify-full")
"""Values of `sslmode`: no encryption; encryption with whoever answers; and the server's certificate is checked."""

_FORM = "postgresql://user@host:5432/database, perhaps with ?sslmode=disable|require|verify-full or ?host=/folder"


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
        return f"it is not a URL of the form {_FORM}"
    if parts.password is not None or "password" in options:
        return (
            "the URL contains a password; give user and password as endpoint.access.user and endpoint.access.password "
            "in a profile, the password written as `env:NAME` or `file:/path`, or as --user and --password-file"
        )
    folder = options.get("host", "")
    is_place = folder.startswith("/") if "host" in options else bool(parts.hostname)
    is_mode = options.get("sslmode", SSL_MODES[0]) in SSL_MODES
    if not is_place or not is_mode or options.keys() - {"host", "sslmode"} or port == 0 or parts.fragment:
        return f"it is not a URL of the form {_FORM}"
    if not unquote(parts.path).strip("/") or not url.isprintable():
        return "it names no database after the host"
    return ""
