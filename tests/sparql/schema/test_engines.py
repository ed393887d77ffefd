"""The schema of the reference graphs, on every engine: counted, and sampled as if they were large."""

import pytest

from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline
from gateway.settings.limits import OrientationSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import EngineDetector
from gateway.sparql.rule import EdgeRule
from gateway.sparql.schema_counts import Sampler
from tests.columns import Column

pytestmark = [pytest.mark.anyio, pytest.mark.data]

AS_IF_LARGE = OrientationSettings(glance_triples=1_000, enumeration_seconds=0)


def call(seconds: float = 30.0) -> Call:
    """Return room enough."""
    return Call(Deadline.after(seconds), 1_000, 1_000_000, 1_000_000)


@pytest.mark.data
async def test_medlit_has_19_types_and_16_predicates_and_they_are_all(engine: Column) -> None:
    async with engine.open("medlit") as gateway:
        schema = await gateway.describe_schema()
    assert (schema.entity_types_total, schema.predicates_total, schema.comprehensive) == (19, 16, True)
    assert schema.basis.methods == ["enumerated"]


@pytest.mark.large
@pytest.mark.data
async def test_codex_m_has_1505_types_of_which_40_are_listed_and_all_are_known(engine: Column) -> None:
    usual = load_profile("wikidata-local")
    patient = usual.limits.model_copy(update={"schema_seconds": 100.0, "deadline_seconds": 120.0})
    async with engine.open("codex-m", usual.model_copy(update={"limits": patient})) as gateway:
        schema = await gateway.describe_schema()
    assert (schema.entity_types_total, len(schema.entity_types)) == (1_505, 40)
    assert schema.comprehensive
    assert schema.basis.methods == ["enumerated"]


@pytest.mark.data
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


@pytest.mark.server
@pytest.mark.data
@pytest.mark.parametrize("engine", ["blazegraph"], indirect=True)
async def test_blazegraph_draws_triples_at_random_where_it_may(engine: Column) -> None:
    profile = Profile()
    transport = engine.transport("medlit")
    flow = FlowControl(profile.endpoint.requests)
    client = SparqlClient(transport, profile, flow, EngineDetector(transport, profile, flow))
    allowance = call(120)
    allowance.tally.with_queries = True
    try:
        sample = await Sampler(client, EdgeRule.of(profile.edges), profile).at_random(allowance)
    finally:
        await client.close()
    assert "schema/random_blazegraph" in {
        sent.template for sent in allowance.tally.answered(complete=True, causes=[]).sent
    }
    assert sample.triples > 0
    assert sum(sample.predicates.values()) + sum(sample.types.values()) > 0
