"""Which secret keeps others from forging what processes share, and where it may be missing."""

from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.settings.limits import SharedCacheServer
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture

PASSWORD, SECRET = "BFSQL_SHARED_CACHE_PASSWORD", "BFSQL_SHARED_CACHE_SECRET"


@pytest.fixture
def _no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (PASSWORD, SECRET):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)


@pytest.mark.usefixtures("_no_secret")
@pytest.mark.parametrize(
    "url", ["redis://cache.test", "rediss://10.0.0.1:6379/1", "redis://[2001:db8::1]", "redis://0.0.0.0"]
)
@pytest.mark.parametrize("given", [{}, {PASSWORD: ""}, {PASSWORD: " \t", SECRET: " "}])
def test_a_server_elsewhere_without_a_secret_is_an_error(
    url: str, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match="has no secret") as raised:
        SharedCacheServer.at(url)
    assert SECRET in raised.value.next_step
    with pytest.raises(ConfigurationError, match="has no secret"):
        open_gateway(endpoint="http://127.0.0.1:9/sparql", shared_cache=url)


@pytest.mark.usefixtures("_no_secret")
@pytest.mark.parametrize(
    ("given", "login", "key"),
    [
        ({PASSWORD: "hunter2"}, "hunter2", "hunter2"),
        ({SECRET: "long and random"}, None, "long and random"),
        ({PASSWORD: "hunter2", SECRET: "long and random"}, "hunter2", "long and random"),
        ({PASSWORD: "hunter2", SECRET: " "}, "hunter2", "hunter2"),
        ({f"{PASSWORD}_FILE": "in a file"}, "in a file", "in a file"),
        ({f"{SECRET}_FILE": "in a file", PASSWORD: "hunter2"}, "hunter2", "in a file"),
    ],
)
def test_the_secret_is_the_password_or_one_of_its_own(
    given: dict[str, str], login: str | None, key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in given.items():
        if name.endswith("_FILE"):
            (tmp_path / "secret").write_text(f"{value}\n", encoding="utf-8")
        monkeypatch.setenv(name, str(tmp_path / "secret") if name.endswith("_FILE") else value)
    server = SharedCacheServer.at("redis://cache.test")
    assert (server.login, server.key) == (login, key)


@pytest.mark.usefixtures("_no_secret")
@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({PASSWORD: "hunter2", f"{PASSWORD}_FILE": "file"}, "Both"),
        ({f"{SECRET}_FILE": "absent"}, "cannot be read"),
        ({f"{SECRET}_FILE": "empty"}, "empty or not set"),
        ({SECRET: "two\nlines"}, "is not a secret"),
    ],
)
def test_a_secret_that_cannot_be_one_is_an_error_that_does_not_show_it(
    given: dict[str, str], wrong: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "empty").touch()
    for name, value in given.items():
        monkeypatch.setenv(name, str(tmp_path / value) if name.endswith("_FILE") else value)
    with pytest.raises(ConfigurationError, match=wrong) as raised:
        SharedCacheServer.at("redis://127.0.0.1")
    assert "hunter2" not in str(raised.value)
    assert "two" not in str(raised.value)


@pytest.mark.anyio
@pytest.mark.usefixtures("_no_secret")
@pytest.mark.parametrize(
    "url", ["redis://localhost:1", "redis://127.1.2.3:1", "rediss://[::1]:1", "unix:///no/such/socket"]
)
async def test_a_server_on_this_machine_without_a_secret_is_a_warning(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_gateway(endpoint="http://127.0.0.1:9/sparql", shared_cache=url):
        pass
    assert caplog.text.count("has no secret") == 1


@pytest.mark.usefixtures("_no_secret")
def test_a_server_ends_at_once_where_a_secret_is_missing(run: Run) -> None:  # noqa: F811 - the fixture
    ran = run("serve", "--endpoint", "http://127.0.0.1:9/sparql", "--shared-cache", "redis://cache.test:6379")
    assert (ran.status, ran.out) == (2, "")
    assert "--shared-cache has no secret" in ran.err
