import asyncio
import re
import sys
from pathlib import Path

import pytest

from gateway.cli.screen import ProgressBar


def report_progress(*, quiet: bool) -> None:
    with ProgressBar(quiet=quiet) as bar:
        bar.show_load(Path("far/[red]big\x1b.nt"), 50, 100)
        asyncio.run(bar.show_call(1, 3, "hop 1 of 2: 16 nodes"))


def test_a_person_sees_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    report_progress(quiet=False)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Loading [red]big\\u001b.nt" in err
    assert "50%" in err
    assert "hop 1 of 2: 16 nodes" in err


def test_a_person_sees_the_time_left_at_the_speed_so_far(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    now = [0.0]
    with ProgressBar(quiet=False, clock=lambda: now[0]) as bar:
        for seconds, read in ((0.0, 0), (10.0, 25), (20.0, 50)):
            now[0] = seconds
            bar.show_load(Path("big.nt"), read, 100)
    assert "left: 00:20" in " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err).split())


@pytest.mark.parametrize(("quiet", "terminal"), [(True, True), (False, False)])
def test_a_pipe_and_a_program_see_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, quiet: bool, terminal: bool
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    report_progress(quiet=quiet)
    assert capsys.readouterr() == ("", "")
