import asyncio

from asked import ARGUMENTS, TARGET, TOOL, URL, report
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def main():
    stdio = StdioServerParameters(command=TARGET[0], args=TARGET[1:])
    async with (
        streamablehttp_client(URL) if URL else stdio_client(stdio) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        tools = (await session.list_tools()).tools
        answer = await session.call_tool(TOOL, ARGUMENTS)
        report([tool.name for tool in tools], answer.structuredContent)


asyncio.run(main())
