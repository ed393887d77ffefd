"""A graph that was opened: its store, and what came with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.engine.schema.cache import SchemaStorage
from gateway.graph.store import GraphStore
from gateway.settings.profile import Profile


@dataclass(frozen=True, slots=True)
class OpenedGraph:
    """A graph, and how to ask it.

    Attributes:
        profile: The profile in effect.
        store: What answers.
        prefixes: The prefixes that each file declares, by its name.
        storage: Where the gateway stores the schema; None where the store does, or nothing does.
        lasting: The folder for what outlives a change of the graph; None where there is none.
    """

    profile: Profile
    store: GraphStore
    prefixes: Sequence[tuple[str, Mapping[str, str]]] = ()
    storage: SchemaStorage | None = None
    lasting: Path | None = None
