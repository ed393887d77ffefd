"""A real browser, and what it complains about."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from tests.servers.unavailable import ServerUnavailable

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Software draws WebGL where there is no graphics card.
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)
WAIT_MS: Final = 30_000

Scheme = Literal["light", "dark"]


@contextmanager
def browser() -> Iterator[Browser]:
    """Give a headless Chromium of this machine.

    Raises:
        ServerUnavailable: There is none.
    """
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise ServerUnavailable("needs Chromium: install it (Debian: apt-get install chromium)")
    # What is expected may take as long as what is done: five seconds, the default, are few on a busy machine.
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=list(_FLAGS))
        try:
            yield chromium
        finally:
            chromium.close()


@dataclass(slots=True)
class Watched:
    """A page, with its errors and its requests to other servers.

    Attributes:
        page: The page.
        errors: What the console was told as an error, and what nobody caught.
        outside: URLs of other servers that the page asked for.
    """

    page: Page
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)


@contextmanager
def opened(
    chromium: Browser, url: str, *, width: int = 1280, scheme: Scheme = "light", script: str = ""
) -> Iterator[Watched]:
    """Give a page that has loaded a URL, after a script of the test's own."""
    page = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.set_default_timeout(WAIT_MS)
    if script:
        page.add_init_script(script)
    watched = Watched(page)

    def console(message: ConsoleMessage) -> None:
        if message.type == "error":
            watched.errors.append(message.text)

    own = (url.partition("#")[0], "blob:", "data:")

    def request(asked: Request) -> None:
        if not asked.url.startswith(own):
            watched.outside.append(asked.url)

    page.on("console", console)
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    page.on("request", request)
    page.goto(url)
    try:
        yield watched
    finally:
        page.close()


def search(page: Page, query: str) -> None:
    """Search by name, and take the first hit by the keyboard."""
    page.get_by_role("combobox", name="Search by name").fill(query)
    page.locator("#hits [role=option]").first.wait_for()
    page.keyboard.press("Enter")


def choose(page: Page, menu: str, item: str) -> None:
    """Unfold a menu by the keyboard, and press one of its items; its kind may stand behind its name."""
    folded = page.locator("details.menu").filter(has=page.locator("summary", has_text=menu))
    folded.locator("summary").press("Enter")
    folded.get_by_role("button", name=re.compile(rf"^{re.escape(item)}(:|$)")).press("Enter")
