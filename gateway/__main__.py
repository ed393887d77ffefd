"""Runs the command line: as `python -m gateway`, and as the program that an installation has."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command line of this process and return its exit status."""
    try:
        # Ctrl-C may come while this is imported.
        from gateway.cli.main import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        # The status that shells give to it; the module that names it may be what was being imported.
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
