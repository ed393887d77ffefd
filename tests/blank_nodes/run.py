"""Asks drawn questions about files, and reads the files again: IDs should be the same."""

import random
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rdflib import BNode, URIRef
from rdflib.term import Identifier

from gateway.api import Gateway, open_gateway
from tests.blank_nodes.judge import Judge, Report, room
from tests.blank_nodes.matching import is_blank
from tests.blank_nodes.oracle import Expected, read_file

_SEEDS: Final = 50


async def judged(
    paths: Sequence[Path], expected: Expected, dice: random.Random, questions: int, *, reopens: bool = True
) -> Report:
    """Ask questions about files.

    Args:
        paths: The files.
        expected: What they should become.
        dice: Draws the questions.
        questions: How many.
        reopens: Whether the files are read again, as they are and in another order: IDs should be the same.
    """
    async with open_gateway(list(paths), profile=room()) as gateway:
        await gateway.wait_until_ready()
        judge = Judge(gateway, expected)
        await judge.learn()
        await judge.ask(dice, questions)
        if not reopens:
            return judge.report
        ids = await ids_of(gateway, expected)
    with TemporaryDirectory(prefix="blank-nodes-") as folder:
        for again in (paths, rewritten(paths, Path(folder), dice)):
            if not again:
                continue
            async with open_gateway(list(again), profile=room()) as gateway:
                now = await ids_of(gateway, expected)
            more, fewer = sorted(now - ids), sorted(ids - now)
            what = f"{len(fewer)} IDs are gone {fewer[:3]}, {len(more)} are new {more[:3]}" if more or fewer else ""
            judge.report.note(f"the IDs of {[path.name for path in again]}", what, complete=True)
    return judge.report


def rewritten(paths: Sequence[Path], folder: Path, dice: random.Random) -> list[Path]:
    """Write files in another order and with other labels; nothing where they have triple terms."""
    written = []
    for number, path in enumerate(paths):
        labels: dict[str, str] = {}
        lines = []
        for triple in read_file(path):
            if any(isinstance(term, tuple) for term in triple):
                return []
            terms = [
                f"_:z{labels.setdefault(term, str(len(labels)))}" if isinstance(term, BNode) else term.n3()
                for term in triple
                if isinstance(term, Identifier)
            ]
            lines.append(" ".join(terms) + " .")
        dice.shuffle(lines)
        target = folder / f"again-{number}.ttl"
        # A literal on several lines is written by `n3` as Turtle has it.
        target.write_text("\n".join(dict.fromkeys(lines)), encoding="utf-8")
        written.append(target)
    return written


async def ids_of(gateway: Gateway, expected: Expected) -> frozenset[str]:
    """Return the IDs of the blank nodes near some IRIs."""
    iris = sorted(node for node in expected.nodes if isinstance(node, URIRef))[:_SEEDS]
    if not iris:
        return frozenset()
    answer = await gateway.bfs_subgraph(list(iris), 2)
    return frozenset(node.id for node in answer.nodes if is_blank(node.id))
