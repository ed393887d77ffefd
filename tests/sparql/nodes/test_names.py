"""Which predicates name nodes is asked each time, because it may be found out while a graph is in use."""

import pytest

from gateway.graph.call import Call, Deadline
from gateway.graph.values import SearchTerms
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import RoleSettings
from gateway.sparql.nodes import NamePredicates
from gateway.sparql.store import SparqlStore
from gateway.transport.inprocess import InProcess
from tests.small import X, engine

GRAPH = "x:a rdfs:label 'code 7' ; x:title 'Insulin' ; skos:altLabel 'the hormone' ."


def call() -> Call:
    return Call(Deadline.after(60.0), 1_000, 1_000_000, 1_000_000)


def test_a_predicate_is_a_name_or_a_synonym_and_never_both() -> None:
    name_predicates = NamePredicates(RoleSettings(name=(f"{X}n", f"{X}n"), synonym=(f"{X}s", f"{X}n")))
    assert (name_predicates.names, name_predicates.synonyms) == ((f"{X}n",), (f"{X}s",))
    name_predicates.use([f"{X}s"])
    assert (name_predicates.names, name_predicates.synonyms) == ((f"{X}s",), (f"{X}n",))
    assert name_predicates.all == (f"{X}s", f"{X}n")


def test_who_listens_is_called_when_other_predicates_are_in_force_and_only_then() -> None:
    name_predicates = NamePredicates(RoleSettings(name=(f"{X}n",), synonym=(f"{X}s",)))
    called: list[tuple[str, ...]] = []
    name_predicates.on_change(lambda: called.append(name_predicates.names))
    name_predicates.use([f"{X}n", f"{X}n"])
    assert called == []
    name_predicates.use([f"{X}t", f"{X}n"])
    assert called == [(f"{X}t", f"{X}n")]


@pytest.mark.anyio
async def test_other_names_are_in_force_from_the_next_question_on() -> None:
    store = SparqlStore(InProcess(engine(GRAPH), max_bytes=1 << 24), Profile())
    node = f"{X}a"
    terms = SearchTerms("insulin", ("insulin",))
    assert (await store.nodes([node], call(), names=True))[node].name == "code 7"
    assert (await store.search(terms, (), call())).hits == ()
    store.name_predicates.use([f"{X}title"])
    assert (await store.nodes([node], call(), names=True))[node].name == "Insulin"
    assert [hit.text for hit in (await store.search(terms, (), call())).hits] == ["Insulin"]
    await store.close()
