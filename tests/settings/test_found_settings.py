"""What check found of an endpoint is used for a week, and nowhere against the profile."""

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.settings.endpoint import AccessSettings, EndpointSettings, RequestSettings
from gateway.settings.found_settings import FoundSettings
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EvidenceSettings

URL = "http://127.0.0.1:3030/ds/sparql"
NOW = datetime(2026, 11, 26, tzinfo=UTC)
FOUND = FoundSettings(checked=NOW, without_lateral=True, method="direct", query_rows=900, without_evidence=True)


def found(folder: Path, profile: Profile | None = None, days: float = 0) -> FoundSettings | None:
    return FoundSettings.of(URL, profile or Profile(), folder, (NOW + timedelta(days=days)).timestamp())


def test_what_is_kept_is_found_again_for_a_week(tmp_path: Path) -> None:
    assert found(tmp_path) is None
    assert FOUND.keep(URL, Profile(), tmp_path)
    assert found(tmp_path, days=6.9) == FOUND
    assert found(tmp_path, days=7.1) is None
    # By a clock that was set back it is no older than now.
    assert found(tmp_path, days=-0.1) is None


def test_a_later_check_replaces_an_earlier_one(tmp_path: Path) -> None:
    FOUND.keep(URL, Profile(), tmp_path)
    FoundSettings(checked=NOW).keep(URL, Profile(), tmp_path)
    kept = found(tmp_path)
    assert kept is not None
    assert kept.is_empty
    assert not FOUND.is_empty


@pytest.mark.parametrize(
    "other",
    [
        EndpointSettings(graphs=("http://example.org/g",)),
        EndpointSettings(access=AccessSettings(headers={"X-Tenant": "b"})),
    ],
    ids=["graphs", "user"],
)
def test_other_graphs_and_other_users_are_another_endpoint(other: EndpointSettings, tmp_path: Path) -> None:
    FOUND.keep(URL, Profile(), tmp_path)
    assert found(tmp_path, Profile(endpoint=other)) is None


def test_it_is_used_wherever_the_profile_says_nothing() -> None:
    used = FOUND.applied(URL, Profile())
    assert (used.endpoint.lateral, used.endpoint.requests.method) == (False, "direct")
    assert used.limits.query_rows == 900
    assert (used.edges.evidence_nodes, used.evidence.ways) == (False, "refused")
    assert FoundSettings(checked=NOW).applied(URL, Profile()) == Profile()


def test_what_the_profile_says_stays() -> None:
    own = Profile(
        endpoint=EndpointSettings(lateral=True, requests=RequestSettings(method="get")),
        limits=LimitSettings(query_rows=50_000),
        evidence=EvidenceSettings(ways=("annotations",)),
    )
    assert FOUND.applied(URL, own) == own


def test_evidence_is_read_where_a_policy_hides_it() -> None:
    hiding = Profile(hidden=HiddenSettings(types=("http://example.org/Secret",)))
    used = FOUND.applied(URL, hiding)
    assert (used.edges, used.evidence) == (hiding.edges, hiding.evidence)
    assert used.limits.query_rows == 900


def test_that_no_evidence_is_read_is_said(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    FOUND.applied(f"{URL}?key=secret", Profile())
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "no evidence is read there, and answers say so" in record.message
    assert "secret" not in record.message


@pytest.mark.parametrize("content", [b"", b"{", b'{"checked": 1e999}', b"\xff", b"[" * 100_000, b" " * 20_000])
def test_a_file_that_is_none_is_logged_and_ignored(
    content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    FOUND.keep(URL, Profile(), tmp_path)
    (path,) = tmp_path.glob("checked/*.json")
    path.write_bytes(content)
    assert found(tmp_path) is None
    assert "cannot be read" in caplog.text


def test_a_folder_that_others_may_write_to_is_not_trusted(tmp_path: Path) -> None:
    FOUND.keep(URL, Profile(), tmp_path)
    (tmp_path / "checked").chmod(0o777)
    with pytest.raises(ConfigurationError, match="may write"):
        found(tmp_path)


def test_where_nothing_can_be_kept_that_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "checked").write_text("in the way", encoding="utf-8")
    assert not FOUND.keep(URL, Profile(), tmp_path)
    assert "cannot be kept" in caplog.text
