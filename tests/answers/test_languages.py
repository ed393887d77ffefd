"""Texts in several languages: which are translations of others, and that none vanishes."""

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import rdflib

from gateway.api import open_gateway
from gateway.errors import InputError
from gateway.settings.profile import Profile, ShapeName
from gateway.settings.vocabulary import NameSettings
from gateway.terms.literals import Literal, are_translations, language_order, language_rank, shown_texts
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


@pytest.mark.parametrize(
    ("values", "are"),
    [
        (["19.-20. sec.@it", "ohne Klavier@de"], False),
        (["16.-18. Jh.@de", "19.-20. sec.@it"], False),
        (["19. sec.@it", "si bemolle@it", "C@de", "B@de"], False),
        (["19. sec.@it", "19th century@en"], True),
        (["19.-20. sec.@it", "siglo XIX-XX@es"], True),
        (["carbon-14 dating@en", "radiohiiliajoitus@fi"], True),
        (["a mountain of more than 1,000 metres, which rises from the sea@en", "montagne@fr"], True),
        (["第9期@ja", *(f"Stage@{tag}" for tag in ("de", "en", "es", "fr", "it", "nl"))], True),
        (["Stimme@de", "voice@en", "a@und", "b@zxx"], True),
        (["Stimme@de", "a@und"], False),
    ],
)
def test_figures_that_no_other_text_has_are_no_translation(values: list[str], *, are: bool) -> None:
    given = [Literal(text, language=tag) for text, _, tag in (one.rpartition("@") for one in values)]
    assert are_translations(given) == are


def test_texts_in_no_language_are_always_shown() -> None:
    given = [Literal("Stimme", language="de"), Literal("voice", language="en"), Literal("V.", language="und")]
    assert [one.value for one in shown_texts(given, language_order(["en"]))] == ["voice", "V."]


def test_of_translations_one_language_is_shown_and_what_has_none() -> None:
    given = [*texts("", "de", "en", "fr"), Literal("7", "http://www.w3.org/2001/XMLSchema#integer")]
    assert [one.value for one in shown_texts(given, language_order([]))] == [" 0", "en 2", "7"]
    assert [one.value for one in shown_texts(given, language_order(["fr"]))] == [" 0", "fr 3", "7"]
    assert shown_texts(texts("en", "en", "de"), language_order(["de"])) == texts("en", "en", "de")


def test_a_language_finds_its_regional_relatives() -> None:
    assert min(("de", "en", "en-gb"), key=lambda tag: language_rank(tag, language_order(["en-us"]))) == "en"
    assert min(("de", "en-gb"), key=lambda tag: language_rank(tag, language_order(["en"]))) == "en-gb"


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


@pytest.mark.parametrize(
    ("tag", "nodes"), [("", 60), pytest.param("", 2_000, marks=pytest.mark.slow), ("fi", 60), ("en-us", 60)]
)
async def test_every_value_of_drawn_descriptions_is_shown_or_counted(tag: str, nodes: int) -> None:
    draw = random.Random(47)  # noqa: S311 - test data, not a secret
    tags = ["", "", "en", "en", "de", "fr", "en-gb", "fi"]
    lines = []
    for node in range(nodes):
        for predicate in range(3):
            for number in range(draw.randrange(6)):
                other = draw.choice(tags)
                text = f'"text {draw.randrange(5)}{number}"{f"@{other}" if other else ""}'
                lines.append(f"x:n{node} x:p{predicate} {text} .")
        lines.append(f"x:n{node} x:to x:n{(node + 1) % nodes} .")
    graph = "\n".join(lines)
    oracle = rdflib.Graph().parse(data=f"@prefix x: <{X}> .\n{graph}", format="turtle")
    async with over(graph) as gateway:
        described: dict[str, Any] = {}
        for first in range(0, nodes, 50):
            page = await gateway.describe_entities(
                [f"x:n{node}" for node in range(first, first + 50)][: nodes - first], language=tag
            )
            assert not page.remaining_ids
            described |= {entity.id: entity.metadata or {} for entity in page.result}
        for node in range(nodes):
            said = described[f"x:n{node}"]
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


