"""What all sections of a profile have in common: their base class and the types of values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gateway.errors import quoted
from gateway.settings.urls import endpoint_url_problem, url_problem


class Unquoted:
    """Marks a setting whose wrong value no error repeats: a secret may have been written there by mistake."""


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
