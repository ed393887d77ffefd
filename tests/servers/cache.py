"""The folder `.servers/` of the checkout: fetched jars and loaded databases, shared by processes."""

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).resolve().parents[2]
CACHE: Final = CHECKOUT / ".servers"

_BLOCK: Final = 1 << 16
_ZEROS: Final = bytes(_BLOCK)


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the named lock of a folder; another process, or thread, that asks for it waits.

    The operating system drops the lock when its holder dies, so no lock goes stale.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def kept(key: str, fill: Callable[[Path], None]) -> Path:
    """Return a folder of `.servers/data/`, filled once by whoever asks for it first, or not at all."""
    folder = CACHE / "data" / key
    if not folder.exists():
        with locked(folder.parent, "load"):
            if not folder.exists():
                with tempfile.TemporaryDirectory(dir=folder.parent, prefix="load-") as scratch:
                    content = Path(scratch) / "content"
                    content.mkdir()
                    fill(content)
                    content.rename(folder)
    return folder


def fingerprint(loader: bytes, graphs: Mapping[str, Sequence[Path]]) -> str:
    """Return a hash of what decides the content of a database: how it is loaded, and the files of each graph."""
    digest = hashlib.sha256(loader)
    for name, files in graphs.items():
        digest.update(f"\n{name}".encode())
        for file in files:
            with file.open("rb") as content:
                digest.update(f"\n{file.suffixes} ".encode() + hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()[:24]


def copy_sparsely(source: Path, target: Path) -> None:
    """Copy a folder, leaving blocks of zeros as holes and lock files behind.

    A TDB2 database is some thirty files of 8 MB, nearly all of it holes.
    """
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir(parents=True)
        elif path.suffix != ".lock":
            copy.parent.mkdir(parents=True, exist_ok=True)
            _copy_file(path, copy)


@contextmanager
def private_copy(database: Path, folder: Path) -> Iterator[None]:
    """Keep a copy of a database in a new folder for as long as the block runs: a server writes to its own."""
    folder.mkdir()
    try:
        copy_sparsely(database, folder)
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb", buffering=0) as reader, target.open("wb", buffering=0) as writer:
        size = 0
        while block := reader.read(_BLOCK):
            if block != _ZEROS:
                writer.seek(size)
                writer.write(block)
            size += len(block)
        writer.truncate(size)
