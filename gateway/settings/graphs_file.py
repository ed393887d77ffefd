"""The file `graphs.toml`, or a folder of profiles: the graphs of one server, each with its source and its limits.

The operator names it on the command line, so it is trusted as a profile is; paths in it are relative to it.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from gateway.errors import ConfigurationError, quoted
from gateway.escaping import printable
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.load import built_in, default_profile, keys_at, load_profile, read_toml
from gateway.settings.paths import path_text
from gateway.settings.profile import Profile
from gateway.settings.section import EndpointUrl, Section
from gateway.terms.names import cut
from gateway.terms.spelling import did_you_mean

MOST_GRAPHS = 50
"""Graphs of one server: their names stand in the list of tools."""

LONGEST_NAME = 30
LONGEST_LINE = 200
"""Characters of a graph's name, and of the line about it."""

NAME = re.compile(rf"[a-z][a-z0-9-]{{0,{LONGEST_NAME - 1}}}")
"""The name of a graph: it stands in a path, in arguments and in tokens."""

_PLACES = "Give graph (files), endpoint (a URL), or a profile that has an endpoint."


def _line(text: str) -> str:
    if not text.strip() or len(text) > LONGEST_LINE or printable(text) != text or "\n" in text:
        raise ValueError(f"it must be one line of 1 to {LONGEST_LINE} characters, without hidden ones")
    return text.strip()


class GraphSettings(Section):
    """One graph of `graphs.toml`.

    Attributes:
        about: What it is about, in one line, for models and people.
        graph: Its files; none where empty.
        endpoint: The URL of its endpoint; none where empty.
        profile: The name of a built-in profile, or the path of a file; none where empty.
        prefixes: Namespaces by prefix.
        store: A folder for what is stored between runs; none where empty.
        limits: What replaces limits of the profile.
        hidden: What is hidden beside what the profile hides; whole IRIs.
    """

    about: Annotated[str, AfterValidator(_line)]
    graph: str | list[str] = Field(default_factory=list)
    endpoint: EndpointUrl = ""
    profile: str = ""
    prefixes: dict[str, str] = Field(default_factory=dict)
    store: str = ""
    limits: LimitSettings = LimitSettings()
    hidden: HiddenSettings = HiddenSettings()


class _File(Section):
    graphs: dict[str, GraphSettings]


@dataclass(frozen=True, slots=True)
class GraphEntry:
    """One graph of a server, with whole paths.

    Attributes:
        name: Its name.
        about: What it is about, in one line.
        graph: Its files, folders or patterns; none where empty.
        endpoint: The URL of its endpoint; that of the profile where empty.
        profile: The name of a built-in profile, or the path of a file; that of `default_profile` where empty.
        prefixes: Namespaces by prefix.
        store: A folder for what is stored between runs; none where empty.
        limits: Limits that replace those of the profile, by name.
        hidden: What is hidden beside what the profile hides.
    """

    name: str
    about: str
    graph: tuple[str, ...] = ()
    endpoint: str = ""
    profile: str = ""
    prefixes: tuple[tuple[str, str], ...] = ()
    store: str = ""
    limits: tuple[tuple[str, Any], ...] = ()
    hidden: HiddenSettings = field(default_factory=HiddenSettings)


def read_graphs(path: Path) -> list[GraphEntry]:
    """Return the graphs that a file names, or that the profiles in a folder are about, in their order.

    Raises:
        ConfigurationError: It cannot be read, has an unknown key or a wrong value, or names no graph or too many.
    """
    entries = _of_folder(path) if path.is_dir() else _of_file(path)
    if not 1 <= len(entries) <= MOST_GRAPHS:
        raise ConfigurationError(f"{path} names {len(entries)} graphs.", valid=f"One server has 1 to {MOST_GRAPHS}.")
    for entry in entries:
        if not NAME.fullmatch(entry.name):
            raise ConfigurationError(
                f"{path}: {quoted(entry.name)} is no name of a graph.",
                valid=f"It begins with a letter and has small letters, digits and hyphens, {LONGEST_NAME} at most.",
            )
    return entries


