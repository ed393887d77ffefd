"""TDB2 databases with their text index, loaded once and kept for the next test session."""

import hashlib
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Final

from tests.servers.cache import CACHE, CHECKOUT, copy_sparsely, locked
from tests.servers.command import fuseki_command
from tests.servers.loaded import LoadError
from tests.servers.loopback import HOST, free_port, send
from tests.servers.process import running

TIMEOUTS: Final = '"10000,30000"'
PATIENT_TIMEOUTS: Final = '"120000,240000"'
TEMPLATE: Final = CHECKOUT / "deploy" / "fuseki" / "config.ttl.template"

_TYPES: Final = {
    ".ttl": "text/turtle",
    ".nt": "application/n-triples",
    ".rdf": "application/rdf+xml",
    ".jsonld": "application/ld+json",
    ".trig": "application/trig",
    ".nq": "application/n-quads",
}
_OF_SEVERAL_GRAPHS: Final = frozenset({".trig", ".nq"})
"""Files that say which graph each triple is in."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_LOAD_TIMEOUT_S: Final = 600.0


def configuration(directories: Mapping[str, Path]) -> str:
    """Return Fuseki's configuration for these datasets, each in its folder.

    Raises:
        ValueError: a dataset's name would not do in a URL.
    """
    # The server shares this machine with the tests that wait for it: what is slow here is no fault of a query.
    template = Template(TEMPLATE.read_text(encoding="utf-8").replace(TIMEOUTS, PATIENT_TIMEOUTS))
    for name in directories:
        if not _NAME.fullmatch(name):
            raise ValueError(f"dataset name {name!r}: letters, digits, _ and - only")
    return "\n".join(
        template.substitute(name=name, directory=directory.resolve().as_posix())
        for name, directory in directories.items()
    )


def place_databases(datasets: Mapping[str, Sequence[Path]], *, version: str, folder: Path) -> dict[str, Path]:
    """Put a private copy of each dataset's database into the folder, loading those not loaded yet.

    A server needs its own copy because only one process may have a TDB2 database open.

    Raises:
        ServerUnavailable: there is no Java or no jar to load with.
        ServerStartError: the loading server did not start.
        LoadError: a file was refused.
    """
    kept = {name: CACHE / "data" / _key(files, version) for name, files in datasets.items()}
    if any(not database.exists() for database in kept.values()):
        with locked(CACHE / "data", "load"):
            missing = {name: database for name, database in kept.items() if not database.exists()}
            if missing:
                _load({name: datasets[name] for name in missing}, missing, version)
    placed = {name: folder / name for name in datasets}
    for name, database in kept.items():
        copy_sparsely(database, placed[name])
    return placed


def _key(files: Iterable[Path], version: str) -> str:
    """Return the name of a database: a hash of all that decides its content."""
    digest = hashlib.sha256(f"{version}\n".encode() + TEMPLATE.read_bytes())
    for file in files:
        _media_type(file)
        with file.open("rb") as content:
            digest.update(f"\n{file.suffixes} ".encode() + hashlib.file_digest(content, "sha256").digest())
    return f"{version}-{digest.hexdigest()[:24]}"


def _load(datasets: Mapping[str, Sequence[Path]], targets: Mapping[str, Path], version: str) -> None:
    """Load all datasets through one server that has an upload endpoint for as long as this takes.

    Uploading into the text dataset fills the database and its index in one go; the offline loader
    and indexer would be two more Java starts for each dataset.
    """
    with tempfile.TemporaryDirectory(dir=CACHE / "data", prefix="load-") as scratch:
        folder = Path(scratch)
        directories = {name: folder / name for name in datasets}
        for directory in directories.values():
            (directory / "tdb2").mkdir(parents=True)
        uploads = "\n".join(
            f'<#{name}-service> fuseki:endpoint [ fuseki:operation fuseki:gsp-rw ; fuseki:name "load" ] .'
            for name in datasets
        )
        config = folder / "config.ttl"
        config.write_text(f"{configuration(directories)}\n{uploads}\n", encoding="utf-8")
        port = free_port()
        base = f"http://{HOST}:{port}"
        command = fuseki_command(version, port=port, config=config)
        with running(command, ready_url=f"{base}/$/ping", log=folder / "load.log", cwd=folder):
            for name, files in datasets.items():
                for file in files:
                    _upload(file, f"{base}/{name}/load{'' if _suffix(file) in _OF_SEVERAL_GRAPHS else '?default'}")
        for name, target in targets.items():
            # Two datasets of the same content have the same target.
            if not target.exists():
                directories[name].rename(target)


def _upload(file: Path, url: str) -> None:
    headers = {"Content-Type": _media_type(file), "Content-Length": str(file.stat().st_size)}
    if file.suffix == ".gz":
        headers["Content-Encoding"] = "gzip"
    with file.open("rb") as body:
        answer = send("POST", url, body=body, headers=headers, timeout_s=_LOAD_TIMEOUT_S)
    if answer.status not in {200, 201, 204}:
        raise LoadError(f"{file.name}: {answer.status} {answer.text.strip()}")


def _media_type(file: Path) -> str:
    suffix = _suffix(file)
    if suffix not in _TYPES:
        raise LoadError(f"{file.name}: a graph file ends in {', '.join(_TYPES)}, or in that and .gz")
    return _TYPES[suffix]


def _suffix(file: Path) -> str:
    return Path(file.stem).suffix if file.suffix == ".gz" else file.suffix
