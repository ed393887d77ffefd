"""The command `sparql` at each engine: what it prints of each kind of query, and what it says of the end."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyoxigraph
import pytest
from anyio.from_thread import start_blocking_portal

from tests.cases import check_each
from tests.cli.conftest import Ran, Run
from tests.columns import Column
from tests.every_engine.test_steered_hub import HUB, IN, LOOP, OTHERS, OUT, WANTED
from tests.faults.catalogue import InjectedFault, half
from tests.faults.proxy import Plan, at, each, fault_proxy
from tests.faults.reply import Answer
from tests.servers.engines import Asked
from tests.servers.oxigraph import running_oxigraph

pytestmark = [pytest.mark.server, pytest.mark.process]

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
EDGES = f"?s <{WANTED}> ?o"
ENDLESS = "?a ?p ?b . ?c ?q ?d . ?e ?r ?f"
NO_PROOF = "whether these are all is not proven: no engine counts the triples of such an answer.\n"
SECONDS = 2

FEWER_ROWS = InjectedFault("half of the rows", "a row cap without a sign", half, by_sentinel=True)
BROKEN_OFF = InjectedFault(
    "broken off", "a stream that ends early", lambda answer: Answer(answer.body[:-20], answer.status, answer.headers)
)

Ask = Callable[..., Ran]


@pytest.fixture
def ask(run: Run, endpoint: Column, tmp_path: Path) -> Ask:
    """Run a query at an engine, over the graph of a hub; with `plan`, through a proxy."""
    return _asking(run, endpoint.asked("hub"), tmp_path)


@pytest.fixture
def ask_without_end(run: Run, endpoint: Column, tmp_path: Path) -> Iterator[Ask]:
    """Run a query, as `ask` does, that an engine may go on computing when nobody waits for it.

    Oxigraph does, and has no other end of it than that of the process; so it is one of this test alone.
    """
    if endpoint.name == "oxigraph":
        with running_oxigraph(endpoint.files["hub"], workdir=tmp_path) as server:
            yield _asking(run, Asked(server.endpoint), tmp_path)
    else:
        yield _asking(run, endpoint.asked("hub"), tmp_path)


def _asking(run: Run, asked: Asked, tmp_path: Path) -> Ask:
    def ask(query: str, *options: object, plan: Plan | None = None) -> Ran:
        with _through(asked.endpoint, plan) as url:
            profile = tmp_path / "profile.toml"
            graphs = f"graphs = {json.dumps(asked.graphs)}\n" if asked.graphs else ""
            profile.write_text(f"[endpoint]\nurl = {json.dumps(url)}\n{graphs}", encoding="utf-8")
            return run("sparql", query, "-p", profile, *map(str, options))

    return ask


@contextmanager
def _through(url: str, plan: Plan | None) -> Iterator[str]:
    if plan is None:
        yield url
        return
    # The command has an event loop of its own.
    with start_blocking_portal() as portal:
        proxy = fault_proxy(url, plan)
        with portal.wrap_async_context_manager(proxy) as running:
            yield running.url()


def test_rows_come_in_their_order_and_as_many_as_are_counted(ask: Ask) -> None:
    ran = ask(f"SELECT * {{ {EDGES} }} ORDER BY DESC(?s) ?o", "-f", "csv")
    edges = sorted((OUT, IN, LOOP), key=lambda edge: edge.object)
    edges.sort(key=lambda edge: edge.subject, reverse=True)
    assert ran.out.split() == ["s,o", *(f"{edge.subject},{edge.object}" for edge in edges)]
    assert ran.err == "3 rows, complete.\n"
    part = ask(f"SELECT * {{ {EDGES} }} ORDER BY DESC(?s) ?o LIMIT 1 OFFSET 1", "-f", "csv")
    assert part.out.split() == ["s,o", f"{edges[1].subject},{edges[1].object}"]
    assert part.err == "1 row, complete.\n"


def test_values_without_one_and_with_a_datatype_or_a_language_come_as_they_are(ask: Ask) -> None:
    given = f'<{HUB}> 1 "a"@en "2020-01-01"^^<http://www.w3.org/2001/XMLSchema#date> UNDEF'
    ran = ask(f"SELECT ?x {{ VALUES ?x {{ {given} }} }}")
    assert set(ran.out.splitlines()) == {
        "?x",
        f"<{HUB}>",
        "1",
        '"a"@en',
        '"2020-01-01"^^<http://www.w3.org/2001/XMLSchema#date>',
        "",
    }
    # RDF4J leaves a row without any value out of COUNT(*).
    assert ran.err == "5 rows, complete.\n"


def test_an_ask_is_true_or_false(ask: Ask) -> None:
    assert ask(f"ASK {{ {EDGES} }}").out == "true\n"
    none = ask("ASK { ?s ?p 'no such text' }", "--json")
    assert (json.loads(none.out)["boolean"], none.err) == (False, "")


def test_a_graph_comes_whole_and_its_end_is_told_as_not_proven(ask: Ask) -> None:
    ran = ask(f"CONSTRUCT WHERE {{ {EDGES} }}", "-f", "ntriples")
    assert set(pyoxigraph.parse(ran.out, pyoxigraph.RdfFormat.N_TRIPLES)) == {
        pyoxigraph.Quad(*(pyoxigraph.NamedNode(part) for part in (edge.subject, edge.predicate, edge.object)))
        for edge in (OUT, IN, LOOP)
    }
    assert ran.err == f"3 triples; {NO_PROOF}"
    made = ask(f"CONSTRUCT {{ ?o a <{HUB}> }} WHERE {{ {EDGES} }}", "-f", "ntriples")
    assert set(made.out.splitlines()) == {f"<{edge.object}> <{RDF}type> <{HUB}> ." for edge in (OUT, LOOP)}
    assert ask(f"DESCRIBE <{OUT.object}>", "-f", "ntriples").err.endswith(NO_PROOF)


def test_a_query_without_end_is_ended_by_its_deadline(ask_without_end: Ask) -> None:
    queries = [
        f"SELECT * {{ {ENDLESS} }}",
        f"SELECT (COUNT(*) AS ?n) {{ {ENDLESS} FILTER(?a != ?c && ?e != ?d) }}",
        f"CONSTRUCT {{ ?a ?q ?f }} {{ {ENDLESS} }}",
    ]

    def is_ended(query: str) -> None:
        ran = ask_without_end(query, "--timeout", SECONDS)
        assert (ran.status, ran.out) == (2, "")
        # Virtuoso refuses what it expects to take too long; of others the size may end it first, or the reading of it.
        assert re.search(
            "time of this call is used|gave up on a query|larger than this gateway reads|was ended", ran.err
        )

    check_each(queries, is_ended)


def test_more_rows_than_an_engine_sends_are_an_error_and_what_it_sends_is_complete(ask: Ask, endpoint: Column) -> None:
    ran = ask(f"SELECT * {{ ?s <{OTHERS[0]}> ?o }}")
    if endpoint.name == "virtuoso":
        assert (ran.status, ran.out) == (2, "")
        assert "sent only a part of an answer and said so" in ran.err
    else:
        assert ran.err == "25,000 rows, complete.\n"
        assert len(ran.out.splitlines()) == 25_001


def test_an_answer_that_was_cut_on_the_way_is_never_told_as_complete(ask: Ask) -> None:
    query = f"SELECT * {{ {EDGES} }}"
    cut = ask(query, plan=at((0, FEWER_ROWS)))
    assert (cut.status, cut.err) == (0, "1 row; not complete: the endpoint counts 3 rows.\n")
    # Rows of which none has a value are counted too.
    unbound = ask(f"SELECT ?none {{ {EDGES} OPTIONAL {{ ?s <{HUB}> ?none }} }}", plan=at((0, FEWER_ROWS)))
    assert unbound.err == "1 row; not complete: the endpoint counts 3 rows.\n"
    for broken in (query, f"CONSTRUCT WHERE {{ {EDGES} }}", f"ASK {{ {EDGES} }}"):
        # Of each request, because a graph that is no N-Triples is asked for again as Turtle.
        ran = ask(broken, plan=each(BROKEN_OFF))
        assert (ran.status, ran.out) == (2, "")
