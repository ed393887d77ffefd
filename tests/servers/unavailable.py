"""What happens to a test whose server cannot be had on this machine."""

import os
from typing import NoReturn


class ServerUnavailable(Exception):
    """This machine cannot run the server: no Java, no Maven, no network, no binary.

    Attributes:
        reason: what is missing and what would supply it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def skip_or_fail(error: ServerUnavailable) -> NoReturn:
    """Skip the test with the reason; on CI, where every server must be there, fail it."""
    # What makes the site has no test tools.
    import pytest  # noqa: PLC0415

    if os.environ.get("CI") == "true":
        pytest.fail(error.reason, pytrace=False)
    pytest.skip(error.reason)
