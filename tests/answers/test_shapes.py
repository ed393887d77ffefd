"""The reference shape and its sizes; both shapes hold the same facts, and each is valid by its schema."""

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gateway import expand, resources
from gateway.answers.models import Answer, BfsResult, EntitiesResult, Entity, IntersectionResult, SearchResult
from gateway.answers.page import (
    AnyPage,
    EntitiesPage,
    EntityPage,
    Header,
    IdList,
    PageEdge,
    PageGap,
    PageHit,
    PageNode,
    SearchPage,
    SubgraphPage,
    TermSummary,
)
from gateway.answers.reference import REFERENCE
from gateway.answers.shape import size_of
from gateway.answers.values import Amount, EdgeMetadata, Id, Nested, NodeMetadata, PageAssertion
from gateway.api import open_gateway
from gateway.graph.values import Edge, NoValue
from gateway.server.tools import published, stored_schemas
from gateway.settings.load import load_profile
from gateway.settings.profile import ShapeName
from gateway.tools.gateway import Gateway
from tests.answers.same_nodes import assert_same_nodes
from tests.examples import examples
from tests.random_graphs import write_corpus
from tests.small import ROOM, X

pytestmark = pytest.mark.anyio

NODE = PageNode(
    f"{X}a",
    "x:a",
    "x:T",
    paths=[["x:a", "x:b"]],
    metadata=NodeMetadata(
        name="A",
        descriptions=["one"],
        synonyms=["B"],
        total_mentions=[1, 2],
        properties={
            "x:p": [Id("x:b")],
            "x:q": [NoValue(unknown=True), NoValue(unknown=False)],
            "x:r": [Nested({"x:s": [Amount(3, Id("x:m"))]}, cut=True)],
        },
    ),
)
METADATA = {
    "name": "A",
    "description": "one",
    "synonyms": ["B"],
    "total_mentions": [1, 2],
    "x:p": "x:b",
    "x:q": [{"unknown": True}, {"no_value": True}],
    "x:r": {"x:s": {"amount": 3, "unit": "x:m"}, "more": True},
}
EDGE = PageEdge(
    Edge(f"{X}a", f"{X}p", f"{X}b"),
    "x:a",
    "x:p",
    "x:b",
    metadata=EdgeMetadata(
        [PageAssertion(negated=True, source_documents=["P1"]), PageAssertion(confidence=[0.5])],
        PageAssertion(source_documents=["P1"]),
    ),
)
LITTLE = Header(IdList(["x:a"]), 1, 1, 0, [1], [], {}, {}, IdList([]), 0, [], TermSummary((), ()))


def answer(model: type[Answer], page: AnyPage) -> dict[str, Any]:
    return model.model_validate(REFERENCE.writers[type(page)](page)).as_json()


def test_a_page_that_has_all_is_written_whole() -> None:
    header = Header(
        seeds=IdList(["x:a"]),
        hops=2,
        node_count=3,
        edge_count=1,
        levels=[1, 2],
        gaps=[PageGap("budget", 2, ["x:c"], "Too many.")],
        removed={"exclude_node_types": 3},
        undecided={"min_mentions": 1},
        missing_seeds=IdList([], left_out=1),
        blank_node_edges=4,
        warnings=["Careful."],
        summary=TermSummary(["x:T"], ["x:p"], 5, 6),
        degraded={"ids_not_listed": 1},
    )
    page = SubgraphPage(
        header, [NODE, PageNode(f"{X}b", "x:b", "untyped", name="")], [EDGE], {"x:quote": 1}, labels={"x:T": "T"}
    )
    page.next_offset, page.next_edge, page.edges_on_later_pages = 2, 3, 1
    page.snapshot, page.is_result_changed, page.place = "abc", True, "1-2 of 3"
    assert answer(BfsResult, page) == {
        "seeds": ["x:a"],
        "max_hops": 2,
        "node_count": 3,
        "edge_count": 1,
        "complete": False,
        "incomplete": [{"cause": "budget", "count": 2, "ids": ["x:c"], "detail": "Too many."}],
        "missing_seeds": [],
        "levels": [1, 2],
        "page": "1-2 of 3",
        "removed": {"exclude_node_types": 3},
        "undecided": {"min_mentions": 1},
        "blank_node_edges": 4,
        "warnings": ["Careful."],
        "degraded": {"ids_not_listed": 1},
        "omitted_texts": {"x:quote": 1},
        "nodes": [
            {"id": "x:a", "entity_type": "x:T", "via": [["x:a", "x:b"]], "metadata": METADATA},
            {"id": "x:b", "entity_type": "untyped", "name": ""},
        ],
        "edges": [
            {
                "subject": "x:a",
                "predicate": "x:p",
                "object": "x:b",
                "metadata": {
                    "source_documents": ["P1"],
                    "assertions": [{"negated": True, "source_documents": ["P1"]}, {"confidence": 0.5}],
                },
            }
        ],
        "schema_summary": {
            "entity_types_found": ["x:T"],
            "predicates_found": ["x:p"],
            "entity_types_total": 5,
            "predicates_total": 6,
        },
        "labels": {"x:T": "T"},
        "next_offset": 2,
        "next_edge": 3,
        "edges_on_later_pages": 1,
        "snapshot": "abc",
        "result_changed": True,
    }
    assert REFERENCE.size_of_part(page) == size_of(answer(BfsResult, page))


