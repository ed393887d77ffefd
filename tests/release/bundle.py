"""The bundle for Claude Desktop and other hosts of MCPB: the program's sources, which the host installs with uv."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from tests.release.version import MANIFEST, ROOT, project_version
from tests.suites.packages import script

_MCPB: Final = "@anthropic-ai/mcpb/dist/cli/cli.js"
_TIMEOUT_S: Final = 120
_FILES: Final = ("pyproject.toml", "README.md", "LICENSE")
_FOLDERS: Final = ("gateway", "queries", "config", "fixtures")
_NOT_NEEDED: Final = ("__pycache__", "src", "tests", "node_modules", "package*.json", "*.ts")


def build(target: Path) -> Path:
    """Write the bundle into a folder and return its file.

    Raises:
        ServerUnavailable: npm is absent or could not fetch the packer.
        CalledProcessError: The packer refuses the manifest.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "bundle"
        fill(folder)
        bundle = target / f"bfsql-gateway-{project_version()}.mcpb"
        _mcpb("validate", folder / "manifest.json")
        _mcpb("pack", folder, bundle)
    return bundle


def fill(folder: Path) -> None:
    """Write what the bundle holds into a new folder."""
    folder.mkdir()
    for name in _FILES:
        shutil.copy(ROOT / name, folder)
    for name in _FOLDERS:
        # The explorer page is needed as built alone.
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*_NOT_NEEDED))
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _mcpb(*arguments: str | Path) -> None:
    command = [*map(str, script(_MCPB)), *map(str, arguments)]
    # Node and the packer that the lock file names by their hashes.
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=_TIMEOUT_S)  # noqa: S603
