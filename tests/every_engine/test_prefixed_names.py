"""Every engine reads the prefixed names of a long list as the IRIs that are meant."""

import pytest

from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline
from gateway.settings.endpoint import RequestSettings
from gateway.settings.profile import Profile
from gateway.sparql import table
from gateway.sparql.client import SparqlClient
from tests.columns import Column

pytestmark = pytest.mark.anyio

NAMES = (
    *(
        "0",
        "007",
        "1e5",
        "1_000",
        "9a",
        "_",
        "__",
        "_1",
        "a",
        "A",
        "a_",
        "e",
        "E10",
        "x" * 100,
        "x" * 101,
        "x" * 900,
        "Q42",
        "P31",
        "b0",
        "_b0",
    ),
    *(
        "true",
        "false",
        "select",
        "SELECT",
        "in",
        "IN",
        "exists",
        "graph",
        "base",
        "prefix",
        "n1",
        "nan",
        "inf",
        "u0041",
    ),
)


@pytest.mark.parametrize(
    "namespace", ["http://ex.org/", "https://ex.org/a/b#", "http://127.0.0.1:80/x/", "http://ex.org/?a=/"]
)
async def test_a_name_of_letters_digits_and_underscores_is_the_iri_that_is_meant(
    engine: Column, namespace: str
) -> None:
    client = SparqlClient(engine.transport("odd"), engine.settle("odd", Profile()), FlowControl(RequestSettings()))
    call = Call(Deadline.after(60), 10, 1_000, 1_000)
    call.tally.with_queries = True
    sent = [namespace + name for name in NAMES]
    rows = (await client.rows("iris_as_read", call, {"nodes": sent})).whole()
    (query,) = call.tally.answered(complete=True).sent
    assert query.sparql.startswith(f"PREFIX n1: <{namespace}>")
    assert sorted(table.iri("n")(table.binding(rows, "n"))) == sorted(sent)
    await client.close()
