"""Readings of a schema by counts, samples and descriptions: what each may claim, and on every engine."""

import asyncio
import re
from collections import Counter

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import DeadlinePassed, EndpointFault, Fault, GaveUp, NetworkFault, QueryRefused
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.graph.values import Schema
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import LimitSettings, OrientationSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, EvidenceSettings
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import EngineDetector
from gateway.sparql.rule import EdgeRule
from gateway.sparql.schema_counts import Sampler
from gateway.sparql.store import SparqlStore
from gateway.tools.gateway import Gateway
from tests.columns import Column
from tests.small import PREFIXES, ROOM, Watched, WatchedElsewhere, X, engine, over

pytestmark = pytest.mark.anyio

VOID = "http://rdfs.org/ns/void#"
NODES = 400
LARGE = "\n".join(
    f"x:n{number} a x:T{number % 3} ; rdfs:label 'Node {number}' ; x:note {number} ; "
    f"x:p{number % 5} x:n{(7 * number) % NODES} ."
    for number in range(NODES)
)
"""More triples than the quick reading takes in these tests, which is 100."""

SAMPLED = OrientationSettings(glance_triples=100, enumeration_seconds=0)


def call(seconds: float = 30.0) -> Call:
    """Return room enough."""
    return Call(Deadline.after(seconds), 1_000, 1_000_000, 1_000_000)


def store(turtle: str, orientation: OrientationSettings = SAMPLED, **settings: object) -> SparqlStore:
    """Return a store over a graph."""
    profile = Profile.model_validate({"orientation": orientation, **settings})
    return SparqlStore(Watched(engine(turtle), _nothing), profile)


async def _nothing(_: str) -> None:
    pass


def counts(schema: Schema) -> tuple[dict[str, int | None], dict[str, int | None]]:
    """Return types and predicates by local name."""
    types = {term.iri.removeprefix(X): term.count for term in schema.types}
    return types, {term.iri.removeprefix(X): term.count for term in schema.predicates}


def oracle(turtle: str, excepted: frozenset[str]) -> tuple[Counter[str], Counter[str]]:
    """Count types and predicates one triple after the other."""
    types: Counter[str] = Counter()
    predicates: Counter[str] = Counter()
    for quad in engine(turtle):
        if isinstance(quad.subject, pyoxigraph.NamedNode) and isinstance(quad.object, pyoxigraph.NamedNode):
            if quad.predicate.value.endswith("#type"):
                types[quad.object.value.removeprefix(X)] += 1
            elif quad.predicate.value not in excepted:
                predicates[quad.predicate.value.removeprefix(X)] += 1
    return types, predicates


async def test_a_small_graph_is_counted_at_the_first_look() -> None:
    schema = await store("x:a a x:T ; x:p x:b, x:c ; rdfs:label 'A' . x:b x:q 5 .").quick_schema(call())
    assert schema.exact
    assert schema.basis.methods == ("enumerated",)
    assert schema.basis.triples == 5
    assert counts(schema) == ({"T": 1}, {"p": 2})


async def test_a_large_graph_is_sampled_at_the_first_look_and_claims_nothing() -> None:
    schema = await store(LARGE).quick_schema(call())
    assert not schema.exact
    assert "only" in schema.reason
    assert "sampled" in schema.basis.methods
    assert schema.basis.sampled > 0
    types, predicates = counts(schema)
    assert types.keys() == {"T0", "T1", "T2"}
    assert predicates.keys() == {f"p{number}" for number in range(5)}
    # What a sample counts is no count of the graph.
    assert set(types.values()) == {None}


class Elsewhere:
    """A store over a graph at an endpoint that is not known, which takes so many seconds for a sample."""

    def __init__(self, turtle: str, seconds: float) -> None:
        self.now = 0.0
        self.sent: list[str] = []
        self.seconds = seconds
        self.store = SparqlStore(WatchedElsewhere(engine(turtle), self._send), Profile())

    async def _send(self, query: str) -> None:
        if "SELECT ?p ?t (COUNT(*) AS ?count)" in query and "OFFSET" in query:
            self.now += self.seconds
        self.now += 0.02
        self.sent.append(query)

    def call(self) -> Call:
        """Return room enough, by the time that queries take."""
        return Call(Deadline.after(1_000, lambda: self.now), 1_000, 1_000_000, 1_000_000)


LONG = LARGE + "".join(f"x:m{number} x:p0 x:n1 .\n" for number in range(3_000))


