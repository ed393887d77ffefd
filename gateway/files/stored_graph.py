"""Stores parsed graph files on disk, under a name that says what is in it, and opens them read-only.

    DIR/<hash of the files' names, and of the policy>/graph/
        lock                       held while files are parsed
        progress                   how far the parser is, for processes that wait
        prefixes.jsonl             the prefixes that were coined for the graph, whatever the files say now
        hashes.json                size, times and hash of each file; unchanged files are not read again
        store-<key>-<random>/      one store; it gets this name when it is whole, and no one writes to it afterwards
            engine/                the Oxigraph store
            manifest.json          prefixes, version, and the fingerprints of the files in engine/
            derived/               label indexes and schemas made of this store
        store-<key>-<random>.lock  held, with others, by each process that reads the store

The key is a hash of the files' content and addresses, of this format and of the engine's version. A store with the
right key is therefore current; everything else in the folder is out of date and is removed when no process reads it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import IO, TypeVar

import msgspec
import pyoxigraph

from gateway.errors import ConfigurationError
from gateway.escaping import in_json
from gateway.files.blank_nodes import BY_RDF_TYPE, BlankTypes
from gateway.files.graph_files import GraphFiles
from gateway.files.loading import LoadedGraph, check_files, contexts_of, fill, log_skips
from gateway.files.parser_process import Progress
from gateway.files.store_files import (
    GRAPH,
    LOCK,
    PARSING,
    STORE,
    UNFINISHED,
    Fingerprint,
    lock_of,
    locked,
    note_use,
    remove,
    remove_unfinished,
)
from gateway.settings.files import FileSettings
from gateway.settings.hidden import Policy
from gateway.settings.storage import check_private, make_private, read_at_most

_log = logging.getLogger(__name__)

_FORMAT = 8
"""Raised whenever the same files would be loaded into another store."""

_DIGITS = 16
"""Hexadecimal digits of a hash or a nonce in a name: 64 bits tell stores apart."""

_POLL_SECONDS = 0.2
"""Time between two looks at the lock and the progress of the process that holds it."""

_LARGEST = 64 << 20
"""Bytes of a JSON file that are read."""

_Content = TypeVar("_Content")


@dataclass(frozen=True, slots=True)
class _Manifest:
    """What a store holds: what each file declares, the version of the content, and the files of the engine.

    It also says what was left out because it is not valid, and whether the store has the very triples of the files.
    """

    prefixes: tuple[dict[str, str], ...]
    version: str
    parts: dict[str, Fingerprint]
    skipped: int = 0
    shown_skips: tuple[str, ...] = ()
    is_as_given: bool = False


def folder_of(
    paths: Sequence[Path], directory: Path, policy: Policy | None = None, *, is_as_given: bool = False
) -> Path:
    """Return the folder of one list of files under one policy, among those of others; it need not exist.

    Stores of the very triples of the files are in another one: a folder has one store.
    """
    names = "\0".join(str(path.absolute()) for path in paths)
    if policy is not None:
        # No path is empty, so no list of files has this name.
        names += f"\0\0{policy.digest}"
    if is_as_given:
        names += "\0\0as given"
    return directory / hashlib.sha256(os.fsencode(names)).hexdigest()[:_DIGITS]


class NotStoredError(ConfigurationError):
    """A graph cannot be stored, whatever its files say."""


def open_stored(
    paths: Sequence[Path],
    directory: Path,
    progress: Progress | None = None,
    limits: FileSettings | None = None,
    policy: Policy | None = None,
    *,
    blank_types: BlankTypes = BY_RDF_TYPE,
    is_cache: bool = False,
    is_as_given: bool = False,
) -> LoadedGraph:
    """Open the store of graph files, and make it first where there is none that is current.

    Several processes may do so at once: one parses, the others wait for it.

    Args:
        paths: As `load_files` takes them.
        directory: Where stores are.
        progress: Receives each step of the parsing, here or in another process; what it raises ends the load.
        limits: As `load_files` takes them.
        policy: As `load_files` takes it; graphs under other policies have other folders.
        blank_types: As `load_files` takes it.
        is_cache: Whether nobody asked for the store: what is damaged is replaced in silence, and a graph that is
            parsed here is in memory too, where it is queried.
        is_as_given: Whether the store has to have the very triples of the files, whatever `blank_types` says.

    Raises:
        ConfigurationError: A file cannot be read or is no graph.
        NotStoredError: The directory cannot be written to, or another user may write to it.
    """
    check_files(paths)
    usual = folder_of(paths, directory, policy)
    folder = folder_of(paths, directory, policy, is_as_given=True) if is_as_given else usual
    try:
        check_private(directory, usual, folder, folder / GRAPH)
    except ConfigurationError as error:
        raise NotStoredError(error.wrong, valid=error.valid, next_step=error.next_step) from error
    remove_unfinished(directory)
    limits = limits or FileSettings()
    kept_types = None if is_as_given else blank_types
    stores = _Stores(paths, folder / GRAPH, limits, policy, blank_types=kept_types, is_cache=is_cache)
    try:
        if is_as_given:
            # Most large graphs have neither blank nodes nor lists, and then the usual store will do.
            others = _Stores(paths, usual / GRAPH, limits, policy, blank_types=blank_types, is_cache=is_cache)
            if (graph := others.current(is_as_given=True)) is not None:
                return graph
        return stores.current() or stores.made(progress)
    except (OSError, RuntimeError) as error:
        # Oxigraph raises these where a disk is full or broken.
        reason = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise NotStoredError(
            f"The graph cannot be stored in {directory}: {reason}.",
            next_step="Make room there, or give another folder with --store.",
        ) from error


class _Lease:
    """A shared lock of a file, which ends with the last name that holds it.

    Raises:
        OSError: The file is gone, or its owner has it alone.
    """

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        self.end = weakref.finalize(self, os.close, descriptor)
        is_locked = locked(descriptor, shared=True)
        # A lock of a file that was replaced meanwhile keeps nobody from removing the store.
        if not is_locked or not os.path.samestat(os.fstat(descriptor), path.stat()):
            raise OSError("the lock of the store is lost")


class _Stores:
    """The folder of the stores of one list of files."""

    def __init__(
        self,
        paths: Sequence[Path],
        folder: Path,
        limits: FileSettings,
        policy: Policy | None,
        *,
        blank_types: BlankTypes,
        is_cache: bool,
    ) -> None:
        self._paths = paths
        self._is_cache = is_cache
        self._limits = limits
        self._policy = policy
        self._blank_types = blank_types
        self._folder = folder
        self._complained = False
        self._are_unchanged = False
        # Who parses says what is left out.
        self._tells_skips = True

    def current(self, *, is_as_given: bool = False) -> LoadedGraph | None:
        """Open a store that holds what the files hold now, or only one that says that it has their very triples."""
        # A pipe can be read once only, by its parser.
        if not any(self._folder.glob(f"{STORE}*")) or any(path.is_fifo() for path in self._paths):
            return None
        for store in self._folder.glob(f"{STORE}{self._key(self._fingerprints())}-*"):
            if store.suffix == LOCK:
                continue
            if is_as_given and not self._is_as_given(store):
                continue
            if (graph := self._opened(store)) is not None:
                return graph
        return None

    def _is_as_given(self, store: Path) -> bool:
        manifest = self._read(store / "manifest.json", _Manifest)
        return manifest is not None and manifest.is_as_given

    def made(self, progress: Progress | None) -> LoadedGraph:
        """Parse the files into a store, or open what another process has parsed meanwhile."""
        make_private(self._folder)
        with (self._folder / PARSING).open("ab") as lock:
            self._wait_for(lock, progress)
            if (graph := self.current()) is not None:
                return graph
            if self._are_unchanged and not self._complained and any(self._folder.glob(f"{STORE}*")):
                level = logging.INFO if self._is_cache else logging.WARNING
                _log.log(level, "what is stored in %s is of another version or setting, and is made anew", self._folder)
            # Who holds this lock makes the only store, so what is unfinished is of a process that was killed.
            for left in self._folder.glob(f"{UNFINISHED}*"):
                remove(left)
            memory = pyoxigraph.Store() if self._is_cache else None
            store = self._make(progress, memory)
            graph = self._opened(store)
            self._remove_others(store.name)
        if graph is None:
            raise OSError("what was written there is not what is read there")
        # In memory, a schema is read in a fifth of the time.
        return graph if memory is None else replace(graph, engine=memory, is_on_disk=False)

    def _fingerprints(self) -> list[Fingerprint]:
        """Return what the files are now; those are read that are new, or whose size or times have changed."""
        hashes = self._folder / "hashes.json"
        known = self._read(hashes, dict[str, Fingerprint]) or {}
        now = {}
        for path in self._paths:
            before = known.get(name := str(path.absolute()))
            now[name] = (before and before.now(path)) or Fingerprint.read(path)
        self._are_unchanged = now == known
        if not self._are_unchanged:
            with suppress(OSError):
                _write(hashes, now)
        return list(now.values())

    def _key(self, fingerprints: Sequence[Fingerprint]) -> str:
        # Relative IRIs depend on the names of files, and the format of some on their suffix.
        limits = self._limits
        bases = GraphFiles.of(self._paths).base_iris(limits.base)
        files = [
            (path.name, base, file.sha256) for path, base, file in zip(self._paths, bases, fingerprints, strict=True)
        ]
        contexts = {url: Fingerprint.read(Path(file)).sha256 for url, file in sorted(contexts_of(limits).items())}
        settings = (limits.encoding, limits.lenient, contexts)
        content = msgspec.json.encode((_FORMAT, self._blank_types, version("pyoxigraph"), settings, files))
        return hashlib.sha256(content).hexdigest()[:_DIGITS]

    def _opened(self, store: Path) -> LoadedGraph | None:
        """Open a store, and keep others from removing it; None where it is damaged."""
        try:
            lease = _Lease(lock_of(store))
        except OSError as error:
            self._complain(error)
            return None
        graph = self._opened_under(lease, store)
        if graph is None:
            lease.end()
        else:
            note_use(store)
        return graph

    def _opened_under(self, lease: _Lease, store: Path) -> LoadedGraph | None:
        try:
            manifest = self._read(store / "manifest.json", _Manifest)
            if (
                manifest is None
                or len(manifest.prefixes) != len(self._paths)
                or not _holds(store / "engine", manifest.parts)
            ):
                self._complain("a file of the store is missing, or another")
                return None
            engine = pyoxigraph.Store.read_only(str(store / "engine"))
        except (OSError, RuntimeError) as error:
            self._complain(error)
            return None
        if self._tells_skips:
            log_skips(manifest.skipped, manifest.shown_skips)
        prefixes = [(path.name, declared) for path, declared in zip(self._paths, manifest.prefixes, strict=True)]
        return LoadedGraph(
            engine,
            prefixes,
            manifest.version,
            is_on_disk=True,
            lease=lease,
            place=store / "derived",
            lasting=self._folder,
            skipped=manifest.skipped,
        )

    def _wait_for(self, lock: IO[bytes], progress: Progress | None) -> None:
        """Wait until no other process parses."""
        if locked(lock):
            return
        _log.warning("another process is loading the same graph; waiting for it")
        while not locked(lock):
            self._pass_on(progress)
            time.sleep(_POLL_SECONDS)

    def _pass_on(self, progress: Progress | None) -> None:
        """Report how far the other process is."""
        if progress is None:
            return
        try:
            position, read, size = map(int, read_at_most(self._folder / "progress", _DIGITS * 10).split())
            path = self._paths[position]
        except (OSError, ValueError, IndexError):
            path, read, size = self._paths[0], 0, self._paths[0].stat().st_size
        progress(path, read, size)

    def _make(self, progress: Progress | None, memory: pyoxigraph.Store | None) -> Path:
        """Parse the files into a new store, and name it when it is whole."""
        self._tells_skips = False
        nonce = secrets.token_hex(_DIGITS // 2)
        new = self._folder / f"{UNFINISHED}{nonce}"
        noted = self._folder / "progress"

        def note(path: Path, read: int, size: int) -> None:
            noted.write_text(f"{self._paths.index(path)} {read} {size}", encoding="ascii")
            if progress is not None:
                progress(path, read, size)

        try:
            new.mkdir()
            key = self._fill(new, note, memory)
            store = self._folder / f"{STORE}{key}-{nonce}"
            lock_of(store).touch()
            return new.rename(store)
        except BaseException:
            remove(new)
            raise
        finally:
            noted.unlink(missing_ok=True)

    def _fill(self, new: Path, progress: Progress, memory: pyoxigraph.Store | None) -> str:
        """Parse the files into a folder, and into a given store in memory; return the key of what was read."""
        # Oxigraph closes a store when no name holds it, so this frame must not keep one.
        engine = pyoxigraph.Store(str(new / "engine"))
        content = fill(engine, self._paths, progress, self._limits, memory, self._policy, blank_types=self._blank_types)
        engine.flush()
        del engine
        parts = {path.name: _settled(path) for path in (new / "engine").iterdir()}
        prefixes = tuple(declared for _, declared in content.prefixes)
        _write(
            new / "manifest.json",
            _Manifest(
                prefixes,
                content.version,
                parts,
                content.skips.count,
                tuple(content.skips.shown),
                content.is_as_given,
            ),
        )
        with suppress(OSError):
            names = [str(path.absolute()) for path in self._paths]
            _write(self._folder / "hashes.json", dict(zip(names, content.sources, strict=True)))
        return self._key(content.sources)

    def _read(self, path: Path, kind: type[_Content]) -> _Content | None:
        """Read a JSON file; None where it is missing or damaged."""
        try:
            return msgspec.json.decode(read_at_most(path, _LARGEST), type=kind)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            self._complain(error)
            return None

    def _complain(self, reason: object) -> None:
        if not self._complained:
            level = logging.DEBUG if self._is_cache else logging.WARNING
            _log.log(level, "what is stored in %s is damaged and is made anew: %s", self._folder, reason)
        self._complained = True

    def _remove_others(self, current: str) -> None:
        """Remove the other stores that no process reads."""
        for store in {path.name.removesuffix(LOCK) for path in self._folder.glob(f"{STORE}*")} - {current}:
            try:
                # This process makes stores, so none that is unfinished has an owner.
                with (self._folder / (store + LOCK)).open("ab") as lock:
                    if locked(lock):
                        remove(self._folder / store)
            except OSError as error:
                _log.info("%s stays: %s", store, error)


def _holds(folder: Path, parts: dict[str, Fingerprint]) -> bool:
    """Return whether a folder holds these files, unchanged, and no others."""
    found = list(folder.iterdir())
    return len(found) == len(parts) and all(
        path.name in parts and parts[path.name].now(path) is not None for path in found
    )


def _settled(path: Path) -> Fingerprint:
    """Have a file written to the disk itself, and return what it is from now on."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())
    return Fingerprint.read(path, ours=True)


def _write(path: Path, content: object) -> None:
    """Replace a JSON file in one step."""
    new = path.with_suffix(f".{os.getpid()}.new")
    with new.open("wb") as file:
        file.write(in_json(msgspec.json.encode(content).decode()).encode())
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
