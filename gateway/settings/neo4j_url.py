"""What a URL of a Neo4j server may be: no password is part of it."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

SCHEMES: Final = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
"""Schemes of the driver: `+s` encrypts and checks the certificate, `+ssc` encrypts and takes any."""

_FORM = "neo4j://user@host:7687/database or bolt://…, with neo4j+s:// or bolt+s:// for TLS"


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
        return f"it is not a URL of the form {_FORM}"
    if parts.password is not None:
        return (
            "the URL contains a password; give user and password as endpoint.access.user and endpoint.access.password "
            "in a profile, the password written as `env:NAME` or `file:/path`, or as --user and --password-file"
        )
    is_one_name = "/" not in parts.path.strip("/")
    if not parts.hostname or port == 0 or parts.query or parts.fragment or not is_one_name or not url.isprintable():
        return f"it is not a URL of the form {_FORM}"
    return ""
