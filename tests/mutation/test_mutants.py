"""Mutants are drawn the same way each time, and differ from their file in one place."""

import ast
from pathlib import Path

import pytest

pytest.importorskip("mutmut")

from tests.mutation.__main__ import summary
from tests.mutation.running import draw

CODE = '''\
"""A file."""

LIMIT = 5


def larger(a: int | None, b: int) -> bool:
    """Return whether one is larger."""
    return a is not None and a > b


def half(a: int) -> float:
    return a / 2 + len("ab")


@property
def least() -> int:
    return min(LIMIT, 1 + 1)
'''


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Write a checkout of one file."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "file.py").write_text(CODE)
    return tmp_path


def test_a_mutant_is_valid_code_that_differs_in_the_line_that_it_names(checkout: Path) -> None:
    found = draw(checkout, ["package"], 1_000, 1)
    assert "-    return a is not None and a > b\n+    return a is not None and a >= b" in {
        mutant.difference for mutant in found
    }
    for mutant in found:
        ast.parse(mutant.code)
        before, after = CODE.splitlines(), mutant.code.splitlines()
        differing = [number for number, lines in enumerate(zip(before, after, strict=True), 1) if len({*lines}) > 1]
        assert differing == [mutant.line]
        assert mutant.file == "package/file.py"


def test_annotations_docstrings_and_code_outside_of_functions_have_no_mutants(checkout: Path) -> None:
    lines = {mutant.line for mutant in draw(checkout, ["package"], 1_000, 1)}
    assert lines == {8, 12}


def test_the_same_mutants_are_drawn_for_the_same_seed(checkout: Path) -> None:
    drawn = [draw(checkout, ["package"], 4, seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 4


def test_a_mutant_that_hangs_counts_as_noticed_and_one_that_no_test_runs_does_not(checkout: Path) -> None:
    mutants = draw(checkout, ["package"], 4, 1)
    report = summary(mutants, ["killed", "timed out", "survived", "not covered"])
    assert report["share_noticed"] == 0.5
    assert [one["outcome"] for one in report["unnoticed"]] == ["survived", "not covered"]  # type: ignore[attr-defined]
