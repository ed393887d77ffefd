"""docs/wikidata.md: what the session sends, and what it is said to answer."""

import pytest

from tests.wikidata.recorded import PAGE, REQUESTS, SESSION, Step, put_in, record, requests_as_written

pytestmark = pytest.mark.anyio


async def test_the_page_of_requests_lists_every_request_that_the_session_sends() -> None:
    page = REQUESTS.read_text(encoding="utf-8")
    # Where this fails: `python -m tests.wikidata.recorded`, and read what changed.
    assert put_in(page, requests_as_written(await record())) == page


async def test_the_session_finds_what_the_page_says() -> None:
    _, search, described, traversal, shared = await record()
    (hit,) = search.answer["result"]
    assert (hit["id"], hit["entity_type"]) == ("wd:Q42", "wd:Q5")
    assert hit["description"].startswith("English writer and humorist")
    assert described.answer["labels"]["wdt:P569"] == "date of birth"
    assert [gap["cause"] for gap in traversal.answer["incomplete"]] == ["hub_not_expanded"]
    assert {node["name"] for node in shared.answer["nodes"]} == {"United Kingdom", "English", "male"}


async def test_only_the_two_hosts_of_the_page_are_asked() -> None:
    steps: list[Step] = list(await record())
    hosts = {url.partition("?")[0] for step in steps for _, url, _ in step.requests}
    assert hosts == {"https://query.wikidata.org/sparql", "https://www.wikidata.org/w/api.php"}
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"To `{host}`" in page for host in hosts)
    assert all(f"`{tool}" in page for tool, _ in SESSION)
