"""The graph that the common options select: its profile, its prefixes, its name, and its gateway."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import ValidationError

from gateway.cli.options import CommonOptions
from gateway.errors import ConfigurationError, quoted
from gateway.settings.limits import FileSettings
from gateway.settings.load import DEFAULT, DEMO, load_profile, with_contact
from gateway.settings.profile import Profile

_NUMBER = re.compile(r"[0-9]{1,12}")

if TYPE_CHECKING:
    from gateway.engine.gateway import Gateway, OnRecord
    from gateway.server.gateway_opener import OnFileRead


def profile_of(options: CommonOptions) -> Profile:
    """Return the selected profile, or the default one, with the changes that other options make.

    Raises:
        ConfigurationError: The profile or one of these options is wrong.
    """
    name = options.profile or (DEFAULT if options.graph or options.endpoint else DEMO)
    profile = with_contact(load_profile(name), options.contact)
    return profile.model_copy(update={"files": with_file_limits(profile.files, options.file_limits)})


def prefixes_of(given: Sequence[str] | None) -> Mapping[str, str]:
    """Return the prefixes that are given as `NAME=IRI`.

    Raises:
        ConfigurationError: One has another form, or a name has two IRIs.
    """
    prefixes: dict[str, str] = {}
    for text in given or ():
        name, separator, namespace = text.partition("=")
        if not separator or not namespace:
            raise ConfigurationError(
                f"--prefix {quoted(text)} is wrong.",
                valid="Write NAME=IRI, for example --prefix ex=http://example.org/.",
            )
        if prefixes.setdefault(name, namespace) != namespace:
            raise ConfigurationError(f"--prefix {quoted(name)} was given twice, with different IRIs.")
    return prefixes


def check_one_source(options: CommonOptions) -> None:
    """Refuse files together with an endpoint.

    Raises:
        ConfigurationError: Both are given.
    """
    if options.graph and options.endpoint:
        raise ConfigurationError("Both a graph and an endpoint were given.", valid="Give one of them.")


def endpoint_url(options: CommonOptions, profile: Profile) -> str:
    """Return the URL of the endpoint; empty for a graph in this process."""
    return "" if options.graph else options.endpoint or profile.endpoint.url


def name_of_graph(options: CommonOptions, profile: Profile) -> str:
    """Return the file names, the host of the endpoint, or that it is the demo graph."""
    if options.graph:
        return ", ".join(Path(path).name for path in options.graph)
    if url := endpoint_url(options, profile):
        # Only the host: the rest of a URL may be confidential.
        return f"the endpoint on {urlsplit(url).hostname or ''}"
    return "the demo graph"


def open_graph(
    options: CommonOptions,
    profile: Profile,
    prefixes: Mapping[str, str],
    on_file_read: OnFileRead,
    on_record: OnRecord | None = None,
) -> Gateway:
    """Return the gateway of the selected graph."""
    # A server answers before this is imported.
    from gateway.api import open_gateway  # noqa: PLC0415
    from gateway.engine.gateway import drop_record  # noqa: PLC0415

    return open_gateway(
        options.graph,
        endpoint=options.endpoint,
        profile=profile,
        prefixes=prefixes,
        store=options.store,
        keep_schema=True,
        progress=on_file_read,
        on_record=on_record or drop_record,
    )


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
