"""Texts in several languages: which are translations of others, and that none vanishes."""

import json
import random
from collections import Counter

import pytest
import rdflib

from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NameSettings
from gateway.terms.literals import Literal, are_translations, language_rank, shown_texts
from tests.small import ROOM, X, over

pytestmark = pytest.mark.anyio


def texts(*tags: str) -> list[Literal]:
    return [Literal(f"{tag} {place}", language=tag) for place, tag in enumerate(tags)]


@pytest.mark.parametrize(
    ("tags", "are"),
    [
        (("en",), False),
        (("en", "de"), True),
        (("en", "en", "de"), False),
        (("en", "en", "de", "de"), True),
        (("en", "en", "de", "fr"), True),
        (("en", "en", "en", "de", "fr"), False),
        (("", "en", "de"), True),
        (("", "en", "en", "de", "de"), False),
        (("", ""), False),
    ],
)
def test_texts_are_translations_where_their_numbers_agree(tags: tuple[str, ...], *, are: bool) -> None:
    assert are_translations(texts(*tags)) == are


def test_of_translations_one_language_is_shown_and_what_has_none() -> None:
    given = [*texts("", "de", "en", "fr"), Literal("7", "http://www.w3.org/2001/XMLSchema#integer")]
    assert [one.value for one in shown_texts(given, [])] == [" 0", "en 2", "7"]
    assert [one.value for one in shown_texts(given, ["fr"])] == [" 0", "fr 3", "7"]
    assert shown_texts(texts("en", "en", "de"), ["de"]) == texts("en", "en", "de")


def test_a_language_finds_its_regional_relatives() -> None:
    assert min(("de", "en", "en-gb"), key=lambda tag: language_rank(tag, ["en-us"])) == "en"
    assert min(("de", "en-gb"), key=lambda tag: language_rank(tag, ["en"])) == "en-gb"


KEYWORDS = """
x:d x:keyword "RDF" , "OWL" , "stratigraphy"@en , "time scale"@en ; x:p x:e .
x:e x:keyword "eau"@fr , "poisson"@fr , "river"@en .
x:c skos:prefLabel "dog"@en , "koira"@fi , "hund"@sv ; skos:altLabel "hurtta"@fi , "hound"@en ; x:p x:d .
"""


async def test_keywords_that_translate_nothing_are_all_shown() -> None:
    async with over(KEYWORDS) as gateway:
        both = [(await gateway.describe_entity(node)).model_extra or {} for node in ("x:d", "x:e")]
    assert [each["x:keyword"] for each in both] == [
        ["OWL", "RDF", "stratigraphy", "time scale"],
        ["eau", "poisson", "river"],
    ]
    assert all("other_languages" not in each for each in both)


async def test_what_is_not_shown_is_counted_by_language() -> None:
    async with over(KEYWORDS) as gateway:
        said = (await gateway.describe_entity("x:c")).model_extra or {}
    assert (said["name"], said["synonyms"], said["other_languages"]) == ("dog", ["hound"], {"fi": 2, "sv": 1})


async def test_the_profile_says_which_language_is_shown() -> None:
    async with over(KEYWORDS, Profile(size=ROOM, names=NameSettings(languages=("fi",)))) as gateway:
        said = (await gateway.describe_entity("x:c")).model_extra or {}
    assert (said["name"], said["synonyms"], said["other_languages"]) == ("koira", ["hurtta"], {"en": 2, "sv": 1})


async def test_cells_have_what_descriptions_show() -> None:
    async with over(KEYWORDS) as gateway:
        found = await gateway.search_entities("", ["untyped"], values=["x:keyword"])
    rows = {row[0]: row for row in found.as_json()["rows"]}
    assert set(rows["x:e"][-1]) == {"eau", "poisson", "river"}


async def test_every_value_of_drawn_descriptions_is_shown_or_counted() -> None:
    draw = random.Random(47)  # noqa: S311 - test data, not a secret
    tags = ["", "", "en", "en", "de", "fr", "en-gb", "fi"]
    lines = []
    for node in range(60):
        for predicate in range(3):
            for number in range(draw.randrange(6)):
                tag = draw.choice(tags)
                lines.append(f'x:n{node} x:p{predicate} "text {draw.randrange(5)}{number}"{f"@{tag}" if tag else ""} .')
        lines.append(f"x:n{node} x:to x:n{(node + 1) % 60} .")
    graph = "\n".join(lines)
    oracle = rdflib.Graph().parse(data=f"@prefix x: <{X}> .\n{graph}", format="turtle")
    async with over(graph) as gateway:
        for node in range(60):
            said = json.loads(json.dumps((await gateway.describe_entity(f"x:n{node}")).model_extra or {}))
            left: Counter[str] = Counter()
            for predicate in range(3):
                values = said.get(f"x:p{predicate}", [])
                shown = {values} if isinstance(values, str) else set(values)
                there = {
                    value
                    for value in oracle.objects(rdflib.URIRef(f"{X}n{node}"), rdflib.URIRef(f"{X}p{predicate}"))
                    if isinstance(value, rdflib.Literal)
                }
                assert shown <= {str(value) for value in there}
                left.update(str(value.language) for value in there if str(value) not in shown)
            assert dict(left) == said.get("other_languages", {})
