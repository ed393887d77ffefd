"""The graph that the common options select: its profile, its prefixes, its name, and its gateway.

What is not given on the command line is the environment's, then the project file's.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from pydantic import ValidationError

from gateway.arguments import DescribeSchema, SearchEntities
from gateway.cli.options import CommonOptions
from gateway.cli.streams import print_note
from gateway.errors import ConfigurationError, quoted
from gateway.settings.endpoint import AccessSettings
from gateway.settings.files import FileSettings
from gateway.settings.limits import SharedCacheServer
from gateway.settings.load import DEMO, default_profile, load_profile, with_contact
from gateway.settings.paths import local_path
from gateway.settings.profile import Profile, ShapeName, with_embedder, with_shape
from gateway.settings.project_file import ProjectFile, find, problem_of
from gateway.settings.storage import default_store
from gateway.settings.urls import check_endpoint_url, is_database_url

if TYPE_CHECKING:
    from gateway.files.cached_graph import FileCache
    from gateway.graph.call import Progress
    from gateway.server.gateway_opener import OnFileRead
    from gateway.tools.answering import OnRecord
    from gateway.tools.gateway import Gateway

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
    from gateway.files.finding import graph_files  # noqa: PLC0415 - only for a project's files

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
    store, cache = _variable("BFSQL_STORE"), _variable("BFSQL_CACHE")
    places = dict(options.places)
    if "store" in taken and options.store is None and store:
        options, places["store"] = replace(options, store=store), "$BFSQL_STORE"
    if "cache" in taken and options.cache is None and not options.no_cache and cache:
        is_off = cache.lower() == _OFF
        options = replace(options, cache=None if is_off else cache, no_cache=is_off)
        places["cache"] = "$BFSQL_CACHE"
    return replace(options, places=places)


_log = logging.getLogger(__name__)

_PARSED = "files"
"""The folder of the cache of parsed files, in the user's cache directory."""

_NAMES, _SCHEMA = "labels-*.sqlite", "schema.json"
"""Names of files in which what a call reads in full is stored; see `FileCache.needs`."""

_NUMBER = re.compile(r"[0-9]{1,12}")
"""The value of a file limit; no machine has more."""


