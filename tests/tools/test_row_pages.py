"""Pages of rows and lists that are read one after the other, while a graph changes: none is missed unsaid."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pyoxigraph
import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answers.models import SearchResult
from gateway.api import open_gateway
from gateway.errors import EndpointFault
from gateway.graph.call import Call
from gateway.graph.store import DelegatingStore
from gateway.graph.values import Hit, Hits, Iri, SearchTerms
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.tools.row_pages import NOT_JOINED, NOT_PROVEN, pages_of_rows
from gateway.transport.inprocess import InProcess
from tests.examples import examples
from tests.small import PREFIXES, engine
from tests.tools.conftest import Open
from tests.transport.fake_endpoint import JSON, fake_endpoint

pytestmark = pytest.mark.anyio

X = "http://e.org/"
COUNT = 350
HEAD = f"PREFIX e: <{X}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "


def triples(first: int, end: int) -> str:
    return " ".join(f'e:n{place:03} a e:Thing ; rdfs:label "thing {place:03}" .' for place in range(first, end))


@asynccontextmanager
async def changing() -> AsyncIterator[tuple[Gateway, Callable[[str], None]]]:
    """Give a gateway to an endpoint, and what updates the graph there."""
    store = pyoxigraph.Store()
    store.update(f"{HEAD} INSERT DATA {{ {triples(100, 100 + COUNT)} }}")

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        form = await request.post()
        if "query" not in form:
            return web.Response(status=404)
        found = cast("pyoxigraph.QuerySolutions", store.query(str(form["query"])))
        body = found.serialize(format=pyoxigraph.QueryResultsFormat.JSON) or b""
        return web.Response(body=body, content_type=JSON)

    async with fake_endpoint(handle) as endpoint, open_gateway(endpoint=endpoint.url, prefixes={"e": X}) as gateway:

        def update(text: str) -> None:
            store.update(HEAD + text)
            gateway.forget()

        yield gateway, update


def ids(page: SearchResult) -> list[str]:
    return [str(row[0]).partition(" ")[0] for row in page.rows] if page.rows else [hit.id for hit in page.result]


DELETE_THREE = "DELETE WHERE { e:n110 ?p ?o }; DELETE WHERE { e:n111 ?p ?o }; DELETE WHERE { e:n112 ?p ?o };"
AS_MANY = f"{DELETE_THREE} INSERT DATA {{ {triples(800, 803)} }}"
IN_THE_PLACES = f"{DELETE_THREE} INSERT DATA {{ {triples(1, 4)} }}"
ASKED: list[dict[str, Any]] = [{}, {"sort_by": "name"}, {"values": ["name"]}, {"where": ["name != zz"]}]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("change", [DELETE_THREE, AS_MANY])
async def test_a_list_whose_graph_changes_between_its_pages_is_an_error(asked: dict[str, Any], change: str) -> None:
    async with changing() as (gateway, update):
        pages = gateway.search_pages(node_types=["e:Thing"], **asked)
        assert (await anext(pages)).complete
        assert (await anext(pages)).complete
        update(change)
        with pytest.raises(EndpointFault, match="changed while its rows were read"):
            await anext(pages)


@pytest.mark.parametrize("asked", ASKED)
async def test_as_many_that_come_and_go_before_a_page_hide_none_behind_it(asked: dict[str, Any]) -> None:
    async with changing() as (gateway, update):
        listed: list[str] = []
        async for page in gateway.search_pages(node_types=["e:Thing"], **asked):
            listed += ids(page)
            if len(listed) < 200:
                update(IN_THE_PLACES)
    assert listed == [f"e:n{place}" for place in range(100, 100 + COUNT)]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("limit", [None, 1, 7, 99, 100])
async def test_pages_of_a_graph_that_stays_have_each_row_once(asked: dict[str, Any], limit: int | None) -> None:
    async with changing() as (gateway, update):
        update(f"DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o FILTER(STR(?s) > '{X}n219') }}")
        pages = [page async for page in gateway.search_pages(node_types=["e:Thing"], limit=limit, **asked)]
        later = [page async for page in gateway.search_pages(node_types=["e:Thing"], offset=15, limit=50, **asked)]
    expected = [f"e:n{place}" for place in range(100, 220)]
    assert [name_id for page in pages for name_id in ids(page)] == expected
    assert [name_id for page in later for name_id in ids(page)] == expected[15:]
    assert all(page.complete for page in pages)
    assert len(pages[0].rows or pages[0].result) == (limit or 100)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, 1, 38])
async def test_pages_of_a_name_and_of_a_type_have_each_entity_once_whether_deprecated_or_not(
    over_file: Open, limit: int | None
) -> None:
    lines = [f"x:n{n} a x:T ; rdfs:label 'thing {n}'{'; owl:deprecated true' * (n % 30 == 7)} ." for n in range(230)]
    async with over_file("\n".join(lines)) as gateway:
        named = [page async for page in gateway.search_pages("thing", limit=limit)]
        typed = [page async for page in gateway.search_pages(node_types=["x:T"], limit=limit)]
        several = [page async for page in gateway.search_pages(queries=["thing", "230"])]
    for pages in (named, typed):
        listed = [name_id for page in pages for name_id in ids(page)]
        assert sorted(listed) == sorted(f"x:n{number}" for number in range(230))
        assert [len(page.result) for page in pages[:-1]] == [limit or 99 + (page is pages[0]) for page in pages[:-1]]
    assert len(several) == 1


class WithGone(DelegatingStore):
    """A store whose search finds entities by an older index, some of which the graph does not have any more."""

    gone: tuple[Hit, ...] = ()

    async def search(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Return what the graph has, and what is gone."""
        hits = await super().search(terms, types, call)
        return replace(hits, hits=(*hits.hits, *self.gone), exhaustive=not self.gone)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=examples(60))
