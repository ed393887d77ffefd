"""Keeps graph files on disk as a store: parsed once, opened at once, and parsed again when a file is another.

    DIR/<hash of the files' names>/graph/
        lock                  held while files are parsed
        progress              how far that is, for whoever waits
        manifest.json         what the current store was made of
        store-<random>/       an Oxigraph store; no one writes to it once a manifest names it
        store-<random>.lock   held, with others, by each process that reads the store
        derived-<random>/     what was made of that store: label indexes and schemas; removed with it

A store is used only where its manifest proves it current; whatever else is found there is made anew.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import shutil
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import IO

import msgspec
import portalocker
import pyoxigraph

from gateway.errors import ConfigurationError
from gateway.escaping import in_json
from gateway.settings.bounded_read import read_at_most
from gateway.settings.files import FileSettings
from gateway.settings.storage import check_private, make_private
from gateway.transport.files.fingerprint import Fingerprint
from gateway.transport.files.loading import Content, LoadedGraph, check_files, fill
from gateway.transport.files.parser_process import Progress

_log = logging.getLogger(__name__)

_FORMAT = 1
"""Raised whenever the same files would be loaded into another store."""

_DIGITS = 16
_STORE = "store-"
_DERIVED = "derived-"
_LOCK = ".lock"
_POLL_SECONDS = 0.2
_LARGEST = 64 << 20
"""Bytes of a manifest that are read."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file that a store was made of.

    Attributes:
        name: Its path, as its owner calls it.
        address: Where that leads, which relative IRIs depend on.
        fingerprint: What it was.
        prefixes: What it declares.
    """

    name: str
    address: str
    fingerprint: Fingerprint
    prefixes: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Manifest:
    """What a store was made of.

    Attributes:
        files: In the order given.
        version: As `LoadedGraph` has it.
        store: The name of the store's folder.
        parts: The files in that folder.
        format: Of this manifest, and of what is in the store.
        engine: The version of pyoxigraph, whose store it is.
    """

    files: tuple[_File, ...]
    version: str
    store: str
    parts: dict[str, Fingerprint]
    format: int = _FORMAT
    engine: str = field(default_factory=lambda: version("pyoxigraph"))


def place_of(paths: Sequence[Path], directory: Path) -> Path:
    """Return the folder where things of one graph are kept, among those of other graphs; it need not exist."""
    names = "\0".join(str(path.absolute()) for path in paths)
    return directory / hashlib.sha256(os.fsencode(names)).hexdigest()[:_DIGITS]


def open_kept(
    paths: Sequence[Path], directory: Path, progress: Progress | None = None, limits: FileSettings | None = None
) -> LoadedGraph:
    """Open the store of graph files that is kept on disk, and make it first where there is none that is current.

    Several processes may do so at once: one parses, the others wait for it.

    Args:
        paths: As `load_files` takes them.
        directory: Where stores are kept.
        progress: Told while files are parsed, here or by another process; what it raises ends the load.
        limits: As `load_files` takes them.

    Raises:
        ConfigurationError: A file cannot be read or is no graph, nothing can be kept in the directory, or another user
            may write to it.
    """
    check_files(paths)
    folder = place_of(paths, directory)
    check_private(directory, folder, folder / "graph")
    place = _Place(paths, folder / "graph", limits or FileSettings())
    try:
        return place.current() or place.renewed(progress)
    except (OSError, RuntimeError) as error:
        # What the engine's store says of a disk that is full or broken.
        reason = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise ConfigurationError(
            f"The graph cannot be kept in {directory}: {reason}.",
            next_step="Make room there, or give another folder with --store.",
        ) from error


class _Lease:
    """A shared lock of a file, which ends with the last name that holds it.

    Args:
        path: The file; its owner waits for no one, and no one waits for its owner.
    """

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        self.end = weakref.finalize(self, os.close, descriptor)
        self.is_good = _locked(descriptor, portalocker.LockFlags.SHARED)


class _Place:
    """The folder of one graph's store."""

    def __init__(self, paths: Sequence[Path], folder: Path, limits: FileSettings) -> None:
        self._paths = paths
        self._limits = limits
        self._folder = folder
        self._judged: _Manifest | None = None
        self._complained = False

    def current(self) -> LoadedGraph | None:
        """Open the store that is there, if it is proved to be current."""
        while (manifest := self._manifest()) is not None:
            lease = self._lease(manifest.store)
            # A store is removed only after another one was named, and never while somebody has a lease of it.
            graph = None
            if is_still_there := self._manifest() == manifest:
                self._judged = manifest
                graph = self._opened(manifest, lease) if self._is_current(manifest) else None
            if graph is None and lease is not None:
                lease.end()
            if is_still_there:
                return graph
        return None

    def renewed(self, progress: Progress | None) -> LoadedGraph:
        """Parse the files into a store, or open what another process has parsed meanwhile."""
        make_private(self._folder)
        with (self._folder / "lock").open("ab") as lock:
            self._wait_for(lock, progress)
            if self._manifest() != self._judged and (graph := self.current()) is not None:
                return graph
            manifest = self._make(progress)
            graph = self._opened(manifest, self._lease(manifest.store))
            self._remove_others(manifest.store)
        if graph is None:
            raise OSError("what was written there is not what is read there")
        return graph

    def _manifest(self) -> _Manifest | None:
        """Read the manifest; None where there is none that tells about these files."""
        try:
            text = read_at_most(self._folder / "manifest.json", _LARGEST)
            manifest = msgspec.json.decode(text, type=_Manifest)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            self._complain(error)
            return None
        made_alike = manifest.format == _FORMAT and manifest.engine == version("pyoxigraph")
        names = tuple(str(path.absolute()) for path in self._paths)
        return manifest if made_alike and tuple(file.name for file in manifest.files) == names else None

    def _complain(self, reason: object) -> None:
        if not self._complained:
            _log.warning("what is kept in %s is damaged and is made anew: %s", self._folder, reason)
        self._complained = True

    def _lease(self, store: str) -> _Lease | None:
        """Keep others from removing a store; None where it is gone."""
        try:
            lease = _Lease(self._folder / (store + _LOCK))
        except OSError:
            return None
        if lease.is_good:
            return lease
        lease.end()
        return None

    def _is_current(self, manifest: _Manifest) -> bool:
        """Find out whether a store was made of these files as they are now."""
        files: list[_File] = []
        for path, file in zip(self._paths, manifest.files, strict=True):
            fingerprint = file.fingerprint.now(path)
            if fingerprint is None or str(path.resolve()) != file.address:
                _log.info("%s has changed since it was kept", path)
                return False
            files.append(replace(file, fingerprint=fingerprint))
        self._update(manifest, replace(manifest, files=tuple(files)))
        return True

    def _opened(self, manifest: _Manifest, lease: _Lease | None) -> LoadedGraph | None:
        """Open a store whose files are all there and unchanged."""
        folder = self._folder / manifest.store
        try:
            parts = {path.name: _found(path, manifest.parts) for path in folder.iterdir()}
            if lease is None or None in parts.values() or parts.keys() != manifest.parts.keys():
                self._complain("a file of the store is missing, or another")
                return None
            engine = pyoxigraph.Store.read_only(str(folder))
        except (OSError, RuntimeError) as error:
            self._complain(error)
            return None
        prefixes = [(path.name, file.prefixes) for path, file in zip(self._paths, manifest.files, strict=True)]
        return LoadedGraph(engine, prefixes, manifest.version, lease, self._derived(manifest.store))

    def _update(self, before: _Manifest, after: _Manifest) -> None:
        """Note new times of unchanged files, so that they are not read again; another time will do as well."""
        if after == before:
            return
        with suppress(OSError), (self._folder / "lock").open("ab") as lock:
            if _locked(lock, portalocker.LockFlags.EXCLUSIVE) and self._manifest() == before:
                self._write(after)

    def _wait_for(self, lock: IO[bytes], progress: Progress | None) -> None:
        if _locked(lock, portalocker.LockFlags.EXCLUSIVE):
            return
        _log.warning("another process is loading the same graph; waiting for it")
        while not _locked(lock, portalocker.LockFlags.EXCLUSIVE):
            self._pass_on(progress)
            time.sleep(_POLL_SECONDS)

    def _pass_on(self, progress: Progress | None) -> None:
        """Tell how far the other process is."""
        if progress is None:
            return
        try:
            position, read, size = map(int, read_at_most(self._folder / "progress", _DIGITS * 10).split())
            path = self._paths[position]
        except (OSError, ValueError, IndexError):
            path, read, size = self._paths[0], 0, self._paths[0].stat().st_size
        progress(path, read, size)

    def _make(self, progress: Progress | None) -> _Manifest:
        """Parse the files into a new store, and name it in the manifest."""
        folder = self._folder / f"{_STORE}{secrets.token_hex(_DIGITS // 2)}"
        noted = self._folder / "progress"

        def note(path: Path, read: int, size: int) -> None:
            noted.write_text(f"{self._paths.index(path)} {read} {size}", encoding="ascii")
            if progress is not None:
                progress(path, read, size)

        try:
            (self._folder / (folder.name + _LOCK)).touch()
            content = _filled(folder, self._paths, note, self._limits)
            parts = {path.name: _settled(path) for path in folder.iterdir()}
            manifest = _Manifest(self._files(content), content.version, folder.name, parts)
            self._write(manifest)
        except BaseException:
            self._remove(folder.name)
            raise
        finally:
            noted.unlink(missing_ok=True)
        return manifest

    def _files(self, content: Content) -> tuple[_File, ...]:
        return tuple(
            _File(str(path.absolute()), str(path.resolve()), fingerprint, prefixes)
            for path, fingerprint, (_, prefixes) in zip(self._paths, content.sources, content.prefixes, strict=True)
        )

    def _write(self, manifest: _Manifest) -> None:
        """Put a whole manifest in the place of the one before."""
        new = self._folder / "manifest.new"
        with new.open("wb") as file:
            file.write(in_json(msgspec.json.encode(manifest).decode()).encode())
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._folder / "manifest.json")

    def _remove_others(self, named: str) -> None:
        """Remove stores that the manifest does not name and that no process reads."""
        stores = {path.name.removesuffix(_LOCK) for path in self._folder.glob(f"{_STORE}*")}
        for store in stores - {named}:
            try:
                with (self._folder / (store + _LOCK)).open("ab") as lock:
                    unused = _locked(lock, portalocker.LockFlags.EXCLUSIVE)
                    if unused:
                        self._remove(store)
            except OSError as error:
                _log.info("%s stays: %s", store, error)

    def _derived(self, store: str) -> Path:
        return self._folder / (_DERIVED + store.removeprefix(_STORE))

    def _remove(self, store: str) -> None:
        shutil.rmtree(self._derived(store), ignore_errors=True)
        shutil.rmtree(self._folder / store, ignore_errors=True)
        if not (self._folder / store).exists():
            with suppress(OSError):
                (self._folder / (store + _LOCK)).unlink(missing_ok=True)


def _filled(folder: Path, paths: Sequence[Path], progress: Progress, limits: FileSettings) -> Content:
    """Make a store; it is closed when this returns, because no name holds it."""
    engine = pyoxigraph.Store(str(folder))
    content = fill(engine, paths, progress, limits)
    engine.flush()
    return content


def _settled(path: Path) -> Fingerprint:
    """Have a file written to the disk itself, and return what it is from now on."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())
    return Fingerprint.read(path, ours=True)


def _found(path: Path, expected: dict[str, Fingerprint]) -> Fingerprint | None:
    fingerprint = expected.get(path.name)
    return None if fingerprint is None else fingerprint.now(path)


def _locked(file: IO[bytes] | int, how: portalocker.LockFlags) -> bool:
    """Lock a file until it is closed; return whether nobody else had it."""
    try:
        portalocker.lock(file, how | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.AlreadyLocked:
        return False
    except portalocker.LockException as error:
        raise OSError(f"a file cannot be locked: {error}") from error
    return True