def test_what_a_page_does_not_have_is_not_written() -> None:
    page = SubgraphPage(LITTLE, [], [])
    assert answer(BfsResult, page) == {
        "seeds": ["x:a"],
        "max_hops": 1,
        "node_count": 1,
        "edge_count": 0,
        "complete": True,
        "levels": [1],
        "nodes": [],
        "edges": [],
        "schema_summary": {"entity_types_found": [], "predicates_found": []},
    }


def test_a_page_without_levels_is_an_intersection() -> None:
    header = Header(IdList(["x:a"]), 2, 1, 0, None, [], {}, {}, IdList([]), 0, [], TermSummary((), ()))
    written = answer(IntersectionResult, SubgraphPage(header, [], []))
    assert written["k"] == 2
    assert not {"levels", "max_hops"} & written.keys()


def test_one_entity_is_flat_and_one_of_several_is_nested() -> None:
    identity = {"id": "x:a", "entity_type": "x:T", "iri": f"{X}a"}
    alone = EntityPage(NODE, complete=False, warnings=[], degraded={}, labels={"x:T": "T"})
    assert answer(Entity, alone) == {**identity, **METADATA, "complete": False, "labels": {"x:T": "T"}}
    several = EntitiesPage(
        [NODE], IdList(["x:b"]), IdList([]), IdList(["x:c"]), complete=True, warnings=["Careful."], labels={}
    )
    assert answer(EntitiesResult, several) == {
        "result": [{**identity, "metadata": METADATA}],
        "complete": True,
        "not_found": ["x:b"],
        "warnings": ["Careful."],
        "remaining_ids": ["x:c"],
    }
    assert REFERENCE.size_of_part(alone) == size_of(answer(Entity, alone))
    assert REFERENCE.size_of_part(several) == size_of(answer(EntitiesResult, several))


def test_a_hit_has_what_is_known_of_it() -> None:
    hits = [PageHit("x:a", "x:T", "A", "", "alias", "a"), PageHit("x:b", "untyped", "", "What it is.", "label", None)]
    page = _search_page(hits, found=3)
    assert answer(SearchResult, page) == {
        "result": [
            {"id": "x:a", "entity_type": "x:T", "name": "A", "match": "alias", "matched": "a"},
            {"id": "x:b", "entity_type": "untyped", "description": "What it is.", "match": "label"},
        ],
        "complete": True,
        "found": 3,
    }
    assert REFERENCE.size_of_part(page) == size_of(answer(SearchResult, page))


def test_a_search_tells_how_it_was_made_where_names_may_have_been_missed() -> None:
    hits = [PageHit("x:a", "x:T", "A", "", "label", None)]
    written = {"result": [{"id": "x:a", "entity_type": "x:T", "name": "A", "match": "label"}], "complete": True}
    assert answer(SearchResult, _search_page(hits)) == written
    how = {"how": "names", "exhaustive": False}
    assert answer(SearchResult, _search_page(hits, exhaustive=False)) == {**written, "searched": how}
    how = {"how": "names", "truncated": True, "exhaustive": True}
    assert answer(SearchResult, _search_page(hits, truncated=True)) == {**written, "searched": how}


def test_guesses_stand_apart_with_what_to_try() -> None:
    guesses = [PageHit("x:a", "x:T", "A", "", "similar", None)]
    page = _search_page([], guesses=guesses, next_steps="Try B.")
    assert answer(SearchResult, page) == {
        "result": [],
        "guesses": [{"id": "x:a", "entity_type": "x:T", "name": "A", "match": "similar"}],
        "complete": True,
        "next_steps": "Try B.",
    }
    assert REFERENCE.size_of_part(page) == size_of(answer(SearchResult, page))


