"""Where the files beside the package are, in a checkout and in a wheel, and what the explorer page may load.

In a checkout (and in an editable install) they stand beside the package; in a wheel they were copied into
``gateway/_resources``. No other module knows these places.

Text of a graph that became markup by a defect would run nothing and load nothing.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Literal

Folder = Literal["queries", "config", "fixtures"]

_PACKAGE = Path(__file__).resolve().parent


def folder(name: Folder) -> Path:
    """Return the folder of that name, in a wheel as in a checkout.

    Raises:
        FileNotFoundError: The installation is broken: neither place has the folder.
    """
    for candidate in (_PACKAGE / "_resources" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"The folder {name!r} is missing from this installation of bfsql-gateway; reinstall it.")


def explorer_page() -> Path:
    """Return the explorer page: one built file, which stands in the package itself."""
    return _PACKAGE / "web" / "built" / "explorer.html"


def demo_graph() -> Path:
    """Return the graph that is served when nobody names another: the medical fixture."""
    return folder("fixtures") / "medical.ttl"


_INLINE = re.compile(rb"<(script|style)\b[^>]*>(.*?)</\1>", re.DOTALL)


def policy_of(page: bytes, *, connects: bool) -> str:
    """Return the policy of a page, without the directives that only a header can give.

    Args:
        page: The page, its scripts and styles inside.
        connects: Whether it may send requests to the server that it came from.

    Source: Content Security Policy Level 3, 6.1 and 6.2.
    """
    sources = {"script": "'none'", "style": "'none'"}
    for element in sources:
        inline = [content for name, content in _INLINE.findall(page) if name.decode() == element]
        if inline:
            sources[element] = " ".join(_hash_source(content) for content in inline)
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {sources['script']}",
            f"style-src {sources['style']}",
            "connect-src 'self'" if connects else "connect-src 'none'",
            "img-src data:",
            # The layout is computed in a worker, whose text is in the page.
            "worker-src blob: data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash_source(content: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"
