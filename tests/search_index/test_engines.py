"""Names read page by page from every engine are those that are in the files, whatever the size of a page."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyoxigraph
import pytest

from gateway.api import open_gateway
from gateway.graph.store import NameReader, NamesPage
from gateway.graph.values import Iri
from gateway.search_index.partial_index import read_names
from gateway.search_index.sqlite_worker import SqliteWorker
from gateway.settings.limits import LimitSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import RoleSettings
from gateway.sparql.store import SparqlStore
from gateway.stores.remote import make_label_index
from gateway.terms.iri import is_plain_iri
from tests.columns import BEHIND_HTTP, Column
from tests.graphs import read
from tests.search_index.small_indexes import allowance
from tests.shared_data import shared_data_or_none

pytestmark = pytest.mark.anyio

PROFILES = {"medical": Profile(), "films": Profile(), "wikidata-slice": load_profile("wikidata-local")}


def expected(files: list[Path], profile: Profile) -> tuple[set[tuple[str, str, bool]], dict[str, set[str]]]:
    """Return the names in files, and the types of who has them: the naive oracle."""
    names = set()
    types = defaultdict(set)
    for quad in (quad for file in files for quad in read(file)):
        if not isinstance(quad.subject, pyoxigraph.NamedNode):
            continue
        predicate = quad.predicate.value
        if isinstance(quad.object, pyoxigraph.Literal):
            if predicate in (*profile.roles.name, *profile.roles.synonym):
                names.add((quad.subject.value, quad.object.value, predicate not in profile.roles.name))
        elif predicate in profile.edges.types and isinstance(quad.object, pyoxigraph.NamedNode):
            types[quad.subject.value].add(quad.object.value)
    return names, {iri: types[iri] for iri, _, _ in names}


async def pages(names: NameReader, predicate: Iri) -> Iterator[NamesPage]:
    """Read all pages of a predicate."""
    found, after = [], ""
    while True:
        page = await names.page(predicate, after, allowance())
        found.append(page)
        if page.after is None:
            return iter(found)
        after = page.after


@pytest.mark.parametrize("rows", [10, 37, 5_000])
@pytest.mark.parametrize("graph", PROFILES)
async def test_the_pages_neither_lose_a_name_nor_repeat_one(engine: Column, graph: str, rows: int) -> None:
    profile = engine.settle(graph, PROFILES[graph].model_copy(update={"limits": LimitSettings(query_rows=rows)}))
    names, types = expected(list(engine.files[graph]), profile)
    store = SparqlStore(engine.transport(graph), profile)
    try:
        came = []
        reader = store.name_reader()
        for predicate in reader.predicates:
            entities: list[str] = []
            for page in await pages(reader, predicate):
                assert page.missing == 0
                entities += dict.fromkeys(name.iri for name in page.names)
                came += [(name.iri, name.text, name.is_synonym) for name in page.names]
            assert len(entities) == len(set(entities)) == await reader.count(predicate, allowance())
        assert set(came) == names
        kinds = await reader.types(sorted(types), allowance())
        assert {iri: set(found) for iri, found in kinds.types.items()} == types
    finally:
        await store.close()


async def test_an_entity_with_more_names_than_a_page_loses_none(engine: Column) -> None:
    # In every graph some subject has the most literals; here any literal is a name.
    literals = defaultdict(set)
    for quad in read(engine.files["wikidata-slice"][0]):
        if isinstance(quad.subject, pyoxigraph.NamedNode) and isinstance(quad.object, pyoxigraph.Literal):
            literals[quad.predicate.value, quad.subject.value].add(quad.object.value)
    (predicate, entity), texts = max(literals.items(), key=lambda item: (len(item[1]), item[0]))
    profile = engine.settle(
        "wikidata-slice", Profile(roles=RoleSettings(name=(predicate,)), limits=LimitSettings(query_rows=10))
    )
    store = SparqlStore(engine.transport("wikidata-slice"), profile)
    try:
        found = [
            name for page in await pages(store.name_reader(), predicate) for name in page.names if name.iri == entity
        ]
        assert {name.text for name in found} == texts
    finally:
        await store.close()


async def test_an_index_of_an_odd_graph_is_whole_or_says_that_it_is_not(engine: Column) -> None:
    profile = engine.settle("awkward", Profile(limits=LimitSettings(query_rows=10)))
    store = SparqlStore(engine.transport("awkward"), profile)
    worker = SqliteWorker()
    try:
        missing = await read_names(store.name_reader(), worker, allowance)
        names, _ = expected(list(engine.files["awkward"]), profile)
        rows = await worker.run(
            lambda database: database.execute(
                "SELECT iri, text, is_synonym FROM partial.text JOIN partial.entity ON id = entity"
            ).fetchall()
        )
    finally:
        worker.close()
        await store.close()
    plain = {name for name in names if is_plain_iri(name[0])}
    came = {(iri, text, bool(is_synonym)) for iri, text, is_synonym in rows}
    assert missing or {iri for iri, _, _ in plain} <= {iri for iri, _, _ in came}


@pytest.mark.parametrize("engine", BEHIND_HTTP, indirect=True)
@pytest.mark.large
@pytest.mark.data
async def test_the_index_of_an_endpoint_has_all_names_of_a_real_graph(engine: Column, tmp_path: Path) -> None:
    if shared_data_or_none("wd50k.nt.gz") is None:
        pytest.skip("the reference graph wd50k.nt.gz is not in ../shared/data")
    profile = engine.settle("wd50k", load_profile("wikidata-local"))
    info, place = await make_label_index(engine.url("wd50k"), profile, store=tmp_path)
    names, types = expected(list(engine.files["wd50k"]), profile)
    assert info.whole
    assert info.typed
    with closing(sqlite3.connect(place / "labels.sqlite")) as database:
        rows = database.execute("SELECT iri, text, is_synonym FROM name JOIN node ON node.id = node").fetchall()
        assert {(iri, text, bool(is_synonym)) for iri, text, is_synonym in rows} == {
            (engine.as_stored(iri), engine.as_stored(text), is_synonym) for iri, text, is_synonym in names
        }
        ((typed,),) = database.execute("SELECT count(*) FROM node_type").fetchall()
        assert typed == sum(map(len, types.values()))
    async with open_gateway(endpoint=engine.url("wd50k"), profile=profile, store=tmp_path) as gateway:
        answer = await gateway.search_entities("dougals adams")
    assert [hit.name for hit in answer.guesses or ()][:1] == ["Douglas Adams"]
