"""Mutants of Python files by mutmut's operators: listed, drawn by seed, and written one at a time."""

import difflib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import create_mutations

TARGETS = ("gateway/engine", "gateway/sparql/batches.py", "gateway/transport/verdict.py")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file.

    Attributes:
        file: The path in the checkout.
        line: The line that changes, or the first of them.
        difference: The lines that go and those that come.
        code: The whole file with the change.
    """

    file: str
    line: int
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
    every = [mutant for path in _files(checkout, targets) for mutant in mutants_of(checkout, path)]
    return random.Random(seed).sample(every, min(count, len(every)))  # noqa: S311 - no secret


def mutants_of(checkout: Path, path: Path) -> list[Mutant]:
    """Return every mutant of a file; code outside of functions has none, because no single test runs it."""
    code = path.read_text(encoding="utf-8")
    module, mutations, _, _ = create_mutations(str(path), code)
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    places = wrapper.resolve(PositionProvider)
    found = []
    for mutation in mutations:
        if mutation.contained_by_top_level_function is not None:
            changed = module.deep_replace(mutation.original_node, mutation.mutated_node).code
            line = places[mutation.original_node].start.line
            found.append(Mutant(str(path.relative_to(checkout)), line, _difference(code, changed), changed))
    return [mutant for mutant in found if mutant.difference]


def _files(checkout: Path, targets: Sequence[str]) -> list[Path]:
    places = [checkout / target for target in targets]
    return sorted(file for place in places for file in (place.rglob("*.py") if place.is_dir() else [place]))


def _difference(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))
