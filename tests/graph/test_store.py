"""A store in front of another one hands on every method that it does not define, and no other name."""

from collections.abc import Sequence

import pytest

from gateway.graph.name_scan import compare_names
from gateway.graph.store import DelegatingStore, GraphStore
from gateway.graph.values import Hit, Hits
from tests.cache.fake_store import FakeStore, call
from tests.small import X

pytestmark = pytest.mark.anyio


# A store in front of another one hands on every method that it does not define, and no other name


METHODS = [name for name in vars(GraphStore) if not name.startswith("_")]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_the_port_is_that_of_the_store_below(name: str) -> None:
    below = FakeStore()
    assert getattr(DelegatingStore(below), name) == getattr(below, name)


def test_a_method_of_a_subclass_goes_before_that_of_the_store_below() -> None:
    class Own(DelegatingStore):
        def forget(self) -> None:
            """Forget nothing below."""

    below = FakeStore()
    Own(below).forget()
    DelegatingStore(below).forget()
    assert below.forgotten == 1


# What the scans of names prove, each of which a store may read in part only


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
