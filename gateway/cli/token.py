"""The command `token`: makes a token for a client."""

from __future__ import annotations

import sys

from gateway.cli.streams import print_note, write
from gateway.errors import ConfigurationError, quoted
from gateway.server.access.tokens import hashed, is_name, new_token


def print_token(name: str) -> None:
    """Print a line for the token file on standard output, and the token itself, which is nowhere else, as a note.

    Raises:
        ConfigurationError: The name is none.
    """
    if not is_name(name):
        raise ConfigurationError(
            f"{quoted(name)} is not a name for a client.",
            valid="It begins with a letter or a digit, has 64 letters, digits and . _ @ - at most, and does not begin "
            "with bfsql_, as tokens do.",
        )
    token = new_token()
    write(sys.stdout, f"{name} {hashed(token)}\n")
    print_note(f"The token of {name}, which is shown only here: {token}")