async def test_a_large_graph_at_a_slow_endpoint_is_sampled_once_and_not_counted_beside_calls() -> None:
    slow = Elsewhere(LONG, 1.0)
    schema = await slow.store.quick_schema(slow.call())
    assert (schema.exact, schema.basis.methods, schema.basis.sampled) == (False, ("sampled",), 1_000)
    bounds = [int(bound) for query in slow.sent for bound in re.findall(r"LIMIT (\d+)\n\s*}", query)]
    # But for the rows of its answer, which a query may have in any case.
    assert max(set(bounds) - {Profile().limits.query_rows + 1}) <= 2_001
    with pytest.raises(EndpointFault, match="too long to count"):
        await slow.store.schema(slow.call())


async def test_an_endpoint_that_was_slow_because_it_had_just_started_is_counted_at_the_next_reading() -> None:
    cold = Elsewhere(LONG, 3.0)
    assert not (await cold.store.quick_schema(cold.call())).exact
    cold.seconds = 0.01
    schema = await cold.store.schema(cold.call())
    assert schema.exact
    assert counts(schema) == oracle(LONG, frozenset())


async def test_a_small_graph_at_a_slow_endpoint_is_counted() -> None:
    slow = Elsewhere("x:a a x:T ; x:p x:b, x:c ; rdfs:label 'A' . x:b x:q 5 .", 1.0)
    schema = await slow.store.quick_schema(slow.call())
    assert schema.exact
    assert counts(schema) == ({"T": 1}, {"p": 2})


async def test_how_fast_an_unknown_endpoint_is_takes_one_request_once_and_changes_nothing_where_it_is_fast() -> None:
    fast = Elsewhere(LONG, 0.05)
    for _ in range(2):
        assert (await fast.store.quick_schema(fast.call())).exact
    # That it takes a while to get there was seen when the engine was looked for.
    assert not [query for query in fast.sent if "?alive" in query]
    # The sample by which it was measured is the first one of the reading.
    assert sum("SELECT ?p ?t (COUNT(*) AS ?count)" in query and "OFFSET" in query for query in fast.sent) == 1


async def test_the_ends_of_edges_are_counted_beside_types_and_a_fault_of_either_is_that_of_the_reading() -> None:
    for part in ("SELECT ?t ?kind (COUNT", "SELECT ?p ?kind (COUNT"):
        failing, before = Failing(LARGE, part), asyncio.all_tasks()
        with pytest.raises(NetworkFault):
            await failing.store.quick_schema(call())
        assert asyncio.all_tasks() == before


class Failing:
    """A store over a small graph at an endpoint that fails on queries with some text."""

    def __init__(self, turtle: str, part: str) -> None:
        self._part = part
        self.store = SparqlStore(WatchedElsewhere(engine(turtle), self._send), Profile())

    async def _send(self, query: str) -> None:
        if self._part in query:
            raise NetworkFault("Reset.")


async def test_reading_in_full_counts_what_the_oracle_counts() -> None:
    schema = await store(LARGE).schema(call())
    assert schema.exact
    types, predicates = oracle(LARGE, frozenset({"http://www.w3.org/2000/01/rdf-schema#label"}))
    assert counts(schema) == (types, predicates)
    assert [term.count for term in schema.types] == sorted(types.values(), reverse=True)


async def test_a_graph_that_is_counted_in_many_queries_has_the_same_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = await store(LARGE).schema(call())
    monkeypatch.setattr("gateway.sparql.schema_counts._TRIPLES", 90)
    parts = await store(LARGE).schema(call())
    assert parts.exact
    assert (parts.types, parts.predicates, parts.version) == (whole.types, whole.predicates, whole.version)


async def test_reading_more_triples_than_the_operator_allows_is_never_exact() -> None:
    schema = await store(LARGE, limits=LimitSettings(scan_rows=500)).schema(call())
    assert not schema.exact
    assert "500" in schema.reason


async def test_what_is_described_is_listed_only_where_the_graph_uses_it() -> None:
    described = f"""
    x:Rare a owl:Class . x:Unused a owl:Class . x:unused a owl:ObjectProperty . x:rarely a owl:ObjectProperty .
    x:some a x:Rare ; x:rarely x:n1 .
    x:part <{VOID}class> x:Published ; <{VOID}entities> 7 . x:one a x:Published .
    x:other <{VOID}property> x:linked ; <{VOID}triples> 12 . x:one x:linked x:n2 .
    x:third <{VOID}property> x:note .
    """
    schema = await store(LARGE + described).quick_schema(call())
    types, predicates = counts(schema)
    assert {"Rare", "Published"} <= types.keys()
    assert types["Published"] is None or types["Published"] == 7
    assert {"rarely", "linked"} <= predicates.keys()
    assert not {"Unused"} & types.keys()
    assert not {"unused", "note"} & predicates.keys()
    assert not schema.exact
    assert {"published", "declared", "sampled"} == set(schema.basis.methods)


