"""Values of properties of Neo4j as `gateway.databases.json_values` takes them."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from neo4j import spatial, time

from gateway.terms.known_iris import XSD
from gateway.terms.literals import Literal

_WKT: Final = "http://www.opengis.net/ont/geosparql#wktLiteral"
"""A place as text (GeoSPARQL 1.1, section 8.5.1)."""


def plain(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties with numbers, times, places and bytes as literals."""
    return {name: _plain(value) for name, value in properties.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    for kind, datatype, text in _LITERALS:
        if isinstance(value, kind):
            return Literal(text(value), datatype)
    return str(value)


def _real(number: float) -> str:
    """Return a number as `xsd:double` has it."""
    if math.isfinite(number):
        return repr(number)
    return "NaN" if math.isnan(number) else "INF" if number > 0 else "-INF"


_LITERALS: Final[Sequence[tuple[type[Any], str, Callable[[Any], str]]]] = (
    (int, f"{XSD}integer", str),
    (float, f"{XSD}double", _real),
    (time.DateTime, f"{XSD}dateTime", time.DateTime.iso_format),
    (time.Date, f"{XSD}date", time.Date.iso_format),
    (time.Time, f"{XSD}time", time.Time.iso_format),
    (time.Duration, f"{XSD}duration", time.Duration.iso_format),
    (spatial.Point, _WKT, lambda point: f"POINT ({' '.join(map(_real, point))})"),
    (bytes, f"{XSD}base64Binary", lambda content: base64.b64encode(content).decode()),
)
"""The datatype of each kind of value, and its text."""
