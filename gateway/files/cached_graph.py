"""Stores large graph files that were parsed in the user's cache directory, whose size is bounded.

The folder is laid out as that of `stored_graph`, which makes and checks each store. What differs: nobody asked for it.
So a cache that cannot be used is a line in the log, and the files are parsed into memory; and the stores that were not
used for longest are removed when they take too much room.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from gateway.errors import ConfigurationError
from gateway.files.blank_nodes import BY_RDF_TYPE, BlankTypes
from gateway.files.loading import LoadedGraph, is_stdin, load_files
from gateway.files.parser_process import Progress
from gateway.files.recognition import packing_by_name
from gateway.files.store_files import remove_unused, sizes
from gateway.files.stored_graph import NotStoredError, open_stored
from gateway.settings.files import FileSettings
from gateway.settings.hidden import Policy
from gateway.settings.storage import check_private

_log = logging.getLogger(__name__)

LARGE = 1 << 20
"""Bytes of files from which a graph is stored: a smaller one is read, with names and schema, in half a second."""

_PACKED = 8
"""How many times larger RDF is than its packed file, about."""

_STORED = 2
"""Room that a store takes with its label index, in sizes of its files, about."""

_WHILE_STORED = 3
"""The same while it is made: Oxigraph sorts before it writes."""


@dataclass(frozen=True, slots=True)
class FileCache:
    """Where large graph files are stored once they are parsed.

    Attributes:
        folder: The folder; it need not exist.
        max_bytes: Room for all stores. One that is in use is never removed, so it may be exceeded for a while.
        large: Bytes of unpacked files from which a graph is stored.
        needs: A pattern of file names among what was made of a graph. A graph without such a file will be read in
            full, so it is parsed into memory once more: there that takes a fifth of the time. Empty for none.
    """

    folder: Path
    max_bytes: int = 4 << 30
    large: int = LARGE
    needs: str = ""


def open_cached(
    paths: Sequence[Path],
    cache: FileCache,
    progress: Progress | None = None,
    limits: FileSettings | None = None,
    policy: Policy | None = None,
    *,
    blank_types: BlankTypes = BY_RDF_TYPE,
    is_as_given: bool = False,
) -> LoadedGraph:
    """Open the store of graph files in a cache, and make it first where there is none that is current.

    Small files, pipes, and all files where the cache cannot be used are loaded into memory. What is beside the cache is
    as `load_files` and `open_stored` take it.

    Raises:
        ConfigurationError: A file cannot be read or is no graph.
    """
    kept_types = None if is_as_given else blank_types
    loaded = partial(load_files, paths, progress, limits, policy, blank_types=kept_types)
    size = _size(paths)
    if size < cache.large or not _is_usable(cache):
        return loaded()
    # Before it is asked how much room there is: what killed processes left may take it.
    remove_oldest(cache)
    if not _has_room(cache, size):
        return loaded()
    try:
        graph = open_stored(
            paths,
            cache.folder,
            progress,
            limits,
            policy,
            blank_types=blank_types,
            is_cache=True,
            is_as_given=is_as_given,
        )
    except NotStoredError as error:
        _log.info("the graph is not cached: %s", error)
        return loaded()
    remove_oldest(cache)
    if graph.is_on_disk and cache.needs and graph.place and not any(graph.place.glob(f"*/{cache.needs}")):
        memory = loaded()
        graph = replace(graph, engine=memory.engine, is_on_disk=False) if memory.version == graph.version else memory
    # What outlives a change of the files is no part of the cache, which may be emptied at any time.
    return replace(graph, lasting=None)


def remove_oldest(cache: FileCache) -> None:
    """Remove the stores that were not used for longest, until the others fit; stores in use stay."""
    stores = sorted(sizes(cache.folder), key=lambda store: store.used_ns, reverse=True)
    taken = 0
    for store in stores:
        taken += store.size
        # One that was never finished is of a process that was killed, unless it is being made.
        if (taken > cache.max_bytes or not store.used_ns) and remove_unused(store.path):
            taken -= store.size
            _log.info("%s is removed from the cache", store.path)


def is_worth_storing(paths: Sequence[Path], cache: FileCache) -> bool:
    """Return whether parsing the files takes long, and the cache can be used and has room for the store."""
    size = _size(paths)
    return size >= cache.large and _is_usable(cache) and _has_room(cache, size)


def _size(paths: Sequence[Path]) -> int:
    """Return about how many bytes the files have unpacked; 0 where one can be read only once."""
    size = 0
    for path in paths:
        if is_stdin(path) or not path.is_file():
            return 0
        with suppress(OSError):
            size += path.stat().st_size * (_PACKED if packing_by_name(path.name) else 1)
    return size


def _is_usable(cache: FileCache) -> bool:
    try:
        check_private(cache.folder)
    except (ConfigurationError, OSError) as error:
        _log.info("the graph is not cached: %s", error)
        return False
    return True


def _has_room(cache: FileCache, size: int) -> bool:
    try:
        free = shutil.disk_usage(_existing(cache.folder)).free
    except OSError as error:
        _log.info("the graph is not cached: %s", error)
        return False
    if free < _WHILE_STORED * size or cache.max_bytes < _STORED * size:
        _log.info("the graph is not cached: %s has no room for it", cache.folder)
        return False
    return True


def _existing(folder: Path) -> Path:
    """Return a folder, or the nearest of those above it that exists."""
    whole = folder.resolve()
    return next(each for each in (whole, *whole.parents) if each.exists())
