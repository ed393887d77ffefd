"""The command `explore`: serves the explorer page on this machine, and opens it in the browser."""

from __future__ import annotations

import threading
import webbrowser

from gateway.cli.options import CommonOptions
from gateway.cli.serving import serve
from gateway.cli.streams import print_note
from gateway.settings.serving import HttpSettings

_HOST = "127.0.0.1"


def explore(options: CommonOptions, port: int, *, opens_browser: bool) -> int:
    """Serve the page until a signal arrives, and return the exit status.

    Args:
        options: The graph.
        port: The port; 0 for any free one.
        opens_browser: Whether to open the page; else its address is only printed.

    Raises:
        ConfigurationError: An option, a file name or the port is wrong.
    """

    def ready(url: str) -> None:
        print_note(f"The page is at {url}", quiet=options.quiet)
        if opens_browser:
            # Some browsers hold the caller until they are closed.
            threading.Thread(target=webbrowser.open, args=(url,), name="browser", daemon=True).start()

    return serve(options, HttpSettings(_HOST, port), explorer=True, on_ready=ready)