class GraphSource:
    """The graph that the common options select.

    Attributes:
        profile: The selected profile, or the default one, with the changes that other options make.
        url: The URL of the endpoint or the database; empty for a graph in this process.
        prefixes: The user's own prefixes.

    Raises:
        ConfigurationError: The profile, the URL or another one of the options is wrong.
    """

    def __init__(self, options: CommonOptions) -> None:
        if options.graph and options.endpoint:
            raise ConfigurationError("Both a graph and an endpoint were given.", valid="Give one of them.")
        if options.shared_cache is not None:
            # What is wrong with it is said before anything is opened.
            SharedCacheServer.at(options.shared_cache)
        name = options.profile or (default_profile(options.endpoint) if options.graph or options.endpoint else DEMO)
        is_of_project = options.is_of_project("profile")
        loaded = load_profile(name, within=Path(options.project).parent if is_of_project else None)
        profile = _with_login(with_contact(loaded, options.contact), options.user, options.password_file)
        # The limits guard against the files of whoever wrote the project file.
        limits = _without_limits(profile.files) if is_of_project else profile.files
        files = with_reading(with_file_limits(limits, options.file_limits), options)
        self.profile = with_shape(profile.model_copy(update={"files": files}), cast("ShapeName | None", options.shape))
        self.url = "" if options.graph else options.endpoint or profile.endpoint.url
        if self.url:
            check_endpoint_url(self.url)
        self._options = options
        self._choose_embedder(options, loaded)
        self.prefixes = {**options.project_prefixes, **_prefixes(options.prefix or ())}
        if (options.user or options.password_file) and not self.url:
            raise ConfigurationError("--user and --password-file are for an endpoint, and none was given.")
        self._refuse_secrets_for_a_project(loaded)

    @property
    def name(self) -> str:
        """The file names, the host of the endpoint or the database, or that it is the demo graph."""
        if self._options.graph:
            return ", ".join(local_path(path).name for path in self._options.graph)
        if not self.url:
            return "the demo graph"
        # Only the host, which a socket has not: the rest of a URL may be confidential.
        kind = "database" if is_database_url(self.url) else "endpoint"
        return f"the {kind} on {urlsplit(self.url).hostname or 'this machine'}"

    def _choose_embedder(self, options: CommonOptions, loaded: Profile) -> None:
        """Use the embedder of the option, and none that a project file chose: it would read names, or much memory.

        Raises:
            ConfigurationError: The embedder may not be used.
        """
        if options.embedder is not None:
            if self.url:
                raise ConfigurationError("--embedder is for graph files: it was given for an endpoint.")
            self.profile = with_embedder(self.profile, options.embedder)
        elif options.is_of_project("profile") and loaded.meaning.embedder:
            raise ConfigurationError(
                f"{options.project} names a profile with an embedder, which would get all names of the graph. It "
                "may be anybody's.",
                next_step="Give --embedder or --profile yourself, or set $BFSQL_PROFILE.",
            )

    def _refuse_secrets_for_a_project(self, loaded: Profile) -> None:
        """Keep what belongs to the user from an endpoint or a profile that a project file chose.

        Raises:
            ConfigurationError: Credentials would be sent, or the certificates or the proxy of a profile be used.
        """
        chooses_profile = self._options.is_of_project("profile")
        chooses_url = self._options.is_of_project("endpoint") or (chooses_profile and not self._options.endpoint)
        if not self.url or not (chooses_profile or chooses_url):
            return
        usual = AccessSettings()
        if (chooses_profile and loaded.endpoint.access != usual) or (
            chooses_url and self.profile.endpoint.access != usual
        ):
            raise ConfigurationError(
                f"{self._options.project} says which {'endpoint' if chooses_url else 'profile'} is used. It may be "
                "anybody's, so no credentials, headers, certificates or proxy are used with it.",
                next_step="Give --endpoint and --profile yourself, or set $BFSQL_ENDPOINT and $BFSQL_PROFILE.",
            )
        _log.info("%s says which endpoint or profile is used", self._options.project)
        endpoint = self.profile.endpoint.model_copy(update={"environment_contact": False})
        self.profile = self.profile.model_copy(update={"endpoint": endpoint})

    @property
    def parsed_files(self) -> Path | FileCache | None:
        """Where parsed files are stored: a folder, a cache for large ones, or nowhere."""
        from gateway.files.cached_graph import FileCache  # noqa: PLC0415 - a server answers before

        options = self._options
        if options.store is not None:
            return local_path(options.store)
        if options.no_cache:
            return None
        return FileCache(local_path(options.cache) if options.cache is not None else default_store() / _PARSED)

    @cached_property
    def stores_files(self) -> bool:
        """Whether the graph is in files that are stored once they are parsed."""
        from gateway.files.cached_graph import is_worth_storing  # noqa: PLC0415 - a server answers before
        from gateway.files.finding import graph_files  # noqa: PLC0415

        place = self.parsed_files
        if not self._options.graph or place is None:
            return False
        return isinstance(place, Path) or is_worth_storing(graph_files(self._options.graph), place)

    def open(self, on_file_read: OnFileRead, on_record: OnRecord | None = None, *, needs: str = "") -> Gateway:
        """Return the gateway of the graph; `needs` is that of `FileCache`."""
        # A server answers before this is imported.
        from gateway.api import open_gateway  # noqa: PLC0415
        from gateway.tools.answering import drop_record  # noqa: PLC0415

        place = self.parsed_files
        return open_gateway(
            self._options.graph,
            endpoint=self._options.endpoint,
            profile=self.profile,
            prefixes=self.prefixes,
            store=self._options.store,
            cache=None if place is None or isinstance(place, Path) else replace(place, needs=needs),
            keep_schema=True,
            shared_cache=self._options.shared_cache,
            progress=on_file_read,
            on_record=on_record or drop_record,
        )

    def open_for(
        self, tool: str, arguments: Mapping[str, Any], on_file_read: OnFileRead, on_record: OnRecord | None = None
    ) -> Gateway:
        """Return the gateway of the graph for one call."""
        return self.open(on_file_read, on_record, needs=needs_of(tool, arguments))

    async def wait(self, gateway: Gateway, tool: str, arguments: Mapping[str, Any], progress: Progress) -> None:
        """Wait for what a call reads a graph in this process in full for, however long that takes.

        A call waits no longer than a part of its time, because another one can be sent later. After a command nothing
        is left of a graph but what is stored, so of stored files all is read that the next command begins with.
        """
        is_by_name = not self.url and gateway.asks_by_name(tool, arguments)
        is_stored_whole = tool == SearchEntities.tool or (
            tool == DescribeSchema.tool and self._options.store is not None
        )
        if self.stores_files and (is_by_name or is_stored_whole):
            await gateway.wait_until_ready(progress)
        elif is_by_name:
            await gateway.wait_for_names(progress)


