"""The second client, against endpoints that refuse, hang or answer nonsense."""

from pathlib import Path

import pytest
from aiohttp import web

from gateway.check.comparison import NotAnsweredError, SecondClient
from gateway.settings.endpoint import AccessSettings, EndpointSettings
from gateway.settings.profile import Profile
from gateway.stores.endpoints import connect
from tests.transport.fake_endpoint import Handler, Hanging, answering, fake_endpoint

pytestmark = pytest.mark.anyio

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
