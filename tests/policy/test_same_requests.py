"""A hidden term is asked about as one that the graph does not have: by the same requests, none of which reads it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import product
from typing import Any

import pyoxigraph
import pytest
from pyoxigraph import Literal, NamedNode, Quad

from gateway.errors import EndpointFault, Fault, GatewayError, GaveUp, NetworkFault, QueryRefused
from gateway.graph.call import Call, Deadline, GivenTerms, Spend, unpaid
from gateway.graph.values import Degree
from gateway.settings.endpoint import EndpointSettings, RequestSettings
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile, under_policy_at_endpoint
from gateway.sparql.store import SparqlStore
from gateway.stores.endpoints import store_over
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.cases import await_each
from tests.policy.visible import RDF, RDFS
from tests.small import WatchedElsewhere

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

X = "https://example.org/n/"
OPEN, NEAR = f"{X}300001", f"{X}300002"
KNOWS = f"{X}400001"
HIDDEN = {
    "978819": "a node of a hidden type",
    "978829": "a node of a subclass of one",
    "978839": "a hidden type",
    "978849": "a hidden predicate",
    "978859": "a hidden graph",
    "978869": "a node that states something",
    "978879": "a predicate of a hidden type",
    "978889": "a singleton property",
    "978899": "a subclass of a hidden type",
}
LISTED = ", ".join(f"<{X}{number}>" for number in ("978839", "978849", "978859"))
"""In the conditions of every query."""

FINDING = "?predicate WHERE"
"""In the query that finds out what is hidden."""

STATING = "978869"

EDGES = 500
FEW = 5

ENTITIES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "around it": ("bfs_query", {"seeds": ["?"], "max_hops": 2}),
    "around it and another": ("bfs_query", {"seeds": [OPEN, "?"], "max_hops": 1}),
    "around it, with few edges of each": ("bfs_query", {"seeds": ["?"], "max_hops": 1, "max_edges_per_node": 3}),
    "around it, along some edges": ("bfs_query", {"seeds": ["?"], "max_hops": 1, "only_predicates": [KNOWS]}),
    "near it and another": ("intersect_subgraphs", {"seeds": [OPEN, "?"], "k": 1}),
    "farther from it and another": ("intersect_subgraphs", {"seeds": [OPEN, "?"], "k": 2}),
    "about it": ("describe_entity", {"id": "?"}),
    "about it, with its name": ("describe_entity", {"id": "<?>"}),
    "about it and another": ("describe_entities", {"ids": [OPEN, "?"]}),
    "by its ID": ("search_entities", {"query": "?"}),
}
TERMS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "along it": ("bfs_query", {"seeds": [OPEN], "max_hops": 1, "only_predicates": ["?"]}),
    "against it": ("bfs_query", {"seeds": [NEAR], "max_hops": 1, "only_predicates": ["^?"]}),
    "along it, from two": ("intersect_subgraphs", {"seeds": [OPEN, NEAR], "k": 1, "only_predicates": ["?"]}),
    "metadata of its edges": ("bfs_query", {"seeds": [OPEN], "max_hops": 1, "predicates": ["?"]}),
    "without its nodes": ("bfs_query", {"seeds": [OPEN], "max_hops": 1, "exclude_node_types": ["?"]}),
    "with its nodes alone": ("bfs_query", {"seeds": [OPEN], "max_hops": 1, "only_node_types": ["?"]}),
    "metadata of its nodes": ("bfs_query", {"seeds": [OPEN], "max_hops": 1, "node_types": ["?"]}),
    "all nodes of it": ("search_entities", {"node_types": ["?"]}),
    "nodes of it by name": ("search_entities", {"query": "open", "node_types": ["?"]}),
}
QUESTIONS = {**ENTITIES, **TERMS}
PROFILE = Profile(
    hidden=HiddenSettings(types=(f"{X}978839",), predicates=(f"{X}978849",), graphs=(f"{X}978859",)),
    # One at a time: of edges that are asked for ahead, and given up where there is no such node, it depends on the time
    # whether the request was sent.
    endpoint=EndpointSettings(
        engine="oxigraph", graphs=("urn:open",), requests=RequestSettings(retries=0, concurrency=1)
    ),
    orientation=OrientationSettings(glance_triples=1, enumeration_seconds=0),
)


def graph(edges: int = FEW) -> pyoxigraph.Store:
    """Return a graph in which each hidden term is a node and a type of so many triples, and a predicate of few."""
    store = pyoxigraph.Store()

    def add(subject: str, predicate: str, value: NamedNode | Literal) -> None:
        store.add(Quad(NamedNode(subject), NamedNode(predicate), value))

    hidden = [f"{X}{number}" for number in HIDDEN]
    person = NamedNode(f"{X}500001")
    for node in (OPEN, NEAR):
        add(node, f"{RDF}type", person)
        add(node, f"{RDFS}label", Literal(f"open {node[-6:]}"))
    add(OPEN, KNOWS, NamedNode(NEAR))
    for hub in hidden:
        add(hub, f"{RDFS}label", Literal("nobody"))
        for number in range(edges):
            end = f"{X}{600_000 + number}"
            add(hub, KNOWS, NamedNode(end))
            add(end, f"{RDF}type", NamedNode(hub))
        for number in range(FEW):
            end = f"{X}{600_000 + number}"
            add(OPEN, hub, NamedNode(end))
            add(end, hub, NamedNode(NEAR))
    for at, kind in ((0, 2), (1, 8), (6, 2)):
        add(hidden[at], f"{RDF}type", NamedNode(hidden[kind]))
    add(hidden[8], f"{RDFS}subClassOf", NamedNode(hidden[2]))
    add(hidden[5], f"{RDF}subject", NamedNode(OPEN))
    add(hidden[7], f"{RDF}singletonPropertyOf", NamedNode(KNOWS))
    return store


class Recorded(WatchedElsewhere):
    """An endpoint that notes each query, and the size of the answer."""

    def __init__(self, store: pyoxigraph.Store) -> None:
        super().__init__(store, self.fail, PROFILE.endpoint.requests)
        self.sent: list[tuple[str, int]] = []
        self.fault: Fault | None = None
        self.faulty = FINDING

    async def fail(self, query: str) -> None:
        """Raise the fault, if there is one for such a query."""
        if self.fault is not None and self.faulty in query:
            raise self.fault

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query."""
        body = await super().select(query, deadline, spend)
        self.sent.append((query, len(body)))
        return body


