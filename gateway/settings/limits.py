"""The sections of a profile about limits, and the server of a shared cache."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Annotated, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, SecretStr, model_validator

from gateway.errors import ConfigurationError
from gateway.settings.secrets import read
from gateway.settings.section import Seconds, Section
from gateway.settings.urls import is_loopback


class LimitSettings(Section):
    """The budget of one tool call, and the size of one query."""

    deadline_seconds: Seconds = Field(
        default=30.0,
        description=(
            "Time for one tool call. A traversal reserves 15 % of it for filters, metadata and writing the answer."
        ),
    )
    requests: Annotated[int, Field(ge=1)] = Field(default=200, description="Queries per tool call.")
    rows: Annotated[int, Field(ge=1)] = Field(default=500_000, description="Rows read per tool call.")
    nodes: Annotated[int, Field(ge=1)] = Field(default=200_000, description="Nodes reached per traversal.")
    batch: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=100, description="Nodes in one expansion query. The optimum is at 100 to 250."
    )
    facts_batch: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=500, description="Nodes in one query for types, names and literals."
    )
    query_rows: Annotated[int, Field(ge=10)] = Field(
        default=50_000,
        description=(
            "Rows per query. It must be below the endpoint's own row cap: a cut at exactly that cap cannot be seen "
            "otherwise."
        ),
    )
    scan_rows: Annotated[int, Field(ge=1)] = Field(
        default=100_000_000,
        description="Triples read to enumerate the schema. The schema of a larger graph is not `comprehensive`.",
    )
    schema_seconds: Seconds = Field(default=10.0, description="Time for the first look at the schema.")
    schema_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=24.0, description="How long an enumerated schema is used before it is read again."
    )
    body_megabytes: Annotated[int, Field(ge=1)] = Field(
        default=64, description="Largest response accepted from the endpoint, uncompressed."
    )

    @property
    def body_bytes(self) -> int:
        """The size of the largest response, in bytes."""
        return self.body_megabytes << 20


class SizeSettings(Section):
    """How large an answer to the model may be; a token counts as 4 bytes."""

    max_tokens: Annotated[int, Field(ge=200)] = Field(
        default=8_000, description="Default size limit of an answer. A token counts as 4 bytes."
    )
    ceiling_tokens: Annotated[int, Field(ge=200)] = Field(
        default=12_000, description="Upper limit for the argument `max_tokens`. Some clients cut at 50,000 characters."
    )
    evidence_text_characters: Annotated[int, Field(ge=0)] = Field(
        default=60,
        description="A longer text on an edge, in characters, is left out as a quote and counted in `omitted_texts`.",
    )
    cell_characters: Annotated[int, Field(ge=1)] = Field(
        default=300, description="Characters of a text in a cell of `rows`; a longer one is cut, and counted."
    )
    cell_values: Annotated[int, Field(ge=1)] = Field(
        default=10, description="Values in a cell of `rows`; further ones are left out, and counted."
    )
    coined_prefixes: bool = Field(
        default=True,
        description="Whether a namespace without a prefix has its well-known one, or else one that the gateway "
        "[coins](tools.md#coined-prefixes).",
    )

    @model_validator(mode="after")
    def _below_the_ceiling(self) -> Self:
        if self.max_tokens > self.ceiling_tokens:
            raise ValueError(f"max_tokens = {self.max_tokens} is above ceiling_tokens = {self.ceiling_tokens}")
        return self


class OrientationSettings(Section):
    """How the types and predicates of the graph become known."""

    vouched: bool = Field(
        default=False,
        description=(
            "Set to `true` if you know that the lists are complete although not every triple was read. It does not "
            "apply to lists that are known to lack terms, and it ends when a traversal meets a term that is missing."
        ),
    )
    glance_triples: Annotated[int, Field(ge=1)] = Field(
        default=200_000,
        description="Graphs up to this size are read in full at the first look. For files the default is 1,000,000.",
    )
    patience_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1.0,
        description="How long the first calls wait for the whole schema before they continue with a sample.",
    )
    enumeration_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description=(
            "Time for reading a larger graph in full, in the background; `0`: never. Absent: 600 for files and for an"
            " endpoint on your own network (a private address, a name without a domain), else 0; also 0 for an "
            "endpoint that is asked one query at a time or counts query time."
        ),
    )


class SnapshotSettings(Section):
    """Whole answers, stored for their pages."""

    megabytes: Annotated[int, Field(ge=1)] = Field(default=64, description="Memory for stored answers.")
    ttl_seconds: Seconds = Field(default=300.0, description="How long an answer is stored.")


class CacheSettings(Section):
    """What was read of single nodes and edges, stored for all calls."""

    megabytes: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description=(
            "Memory for the cache, shared by all calls; `0`: no cache. Absent: 64 for an endpoint, 0 for a graph in "
            "this process."
        ),
    )
    ttl_seconds: Seconds = Field(
        default=300.0,
        description=(
            "How long an entry is used: [what that means](limits.md#what-no-gateway-can-know). A graph in this "
            "process never changes, so its entries do not expire."
        ),
    )


class HubSettings(Section):
    """Nodes with very many edges."""

    max_degree: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description=(
            "A node with more edges is shown and not expanded, unless it is a seed. Absent: every node is expanded. "
            "The argument `max_degree` overrides it."
        ),
    )
    max_degree_ceiling: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description=(
            "Upper limit for the argument `max_degree`. A call that asks for more gets the ceiling and a warning."
        ),
    )
    max_edges_per_node: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description=(
            "Edges shown of an expanded node. Which ones is stable within one snapshot only. Absent: all. The "
            "argument `max_edges_per_node` overrides it."
        ),
    )
    max_edges_ceiling: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Upper limit for the argument `max_edges_per_node`."
    )

    @model_validator(mode="after")
    def _below_the_ceilings(self) -> Self:
        for name, usual, ceiling in (
            ("max_degree", self.max_degree, self.max_degree_ceiling),
            ("max_edges_per_node", self.max_edges_per_node, self.max_edges_ceiling),
        ):
            if usual is not None and ceiling is not None and usual > ceiling:
                raise ValueError(f"{name} = {usual} is above its ceiling of {ceiling}")
        return self


_PASSWORD = "BFSQL_SHARED_CACHE_PASSWORD"  # noqa: S105 - the variable's name
_SECRET = "BFSQL_SHARED_CACHE_SECRET"  # noqa: S105 - the variable's name
_IN_FILE = "_FILE"
"""Ends the names of variables that say in which file a secret is."""

_SCHEMES = frozenset({"redis", "rediss", "unix"})

_NONE = SecretStr("")


@dataclass(frozen=True, slots=True)
class SharedCacheServer:
    """A Valkey or Redis server.

    Attributes:
        url: `redis://HOST:PORT/DATABASE`, `rediss://` with TLS, or `unix://PATH`.
        password: Its password; blank without one.
        secret: What the processes that share it know, and others that may reach it do not; blank: the password.
    """

    url: str
    password: SecretStr = field(default=_NONE)
    secret: SecretStr = field(default=_NONE)

    def __post_init__(self) -> None:
        """Check the URL, and whether others could forge what is shared.

        Raises:
            ConfigurationError: It is none of such a server or has a password in it, or the server is on another machine
                and there is no secret.
        """
        if not _is_url(self.url):
            raise ConfigurationError(
                "--shared-cache is not the URL of a Valkey or Redis server.",
                valid="Write redis://HOST:PORT, rediss://HOST:PORT or unix://PATH with no password in it.",
                next_step=f"Give the password in the environment variable {_PASSWORD}.",
            )
        if not self.key and not self.is_on_this_machine:
            raise ConfigurationError(
                "--shared-cache has no secret: whoever reaches the server could write answers that gateways believe.",
                valid="Without a secret, the server is on this machine: a loopback address, or unix://PATH.",
                next_step=f"Give the password of the server in the environment variable {_PASSWORD}, or, where it has "
                f"none, a long random text in {_SECRET}, the same for all gateways; or name a file with it in "
                f"{_PASSWORD}{_IN_FILE} or {_SECRET}{_IN_FILE}.",
            )

    @property
    def login(self) -> str | None:
        """The password that the server asks for; None without one."""
        password = self.password.get_secret_value()
        return password if password.strip() else None

    @property
    def key(self) -> str:
        """What only the processes know that share the server; empty if there is nothing."""
        secret = self.secret.get_secret_value()
        return secret if secret.strip() else self.login or ""

    @property
    def is_on_this_machine(self) -> bool:
        """Whether only programs of this machine reach the server by this URL."""
        parts = urlsplit(self.url)
        return parts.scheme == "unix" or is_loopback(parts.hostname or "")

    @classmethod
    def at(cls, url: str) -> SharedCacheServer:
        """Return the server at a URL, with the password and the secret of the environment.

        Raises:
            ConfigurationError: The URL is wrong, a file cannot be read, or there is no secret and has to be one.
        """
        return cls(url, _from_environment(_PASSWORD), _from_environment(_SECRET))


def _from_environment(name: str) -> SecretStr:
    """Return a secret of the environment, or of the file that it names; blank if there is none.

    Raises:
        ConfigurationError: Both are given, or what is there is not one line.
    """
    is_given, file = bool(os.environ.get(name, "").strip()), os.environ.get(f"{name}{_IN_FILE}", "")
    if is_given and file:
        raise ConfigurationError(f"Both {name} and {name}{_IN_FILE} are set.", next_step="Set one of them.")
    if file:
        return read(f"file:{file}", f"{name}{_IN_FILE}")
    return read(f"env:{name}", name) if is_given else _NONE


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_place = bool(parts.path if parts.scheme == "unix" else parts.hostname and parts.port != 0)
    except ValueError:
        return False
    # The library takes other options there, a password among them.
    has_options_only = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} <= {"db"}
    return parts.scheme in _SCHEMES and "@" not in parts.netloc and has_place and has_options_only