async def test_what_is_described_is_not_listed_where_evidence_alone_uses_it() -> None:
    described = f"""
    x:Evidence a owl:Class . x:stated a owl:ObjectProperty . x:both a owl:ObjectProperty .
    x:part <{VOID}class> x:Evidence . x:other <{VOID}property> x:stated .
    """ + "".join(
        f"x:e{number} a x:Evidence ; rdf:subject x:n1 ; rdf:predicate x:p0 ; rdf:object x:n2 ; "
        f"x:stated x:doc{number} ; x:both x:doc{number} .\n"
        for number in range(50)
    )
    schema = await store(LARGE + described + "x:n1 x:both x:n2 .").quick_schema(call())
    types, predicates = counts(schema)
    assert "Evidence" not in types
    assert "stated" not in predicates
    assert "both" in predicates


async def test_a_quick_reading_that_finds_the_engine_slow_for_all_triples_falls_back_on_samples() -> None:
    async def hook(query: str) -> None:
        if "LIMIT 101" in query:
            raise GaveUp("Too long.")

    watched = SparqlStore(Watched(engine(LARGE), hook), Profile(orientation=SAMPLED))
    schema = await watched.quick_schema(call())
    assert not schema.exact
    assert schema.types


async def test_a_small_graph_of_a_busy_engine_is_counted_all_the_same() -> None:
    busy = True

    async def hook(query: str) -> None:
        nonlocal busy
        if "LIMIT 200001" in query and busy:
            busy = False
            raise GaveUp("Too busy.")

    schema = await SparqlStore(Watched(engine(LARGE), hook), Profile()).quick_schema(call())
    assert schema.exact
    assert counts(schema)[0].keys() == {"T0", "T1", "T2"}


async def test_a_quick_reading_of_which_no_sample_comes_says_why() -> None:
    async def hook(query: str) -> None:
        if "OFFSET" in query or "LIMIT 101" in query:
            raise GaveUp("Too long.")

    watched = SparqlStore(Watched(engine(LARGE), hook), Profile(orientation=SAMPLED))
    with pytest.raises(GaveUp):
        await watched.quick_schema(call())


async def test_a_graph_that_is_changed_while_it_is_counted_is_not_called_counted() -> None:
    data = engine(LARGE)
    late = pyoxigraph.Quad(*(pyoxigraph.NamedNode(f"{X}{name}") for name in ("late", "p0", "n1")))

    async def hook(query: str) -> None:
        if "x/p3" in query:
            data.add(late)

    schema = await SparqlStore(Watched(data, hook), Profile(orientation=SAMPLED)).schema(call())
    assert not schema.exact
    assert "changed" in schema.reason
    again = await SparqlStore(Watched(data, _nothing), Profile(orientation=SAMPLED)).schema(call())
    assert again.exact


async def test_a_small_graph_that_cannot_be_counted_is_a_fault_and_no_empty_list() -> None:
    async def hook(query: str) -> None:
        if "DISTINCT ?n ?t" in query:
            raise EndpointFault("Down.")

    with pytest.raises(EndpointFault, match="Down"):
        await SparqlStore(Watched(engine(LARGE), hook), Profile()).quick_schema(call())


async def test_an_enumeration_that_runs_out_of_time_is_not_exact() -> None:
    async def hook(query: str) -> None:
        if "x/p3" in query:
            raise DeadlinePassed("Over.")

    watched = SparqlStore(Watched(engine(LARGE), hook), Profile(orientation=SAMPLED))
    schema = await watched.schema(call())
    assert not schema.exact
    assert schema.reason == "Over."
    assert schema.types
    # Not every triple was read to the end.
    assert schema.basis.methods == ("sampled",)


async def test_a_graph_with_more_predicates_than_one_query_may_return_says_so_and_how_much_was_read() -> None:
    turtle = "\n".join(f"x:a x:p{number} x:b ." for number in range(40))
    schema = await store(turtle, limits={"query_rows": 10}).schema(call())
    assert not schema.exact
    assert schema.reason == "the graph has more types or predicates than one query may return (10)"
    assert schema.basis.methods == ("sampled",)
    assert schema.basis.sampled == 10


