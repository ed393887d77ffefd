"""What a URL of a database may be, PostgreSQL's among them: no password is part of it."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from gateway.settings.neo4j_url import is_neo4j_url, neo4j_url_problem

_SCHEMES = ("postgresql://", "postgres://")

SSL_MODES: Final = ("disable", "require", "verify-full")
"""Values of `sslmode`: no encryption; encryption with whoever answers; and the server's certificate is checked."""

_FORM = "postgresql://user@host:5432/database, perhaps with ?sslmode=disable|require|verify-full or ?host=/folder"


def is_database_url(url: str) -> bool:
    """Return whether a URL is that of a database: a PostgreSQL or a Neo4j."""
    return is_postgres_url(url) or is_neo4j_url(url)


def is_postgres_url(url: str) -> bool:
    """Return whether a URL is that of a PostgreSQL database."""
    return url.startswith(_SCHEMES)


def database_url_problem(url: str) -> str:
    """Return why the URL of a database may not stand in a profile or on a command line; empty where it may."""
    return neo4j_url_problem(url) if is_neo4j_url(url) else postgres_url_problem(url)


def postgres_url_problem(url: str) -> str:
    """Return the same of a PostgreSQL database."""
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
