"""The files of a release: the bundle for hosts of MCPB, the entry of the MCP registry, and the version they repeat."""

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.suites.packages import script

ROOT: Final = Path(__file__).resolve().parents[2]
MANIFEST: Final = ROOT / "deploy" / "mcpb" / "manifest.json"
CONTAINERFILE: Final = ROOT / "deploy" / "gateway" / "Containerfile"


def project_version() -> str:
    """Return the version that pyproject.toml says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version: str = project["version"]
    return version


def repeated() -> Mapping[str, set[str]]:
    """Return the versions of the gateway that other files say."""
    found = {"manifest.json": {json.loads(MANIFEST.read_text(encoding="utf-8"))["version"]}}
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found["CHANGELOG.md"] = set(re.findall(r"^## \[([^\]]+)\]", changelog, re.MULTILINE)[:1])
    for path in [CONTAINERFILE, ROOT / "deploy" / "README.md", *ROOT.glob("deploy/**/*.yaml")]:
        found[path.name] = set(re.findall(r"bfsql-gateway:([\w.]+)", path.read_text(encoding="utf-8")))
    return found


_MCPB: Final = "@anthropic-ai/mcpb/dist/cli/cli.js"
_TIMEOUT_S: Final = 120
_FILES: Final = ("pyproject.toml", "README.md", "LICENSE")
_FOLDERS: Final = ("gateway", "bfsql_gateway", "queries", "config", "fixtures")
_NOT_NEEDED: Final = ("__pycache__", "src", "tests", "node_modules", "package*.json", "*.ts")


def build_bundle(target: Path) -> Path:
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
    # Node and the packer that the lock file names by their hashes; where it misses something it asks for it.
    subprocess.run(  # noqa: S603
        command, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT_S
    )


_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_DESCRIPTION: Final = (
    "Explore any RDF graph: a Turtle file, a SPARQL endpoint, or Wikidata. Read-only; no SPARQL needed."
)


def registry_entry(repository: str, bundle: Path) -> dict[str, Any]:
    """Return the entry of this version.

    Args:
        repository: `OWNER/NAME` on GitHub: the owner is the namespace that the registry checks.
        bundle: The file of the bundle, for its hash.
    """
    version = project_version()
    owner, _, _ = repository.partition("/")
    url = f"https://github.com/{repository}"
    return {
        "$schema": _SCHEMA,
        "name": f"io.github.{owner}/bfsql-gateway",
        "title": "BFS-QL gateway",
        "description": _DESCRIPTION,
        "repository": {"url": url, "source": "github"},
        "version": version,
        "packages": [
            {
                "registryType": "pypi",
                "identifier": "bfsql-gateway",
                "version": version,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "serve"}],
                "environmentVariables": [
                    {"name": "BFSQL_GRAPH", "description": "An RDF file to serve.", "format": "filepath"},
                    {"name": "BFSQL_ENDPOINT", "description": "The URL of a SPARQL endpoint to serve instead."},
                    {"name": "BFSQL_PROFILE", "description": "The name of a built-in profile, such as wikidata."},
                    {"name": "BFSQL_CONTACT", "description": "Your e-mail address or URL, which Wikimedia requires."},
                ],
            },
            {
                "registryType": "oci",
                "identifier": f"ghcr.io/{owner.lower()}/bfsql-gateway:{version}",
                "transport": {"type": "stdio"},
            },
            {
                "registryType": "mcpb",
                "identifier": f"{url}/releases/download/v{version}/{bundle.name}",
                "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
                "transport": {"type": "stdio"},
            },
        ],
    }


def write_entry(repository: str, bundle: Path, target: Path) -> Path:
    """Write the entry into a folder and return its file."""
    file = target / "server.json"
    file.write_text(json.dumps(registry_entry(repository, bundle), indent=2) + "\n", encoding="utf-8")
    return file
