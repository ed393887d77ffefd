"""No old ID of a blank node of an endpoint means a node of other content, whatever is edited."""

import json
import random
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pyoxigraph
import pytest
from aiohttp import ClientSession

from gateway.api import open_gateway
from gateway.errors import GatewayError
from gateway.settings.endpoint import EngineName
from gateway.tools.gateway import Gateway
from tests.blank_nodes.graphs import KIND_COUNT, drawn
from tests.blank_nodes.oracle import expected_of
from tests.blank_nodes.small_endpoint import PREFIXES, profile_for, renaming, served
from tests.servers.oxigraph import OxigraphServer, running_oxigraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

WAYS: Final[Sequence[EngineName]] = ("oxigraph", "unknown")
"""By keys, and by walks."""

_OF_LISTS: Final = ("heads", "lists", "shared", "containers")

KINDS: Final[Sequence[tuple[EngineName, str]]] = (
    *(("oxigraph", kind) for kind in ("nests", "relations", "siblings", "cycles", *_OF_LISTS)),
    *(("unknown", kind) for kind in ("siblings", *_OF_LISTS)),
)

EDITS: Final = 5
"""Of each graph."""

_LINKS: Final = frozenset(
    {"id", "entity_type", "types", "edges", "complete", "blank_node_edges", "warnings", "labels", "prefixes"}
)

_LISTS: Final = """
    x:a x:p _:list ; x:q _:owner ; x:r _:other , _:nested ; rdfs:label 'a' .
    _:list rdfs:label 'list' ; rdf:first x:m1 ; rdf:rest _:l2 . _:l2 rdf:first x:m2 ; rdf:rest _:l3 .
    _:l3 rdf:first x:m3 ; rdf:rest _:l4 . _:l4 rdf:first x:m4 ; rdf:rest () .
    _:owner rdfs:label 'owner' ; x:order ( 1 2 3 4 5 ) .
    _:nested rdfs:label 'nested' ; x:order ( x:m1 ( x:m2 x:m3 x:m4 x:m5 ) ) .
    x:b x:order ( x:m1 x:m2 x:m3 _:member ) . _:member rdfs:label 'member' .
    x:bag a rdf:Bag ; rdf:_1 _:inside . _:inside rdfs:label 'inside' .
    _:other rdfs:label 'other' .
"""

_EDITED: Final[Mapping[str, str]] = {
    "list": """DELETE { ?c rdf:first x:m3 ; rdf:rest ?d . ?d rdf:first x:m4 ; rdf:rest () }
        INSERT { ?c rdf:first x:m4 ; rdf:rest () }
        WHERE { [] rdfs:label "list" ; rdf:rest/rdf:rest ?c . ?c rdf:rest ?d }""",
    "owner": """DELETE { ?c rdf:first 5 } INSERT { ?c rdf:first 6 }
        WHERE { [] rdfs:label "owner" ; x:order/rdf:rest* ?c . ?c rdf:first 5 }""",
    "nested": """DELETE { ?c rdf:first x:m4 } INSERT { ?c rdf:first x:m6 }
        WHERE { [] rdfs:label "nested" ; x:order/rdf:rest/rdf:first/rdf:rest* ?c . ?c rdf:first x:m4 }""",
    "member": "DELETE { x:b x:order ?l } INSERT { x:c x:order ?l } WHERE { x:b x:order ?l }",
    "inside": "INSERT DATA { x:bag rdf:first x:m1 }",
}
"""What changes what lists say of one node, by the name of the node."""


async def told(gateway: Gateway, node: str) -> tuple[Any, bool] | None:
    """Return what a node itself says, without the blank nodes that it leads to, and whether that is all of it."""
    try:
        answer = (await gateway.call("describe_entity", {"id": node}, shape="reference")).as_json()
    except GatewayError:
        return None
    own = {key: _values(value) for key, value in answer.items() if key not in _LINKS}
    # A row of edges has its number, and then the nodes.
    ends = {
        row: {end.partition(" ")[0] for end in values[1:] if not end.startswith("_:")}
        for row, values in answer.get("edges", {}).items()
    }
    rows = {row: some for row, some in ends.items() if some}
    return ({key: some for key, some in own.items() if some}, rows), answer["complete"]


def _values(value: Any) -> list[str]:
    """Return the values of one predicate: lists as they are, all blank nodes in them alike."""
    values = value if isinstance(value, list) else [value]
    return sorted(json.dumps(_alike(one)) for one in values if _alike(one) != "_:")


