"""Folders that only the user may change, and which graph is stored in which."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import queue
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, urlencode, urlsplit

import platformdirs

from gateway import PROGRAM
from gateway.errors import ConfigurationError
from gateway.settings.endpoint import AccessSettings
from gateway.settings.profile import Profile, policy_of
from gateway.settings.urls import is_database_url, is_neo4j_url, is_secret_name

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_WRITER_SECONDS = 30.0
"""How long a named pipe may be without a writer."""

_ANOTHER = "Give another folder with --store; it is created if it does not exist."


def check_private(folder: Path, *further: Path) -> None:
    """Raise if another user made a folder or may write to it, because the program trusts its content.

    Folders need not exist. `folder` is the operator's choice and may be the operator's own link; the `further` ones,
    inside it, must not be links.

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
        raise ConfigurationError(f"{folder} is a symbolic link, which this program never creates.", next_step=_ANOTHER)
    _check_owner(folder, found)
    if found.st_mode & _OTHERS_WRITE:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise ConfigurationError(
            f"Other users may write to {folder} (mode {mode}), so its content is not used.",
            next_step=f"If you trust its content: chmod go-w {folder}. Otherwise give another folder with --store.",
        )


def _check_owner(folder: Path, found: os.stat_result) -> None:
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        raise ConfigurationError(
            f"{folder} belongs to another user (uid {found.st_uid}), so its content is not used.",
            next_step=_ANOTHER,
        )


def make_private(place: Path) -> None:
    """Make a folder and its missing parents, readable for the user alone.

    Raises:
        OSError: It cannot be made.
    """
    if not place.parent.exists():
        make_private(place.parent)
    place.mkdir(mode=0o700, exist_ok=True)


def make_folder(place: Path) -> None:
    """Make a folder that only the user may read, because the graph may be confidential.

    Raises:
        ConfigurationError: It cannot be made.
    """
    try:
        make_private(place)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {place} cannot be created: {error.strerror or error}.",
            next_step="Give another one with --store.",
        ) from error


def write_file(path: Path, text: str) -> None:
    """Write a whole file or nothing; readers meanwhile read the old one.

    Raises:
        ConfigurationError: It cannot be written.
    """
    with _writing(path):
        handle, temporary = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)


def append_to_file(path: Path, text: str) -> None:
    """Append a text to a file that only the user may read; other processes may append at the same time.

    Raises:
        ConfigurationError: It cannot be written.
    """
    with _writing(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "ab", buffering=0) as file:
            file.write(text.encode())


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    make_folder(path.parent)
    try:
        yield
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written: {error.strerror or error}.", next_step="Give another folder with --store."
        ) from error


def opened(path: Path, writer_seconds: float = _WRITER_SECONDS) -> BinaryIO:
    """Open a file, or a pipe, to read it.

    Args:
        path: Where it is.
        writer_seconds: How long to wait until somebody writes to a pipe that has a name.

    Raises:
        OSError: It cannot be opened, is neither a file nor a pipe, or nobody writes to the pipe.
    """
    found = path.stat().st_mode
    if stat.S_ISFIFO(found):
        return _opened_pipe(path, writer_seconds)
    # A device may have no end, and its reader wait for ever.
    if not (stat.S_ISREG(found) or stat.S_ISDIR(found)):
        raise OSError(errno.EINVAL, "it is neither a file nor a pipe", str(path))
    return path.open("rb")


def _opened_pipe(path: Path, writer_seconds: float) -> BinaryIO:
    """Open a pipe as soon as somebody writes to it: the system waits for that without an end."""
    result: queue.SimpleQueue[int | OSError] = queue.SimpleQueue()

    def wait() -> None:
        try:
            result.put(os.open(path, os.O_RDONLY))
        except OSError as error:
            result.put(error)

    threading.Thread(target=wait, name="waiting for a writer", daemon=True).start()
    try:
        found = result.get(timeout=writer_seconds)
    except queue.Empty:
        with suppress(OSError, queue.Empty):
            # A writer, for a moment: the thread goes on, and ends.
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            found = result.get(timeout=1)
            if isinstance(found, int):
                os.close(found)
        raise OSError(
            errno.ETIMEDOUT, f"nobody wrote to this pipe for {writer_seconds:.0f} seconds", str(path)
        ) from None
    if isinstance(found, OSError):
        raise found
    return os.fdopen(found, "rb")


def read_at_most(path: Path, size: int) -> bytes:
    """Return the content of a file, or of a pipe.

    Raises:
        OSError: As `opened`; or it cannot be read, or has more than `size` bytes.
    """
    with opened(path) as file:
        content = file.read(size + 1)
    if len(content) > size:
        raise OSError(errno.EFBIG, f"{os.strerror(errno.EFBIG)} (more than {size:,} bytes)", str(path))
    return content


_DIGITS = 16
"""Of the hash that names a folder: nobody has so many graphs that two would have the same."""


_READ_SINCE = "0.1.0"
"""The version since which texts of a database are read as the same IRIs and names; what is older is not used."""


