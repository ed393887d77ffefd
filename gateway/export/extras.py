"""Libraries that only some formats need, and that an extra installs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gateway.errors import ConfigurationError


@contextmanager
def needs(library: str, extra: str) -> Iterator[None]:
    """Turn the failed import of a library into an error that says how to install it.

    Raises:
        ConfigurationError: It is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            f"This needs the Python package {library}, which is not installed.",
            next_step=f'Install it: pip install "bfsql-gateway[{extra}]".',
        ) from error