def _alike(value: Any) -> Any:
    if isinstance(value, list):
        return [_alike(one) for one in value]
    is_blank = "_" in value if isinstance(value, dict) else str(value).startswith("_:")
    return "_:" if is_blank else value


async def ids_near(gateway: Gateway, seeds: Sequence[str]) -> list[str]:
    answer = await gateway.bfs_subgraph(list(seeds), 3)
    return sorted(node.id for node in answer.nodes if node.id.startswith("_:"))


def edited(store: pyoxigraph.Store, dice: random.Random) -> None:
    """Remove a triple, or give a node a triple of another."""
    triples = sorted(store, key=str)
    chosen, other = dice.choice(triples), dice.choice(triples)
    if dice.random() < 0.5:
        store.remove(chosen)
    else:
        store.add(pyoxigraph.Quad(chosen.subject, other.predicate, other.object))
    if dice.random() < 0.3:
        store.remove(chosen)


def are_alike(before: tuple[Any, bool], now: tuple[Any, bool] | None) -> bool:
    """Return whether a node says the same, is not there any more, or is not read as a whole."""
    return now is None or not (before[1] and now[1]) or before[0] == now[0]


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "kind"), KINDS)
@pytest.mark.anyio
async def test_an_id_of_before_an_edit_is_that_of_a_node_of_the_same_content_or_of_none(
    engine: EngineName, kind: str
) -> None:
    graph = next(graph for graph in map(drawn, range(KIND_COUNT)) if graph.kind == kind)
    seeds = sorted(f"<{node}>" for node in expected_of(graph.triples).nodes if not str(node).startswith("0-"))
    dice = random.Random(kind)  # noqa: S311 - not for security
    async with served(graph.as_ntriples(), engine=engine, renames=engine == "unknown") as (gateway, store):
        before: dict[str, tuple[Any, bool]] = {}
        for _ in range(EDITS):
            for node in dice.sample(found := await ids_near(gateway, seeds[:20]), min(8, len(found))):
                if said := await told(gateway, node):
                    before.setdefault(node, said)
            edited(store, dice)
            gateway.forget()
            for node, said in before.items():
                assert are_alike(said, await told(gateway, node)), node


async def named(gateway: Gateway) -> dict[str, str]:
    """Return the IDs of the blank nodes with a name."""
    seeds = ["<http://e.org/a>", "<http://e.org/b>", "<http://e.org/bag>"]
    answer = await gateway.bfs_subgraph(seeds, 2)
    return {node.name: node.id for node in answer.nodes if node.id.startswith("_:") and node.name}


async def gone(gateway: Gateway, ids: Mapping[str, str]) -> set[str]:
    """Return the names of the nodes that are not there any more."""
    answer = (await gateway.call("bfs_query", {"seeds": ["<http://e.org/a>", *ids.values()], "max_hops": 1})).as_json()
    assert "incomplete" not in answer
    return {name for name, node in ids.items() if node in answer.get("missing_seeds", ())}


async def update(server: OxigraphServer, text: str) -> None:
    body = f"{PREFIXES.replace('@prefix', 'PREFIX').replace(' . ', ' ')} {text}"
    async with (
        ClientSession() as client,
        client.post(server.update, data=body, headers={"Content-Type": "application/sparql-update"}) as answer,
    ):
        assert answer.ok, await answer.text()


@pytest.mark.server
@pytest.mark.anyio
@pytest.mark.parametrize("engine", WAYS)
async def test_an_edit_of_a_list_takes_the_ids_of_those_that_have_it_or_are_in_it_and_no_others(
    engine: EngineName, tmp_path: Path
) -> None:
    file = tmp_path / "lists.ttl"
    file.write_text(PREFIXES + _LISTS, encoding="utf-8")
    async with AsyncExitStack() as opened:
        try:
            server = opened.enter_context(running_oxigraph([file], workdir=tmp_path, is_written_to=True))
        except ServerUnavailable as error:
            skip_or_fail(error)
        url = await opened.enter_async_context(renaming(server.endpoint)) if engine == "unknown" else server.endpoint
        gateway = await opened.enter_async_context(open_gateway(endpoint=url, profile=profile_for(engine)))
        ids, edited_now = await named(gateway), set[str]()
        assert ids.keys() == {*_EDITED, "other"}
        for name, edit in _EDITED.items():
            await update(server, edit)
            gateway.forget()
            edited_now.add(name)
            assert await gone(gateway, ids) == edited_now