@asynccontextmanager
async def opened(endpoint: Recorded, profile: Profile = PROFILE) -> AsyncIterator[Gateway]:
    settings = under_policy_at_endpoint(profile)
    # No time passes, after which a schema would be read again beside a question.
    store = store_over(endpoint, settings)
    async with Gateway(store, settings, PrefixMap({"n": X}), clock=lambda: 0.0) as gateway:
        await gateway.wait_until_ready()
        await gateway.call("search_entities", {"query": "open"})
        yield gateway


def filled(value: Any, number: str) -> Any:
    if isinstance(value, dict):
        return {name: filled(one, number) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, number) for one in value]
    return value.replace("?", f"{X}{number}") if isinstance(value, str) else value


async def answered(gateway: Gateway, question: tuple[str, dict[str, Any]], number: str) -> str:
    tool, arguments = question
    try:
        answer = await gateway.call(tool, filled(arguments, number), shape="compact")
    except GatewayError as error:
        return f"{type(error)}: {error}".replace(number, "?")
    return str(answer.as_json()).replace(number, "?")


async def told(gateway: Gateway, endpoint: Recorded, question: tuple[str, dict[str, Any]], number: str) -> Any:
    """Return what comes, and the kind and both sizes of each request, cold and warm."""
    gateway.forget()
    seen: list[Any] = []
    for _ in range(2):
        endpoint.sent.clear()
        answer = await answered(gateway, question, number)
        seen.append((answer, sorted((query.partition("{")[0], len(query), size) for query, size in endpoint.sent)))
    return seen


def unknown(number: str) -> str:
    """Return the number of a term that the graph does not have: of the same digits, because words become patterns."""
    return number.replace("97", "79")


@pytest.mark.parametrize("questions", [ENTITIES, TERMS], ids=["entities", "terms"])
async def test_what_is_asked_for_a_hidden_term_is_what_is_asked_for_an_unknown_one(
    questions: Mapping[str, tuple[str, dict[str, Any]]],
) -> None:
    endpoint = Recorded(graph(EDGES))
    async with opened(endpoint) as gateway:

        async def check(how: str) -> None:
            first = await told(gateway, endpoint, questions[how], unknown(next(iter(HIDDEN))))
            assert first[0][1]
            for number, what in HIDDEN.items():
                found = await told(gateway, endpoint, questions[how], number)
                # Where digits are words that are searched for, another unknown term has other answers.
                if found != first:
                    assert found == await told(gateway, endpoint, questions[how], unknown(number)), what

        await await_each(questions, check)


