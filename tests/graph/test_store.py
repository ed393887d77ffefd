"""A store in front of another one hands on every method that it does not define, and no other name."""

import pytest

from gateway.graph.store import DelegatingStore, GraphStore
from tests.cache.fake_store import FakeStore

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
