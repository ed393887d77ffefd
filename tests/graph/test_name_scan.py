"""What the scans of names prove, each of which a store may read in part only."""

from collections.abc import Sequence

import pytest

from gateway.graph.name_scan import compare_names
from gateway.graph.values import Hit, Hits
from tests.cache.fake_store import call
from tests.small import X

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("lacking", ["truncated", "exhaustive"])
async def test_what_the_first_scan_could_not_read_is_not_claimed_to_be_absent(lacking: str) -> None:
    async def scan(words: Sequence[str], *, every: bool, whole: bool) -> Hits:
        del words
        # A name with every word is longer than what the store compares.
        is_part = every and not whole
        return Hits((), is_part and lacking == "truncated", "", exhaustive=not (is_part and lacking == "exhaustive"))

    found = await compare_names("ove art", scan, call())
    assert (found.truncated, found.exhaustive, found.absent) == (lacking == "truncated", lacking != "exhaustive", ())


async def test_a_word_that_no_scan_has_seen_is_absent() -> None:
    async def scan(words: Sequence[str], *, every: bool, whole: bool) -> Hits:
        del words, whole
        return Hits(() if every else (Hit(f"{X}a", "fine art", is_synonym=False),), truncated=False, how="")

    assert (await compare_names("ove art", scan, call())).absent == ("ove",)
