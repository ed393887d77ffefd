import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.resources import explorer_page
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.web.build import FILE, built, checked, examples, project, text_of

MOST_BYTES = 700_000


@pytest.fixture(scope="module")
def sources() -> Iterator[Path]:
    """A copy of the sources of the page, with their packages."""
    try:
        with project() as folder:
            yield folder
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.mark.server
def test_the_types_of_the_sources_are_right_and_their_tests_pass(sources: Path) -> None:
    checked(sources)


@pytest.mark.server
def test_the_committed_page_is_what_its_sources_build(sources: Path) -> None:
    assert built(sources) == explorer_page().read_bytes(), "run `make web`"


def test_the_page_is_small() -> None:
    assert explorer_page().stat().st_size < MOST_BYTES


@pytest.mark.anyio
async def test_the_examples_of_the_reader_are_answers_of_this_gateway() -> None:
    text = text_of(await examples())
    if os.environ.get("BFSQL_WRITE_EXAMPLES") == "1":
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text, "run it with BFSQL_WRITE_EXAMPLES=1"
