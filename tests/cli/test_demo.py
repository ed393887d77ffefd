import subprocess
import sys

import pytest

from gateway.arguments import BY_TOOL


@pytest.mark.server
def test_the_demo_plays_every_tool_over_mcp_and_shows_its_answers() -> None:
    played = subprocess.run(
        [sys.executable, "-m", "gateway", "demo"], capture_output=True, text=True, timeout=120, check=True
    )
    for tool in BY_TOOL.keys() - {"describe_entity"}:
        assert f"{tool}(" in played.stdout
    assert "INTERACTS_WITH \u2192 drug:aspirin" in played.stdout
    assert "6 nodes, 9 edges, complete" in played.stdout
    assert "Traceback" not in played.stderr
