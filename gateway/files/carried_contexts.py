"""Contexts of JSON-LD that installed packages carry, so that they need not be given; no code of these packages runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import MappingProxyType

import msgspec

_EXTRA = "contexts"

CARRIED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "https://linked.art/ns/v1/linked-art.json": ("cromulent", "data/linked-art.json"),
        "https://www.w3.org/ns/activitystreams": ("pyld", "documentloader/frozen/bundled/activitystreams.jsonld"),
        "https://w3id.org/ro/crate/1.3/context": ("rocrate", "data/ro-crate.jsonld"),
    }
)
"""The package and the file in it, by the URL of the context."""


class _Named(msgspec.Struct):
    """What a context says of itself."""

    url: str = msgspec.field(default="", name="@id")


@cache
def carried_contexts() -> Mapping[str, str]:
    """Return the files of contexts in packages that are installed, by their URLs."""
    found: dict[str, str] = {}
    for url, (package, name) in CARRIED.items():
        try:
            # Not what an import finds: that may be any folder with this name in the working directory.
            path = Path(str(distribution(package).locate_file(f"{package}/{name}")))
        except PackageNotFoundError:
            continue
        # Another version of the package may carry another version of a context, which means other terms.
        if path.is_file() and _said_url(path) in {"", url}:
            found[url] = str(path)
    return MappingProxyType(found)


def _said_url(path: Path) -> str:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Named).url
    except (OSError, msgspec.DecodeError):
        return "unreadable"


def installing(url: str) -> str:
    """Return how to have the context of a URL carried; empty where no package carries it."""
    return f" It also comes with pip install 'bfsql-gateway[{_EXTRA}]'." if url in CARRIED else ""
