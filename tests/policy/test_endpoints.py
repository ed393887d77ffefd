"""Under a policy, an endpoint answers as one without what is hidden: by each rule, and to the byte."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pytest

from gateway.api import open_gateway
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import LimitSettings, OrientationSettings
from gateway.settings.profile import Profile, ServerSettings
from gateway.settings.vocabulary import EdgeSettings
from gateway.tools.gateway import Gateway
from tests.harness.report import Report
from tests.harness.stores import store_with
from tests.policy.run import PolicyEngine, ask_endpoints
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.server, pytest.mark.anyio]

X = "https://example.org/"
GRAPH = """
PREFIX : <https://example.org/>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX biolink: <https://w3id.org/biolink/vocab/>
:open a :Person ; rdfs:label "open" ; :knows :friend ; :note "seen" ; :pay 7, :friend ;
    :knows :ofHiddenType, :ofSubclass, :ofSubclassBelow, :ofInstance, :byOtherPredicate, :Secret, :salary,
        :reified, :annotated, :associated, <https://example.org/.well-known/genid/1>, [ rdfs:label "hush blank" ] ;
    :salary :friend ; :ofHiddenKind :friend ; :special :friend ; :coded "hush code"^^:Secret .
:friend a :Person ; rdfs:label "friend" .
:ofHiddenType a :Secret ; rdfs:label "hush one" .
:ofSubclass a :Subclass ; rdfs:label "hush two" .
:Subclass rdfs:subClassOf :Secret ; rdfs:label "hush three" .
:ofSubclassBelow a :Below ; rdfs:label "hush four" .
:Below rdfs:subClassOf :Subclass .
:ofInstance a :ofHiddenType ; rdfs:label "hush five" .
:byOtherPredicate :kind :Secret ; rdfs:label "hush six" .
:Secret rdfs:label "hush seven" .
:salary rdfs:label "hush eight" .
:ofHiddenKind a :Secret .
:special rdf:singletonPropertyOf :knows ; rdfs:label "hush nine" .
:reified rdf:object :friend ; rdfs:label "hush ten" .
:annotated owl:annotatedSource :open ; rdfs:label "hush eleven" .
:associated biolink:object :friend ; rdfs:label "hush twelve" .
<https://example.org/.well-known/genid/1> rdfs:label "hush thirteen" .
"""
PROFILE = Profile(
    hidden=HiddenSettings(types=(f"{X}Secret",), predicates=(f"{X}salary",), literals=(f"{X}pay",)),
    edges=EdgeSettings(types=("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", f"{X}kind")),
    server=ServerSettings(explain=True),
    # A quick look at a server that has just started may not find out by which predicates names are.
    limits=LimitSettings(deadline_seconds=120, schema_seconds=60),
    orientation=OrientationSettings(patience_seconds=120, enumeration_seconds=120),
)


@contextmanager
def endpoint(engine: PolicyEngine, folder: Path) -> Iterator[str]:
    file = folder / "graph.ttl"
    file.write_text(GRAPH, encoding="utf-8")
    try:
        with store_with(engine, folder, {"graph": [file]}) as column:
            yield column.url("graph")
    except ServerUnavailable as error:
        skip_or_fail(error)


async def asked(gateway: Gateway, tool: str, **arguments: Any) -> dict[str, Any]:
    return dict((await gateway.call(tool, arguments)).as_json())


@pytest.mark.parametrize("engine", get_args(PolicyEngine))
async def test_what_a_rule_hides_is_no_node_no_edge_no_name_and_no_query(engine: PolicyEngine, tmp_path: Path) -> None:
    with endpoint(engine, tmp_path) as url:
        async with open_gateway(endpoint=url, profile=PROFILE) as gateway:
            around = await asked(gateway, "bfs_query", seeds=[f"{X}open"], max_hops=2, explain=True)
            assert (around["complete"], around["node_count"], around["edge_count"]) == (True, 2, 2)
            described = await asked(gateway, "describe_entity", id=f"{X}open", explain=True)
            found = await asked(gateway, "search_entities", query="hush", explain=True)
            assert (found["complete"], found["result"]) == (True, [])
            schema = await asked(gateway, "describe_schema", all=True, explain=True)
            for answer in (around, described, found, schema):
                text = json.dumps(answer)
                # The caller's own word, where it is quoted and where local names are compared with it.
                assert "hush" not in text.replace("'hush'", "").replace("(?:hush|", "")
                assert "Secret" not in text
                assert "salary" not in text
            assert "seen" in str(described)


@pytest.mark.parametrize("engine", get_args(PolicyEngine))
async def test_what_is_hidden_is_in_no_byte_of_an_answer_of_an_endpoint(engine: PolicyEngine) -> None:
    report = Report()
    try:
        # `make policy ENGINE=oxigraph` asks 2,000 in all.
        await ask_endpoints(engine, (11, 12), 30, report)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert report.findings == []
    assert report.verdicts.total() >= 60
