"""A database with two graphs of the fixtures as an operator has it: a URL, a file with the password, and profiles."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from gateway.api import open_gateway
from gateway.settings.load import load_profile
from gateway.tools.gateway import Gateway
from tests.calls import OF_EVIDENCE, Json
from tests.columns import declared_prefixes
from tests.graphs import fixture
from tests.neo4j.loading import settings_of

Kind = Literal["postgresql", "neo4j"]

GRAPHS: Final = ("medical", "films")

QUESTIONS: Final[Mapping[str, tuple[tuple[str, Json], ...]]] = {
    "medical": (
        ("describe_schema", {}),
        ("search_entities", {"query": "Coumadin"}),
        ("bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 2}),
        ("bfs_query", {"seeds": ["warfarin"], "max_hops": 1, "only_predicates": ["m:INTERACTS_WITH"]}),
        ("describe_entity", {"id": "drug:warfarin"}),
        ("describe_entities", {"ids": ["drug:warfarin", "gene:CYP2C9"]}),
        ("intersect_subgraphs", {"seeds": ["drug:warfarin", "drug:glibenclamide"], "k": 1}),
    ),
    "films": (
        ("describe_schema", {}),
        ("search_entities", {"query": "blade runner"}),
        ("bfs_query", {"seeds": ["film:Blade_Runner"], "max_hops": 2, "topology_only": True}),
        ("describe_entity", {"id": "film:Blade_Runner"}),
        ("describe_entities", {"ids": ["film:Blade_Runner", "film:Alien"]}),
        ("intersect_subgraphs", {"seeds": ["film:Blade_Runner", "film:Alien"], "k": 2}),
    ),
}
"""Calls of all six tools, by the graph."""


@dataclass(frozen=True)
class ServedDatabase:
    """A database with the graphs of `GRAPHS`.

    Attributes:
        kind: Which.
        folder: Has the files that an operator writes, and what is stored.
        user: Who logs in.
        password: The file of the password.
        urls: The URL of each graph.
    """

    kind: Kind
    folder: Path
    user: str
    password: Path
    urls: Mapping[str, str]

    @property
    def login(self) -> list[str]:
        """The options that log in."""
        return ["--user", self.user, "--password-file", str(self.password)]

    def reading(self, graph: str) -> Path:
        """Return a profile that says how a graph is read, and not where it is."""
        return self._profile(f"{graph}-reading", {}, self._how(graph))

    def whole(self, graph: str) -> Path:
        """Return a profile that says how a graph is read, where it is, and how to log in."""
        where = {
            "endpoint": {"url": self.urls[graph]},
            "endpoint.access": {"user": self.user, "password": f"file:{self.password}"},
        }
        return self._profile(graph, {}, self._how(graph) | where)

    def graphs_file(self) -> Path:
        """Return a file of both graphs."""
        graphs = {
            f"graphs.{name}": {"about": f"The graph {name}.", "profile": self.whole(name).name, "store": "stored"}
            for name in GRAPHS
        }
        return self._write("graphs", {}, graphs)

    def _how(self, graph: str) -> dict[str, Mapping[str, Any]]:
        # What a test asks must not depend on how fast the schema was read.
        how: dict[str, Mapping[str, Any]] = {
            "prefixes": declared_prefixes(fixture(graph)),
            "limits": {"deadline_seconds": 120, "schema_seconds": 60},
            "orientation": {"patience_seconds": 120},
        }
        if self.kind == "neo4j":
            settings = settings_of(graph)
            for name, section in (("nodes", settings.nodes), ("edges", settings.edges)):
                how[f"neo4j.{name}"] = section.model_dump(exclude_unset=True)
        return how

    def _profile(self, name: str, keys: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]) -> Path:
        extended = "bfsql-postgres" if self.kind == "postgresql" else "bfsql-neo4j"
        return self._write(name, {"extends": extended, **keys}, tables)

    def _write(self, name: str, keys: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]) -> Path:
        path = self.folder / f"{name}.toml"
        path.write_text(
            "\n".join([*_lines(keys), *(line for key in tables for line in (f"[{key}]", *_lines(tables[key])))]),
            encoding="utf-8",
        )
        return path

    async def differences(self, graph: str, found: Sequence[Json]) -> list[tuple[object, ...]]:
        """Return where answers to the questions about a graph differ from those of this process from its file."""
        profile = load_profile(str(self.reading(graph)))
        async with open_gateway(fixture(graph), profile=profile) as gateway:
            expected = await answers_of(gateway, graph)
        answers = zip(QUESTIONS[graph], map(_compared, found), map(_compared, expected), strict=True)
        return [
            (question, key, one.get(key), other.get(key))
            for question, one, other in answers
            for key in {**one, **other}
            if one.get(key) != other.get(key)
        ]


async def answers_of(gateway: Gateway, graph: str) -> list[Json]:
    """Return the answers of a gateway to the questions about a graph, as a server writes them."""
    asked = QUESTIONS[graph]
    return [(await gateway.call(tool, arguments, shape="compact")).as_json() for tool, arguments in asked]


def _compared(answer: Json) -> Json:
    """Return an answer without the minute in which the schema was read, and without what databases do not say."""
    told = {key: OF_EVIDENCE.sub("", text) for key, text in answer.items() if key == "next_steps"}
    return {**answer, **told, "basis": {**answer.get("basis", {}), "read_at": None}}


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        yield f"{json.dumps(key)} = {json.dumps(value)}"


def load(graph: str, url: str, user: str, password: Path) -> None:
    """Load a graph into PostgreSQL by the command that users load one with."""
    command = [sys.executable, "-m", "gateway", "load", str(fixture(graph)), "--to", url, "--user", user]
    # Our own command.
    subprocess.run([*command, "--password-file", str(password)], check=True, capture_output=True)  # noqa: S603