async def test_the_language_of_a_call_comes_first_in_every_tool() -> None:
    async with over(KEYWORDS) as gateway:
        said = (await gateway.describe_entity("x:c", language="sv")).model_extra or {}
        assert (said["name"], said["synonyms"], said["other_languages"]) == ("hund", ["hound"], {"en": 1, "fi": 2})
        several = (await gateway.describe_entities(["x:c"], language="FI")).as_json()["result"]
        assert several[0]["metadata"]["name"] == "koira"
        traversal = (await gateway.bfs_query(["x:c"], 1, language="fi")).as_json()
        assert traversal["nodes"][0]["metadata"]["name"] == "koira"
        met = (await gateway.intersect_subgraphs(["x:c", "x:e"], 1, language="sv")).as_json()
        assert "hund" not in json.dumps(met)
        found = (await gateway.search_entities("dog", language="fi")).as_json()["result"]
        assert (found[0]["name"], found[0]["matched"]) == ("koira", "dog@en")
        rows = (await gateway.search_entities("", ["untyped"], values=["skos:prefLabel"], language="sv")).as_json()
        assert [row[-1] for row in rows["rows"]] == ["hund", None, None]
        # Without it, and after it, the profile decides.
        assert ((await gateway.describe_entity("x:c")).model_extra or {})["name"] == "dog"


async def test_a_language_falls_back_to_its_relatives_and_then_to_the_profile() -> None:
    graph = 'x:a rdfs:label "lift"@en-gb , "Aufzug"@de . x:b rdfs:label "Brot"@de , "pain"@fr . x:a x:p x:b .'
    async with over(graph, Profile(size=ROOM, names=NameSettings(languages=("fr",)))) as gateway:
        named = {}
        for tag in ("en", "en-us", "pt"):
            page = await gateway.describe_entities(["x:a", "x:b"], language=tag)
            named[tag] = [(entity.metadata or {}).get("name") for entity in page.result]
    assert named == {"en": ["lift", "pain"], "en-us": ["lift", "pain"], "pt": ["lift", "pain"]}


async def test_a_text_that_is_no_language_tag_is_refused() -> None:
    async with over(KEYWORDS) as gateway:
        for wrong in ("German language", "d/e", "de-*"):
            with pytest.raises(InputError, match="language"):
                await gateway.describe_entity("x:c", language=wrong)


async def test_the_commonest_language_of_the_graph_comes_before_others() -> None:
    lines = [f'x:n{number} rdfs:label "nimi {number}"@fi ; x:p x:n0 .' for number in range(9)]
    async with over("\n".join([*lines, 'x:two rdfs:label "deux"@fr , "kaksi"@fi , "zwei"@de ; x:p x:n0 .'])) as gateway:
        assert ((await gateway.describe_entity("x:two")).model_extra or {})["name"] == "kaksi"
        traversal = await gateway.bfs_query(["x:two"], 1)
        assert traversal.nodes[0].metadata is not None
        assert traversal.nodes[0].metadata["name"] == "kaksi"


async def test_labels_of_a_schema_are_in_the_language_of_the_call() -> None:
    graph = 'x:a a x:T ; x:p x:b . x:T rdfs:label "thing"@en , "Ding"@de . x:p rdfs:label "part"@en , "Teil"@de .'
    profile = Profile(size=ROOM, names=NameSettings(on_stubs=True))
    async with over(graph, profile) as gateway:
        labels = (await gateway.describe_schema(language="de")).labels
        assert labels == {"x:T": "Ding", "x:p": "Teil"}
        assert (await gateway.describe_schema()).labels == {"x:T": "thing", "x:p": "part"}
        found = await gateway.bfs_query(["x:a"], 1, language="de")
        assert {"x:T": "Ding", "x:p": "Teil"}.items() <= (found.labels or {}).items()


