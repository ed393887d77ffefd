"""What the options about the graph are where they are not given: the environment's, then the project file's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.cli.options import CommonOptions
from gateway.cli.streams import print_note
from gateway.errors import ConfigurationError
from gateway.settings.load import DEMO, load_profile
from gateway.settings.project_file import ProjectFile, find, problem_of

_OFF = "off"
"""Turns the cache or the project file off, as the value of their variables."""


@dataclass(frozen=True, slots=True)
class _Level:
    """What one place says about the graph; places are ordered from the one that counts most."""

    graph: tuple[str, ...]
    endpoint: str
    profile: str
    places: Mapping[str, str]

    @property
    def selects(self) -> bool:
        return bool(self.graph or self.endpoint)


def with_defaults(options: CommonOptions, taken: frozenset[str]) -> CommonOptions:
    """Return the options of a command with those from the environment and the project file that it takes.

    A graph or an endpoint of one place replaces that of the places below, and so does a profile that has an endpoint.

    Args:
        options: As given on the command line.
        taken: The names of those that the command takes.

    Raises:
        ConfigurationError: A variable or the project file is wrong.
    """
    file = _project_file()
    given = _Level(tuple(options.graph or ()), options.endpoint or "", options.profile or "", {})
    levels = [_taken(level, taken) for level in (given, _environment(), *([_project(file)] if file else []))]
    places: dict[str, str] = {}
    profiled = next((level for level in levels if level.profile), levels[-1])
    selecting = next((level for level in levels if level.selects), levels[-1])
    if profiled.profile and levels.index(profiled) < levels.index(selecting) and _has_graph(profiled.profile):
        selecting = given
    for level, keys in ((selecting, ("graph", "endpoint")), (profiled, ("profile",))):
        places |= {key: level.places[key] for key in keys if key in level.places and getattr(level, key)}
    is_of_project = file is not None and selecting is levels[-1]
    graph = _inside(file, selecting.graph) if file is not None and is_of_project else list(selecting.graph)
    options = replace(
        options,
        graph=graph or None,
        endpoint=selecting.endpoint or None,
        profile=profiled.profile or None,
        places=places,
        project=str(file.path) if file is not None else "",
    )
    # For another graph they could rename what that declares itself.
    if file is not None and is_of_project and "prefix" in taken:
        options = replace(options, project_prefixes=dict(file.prefixes))
    return _with_folders(options, taken)


def _inside(file: ProjectFile, given: Sequence[str]) -> list[str]:
    """Return the graph files that a project file names, each of which must lie in its folder.

    Raises:
        ConfigurationError: One does not, or there is none.
    """
    from gateway.files.graph_files import graph_files  # noqa: PLC0415 - only for a project's files

    folder = file.path.parent.resolve()
    files = graph_files(given)
    for path in files:
        if not path.resolve().is_relative_to(folder):
            raise ConfigurationError(
                f"{path}, which {file.path} names, lies outside its folder.",
                valid="A project file names what lies in its folder.",
                next_step="Give it by --graph or $BFSQL_GRAPH.",
            )
    return [str(path) for path in files]


def shown_defaults() -> list[str]:
    """Return what the environment and the project file say now, a line each, for the help.

    Raises:
        ConfigurationError: The project file is wrong.
    """
    shown = with_defaults(CommonOptions(), frozenset({"graph", "endpoint", "profile", "store", "cache"}))
    values = {"graph": ", ".join(shown.graph or ()), "endpoint": shown.endpoint, "profile": shown.profile}
    values |= {"store": shown.store, "cache": "off" if shown.no_cache else shown.cache}
    return [f"--{name} {values[name]} (from {place})" for name, place in shown.places.items()]


def _taken(level: _Level, taken: frozenset[str]) -> _Level:
    return replace(level, graph=level.graph if "graph" in taken else ())


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()


def _environment() -> _Level:
    values = {name: _variable(f"BFSQL_{name.upper()}") for name in ("graph", "endpoint", "profile")}
    if values["graph"] and values["endpoint"]:
        raise ConfigurationError("Both $BFSQL_GRAPH and $BFSQL_ENDPOINT are set.", valid="Set one of them.")
    places = {name: f"$BFSQL_{name.upper()}" for name in values}
    return _Level((values["graph"],) if values["graph"] else (), values["endpoint"], values["profile"], places)


def _project(file: ProjectFile) -> _Level:
    return _Level(
        file.graph, file.endpoint, file.profile, dict.fromkeys(("graph", "endpoint", "profile"), str(file.path))
    )


def _project_file() -> ProjectFile | None:
    """Return the project file of the working directory, unless another user can write to it."""
    if _variable("BFSQL_PROJECT").lower() == _OFF:
        return None
    try:
        path = find(Path.cwd())
    except OSError:
        # The working directory is gone.
        return None
    if path is None:
        return None
    if problem := problem_of(path):
        # At once: an error of a command that lacks what the file says must not hide it.
        print_note(f"warning: {path} is not used: {problem}")
        return None
    try:
        return ProjectFile.read(path)
    except ConfigurationError as error:
        way_out = "Repair it, or set BFSQL_PROJECT=off to do without it."
        raise ConfigurationError(error.wrong, valid=error.valid, next_step=way_out) from error


def _has_graph(profile: str) -> bool:
    return profile == DEMO or bool(load_profile(profile).endpoint.url)


def _with_folders(options: CommonOptions, taken: frozenset[str]) -> CommonOptions:
    """Return options with the folders that the environment names."""
    store, cache = _variable("BFSQL_STORE"), _variable("BFSQL_CACHE")
    places = dict(options.places)
    if "store" in taken and options.store is None and store:
        options, places["store"] = replace(options, store=store), "$BFSQL_STORE"
    if "cache" in taken and options.cache is None and not options.no_cache and cache:
        is_off = cache.lower() == _OFF
        options = replace(options, cache=None if is_off else cache, no_cache=is_off)
        places["cache"] = "$BFSQL_CACHE"
    return replace(options, places=places)
