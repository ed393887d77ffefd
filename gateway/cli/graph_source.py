"""The graph that the common options select: its profile, its prefixes, its name, and its gateway."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from pydantic import ValidationError

from gateway.cli.options import CommonOptions
from gateway.errors import ConfigurationError, quoted
from gateway.settings.graph_identity import default_store
from gateway.settings.limits import FileSettings
from gateway.settings.load import DEFAULT, DEMO, load_profile, with_contact
from gateway.settings.profile import ShapeName, with_shape

if TYPE_CHECKING:
    from gateway.engine.gateway import Gateway, OnRecord
    from gateway.server.gateway_opener import OnFileRead
    from gateway.transport.files.cached_graph import FileCache

_PARSED = "files"
"""The folder of the cache of parsed files, in the user's cache directory."""

_NUMBER = re.compile(r"[0-9]{1,12}")
"""The value of a file limit; no machine has more."""


class GraphSource:
    """The graph that the common options select.

    Attributes:
        profile: The selected profile, or the default one, with the changes that other options make.
        url: The URL of the endpoint, which may be wrong; empty for a graph in this process.

    Raises:
        ConfigurationError: The profile or one of the options is wrong.
    """

    def __init__(self, options: CommonOptions) -> None:
        if options.graph and options.endpoint:
            raise ConfigurationError("Both a graph and an endpoint were given.", valid="Give one of them.")
        name = options.profile or (DEFAULT if options.graph or options.endpoint else DEMO)
        profile = with_contact(load_profile(name), options.contact)
        files = with_file_limits(profile.files, options.file_limits)
        self.profile = with_shape(profile.model_copy(update={"files": files}), cast("ShapeName | None", options.shape))
        self.url = "" if options.graph else options.endpoint or profile.endpoint.url
        self._options = options
        self._prefixes = _prefixes(options.prefix or ())

    @property
    def name(self) -> str:
        """The file names, the host of the endpoint, or that it is the demo graph."""
        if self._options.graph:
            return ", ".join(Path(path).name for path in self._options.graph)
        # Only the host: the rest of a URL may be confidential.
        return f"the endpoint on {urlsplit(self.url).hostname or ''}" if self.url else "the demo graph"

    @property
    def parsed_files(self) -> Path | FileCache | None:
        """Where parsed files are stored: a folder, a cache for large ones, or nowhere."""
        from gateway.transport.files.cached_graph import FileCache  # noqa: PLC0415 - a server answers before

        options = self._options
        if options.store is not None:
            return Path(options.store)
        if options.no_cache:
            return None
        return FileCache(Path(options.cache) if options.cache is not None else default_store() / _PARSED)

    @property
    def stores_files(self) -> bool:
        """Whether the graph is in files that are stored once they are parsed."""
        from gateway.transport.files.cached_graph import is_worth_storing  # noqa: PLC0415 - a server answers before
        from gateway.transport.files.graph_files import graph_files  # noqa: PLC0415

        place = self.parsed_files
        if not self._options.graph or place is None:
            return False
        return isinstance(place, Path) or is_worth_storing(graph_files(self._options.graph), place)

    def open(self, on_file_read: OnFileRead, on_record: OnRecord | None = None, *, needs: str = "") -> Gateway:
        """Return the gateway of the graph; `needs` is that of `FileCache`."""
        # A server answers before this is imported.
        from gateway.api import open_gateway  # noqa: PLC0415
        from gateway.engine.gateway import drop_record  # noqa: PLC0415

        place = self.parsed_files
        return open_gateway(
            self._options.graph,
            endpoint=self._options.endpoint,
            profile=self.profile,
            prefixes=self._prefixes,
            store=self._options.store,
            cache=None if place is None or isinstance(place, Path) else replace(place, needs=needs),
            keep_schema=True,
            progress=on_file_read,
            on_record=on_record or drop_record,
        )


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
