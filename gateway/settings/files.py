"""What the parsing of a graph file may take, so that no file can use up the machine."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationError

from gateway.errors import ConfigurationError, quoted
from gateway.settings.section import Section

_DIGITS = 12
"""Of a number on the command line."""


class FileSettings(Section):
    """Limits of the process that parses a graph file."""

    memory_megabytes: Annotated[int, Field(ge=128)] = Field(
        default=2_048,
        description=(
            "Memory of the process that parses a file. Enforced on Linux only. JSON-LD with one `@graph` takes about "
            "13 times the size of the file; the other formats take about 50 MB whatever the size."
        ),
    )
    cpu_seconds: Annotated[int, Field(ge=1)] = Field(
        default=120, description="Processor time per 100 MB of a file, unpacked. Not enforced on Windows."
    )
    growth: Annotated[int, Field(ge=1)] = Field(
        default=200,
        description=(
            "How many times larger than the file its unpacked content, and its triples as N-Triples, may be. 64 MB "
            "are always allowed."
        ),
    )


def with_changes(files: FileSettings, changes: list[str] | None) -> FileSettings:
    """Return limits with those changed that `--file-limit NAME=NUMBER` gives.

    Args:
        files: The limits of the profile.
        changes: Each a name of a limit, an equals sign and a whole number.

    Raises:
        ConfigurationError: One has another form, names no limit, or its number is out of range.
    """
    values = files.model_dump()
    for change in changes or ():
        name, _, number = change.partition("=")
        if name not in values or not number.isascii() or not number.isdigit() or len(number) > _DIGITS:
            raise _wrong(change)
        try:
            files = FileSettings.model_validate(values | {name: int(number)})
        except ValidationError as error:
            raise _wrong(change) from error
        values = files.model_dump()
    return files


def _wrong(change: str) -> ConfigurationError:
    least = "memory_megabytes (128 or more), cpu_seconds and growth (1 or more)"
    return ConfigurationError(
        f"--file-limit {quoted(change)} is wrong.",
        valid=f"It is NAME=NUMBER; the names are {least}.",
    )
