"""`python -m benchmarks.meaning FOLDER`: what a static model finds by meaning that a search by spelling does not.

Of wd50k, the other names (`skos:altLabel`) are left out of the graph, and some are searched: those that share no word
with the name, and any. Found means that the entity is among the first five of hits, guesses and names of near
meaning. Then predicates are looked for by the paraphrases of `paraphrases.tsv`, which were written before any model
was asked.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import gzip
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

import pyoxigraph

from benchmarks.recall import AT, WD50K
from gateway.answers.models import SearchHit
from gateway.api import open_gateway
from gateway.graph.call import Deadline
from gateway.meaning.static_model import StaticModel
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile, with_embedder
from gateway.terms.iri import NAME_PREDICATES, SYNONYM_PREDICATES
from gateway.terms.names import folded_words

_PARAPHRASES: Final = Path(__file__).with_name("paraphrases.tsv")
_ITEMS, _PROPERTIES = "/entity/Q", "/entity/P"
_SHORTEST = 4
"""Characters of another name that is looked for."""

Pair = tuple[str, str]
"""An entity, and another name of it."""


@dataclass(slots=True)
class _Names:
    """The names of the graph, and its other names, which the graph that is searched does not have."""

    names: Mapping[str, str]
    others: Sequence[Pair]

    def drawn(self, count: int, fits: Callable[[str, str], bool]) -> list[Pair]:
        """Return some other names, one of an entity, of those that fit their name."""
        taken = {name.lower() for name in self.names.values()}
        found: dict[str, str] = {}
        for entity, other in random.Random(2026).sample(self.others, len(self.others)):  # noqa: S311 - no secret
            is_asked = other.isascii() and len(other) >= _SHORTEST and other.lower() not in taken
            if is_asked and entity in self.names and entity not in found and fits(other, self.names[entity]):
                found[entity] = other
        return list(found.items())[:count]


def _written(path: Path) -> _Names:
    """Write the graph without its other names."""
    names: dict[str, str] = {}
    others: list[Pair] = []
    with gzip.open(WD50K.path) as read, path.open("w", encoding="utf-8") as file:
        for quad in pyoxigraph.parse(cast("IO[bytes]", read), pyoxigraph.RdfFormat.N_TRIPLES):
            subject, value = str(getattr(quad.subject, "value", "")), getattr(quad.object, "value", "")
            if quad.predicate.value in SYNONYM_PREDICATES and _ITEMS in subject:
                others.append((subject, value))
                continue
            if quad.predicate.value in NAME_PREDICATES:
                names[subject] = value
            file.write(f"{quad.triple} .\n")
    return _Names(names, sorted(others))


async def _found(graph: Path, profile: Profile, pairs: Sequence[Pair]) -> tuple[list[bool], float]:
    """Return which entities are among the first, and the milliseconds of a search."""
    async with open_gateway(graph, profile=profile) as gateway:
        await gateway.wait_for_names()
        found = []
        begun = time.perf_counter()
        for entity, text in pairs:
            answer = await gateway.search_entities(text)
            shown: list[SearchHit] = [*answer.result, *(answer.guesses or ()), *(answer.by_meaning or ())]
            found.append(entity in {gateway.prefixes.expand(hit.id) for hit in shown[:AT]})
        return found, (time.perf_counter() - begun) / max(1, len(pairs)) * 1000


async def _of_names(model: Path, count: int) -> None:
    plain = load_profile(WD50K.profile)
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "graph.nt"
        known = _written(graph)
        for title, fits in (
            ("other names that share no word with the name", _have_nothing_in_common),
            ("any other names", lambda *_: True),
        ):
            pairs = known.drawn(count, fits)
            without, before = await _found(graph, plain, pairs)
            with_, after = await _found(graph, with_embedder(plain, str(model)), pairs)
            lost = sum(one and not other for one, other in zip(without, with_, strict=True))
            _say(f"{title}: {sum(without)} of {len(pairs)} by spelling ({before:.1f} ms), {sum(with_)} with meaning")
            _say(f"  ({after:.1f} ms), {lost} lost")
    await _of_predicates(model, {name: iri for iri, name in known.names.items() if _PROPERTIES in iri})


def _have_nothing_in_common(one: str, other: str) -> bool:
    return set(folded_words(one)).isdisjoint(folded_words(other))


async def _of_predicates(folder: Path, predicates: Mapping[str, str]) -> None:
    with _PARAPHRASES.open(encoding="utf-8", newline="") as file:
        asked = [row for row in csv.reader(file, delimiter="\t") if row[0] in predicates]
    model = StaticModel(folder)
    names = sorted(predicates)
    known = (await model.embed(names, Deadline.after(600))).vectors
    paraphrases = (await model.embed([text for _, text in asked], Deadline.after(600))).vectors
    await model.close()
    places = []
    for (name, _), scores in zip(asked, (paraphrases @ known.T).tolist(), strict=True):
        best = sorted(range(len(names)), key=lambda place: -scores[place])
        places.append(best.index(names.index(name)))
    first, among = sum(place == 0 for place in places), sum(place < AT for place in places)
    _say(f"paraphrases of {len(names)} predicates: {first} of {len(asked)} first, {among} among the first {AT}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.meaning", description="What is found by meaning.")
    parser.add_argument("model", type=Path, metavar="FOLDER", help="a static model")
    parser.add_argument("--count", type=int, default=200, metavar="N", help="names of each kind; 200 by default")
    options = parser.parse_args(arguments)
    asyncio.run(_of_names(options.model, options.count))
    return 0


if __name__ == "__main__":
    sys.exit(main())
