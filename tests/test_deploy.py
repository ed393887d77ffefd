"""The files in `deploy/`: by the schemas of those who read them, and by what the gateway has."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest
import yaml

from gateway.cli.main import _command
from gateway.server.observe.observation import HEALTH, READINESS
from tests.servers.maven import FUSEKI

ROOT: Final = Path(__file__).resolve().parents[1]
DEPLOY: Final = ROOT / "deploy"
COMPOSE: Final = DEPLOY / "compose.yaml"
KUBERNETES: Final = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
UNITS: Final = sorted((DEPLOY / "systemd").glob("*.service"))
KUBERNETES_VERSION: Final = "1.37.0"
MOST_EXPOSED: Final = 1.5
"""The exposure of a unit by systemd's own count, from 0 to 10."""


def resources(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def pods(path: Path) -> Iterator[Mapping[str, Any]]:
    """Return the pods of the workloads in a file."""
    return (
        resource["spec"]["template"]["spec"] for resource in resources(path) if "template" in resource.get("spec", {})
    )


def test_compose_fits_its_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - a tool of the lock
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("path", KUBERNETES, ids=lambda path: path.name)
def test_kubernetes_takes_each_resource(path: Path) -> None:
    for resource in resources(path):
        kubernetes_validate.validate(resource, KUBERNETES_VERSION, strict=True)


@pytest.mark.parametrize("path", KUBERNETES, ids=lambda path: path.name)
def test_a_pod_has_no_more_rights_than_it_needs(path: Path) -> None:
    for pod in pods(path):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        for container in pod["containers"]:
            locked = container["securityContext"]
            assert (locked["readOnlyRootFilesystem"], locked["allowPrivilegeEscalation"]) == (True, False)
            assert locked["capabilities"] == {"drop": ["ALL"]}
            assert {"requests", "limits"} <= set(container["resources"])


@pytest.mark.parametrize("path", KUBERNETES, ids=lambda path: path.name)
def test_probes_ask_the_pages_of_operators_and_a_dead_endpoint_restarts_no_gateway(path: Path) -> None:
    for pod in pods(path):
        gateway = next(container for container in pod["containers"] if container["name"] == "gateway")
        port = next(each for each in gateway["ports"] if each["name"] == "operators")["containerPort"]
        assert f"--metrics-port={port}" in gateway["args"]
        asked = {name: gateway[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
        assert {name: page["path"] for name, page in asked.items()} == {
            "startupProbe": HEALTH,
            "livenessProbe": HEALTH,
            "readinessProbe": READINESS,
        }
        assert {page["port"] for page in asked.values()} == {"operators"}


@pytest.mark.parametrize("path", KUBERNETES, ids=lambda path: path.name)
def test_every_pod_is_behind_a_policy_for_both_directions(path: Path) -> None:
    policies = [each["spec"] for each in resources(path) if each["kind"] == "NetworkPolicy"]
    for policy in policies:
        assert policy["policyTypes"] == ["Ingress", "Egress"]
    workloads = [each["spec"]["selector"] for each in resources(path) if "template" in each.get("spec", {})]
    assert [policy["podSelector"] for policy in policies] == workloads


def commands() -> Iterator[tuple[str, list[str]]]:
    """Return the arguments of every gateway in these files."""
    yield COMPOSE.name, yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["gateway"]["command"]
    for path in KUBERNETES:
        for pod in pods(path):
            yield path.name, next(each["args"] for each in pod["containers"] if each["name"] == "gateway")
    for path in UNITS:
        line = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("ExecStart="))
        if "bfsql-gateway" in line:
            yield path.name, shlex.split(line.partition("=")[2])[1:]


@pytest.mark.parametrize(("name", "arguments"), list(commands()), ids=[name for name, _ in commands()])
def test_every_option_is_one_of_serve(name: str, arguments: list[str]) -> None:
    known = {option for parameter in _command().commands["serve"].params for option in parameter.opts}
    given = {argument.partition("=")[0] for argument in arguments if argument.startswith("--")}
    assert arguments[0] == "serve", name
    assert given <= known, name


def test_fuseki_is_the_one_that_the_tests_run() -> None:
    release = FUSEKI["6.2.0"]
    text = (DEPLOY / "fuseki" / "Containerfile").read_text(encoding="utf-8")
    assert (f"FUSEKI={release.version}" in text, f"SHA256={release.sha256}" in text) == (True, True)
    images = re.findall(
        r"bfsql-(?:fuseki|gateway):[\w.]+", "".join(path.read_text() for path in (COMPOSE, *KUBERNETES))
    )
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert set(images) == {f"bfsql-fuseki:{release.version}", f"bfsql-gateway:{version}"}


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_finds_nothing_wrong_with_a_unit_and_little_exposed(path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not on this machine")
    verified = subprocess.run(  # noqa: S603 - found on the PATH
        [program, "verify", str(path)], check=False, capture_output=True, text=True
    ).stderr.splitlines()
    assert [line for line in verified if path.name in line and "is not executable" not in line] == []
    exposed = subprocess.run(  # noqa: S603 - the same
        [program, "security", "--offline=true", "--no-pager", str(path)], check=True, capture_output=True, text=True
    ).stdout
    found = re.search(r"exposure level for \S+: ([\d.]+)", exposed)
    assert found is not None
    assert float(found[1]) <= MOST_EXPOSED
