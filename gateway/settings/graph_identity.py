"""Identifies a graph that something is stored for between runs, and names its folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import platformdirs

from gateway import PROGRAM
from gateway.settings.database_url import is_database_url
from gateway.settings.endpoint import AccessSettings
from gateway.settings.neo4j_url import is_neo4j_url
from gateway.settings.profile import Profile, policy_of
from gateway.settings.urls import is_secret_name

_DIGITS = 16
"""Of the hash that names a folder: nobody has so many graphs that two would have the same."""


_READ_SINCE = "0.1.0"
"""The version since which texts of a database are read as the same IRIs and names; what is older is not used."""


@dataclass(frozen=True, slots=True)
class GraphIdentity:
    """What identifies a stored graph: another graph, or another way to read it, has another folder.

    Attributes:
        url: The endpoint, without what could be a secret.
        graphs: The named graphs that together are the graph; empty for the default graph.
        edges: The profile's edge rule.
        names: The predicates of names and of synonyms.
        ways: The evidence models in use; nodes of evidence are not nodes of the graph.
        labels: What else decides on names: predicates of descriptions, languages, and entities of predicates.
        access: A hash of the user, without secrets: another user may see another graph.
    """

    url: str
    graphs: tuple[str, ...]
    edges: Mapping[str, Any]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    ways: str | tuple[str, ...]
    labels: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    access: str

    @classmethod
    def of(cls, url: str, profile: Profile, prefixes: Mapping[str, str]) -> GraphIdentity:
        """Return the identity of the graph behind a URL, as a profile and the user's own prefixes read it."""
        names = (profile.roles.name, profile.roles.synonym)
        labels = (profile.roles.description, profile.names.languages, profile.names.predicate_entity)
        ways = profile.evidence.ways
        return cls(
            _without_secrets(url) + _of_database(url, profile, prefixes) + _of_policy(profile),
            tuple(sorted(profile.endpoint.named_graphs)),
            profile.edges.model_dump(mode="json"),
            names,
            ways if isinstance(ways, str) else tuple(sorted(ways)),
            labels,
            _access(profile.endpoint.access),
        )

    @property
    def readable(self) -> dict[str, Any]:
        """The identity as JSON, for a person to read."""
        content: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return content

    @property
    def digest(self) -> str:
        """A hash that names the folder."""
        return hashlib.sha256(json.dumps(self.readable, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def graph_folder(identity: GraphIdentity, store: Path | None = None) -> Path:
    """Return the folder for what is stored of a graph, in `store` or the user's cache directory; it need not exist."""
    return (store or default_store()) / identity.digest


def default_store() -> Path:
    """Return the user's cache directory for this program; it need not exist."""
    return Path(platformdirs.user_cache_dir(PROGRAM, appauthor=False))


_OF_ANSWERS: Any = {
    **dict.fromkeys(
        ("description", "next_steps", "about", "hubs", "files", "search", "size", "snapshots", "server"), True
    ),
    "names": {"on_stubs"},
    "endpoint": {"contact", "environment_contact"},
}
"""Settings that say how a graph is parsed, searched and shown; what is read of it is the same whatever they say."""


def profile_digest(profile: Profile) -> str:
    """Return a hash of the settings that decide what is read of a graph."""
    return hashlib.sha256(profile.model_dump_json(exclude=_OF_ANSWERS).encode()).hexdigest()[:_DIGITS]


def names_digest(profile: Profile) -> str:
    """Return a hash of the settings that decide which names are read of a graph in this process, and which types.

    What is a description is no name that is detected.
    """
    roles = profile.roles
    settings = (roles.name, roles.synonym, roles.description, profile.edges.types)
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:_DIGITS]


def _access(access: AccessSettings) -> str:
    """Return a hash of the settings that name the user; they name secrets but hold none."""
    who = access.model_dump(mode="json", include={"user", "password", "token", "headers", "secret_headers"})
    return hashlib.sha256(json.dumps(who, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def database_prefixes(url: str, profile: Profile, prefixes: Mapping[str, str]) -> Mapping[str, str]:
    """Return the prefixes that decide which IRI an ID of a database is; none for an endpoint, whose IDs are IRIs.

    Args:
        url: The URL.
        profile: The profile.
        prefixes: The user's own prefixes, which override those of the profile.
    """
    return {**profile.prefixes, **prefixes} if is_database_url(url) else {}


def _of_database(url: str, profile: Profile, prefixes: Mapping[str, str]) -> str:
    """Return a hash of what is read of a database and how, as the fragment of its URL; nothing for an endpoint."""
    if not is_database_url(url):
        return ""
    tables = profile.neo4j if is_neo4j_url(url) else profile.postgres
    read = [_READ_SINCE, tables.model_dump(mode="json"), database_prefixes(url, profile, prefixes)]
    return f"#{hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()[:_DIGITS]}"


def _of_policy(profile: Profile) -> str:
    """Return the hash of what is hidden, as the fragment of a URL; else nothing."""
    policy = policy_of(profile)
    return "" if policy is None else f"#hidden-{policy.digest}"


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not is_secret_name(pair[0])]
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query=urlencode(query), fragment="").geturl()
