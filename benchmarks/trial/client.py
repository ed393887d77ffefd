"""A client for one question, for the shell: `client.py URL` lists the tools, `client.py URL TOOL JSON` calls.

It needs nothing but the package `mcp`, so that it can be copied out of this repository.
"""

from __future__ import annotations

import asyncio
import json
import sys

from mcp import Client


async def _main(url: str, tool: str = "", arguments: str = "{}") -> int:
    async with Client(url) as client:
        if tool:
            result = await client.call_tool(tool, json.loads(arguments))
            print("".join(getattr(part, "text", "") for part in result.content))  # noqa: T201 - a command's output
            return int(bool(result.is_error))
        if client.instructions:
            print(client.instructions)  # noqa: T201
        for found in (await client.list_tools()).tools:
            shown = found.model_dump(include={"name", "description", "input_schema"}, exclude_none=True)
            print(json.dumps(shown, ensure_ascii=False))  # noqa: T201
        return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_main(*sys.argv[1:4])))
