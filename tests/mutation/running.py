"""Mutants of Python files by mutmut's operators, and the tests of a copy of a checkout that run their lines."""

import difflib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Literal

import coverage
import pytest
from libcst import FunctionDef, SimpleString
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import Mutation, create_mutations

TARGETS = (
    "gateway/tools",
    "gateway/answers",
    "gateway/traversal",
    "gateway/schema",
    "gateway/sparql/batches.py",
    "gateway/transport/response_verdict.py",
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file.

    Attributes:
        file: The path in the checkout.
        line: The line that changes, or the first of them.
        function: The line where its function begins.
        difference: The lines that go and those that come.
        code: The whole file with the change.
    """

    file: str
    line: int
    function: int
    difference: str
    code: str


def draw(checkout: Path, targets: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Return some of all mutants of the targets, the same ones for the same code and seed.

    Args:
        checkout: The folder that targets are in.
        targets: Files, and folders whose files are meant.
        count: How many; all if there are fewer.
        seed: Of the drawing.
    """
    files = [MutatedFile(checkout, path) for path in _files(checkout, targets)]
    every = [(file, number) for file in files for number in range(len(file))]
    # Only those that are drawn are written: that takes longer than to list thousands.
    random.Random(seed).shuffle(every)  # noqa: S311 - no secret
    written = (file.mutant(number) for file, number in every)
    return list(islice((mutant for mutant in written if mutant.difference), count))


class MutatedFile:
    """Every mutant of the functions of a file; what runs at import is run by no single test."""

    def __init__(self, checkout: Path, path: Path) -> None:
        self._name = str(path.relative_to(checkout))
        self._code = path.read_text(encoding="utf-8")
        self._module, mutations, _, _ = create_mutations(str(path), self._code)
        self._mutations = [one for one in mutations if _counts(one)]
        self._places = MetadataWrapper(self._module, unsafe_skip_copy=True).resolve(PositionProvider)

    def __len__(self) -> int:
        return len(self._mutations)

    def mutant(self, number: int) -> Mutant:
        """Return the mutant of a number, counted from 0."""
        mutation = self._mutations[number]
        code = self._module.deep_replace(mutation.original_node, mutation.mutated_node).code
        line, function = (
            self._places[node].start.line for node in (mutation.original_node, mutation.contained_by_top_level_function)
        )
        return Mutant(self._name, line, function, _difference(self._code, code), code)


def _counts(mutation: Mutation) -> bool:
    """Return whether a mutation is in a function, and does not change a sentence, whose words are not tested."""
    node = mutation.original_node
    sentence = isinstance(node, SimpleString) and " " in node.value
    return isinstance(mutation.contained_by_top_level_function, FunctionDef) and not sentence


def _files(checkout: Path, targets: Sequence[str]) -> list[Path]:
    places = [checkout / target for target in targets]
    return sorted(file for place in places for file in (place.rglob("*.py") if place.is_dir() else [place]))


def _difference(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


Outcome = Literal["killed", "timed out", "survived", "not covered"]

_PYTEST: Final = (
    *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not server and not process and not large"),
    *("--hypothesis-profile", "quick", "--hypothesis-seed", "0"),
)
_LEFT_OUT: Final = shutil.ignore_patterns(
    ".git", ".venv", ".servers", ".mypy_cache", ".ruff_cache", ".hypothesis", "__pycache__"
)
_START_SECONDS: Final = 60.0
"""To start Python and collect the tests, on a machine that runs two mutants at once."""

_SLOWER: Final = 5.0
"""How many times as long as alone the tests may take, beside others."""


class BrokenCheckoutError(Exception):
    """The tests cannot be run; the text is the end of what they printed."""


@dataclass(frozen=True, slots=True)
class Covering:
    """Which tests run which lines.

    Attributes:
        tests: For a file and a line the tests, the quickest first.
        seconds: How long each test takes, measured.
        failed: Tests that fail without any mutant, and are left out.
    """

    tests: Mapping[tuple[str, int], Sequence[str]]
    seconds: Mapping[str, float]
    failed: Sequence[str]

    def of(self, mutant: Mutant) -> Sequence[str]:
        """Return the tests of a line, or of the line before it that has any: not every line of a call is traced."""
        lines = range(mutant.line, mutant.function - 1, -1)
        return next((tests for line in lines if (tests := self.tests.get((mutant.file, line)))), ())


def copied(checkout: Path, folder: Path) -> Path:
    """Copy what the tests of a checkout need, and return the copy."""
    shutil.copytree(checkout, folder, ignore=_LEFT_OUT, symlinks=True)
    shared = checkout.parent / "shared"
    if shared.is_dir() and not (folder.parent / "shared").exists():
        (folder.parent / "shared").symlink_to(shared)
    return folder


def covering(copy: Path, targets: Sequence[str], tests: Sequence[str]) -> Covering:
    """Run tests once, and return which of them run which lines of the targets.

    Raises:
        BrokenCheckoutError: They cannot be run.
    """
    data, ran, settings = copy / ".coverage", copy / "ran.json", copy / "coverage.ini"
    places = [str(copy / target) + ("/*" if (copy / target).is_dir() else "") for target in targets]
    settings.write_text("[run]\ninclude =\n" + "".join(f"    {place}\n" for place in places))
    command = [*("-m", "coverage", "run", f"--rcfile={settings}", f"--data-file={data}"), *_PYTEST, "-p", "contexts"]
    code, printed = _run(copy, [*command, *tests], None, {"MUTATION_TESTS": str(ran)})
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        raise BrokenCheckoutError(printed[-5_000:])
    found = json.loads(ran.read_text(encoding="utf-8"))
    took, left_out = found["seconds"], {"", *found["failed"]}
    read = coverage.CoverageData(str(data))
    read.read()
    by_line = {
        (str(Path(file).relative_to(copy)), line): sorted({*contexts} - left_out, key=lambda test: took.get(test, 0.0))
        for file in read.measured_files()
        for line, contexts in read.contexts_by_lineno(file).items()
    }
    return Covering(by_line, took, found["failed"])


def outcome(copy: Path, mutant: Mutant, covering: Covering) -> Outcome:
    """Return what became of a mutant; the copy is afterwards as it was."""
    tests = covering.of(mutant)
    if not tests:
        return "not covered"
    place = copy / mutant.file
    original = place.read_text(encoding="utf-8")
    listed = copy / "tests.txt"
    listed.write_text("\n".join(tests), encoding="utf-8")
    limit = _START_SECONDS + _SLOWER * sum(covering.seconds.get(test, 0.0) for test in tests)
    place.write_text(mutant.code, encoding="utf-8")
    try:
        code, _ = _run(copy, [*_PYTEST, "-x", f"@{listed}"], limit)
    except subprocess.TimeoutExpired:
        return "timed out"
    finally:
        place.write_text(original, encoding="utf-8")
    return "killed" if code != 0 else "survived"


def _run(
    copy: Path, arguments: Sequence[str], seconds: float | None, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run this Python in a copy; return its exit code and what it printed.

    Raises:
        TimeoutExpired: It took too long, and was ended with all that it had started.
    """
    path = os.pathsep.join(map(str, (copy, Path(__file__).parent)))
    # A stale bytecode file would hide a mutant that is as long as the original, written in the same second.
    given = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    with subprocess.Popen(  # noqa: S603 - this Python, on a copy of this project
        [sys.executable, *arguments],
        cwd=copy,
        env={**os.environ, **given},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        finally:
            _end_group(process.pid)
    return process.returncode, printed


def _end_group(pid: int) -> None:
    """End what a process has started and left behind, and the process itself."""
    for _ in range(2):
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        time.sleep(0.01)
