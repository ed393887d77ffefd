"""Names and values of HTTP headers in a profile."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")


def _header_name(text: str) -> str:
    if not _HEADER_NAME.fullmatch(text):
        raise ValueError("it is no name of an HTTP header")
    return text


def _header_value(text: str) -> str:
    if not _HEADER_VALUE.fullmatch(text):
        raise ValueError("a header holds printable ASCII characters only")
    return text


HeaderName = Annotated[str, AfterValidator(_header_name)]
HeaderValue = Annotated[str, AfterValidator(_header_value)]
