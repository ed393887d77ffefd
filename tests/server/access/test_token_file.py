"""The file of tokens: whom it lets in, and what it refuses."""

import logging
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ConfigurationError
from gateway.server.access.tokens import TokenFile, hashed, new_token
from gateway.settings.serving import ClientLimits
from tests.server.access.clients import token_file

pytestmark = pytest.mark.anyio

PLAIN = "a-token-of-enough-characters"
LIMITS = ClientLimits()


async def test_a_client_is_found_by_its_token_in_plain_text_or_hashed(tmp_path: Path) -> None:
    secret = new_token()
    file = TokenFile(
        token_file(
            tmp_path,
            "# clients",
            "",
            f"alice {PLAIN}",
            f"bob {hashed(secret)} graphs=films,pills requests-a-minute=7",
        ),
        LIMITS,
        ["films", "pills"],
    )
    alice, bob = await file.find(PLAIN), await file.find(secret)
    assert alice is not None
    assert bob is not None
    assert (alice.client.name, alice.client.graphs, alice.limits) == ("alice", None, LIMITS)
    assert (bob.client.name, bob.client.graphs) == ("bob", frozenset({"films", "pills"}))
    assert bob.limits.requests_a_minute == 7
    assert await file.find(hashed(secret)) is None
    assert await file.find("") is None


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> TokenFile:
    """A file with one client."""
    return TokenFile(token_file(tmp_path_factory.mktemp("alone"), f"alice {PLAIN}"), LIMITS, [])


@given(text=st.text(st.characters(codec="utf-8"), max_size=80) | st.text(PLAIN, max_size=len(PLAIN)))
async def test_no_other_text_is_a_token(alone: TokenFile, text: str) -> None:
    assert (await alone.find(text) is None) == (text != PLAIN)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("-alice " + PLAIN, "not a name"),
        ("alice", "no token after the name"),
        ("alice short", "neither a token"),
        ("alice sha256:abc", "neither a token"),
        ("alice " + "é" * 30, "neither a token"),
        (f"alice {PLAIN} graphs", "not a list of NAME=VALUE"),
        (f"alice {PLAIN} graphs=films graphs=films", "not a list of NAME=VALUE"),
        (f"alice {PLAIN} graphs=filsm", "no graph 'filsm' here"),
        (f"alice {PLAIN} speed=3", "no limit 'speed'"),
        (f"alice {PLAIN} sessions=0", "limit sessions is '0'"),
        (f"alice {PLAIN} sessions=" + "9" * 5_000, "limit sessions is"),
        (f"bob {PLAIN}x\nbob {PLAIN}y", "stands in a line above"),
        (f"bob {PLAIN}\nalice {PLAIN}", "stands in a line above"),
        ("# nobody", "names 0 clients"),
        ("alice graphs=films", "no token after the name"),
        ("alice requests-a-minute=1200", "no token after the name"),
        ("\ufeffalice " + PLAIN, "Line 1 .* byte order mark"),
        ("\ufeff# my clients\nalice " + PLAIN, "Line 1 .* byte order mark"),
        ("# one\u2028\x0cmore\n\nalice", "Line 3 .* no token after the name"),
    ],
)
def test_a_wrong_line_is_refused_and_no_token_is_repeated(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem) as raised:
        TokenFile(token_file(tmp_path, line), LIMITS, ["films"])
    assert PLAIN not in str(raised.value)
    assert len(str(raised.value)) < 600


OURS = "bfsql_" + "x" * 43
RANDOM = "Zm9vYmFyYmF6cXV4cXV1eA"
LONG_NAME = "graph-reader-of-the-whole-team"


@pytest.mark.parametrize(
    "line",
    [
        f"{OURS} alice",
        f"{OURS} {LONG_NAME}",
        f"{OURS} {LONG_NAME} graphs=films",
        OURS,
        f"{OURS} {hashed(OURS)}",
        f"{hashed(PLAIN)} alice",
        f"{RANDOM} {LONG_NAME}",
        f"{LONG_NAME} {RANDOM}",
        f"{RANDOM} {hashed(RANDOM)}",
        f"{PLAIN} {LONG_NAME}",
    ],
)
def test_a_line_whose_words_may_be_swapped_is_refused_with_its_number_and_without_its_words(
    tmp_path: Path, line: str
) -> None:
    with pytest.raises(ConfigurationError, match=r"Line 2 .* its first word may be the token") as raised:
        TokenFile(token_file(tmp_path, f"alice {PLAIN}", line), LIMITS, ["films"])
    text = str(raised.value).replace(str(tmp_path), "")
    assert not any(word in text for word in (OURS, RANDOM, LONG_NAME, PLAIN, hashed(PLAIN)))


async def test_a_name_that_could_be_a_token_is_taken_beside_what_can_be_no_name(tmp_path: Path) -> None:
    for token in (hashed(PLAIN), f"{RANDOM}==", f"{RANDOM}/x", "x" * 65):
        file = TokenFile(token_file(tmp_path, f"{LONG_NAME} {token}"), LIMITS, [])
        known = await file.find(PLAIN if token == hashed(PLAIN) else token)
        assert known is not None
        assert known.client.name == LONG_NAME
    TokenFile(token_file(tmp_path, f"alice.of.wonderland@example.org {RANDOM}"), LIMITS, [])


@given(
    name=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", fullmatch=True),
    token=st.from_regex(r"[A-Za-z0-9._~+/=-]{20,80}", fullmatch=True),
)
def test_of_a_line_and_its_words_swapped_never_both_are_taken(
    tmp_path_factory: pytest.TempPathFactory, name: str, token: str
) -> None:
    folder, taken = tmp_path_factory.mktemp("tokens"), []
    for line in (f"{name} {token}", f"{token} {name}"):
        with suppress(ConfigurationError):
            taken.append(TokenFile(token_file(folder, line), LIMITS, []))
    assert len(taken) <= 1


def test_a_file_that_others_may_read_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = token_file(tmp_path, f"alice {PLAIN}")
    path.chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        TokenFile(path, LIMITS, [])
    path.chmod(0o440)  # as an orchestrator mounts it for a group
    TokenFile(path, LIMITS, [])


async def test_a_file_is_read_again_and_a_wrong_one_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = token_file(tmp_path, f"alice {PLAIN}")
    file = TokenFile(path, LIMITS, [])
    path.write_text("alice short\n")
    with caplog.at_level(logging.ERROR):
        file.reload()
    assert "not read again" in caplog.text
    assert await file.find(PLAIN) is not None
    path.write_text(f"bob {PLAIN}2\n")
    file.reload()
    assert await file.find(PLAIN) is None
    assert await file.find(f"{PLAIN}2") is not None


async def test_a_file_that_has_become_a_pipe_is_not_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = token_file(tmp_path, f"alice {PLAIN}")
    file = TokenFile(path, LIMITS, [])
    path.unlink()
    os.mkfifo(path, 0o600)
    file.reload()
    assert "is a pipe, which can be read once" in caplog.text
    assert await file.find(PLAIN) is not None
