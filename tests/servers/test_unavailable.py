import pytest

from tests.servers.unavailable import ServerUnavailable, skip_or_fail


def test_on_a_workstation_a_missing_server_skips_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no Java here"):
        skip_or_fail(ServerUnavailable("no Java here"))


def test_on_ci_a_missing_server_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no Java here"):
        skip_or_fail(ServerUnavailable("no Java here"))
