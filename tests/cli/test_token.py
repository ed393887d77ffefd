"""The command `token`, and the options of `serve` about HTTP."""

import re
from pathlib import Path

import pytest

from gateway.server.access.tokens import TokenFile, hashed
from gateway.settings.serving import ClientLimits
from tests.cli.conftest import Run
from tests.server.access.clients import token_file


def test_a_line_for_the_file_is_printed_and_the_token_beside_it(run: Run, tmp_path: Path) -> None:
    ran = run("token", "alice")
    [token] = re.findall(r"bfsql_[\w-]{43}", ran.err)
    assert (ran.status, ran.out) == (0, f"alice {hashed(token)}\n")
    TokenFile(token_file(tmp_path, ran.out), ClientLimits(), [])


def test_no_two_tokens_are_the_same(run: Run) -> None:
    assert run("token", "alice").out != run("token", "alice").out


@pytest.mark.parametrize("name", ["", "a b", "-", "é", "a" * 65, "bfsql_alice"])
def test_what_is_no_name_is_refused(run: Run, name: str) -> None:
    ran = run("token", "--", name)
    assert (ran.status, "is not a name for a client" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--token-file", "x"], "--token-file requires --http"),
        (["--port", "0"], "--port requires --http"),
        (["--unauthenticated"], "--unauthenticated requires --http"),
        (["--http", "--host", "0.0.0.0"], "not a loopback address"),  # noqa: S104 - what must be refused
        (["--http", "--oauth-issuer", "https://a.org"], "needed together"),
        (["--http", "--tls-cert", "x"], "needed together"),
        (["--http", "--tls-cert", "no.pem", "--tls-key", "no.key"], "no.pem"),
        (["--http", "--client-limit", "speed=3"], "There is no limit 'speed'"),
        (["--http", "--client-limit", "sessions"], "limit sessions is ''"),
        (["--http", "--port", "0", "--token-file", "none"], "cannot be read"),
        (["--http", "--allow-host", "a:1"], "has a port"),
        (["--drain-seconds", "5"], "--drain-seconds requires --http"),
        (["--http", "--drain-seconds", "601"], "--drain-seconds 601 is out of range"),
    ],
)
def test_options_that_are_wrong_or_do_not_fit_together_are_clear_errors(
    run: Run, arguments: list[str], problem: str
) -> None:
    ran = run("serve", *arguments)
    assert (ran.status, problem in ran.err) == (2, True), ran.err
