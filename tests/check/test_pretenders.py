"""Checks of endpoints that no real server stands for here: other engines, and such as lie, refuse or hang."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, cast

import pyoxigraph
import pytest
from aiohttp import web

from gateway.check.check import check_endpoint
from gateway.check.comparison import NotAnsweredError, SecondClient
from gateway.check.probes import Prober, row_cap
from gateway.check.report import Claim, Report
from gateway.errors import AnswerCut, EndpointFault, NetworkFault, NoQueryEndpoint
from gateway.settings.endpoint import AccessSettings, EndpointSettings, QuotaSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql import template
from gateway.sparql.table import Table
from gateway.stores.endpoints import connect
from tests.check.pretender import EX, TRIPLES, Page, Pretender, Twist
from tests.servers.loopback import free_port
from tests.transport.fake_endpoint import Handler, Hanging, answering, fake_endpoint

pytestmark = pytest.mark.anyio

QUICK = Profile(limits=LimitSettings(query_rows=1_000))


async def checked(handler: Handler, profile: Profile = QUICK, path: str = "/sparql") -> Report:
    async with fake_endpoint(handler) as endpoint:
        http = connect(endpoint.url.replace("/sparql", path), profile)
        try:
            # Beside other work, the usual time for a query may not be enough.
            return await check_endpoint(http, profile, seconds_each=60)
        finally:
            await http.close()


def snippet(report: Report) -> Profile:
    """Return the profile that the suggested settings are."""
    return Profile.model_validate_json(json.dumps(tomllib.loads(report.settings)))


@pytest.mark.slow
async def test_a_nameless_endpoint_is_claimed_to_be_no_engine_and_the_rest_is_found_out() -> None:
    report = await checked(Pretender())
    claims = report.claims
    assert claims.engine.as_json() == {"not_determined": "nothing that it shows names an engine"}
    assert claims.version.value is None
    assert (claims.post.value, claims.get.value) == (True, True)
    assert (claims.row_cap.value, claims.row_cap.at_least) == (10_001, True)
    assert claims.time_limit.value is None
    assert claims.deadline.value == "none is sent"
    assert (claims.lateral.value, claims.rdf_1_2.value) == (True, True)
    assert claims.text_search.as_json() == {"not_determined": "the engine is not recognised"}
    assert claims.named_graphs.value == 0
    assert claims.union_default_graph.value is None
    assert (claims.triples.value, claims.triples.at_least) == (TRIPLES, False)
    assert report.agrees
    assert [comparison.about for comparison in report.comparisons if comparison.not_compared] == []
    assert len(report.comparisons) == 7
    assert snippet(report).endpoint.lateral is True
    assert snippet(report).limits.query_rows == 10_000


@pytest.mark.slow
async def test_nothing_is_sent_to_any_other_place_and_little_in_all() -> None:
    async with fake_endpoint(Pretender()) as endpoint:
        http = connect(endpoint.url, QUICK)
        await check_endpoint(http, QUICK)
        await http.close()
    # Forty probes, and each template once.
    assert len(endpoint.received) <= 40 + len(template.names())
    assert {request.path.partition("?")[0] for request in endpoint.received} == {"/sparql"}


@pytest.mark.slow
async def test_every_probe_has_a_limit() -> None:
    async with fake_endpoint(Pretender()) as endpoint:
        http = connect(endpoint.url, QUICK)
        await check_endpoint(http, QUICK)
        await http.close()
    assert endpoint.queries
    assert all(re.search(r"\sLIMIT [0-9]+\s", query) for query in endpoint.queries)


@pytest.mark.slow
async def test_every_template_that_a_tool_needs_is_sent_once_and_answered() -> None:
    report = await checked(Pretender())
    assert report.templates.answered >= 55
    assert report.templates.holds
    assert report.holds


@pytest.mark.slow
async def test_queries_that_are_refused_are_named_with_the_settings_under_which_they_are_answered() -> None:
    report = await checked(Pretender(refused=("NOT EXISTS",)))
    assert {"edges", "neighbours", "schema/sample"} <= report.templates.refused.keys()
    assert not report.holds
    suggested = snippet(report)
    assert (suggested.edges.evidence_nodes, suggested.evidence.ways) == (False, "refused")
    again = await checked(Pretender(refused=("NOT EXISTS",)), QUICK.model_copy(
        update={"edges": suggested.edges, "evidence": suggested.evidence}
    ))  # fmt: skip
    assert again.templates.refused.keys() <= {"evidence/annotations", "evidence/reified", "schema/without_evidence"}


@pytest.mark.slow
async def test_settings_that_do_not_help_are_not_suggested() -> None:
    report = await checked(Pretender(refused=("UNION {\n    VALUES",)))
    assert report.templates.refused
    assert not report.templates.helps


def _without_a_neighbour(query: str, answer: dict[str, Any]) -> None:
    """Lose a row of the query of neighbours, as an engine does that loses rows under DISTINCT."""
    if "SELECT DISTINCT ?n WHERE" in query:
        del answer["results"]["bindings"][:1]


def _without_evidence(query: str, answer: dict[str, Any]) -> None:
    """Lose what is stated about an edge."""
    if "?k NOT IN" in query and "?r ?k ?v" in query and "DISTINCT" not in query:
        answer["results"]["bindings"] = [row for row in answer["results"]["bindings"] if "end" in row]


@pytest.mark.slow
async def test_answers_that_do_not_fit_together_are_doubted() -> None:
    report = await checked(Pretender(twist={"bfsql-gateway": _without_a_neighbour}))
    assert any("neighbours" in doubt for doubt in report.templates.doubts)
    assert not report.holds


@pytest.mark.slow
async def test_evidence_that_is_there_and_not_found_is_doubted() -> None:
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    stated = f"<{EX}st> <{rdf}subject> <{EX}a> ; <{rdf}predicate> <{EX}p> ; <{rdf}object> <{EX}b> ; <{EX}since> 1999 ."
    for twist, is_doubted in (({}, False), ({"bfsql-gateway": _without_evidence}, True)):
        pretender = Pretender(twist=twist)
        pretender.store.load(stated.encode(), pyoxigraph.RdfFormat.TURTLE)
        assert bool((await checked(pretender)).templates.doubts) is is_doubted


QLEVER: dict[str, Page] = {
    "/sparql?cmd=stats": {
        "text": json.dumps({"name-index": "small", "num-triples-normal": TRIPLES, "git-hash-server": "abc"}),
        "content_type": "application/json",
    },
    "/sparql?cmd=get-settings": {"text": json.dumps({"default-query-timeout": "30s"}), "content_type": "text/plain"},
}


@pytest.mark.slow
async def test_graphdb_is_recognised_by_its_repositories_where_a_proxy_takes_its_header_away() -> None:
    pages: dict[str, Page] = {
        "/repositories/ds": {"status": 400, "text": "Missing parameter: query"},
        "/protocol": {"text": "12"},
        "/rest/repositories": {"text": '[{"id": "ds", "sesameType": "graphdb:SailRepository"}]'},
    }
    async with fake_endpoint(Pretender(pages=pages)) as endpoint:
        http = connect(endpoint.url.replace("/sparql", "/repositories/ds"), QUICK)
        report = await check_endpoint(http, QUICK)
        await http.close()
    assert report.claims.engine.as_json() == {"value": "graphdb", "evidence": "what it answers to /rest/repositories"}


@pytest.mark.slow
async def test_qlever_is_recognised_by_its_statistics_and_publishes_its_time_out() -> None:
    report = await checked(Pretender(pages=QLEVER, refused=("LATERAL", "<<(")))
    assert report.claims.engine.as_json() == {"value": "qlever", "evidence": "what it answers to cmd=stats"}
    assert report.claims.time_limit.value == 30
    assert (report.claims.lateral.value, report.claims.rdf_1_2.value) == (False, False)
    assert f"the server's own number is {TRIPLES}" in report.claims.triples.why


@pytest.mark.slow
async def test_graphdb_is_trusted_because_the_last_row_shows_where_its_time_out_cuts() -> None:
    report = await checked(Pretender({"Server": "GraphDB/10.8.4 RDF4J/4.3.15"}), path="/repositories/one")
    assert (report.claims.engine.value, report.claims.version.value) == ("graphdb", "10.8.4")
    assert report.claims.deadline.value == "none is sent"
    assert snippet(report).endpoint.trusted
    assert report.claims.sentinel.value in {"united", "sorted"}


@pytest.mark.slow
@pytest.mark.parametrize("headers", [{}, {"Server": "Oxigraph/0.5.13"}, {"Server": "Virtuoso/07.20.3240"}])
async def test_no_setting_is_needed_for_the_row_that_proves_the_end(headers: dict[str, str]) -> None:
    report = await checked(Pretender(headers))
    assert report.claims.sentinel.value in {"united", "sorted"}
    assert "sentinel" not in report.settings


def _first_is_sentinel(query: str, answer: dict[str, Any]) -> None:
    """Write the sentinel before the other rows."""
    del query
    answer["results"]["bindings"].sort(key=lambda row: "end" not in row)


def _without_the_sentinel(query: str, answer: dict[str, Any]) -> None:
    """Cut it off each answer."""
    del query
    answer["results"]["bindings"] = [row for row in answer["results"]["bindings"] if "end" not in row]


@pytest.mark.slow
@pytest.mark.parametrize("twist", [_first_is_sentinel, _without_the_sentinel])
async def test_where_the_row_that_proves_the_end_was_not_last_the_check_says_so(twist: Twist) -> None:
    report = await checked(Pretender(twist={"bfsql-gateway": twist}))
    assert report.claims.sentinel.value == "none"
    assert any("end_unproven" in warning for warning in report.warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rest", "engine"), [({"status": 404}, "rdf4j"), ({"text": "[]"}, None), ({"status": 401}, None)]
)
async def test_rdf4j_is_recognised_by_its_protocol_unless_it_may_be_graphdb(rest: Page, engine: str | None) -> None:
    pages: dict[str, Page] = {"/protocol": {"text": "12"}, "/rest/repositories": rest}
    report = await checked(Pretender(pages=pages), path="/repositories/one")
    assert report.claims.engine.value == engine
    assert "RDF4J's protocol" in report.claims.engine.why
    assert snippet(report).endpoint.trusted


@pytest.mark.slow
async def test_a_row_cap_is_found_without_an_announcement() -> None:
    report = await checked(Pretender(cap=700), Profile())
    assert (report.claims.row_cap.value, report.claims.row_cap.at_least) == (700, False)
    assert "without a sign" in report.claims.row_cap.why
    assert snippet(report).limits.query_rows == 630


@pytest.mark.slow
async def test_a_setting_that_is_not_below_the_cap_is_warned_of() -> None:
    report = await checked(Pretender(cap=700), QUICK)
    assert "limits.query_rows = 1000 is not below the row cap of 700." in report.warnings


@pytest.mark.slow
async def test_a_cap_that_changes_is_not_claimed() -> None:
    caps = iter(range(500, 1_000))

    def cut(query: str, answer: dict[str, Any]) -> None:
        if "VALUES ?e" in query:
            del answer["results"]["bindings"][next(caps) :]

    claim = (await checked(Pretender(twist={"": cut}))).claims.row_cap
    assert claim.value is None
    assert "500 arrived, and 501 when requested again" in claim.why


class Cutting:
    """A prober whose first answers are cut, at rows that the endpoint names or not, and whose later ones are whole."""

    def __init__(self, *caps: int | None) -> None:
        self._caps = iter(caps)

    async def rows(self, _template: str, most: int, **_: object) -> Table:
        """Answer."""
        for cap in self._caps:
            raise AnswerCut("The endpoint sends no more.", row_cap=cap)
        return Table(most, {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("caps", "value", "at_least", "why"),
    [
        ((400,), 10_001, True, "requested and arrived"),
        ((10_000, 10_000), 10_000, False, "twice"),
        ((400, 10_000), None, False, "and then at others"),
        ((None,), None, False, "does not say"),
    ],
)
async def test_a_row_cap_is_one_that_the_endpoint_names_twice(
    caps: tuple[int | None, ...], value: int | None, at_least: bool, why: str
) -> None:
    claim = await row_cap(cast("Prober", Cutting(*caps)), 1_000)
    assert (claim.value, claim.at_least) == (value, at_least)
    assert why in claim.why


@pytest.mark.slow
async def test_an_engine_that_takes_words_and_not_their_meaning_is_not_believed() -> None:
    def forget(query: str, answer: dict[str, Any]) -> None:
        if "LATERAL" in query:
            answer["results"]["bindings"] *= 2
        if "<<(" in query:
            answer["results"]["bindings"] = [{}]

    claims = (await checked(Pretender(twist={"": forget}))).claims
    assert (claims.lateral.value, claims.rdf_1_2.value) == (False, False)


@pytest.mark.slow
async def test_a_lying_name_does_not_make_a_text_index() -> None:
    report = await checked(Pretender({"Fuseki-Request-Id": "1"}))
    assert report.claims.engine.value == "fuseki"
    assert report.claims.version.value is None
    assert report.claims.text_search.value is None


@pytest.mark.slow
async def test_a_text_query_that_binds_nothing_proves_that_there_is_no_index() -> None:
    def no_operation(query: str, answer: dict[str, Any]) -> None:
        if "jena.apache.org/text" in query:
            answer["results"]["bindings"] = [{}]

    claim = (await checked(Pretender({"Fuseki-Request-Id": "1"}, twist={"": no_operation}))).claims.text_search
    assert claim == Claim(False, "text:query binds nothing: there is no index")


@pytest.mark.slow
async def test_names_of_two_engines_at_once_are_none() -> None:
    report = await checked(Pretender({"Fuseki-Request-Id": "1", "Server": "Virtuoso/07.20.3229"}))
    assert "contradicts itself" in report.claims.engine.why
    assert report.claims.engine.value is None


@pytest.mark.slow
async def test_a_pin_against_the_evidence_is_warned_of() -> None:
    profile = Profile(endpoint=EndpointSettings(engine="blazegraph", lateral=True), limits=QUICK.limits)
    report = await checked(Pretender({"Fuseki-Request-Id": "1"}, refused=("LATERAL",)), profile)
    assert report.claims.engine.value == "fuseki"
    assert report.warnings[0].startswith("The profile says blazegraph; the evidence: fuseki")
    assert "The profile says that the engine supports LATERAL, but it does not." in report.warnings


@pytest.mark.slow
async def test_an_endpoint_that_takes_only_get_is_said_to() -> None:
    report = await checked(Pretender(methods=("GET",)))
    assert (report.claims.post.value, report.claims.get.value) == (False, True)
    assert snippet(report).endpoint.requests.method == "get"
    assert report.agrees


@pytest.mark.slow
async def test_an_endpoint_that_takes_no_form_is_said_to() -> None:
    report = await checked(Pretender(methods=("DIRECT", "GET")))
    assert (report.claims.post.value, report.claims.get.value) == (False, True)
    assert snippet(report).endpoint.requests.method == "direct"
    assert report.agrees


@pytest.mark.slow
async def test_a_probe_that_fails_is_not_determined_and_the_others_are() -> None:
    pretender = Pretender()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        form = await request.post()
        if any(word in str(form.get("query")) for word in ("LATERAL", "GRAPH", "COUNT(")):
            return web.Response(status=500)
        return await pretender(request)

    claims = (await checked(handle)).claims
    assert claims.lateral.as_json() == {"value": False, "evidence": "a query with it is refused"}
    for claim in (claims.named_graphs, claims.triples):
        assert claim.as_json() == {"not_determined": "The endpoint failed with HTTP status 500."}
    assert claims.rdf_1_2.value is True


@pytest.mark.slow
async def test_answers_that_differ_are_reported() -> None:
    def forge(query: str, answer: dict[str, Any]) -> None:
        if "BIND(<" in query:
            answer["results"]["bindings"] = answer["results"]["bindings"][1:]
        if "COUNT(*)" in query:
            answer["results"]["bindings"][0]["count"]["value"] = "11"

    # Both clients are this gateway by name, so the twist goes by the shape of the query.
    report = await checked(Pretender(twist={"": forge}))
    assert not report.agrees
    different = [comparison for comparison in report.comparisons if comparison.differences]
    assert different
    assert any(line.startswith("only this gateway has http") for one in different for line in one.differences)


@pytest.mark.slow
async def test_the_other_client_follows_no_redirect() -> None:
    pretender = Pretender()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        form = await request.post()
        if "BIND(<" in str(form.get("query")):
            return web.Response(status=307, headers={"Location": f"{EX}elsewhere"})
        return await pretender(request)

    edges = [one for one in (await checked(handle)).comparisons if one.about.startswith("edges")]
    assert {one.not_compared for one in edges} == {"SPARQLWrapper got HTTP status 307"}


@pytest.mark.slow
async def test_an_endpoint_that_is_not_there_is_an_error() -> None:
    http = connect(f"http://127.0.0.1:{free_port()}/sparql", QUICK)
    with pytest.raises(NetworkFault):
        await check_endpoint(http, QUICK)
    await http.close()


@pytest.mark.slow
async def test_a_page_beside_the_query_endpoint_names_it() -> None:
    pretender = Pretender()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path != "/ds/sparql":
            return web.Response(text="<html></html>", content_type="text/html")
        return await pretender(request)

    with pytest.raises(NoQueryEndpoint, match=r"The query endpoint is http://127\.0\.0\.1:\d+/ds/sparql$"):
        await checked(handle, path="/ds")


@pytest.mark.slow
async def test_what_answers_everything_with_nothing_is_no_endpoint() -> None:
    def nothing(_: str, answer: dict[str, Any]) -> None:
        answer["results"]["bindings"] = []

    with pytest.raises(EndpointFault):
        await checked(Pretender(twist={"": nothing}))


@pytest.mark.slow
async def test_an_empty_graph_is_warned_of() -> None:
    pretender = Pretender()
    pretender.store.clear()
    report = await checked(pretender)
    assert report.claims.triples == Claim(0, "counted")
    assert report.warnings == ("The queried graph is empty.",)
    assert report.comparisons[0].not_compared


@pytest.mark.slow
async def test_claims_say_a_value_or_why_there_is_none() -> None:
    report = await checked(Pretender())
    for claim in report.claims.by_name().values():
        assert claim.why
        assert set(claim.as_json()) in ({"value", "evidence"}, {"at_least", "evidence"}, {"not_determined"})


@pytest.mark.slow
async def test_where_errors_are_counted_a_check_causes_no_more_than_are_granted_and_names_what_it_did_not_ask() -> None:
    pretender = Pretender(refused=("NOT EXISTS",))
    granted = QuotaSettings(errors_per_minute=0.1, errors_burst=8.1)
    endpoint = QUICK.endpoint.model_copy(update={"quota": granted})
    report = await checked(pretender, QUICK.model_copy(update={"endpoint": endpoint}))
    templates = report.templates
    assert 1 <= len(templates.refused) <= 8
    assert templates.answered
    assert len(templates.not_run) > 10
    assert not templates.helps
    assert all("used up" in why for why in templates.not_run.values())


ONE_ROW = b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"1"}}]}}'


async def rows(handler: Handler, seconds: float = 30, profile: Profile | None = None) -> list[dict[str, str]]:
    settings = profile or Profile()
    async with fake_endpoint(handler) as endpoint:
        http = connect(endpoint.url, settings)
        try:
            return [dict(row) for row in await SecondClient(http).rows("SELECT ?x {}", seconds)]
        finally:
            await http.close()


async def test_rows_are_returned_as_texts() -> None:
    assert await rows(answering(ONE_ROW)) == [{"x": "1"}]


async def test_digest_authentication_is_answered_without_the_password(tmp_path: Path) -> None:
    sent: list[str] = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        sent.append(request.headers.get("Authorization", ""))
        if sent[-1]:
            return await answering(ONE_ROW)(request)
        return web.Response(status=401, headers={"WWW-Authenticate": 'Digest realm="graph", qop="auth", nonce="abc"'})

    (tmp_path / "password").write_text("s3cret", encoding="utf-8")
    endpoint = EndpointSettings(
        access=AccessSettings(user="alice", password=f"file:{tmp_path}/password", auth="digest")
    )
    assert await rows(handle, profile=Profile(endpoint=endpoint)) == [{"x": "1"}]
    assert sent[0] == ""
    assert sent[1].startswith('Digest username="alice", realm="graph"')
    assert "s3cret" not in sent[1]


@pytest.mark.slow
async def test_an_endpoint_that_hangs_is_given_up() -> None:
    with pytest.raises(NotAnsweredError, match="got no answer within 1 s"):
        await rows(Hanging(), 1)


async def test_a_refusal_is_reported_with_its_meaning_and_without_its_text() -> None:
    with pytest.raises(NotAnsweredError, match="HTTP status 403") as raised:
        await rows(answering(b"secret reasons", status=403, content_type="text/plain"))
    assert raised.value.fault is not None
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"[]", b'{"results":{"bindings":[1]}}', b"\xff"])
async def test_an_answer_that_is_no_sparql_json_is_no_answer(body: bytes) -> None:
    with pytest.raises(NotAnsweredError):
        await rows(answering(body))


async def test_no_redirect_is_followed() -> None:
    async def elsewhere(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "http://127.0.0.1:9/"})

    with pytest.raises(NotAnsweredError, match="HTTP status 307"):
        await rows(elsewhere)
