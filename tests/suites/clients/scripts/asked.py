"""What every client asks, and what it prints: run with a URL, or with the command of a server over stdio."""

import json
import sys

TOOL = "bfs_query"
ARGUMENTS = {"seeds": ["drug:warfarin"], "max_hops": 1}

TARGET = sys.argv[1:]
URL = TARGET[0] if TARGET[0].startswith("http") else None


def report(tools, answer) -> None:
    """Print the names of the tools and what the answer, an object or its JSON, says of its size."""
    read = json.loads(answer) if isinstance(answer, str) else answer
    sys.stdout.write(
        json.dumps({"tools": list(tools), "nodes": read["node_count"], "complete": read["complete"]}) + "\n"
    )
