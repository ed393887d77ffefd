"""The Content-Security-Policy of the explorer page: its own scripts and styles run, and nothing else does.

Text of a graph that became markup by a defect would run nothing and load nothing.
"""

from __future__ import annotations

import base64
import hashlib
import re

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
