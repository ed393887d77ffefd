"""TOML files of settings: read within bounds, and the keys that are valid in them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gateway.errors import ConfigurationError
from gateway.settings.storage import read_at_most

_LARGEST = 250_000
"""Bytes of a file."""


def read_toml(path: Path, name: str = "", most_bytes: int = _LARGEST) -> dict[str, Any]:
    """Return the table of a file.

    Args:
        path: The file.
        name: What an error calls it; by default its path.
        most_bytes: Bytes that it may have.

    Raises:
        ConfigurationError: It cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(read_at_most(path, most_bytes).decode())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{name or path} cannot be read: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{name or path} is not valid TOML: {error}.") from error


def keys_at(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """Return the keys that are valid in a table of a file that a model describes; none where there is no such table."""
    for part in location:
        field = model.model_fields.get(str(part))
        inner = None if field is None else section_of(field)
        if inner is None:
            return []
        model = inner
    return sorted(model.model_fields)


def section_of(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a setting that is a table; None for any other."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
