"""Mutants of Python files by mutmut's operators: listed, drawn by seed, and written one at a time."""

import difflib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

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