@dataclass(frozen=True, slots=True)
class GraphIdentity:
    """What identifies a stored graph: another graph, or another way to read it, has another folder.

    Attributes:
        url: The endpoint, without what could be a secret.
        graphs: The named graphs that together are the graph; empty for the default graph.
        edges: The profile's edge rule.
        names: The predicates of names and of synonyms.
        ways: The evidence models in use; nodes of evidence are not nodes of the graph.
        labels: What else decides on names: predicates of descriptions, languages, and entities of predicates.
        access: A hash of the user, without secrets: another user may see another graph.
    """

    url: str
    graphs: tuple[str, ...]
    edges: Mapping[str, Any]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    ways: str | tuple[str, ...]
    labels: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    access: str

    @classmethod
    def of(cls, url: str, profile: Profile, prefixes: Mapping[str, str]) -> GraphIdentity:
        """Return the identity of the graph behind a URL, as a profile and the user's own prefixes read it."""
        names = (profile.roles.name, profile.roles.synonym)
        labels = (profile.roles.description, profile.names.languages, profile.names.predicate_entity)
        ways = profile.evidence.ways
        return cls(
            _without_secrets(url) + _of_database(url, profile, prefixes) + _of_policy(profile),
            tuple(sorted(profile.endpoint.named_graphs)),
            profile.edges.model_dump(mode="json"),
            names,
            ways if isinstance(ways, str) else tuple(sorted(ways)),
            labels,
            _access(profile.endpoint.access),
        )

    @property
    def readable(self) -> dict[str, Any]:
        """The identity as JSON, for a person to read."""
        content: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return content

    @property
    def digest(self) -> str:
        """A hash that names the folder."""
        return _digest(self.readable)


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def endpoint_digest(url: str, profile: Profile) -> str:
    """Return a hash of an endpoint, of the graphs that are asked there, and of who asks."""
    asked = [_without_secrets(url), *sorted(profile.endpoint.named_graphs), _access(profile.endpoint.access)]
    return _digest(asked)


def graph_folder(identity: GraphIdentity, store: Path | None = None) -> Path:
    """Return the folder for what is stored of a graph, in `store` or the user's cache directory; it need not exist."""
    return (store or default_store()) / identity.digest


def default_store() -> Path:
    """Return the user's cache directory for this program; it need not exist.

    A user without a home, as containers and services have, gets one among the temporary files, by the user's number:
    `check_private` refuses it where somebody else made it.
    """
    try:
        folder = Path(platformdirs.user_cache_dir(PROGRAM, appauthor=False))
    except RuntimeError:
        folder = Path()
    if folder.is_absolute() or sys.platform == "win32":
        return folder
    return Path(tempfile.gettempdir(), f"{PROGRAM}-{os.geteuid()}")


_OF_ANSWERS: Any = {
    **dict.fromkeys(
        ("description", "next_steps", "about", "hubs", "files", "search", "meaning", "size", "snapshots", "server"),
        True,
    ),
    "names": {"on_stubs"},
    "endpoint": {"contact", "environment_contact"},
}
"""Settings that say how a graph is parsed, searched and shown; what is read of it is the same whatever they say."""


def profile_digest(profile: Profile) -> str:
    """Return a hash of the settings that decide what is read of a graph."""
    return hashlib.sha256(profile.model_dump_json(exclude=_OF_ANSWERS).encode()).hexdigest()[:_DIGITS]


def names_digest(profile: Profile) -> str:
    """Return a hash of the settings that decide which names are read of a graph in this process, and which types.

    What is a description is no name that is detected.
    """
    roles = profile.roles
    settings = (roles.name, roles.synonym, roles.description, profile.edges.types)
    return _digest(settings)


def _access(access: AccessSettings) -> str:
    """Return a hash of the settings that name the user; they name secrets but hold none.

    Users with different secrets in one place have the same hash; see `AccessSettings.has_secrets`.
    """
    who = access.model_dump(mode="json", include={"user", "password", "token", "headers", "secret_headers"})
    return _digest(who)


def database_prefixes(url: str, profile: Profile, prefixes: Mapping[str, str]) -> Mapping[str, str]:
    """Return the prefixes that decide which IRI an ID of a database is; none for an endpoint, whose IDs are IRIs.

    Args:
        url: The URL.
        profile: The profile.
        prefixes: The user's own prefixes, which override those of the profile.
    """
    return {**profile.prefixes, **prefixes} if is_database_url(url) else {}


def _of_database(url: str, profile: Profile, prefixes: Mapping[str, str]) -> str:
    """Return a hash of what is read of a database and how, as the fragment of its URL; nothing for an endpoint."""
    if not is_database_url(url):
        return ""
    tables = profile.neo4j if is_neo4j_url(url) else profile.postgres
    read = [_READ_SINCE, tables.model_dump(mode="json"), database_prefixes(url, profile, prefixes)]
    return f"#{_digest(read)}"


def _of_policy(profile: Profile) -> str:
    """Return the hash of what is hidden, as the fragment of a URL; else nothing."""
    policy = policy_of(profile)
    return "" if policy is None else f"#hidden-{policy.digest}"


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not is_secret_name(pair[0])]
    who, _, place = parts.netloc.rpartition("@")
    # A database may let its users read different rows.
    user = who.partition(":")[0] if is_database_url(url) else ""
    netloc = f"{user}@{place}" if user else place
    return parts._replace(netloc=netloc, query=urlencode(query), fragment="").geturl()
