"""Who runs the gateway is told to who demands it, or nothing is sent at all."""

from pathlib import Path

import pytest

from gateway.api import load_profile, open_gateway
from gateway.errors import ConfigurationError, Fault
from gateway.settings.endpoint import AccessSettings
from gateway.settings.profile import Profile
from gateway.settings.urls import VARIABLE, is_of_wikimedia
from gateway.stores.endpoints import make_label_index
from tests.cli.conftest import Run, run
from tests.transport.fake_endpoint import answering, fake_endpoint
from tests.transport.loopback_proxy import loopback_proxy

pytestmark = pytest.mark.anyio

__all__ = ["run"]

WIKIDATA = "https://query.wikidata.org/sparql"
CONTACT = "ops@example.org"
HOSTS = {"query.wikidata.org:443", "www.wikidata.org:443"}


@pytest.fixture
def anyio_backend() -> str:
    """Run in real time."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def through(proxy: str) -> Profile:
    profile = load_profile("wikidata")
    return profile.model_copy(
        update={"endpoint": profile.endpoint.model_copy(update={"access": AccessSettings(proxy=proxy)})}
    )


async def test_wikidata_is_sent_nothing_without_a_contact_and_asked_with_one() -> None:
    async with loopback_proxy(userinfo="nobody:may") as proxy:
        profile = through(proxy.url())
        with pytest.raises(ConfigurationError) as caught:
            open_gateway(profile=profile)
        for way in ("--contact", VARIABLE, "contact = "):
            assert way in str(caught.value)
        with pytest.raises(ConfigurationError, match="--contact"):
            await make_label_index(WIKIDATA, profile)
        assert proxy.heads == []
        async with open_gateway(profile=profile, contact=CONTACT) as gateway:
            with pytest.raises(Fault):
                await gateway.search_entities("Ada")
        assert {head.splitlines()[0].split()[1] for head in proxy.heads} <= HOSTS
        assert proxy.heads


@pytest.mark.parametrize(
    "command", ["schema", "search Ada", "bfs wd:Q42", "serve", "check", "index", "refresh", f"check {WIKIDATA}"]
)
def test_every_command_says_so_in_one_line(run: Run, command: str) -> None:
    asked = () if WIKIDATA in command else ("--profile", "wikidata")
    ran = run(*command.split(), *asked)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("error: Wikimedia's servers require a way to contact you, and none is given")
    assert "--contact you@example.org" in ran.err


async def test_a_contact_may_come_from_the_environment_the_profile_or_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def agent(profile: Profile, contact: str | None = None) -> str:
        async with (
            fake_endpoint(answering(status=404)) as endpoint,
            open_gateway(endpoint=endpoint.url, profile=profile, contact=contact) as gateway,
        ):
            with pytest.raises(Fault):
                await gateway.search_entities("Ada")
            return endpoint.received[0].headers["User-Agent"]

    assert "(" not in await agent(Profile())
    monkeypatch.setenv(VARIABLE, "env@example.org")
    assert "(env@example.org)" in await agent(Profile())
    of_profile = Profile.model_validate({"endpoint": {"contact": "profile@example.org"}})
    assert "(profile@example.org)" in await agent(of_profile)
    assert "(https://example.org/me)" in await agent(of_profile, "https://example.org/me")


@pytest.mark.parametrize("contact", ["nobody", "", "a@b.example)\r\nX: 1", "é@example.org"])
def test_what_is_no_contact_is_refused(contact: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run) -> None:
    with pytest.raises(ConfigurationError, match="an e-mail address or a URL"):
        open_gateway(endpoint=WIKIDATA, contact=contact)
    ran = run("check", "http://127.0.0.1:9/sparql", "--contact", contact, "--store", tmp_path)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    if contact:
        monkeypatch.setenv(VARIABLE, contact)
        with pytest.raises(ConfigurationError, match=VARIABLE):
            open_gateway(endpoint=WIKIDATA)


@pytest.mark.parametrize(
    "host", ["query.wikidata.org", "WIKIDATA.org", "wikidata.org.", "qlever.wmcloud.org", "en.wikipedia.org"]
)
def test_wikimedias_hosts_are_known(host: str) -> None:
    assert is_of_wikimedia(host)


@pytest.mark.parametrize("host", ["notwikidata.org", "wikidata.org.example", "qlever.dev", "127.0.0.1", ""])
def test_others_are_not_taken_for_them(host: str) -> None:
    assert not is_of_wikimedia(host)
