"""What a query to a database costs is noted for its call."""

from typing import Any

import pytest

from gateway.flow.control import FlowControl
from gateway.settings.endpoint import RequestSettings
from gateway.terms.literals import Literal
from tests.databases.fakes import FakeClient, FakePool, call

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("row", "size"),
    [
        (["x" * 50_000, None], 50_008),
        ([["ab", "c"], {"key": Literal("1932", "urn:d"), "list": ["xy"]}], 3 + 3 + 4 + 4 + 2),
        ((True, 7, 0.5), 24),
    ],
)
async def test_the_size_of_an_answer_is_that_of_its_values(row: Any, size: int) -> None:
    client = FakeClient(FakePool(lambda *_: [row, row]), FlowControl(RequestSettings()), 10, "alive")
    asking = call()
    await client.rows("edges", asking)
    assert asking.tally.answered(complete=True).bytes == 2 * size
