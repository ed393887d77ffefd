"""`python -m tests.blank_nodes FILES...`: questions about files and drawn graphs; exit code 1 where one is wrong."""

import argparse
import asyncio
import json
import logging
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from gateway.errors import ConfigurationError
from tests.blank_nodes.graphs import KIND_COUNT, drawn
from tests.blank_nodes.judge import Report, judged
from tests.blank_nodes.oracle import Expected, expected_of, read_file

_SHOWN: Final = 3
"""Findings of one graph that are printed."""

_OF_KINDS: Final = ("wrong and complete", "wrong otherwise", "untrue warning")


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.blank_nodes", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="files, each a graph of its own")
    parser.add_argument("--questions", type=int, default=2_000, help="in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--graphs", type=int, default=3 * KIND_COUNT, help="drawn graphs beside the files")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all findings go")
    options = parser.parse_args(arguments)
    for chatty in ("gateway", "rdflib"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="blank-nodes-") as folder:
        reports = asyncio.run(_asked(options, Path(folder)))
    _print(reports)
    sys.stderr.write(f"{time.monotonic() - begun:,.0f} s\n")
    if options.json is not None:
        findings = [{"graph": name} | asdict(each) for name, report in reports for each in report.findings]
        options.json.write_text(json.dumps(findings, indent=1), encoding="utf-8")
    return 1 if any(report.findings for _, report in reports) else 0


async def _asked(options: argparse.Namespace, folder: Path) -> list[tuple[str, Report]]:
    graphs = len(options.files) + options.graphs
    reports = []
    for name, paths, expected in _graphs(options.files, options.graphs, folder):
        dice = random.Random(f"{options.seed} {name}")  # noqa: S311 - not for security
        begun = time.monotonic()
        try:
            report = await judged(paths, expected, dice, -(-options.questions // graphs))
        except ConfigurationError as error:
            sys.stderr.write(f"{name} is refused: {error.wrong}\n")
            continue
        sys.stderr.write(f"{name}: {report.questions} questions, {time.monotonic() - begun:.1f} s\n")
        reports.append((name, report))
    return reports


def _graphs(files: Sequence[Path], count: int, folder: Path) -> Iterator[tuple[str, list[Path], Expected]]:
    """Yield the graphs with their names: that of a file, or `drawn 17 (kind)`, which `graphs.drawn` draws again."""
    for path in files:
        try:
            yield str(path), [path], expected_of(read_file(path))
        except Exception as error:  # noqa: BLE001 - what no parser reads is no question
            sys.stderr.write(f"{path} is not read: {error}\n")
    for number in range(count):
        graph = drawn(number)
        yield f"drawn {number} ({graph.kind})", graph.write(folder), expected_of(graph.triples)


def _print(reports: Sequence[tuple[str, Report]]) -> None:
    for name, report in reports:
        if report.findings:
            sys.stdout.write(f"{name}\n")
        for finding in report.findings[:_SHOWN]:
            sys.stdout.write(f"  {finding.kind}: {finding.question}\n    {finding.what[:600]}\n")
        if len(report.findings) > _SHOWN:
            sys.stdout.write(f"  and {len(report.findings) - _SHOWN} more\n")
    questions = sum(report.questions for _, report in reports)
    parts = [f"{sum(report.count(kind) for _, report in reports)} {kind}" for kind in _OF_KINDS]
    complete = sum(report.complete for _, report in reports) / max(1, questions)
    sys.stdout.write(
        f"{questions} questions about {len(reports)} graphs: {', '.join(parts)}; {complete:.1%} complete\n"
    )


if __name__ == "__main__":
    sys.exit(main())
