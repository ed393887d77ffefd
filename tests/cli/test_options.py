"""The options of commands follow from the arguments of the tools."""

import inspect
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from pydantic import Field
from typer.testing import CliRunner

from gateway.api import open_gateway
from gateway.arguments import ALL, Arguments, Names, TraversalBase
from gateway.cli.commands import app
from gateway.cli.options import optional_arguments, with_options
from gateway.errors import ConfigurationError
from tests.cli.conftest import Run

COMMANDS = {
    "describe_schema": "schema",
    "search_entities": "search",
    "bfs_query": "bfs",
    "describe_entity": "describe",
    "describe_entities": "describe",
    "intersect_subgraphs": "intersect",
}


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.tool)
def test_each_command_takes_the_optional_arguments_of_its_tool(model: type[Arguments]) -> None:
    callbacks = {command.callback.__name__: command.callback for command in app.registered_commands if command.callback}
    optional = {name for name, field in model.model_fields.items() if not field.is_required()}
    assert optional <= set(inspect.signature(callbacks[COMMANDS[model.tool]]).parameters)


class WithNewArguments(TraversalBase):
    """A traversal that takes more than the others."""

    new_names: Annotated[Names | None, Field(description="Follow only edges of these predicates.")] = None
    way: Annotated[Literal["both", "out", "in"], Field(description="Follow edges in this direction.")] = "both"


def run_with_new_arguments(*argv: str) -> tuple[str, list[dict[str, Any]]]:
    taken: list[dict[str, Any]] = []

    def command(*, arguments: Annotated[dict[str, Any], optional_arguments(WithNewArguments, {})]) -> None:
        taken.append(arguments)

    program = typer.Typer(rich_markup_mode=None)
    program.command()(with_options(command))
    return CliRunner().invoke(program, argv).output, taken


def test_a_new_argument_is_an_option_without_more() -> None:
    _, (taken,) = run_with_new_arguments("--new-name", "TREATS", "--new-name", "CAUSES")
    assert (taken["new_names"], taken["way"], taken["limit"]) == (["TREATS", "CAUSES"], "both", None)


NO_ADDRESS = {
    "mysql://127.0.0.1/graph": "nor that of a database: postgresql://user@host/name or neo4j://host/name",
    "postgresql+asyncpg://reader@127.0.0.1/graph": "nor that of a database",
    "127.0.0.1:3030": "begins with http:// or https:// and names a host",
    "http:///sparql": "begins with http:// or https:// and names a host",
    "http://me:hush@127.0.0.1/sparql": "the URL contains a user or a password",
    "http://127.0.0.1/sparql?key=hush": "the URL contains a key or a token",
    "postgresql://me:hush@127.0.0.1/graph": "the URL contains a password",
    "postgresql://me@127.0.0.1/graph?password=hush": "the URL contains a password",
    "postgresql://me@127.0.0.1": "names no database",
    "postgresql://me@127.0.0.1/graph?sslmode=prefer": "not a URL of the form postgresql://",
    "neo4j://me:hush@127.0.0.1/graph": "the URL contains a password",
    "NEO4J://127.0.0.1/one/two": "not a URL of the form neo4j://",
}
"""What is no address of a graph, and what is said of it."""

TAKING_AN_ADDRESS = [
    *(["serve", "-e"], ["serve", "--http", "--port", "0", "-e"], ["explore", "--no-browser", "-e"], ["check"]),
    *(["check", "-e"], ["schema", "-e"], ["search", "x", "-e"], ["bfs", "x:y", "-e"], ["describe", "x:y", "-e"]),
    *(["intersect", "x:y", "x:z", "-e"], ["index", "-e"], ["refresh", "-e"]),
]


@pytest.mark.parametrize("address", NO_ADDRESS)
def test_every_command_and_every_place_says_the_same_of_what_is_no_address(
    run: Run, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = set()
    for command in TAKING_AN_ADDRESS:
        ran = run(*command, address)
        assert (ran.status, ran.out) == (2, ""), command
        said.add(ran.err.partition(". ")[0].partition(".\n")[0])
    monkeypatch.setenv("BFSQL_ENDPOINT", address)
    for name in ("serve", "explore", "schema", "check", "index"):
        said.add(run(name).err.partition(". ")[0].partition(".\n")[0])
    with pytest.raises(ConfigurationError) as raised:
        open_gateway(endpoint=address)
    said.add(f"error: {raised.value}".removesuffix("."))
    (text,) = said
    assert text.startswith("error: The endpoint is wrong: ")
    assert NO_ADDRESS[address] in text
    assert "hush" not in text
    profile = tmp_path / "there.toml"
    profile.write_text(f'[endpoint]\nurl = "{address}"\n', encoding="utf-8")
    of_profile = run("serve", "-p", profile).err
    assert of_profile.endswith(f"endpoint.url: {text.removeprefix('error: The endpoint is wrong: ')}.\n")


def test_an_option_without_a_text_of_its_own_has_the_description_of_the_argument() -> None:
    shown, _ = run_with_new_arguments("--help")
    assert "Follow only edges of these predicates." in shown
    assert "both|out|in" in shown
    assert "Follow edges in this direction. [default: both]" in " ".join(shown.split())