def _search_page(
    hits: Sequence[PageHit],
    *,
    guesses: Sequence[PageHit] = (),
    next_steps: str = "",
    found: int = 0,
    truncated: bool = False,
    exhaustive: bool = True,
) -> SearchPage:
    return SearchPage(
        hits,
        guesses,
        next_steps,
        "names",
        found or len(hits),
        truncated,
        exhaustive,
        complete=True,
        warnings=[],
        labels={},
    )


Json = dict[str, Any]

QUESTIONS = 150
"""To each of the eight graphs."""

BLANK_NODES = "@prefix x: <http://x.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n" + "\n".join(
    f"""x:n{number} a x:T ; rdfs:label "name {number}" ; x:p [ x:q x:n{number * 7 % 20} ; x:v {number}, "x:n1" ] ;
        x:p ( [ a x:U ; x:v {number % 3} ; x:r [ x:v {number} ; x:r [ x:q x:n{number * 3 % 20} ] ] ] x:n{number % 4} ) ;
        x:s _:shared{number % 5} . _:shared{number % 5} a x:U ; rdfs:label "shared {number % 5}"; x:q x:n1 ."""
    for number in range(20)
)
"""Blank nodes in each other, in lists, shared, with values that look like IDs."""

FIXTURES: Sequence[tuple[str, str]] = (
    ("medical.ttl", "local"),
    ("films.ttl", "local"),
    ("singletons.ttl", "local"),
    ("associations.ttl", "local"),
    ("awkward.ttl", "local"),
    ("wikidata-slice.ttl", "wikidata-local"),
    ("random", "local"),
    ("blank", "local"),
)
"""The graphs, and the profiles by which they are read."""

VALIDATORS: Mapping[ShapeName, Mapping[str, jsonschema.Draft202012Validator]] = {
    shape: {
        tool.name: jsonschema.Draft202012Validator(tool.output_schema) for tool in published(None, shape, explain=False)
    }
    for shape in ("compact", "reference")
}

KEYS = {tool: answer["output"]["properties"].keys() for tool, answer in stored_schemas().items()}
"""The keys of answers in the reference shape."""


def as_set(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted(json.dumps(entry, sort_keys=True) for entry in entries)


async def answers_of(gateway: Gateway, tool: str, arguments: Mapping[str, Any]) -> tuple[Json, Json]:
    """Ask in both shapes, check both by their schemas, and return the compact one, expanded, and the other."""
    answers: dict[str, Json] = {}
    for shape in ("compact", "reference"):
        answer = await gateway.call(tool, arguments, shape=shape)
        answers[shape] = json.loads(json.dumps(answer.as_json()))
        VALIDATORS[shape][tool].validate(answers[shape])
    # All other keys are those of the reference shape, of which docs/tools.md has a row each.
    assert answers["compact"].keys() <= KEYS[tool] | {
        "via",
        "node_columns",
        "on_the_way",
        "evidence_columns",
        "prefixes",
        "types",
        "continued",
    }
    return expand(answers["compact"]), answers["reference"]


def question(dice: random.Random, nodes: Sequence[str], types: Sequence[str]) -> tuple[str, Json]:
    """Draw a question to any tool about some nodes."""
    tool = dice.choice(["bfs_query", "bfs_query", "intersect_subgraphs", "describe_entities", "search_entities"])
    if tool == "search_entities":
        return tool, {"query": dice.choice(nodes).rsplit("/", 1)[-1].replace("_", " ") + "a"}
    drawn = dice.sample(nodes, k=min(len(nodes), dice.randint(2, 4)))
    ids = [node if node.startswith("_:") else f"<{node}>" for node in drawn]
    if tool == "describe_entities":
        return tool, {"ids": ids}
    arguments: Json = {"seeds": ids, "topology_only": dice.random() < 0.3}
    if dice.random() < 0.3:
        arguments["limit"] = dice.randint(1, 9)
    if types and dice.random() < 0.3:
        arguments["node_types"] = [dice.choice(types)]
    if types and dice.random() < 0.3:
        arguments["only_node_types"] = [dice.choice(types)]
    if dice.random() < 0.2:
        arguments["show"] = "types"
    if tool == "bfs_query":
        return tool, {**arguments, "max_hops": dice.randint(1, 2)}
    return tool, {**arguments, "k": dice.randint(1, 2), "via": dice.random() < 0.5}


def test_the_schemas_by_which_answers_are_judged_are_valid() -> None:
    for validators in VALIDATORS.values():
        for validator in validators.values():
            validator.check_schema(validator.schema)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "profile"), FIXTURES)