@given(
    st.lists(st.sampled_from(["there", "there", "deprecated", "gone"]), min_size=1, max_size=30),
    st.integers(0, 300),
    st.sampled_from([2, 7, 20, 100, 1]),
    st.sampled_from([500, 10_000]),
    st.booleans(),
)
async def test_pages_of_a_name_have_each_entity_once_however_long_deprecated_or_gone_they_are(
    states: list[str], length: int, limit: int, tokens: int, is_trusted: bool
) -> None:
    names = {f"x:n{place:02}": f"thing {place:02} {'x' * length}" for place in range(len(states))}
    of = dict(zip(names, states, strict=True))
    graph = "\n".join(
        f"{one} a x:T ; rdfs:label '{names[one]}'{'; owl:deprecated true' * (state == 'deprecated')} ."
        for one, state in of.items()
        if state != "gone"
    )
    profile = Profile(
        size=SizeSettings(max_tokens=tokens, ceiling_tokens=tokens), endpoint=EndpointSettings(trusted=is_trusted)
    )
    store = WithGone(SparqlStore(InProcess(engine(graph), max_bytes=1 << 24), profile))
    store.gone = tuple(
        Hit(f"{PREFIXES['x']}{one[2:]}", names[one], is_synonym=False) for one, state in of.items() if state == "gone"
    )
    async with Gateway(store, profile, PrefixMap(PREFIXES)) as gateway:
        pages = [await gateway.search_entities("thing", limit=limit)]
        while pages[-1].next_offset is not None:
            pages.append(await gateway.search_entities("thing", limit=limit, offset=pages[-1].next_offset))
        joined = [page async for page in gateway.search_pages("thing", limit=limit)]
    expected = sorted(one for one, state in of.items() if state != "gone")
    assert sorted(name_id for page in pages for name_id in ids(page)) == expected
    assert sorted(name_id for page in joined for name_id in ids(page)) == expected
    for page in pages:
        listed = [of[name_id] == "deprecated" for name_id in ids(page)]
        assert listed == sorted(listed)


SEARCH = {"complete": True, "result": [], "columns": ["e:v"], "found": 3}


def answering(rows: list[list[Any]], room: int = 9, **later: Any) -> Callable[[Mapping[str, Any]], Any]:
    """Return what answers with some of the rows, at most `room` of them, and with other fields on later pages."""

    async def ask(place: Mapping[str, Any]) -> SearchResult:
        start = place.get("offset", 0)
        end = start + min(room, place["limit"])
        following = end if end < len(rows) else None
        page = {**SEARCH, "rows": rows[start:end], "next_offset": following, **(later if start or end > 1 else {})}
        return SearchResult.model_validate(page)

    return ask


ROWS: list[list[Any]] = [["e:a a", 1], ["e:b b", 2], ["e:c c", 3]]


async def test_pages_with_another_count_do_not_fit_together_but_incomplete_ones_tell_of_themselves() -> None:
    with pytest.raises(EndpointFault, match="changed while its rows were read"):
        [page async for page in pages_of_rows(answering(ROWS, found=2), 1, None)]
    pages = [page async for page in pages_of_rows(answering(ROWS, found=2, complete=False), 1, None)]
    assert [page.rows for page in pages] == [[row] for row in ROWS]
    assert [page.complete for page in pages] == [True, False, False]


async def test_pages_with_room_for_one_row_are_not_called_complete() -> None:
    pages = [page async for page in pages_of_rows(answering(ROWS, room=1), 2, None)]
    assert [page.rows for page in pages] == [[row] for row in ROWS]
    assert [page.complete for page in pages] == [True, False, False]
    assert [page.warnings for page in pages] == [None, [NOT_PROVEN], [NOT_PROVEN]]


async def test_a_limit_of_all_pages_is_that_of_new_rows() -> None:
    pages = [page async for page in pages_of_rows(answering(ROWS), 1, 2)]
    assert [page.rows for page in pages] == [[row] for row in ROWS[:2]]


async def test_a_page_that_does_not_begin_where_the_one_before_ended_says_so_where_nothing_is_proven() -> None:
    hits = [
        {"id": f"e:{name}", "entity_type": "e:T", "name": "thing", "match": "label"} for name in ("a", "b", "c", "d")
    ]
    orders = iter([hits[:2], hits[:3], hits[3:]])
    following = iter([2, 4, None])

    async def ask(_: Mapping[str, Any]) -> SearchResult:
        page = {"complete": False, "result": next(orders), "found": 4, "next_offset": next(following)}
        return SearchResult.model_validate(page)

    pages = [page async for page in pages_of_rows(ask, 2, None)]
    assert [ids(page) for page in pages] == [["e:a", "e:b"], ["e:c"], ["e:d"]]
    assert [page.warnings for page in pages] == [None, [NOT_JOINED], [NOT_JOINED]]
