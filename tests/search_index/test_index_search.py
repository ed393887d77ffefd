"""A search in an index of names, whole or in part, by forms of words, and read page by page from every engine."""

import asyncio
import sqlite3
import string
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.api import open_gateway
from gateway.errors import DeadlinePassed, EndpointFault, NetworkFault
from gateway.graph.call import Call, Deadline
from gateway.graph.store import EntityTypes, NameReader, NamesPage
from gateway.graph.values import Iri, SearchTerms
from gateway.search_index.index import build_index
from gateway.search_index.index_search import deletion_keys, deletions, index_words, joined_key, sorted_key
from gateway.search_index.partial_index import read_names
from gateway.search_index.sqlite_worker import ClosedError, SqliteWorker
from gateway.settings.limits import LimitSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import RoleSettings
from gateway.sparql.store import SparqlStore
from gateway.stores.endpoints import make_label_index
from gateway.terms.iri import is_plain_iri
from gateway.terms.names import inflections
from gateway.terms.spelling import is_one_edit_apart
from tests.columns import BEHIND_HTTP, Column
from tests.examples import examples
from tests.graphs import read
from tests.search_index.small_indexes import Listed, allowance, find, found, index_of
from tests.shared_data import shared_data_or_none

pytestmark = pytest.mark.anyio

CITIES = {
    "urn:boston": ["Boston"],
    "urn:austin": ["Austin"],
    "urn:university": ["Boston University"],
    "urn:new-york": ["New York"],
    "urn:meniere": ["Ménière's disease"],
    "urn:tokyo": ["東京都"],
    "urn:penicillin": ["penicillin G"],
    "urn:city": ["city"],
    "urn:inhibitor": ["kinase inhibitor"],
}
ALIASES = {"urn:boston": ["Beantown"], "urn:new-york": ["The Big Apple"]}


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("Boston", "urn:boston"),
        ("BOSTON", "urn:boston"),
        ("beantown", "urn:boston"),
        ("york new", "urn:new-york"),
        ("NEW_YORK", "urn:new-york"),
        ("newyork", "urn:new-york"),
        ("new yo", "urn:new-york"),
        ("Meniere's disease", "urn:meniere"),
        ("menieres disease", "urn:meniere"),
        ("bsoton", "urn:boston"),
        ("bostn", "urn:boston"),
        ("newxyork", "urn:new-york"),
        ("bigg aple", "urn:new-york"),
        ("boston universitt", "urn:university"),
        ("the university of boston", "urn:university"),
        ("cities", "urn:city"),
        ("kinase inhibitors", "urn:inhibitor"),
        ("cillin", "urn:penicillin"),
        ("京", "urn:tokyo"),
        ("boston zebra", "urn:boston"),
    ],
)
async def test_a_name_is_found_in_spite_of(text: str, entity: str) -> None:
    async with index_of(Listed(CITIES, ALIASES)) as index:
        assert entity in await found(index, text)


async def test_what_is_near_to_nothing_is_not_found_and_said_to_be_all() -> None:
    async with index_of(Listed(CITIES)) as index:
        nothing = await find(index, "zebra")
    assert (nothing.hits, nothing.truncated) == ((), False)
    assert nothing.how == "the local label index of 2026-11-21: 9 names of 9 entities; no name is near"


async def test_how_says_in_which_steps_names_were_found() -> None:
    async with index_of(Listed(CITIES)) as index:
        assert (await find(index, "boston")).how.endswith("names that are the same or begin so")
        assert (await find(index, "bostom")).how.endswith("names that are similar")


async def test_a_synonym_is_marked_as_one() -> None:
    async with index_of(Listed(CITIES, ALIASES)) as index:
        (hit,) = (await find(index, "beantown")).hits
    assert (hit.text, hit.is_synonym) == ("Beantown", True)


async def test_types_narrow_the_search_before_its_limit() -> None:
    many = {f"urn:{number:04}": ["Springfield"] for number in range(500)}
    kinds = {iri: ["urn:Town"] for iri in many} | {"urn:0499": ["urn:Town", "urn:Ship"]}
    names = Listed(many, kinds=kinds, page_size=99)
    async with index_of(names) as index:
        for text in ("springfield", "spring", "field", "springfeild"):
            hits = await find(index, text, "urn:Ship", at_most=5)
            assert [hit.iri for hit in hits.hits] == ["urn:0499"], text
            assert not hits.truncated


async def test_a_type_that_the_graph_has_not_finds_nothing() -> None:
    async with index_of(Listed(CITIES)) as index:
        assert await found(index, "boston", "urn:Ship") == set()


