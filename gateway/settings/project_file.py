"""The project file `bfsql.toml`: which graph the commands in a folder mean.

It may be anybody's: whoever enters a folder that was fetched from elsewhere has not read it. So it names what lies in
its folder, an endpoint, or a built-in profile, and nothing else: no folder whose content is trusted, and no secret
(`gateway.cli.graph_source` refuses those of a profile).
"""

from __future__ import annotations

import glob
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ConfigurationError, quoted
from gateway.settings.load import built_in, read_toml
from gateway.settings.paths import path_text
from gateway.terms.spelling import did_you_mean

NAME = "bfsql.toml"

_KEYS = ("endpoint", "graph", "prefixes", "profile")
_LARGEST = 64 << 10
"""Bytes of a project file."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """What a project file says.

    Attributes:
        path: The file.
        graph: Files, folders or patterns; none where empty.
        endpoint: The URL of an endpoint; none where empty.
        profile: The name of a built-in profile, or the path of a file; none where empty.
        prefixes: Namespaces by prefix.
    """

    path: Path
    graph: tuple[str, ...] = ()
    endpoint: str = ""
    profile: str = ""
    prefixes: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, path: Path) -> ProjectFile:
        """Read a project file.

        Raises:
            ConfigurationError: It cannot be read, is no TOML, has an unknown key or a wrong value, or names a file
                outside its folder.
        """
        table = read_toml(path, most_bytes=_LARGEST)
        for key in table:
            if key not in _KEYS:
                raise ConfigurationError(
                    f"{path} has an unknown key {quoted(key)}.{did_you_mean(key, _KEYS)}", valid=_VALID
                )
        graph = table.get("graph", [])
        files = [graph] if isinstance(graph, str) else graph
        if not isinstance(files, list) or not all(isinstance(file, str) and file for file in files):
            raise _wrong(path, "graph", "a path, or a list of paths")
        texts = {key: table.get(key, "") for key in ("endpoint", "profile")}
        for key, text in texts.items():
            if not isinstance(text, str):
                raise _wrong(path, key, "a text")
        prefixes = table.get("prefixes", {})
        if not isinstance(prefixes, dict) or not all(isinstance(iri, str) for iri in prefixes.values()):
            raise _wrong(path, "prefixes", "a table of IRIs by prefix")
        if files and texts["endpoint"]:
            raise ConfigurationError(f"{path} names both a graph and an endpoint.", valid="Give one of them.")
        profile = texts["profile"]
        if profile and profile not in built_in():
            profile = _inside(path, "profile", profile)
        return cls(
            path,
            tuple(_inside(path, "graph", file) for file in files),
            texts["endpoint"],
            profile,
            tuple(prefixes.items()),
        )


_VALID = f"Its keys are {', '.join(_KEYS)}."


def find(folder: Path) -> Path | None:
    """Return the project file of a folder: the one in it, or in the nearest of the folders above."""
    return next((path for each in (folder, *folder.parents) if (path := each / NAME).is_file()), None)


def problem_of(path: Path) -> str:
    """Return why a project file is not to be used: another user can write to it; empty if it may be.

    Raises:
        ConfigurationError: It cannot be looked at.
    """
    if sys.platform == "win32":
        return ""
    try:
        found = path.stat()
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror or error}.") from error
    if found.st_uid not in {os.geteuid(), 0}:
        return f"it belongs to another user (uid {found.st_uid})"
    return "other users may write to it" if found.st_mode & stat.S_IWOTH else ""


def _inside(path: Path, key: str, text: str) -> str:
    """Return the whole path of a file that lies in the folder of the project file."""
    folder = path.parent.resolve()
    text = path_text(text)
    whole = folder / text
    if "\0" in text or not whole.resolve().is_relative_to(folder):
        raise ConfigurationError(
            f"{path} names a {key} outside its folder: {quoted(text)}.",
            valid="A project file names what lies in its folder.",
            next_step=f"Give another one by --{key} or $BFSQL_{key.upper()}.",
        )
    # A pattern is one in what the file says, and not in the name of its folder.
    return str(whole) if whole.exists() else f"{glob.escape(str(folder))}{os.sep}{text}"


def _wrong(path: Path, key: str, valid: str) -> ConfigurationError:
    return ConfigurationError(f"{path} is wrong: {key} must be {valid}.")