def needs_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return what a call waits for that reads a graph in full; see `FileCache.needs`.

    Before the graph is open, its prefixes are not known: a text with a colon in its first word is taken for an ID.
    """
    if tool == DescribeSchema.tool:
        return _SCHEMA
    texts = [*arguments.get("seeds", ()), *arguments.get("ids", ()), arguments.get("id", ":")]
    is_by_name = tool == SearchEntities.tool or any(":" not in text.split(" ")[0] for text in texts)
    return _NAMES if is_by_name else ""


def _with_login(profile: Profile, user: str | None, password_file: str | None) -> Profile:
    """Return a profile with other credentials; the same one if none are given.

    Raises:
        ConfigurationError: One of the two is missing, or there is no such file.
    """
    if user is None and password_file is None:
        return profile
    if user is None or password_file is None:
        raise ConfigurationError("--user and --password-file must be given together.")
    path = local_path(password_file)
    if not path.is_file():
        problem = "it is no regular file" if path.exists() else "there is no such file"
        raise ConfigurationError(
            f"--password-file {quoted(password_file)}: {problem}.",
            next_step="Write the password to a file that only you can read.",
        )
    login = {"user": user, "password": f"file:{path}", "token": ""}
    access = profile.endpoint.access.model_copy(update=login)
    return profile.model_copy(update={"endpoint": profile.endpoint.model_copy(update={"access": access})})


def _prefixes(given: Sequence[str]) -> Mapping[str, str]:
    prefixes: dict[str, str] = {}
    for text in given:
        name, separator, namespace = text.partition("=")
        if not separator or not namespace:
            raise ConfigurationError(
                f"--prefix {quoted(text)} is wrong.",
                valid="Write NAME=IRI, for example --prefix ex=http://example.org/.",
            )
        if prefixes.setdefault(name, namespace) != namespace:
            raise ConfigurationError(f"--prefix {quoted(name)} was given twice, with different IRIs.")
    return prefixes


def _without_limits(files: FileSettings) -> FileSettings:
    """Return how files are read, within the usual limits."""
    return FileSettings(encoding=files.encoding, base=files.base, lenient=files.lenient)


def with_reading(files: FileSettings, options: CommonOptions) -> FileSettings:
    """Return how files are read, with what options say of it.

    Raises:
        ConfigurationError: One of them is wrong.
    """
    files = files.model_copy(update={"lenient": files.lenient or options.lenient})
    given = [(name, value) for name, value in (("encoding", options.encoding), ("base", options.base)) if value]
    for option, text in [*given, *(("context", text) for text in options.context or ())]:
        # A URL may have an equals sign in it, and the name of a file seldom has.
        url, _, file = text.rpartition("=")
        change = {"contexts": {**files.contexts, url: file}} if option == "context" else {option: text}
        try:
            files = FileSettings.model_validate({**files.model_dump(), **change})
        except ValidationError as error:
            problem = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise ConfigurationError(f"--{option} {quoted(text)}: {problem}.") from error
    return files


def with_file_limits(files: FileSettings, changes: list[str] | None) -> FileSettings:
    """Return limits with those changed that `--file-limit NAME=NUMBER` gives.

    Raises:
        ConfigurationError: One has another form, names no limit, or its number is out of range.
    """
    for change in changes or ():
        name, _, number = change.partition("=")
        value = int(number) if _NUMBER.fullmatch(number) else None
        try:
            files = FileSettings.model_validate({**files.model_dump(), name: value})
        except ValidationError as error:
            raise ConfigurationError(
                f"--file-limit {quoted(change)} is wrong.",
                valid="Write NAME=NUMBER, where NAME is memory_megabytes (128 or more), cpu_seconds or growth (1 or "
                "more).",
            ) from error
    return files
