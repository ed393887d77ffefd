import asyncio

from asked import ARGUMENTS, TARGET, TOOL, URL, report
from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset


async def main():
    async with MCPToolset(URL or StdioTransport(TARGET[0], TARGET[1:])) as toolset:
        tools = await toolset.list_tools()
        answer = await toolset.direct_call_tool(TOOL, ARGUMENTS)
        report([tool.name for tool in tools], answer)


asyncio.run(main())