async def test_of_more_than_was_asked_for_the_shortest_are_returned_as_a_part() -> None:
    names = Listed({f"urn:{number:03}": ["star " + "x" * (100 - number)] for number in range(100)}, page_size=99)
    async with index_of(names) as index:
        hits = await find(index, "star", at_most=10)
        assert hits.truncated
        assert len(hits.hits) == 10
        assert "urn:099" in {hit.iri for hit in (await find(index, "star x", at_most=10)).hits}
        assert not (await find(index, "star", at_most=100)).truncated


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.one_of(st.text(max_size=40), st.text(string.punctuation + "ANDORT* ", max_size=40)), min_size=1),
    st.sampled_from([(), ("urn:T",)]),
)
async def test_no_text_is_syntax(texts: list[str], types: tuple[str, ...]) -> None:
    async with index_of(Listed(CITIES | {"urn:and": ["and or not near"]}, kinds={"urn:and": ["urn:T"]})) as index:
        for text in [*texts, *(f'{text}" OR words : "b' for text in texts), "NEAR(a b)", "words:a", "t1", "a*" * 5_000]:
            hits = await find(index, text, *types)
            assert types == () or {hit.iri for hit in hits.hits} <= {"urn:and"}


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.text(max_size=60).filter(index_words), min_size=1, max_size=12, unique=True))
async def test_a_name_is_always_found_by_itself_however_it_is_written(texts: list[str]) -> None:
    names = {f"urn:{number}": [text] for number, text in enumerate(texts)}
    async with index_of(Listed(names, kinds={iri: ["urn:T"] for iri in names})) as index:
        for iri, (text,) in names.items():
            words = index_words(text)
            for written in (text, f" {text}…", unicodedata.normalize("NFD", text), " ".join(reversed(words))):
                # Of a text with very many words the first are looked for.
                if len(words) < 24:
                    assert iri in await found(index, written)
                    assert iri in await found(index, written, "urn:T")


async def test_many_searches_at_once_are_each_answered() -> None:
    async with index_of(Listed(CITIES)) as index:
        answers = await asyncio.gather(*(found(index, text) for text in ["boston", "austin"] * 50))
    assert all("urn:boston" in answer for answer in answers[::2])
    assert all("urn:austin" in answer for answer in answers[1::2])


async def test_a_search_ends_with_its_time() -> None:
    async with index_of(Listed(CITIES)) as index:
        with pytest.raises(DeadlinePassed):
            await index.find(SearchTerms("boston", ("boston",)), (), 10, Deadline.after(0))


FEW_LETTERS = st.text("abc", max_size=6)


def all_edits(word: str, alphabet: str) -> set[str]:
    """Return all words one edit away: a naive oracle."""
    places = range(len(word) + 1)
    less = {word[:place] + word[place + 1 :] for place in places}
    more = {word[:place] + letter + word[place:] for place in places for letter in alphabet}
    other = {word[:place] + letter + word[place + 1 :] for place in places[:-1] for letter in alphabet}
    turned = {word[:place] + word[place : place + 2][::-1] + word[place + 2 :] for place in places}
    return {word} | less | more | other | turned


@settings(max_examples=examples(500))
@given(FEW_LETTERS, FEW_LETTERS)
def test_one_edit_inserts_deletes_or_replaces_a_character_or_swaps_two(one: str, other: str) -> None:
    assert is_one_edit_apart(one, other) == (other in all_edits(one, "abc"))


@settings(max_examples=examples(300))
@given(FEW_LETTERS, st.data())
def test_words_one_edit_apart_share_a_deletion_key(word: str, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(sorted(all_edits(word, "abc"))))
    assert deletion_keys(word) & deletion_keys(other)


@settings(max_examples=examples(500))
@given(st.text())
def test_words_are_letters_digits_and_marks_and_nothing_else(text: str) -> None:
    for word in index_words(text):
        assert all(character.isalnum() or unicodedata.category(character)[0] == "M" for character in word)


@settings(max_examples=examples(500))
@given(st.text(max_size=100))
def test_words_have_no_words_but_themselves(text: str) -> None:
    # A mark alone is no word, though the index has the marks of a script without blanks one by one.
    words = [word for word in index_words(text) if any(map(str.isalnum, word))]
    assert index_words(" ".join(words)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ménière's disease", ["meniere", "s", "disease"]),
        ("ÅLAND_Islands", ["aland", "islands"]),
        ("Straße", ["strasse"]),
        ("İstanbul", ["istanbul"]),
        ("beta-2 (β₂)", ["beta", "2", "β2"]),
        ("東京都", ["東", "京", "都"]),
        ("ガbox", ["カ", "\u3099", "box"]),
        ("हिन्दी", ["हिन्दी"]),
        ("العربيّة", ["العربية"]),
        ('"AND" OR NOT* ^(', ["and", "or", "not"]),
        ("👍", []),
    ],
)
def test_case_accents_and_signs_make_no_difference(text: str, words: list[str]) -> None:
    assert index_words(text) == words