def profile_of(entry: GraphEntry) -> Profile:
    """Load the profile of a graph, without the limits and what is hidden of its entry.

    Raises:
        ConfigurationError: There is no such profile, it is wrong, or neither it nor the entry says where the graph is.
    """
    profile = load_profile(entry.profile or default_profile(entry.endpoint))
    if not (entry.graph or entry.endpoint or profile.endpoint.url):
        raise ConfigurationError(
            f"Nothing says where the graph {entry.name} is: its profile has no endpoint.url.", valid=_PLACES
        )
    return profile


def _of_folder(folder: Path) -> list[GraphEntry]:
    """Return a graph for each profile of a folder, named as its file."""
    entries = []
    for path in sorted(folder.glob("*.toml")):
        profile = load_profile(str(path))
        if not profile.endpoint.url:
            raise ConfigurationError(
                f"The profile {path} has no endpoint.url, so it says not where its graph is.",
                next_step="Give it one, or write a graphs.toml that names a graph for each profile.",
            )
        about = cut(printable(" ".join(profile.description.split())), LONGEST_LINE) or path.stem
        entries.append(GraphEntry(path.stem, about, profile=str(path)))
    return entries


def _of_file(path: Path) -> list[GraphEntry]:
    table = read_toml(path)
    try:
        # Strict JSON takes whole numbers for seconds, and nothing else it was not given.
        read = _File.model_validate_json(json.dumps(table))
    except TypeError as error:
        raise ConfigurationError(f"{path} is wrong: it contains a date, which no key takes.") from error
    except ValidationError as error:
        raise ConfigurationError(f"{path} is wrong: {' '.join(_problems(error))}", valid=_valid()) from error
    return [_entry(path, name, settings) for name, settings in read.graphs.items()]


def _entry(path: Path, name: str, settings: GraphSettings) -> GraphEntry:
    files = [settings.graph] if isinstance(settings.graph, str) else settings.graph
    if bool(files) + bool(settings.endpoint) > 1:
        raise ConfigurationError(f"{path}: the graph {name} has both graph and endpoint.", valid="Give one of them.")
    if not (files or settings.endpoint or settings.profile):
        raise ConfigurationError(
            f"{path}: the graph {name} says not where it is.",
            valid=_PLACES,
        )
    if not all(files):
        raise ConfigurationError(f"{path}: the graph {name} names a file with an empty name.")
    if key := settings.hidden.unclear():
        raise ConfigurationError(
            f"{path}: hidden.{key} of the graph {name} has an entry that may be no whole IRI.",
            valid="In this file each entry is a whole IRI, such as https://example.org/Salary.",
        )
    folder = path.parent
    is_named = not settings.profile or settings.profile in built_in()
    changed = settings.limits.model_fields_set
    return GraphEntry(
        name,
        settings.about,
        tuple(_beside(folder, file) for file in files),
        settings.endpoint,
        settings.profile if is_named else str(folder / path_text(settings.profile)),
        tuple(settings.prefixes.items()),
        str(folder / path_text(settings.store)) if settings.store else "",
        tuple((key, getattr(settings.limits, key)) for key in sorted(changed)),
        settings.hidden,
    )


def _beside(folder: Path, text: str) -> str:
    """Return the whole path of a file or pattern; a pattern is one in `text`, and not in the name of the folder.

    A URL, which is no file, stays what it is, so that the error about it says so.
    """
    text = path_text(text)
    if "://" in text:
        return text
    whole = folder / text
    return str(whole) if whole.exists() or Path(text).is_absolute() else f"{glob.escape(str(folder))}{os.sep}{text}"


def _problems(error: ValidationError) -> Iterable[str]:
    for problem in error.errors(include_url=False):
        where = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            *above, key = problem["loc"]
            # Above the keys of a graph stand `graphs` and its name.
            known = keys_at(GraphSettings, above[2:]) if above else _File.model_fields
            yield f"unknown key {quoted(where)}.{did_you_mean(str(key), known)}"
        else:
            yield f"{where}: {problem['msg'].removeprefix('Value error, ')}."


def _valid() -> str:
    return f"A graph is a table [graphs.NAME] with {', '.join(GraphSettings.model_fields)}; about is required."
