"""One build of the site, by Zensical at the version of its lock."""

import sys
from pathlib import Path
from typing import Final

from tests.servers.cache import CHECKOUT
from tests.site.assembled import assemble
from tests.suites.packages import python_folder
from tests.suites.tool import Run, run

LOCK: Final = CHECKOUT / "requirements-docs.lock"


def build(folder: Path) -> Run:
    """Build the site into `folder/site`; a link to a page or section that does not exist is an error.

    Raises:
        ServerUnavailable: Zensical is not to be had here.
    """
    path = {"PYTHONPATH": str(python_folder(LOCK)), "NO_COLOR": "1"}
    assemble(folder)
    return run([sys.executable, "-m", "zensical", "build", "--strict"], folder, path)
