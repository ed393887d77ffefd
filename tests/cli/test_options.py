"""The options of commands follow from the arguments of the tools."""

import inspect
from typing import Annotated, Any, Literal

import pytest
import typer
from pydantic import Field
from typer.testing import CliRunner

from gateway.cli.commands import app
from gateway.cli.options import optional_arguments, with_options
from gateway.engine.arguments import ALL, Arguments, Names, TraversalBase

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


def test_an_option_without_a_text_of_its_own_has_the_description_of_the_argument() -> None:
    shown, _ = run_with_new_arguments("--help")
    assert "Follow only edges of these predicates." in shown
    assert "both|out|in" in shown
    assert "Follow edges in this direction. [default: both]" in " ".join(shown.split())
