"""`python -m tests.site [OWNER/NAME]`: build the documentation into site/, with links to a repository at GitHub."""

import shutil
import sys
import tempfile
from pathlib import Path

from tests.servers.cache import CHECKOUT
from tests.servers.unavailable import ServerUnavailable
from tests.site.build import build


def main() -> int:
    """Build the site; return 1 if a page has a fault."""
    with tempfile.TemporaryDirectory(prefix="site-") as scratch:
        try:
            done = build(Path(scratch), *sys.argv[1:2])
        except (ServerUnavailable, ValueError) as error:
            sys.stderr.write(f"{error}\n")
            return 1
        if done.code:
            sys.stderr.write(done.output)
            return 1
        target = CHECKOUT / "site"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(Path(scratch) / "site", target)
    sys.stdout.write("Built: site/index.html\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
