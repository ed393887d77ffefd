from asked import ARGUMENTS, TARGET, TOOL, URL, report
from mcp import StdioServerParameters
from smolagents import MCPClient

HTTP = {"url": URL, "transport": "streamable-http"}

with MCPClient(
    HTTP if URL else StdioServerParameters(command=TARGET[0], args=TARGET[1:]), structured_output=True
) as tools:
    (tool,) = (each for each in tools if each.name == TOOL)
    report([each.name for each in tools], tool(**ARGUMENTS))