async def test_advice_of_a_schema_names_a_type_in_the_language_of_the_call() -> None:
    graph = 'x:a a x:T . x:b a x:T . x:c a x:T . x:d a x:U . x:e a x:V . x:T rdfs:label "thing"@en , "Ding"@de .'
    async with over(graph, Profile(size=ROOM, names=NameSettings(on_stubs=True))) as gateway:
        assert "x:T (label: 'Ding')" in (await gateway.describe_schema(language="de")).next_steps
        assert "x:T (label: 'thing')" in (await gateway.describe_schema()).next_steps


OPAQUE = """
x:a a x:T ; x:P1 "apple" . x:b a x:T ; x:P1 "pear" .
x:P1 rdfs:label "said"@en , "sagt"@de . x:T rdfs:label "thing"@en , "Ding"@de .
"""


async def test_the_language_of_one_call_does_not_name_predicates_of_values_for_others() -> None:
    async with over(OPAQUE) as gateway:
        for language, name in (("de", "sagt"), (None, "said"), ("de", "said")):
            found = await gateway.search_entities("", ["T"], where=[f"{name} = apple"], language=language)
            assert [row[0] for row in found.rows or []] == ["x:a"], (language, name)
        asked = {"node_types": ["T"], "where": ["sagt = apple"]}
        after = await gateway.call("search_entities", asked)
    # A label in another language is an alias, whoever asked in that language before.
    async with over(OPAQUE) as gateway:
        assert (await gateway.call("search_entities", asked)).as_json() == after.as_json()
    assert after.as_json()["warnings"] == ["'sagt' was taken for the predicate x:P1, by an alias."]


async def test_labels_of_values_and_of_shapes_are_in_the_language_of_each_call() -> None:
    profile = Profile(size=ROOM, names=NameSettings(on_stubs=True))
    english, german = {"x:P1": "said", "x:T": "thing"}, {"x:P1": "sagt", "x:T": "Ding"}
    async with over(OPAQUE, profile) as gateway:
        for language, labels in (("de", german), (None, english), ("de", german)):
            assert (await gateway.describe_schema(language=language)).labels == labels
            assert (await gateway.describe_schema(node_types=["x:T"], language=language)).labels == labels


async def test_rows_are_in_the_order_of_the_texts_that_they_show() -> None:
    graph = 'x:a a x:T ; x:said "apple"@en , "Zapfel"@de . x:b a x:T ; x:said "zebra"@en , "Affe"@de .'
    rows = {}
    async with over(graph) as gateway:
        for language, order in (("de", "x:said"), ("en", "x:said"), (None, "x:said"), ("de", "-x:said")):
            first = await gateway.search_entities("", ["T"], sort_by=order, language=language, limit=1)
            both = await gateway.search_entities("", ["T"], sort_by=order, language=language)
            assert first.rows == (both.rows or [])[:1]
            rows[language, order] = both.rows
    german, english = [["x:b", "Affe"], ["x:a", "Zapfel"]], [["x:a", "apple"], ["x:b", "zebra"]]
    assert (rows["de", "x:said"], rows["de", "-x:said"]) == (german, german[::-1])
    assert rows["en", "x:said"] == rows[None, "x:said"] == english


async def test_a_schema_says_how_many_nodes_have_no_name() -> None:
    async with over('x:a x:p x:b , x:c . x:b rdfs:label "one" .') as gateway:
        assert "2 of the 3 nodes with edges have no name." in (await gateway.describe_schema()).next_steps


async def test_a_search_says_in_which_language_it_found_a_name() -> None:
    async with over(KEYWORDS) as gateway:
        finnish = (await gateway.search_entities("koira")).as_json()["result"][0]
        english = (await gateway.search_entities("hound")).as_json()["result"][0]
    assert (finnish["name"], finnish["matched"]) == ("dog", "koira@fi")
    assert (english["name"], english["matched"]) == ("dog", "hound")


