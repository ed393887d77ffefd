"""What all sections of a profile have in common: their base class, types of values, and where secrets are."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from gateway.errors import ConfigurationError, quoted
from gateway.settings.paths import local_path
from gateway.settings.urls import endpoint_url_problem, url_problem

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


class Unquoted:
    """Marks a setting whose wrong value no error repeats: a secret may have been written there by mistake."""


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
        secret: str | None = os.environ.get(place, "")
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
    """Return what a file holds, without the line's end; the error of one that is not text would show its bytes."""
    try:
        # Another kind of file may have no end, or wait for somebody who writes.
        if not path.is_file():
            return None
        with path.open(encoding="utf-8", newline="") as file:
            return file.read(_LONGEST + 3).removesuffix("\n").removesuffix("\r")
    except (OSError, ValueError):
        return None


_WORD = re.compile(r"<?[^\x00-\x20<>\"{}|^`\\]+>?")
"""What may stand in an IRI, in a CURIE or in a local name (SPARQL 1.1, 19.8)."""


def _words(entries: Sequence[str]) -> tuple[str, ...]:
    for entry in entries:
        if not _WORD.fullmatch(entry):
            raise ValueError(
                f"{quoted(entry)} is neither an IRI nor a name; an entry must not be empty or contain blanks"
            )
    return tuple(entries)


def _iris(entries: Sequence[str]) -> tuple[str, ...]:
    for entry in _words(entries):
        if ":" not in entry:
            raise ValueError(f"{quoted(entry)} is neither an IRI nor a CURIE")
    return tuple(entries)


Iris = Annotated[tuple[str, ...], AfterValidator(_iris)]
"""IRIs or CURIEs; anything else would make a query that no engine accepts."""

Words = Annotated[tuple[str, ...], AfterValidator(_words)]
"""IRIs, CURIEs or bare local names."""

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token (RFC 9110, 5.6.2)."""

_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
"""Printable ASCII: servers read other bytes in different ways."""


def _header_name(text: str) -> str:
    if not _HEADER_NAME.fullmatch(text):
        raise ValueError("it is not a name of an HTTP header")
    return text


def _header_value(text: str) -> str:
    if not _HEADER_VALUE.fullmatch(text):
        raise ValueError("a header may contain only printable ASCII characters")
    return text


def _url(value: str) -> str:
    if value and (problem := url_problem(value)):
        raise ValueError(problem)
    return value


Url = Annotated[str, AfterValidator(_url), Unquoted()]
"""A URL without a secret in it, or an empty text for none."""


def _endpoint_url(value: str) -> str:
    if value and (problem := endpoint_url_problem(value)):
        raise ValueError(problem)
    return value


EndpointUrl = Annotated[str, AfterValidator(_endpoint_url), Unquoted()]
"""The same, or the URL of a database."""

HeaderName = Annotated[str, AfterValidator(_header_name)]
HeaderValue = Annotated[str, AfterValidator(_header_value)]


class Section(BaseModel):
    """A section of a profile: unknown keys are errors, and nothing changes once it is read."""

    # Inputs are hidden because a secret may stand in a wrong place.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)
