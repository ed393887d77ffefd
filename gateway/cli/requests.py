"""What a command line asks for, once its options are read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Common:
    """What every command is told.

    Attributes:
        graph: Files to load; none: the endpoint, else the demo graph.
        endpoint: The URL of an endpoint.
        profile: A name or a path; None for the default.
        prefix: `NAME=IRI`, as given.
        as_json: Print the JSON of the tool, and nothing else.
        verbose: How often `-v` was given after the command.
        explain: Say what the answer cost.
        store: The folder where parsed files are kept.
        contact: Who runs this gateway, for the endpoint; None: what the profile or the environment says.
        file_limits: `NAME=NUMBER`, as given.
    """

    graph: list[str] | None
    endpoint: str | None
    profile: str | None
    prefix: list[str] | None
    as_json: bool
    verbose: int
    explain: bool = False
    store: str | None = None
    contact: str | None = None
    file_limits: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Detail:
    """What `bfs` and `intersect` take beside their seeds, under the tools' own names."""

    node_types: list[str] | None
    predicates: list[str] | None
    topology_only: bool
    exclude_node_types: list[str] | None
    min_mentions: int
    limit: int | None
    offset: int
    max_tokens: int | None
    max_degree: int | None
    max_edges_per_node: int | None
    snapshot: str | None


@dataclass(frozen=True, slots=True)
class Schema:
    """What does the graph contain?

    Attributes:
        common: Which graph.
        whole: Whether to wait until every triple was read, however long that takes.
    """

    common: Common
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """Which entities have this name?"""

    common: Common
    query: str
    node_types: list[str] | None
    limit: int


@dataclass(frozen=True, slots=True)
class Bfs:
    """What is around these entities?"""

    common: Common
    seeds: list[str]
    hops: int
    detail: Detail


@dataclass(frozen=True, slots=True)
class Describe:
    """What is known about these entities?"""

    common: Common
    ids: list[str]
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class Intersect:
    """What is near to all of these entities?"""

    common: Common
    seeds: list[str]
    hops: int
    via: bool
    detail: Detail


@dataclass(frozen=True, slots=True)
class Serve:
    """Serve the tools, over HTTP at an address or over stdio.

    Attributes:
        common: Which graph.
        address: Host and port; None for stdio.
    """

    common: Common
    address: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class Check:
    """What can this endpoint do, and how must it be asked?"""

    common: Common


@dataclass(frozen=True, slots=True)
class Index:
    """Read all names of an endpoint.

    Attributes:
        common: Which endpoint.
        afresh: Whether what is there is made anew.
    """

    common: Common
    afresh: bool


@dataclass(frozen=True, slots=True)
class Demo:
    """What does a model's session look like?"""

    verbose: int


Request = Check | Demo | Index | Schema | Search | Bfs | Describe | Intersect | Serve
