"""A scripted session of a model: a server process over stdio, an MCP client, and six calls.

Five of the calls follow the protocol (reference, "Session workflow"); an intersection comes last.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, TypeVar

from mcp import Client, StdioServerParameters
from mcp_types import TextContent
from rich.text import Text

from gateway.answers.models import Answer, BfsResult, EntitiesResult, IntersectionResult, SchemaResult, SearchResult
from gateway.cli.screen import Screen, Unwrapped
from gateway.cli.tool_call import rendered
from gateway.errors import GatewayError
from gateway.escaping import json_text

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)

_RULE = "─" * 80


class Session:
    """A client of a server, which prints each call and its answer."""

    def __init__(self, client: Client, screen: Screen) -> None:
        self._client = client
        self._screen = screen

    async def call(self, model: type[AnyAnswer], title: str, tool: str, **arguments: Any) -> AnyAnswer:
        """Print a call of a tool and its answer, and return the answer.

        Raises:
            GatewayError: The tool answered with an error.
        """
        written = ", ".join(f"{name}={json_text(value)}" for name, value in arguments.items())
        self._screen.show()
        self._screen.show(Text(f"{title} {_RULE}"[: len(_RULE)], style="dim"))
        self._screen.show(Unwrapped(Text(f"{tool}({written})", style="bold")))
        self._screen.show()
        result = await self._client.call_tool(tool, arguments)
        if result.is_error:
            raise GatewayError(" ".join(part.text for part in result.content if isinstance(part, TextContent)))
        answer = model.model_validate(result.structured_content)
        self._screen.show(rendered(answer, arguments))
        return answer


def demo() -> None:
    """Run the session on the demo graph.

    Raises:
        GatewayError: A tool answered with an error.
    """
    asyncio.run(_run(Screen()))


async def _run(screen: Screen) -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "gateway", "serve", "--shape", "reference"])
    failed: GatewayError | OSError | None = None
    async with Client(server) as client:
        try:
            screen.show(f"Connected over stdio, MCP {client.protocol_version}. The graph is the medical demo graph.")
            await _steps(Session(client, screen))
        except (GatewayError, OSError) as error:
            # Raised inside the block, it would be wrapped into a group by the tasks of the client.
            failed = error
    if failed is not None:
        raise failed


async def _steps(session: Session) -> None:
    await session.call(SchemaResult, "1. Orient: what is in this graph?", "describe_schema")
    found = await session.call(
        SearchResult, "2. Resolve: which entity is warfarin?", "search_entities", query="warfarin", node_types=["Drug"]
    )
    seed = found.result[0].id
    title = "3. Survey: what is around it? Only IDs, types and triples"
    around = await session.call(BfsResult, title, "bfs_query", seeds=[seed], max_hops=1, topology_only=True)
    genes = [node.id for node in around.nodes if node.entity_type in {"m:Gene", "m:Protein"}]
    title = "4. Expand: what are the genes and proteins among them?"
    await session.call(EntitiesResult, title, "describe_entities", ids=genes)
    title = "5. Steer: which drugs does it interact with? Nothing else is followed"
    await session.call(BfsResult, title, "bfs_query", seeds=[seed], max_hops=1, only_predicates=["INTERACTS_WITH"])
    title = "6. Intersect: what do warfarin and aspirin have in common?"
    await session.call(IntersectionResult, title, "intersect_subgraphs", seeds=[seed, "drug:aspirin"], k=1)
