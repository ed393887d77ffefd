"""Calling the tools as a client does, over MCP."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp import Client

from gateway.server.app import build
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile, ServerSettings
from gateway.tools.gateway import Gateway

OF_EVIDENCE: Final = re.compile(r" The evidence of edges, which bfs_query shows [^.\"]*\.")
"""The predicates of evidence, which a schema of a database does not name, nor one in which they could not be read."""

Json = dict[str, Any]

PATIENT_SERVER = ServerSettings(completion_seconds=60)
"""A server whose completions are proposed on a machine of any speed."""


@asynccontextmanager
async def connected(gateway: Gateway) -> AsyncIterator[Client]:
    """Connect a client to a server of this gateway that answers in the reference shape, and close both."""
    async with gateway, Client(await build(gateway, "reference")) as client:
        yield client


async def asked(client: Client, tool: str, **arguments: Any) -> Json:
    """Call a tool and return its structured answer, which must be the same as its text."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text  # type: ignore[union-attr]  # the tools answer with one text
    assert not result.is_error, text
    assert json.loads(text) == result.structured_content
    return dict(result.structured_content or {})


def counts(answer: Mapping[str, Any]) -> tuple[int, int]:
    return answer["node_count"], answer["edge_count"]


def patient(profile: Profile) -> Profile:
    """Lift the time and size limits, which are not what these tests are about: machines of any speed run them."""
    return profile.model_copy(
        update={
            "limits": LimitSettings(deadline_seconds=120, schema_seconds=60, query_rows=profile.limits.query_rows),
            "size": SizeSettings(max_tokens=profile.size.max_tokens),
        }
    )
