"""The entry of the MCP registry, `server.json` (its schema of 2025-12-11)."""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from tests.release.version import project_version

_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_DESCRIPTION: Final = (
    "Explore any RDF graph: a Turtle file, a SPARQL endpoint, or Wikidata. Read-only; no SPARQL needed."
)


def entry(repository: str, bundle: Path) -> dict[str, Any]:
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


def write(repository: str, bundle: Path, target: Path) -> Path:
    """Write the entry into a folder and return its file."""
    file = target / "server.json"
    file.write_text(json.dumps(entry(repository, bundle), indent=2) + "\n", encoding="utf-8")
    return file
