"""The certificates that a server is checked with."""

from __future__ import annotations

import ssl
from pathlib import Path

from gateway.errors import ConfigurationError


def trusting(ca_bundle: str, *, is_checked: bool = True) -> ssl.SSLContext:
    """Return a context that trusts the certificates in a file; the system's where its name is empty.

    Without a check any certificate does: what is sent is encrypted, and whoever stands between can read it.

    Raises:
        ConfigurationError: It cannot be read as certificates.
    """
    try:
        # A pipe may have no writer, and a device no end.
        if ca_bundle and not Path(ca_bundle).is_file():
            raise FileNotFoundError
        context = ssl.create_default_context(cafile=ca_bundle or None)
    except OSError as error:
        raise ConfigurationError(
            f"endpoint.access.ca_bundle is wrong: {ca_bundle} cannot be read as certificates.",
            valid="It is a file of CA certificates in PEM.",
        ) from error
    if not is_checked:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
