import asyncio

from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from asked import ARGUMENTS, TARGET, TOOL, URL, report


async def main():
    http = MCPServerStreamableHttp({"url": URL})
    stdio = MCPServerStdio({"command": TARGET[0], "args": TARGET[1:]})
    async with http if URL else stdio as server:
        tools = await server.list_tools()
        answer = await server.call_tool(TOOL, ARGUMENTS)
        report([tool.name for tool in tools], answer.content[0].text)


asyncio.run(main())
