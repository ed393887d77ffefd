"""The prompts of a server of several graphs: those of one graph, and which graph they are about."""

from __future__ import annotations

from collections.abc import Mapping

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, GetPromptResult, PromptArgument, TextContent

from gateway.errors import InputError
from gateway.escaping import json_text, printable
from gateway.server import prompts
from gateway.server.client import Client
from gateway.server.graphs.graph_set import ARGUMENT, GraphSet

_ARGUMENT = PromptArgument(name=ARGUMENT, description="Which graph.", required=True)

PROMPTS = [
    prompt.model_copy(update={"arguments": [_ARGUMENT, *(prompt.arguments or ())]}) for prompt in prompts.PROMPTS
]


def prompt_result(name: str, given: Mapping[str, str], graphs: GraphSet, client: Client | None) -> GetPromptResult:
    """Return a prompt with its arguments filled in.

    Raises:
        MCPError: There is no such prompt, an argument is wrong, or there is no such graph that the client may see.
    """
    try:
        graph = graphs.find(given.get(ARGUMENT), client)
    except InputError as error:
        raise MCPError(INVALID_PARAMS, printable(str(error))) from error
    result = prompts.prompt_result(name, {key: text for key, text in given.items() if key != ARGUMENT})
    for message in result.messages:
        if isinstance(message.content, TextContent):
            message.content.text += f"\nGive each tool the argument {ARGUMENT}={json_text(graph.name)}."
    return result
