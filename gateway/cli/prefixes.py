"""Prefixes as they stand on a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.errors import ConfigurationError, quoted


def prefixes(given: Sequence[str]) -> Mapping[str, str]:
    """Read `NAME=IRI`, as often as it is given.

    Raises:
        ConfigurationError: One is no such thing, or a name has two IRIs.
    """
    read: dict[str, str] = {}
    for text in given:
        name, separator, namespace = text.partition("=")
        if not separator or not namespace:
            raise ConfigurationError(
                f"--prefix {quoted(text)} is wrong.",
                valid="It is NAME=IRI, for example --prefix ex=http://example.org/.",
            )
        if read.setdefault(name, namespace) != namespace:
            raise ConfigurationError(f"--prefix {quoted(name)} is given twice, with different IRIs.")
    return read