def test_keys_forget_blanks_and_order() -> None:
    assert len({joined_key(index_words(name)) for name in ("New York", "new-york", "NewYork")}) == 1
    assert sorted_key(index_words("York, New")) == sorted_key(index_words("New York"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("drug", "drugs"),
        ("city", "cities"),
        ("box", "boxes"),
        ("wolf", "wolves"),
        ("knife", "knives"),
        ("woman", "women"),
    ],
)
def test_a_plural_has_its_singular_among_its_forms(one: str, other: str) -> None:
    assert one in inflections(other)


def test_a_word_without_one_of_its_characters() -> None:
    assert list(deletions("abc")) == ["bc", "ac", "ab"]


NAMES = {f"urn:{number:02}": [f"name {number}", f"also {number}"] for number in range(20)}
SOME_ALIASES = {iri: [f"alias of {iri}"] for iri in list(NAMES)[::3]} | {"urn:only-alias": ["nothing else"]}
KINDS = {iri: [f"urn:T{number % 3}"] for number, iri in enumerate(NAMES)}


async def test_every_name_of_every_page_is_in_the_index() -> None:
    async with index_of(Listed(NAMES, SOME_ALIASES, KINDS)) as index:
        assert (index.info.names, index.info.entities) == (40 + len(SOME_ALIASES), 21)
        assert index.info.whole
        assert index.info.typed
        for iri, texts in [*NAMES.items(), *SOME_ALIASES.items()]:
            for text in texts:
                assert iri in await found(index, text)
                assert (iri in await found(index, text, "urn:T1")) == (KINDS.get(iri) == ["urn:T1"])


async def test_progress_goes_up_to_the_number_of_entities() -> None:
    reported: list[tuple[int, int]] = []

    async def report(read: int, total: int) -> None:
        reported.append((read, total))

    worker = SqliteWorker()
    await read_names(Listed(NAMES, SOME_ALIASES), worker, allowance, on_progress=report)
    worker.close()
    assert reported[0] == (0, 28)
    assert reported[-1] == (28, 28)
    assert reported == sorted(reported)


async def test_names_that_did_not_come_make_the_index_a_part_and_its_answers_cut() -> None:
    async with index_of(Listed(NAMES, uncounted=1)) as index:
        assert not index.info.whole
        hits = await find(index, "name 3")
    assert hits.truncated
    assert "which are not all" in hits.how


async def test_a_type_that_could_not_be_asked_for_makes_searches_by_type_cut_and_no_others() -> None:
    class Untyped(Listed):
        async def types(self, entities: Sequence[Iri], call: Call) -> EntityTypes:
            return EntityTypes((await super().types(entities, call)).types, frozenset(entities[:1]))

    async with index_of(Untyped(NAMES, kinds=KINDS)) as index:
        assert (await find(index, "name 3", "urn:T0")).truncated
        assert not (await find(index, "name 3")).truncated


async def test_a_page_that_fails_ends_the_reading() -> None:
    worker = SqliteWorker()
    with pytest.raises(NetworkFault):
        await read_names(Listed(NAMES, pages_left=2), worker, allowance)
    worker.close()


async def test_pages_without_an_end_are_a_fault_and_no_endless_loop() -> None:
    class Endless(Listed):
        async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
            names = (await super().page(predicate, after[:0], call)).names
            return NamesPage(names, names[0].iri)

    worker = SqliteWorker()
    with pytest.raises(EndpointFault, match="do not come to an end"):
        await read_names(Endless(NAMES), worker, allowance)
    worker.close()


async def test_a_graph_without_names_has_an_empty_index_that_is_whole() -> None:
    async with index_of(Listed({})) as index:
        assert index.info.whole
        assert (await find(index, "anything")).hits == ()


async def test_an_index_that_is_closed_while_it_is_made_is_given_up() -> None:
    worker = SqliteWorker()
    await read_names(Listed(NAMES), worker, allowance)
    worker.close()
    with pytest.raises(ClosedError):
        await build_index(worker, date="", missing=0)


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
                came += [(name.iri, name.text, name.is_synonym) for name in page.names if name.kind == "name"]
            assert [len(entities)] == [len(set(entities))] == await reader.counts([predicate], allowance)
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
