"""`python -m benchmarks.shapes [--folder DIR]`: how long the same answers are in both shapes.

With a folder, the answers are written there, for a tokenizer to count.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from gateway import expand
from gateway.api import open_gateway
from gateway.escaping import json_text
from gateway.resources import folder as resources
from gateway.settings.limits import SizeSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile, ShapeName
from gateway.tools.gateway import Gateway
from tests.shared_data import shared_data

_WD: Final = "http://www.wikidata.org/entity/"
_SHAPES: Final[tuple[ShapeName, ...]] = ("reference", "compact")
_TOKENS: Final = 1_000_000
"""Of an answer at most: nothing is cut here."""


@dataclass(frozen=True, slots=True)
class Question:
    """A traversal of a reference graph.

    Attributes:
        name: What it is called.
        file: The graph.
        profile: How it is read.
        arguments: Those of `bfs_query`.
        coins: Whether prefixes are coined.
    """

    name: str
    file: str
    profile: str
    arguments: Mapping[str, Any]
    coins: bool = True


def _questions() -> list[Question]:
    medlit: dict[str, Any] = {"seeds": ["RxNorm:3251"], "max_hops": 2}
    person: dict[str, Any] = {"seeds": [f"{_WD}Q286525"], "max_hops": 1}
    topology = {"topology_only": True}
    codex = "codex-m.nt.gz"
    asked = [
        ("medlit RxNorm:3251, 2 hops", "medlit.ttl.gz", "local", medlit, True),
        ("codex-m Q286525, 1 hop, wikidata-local", codex, "wikidata-local", person, True),
        ("the same, local, coined prefixes", codex, "local", person, True),
        ("the same, local, no prefixes", codex, "local", person, False),
    ]
    questions = [
        Question(f"{name}, {what}", file, profile, {**arguments, **more}, coins)
        for name, file, profile, arguments, coins in asked
        for what, more in (("topology", topology), ("full", {}))
    ]
    return questions + [
        Question(
            f"codex-m {name} P37, steered",
            codex,
            "wikidata-local",
            {"seeds": [f"{_WD}{seed}"], "max_hops": 1, "only_predicates": ["wdt:P37"]},
        )
        for name, seed in (("Spain", "Q29"), ("Philippines", "Q928"))
    ]


async def _answers(gateway: Gateway, question: Question) -> dict[ShapeName, str]:
    """Return the answer to a question in each shape, as it is sent."""
    return {
        shape: json_text((await gateway.call("bfs_query", question.arguments, shape=shape)).as_json())
        for shape in _SHAPES
    }


def _profile(question: Question) -> Profile:
    size = SizeSettings(max_tokens=_TOKENS, ceiling_tokens=_TOKENS, coined_prefixes=question.coins)
    return load_profile(question.profile).model_copy(update={"size": size})


async def measured(folder: Path | None) -> Table:
    """Return the characters of all answers."""
    table = Table("answer", "reference", "compact", "ratio")
    for question in _questions():
        async with open_gateway(shared_data(question.file), profile=_profile(question)) as gateway:
            answers = await _answers(gateway, question)
        reference, compact = (len(answers[shape]) for shape in _SHAPES)
        table.add_row(question.name, f"{reference:,}", f"{compact:,}", f"{compact / reference:.2f}")
        for shape, text in answers.items():
            if folder is not None:
                name = f"{question.name} {shape}.json".replace(",", "").replace(":", "-").replace(" ", "_")
                (folder / name).write_text(text, encoding="utf-8")
    return table


_HUB: Final = {"seeds": ["person:Ridley_Scott"], "max_hops": 1, "only_predicates": ["directed"]}
"""One relation of the film graph's most linked node."""


async def of_one_relation() -> Table:
    """Return the characters of one relation of a hub, beside those of its IDs and names, each with one blank."""
    table = Table("one relation of a hub of films", "characters", "of IDs and names", "ratio")
    async with open_gateway(resources("fixtures") / "films.ttl", profile=load_profile("local")) as gateway:
        for shape in _SHAPES:
            answer = (await gateway.call("bfs_query", _HUB, shape=shape)).as_json()
            nodes = expand(answer)["nodes"]
            named = sum(len(f"{node['id']} {node.get('name', '')}") for node in nodes)
            written = len(json_text(answer))
            table.add_row(shape, f"{written:,}", f"{named:,}", f"{written / named:.2f}")
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where the answers go")
    given = parser.parse_args()
    if given.folder is not None:
        given.folder.mkdir(parents=True, exist_ok=True)
    console = Console()
    console.print(asyncio.run(of_one_relation()))
    console.print(asyncio.run(measured(given.folder)))


if __name__ == "__main__":
    main()
