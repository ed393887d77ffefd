"""Calls while a database fails: none is answered wrongly, or with a part that is called complete."""

import pytest

from tests.postgres.database import Database
from tests.postgres.faulted import FAULTS, faulted

pytestmark = [pytest.mark.anyio, pytest.mark.server]


async def test_no_faulted_call_is_answered_wrongly(database: Database) -> None:
    report = await faulted(database, 96, 2026)
    assert report.wrong == []
    assert report.outcomes.total() == 96
    assert {fault for fault, _ in report.outcomes} == set(FAULTS)
    assert {kind for _, kind in report.outcomes} > {"complete"}
