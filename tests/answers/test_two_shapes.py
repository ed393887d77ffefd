"""Answers to drawn questions hold the same facts in both shapes, and each is valid by the schema that is published."""

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gateway import expand, resources
from gateway.api import open_gateway
from gateway.server.tools import published, stored_schemas
from gateway.settings.load import load_profile
from gateway.settings.profile import ShapeName
from gateway.tools.gateway import Gateway
from tests.examples import examples
from tests.random_graphs import write_corpus
from tests.small import ROOM

pytestmark = pytest.mark.anyio

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


def without_stubs_names(nodes: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Leave out what the reference shape has only where IDs are opaque."""
    return [{key: value for key, value in node.items() if key != "name"} for node in nodes]


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
    if tool == "bfs_query":
        return tool, {**arguments, "max_hops": dice.randint(1, 2)}
    return tool, {**arguments, "k": dice.randint(1, 2), "via": dice.random() < 0.5}


def test_the_schemas_by_which_answers_are_judged_are_valid() -> None:
    for validators in VALIDATORS.values():
        for validator in validators.values():
            validator.check_schema(validator.schema)


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
        for key in ("entity_types", "predicates", "counts", "labels", "prefixes"):
            assert schema.get(key) == whole.get(key)
        nodes = sorted(await nodes_of(gateway))
        for _ in range(examples(QUESTIONS)):
            tool, arguments = question(dice, nodes, whole["entity_types"])
            tools[tool] += 1
            expanded, reference = await answers_of(gateway, tool, arguments)
            assert expanded["complete"] == reference["complete"]
            assert expanded.get("labels", {}).items() <= reference.get("labels", {}).items()
            if tool in {"bfs_query", "intersect_subgraphs"}:
                assert as_set(without_stubs_names(expanded["nodes"])) == as_set(without_stubs_names(reference["nodes"]))
                names = {node["id"]: node.get("name") for node in expanded["nodes"]}
                assert all(names[node["id"]] == node["name"] for node in reference["nodes"] if "name" in node)
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
