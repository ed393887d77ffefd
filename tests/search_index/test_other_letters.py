"""Names of other scripts are guesses where they are spelt so in Latin letters, after all that fits."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.errors import GatewayError
from gateway.settings.hidden import HiddenSettings
from gateway.settings.profile import Profile
from gateway.terms.transliteration import latin_words
from tests.search_index.small_indexes import Listed, find, found, index_of

pytestmark = pytest.mark.anyio

NAMES: Mapping[str, Sequence[str]] = {
    "urn:e1": ["Лев Николаевич Толстой"],
    "urn:e2": ["Αθήνα"],
    "urn:e3": ["Søren Kierkegaard"],
    "urn:e4": ["Łódź"],
    "urn:e5": ["Mikhail Gorbachev"],
    "urn:e6": ["毛泽东"],
    "urn:e7": ["Куала-Лумпур"],
    "urn:e8": ["Zoë"],
}


def _graph(folder: Path) -> Path:
    lines = [f'<{iri}> rdfs:label "{name}" ; <urn:p> <urn:e8> .' for iri, (name,) in NAMES.items()]
    file = folder / "graph.ttl"
    prefix = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    file.write_text("\n".join([prefix, *lines, "<urn:e7> a <urn:Hidden> ."]), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("query", "iri"),
    [
        ("Tolstoy", "urn:e1"),
        ("Tolstoi", "urn:e1"),
        ("leo tolstoy", "urn:e1"),
        ("ATHINA", "urn:e2"),
        ("Soren Kierkegaard", "urn:e3"),
        ("Lodz", "urn:e4"),
        ("Горбачев", "urn:e5"),
        ("Mao Zedong", "urn:e6"),
        ("Kuala Lumpur", "urn:e7"),
    ],
)
async def test_a_name_is_a_guess_by_its_spelling_and_the_search_stays_what_it_was(
    tmp_path: Path, query: str, iri: str
) -> None:
    async with open_gateway(_graph(tmp_path)) as graph:
        answer = await graph.search_entities(query)
        other = await graph.search_entities("zzyzx")
    assert (answer.result, [hit.id for hit in answer.guesses or []]) == ([], [iri])
    assert {hit.match for hit in answer.guesses or []} <= {"similar", "some words"}
    assert (answer.complete, answer.found) == (other.complete, other.found)


@pytest.mark.parametrize("query", ["koala", "Tokyo", "and", "zzyzx", "Lotz"])
async def test_another_word_is_no_guess(tmp_path: Path, query: str) -> None:
    async with open_gateway(_graph(tmp_path)) as graph:
        answer = await graph.search_entities(query)
    assert (answer.result, answer.guesses) == ([], None)


async def test_a_name_that_fits_stands_alone(tmp_path: Path) -> None:
    file = _graph(tmp_path)
    with file.open("a", encoding="utf-8") as more:
        more.write('<urn:latin> rdfs:label "Tolstoy Street" .')
    async with open_gateway(file) as graph:
        answer = await graph.search_entities("tolstoy")
    assert ([hit.id for hit in answer.result], answer.guesses) == (["urn:latin"], None)


async def test_such_a_name_is_not_taken_for_an_id(tmp_path: Path) -> None:
    async with open_gateway(_graph(tmp_path)) as graph:
        with pytest.raises(GatewayError, match="Tolstoy"):
            await graph.bfs_query(["Tolstoy"], 1)


async def test_what_a_policy_hides_is_no_guess(tmp_path: Path) -> None:
    profile = Profile(hidden=HiddenSettings(types=("urn:Hidden",)))
    async with open_gateway(_graph(tmp_path), profile=profile) as graph:
        assert (await graph.search_entities("Kuala Lumpur")).guesses is None
        assert (await graph.search_entities("Tolstoy")).guesses


async def test_a_filter_by_type_holds_for_guesses() -> None:
    names = Listed({"urn:a": ["Толстой"], "urn:b": ["Толстой"]}, kinds={"urn:b": ["urn:Street"]})
    async with index_of(names) as index:
        assert await found(index, "tolstoy") == {"urn:a", "urn:b"}
        assert await found(index, "tolstoy", "urn:Street") == {"urn:b"}


async def test_many_guesses_do_not_cut_a_search() -> None:
    names = Listed({f"urn:{number}": ["Толстой"] for number in range(30)})
    async with index_of(names) as index:
        hits = await find(index, "tolstoy", at_most=10)
    assert (len(hits.hits), hits.truncated) == (10, False)


def test_a_text_that_is_compared_in_latin_letters_anyway_has_no_spelling_of_its_own() -> None:
    for text in ("Boston", "Zoë", "Ménière", "São Paulo", "ﬁsh", "", "→", "½"):
        assert latin_words(text) == [], text
