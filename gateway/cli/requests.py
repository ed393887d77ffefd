"""What a command line asks for, once its options are read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommonOptions:
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
class TraversalOptions:
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
class SchemaCommand:
    """What does the graph contain?

    Attributes:
        common: Which graph.
        whole: Whether to wait until every triple was read, however long that takes.
    """

    common: CommonOptions
    whole: bool = False


@dataclass(frozen=True, slots=True)
class SearchCommand:
    """Which entities have this name?"""

    common: CommonOptions
    query: str
    node_types: list[str] | None
    limit: int


@dataclass(frozen=True, slots=True)
class BfsCommand:
    """What is around these entities?"""

    common: CommonOptions
    seeds: list[str]
    hops: int
    detail: TraversalOptions


@dataclass(frozen=True, slots=True)
class DescribeCommand:
    """What is known about these entities?"""

    common: CommonOptions
    ids: list[str]
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class IntersectCommand:
    """What is near to all of these entities?"""

    common: CommonOptions
    seeds: list[str]
    hops: int
    via: bool
    detail: TraversalOptions


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """Serve the tools, over HTTP at an address or over stdio.

    Attributes:
        common: Which graph.
        address: Host and port; None for stdio.
    """

    common: CommonOptions
    address: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class CheckCommand:
    """What can this endpoint do, and how must it be asked?"""

    common: CommonOptions


@dataclass(frozen=True, slots=True)
class IndexCommand:
    """Read all names of an endpoint.

    Attributes:
        common: Which endpoint.
        afresh: Whether what is there is made anew.
    """

    common: CommonOptions
    afresh: bool


@dataclass(frozen=True, slots=True)
class DemoCommand:
    """What does a model's session look like?"""

    verbose: int


Request = (
    CheckCommand
    | DemoCommand
    | IndexCommand
    | SchemaCommand
    | SearchCommand
    | BfsCommand
    | DescribeCommand
    | IntersectCommand
    | ServeCommand
)
