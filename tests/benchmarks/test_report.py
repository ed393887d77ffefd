import io
import json

import pytest
from rich.console import Console

from benchmarks.report import Line, Measurement, Report, show

MEASUREMENT = Measurement(
    question="2 hops",
    engine="oxigraph",
    delay_ms=50,
    contender="bare client",
    seconds=0.5,
    ratio=0.8,
    requests=1_409,
    rows=100,
    bytes=2_000_000,
    cpu_us_per_row=4.25,
    runs=7,
)


@pytest.mark.parametrize(
    ("result", "at_least", "verdict"),
    [
        (8, False, "met"),
        (8.1, False, "missed"),
        (8, True, "met"),
        (7.9, True, "missed"),
        (None, False, "not measured"),
    ],
)
def test_a_line_says_whether_its_target_was_met(result: float | None, at_least: bool, verdict: str) -> None:
    assert Line("5", "requests", "", 8, result, at_least).verdict == verdict


def test_a_figure_without_a_target_is_only_shown() -> None:
    assert Line("6", "time at +0 ms", "times", None, 2.0).verdict == "told"


def test_the_tables_show_every_figure() -> None:
    report = Report([Line("6 i", "faster", "times", 100, 123.4, at_least=True, note="one run")], [MEASUREMENT])
    written = io.StringIO()
    show(report, Console(file=written, width=200))
    for shown in ("+50 ms", "1,409", "0.8", "500", "2.00", "4.2", "≥ 100 times", "123 times", "one run", "met"):
        assert shown in written.getvalue()


def test_the_json_has_verdicts_and_can_be_written() -> None:
    report = Report([Line("5", "requests", "", 8, None, note="not yet")], [MEASUREMENT])
    read = json.loads(json.dumps(report.json))
    assert read["lines"][0]["verdict"] == "not measured"
    assert read["measurements"][0]["contender"] == "bare client"
