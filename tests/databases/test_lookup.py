"""What a graph is made of is looked up once in a while, and again when somebody says so."""

import asyncio

import pytest

from gateway.databases.client import Remembered
from gateway.errors import NetworkFault

pytestmark = pytest.mark.anyio


class Database:
    """What is looked up: a number that grows; each look-up waits until it is let through."""

    def __init__(self) -> None:
        self.now = 0.0
        self.number = 0
        self.lets_through = asyncio.Event()
        self.lets_through.set()
        self.lookup: Remembered[int | None] = Remembered(300, lambda: self.now)

    async def _read(self) -> int | None:
        number = self.number
        await self.lets_through.wait()
        if number < 0:
            raise NetworkFault("The database could not be reached.")
        return number or None

    async def found(self) -> int | None:
        """Return what the look-up gives."""
        return await self.lookup.found(self._read)


async def test_what_was_found_is_used_for_its_time_and_then_looked_up_again() -> None:
    database = Database()
    assert await database.found() is None
    database.number, database.now = 1, 299.0
    assert await database.found() is None
    database.now = 300.0
    assert await database.found() == 1


async def test_what_is_forgotten_is_looked_up_again() -> None:
    database = Database()
    await database.found()
    database.number = 1
    database.lookup.forget()
    assert await database.found() == 1


async def test_what_is_forgotten_during_a_look_up_is_looked_up_again() -> None:
    database = Database()
    database.lets_through.clear()
    first = asyncio.create_task(database.found())
    await asyncio.sleep(0)
    database.number = 1
    database.lookup.forget()
    database.lets_through.set()
    assert await first is None
    assert await database.found() == 1


async def test_a_look_up_that_failed_is_made_again() -> None:
    database = Database()
    database.number = -1
    with pytest.raises(NetworkFault):
        await database.found()
    database.number = 2
    assert await database.found() == 2
