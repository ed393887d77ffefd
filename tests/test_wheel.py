"""The built wheel, installed outside the checkout, finds its queries, profiles and demo graph."""

import asyncio
import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

CHECKOUT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, install it into a new environment, and return that environment's folder of commands.

    The libraries come from the environment of the tests by a path file, which does not bring the editable install
    along: Python reads no path files in a folder that a path file names.
    """
    folder = tmp_path_factory.mktemp("wheel")
    ran([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], CHECKOUT)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=False)
    place = folder / "venv"
    python = place / "bin" / "python"
    libraries = Path(sysconfig.get_path("purelib", "venv", {"base": str(place), "installed_base": str(place)}))
    (libraries / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    ran([str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)], folder)
    return place / "bin"


def ran(command: Sequence[str], folder: Path) -> str:
    """Run a command in a folder, as from a shell that knows nothing of the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(  # noqa: S603 - our own commands
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_is_the_wheels_and_carries_its_resources(scripts: Path) -> None:
    code = "import gateway.resources as r; print(r.folder('queries'), r.folder('config'), r.demo_graph())"
    for path in ran([str(scripts / "python"), "-c", code], scripts).split():
        assert Path(path).is_relative_to(scripts.parent)
        assert "_resources" in path


def test_its_name_in_python_answers_on_its_own_demo_graph(scripts: Path) -> None:
    code = "import bfsql_gateway as b; g = b.open_gateway(); h = g.synchronous(); print(h.describe_schema().complete)"
    assert ran([str(scripts / "python"), "-c", f"{code}; h.close(); print(b.__file__)"], scripts).split()[0] == "True"
    packages = scripts.parent.rglob("bfsql_gateway/py.typed")
    assert len(list(packages)) == 1


def test_the_command_answers_on_its_own_demo_graph(scripts: Path) -> None:
    answer = json.loads(ran([str(scripts / "bfsql-gateway"), "bfs", "drug:warfarin", "--json"], scripts))
    assert (answer["node_count"], answer["edge_count"], answer["complete"]) == (16, 15, True)


def test_every_built_in_profile_is_there(scripts: Path) -> None:
    for profile in sorted(path.stem for path in (CHECKOUT / "config").glob("*.toml")):
        # Loaded, and not asked: some are of public endpoints.
        code = f"from gateway.settings.load import load_profile; print(load_profile({profile!r}).limits.batch)"
        assert int(ran([str(scripts / "python"), "-c", code], scripts)) > 0


def test_the_command_serves_over_stdio(scripts: Path) -> None:
    async def tools() -> list[str]:
        server = StdioServerParameters(command=str(scripts / "bfsql-gateway"), args=["serve"], cwd=scripts)
        async with Client(server) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert len(asyncio.run(tools())) == 6
