import asyncio

from asked import ARGUMENTS, TARGET, TOOL, report
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


async def main():
    client = BasicMCPClient(TARGET[0], args=TARGET[1:])
    tools = await McpToolSpec(client=client).to_tool_list_async()
    (tool,) = (each for each in tools if each.metadata.name == TOOL)
    answer = await tool.acall(**ARGUMENTS)
    report([each.metadata.name for each in tools], answer.raw_output.content[0].text)


asyncio.run(main())