@pytest.mark.parametrize("shape", ["reference", "compact"])
async def test_what_a_traversal_and_columns_do_not_show_is_counted(shape: ShapeName) -> None:
    graph = KEYWORDS + 'x:d rdfs:comment "one"@en , "eins"@de .'
    async with over(graph) as gateway:
        seeds = {"seeds": ["x:d"], "max_hops": 1}
        traversal = (await gateway.call("bfs_query", seeds, shape=shape)).as_json()
        rows = (
            await gateway.call(
                "search_entities", {"node_types": ["untyped"], "values": ["skos:prefLabel"]}, shape=shape
            )
        ).as_json()
    # x:c says two things in Finnish and one in Swedish, x:d one in German.
    assert traversal["other_languages"] == {"de": 1, "fi": 2, "sv": 1}
    assert rows["other_languages"] == {"fi": 1, "sv": 1}


EVERYWHERE = """@prefix x: <http://x.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:a a x:T ; rdfs:label "avenue"@en, "Allee"@de ; rdfs:comment "wide"@en, "breit"@de ; x:n 5 ; x:p x:b ;
  x:text "one"@en, "eins"@de , "a@b" ; x:by [ x:said "so"@en , "also"@de ] .
x:b a x:T ; rdfs:label "road"@en, "Weg"@de . x:c a x:T ; rdfs:label "lane"@en ."""


async def test_texts_of_all_languages_have_their_tags_and_names_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(EVERYWHERE, encoding="utf-8")
    columns = ["rdfs:label", "x:text", "name", "x:p", "x:n"]
    async with open_gateway(path) as graph:
        entity = await graph.describe_entity("x:a", language="*")
        table = await graph.search_entities(node_types=["x:T"], values=columns, sort_by="x:text", language="*")
        usual = await graph.search_entities(node_types=["x:T"], values=columns, sort_by="x:text")
        nodes = (await graph.bfs_query(["x:a"], 1, language="*")).nodes
        groups = [
            (await graph.search_entities(node_types=["x:T"], group_by="x:text", compute=["count"], language=one)).groups
            for one in (None, "*")
        ]
        with pytest.raises(InputError, match=r"or \* for all languages"):
            await graph.describe_entity("x:a", language="**")
    assert entity.name == "avenue"
    assert entity.metadata["description"] == ["breit@de", "wide@en"]
    assert entity.metadata["synonyms"] == ["Allee@de", "avenue@en"]
    assert entity.metadata["x:text"] == ["a@b", "eins@de", "one@en"]
    assert entity.metadata["x:by"]["x:said"] == ["also@de", "so@en"]
    assert "other_languages" not in entity.metadata
    assert table.rows == [
        ["x:a avenue", ["Allee@de", "avenue@en"], ["a@b", "eins@de", "one@en"], "x:b road", 5],
        ["x:b road", ["road@en", "Weg@de"], None, None, None],
        ["x:c lane", "lane@en", None, None, None],
    ]
    assert table.other_languages is None
    assert [row[0] for row in usual.rows or ()] == [row[0] for row in table.rows]
    assert usual.other_languages
    assert (nodes[0].metadata or {})["synonyms"] == ["Allee@de", "avenue@en"]
    assert groups[0] == groups[1]