async def test_lists_that_are_cut_or_left_out_or_not_read_are_known_to_lack_terms() -> None:
    many = "\n".join(f"x:a x:p{number} x:b ." for number in range(40))
    rows = {"query_rows": 10}
    assert (await store(many, limits=rows).schema(call())).is_cut
    assert (await store(many, OrientationSettings(glance_triples=10), limits=rows).quick_schema(call())).is_cut
    assert (await _unchecked("x:a x:p x:b .", f"<{X}a> <{X}has part> <{X}c> .").schema(call())).is_cut
    assert not (await store(LARGE, limits={"scan_rows": 100}).schema(call())).is_cut
    assert not (await store(LARGE).quick_schema(call())).is_cut

    async def hook(query: str) -> None:
        if "?kind" in query:
            raise EndpointFault("Down.")

    assert (await SparqlStore(Watched(engine(LARGE), hook), Profile(orientation=SAMPLED)).quick_schema(call())).is_cut


async def test_a_sample_is_no_larger_than_the_graph_of_which_the_engine_knows_the_size() -> None:
    profile = Profile(
        orientation=OrientationSettings(glance_triples=10, enumeration_seconds=0),
        endpoint=EndpointSettings(engine="qlever"),
    )
    read = SparqlStore(Watched(engine("\n".join(f"x:a x:p x:b{number} ." for number in range(20))), _nothing), profile)
    schema = await read.quick_schema(call())
    assert (schema.basis.sampled, schema.basis.triples) == (20, 20)
    assert "only 20 triples" in schema.reason


async def test_a_rare_type_of_the_last_file_is_never_missing_from_a_list_that_is_called_complete() -> None:
    late = "x:late a x:Rare ; x:p0 x:n1 ."
    data = engine(LARGE)

    async def described(gateway: Gateway) -> tuple[bool, list[str]]:
        answer = await gateway.describe_schema()
        return answer.comprehensive, answer.entity_types

    async with over(
        data, Profile(size=ROOM, orientation=OrientationSettings(glance_triples=100, patience_seconds=60))
    ) as gateway:
        assert await described(gateway) == (True, ["x:T0", "x:T1", "x:T2"])
        header = "".join(f"@prefix {name}: <{namespace}> .\n" for name, namespace in PREFIXES.items())
        data.load((header + late).encode(), pyoxigraph.RdfFormat.TURTLE)
        await gateway.bfs_query(["x:n1"], 1)
        complete, types = await described(gateway)
    assert not complete
    assert "x:Rare" in types


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), max_size=25), st.integers(1, 60))
async def test_what_is_called_exact_is_all_there_is(triples: list[tuple[int, int, int]], most: int) -> None:
    turtle = "\n".join(
        f"x:n{one} a x:T{other} ; x:p{two} x:n{other} ; x:q{other} 'text' ." for one, two, other in triples
    )
    there = store(turtle, OrientationSettings(glance_triples=most))
    for schema in (await there.quick_schema(call()), await there.schema(call())):
        if schema.exact:
            assert counts(schema) == oracle(turtle, frozenset())
        else:
            types, predicates = oracle(turtle, frozenset())
            assert counts(schema)[0].keys() <= types.keys()
            assert counts(schema)[1].keys() <= predicates.keys()


async def test_an_allow_list_of_namespaces_holds_for_samples_too() -> None:
    schema = await store(LARGE, edges=EdgeSettings(allowed=(f"{X}p1",))).quick_schema(call())
    assert counts(schema)[1].keys() == {"p1"}


def _unchecked(turtle: str, triples: str) -> SparqlStore:
    """Return a store over a graph that has IRIs which no query can name, as engines load them that check nothing."""
    graph = engine(turtle)
    graph.bulk_load(triples.encode(), pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)
    return SparqlStore(Watched(graph, _nothing), Profile(orientation=SAMPLED))


async def test_a_predicate_that_no_query_can_name_leaves_the_others_and_the_list_is_not_complete() -> None:
    schema = await _unchecked("x:a a x:T ; x:p x:b .", f"<{X}a> <{X}has part> <{X}c> .").quick_schema(call())
    assert counts(schema) == ({"T": 1}, {"p": 1})
    assert not schema.exact
    # It is text of the graph, so it is counted and not shown.
    assert schema.left_out == 1
    assert schema.reason.startswith("types and predicates are left out (1)")


