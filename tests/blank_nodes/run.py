"""Drawn questions about blank nodes and lists, in drawn graphs and in files."""

import asyncio
import random
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gateway.errors import ConfigurationError
from tests.blank_nodes.graphs import KIND_COUNT, drawn
from tests.blank_nodes.judge import ask_files
from tests.blank_nodes.oracle import Expected, expected_of, read_file
from tests.harness.kind import Kind, Say
from tests.harness.report import Report


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="files, each a graph of its own")
    parser.add_argument("--graphs", type=int, default=3 * KIND_COUNT, help="drawn graphs beside the files")


def _run(options: Namespace, say: Say) -> Report:
    report, of_each = Report(), -(-options.questions // (len(options.files) + options.graphs))
    with tempfile.TemporaryDirectory(prefix="blank-nodes-") as folder:
        for name, paths, expected in _graphs(options, Path(folder), say):
            dice = random.Random(f"{options.seed} {name}")  # noqa: S311 - not for security
            try:
                asyncio.run(ask_files(paths, expected, dice, of_each, report, graph=name))
            except ConfigurationError as error:
                say(f"{name} is refused: {error.wrong}")
            else:
                say(name)
    return report


def _graphs(options: Namespace, folder: Path, say: Say) -> Iterator[tuple[str, list[Path], Expected]]:
    """Yield the graphs with their names: that of a file, or `drawn 17 (kind)`, which `graphs.drawn` draws again."""
    for path in options.files:
        try:
            yield str(path), [path], expected_of(read_file(path))
        except Exception as error:  # noqa: BLE001 - what no parser reads is no question
            say(f"{path} is not read: {error}")
    for number in range(options.graphs):
        graph = drawn(number)
        yield f"drawn {number} ({graph.kind})", graph.write(folder), expected_of(graph.triples)


KIND: Final = Kind(
    "drawn questions about blank nodes and lists in drawn graphs and in files, compared with an oracle up to names",
    _run,
    questions=2_000,
    seed=1,
    options=_options,
)
