import asyncio

from asked import ARGUMENTS, TARGET, TOOL, URL, report
from langchain_mcp_adapters.client import MultiServerMCPClient

HTTP = {"transport": "streamable_http", "url": URL}
STDIO = {"transport": "stdio", "command": TARGET[0], "args": TARGET[1:]}


async def main():
    tools = await MultiServerMCPClient({"graph": HTTP if URL else STDIO}).get_tools()
    (tool,) = (each for each in tools if each.name == TOOL)
    (content,) = await tool.ainvoke(ARGUMENTS)
    report([each.name for each in tools], content["text"])


asyncio.run(main())