async def test_both_shapes_of_drawn_answers_hold_the_same_facts(name: str, profile: str, tmp_path: Path) -> None:
    path = resources.folder("fixtures") / name
    if name == "random":
        path = tmp_path / "random.nt"
        write_corpus(path)
    if name == "blank":
        path = tmp_path / "blank.ttl"
        path.write_text(BLANK_NODES, encoding="utf-8")
    settings = load_profile(profile).model_copy(update={"size": ROOM})
    dice = random.Random(f"shapes of {name}")  # noqa: S311 - test data, not a secret
    tools: Counter[str] = Counter()
    async with open_gateway(path, profile=settings) as gateway:
        schema, whole = await answers_of(gateway, "describe_schema", {})
        for key in ("entity_types", "predicates", "counts", "labels", "prefixes", "values"):
            assert schema.get(key) == whole.get(key)
        if whole["entity_types"]:
            some = {"node_types": whole["entity_types"][:3]}
            shapes, whole_shapes = await answers_of(gateway, "describe_schema", some)
            for key in ("entity_types", "counts", "labels", "prefixes", "shapes"):
                assert shapes.get(key) == whole_shapes.get(key)
        nodes = sorted(await nodes_of(gateway))
        for _ in range(examples(QUESTIONS)):
            tool, arguments = question(dice, nodes, whole["entity_types"])
            tools[tool] += 1
            expanded, reference = await answers_of(gateway, tool, arguments)
            assert expanded["complete"] == reference["complete"]
            assert expanded.get("labels", {}).items() <= reference.get("labels", {}).items()
            if tool in {"bfs_query", "intersect_subgraphs"}:
                assert_same_nodes(expanded["nodes"], reference["nodes"])
                assert arguments.get("show") != "types" or all("entity_type" in node for node in expanded["nodes"])
                assert as_set(expanded["edges"]) == as_set(reference["edges"])
            else:
                assert as_set(expanded["result"]) == as_set(reference["result"])
    assert len(tools) == len(("bfs_query", "intersect_subgraphs", "describe_entities", "search_entities"))


async def nodes_of(gateway: Gateway) -> set[str]:
    """Return IRIs of nodes that searches and their neighbourhoods find."""
    found: set[str] = set()
    schema = await gateway.describe_schema()
    for letter in "aeinorst":
        hits = await gateway.search_entities(letter, limit=10)
        found |= {gateway.prefixes.expand(hit.id) for hit in hits.result if not hit.id.startswith("_:")}
    near = await gateway.bfs_query([f"<{iri}>" for iri in sorted(found)[:50]], 2, topology_only=True)
    assert schema.entity_types or found
    ids = {node.id for node in near.nodes}
    return found | {name_id if name_id.startswith("_:") else gateway.prefixes.expand(name_id) for name_id in ids}


ABOUT_VALUES: Sequence[tuple[str, Json]] = (
    ("search_entities", {"node_types": ["Drug"], "values": ["totalMentions", "INTERACTS_WITH"], "limit": 3}),
    ("search_entities", {"query": "insulin", "sort_by": "-totalMentions", "show": "id"}),
    ("search_entities", {"node_types": ["Drug"], "where": ["totalMentions > 20"]}),
    ("bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 2, "sort_by": "-totalMentions", "limit": 4}),
    ("bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 1, "values": ["name", "TREATS/^TREATS"], "show": "name"}),
    ("bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 1, "values": ["type"], "edges": False}),
    ("bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 1, "where": ["totalMentions > 10"]}),
    ("intersect_subgraphs", {"seeds": ["drug:warfarin", "drug:aspirin"], "k": 1, "values": ["totalMentions"]}),
)
"""Questions about values; their answers have rows, but for the one of a traversal with conditions alone."""


@pytest.mark.parametrize(("tool", "arguments"), ABOUT_VALUES)
async def test_rows_and_their_columns_are_the_same_in_both_shapes(tool: str, arguments: Json) -> None:
    async with open_gateway() as gateway:
        compact, reference = await answers_of(gateway, tool, arguments)
    for key in ("columns", "rows", "where", "found", "tied", "seeds_left_out", "next_offset", "complete"):
        assert compact.get(key) == reference.get(key), key
    assert (reference.get("rows") is None) == (
        tool == "bfs_query" and arguments.keys() == {"seeds", "max_hops", "where"}
    )
    if "nodes" in reference:
        assert_same_nodes(compact["nodes"], reference["nodes"])
    for listed in ("edges", "result"):
        assert as_set(compact.get(listed, [])) == as_set(reference.get(listed, []))