async def test_a_hidden_term_is_in_no_question_but_the_one_whether_it_is_hidden() -> None:
    endpoint = Recorded(graph(EDGES))
    async with opened(endpoint) as gateway:

        async def check(case: tuple[str, str]) -> None:
            how, number = case
            endpoint.sent.clear()
            gateway.forget()
            await answered(gateway, QUESTIONS[how], number)
            # A search compares the caller's words with the local names of what is not hidden, whatever they are.
            sent = [query.replace(LISTED, "").replace(f"(?:{number}|", "") for query, _ in endpoint.sent]
            assert sum(FINDING in query for query in sent) == 1
            assert not [query for query in sent if number in query and FINDING not in query]

        # As a predicate or a type, what states something about a triple is as good as any other.
        await await_each([*product(ENTITIES, HIDDEN), *product(TERMS, sorted({*HIDDEN} - {STATING}))], check)


async def test_what_is_hidden_is_found_out_once_for_questions_that_are_asked_at_once() -> None:
    endpoint = Recorded(graph())
    edges = PROFILE.edges.model_copy(update={"redirects": ("urn:merged",)})
    async with opened(endpoint, PROFILE.model_copy(update={"edges": edges})) as gateway:
        gateway.forget()
        endpoint.sent.clear()
        await gateway.bfs_query([OPEN], 1)
        assert sum(FINDING in query for query, _ in endpoint.sent) == 1


async def test_without_a_policy_and_without_an_id_nothing_is_asked_about_it() -> None:
    endpoint = Recorded(graph())
    async with opened(endpoint, PROFILE.model_copy(update={"hidden": HiddenSettings()})) as gateway:
        await gateway.bfs_query([OPEN], 1)
    async with opened(endpoint) as gateway:
        await gateway.search_entities("near")
    assert not [query for query, _ in endpoint.sent if FINDING in query]


@pytest.mark.parametrize("fault", [NetworkFault("Reset."), GaveUp("Too slow."), EndpointFault("Odd.")])
async def test_where_it_cannot_be_found_out_nothing_is_asked_about_any_term(fault: Fault) -> None:
    endpoint = Recorded(graph())
    async with opened(endpoint) as gateway:
        endpoint.fault = fault
        gateway.forget()
        for number in (*HIDDEN, unknown("978819")):
            endpoint.sent.clear()
            with pytest.raises(type(fault)):
                await gateway.bfs_query([f"{X}{number}"], 1)
            assert not [query for query, _ in endpoint.sent if number in query.replace(LISTED, "")]


async def test_a_term_that_the_engine_refuses_leaves_the_others() -> None:
    endpoint = Recorded(graph())
    odd = f"{X}%"
    async with opened(endpoint) as gateway:
        endpoint.fault, endpoint.faulty = QueryRefused("No IRI."), odd
        found = await gateway.describe_entities([OPEN, odd, f"{X}978819"])
    assert [entity.id for entity in found.result] == ["n:300001"]
    assert (found.failed, found.not_found) == (["n:%"], ["n:978819"])


async def test_what_is_hidden_is_found_out_beside_the_requests_that_a_call_may_send() -> None:
    endpoint = Recorded(graph())
    async with opened(endpoint) as gateway:
        asked = (OPEN, f"{X}978819", f"{X}{unknown('978819')}")
        known = await gateway.known_ids(asked, Call(Deadline.after(60), 1, 1_000, 1_000))
    assert (dict(known.ids), dict(known.failed)) == ({OPEN: "n:300001"}, {})


async def test_the_edges_of_a_hidden_node_are_counted_beside_hubs_without_lateral() -> None:
    store = graph()
    hubs = [f"{X}{70_000 + number}" for number in range(5)]
    for hub, end in product(hubs, range(100)):
        store.add(Quad(NamedNode(hub), NamedNode(KNOWS), NamedNode(f"{X}{end}")))
    endpoint = PROFILE.endpoint.model_copy(update={"lateral": False})
    recorded = Recorded(store)
    asking = SparqlStore(recorded, under_policy_at_endpoint(PROFILE.model_copy(update={"endpoint": endpoint})))
    hidden = f"{X}978819"
    call = Call(Deadline.after(60), 100, 100_000, 1_000, given=GivenTerms(frozenset({hidden})))
    degrees = await asking.degrees([*hubs, hidden], 3, call)
    assert any("SELECT (<urn:bfs-ql:none" in query for query, _ in recorded.sent)
    assert degrees == {**dict.fromkeys(hubs, Degree(4, exact=False)), hidden: Degree(0, exact=True)}