async def test_texts_of_one_language_alone_leave_others_out_counted_and_names_stay(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    austrian = 'x:d a x:T ; rdfs:label "Gasse"@de-AT, "alley"@en ; x:text "eins"@DE , "zwei"@de , "deed"@en-DE .'
    path.write_text(f"{EVERYWHERE}\n{austrian}", encoding="utf-8")
    columns = ["rdfs:label", "x:text", "name", "x:p", "x:n"]
    async with open_gateway(path) as graph:
        entity = await graph.describe_entity("x:a", language="only de")
        english = await graph.describe_entity("x:c", language="Only DE")
        table = await graph.search_entities(node_types=["x:T"], values=columns, language="only de")
        whole = await graph.bfs_subgraph(["x:a"], 1, values=["rdfs:label"], language="only de")
        none = await graph.search_entities(node_types=["x:T"], values=["rdfs:label"], language="only fi")
        compact = await graph.call("describe_entity", {"id": "x:c", "language": "only de"}, shape="compact")
        with pytest.raises(InputError, match=r"only en for texts in no other"):
            await graph.describe_entity("x:a", language="only")
    assert entity.name == "Allee"
    assert entity.metadata["description"] == "breit"
    assert entity.metadata["x:text"] == ["a@b", "eins"]
    assert entity.metadata["x:by"]["x:said"] == "also"
    assert entity.metadata["other_languages"] == {"en": 4}
    # A name is what a node is called by, in whatever language it has one.
    assert (english.name, english.metadata["other_languages"]) == ("lane", {"en": 1})
    assert "other_languages" in json.dumps(compact.as_json())
    assert table.rows == [
        ["x:a Allee", "Allee", ["a@b", "eins"], "x:b Weg", 5],
        ["x:b Weg", "Weg", None, None, None],
        ["x:c lane", None, None, None, None],
        ["x:d Gasse", "Gasse", ["eins", "zwei"], None, None],
    ]
    assert table.other_languages == {"en": 5, "en-de": 1}
    assert whole.nodes[-1].values == {"rdfs:label": "Weg"}
    assert [row[1] for row in none.rows or ()] == [None] * 4
    assert none.other_languages == {"de": 2, "de-at": 1, "en": 4}


ENGLISH = """@prefix x: <http://x.example/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
x:a a x:T ; x:note "hello"@en ; x:n 5 ; x:by [ x:said "so"@en ] ; x:p x:b ; x:q x:b .
x:b a x:T ; x:note "two"@en, "deux"@fr .
[] a rdf:Statement ; rdf:subject x:a ; rdf:predicate x:p ; rdf:object x:b ; x:why "because"@en .
[] a rdf:Statement ; rdf:subject x:a ; rdf:predicate x:q ; rdf:object x:b ; x:why "since"@en ; x:n 7 ."""

IN_FRENCH: dict[str, dict[str, Any]] = {
    "describe_entity": {"id": "x:a"},
    "describe_entities": {"ids": ["x:a", "x:b"]},
    "bfs_query": {"seeds": ["x:a"], "max_hops": 1, "node_types": ["x:T"], "predicates": ["x:p", "x:q"]},
    "intersect_subgraphs": {"seeds": ["x:a", "x:b"], "k": 1, "node_types": ["x:T"], "predicates": ["x:p", "x:q"]},
    "search_entities": {"node_types": ["x:T"], "values": ["x:note", "x:n"]},
}


@pytest.mark.parametrize("shape", ["reference", "compact"])
@pytest.mark.parametrize("tool", IN_FRENCH)
async def test_of_a_predicate_with_texts_in_other_languages_alone_nothing_is_shown_and_all_is_counted(
    tmp_path: Path, tool: str, shape: ShapeName
) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(ENGLISH, encoding="utf-8")
    async with open_gateway(path) as graph:
        answer = await graph.call(tool, {**IN_FRENCH[tool], "language": "only fr"}, shape=shape)
    written = json.dumps(answer.as_json())
    assert '"complete": true' in written
    assert not [text for text in ("hello", "so", "two", "because", "since") if f'"{text}"' in written]
    assert '"x:n": 5' in written or tool == "search_entities"
    assert ('"deux"' in written) == (tool != "describe_entity")
    counts = [*map(int, re.findall(r'"other_languages": \{"en": (\d+)\}', written))]
    assert counts == {"describe_entity": [2], "describe_entities": [2, 1], "search_entities": [2]}.get(tool, [4])
    if "predicates" in IN_FRENCH[tool]:
        assert '"x:n": 7' in written
        assert "x:why" not in written


async def test_a_whole_subgraph_in_one_language_has_no_text_of_another_and_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(ENGLISH, encoding="utf-8")
    async with open_gateway(path) as graph:
        whole = await graph.bfs_subgraph(["x:a"], 1, language="only fr")
    described = {node.id: node.metadata for node in whole.nodes}
    assert (described["x:a"]["x:n"], described["x:b"]) == (5, {"x:note": "deux"})
    assert {edge.predicate: edge.evidence for edge in whole.edges}["x:p"] is None
    assert "Texts in other languages that are left out: 5 en" in whole.notes
