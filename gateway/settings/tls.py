"""The certificates that a server is checked with."""

from __future__ import annotations

import ssl
from pathlib import Path

from gateway.errors import ConfigurationError


def trusting(ca_bundle: str) -> ssl.SSLContext:
    """Return a context that trusts the certificates in a file; the system's where its name is empty.

    Raises:
        ConfigurationError: It cannot be read as certificates.
    """
    try:
        # A pipe may have no writer, and a device no end.
        if ca_bundle and not Path(ca_bundle).is_file():
            raise FileNotFoundError
        return ssl.create_default_context(cafile=ca_bundle or None)
    except OSError as error:
        raise ConfigurationError(
            f"endpoint.access.ca_bundle is wrong: {ca_bundle} cannot be read as certificates.",
            valid="It is a file of CA certificates in PEM.",
        ) from error
