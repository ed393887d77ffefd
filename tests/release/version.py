"""The version of the project, and the files that repeat it."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

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
