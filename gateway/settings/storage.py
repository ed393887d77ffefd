"""Where what was read of an endpoint is kept between runs: a folder for each graph, as it is read."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import platformdirs

from gateway.errors import ConfigurationError
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.profile import Profile
from gateway.settings.urls import is_secret_name

PROGRAM = "bfsql-gateway"

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_ANOTHER = "Give another folder with --store; it is created if it does not exist."

_DIGITS = 16
"""Of the hash that names a folder: nobody has so many graphs that two would meet."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a kept thing the same thing: another graph, or another way to read it, has a place of its own.

    Attributes:
        url: The endpoint, without what could be a secret.
        graphs: The named graphs that together are the graph; empty for the default graph.
        edges: The profile's edge rule.
        names: The predicates of names and of synonyms.
        ways: The ways of stating evidence that are read: their nodes are no nodes of the graph.
        labels: What else decides on names: predicates of descriptions, languages, and entities of predicates.
        access: A hash of who asks, as far as it is no secret: another user may see another graph.
    """

    url: str
    graphs: tuple[str, ...]
    edges: Mapping[str, Any]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    ways: str | tuple[str, ...]
    labels: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    access: str

    @classmethod
    def of(cls, url: str, profile: Profile) -> Identity:
        """Return the identity of the graph behind a URL, as a profile reads it."""
        names = (profile.roles.name, profile.roles.synonym)
        labels = (profile.roles.description, profile.names.languages, profile.names.predicate_entity)
        ways = profile.evidence.ways
        return cls(
            _without_secrets(url),
            tuple(sorted(profile.endpoint.named_graphs)),
            profile.edges.model_dump(mode="json"),
            names,
            ways if isinstance(ways, str) else tuple(sorted(ways)),
            labels,
            _access(profile.endpoint),
        )

    @property
    def readable(self) -> dict[str, Any]:
        """What a person may read about it, as JSON has it."""
        content: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return content

    @property
    def digest(self) -> str:
        """A name for it that holds nothing of it."""
        return hashlib.sha256(json.dumps(self.readable, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def place_for(identity: Identity, store_dir: Path | None = None) -> Path:
    """Return the folder where things of a graph are kept; it need not exist.

    Args:
        identity: The graph.
        store_dir: The operator's choice of a folder for all graphs; the user's cache directory where not given.
    """
    return (store_dir or folder_for_all()) / identity.digest


def folder_for_all() -> Path:
    """Return the user's cache directory for this program; it need not exist."""
    return Path(platformdirs.user_cache_dir(PROGRAM, appauthor=False))


def check_private(folder: Path, *further: Path) -> None:
    """Refuse folders that another user made or may write to, because their content would be trusted.

    Args:
        folder: What the operator chose; it may be a link of the operator's own. It need not exist.
        further: Folders inside it, which are no links.

    Raises:
        ConfigurationError: One of them is another user's, may be written by others, or is a link; not on Windows.
    """
    if sys.platform == "win32":
        return
    try:
        if folder.is_symlink():
            _check_owner(folder, folder.lstat())
        for each in (folder.resolve(), *further):
            with suppress(FileNotFoundError, NotADirectoryError):
                _check_private(each)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {folder} cannot be used: {error.strerror or error}.", next_step=_ANOTHER
        ) from error


def _check_private(folder: Path) -> None:
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise ConfigurationError(f"{folder} is a symbolic link; this program creates none.", next_step=_ANOTHER)
    _check_owner(folder, found)
    if found.st_mode & _OTHERS_WRITE:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise ConfigurationError(
            f"Other users may write to {folder} (mode {mode}), so what it holds is not used.",
            next_step=f"If you trust what it holds: chmod go-w {folder}. Otherwise give another folder with --store.",
        )


def _check_owner(folder: Path, found: os.stat_result) -> None:
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        raise ConfigurationError(
            f"{folder} belongs to another user (uid {found.st_uid}), so what it holds is not used.",
            next_step=_ANOTHER,
        )


def make_private(place: Path) -> None:
    """Make a folder, and those above it that are missing, so that nobody else may read them.

    Raises:
        OSError: It cannot be made.
    """
    if not place.parent.exists():
        make_private(place.parent)
    place.mkdir(mode=0o700, exist_ok=True)


def make(place: Path) -> None:
    """Make a folder that nobody else may read: what a graph holds may be nobody's business.

    Raises:
        ConfigurationError: It cannot be made.
    """
    try:
        make_private(place)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {place} cannot be made: {error.strerror or error}.",
            next_step="Give another one with --store.",
        ) from error


def write(path: Path, text: str) -> None:
    """Write a whole file or nothing: whoever reads it meanwhile reads the old one.

    Raises:
        ConfigurationError: It cannot be written.
    """
    make(path.parent)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written: {error.strerror or error}.", next_step="Give another folder with --store."
        ) from error


def _access(endpoint: EndpointSettings) -> str:
    """Return a hash of who asks: the settings that say it, which name secrets and hold none."""
    who = endpoint.model_dump(mode="json", include={"user", "password", "token", "headers", "secret_headers"})
    return hashlib.sha256(json.dumps(who, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not is_secret_name(pair[0])]
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query=urlencode(query), fragment="").geturl()