@pytest.mark.parametrize("kind", [f"<{X}no type>", '"Drug"', "_:kind"])
async def test_a_type_that_no_query_can_name_leaves_the_others(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.sparql.schema_counts._TRIPLES", 1)
    triples = f"<{X}b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> {kind} ."
    schema = await _unchecked("x:a a x:T ; x:p x:b .", triples).schema(call())
    assert counts(schema) == ({"T": 1}, {"p": 1})
    # Literals and blank nodes are no types, so nothing is missing without them.
    assert schema.exact is not kind.startswith("<")


async def test_a_sample_of_a_graph_with_such_terms_shows_the_others() -> None:
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    declared = "<http://www.w3.org/2002/07/owl#Class>"
    triples = f"<{X}n1> {kind} <{X}no type> .\n<{X}no class> {kind} {declared} .\n<{X}n1> <{X}has part> <{X}n2> ."
    schema = await _unchecked(LARGE, triples).quick_schema(call())
    assert {"T0", "T1", "T2"} <= counts(schema)[0].keys()


async def test_a_predicate_that_no_query_can_name_is_not_taken_for_the_one_of_names() -> None:
    triples = "\n".join(f'<{X}n{number}> <{X}full name> "Somebody {number}" .' for number in range(9))
    store = _unchecked("x:n1 a x:T ; x:p x:n2 .", triples)
    await store.quick_schema(call())
    facts = await store.nodes([f"{X}n1"], call(), names=True)
    assert facts[f"{X}n1"].types == (f"{X}T",)


class _Resolving(Watched):
    """An engine that resolves the IRIs of queries and not those that it loads, as Fuseki does."""

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query."""
        return await super().select(query.replace("/x/../x/", "/x/"), deadline, spend)


async def test_a_list_without_a_predicate_that_the_engine_reads_as_another_is_not_complete() -> None:
    transport = _Resolving(engine("x:a a x:T ; x:p x:b ; <https://example.org/x/../x/q> x:c ."), _nothing)
    schema = await SparqlStore(transport, Profile()).quick_schema(call())
    assert counts(schema) == ({"T": 1}, {"p": 1})
    assert not schema.exact


async def test_a_list_is_of_the_time_when_the_reading_began() -> None:
    now = [1_700_000_000.0]

    async def hook(_: str) -> None:
        now[0] += 60

    # To look for evidence first is no part of reading the schema.
    profile = Profile(evidence=EvidenceSettings(ways=()))
    read = SparqlStore(Watched(engine("x:a a x:T ; x:p x:b ."), hook), profile, wall_clock=lambda: now[0])
    assert (await read.quick_schema(call())).basis.read_at == 1_700_000_000.0
    now[0] = 1_800_000_000.0
    assert (await read.schema(call())).basis.read_at == 1_800_000_000.0


async def test_no_query_is_left_under_way_once_a_quick_reading_has_failed() -> None:
    async def hook(query: str) -> None:
        if "?kind" in query:
            await asyncio.Event().wait()
        if "OFFSET" in query and "?t" in query:
            raise EndpointFault("Down.")

    before = asyncio.all_tasks()
    look = SparqlStore(Watched(engine(LARGE), hook), Profile(orientation=SAMPLED)).quick_schema(call(1e9))
    with pytest.raises(EndpointFault):
        await look
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize(
    ("fault", "exact"), [(QueryRefused("No named graphs here."), True), (EndpointFault("The endpoint failed."), False)]
)
async def test_the_lists_of_an_empty_graph_are_whole_only_if_named_graphs_could_be_looked_for(
    fault: Fault, exact: bool
) -> None:
    async def hook(query: str) -> None:
        if "GRAPH" in query:
            raise fault

    schema = await SparqlStore(WatchedElsewhere(engine(""), hook), Profile()).schema(call())
    assert schema.exact == exact
    assert exact or fault.wrong in schema.reason


AS_IF_LARGE = OrientationSettings(glance_triples=1_000, enumeration_seconds=0)


@pytest.mark.data
@pytest.mark.data
async def test_medlit_has_19_types_two_of_schema_terms_and_16_predicates_and_they_are_all(engine: Column) -> None:
    async with engine.open("medlit") as gateway:
        schema = await gateway.describe_schema()
    assert (schema.entity_types_total, schema.predicates_total, schema.comprehensive) == (21, 16, True)
    assert {iri.rpartition("#")[2].rpartition(":")[2] for iri in schema.entity_types[-2:]} == {"Property", "Class"}
    assert schema.basis.methods == ["enumerated"]


@pytest.mark.data
@pytest.mark.large
@pytest.mark.data
async def test_codex_m_has_1505_types_of_which_20_are_listed_and_all_are_known(engine: Column) -> None:
    usual = load_profile("wikidata-local")
    patient = usual.limits.model_copy(update={"schema_seconds": 100.0, "deadline_seconds": 120.0})
    async with engine.open("codex-m", usual.model_copy(update={"limits": patient})) as gateway:
        schema = await gateway.describe_schema()
    assert (schema.entity_types_total, len(schema.entity_types)) == (1_505, 20)
    assert schema.comprehensive
    assert schema.basis.methods == ["enumerated"]


@pytest.mark.data
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


@pytest.mark.data
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
