"""The schema of the reference graphs, on every engine: counted, and sampled as if they were large."""

import pytest

from gateway.graph.budget import Budget, Deadline
from gateway.settings.load import load_profile
from gateway.settings.profile import Orientation, Profile
from gateway.sparql.store import SparqlStore
from tests.columns import Column

pytestmark = [pytest.mark.anyio, pytest.mark.data]

ONLY_BLAZEGRAPH = pytest.param("blazegraph", marks=[pytest.mark.server, pytest.mark.xdist_group("blazegraph")])
AS_IF_LARGE = Orientation(glance_triples=1_000, enumeration_seconds=0)


def budget() -> Budget:
    """Return room enough."""
    return Budget(Deadline.after(120), 1_000, 1_000_000, 1_000_000)


async def test_medlit_has_19_types_and_16_predicates_and_they_are_all(engine: Column) -> None:
    async with engine.open("medlit") as gateway:
        schema = await gateway.describe_schema()
    assert (schema.entity_types_total, schema.predicates_total, schema.comprehensive) == (19, 16, True)
    assert schema.basis.methods == ["enumerated"]


@pytest.mark.large
async def test_codex_m_has_1505_types_of_which_200_are_listed(engine: Column) -> None:
    async with engine.open("codex-m", load_profile("wikidata-local")) as gateway:
        schema = await gateway.describe_schema()
    assert (schema.entity_types_total, len(schema.entity_types)) == (1_505, 200)
    # A cut list is not comprehensive, though every triple was read.
    assert schema.comprehensive is False
    assert schema.basis.methods == ["enumerated"]


async def test_a_sample_of_medlit_lists_what_is_there_and_claims_no_more(engine: Column) -> None:
    async with engine.open("medlit") as gateway:
        whole = await gateway.describe_schema()
    async with engine.open("medlit", Profile(orientation=AS_IF_LARGE)) as gateway:
        sample = await gateway.describe_schema()
    assert not sample.comprehensive
    assert "sampled" in sample.basis.methods
    assert {*sample.entity_types} <= {*whole.entity_types}
    assert {*sample.predicates} <= {*whole.predicates}
    assert len(sample.predicates) >= 8
    if engine.name in {"virtuoso", "blazegraph"}:
        # These know how many triples they have.
        assert sample.basis.share is not None


@pytest.mark.parametrize("engine", [ONLY_BLAZEGRAPH], indirect=True)
async def test_blazegraph_draws_triples_at_random_where_it_may(engine: Column) -> None:
    store = SparqlStore(engine.transport("medlit"), Profile(orientation=AS_IF_LARGE))
    allowance = budget()
    allowance.tally.keeps_queries = True
    try:
        await store.glance(allowance)
    finally:
        await store.close()
    (drawn,) = [
        sent
        for sent in allowance.tally.answered(complete=True, causes=[]).sent
        if sent.template == "schema/random_blazegraph"
    ]
    assert drawn.fault == ""
    assert drawn.rows > 0
