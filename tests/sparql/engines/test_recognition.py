import json

import pytest

from gateway.settings.endpoint import EngineName, TimeoutSettings
from gateway.sparql.engines import TRAITS, Recognised, recognise, timeout_policy
from gateway.transport.base import ProbeResponse, TimeoutPolicy

BLAZEGRAPH = """
_:service a <http://www.w3.org/ns/sparql-service-description#Service> ;
  <http://www.w3.org/ns/sparql-service-description#feature> <http://www.bigdata.com/rdf#/features/KB/Mode/Triples> .
"""
STATISTICS = json.dumps({"name-index": "wikidata", "num-triples-normal": 7, "num-triples-internal": 0})


def seen(text: str = "", status: int = 200, **headers: str) -> ProbeResponse:
    return ProbeResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, text)


@pytest.mark.parametrize(
    ("response", "engine", "version"),
    [
        (seen("Service Description: /ds", 404, fuseki_request_id="1"), "fuseki", ""),
        (seen(server="Virtuoso/07.20.3229 (Linux) x86_64-pc-linux-gnu  "), "virtuoso", "07.20.3229"),
        (seen(server="Oxigraph/0.5.13"), "oxigraph", "0.5.13"),
        (seen(BLAZEGRAPH, server="Jetty(9.4.z-SNAPSHOT)"), "blazegraph", ""),
        (seen('Build Version=<span id="buildVersion">2.1.5</span\n>'), "blazegraph", "2.1.5"),
        (seen(STATISTICS), "qlever", ""),
        (seen(server="GraphDB 6.0.7835, Forest 2.1.3, Sesame 2.7.8"), "graphdb", "6.0.7835"),
        (seen(server="GraphDB-Free/9.11.2 RDF4J/3.7.7"), "graphdb", "9.11.2"),
        (seen("Missing parameter: query", 400, server="GraphDB/10.8.4"), "graphdb", "10.8.4"),
        (seen("Missing parameter: query\n", 400, server="Jetty(9.4.58.v20250814)"), "rdf4j", ""),
        (seen("Missing parameter: query", 200, server="Jetty(9.4.58.v20250814)"), "unknown", ""),
        (seen("Missing parameter: query", 400), "unknown", ""),
        (seen('[{"id":"a","sesameType":"graphdb:FreeSailRepository"}]'), "graphdb", ""),
        (seen(server="Stardog/7.6.0"), "stardog", "7.6.0"),
        (seen("{}", 400, sd_error_code="000012"), "stardog", ""),
    ],
)
def test_an_engine_is_recognised_by_what_it_shows(response: ProbeResponse, engine: EngineName, version: str) -> None:
    recognised = recognise([response])
    assert (recognised.engine, recognised.version) == (engine, version)
    assert recognised.evidence


@pytest.mark.parametrize(
    "response",
    [
        seen(),
        seen("<html>Powered by Virtuoso, Fuseki, Blazegraph and GraphDB</html>", server="nginx/1.25"),
        seen("http://www.bigdata.com/rdf#/features/ is mentioned, in no service description"),
        seen(server="NotVirtuoso/7"),
        seen(server="Jetty(9.4.z-SNAPSHOT)"),
        seen("[" * 100_000),
        seen('[{"id":"a","sesameType":"openrdf:SailRepository"}]'),
        seen('<html>"sesameType":"graphdb:SailRepository"</html>'),
        seen('"name-index, num-triples-normal"'),
        seen('["name-index", "num-triples-normal"]'),
        seen('{"name-index": "only one of the two"}'),
    ],
)
def test_what_names_no_engine_is_no_evidence(response: ProbeResponse) -> None:
    assert recognise([response]).engine == "unknown"
    assert recognise([response]).evidence


def test_nothing_seen_is_no_evidence() -> None:
    assert recognise([]) == Recognised("unknown", evidence="nothing that it shows names an engine")


def test_evidence_that_contradicts_itself_is_none() -> None:
    recognised = recognise([seen(fuseki_request_id="1", server="Virtuoso/07.20.3229")])
    assert recognised.engine == "unknown"
    assert "fuseki and of virtuoso" in recognised.evidence


def test_what_is_seen_in_several_places_is_put_together() -> None:
    recognised = recognise([seen(BLAZEGRAPH), seen('<span id="buildVersion">2.1.5</span>')])
    assert (recognised.engine, recognised.version) == ("blazegraph", "2.1.5")
    assert recognised.evidence == "features in its service description; its status page"
    assert recognised.version_evidence == "its status page"


def test_a_version_is_short_and_plain_whatever_the_header_holds() -> None:
    recognised = recognise([seen(server="Virtuoso/7\x1b[31m" + "9" * 1000)])
    assert recognised.version == "7"


def test_the_traits_of_every_engine_that_a_profile_can_pin_are_known() -> None:
    assert all(timeout_policy(TimeoutSettings(), engine) == TRAITS[engine].timeout_policy for engine in TRAITS)


def test_fuseki_and_blazegraph_receive_the_time_that_is_left_each_in_its_way() -> None:
    assert timeout_policy(TimeoutSettings(), "fuseki") == TimeoutPolicy(timeout_parameter="timeout")
    assert timeout_policy(TimeoutSettings(), "blazegraph") == TimeoutPolicy(
        timeout_header="X-BIGDATA-MAX-QUERY-MILLIS", timeout_unit="milliseconds", cancel_by_id=True
    )


def test_the_profile_wins_over_what_is_known_of_an_engine() -> None:
    given = TimeoutSettings(parameter="maxQueryTimeMillis", unit="milliseconds")
    assert timeout_policy(given, "blazegraph") == TimeoutPolicy(
        timeout_parameter="maxQueryTimeMillis", timeout_unit="milliseconds", cancel_by_id=True
    )


def test_virtuoso_never_receives_a_time_out_because_it_would_answer_in_part() -> None:
    assert timeout_policy(TimeoutSettings(parameter="timeout"), "virtuoso") == TimeoutPolicy()
