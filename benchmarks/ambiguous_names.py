"""`python -m benchmarks.ambiguous_names`: how often a name of several entities is taken for the one that is meant.

The names are those in the public questions about wd50k: of each entity that the query of a question names, the longest
name that stands in its text, where other entities have that name too; once for each question. Names and entities are
read without the gateway.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter, defaultdict
from typing import Final

import pyoxigraph
from rich.console import Console
from rich.table import Table

from benchmarks.trial.questions import FILE, GRAPH
from gateway.api import open_gateway
from gateway.errors import InputError
from gateway.terms.iri import NAME_PREDICATES, SYNONYM_PREDICATES
from gateway.tools.gateway import Gateway
from tests.graphs import read

_WD: Final = "http://www.wikidata.org/entity/"
_ENTITY: Final = re.compile(r"wd:(Q[0-9]+)")
_PREDICATES: Final = frozenset({*NAME_PREDICATES, *SYNONYM_PREDICATES})
_TAKEN: Final = 0.75
"""Share of the names of which one entity is to be taken."""
_RIGHT: Final = 0.97
"""Share of those of which it is to be the one that is meant."""


def ambiguous() -> Counter[tuple[str, str]]:
    """Return how many questions mean an entity by a name that others have too, by name and entity."""
    having: defaultdict[str, set[str]] = defaultdict(set)
    names: defaultdict[str, set[str]] = defaultdict(set)
    for quad in read(GRAPH):
        entity, name = quad.subject, quad.object
        if not (isinstance(entity, pyoxigraph.NamedNode) and isinstance(name, pyoxigraph.Literal)):
            continue
        if quad.predicate.value in _PREDICATES and entity.value.startswith(f"{_WD}Q"):
            having[name.value.casefold()].add(entity.value)
            names[entity.value].add(name.value)
    meant: Counter[tuple[str, str]] = Counter()
    for question in json.loads(FILE.read_text(encoding="utf-8")):
        text = question["question"]
        for iri in dict.fromkeys(f"{_WD}{local}" for local in _ENTITY.findall(question["sparql"])):
            there = [one for one in names[iri] if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text, re.IGNORECASE)]
            longest = max(there, key=lambda one: (len(one), one), default="")
            if longest and len(having[longest.casefold()]) > 1:
                meant[longest, iri] += 1
    return meant


async def _judged(gateway: Gateway, name: str, entity: str) -> str:
    """Return what becomes of a name that means an entity."""
    try:
        answer = (await gateway.call("describe_entity", {"id": name})).as_json()
    except InputError:
        return "left to the reader"
    told = any("Others of this name" in warning for warning in answer.get("warnings", ()))
    return ("right" if answer["iri"] == entity else "wrong") if told else "without a warning"


async def measured() -> Counter[str]:
    """Return how many names there are of each kind of outcome."""
    found: Counter[str] = Counter()
    async with open_gateway([GRAPH], profile="wikidata-local") as gateway:
        await gateway.wait_until_ready()
        for (name, entity), count in ambiguous().items():
            outcome = await _judged(gateway, name, entity)
            found[outcome] += count
            if outcome not in {"right", "left to the reader"}:
                sys.stderr.write(f"{outcome}: {name} ({entity.removeprefix(_WD)})\n")
    return found


def main() -> int:
    """Measure, print, and return the exit code: 1 where a target is missed."""
    found = asyncio.run(measured())
    total, taken = found.total(), found["right"] + found["wrong"] + found["without a warning"]
    table = Table("", "names", "share", "target")
    table.add_row("ambiguous names in questions", str(total), "", "")
    table.add_row("taken for one entity", str(taken), f"{taken / total:.3f}", f"{_TAKEN}")
    table.add_row("of these rightly", str(found["right"]), f"{found['right'] / taken:.3f}", f"{_RIGHT}")
    table.add_row("of these without a warning", str(found["without a warning"]), "", "0")
    Console().print(table)
    is_met = taken >= _TAKEN * total and found["right"] >= _RIGHT * taken and not found["without a warning"]
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
