"""Asks one store drawn questions about all of its graphs."""

import random
from collections.abc import Sequence
from dataclasses import replace

from tests.values.graphs import PREFIXES, DrawnGraph
from tests.values.questions import draw
from tests.values.run import Report, ask
from tests.values.stores import Store
from tests.values.walks import Graph


async def ask_all(store: Store, graphs: Sequence[DrawnGraph], seed: int, count: int, report: Report) -> None:
    """Ask so many questions about each graph of a store, and judge the answers."""
    for graph in graphs:
        name = f"drawn {graph.number} ({graph.kind})"
        dice = random.Random(f"{seed} {name}")  # noqa: S311 - not for security
        # A store that cannot hold blank nodes has not every predicate.
        known = replace(graph, triples=store.held(graph)) if store.lacks_blank_nodes else graph
        questions = draw(known, dice, count, blank_nodes=store.blank_nodes)
        held = Graph(store.held(graph), PREFIXES, blank_nodes=store.blank_nodes)
        async with store.open(graph) as gateway:
            await ask(gateway, name, held, questions, report)
