import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from gateway.api import open_gateway
from gateway.check.check import check_endpoint
from gateway.check.discovery import find_query_endpoint, likely_urls
from gateway.cli.main import main
from gateway.errors import NoQueryEndpoint
from gateway.graph.call import Deadline
from gateway.settings.profile import Profile
from gateway.transport.credentials import Access
from gateway.transport.http import Http
from tests.servers.fuseki import running_fuseki
from tests.transport.fake_endpoint import ALIVE, PAGES, FakeEndpoint, Handler, Hanging, answering, fake_endpoint

pytestmark = pytest.mark.anyio


def with_endpoint_at(path: str, elsewhere: Handler = PAGES["404"]) -> Handler:
    """Answer queries under one path, and something else under all others."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await (answering(ALIVE) if request.path == path else elsewhere)(request)

    return handle


def configured_as(endpoint: FakeEndpoint, rest: str) -> str:
    parts = urlsplit(endpoint.url)
    return f"{parts.scheme}://{parts.netloc}{rest}"


async def found(endpoint: FakeEndpoint, rest: str) -> str | None:
    http = Http(configured_as(endpoint, rest), max_bytes=100_000)
    try:
        return await find_query_endpoint(http, Deadline.after(20))
    finally:
        await http.close()


@pytest.mark.parametrize(
    ("configured", "endpoint"),
    [
        ("/ds", "/ds/sparql"),
        ("/ds", "/ds/query"),
        ("/ds/", "/ds/sparql"),
        ("/ds/data", "/ds/query"),
        ("/ds/update", "/ds/sparql"),
        ("/ds/query", "/ds/sparql"),
        ("/ds/sparql", "/ds"),
        ("/#/dataset/ds/query", "/ds/sparql"),
        ("/dataset.html?tab=query&ds=/ds", "/ds/query"),
        ("/", "/query"),
        ("", "/sparql"),
        ("/conductor", "/sparql"),
        ("/", "/blazegraph/namespace/kb/sparql"),
        ("/blazegraph/#query", "/blazegraph/sparql"),
        ("/bigdata", "/blazegraph/sparql"),
        ("/repositories/cars/statements", "/repositories/cars"),
        ("/rest/repositories/cars/size", "/repositories/cars"),
        ("/rdf4j-workbench/repositories/cars/summary", "/rdf4j-server/repositories/cars"),
        ("/proxy/graph/page", "/proxy/graph"),
        ("/sparql", "/sparql/"),
        ("/sparql/", "/sparql"),
    ],
)
async def test_the_query_endpoint_is_found_from_the_url_of_a_page_or_a_dataset(configured: str, endpoint: str) -> None:
    async with fake_endpoint(with_endpoint_at(endpoint)) as there:
        assert await found(there, configured) == configured_as(there, endpoint)


async def test_the_configured_url_is_found_where_it_takes_queries_by_get_alone() -> None:
    async def by_get(request: web.BaseRequest) -> web.StreamResponse:
        return await (answering(ALIVE) if request.method == "GET" else PAGES["405"])(request)

    async with fake_endpoint(by_get) as there:
        assert await found(there, "/sparql?x=1") == configured_as(there, "/sparql?x=1")


@pytest.mark.parametrize("rest", ["", "/", "/a/b/c/d/", "/ds?ds=one&ds=two&ds=three", "/blazegraph", "/x#/dataset/y"])
def test_a_handful_of_urls_of_the_same_server_are_likely_each_once(rest: str) -> None:
    url = f"https://graph.example:8443{rest}"
    likely = likely_urls(url)
    assert 0 < len(likely) <= 8
    assert len(set(likely)) == len(likely)
    assert url not in likely
    assert all(other.startswith("https://graph.example:8443/") for other in likely)


@pytest.mark.parametrize(
    "answer",
    [
        answering(b'{"head":{"vars":["alive"]},"results":{"bindings":[]}}'),
        answering(b'{"hello": "world"}'),
        answering(b"<html>", content_type="text/html"),
    ],
)
async def test_what_answers_something_else_is_no_endpoint(answer: Handler) -> None:
    async with fake_endpoint(answer) as there:
        assert await found(there, "/ds") is None
    # By GET as well, where the configured URL answered a POST with a page.
    assert len(there.received) <= 2 + 8


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
async def test_a_check_names_the_query_endpoint_beside_whatever_a_page_answers(page: Handler) -> None:
    async with fake_endpoint(with_endpoint_at("/ds/sparql", page)) as there:
        http = Http(configured_as(there, "/ds"), max_bytes=100_000)
        with pytest.raises(NoQueryEndpoint) as caught:
            await check_endpoint(http, Profile())
        await http.close()
    assert caught.value.next_step == f"The query endpoint is {configured_as(there, '/ds/sparql')}"


async def test_where_nothing_is_found_the_fault_stays() -> None:
    async with fake_endpoint(PAGES["404"]) as there:
        http = Http(configured_as(there, "/ds?of=s3cret"), max_bytes=100_000)
        with pytest.raises(NoQueryEndpoint, match="no SPARQL query endpoint") as caught:
            await check_endpoint(http, Profile())
        await http.close()
        # In all three ways, then at each URL, the configured one among them, in one.
        assert len(there.received) == 3 + 1 + len(likely_urls(http.url))
    assert "s3cret" not in str(caught.value)


async def test_looking_ends_with_its_time() -> None:
    hanging = Hanging()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await (PAGES["404"] if request.path == "/ds" else hanging)(request)

    async with fake_endpoint(handle) as there:
        http = Http(configured_as(there, "/ds"), max_bytes=100_000)
        assert await find_query_endpoint(http, Deadline.after(0.2)) is None
        await http.close()


async def test_credentials_go_to_the_same_server_only() -> None:
    async with fake_endpoint(answering()) as elsewhere:
        redirect = answering(b"", status=307, headers={"Location": elsewhere.url})
        async with fake_endpoint(redirect) as there:
            http = Http(there.url, max_bytes=100_000, access=Access(headers={"Authorization": "Bearer s3cret"}))
            assert await find_query_endpoint(http, Deadline.after(20)) is None
            await http.close()
        assert elsewhere.received == []


async def test_the_command_line_names_the_url_to_the_person_who_checks(capsys: pytest.CaptureFixture[str]) -> None:
    async with fake_endpoint(with_endpoint_at("/ds/sparql")) as there:
        argv = ["check", "-e", configured_as(there, "/ds")]
        assert await asyncio.to_thread(main, argv) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert configured_as(there, "/ds/sparql") in out.err


@pytest.mark.server
async def test_the_query_endpoint_of_a_fuseki_dataset_is_found(tmp_path: Path) -> None:
    graph = tmp_path / "graph.ttl"
    graph.write_text("<http://example.org/a> <http://example.org/p> <http://example.org/b> .")
    with running_fuseki({"ds": [graph]}, workdir=tmp_path) as fuseki:
        for url in (f"http://127.0.0.1:{fuseki.port}/ds", f"http://127.0.0.1:{fuseki.port}/ds/"):
            async with open_gateway(endpoint=url) as gateway:
                with pytest.raises(NoQueryEndpoint, match="`bfsql-gateway check`"):
                    await gateway.bfs_query(["http://example.org/a"], 1)
            http = Http(url, max_bytes=100_000)
            assert await find_query_endpoint(http, Deadline.after(20)) == fuseki.endpoint("ds")
            await http.close()
