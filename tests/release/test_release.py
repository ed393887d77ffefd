"""What a release publishes is whole, says one version, and runs."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest

from gateway import PROGRAM
from gateway.cli.main import _command
from gateway.server.tools import STORED
from tests.release.files import CONTAINERFILE, MANIFEST, ROOT, build_bundle, project_version, registry_entry, repeated
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

WORKFLOW: Final = ROOT / ".github" / "workflows" / "release.yml"
LONGEST_DESCRIPTION: Final = 100
"""Characters that the MCP registry takes."""


def test_every_file_says_the_version_of_the_project() -> None:
    versions = repeated()
    assert {"manifest.json", "CHANGELOG.md", "Containerfile", "compose.yaml", "sidecar.yaml"} <= set(versions)
    assert {name: found for name, found in versions.items() if found - {project_version()}} == {}
    assert [name for name, found in versions.items() if not found and name.endswith((".json", "file", ".md"))] == []


def test_the_manifest_names_the_tools_and_a_command_of_the_program() -> None:
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    assert [tool["name"] for tool in manifest["tools"]] == list(json.loads(STORED.read_text(encoding="utf-8")))
    arguments = manifest["server"]["mcp_config"]["args"]
    program, command, *options = arguments[arguments.index(PROGRAM) :]
    assert (program, command in _command().commands) == (PROGRAM, True)
    known = {option for parameter in _command().commands[command].params for option in parameter.opts}
    assert set(options) <= known
    settings = set(re.findall(r"user_config\.(\w+)", json.dumps(manifest["server"])))
    assert settings == set(manifest["user_config"])


def test_the_entry_of_the_registry_has_what_its_schema_wants(tmp_path: Path) -> None:
    file = tmp_path / "x.mcpb"
    file.write_bytes(b"x")
    entry = registry_entry("Example/bfsql-gateway", file)
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["description"]) <= LONGEST_DESCRIPTION
    assert {package["registryType"] for package in entry["packages"]} == {"pypi", "oci", "mcpb"}
    assert all(package["transport"] == {"type": "stdio"} for package in entry["packages"])
    assert re.fullmatch(r"[0-9a-f]{64}", entry["packages"][2]["fileSha256"])
    assert entry["packages"][1]["identifier"] == f"ghcr.io/example/bfsql-gateway:{project_version()}"
    arguments = [argument["value"] for argument in entry["packages"][0]["packageArguments"]]
    assert arguments[0] in _command().commands


@pytest.mark.server
def test_the_bundle_holds_a_program_that_runs(tmp_path: Path) -> None:
    try:
        file = build_bundle(tmp_path)
    except ServerUnavailable as error:
        skip_or_fail(error)
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(file) as packed:
        packed.extractall(folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert (folder / manifest["server"]["entry_point"]).is_file()
    code = "import gateway.resources as r; print(r.explorer_page().is_file(), r.folder('queries'))"
    assert ran([sys.executable, "-c", code], folder).split() == ["True", str(folder / "queries")]
    assert "drug:warfarin" in ran([sys.executable, "-m", "gateway", "search", "warfarin"], folder)


@pytest.mark.server
def test_the_steps_of_the_container_file_have_all_that_a_wheel_needs(tmp_path: Path) -> None:
    wanted, found = tmp_path / "wanted", tmp_path / "found"
    context = tmp_path / "src"
    context.mkdir()
    for line in re.findall(r"^COPY (?!--from)(.+)$", CONTAINERFILE.read_text(encoding="utf-8"), re.MULTILINE):
        *sources, target = line.split()
        for source in sources:
            place = context / (target if target != "./" else source)
            (place.symlink_to if (ROOT / source).is_dir() else place.hardlink_to)(ROOT / source)
    for folder, target in ((ROOT, wanted), (context, found)):
        ran([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)], folder)
    names = [zipfile.ZipFile(next(place.glob("*.whl"))).namelist() for place in (wanted, found)]
    assert sorted(names[0]) == sorted(names[1])


def test_the_release_workflow_fits_its_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(WORKFLOW)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - a tool of the lock
    assert done.returncode == 0, done.stdout


def test_the_release_workflow_publishes_nothing_without_a_tag() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    publish = text[text.index("\n  publish:") :]
    assert "if: github.ref_type == 'tag'" in publish.split("steps:")[0]
    assert "push: ${{ github.ref_type == 'tag' }}" in text
    assert [
        word
        for word in ("gh-action-pypi-publish", "mcp-publisher publish", "gh release create")
        if word in text[: -len(publish)]
    ] == []


def ran(command: list[str], folder: Path) -> str:
    """Run a command in a folder as from a shell that knows nothing of the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(  # noqa: S603 - our own commands
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
