"""The commands that ask the six tools: what each takes, and the request that it means."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import (
    AsJson,
    Contact,
    Endpoint,
    ExcludedTypes,
    Explain,
    FileLimits,
    Graphs,
    Limit,
    MaxDegree,
    MaxEdges,
    MaxTokens,
    MinMentions,
    NodeTypes,
    Offset,
    Predicates,
    Prefixes,
    ProfileName,
    Snapshot,
    Store,
    TopologyOnly,
    Verbose,
)
from gateway.cli.program import PROGRAM, app, example
from gateway.cli.requests import (
    BfsCommand,
    CommonOptions,
    DescribeCommand,
    IntersectCommand,
    Request,
    SchemaCommand,
    SearchCommand,
    TraversalOptions,
)


@app.command(epilog=example(f"{PROGRAM} schema", f"{PROGRAM} schema --graph films.ttl --json"))
def schema(
    *,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Wait until a large graph was read in full; minutes perhaps.", show_default=False),
    ] = False,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    json: AsJson = False,
    explain: Explain = False,
    verbose: Verbose = 0,
) -> Request:
    """Say what the graph contains: types and predicates.

    Each with how often it occurs, and with its label where IDs say nothing.
    """
    return SchemaCommand(
        CommonOptions(graph, endpoint, profile, prefix, json, verbose, explain, store, contact, file_limit), whole
    )


@app.command(epilog=example(f"{PROGRAM} search insulin", f'{PROGRAM} search "steve mcqueen" -g films.ttl'))
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", hidden=True)],
    *,
    node_type: Annotated[
        list[str] | None,
        typer.Option("--node-type", metavar="TYPE", help="Only entities of this type. Repeatable.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Hits at most, 1 to 100.")] = 10,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    json: AsJson = False,
    explain: Explain = False,
    verbose: Verbose = 0,
) -> Request:
    """Find the IDs of entities by name.

    QUERY is a name, an alias or a part of one.
    """
    return SearchCommand(
        CommonOptions(graph, endpoint, profile, prefix, json, verbose, explain, store, contact, file_limit),
        query,
        node_type,
        limit,
    )


@app.command(
    epilog=example(f"{PROGRAM} bfs drug:warfarin --hops 2", f"{PROGRAM} bfs drug:warfarin --exclude-node-type Paper")
)
def bfs(
    seeds: Annotated[
        list[str],
        typer.Argument(metavar="SEED", hidden=True),
    ],
    *,
    hops: Annotated[int, typer.Option("--hops", "-n", metavar="N", help="How far to go from any seed, 1 to 5.")] = 1,
    node_type: NodeTypes = None,
    predicate: Predicates = None,
    topology_only: TopologyOnly = False,
    exclude_node_type: ExcludedTypes = None,
    min_mentions: MinMentions = 1,
    limit: Limit = None,
    offset: Offset = 0,
    max_tokens: MaxTokens = None,
    max_degree: MaxDegree = None,
    max_edges_per_node: MaxEdges = None,
    snapshot: Snapshot = None,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    json: AsJson = False,
    explain: Explain = False,
    verbose: Verbose = 0,
) -> Request:
    """Show what is around entities, as a tree by distance.

    SEED is an ID, as `search` tells it. Edges are followed in both directions.
    """
    return BfsCommand(
        CommonOptions(graph, endpoint, profile, prefix, json, verbose, explain, store, contact, file_limit),
        seeds,
        hops,
        TraversalOptions(
            node_types=node_type,
            predicates=predicate,
            topology_only=topology_only,
            exclude_node_types=exclude_node_type,
            min_mentions=min_mentions,
            limit=limit,
            offset=offset,
            max_tokens=max_tokens,
            max_degree=max_degree,
            max_edges_per_node=max_edges_per_node,
            snapshot=snapshot,
        ),
    )


@app.command(epilog=example(f"{PROGRAM} describe drug:warfarin", f"{PROGRAM} describe gene:CYP2C9 protein:CYP2C9"))
def describe(
    ids: Annotated[list[str], typer.Argument(metavar="ID", hidden=True)],
    *,
    max_tokens: MaxTokens = None,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    json: AsJson = False,
    explain: Explain = False,
    verbose: Verbose = 0,
) -> Request:
    """Show all that is known about entities, edges apart.

    ID is as `search` tells it. With --json, one ID gives the answer of describe_entity, several that of
    describe_entities.
    """
    return DescribeCommand(
        CommonOptions(graph, endpoint, profile, prefix, json, verbose, explain, store, contact, file_limit),
        ids,
        max_tokens,
    )


@app.command(
    epilog=example(
        f"{PROGRAM} intersect drug:warfarin drug:aspirin", f"{PROGRAM} intersect drug:warfarin drug:glibenclamide -k 2"
    )
)
def intersect(
    seeds: Annotated[
        list[str],
        typer.Argument(metavar="SEED", hidden=True),
    ],
    *,
    hops: Annotated[int, typer.Option("-k", "--hops", metavar="N", help="How far to go from each seed, 1 to 5.")] = 1,
    via: Annotated[
        bool, typer.Option("--via", help="Show how each node hangs together with each seed.", show_default=False)
    ] = False,
    node_type: NodeTypes = None,
    predicate: Predicates = None,
    topology_only: TopologyOnly = False,
    exclude_node_type: ExcludedTypes = None,
    min_mentions: MinMentions = 1,
    limit: Limit = None,
    offset: Offset = 0,
    max_tokens: MaxTokens = None,
    max_degree: MaxDegree = None,
    max_edges_per_node: MaxEdges = None,
    snapshot: Snapshot = None,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    json: AsJson = False,
    explain: Explain = False,
    verbose: Verbose = 0,
) -> Request:
    """Show what entities share: all that is near to each of them.

    SEED is an ID, as `search` tells it; it takes two or more. The answer has the nodes within reach of every seed and
    all edges among them.
    """
    return IntersectCommand(
        CommonOptions(graph, endpoint, profile, prefix, json, verbose, explain, store, contact, file_limit),
        seeds,
        hops,
        via,
        TraversalOptions(
            node_types=node_type,
            predicates=predicate,
            topology_only=topology_only,
            exclude_node_types=exclude_node_type,
            min_mentions=min_mentions,
            limit=limit,
            offset=offset,
            max_tokens=max_tokens,
            max_degree=max_degree,
            max_edges_per_node=max_edges_per_node,
            snapshot=snapshot,
        ),
    )
