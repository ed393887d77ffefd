"""Secrets: where a setting says that one is, and how it is read from there."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, SecretStr

from gateway.errors import ConfigurationError
from gateway.settings.paths import local_path

_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:.+")
_LONGEST = 1 << 13
"""Characters of a secret; servers take no longer header."""


def is_reference(text: str) -> bool:
    """Return whether a text says where a secret is."""
    return _REFERENCE.fullmatch(text) is not None


def _checked(text: str) -> str:
    if text and not is_reference(text):
        raise ValueError("do not write a secret here; write `env:NAME` (a variable) or `file:/path` (a file)")
    return text


Reference = Annotated[str, AfterValidator(_checked)]
"""Where a secret is: `env:NAME` or `file:/path`, or an empty text for none."""


def revealed(text: str, setting: str) -> str:
    """Return what a setting says, or the secret that it refers to; see `read`."""
    return read(text, setting).get_secret_value() if is_reference(text) else text


def read(reference: str, setting: str) -> SecretStr:
    """Return the secret that a setting refers to.

    Args:
        reference: `env:NAME` or `file:/path`.
        setting: The name of the setting, for the error.

    Raises:
        ConfigurationError: There is no such variable or file, or it is empty, or it holds something else than one
            printable line, so that it is probably no secret and must not be sent. The text holds nothing of it.
    """
    kind, _, place = reference.partition(":")
    if kind == "env":
        where = f"the environment variable {place}"
        # What was made by `echo` ends a line.
        secret: str | None = _without_line_end(os.environ.get(place, ""))
    else:
        where = f"the file {place}"
        secret = _text_of(local_path(place))
    if secret is None:
        raise ConfigurationError(f"{setting} refers to {where}, which cannot be read.")
    if not secret:
        raise ConfigurationError(f"{setting} refers to {where}, which is empty or not set.")
    if len(secret) > _LONGEST or not secret.isprintable():
        raise ConfigurationError(
            f"{setting} refers to {where}, which is not a secret; its content is not sent.",
            valid=f"A secret is one line of printable characters, {_LONGEST:,} at most.",
        )
    return SecretStr(secret)


def _text_of(path: Path) -> str | None:
    """Return what a file holds, without a byte order mark and the line's end; an error of decoding would show bytes."""
    try:
        # Another kind of file may have no end, or wait for somebody who writes.
        if not path.is_file():
            return None
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _without_line_end(file.read(_LONGEST + 3))
    except (OSError, ValueError):
        return None


def _without_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r")
