import asyncio

from asked import ARGUMENTS, TARGET, TOOL, URL, report
from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main():
    async with Client(URL or StdioTransport(TARGET[0], TARGET[1:])) as client:
        tools = await client.list_tools()
        answer = await client.call_tool(TOOL, ARGUMENTS)
        report([tool.name for tool in tools], answer.structured_content)


asyncio.run(main())
