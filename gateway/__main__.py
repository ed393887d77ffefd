"""Runs the command line: as `python -m gateway`, and as the program that an installation has."""

from __future__ import annotations

import sys

from gateway.cli.streams import INTERRUPTED


def main() -> int:
    """Run the command line of this process and return its exit status."""
    try:
        # Ctrl-C may come while this is imported.
        from gateway.cli.main import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
