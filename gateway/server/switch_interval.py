"""How long a thread of a server computes before it lets another one.

Each time the event loop has waited for something, it needs the interpreter back from a thread that computes for a long
call, and waits for one switch interval. A short call is a dozen such waits: at Python's 5 ms they cost it more than its
own work.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

SECONDS: Final = 0.0005
"""A switch takes some ten microseconds, so threads that compute side by side lose 2 % at most."""


@asynccontextmanager
async def short_switch_interval() -> AsyncIterator[None]:
    """Have threads switch this often during the block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
