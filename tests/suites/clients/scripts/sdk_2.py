import asyncio

from asked import ARGUMENTS, TARGET, TOOL, URL, report
from mcp import Client, StdioServerParameters


async def main():
    async with Client(URL or StdioServerParameters(command=TARGET[0], args=TARGET[1:])) as client:
        tools = (await client.list_tools()).tools
        answer = await client.call_tool(TOOL, ARGUMENTS)
        report([tool.name for tool in tools], answer.structured_content)


asyncio.run(main())
