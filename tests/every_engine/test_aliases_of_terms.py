"""Types and predicates are found by their aliases where no name fits: in files, at endpoints and in databases."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.answers.models import CompactAnswer
from gateway.api import open_gateway
from gateway.errors import EndpointFault, InputError
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import LimitSettings, OrientationSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NameSettings
from gateway.terms.iri import SKOS
from gateway.tools.gateway import Gateway
from tests.columns import Column
from tests.small import ROOM, Watched, engine, over

pytestmark = pytest.mark.anyio

X = "https://example.org/x/"
TRIPLES = """
x:f1 a x:Film ; rdfs:label "Dune" ; x:author x:p1 ; x:runtime 155 ; x:seal x:p1 .
x:f2 a x:Film ; rdfs:label "Brazil" ; x:author x:p2 ; x:publisher x:p1 ; x:runtime 142 .
x:p1 a x:Person ; rdfs:label "Frank Herbert" ; x:born x:f1 .
x:p2 a x:Person ; rdfs:label "Terry Gilliam" .
x:Film rdfs:label "film" ; skos:altLabel "movie", "motion picture", "Streifen"@de ; skos:hiddenLabel "flim" .
x:Person skos:altLabel "human being" ; <http://schema.org/alternateName> "somebody" .
x:author rdfs:label "author" ; skos:altLabel "written by", "seal", "made by", "writer/creator" .
x:publisher skos:altLabel "made by", "label" .
x:runtime skos:altLabel "length in minutes", "duration", "born" .
"""
GRAPH = f"""
@prefix x: <{X}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <{SKOS}> .
{TRIPLES}
"""
PROFILE = Profile(prefixes={"x": X}, orientation=OrientationSettings(patience_seconds=120))


async def are_taken(gateway: Gateway, *, hidden: bool = True) -> None:
    """Ask by aliases, those of skos:hiddenLabel among them."""
    await gateway.describe_schema()
    walked = await gateway.bfs_query(["x:f1"], 1, only_predicates=["written by"])
    assert [edge.predicate for edge in walked.edges] == ["x:author"]
    assert "only_predicates: 'written by' was taken for the predicate x:author, by an alias." in (walked.warnings or [])
    slashed = await gateway.bfs_query(["x:p1"], 1, only_predicates=["^Writer/Creator"])
    assert [edge.predicate for edge in slashed.edges] == ["x:author"]
    for alias in ["movie", "Motion-Picture", "streifen", *["flim"] * hidden]:
        listed = await gateway.search_entities(node_types=[alias])
        assert {hit.id for hit in listed.result} == {"x:f1", "x:f2"}, alias
        assert f"node_types: '{alias}' was taken for the type x:Film, by an alias." in (listed.warnings or [])
    people = await gateway.bfs_query(["x:f1", "x:f2"], 1, only_node_types=["somebody"])
    assert {node.id for node in people.nodes} == {"x:f1", "x:f2", "x:p1", "x:p2"}
    long = await gateway.search_entities(node_types=["movie"], where=["duration > 150"], values=["length in minutes"])
    assert [str(row[0]).split()[0] for row in long.rows or []] == ["x:f1"]
    for alias in ("duration", "length in minutes"):
        assert f"'{alias}' was taken for the predicate x:runtime, by an alias." in (long.warnings or [])


async def are_refused(gateway: Gateway) -> None:
    """Ask by aliases of several terms, and by those that are the name of another term."""
    with pytest.raises(InputError, match=r"'made by' is an alias of several predicates: x:author, x:publisher\."):
        await gateway.bfs_query(["x:f1"], 1, only_predicates=["made by"])
    with pytest.raises(InputError, match=r"'made by' fits 2 predicates.*x:author, x:publisher"):
        await gateway.search_entities(node_types=["film"], where=["made by exists"])
    sealed = await gateway.bfs_query(["x:f1"], 1, only_predicates=["seal"])
    assert [edge.predicate for edge in sealed.edges] == ["x:seal"]
    assert not any("alias" in warning for warning in sealed.warnings or [])
    born = await gateway.search_entities(node_types=["Person"], where=["born exists"])
    assert [str(row[0]).split()[0] for row in born.rows or []] == ["x:p1"]


async def test_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(GRAPH, encoding="utf-8")
    async with open_gateway(str(file)) as gateway:
        await are_taken(gateway)
        await are_refused(gateway)
        for question, first in [("written", "x:author"), ("movies", "x:Film"), ("how long in minutes", "x:runtime")]:
            found = await gateway.describe_schema(query=question)
            assert [*found.entity_types, *found.predicates, *(found.values or {})][:1] == [first]


async def test_at_an_endpoint(endpoint: Column) -> None:
    there = endpoint.asked("aliases-of-terms")
    async with open_gateway(endpoint=there.endpoint, profile=there.settle(PROFILE)) as gateway:
        await are_taken(gateway)
        await are_refused(gateway)


@pytest.mark.parametrize(
    "hidden", [HiddenSettings(predicates=(f"{SKOS}altLabel",)), HiddenSettings(types=(f"{X}Film",))]
)
async def test_what_a_policy_hides_is_no_alias(tmp_path: Path, hidden: HiddenSettings) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(GRAPH, encoding="utf-8")
    async with open_gateway(str(file), profile=PROFILE.model_copy(update={"hidden": hidden})) as gateway:
        await gateway.describe_schema()
        with pytest.raises(InputError, match="is called 'movie'"):
            await gateway.search_entities(node_types=["movie"])
        assert "x:Film" not in (await gateway.describe_schema(query="movie")).entity_types


async def test_a_label_beside_values_goes_before_an_alias_of_an_edge() -> None:
    gateway = over('x:a a x:T ; x:p x:b ; x:q 1 . x:p skos:altLabel "weight" . x:q rdfs:label "weight" .')
    found = await gateway.search_entities(node_types=["x:T"], where=["weight > 0"])
    assert [str(row[0]).split()[0] for row in found.rows or []] == ["x:a"]
    assert not any("alias" in warning for warning in found.warnings or [])
    await gateway.close()


async def test_the_name_of_a_predicate_that_is_no_edge_is_no_alias() -> None:
    gateway = over('x:a x:p x:b ; rdfs:label "a" . x:p skos:altLabel "label" .')
    with pytest.raises(InputError, match="rdfs:label"):
        await gateway.bfs_query(["x:a"], 1, only_predicates=["label"])
    await gateway.close()


async def test_aliases_cost_no_request() -> None:
    asked: list[str] = []

    async def note(query: str) -> None:
        asked.append(query)

    counts = []
    for lines in (TRIPLES, "\n".join(line for line in TRIPLES.splitlines() if "altLabel" not in line)):
        asked.clear()
        gateway = over(Watched(engine(lines), note))
        await gateway.bfs_query(["x:f1"], 1, only_predicates=["author"])
        counts.append(len(asked))
        await gateway.close()
    assert counts[0] == counts[1]


async def test_a_wikibase_is_asked_for_aliases_in_the_languages_of_answers_alone() -> None:
    asked: list[str] = []

    async def note(query: str) -> None:
        asked.append(query)

    via = f"{X}direct"
    text = """
    x:i1 x:author x:i2 . x:i1 a x:Film . x:Film skos:altLabel "movie"@en-gb, "Kino"@de, "cine"@es .
    x:P50 x:direct x:author ; rdfs:label "author"@en ; skos:altLabel "written by"@en, "Schreiber"@de, "escritor"@es .
    """
    profile = Profile(names=NameSettings(predicate_entity=(via,), languages=("de",)))
    gateway = over(Watched(engine(text), note), profile)
    taken: Mapping[str, list[str]] = {"x:author": ["written by", "Schreiber"], "x:Film": ["movie", "Kino"]}
    for alias in taken["x:author"]:
        found = await gateway.bfs_query(["x:i1"], 1, only_predicates=[alias])
        assert [edge.predicate for edge in found.edges] == ["x:author"]
    for alias in taken["x:Film"]:
        assert [hit.id for hit in (await gateway.search_entities(node_types=[alias])).result] == ["x:i1"]
    with pytest.raises(InputError, match="is called 'escritor'"):
        await gateway.bfs_query(["x:i1"], 1, only_predicates=["escritor"])
    with pytest.raises(InputError, match="is called 'cine'"):
        await gateway.bfs_query(["x:i1"], 1, only_node_types=["cine"])
    assert any('LANGMATCHES(LANG(?v), "de")' in query for query in asked)
    await gateway.close()


async def test_a_walk_by_names_goes_before_an_alias_of_the_whole_text() -> None:
    gateway = over("""
    x:a a x:T ; x:follows x:b ; x:q x:d . x:b x:directed x:d . x:c a x:T ; x:q x:d .
    x:q skos:altLabel "follows/directed", "follows/led", "follows/name" . x:directed skos:altLabel "led" .
    """)
    for text in ("follows/directed = x:d", "follows/name missing"):
        found = await gateway.search_entities(node_types=["x:T"], where=[text], values=["follows/directed"])
        assert not any("alias" in warning for warning in found.warnings or [])
    walked = await gateway.search_entities(node_types=["x:T"], where=["follows/directed = x:d"])
    assert [str(row[0]).split()[0] for row in walked.rows or []] == ["x:a"]
    followed = await gateway.bfs_query(["x:a"], 1, only_predicates=["follows/directed"])
    assert [edge.predicate for edge in followed.edges] == ["x:follows/x:directed"]
    aliased = await gateway.search_entities(node_types=["x:T"], where=["follows/led = x:d"])
    assert {str(row[0]).split()[0] for row in aliased.rows or []} == {"x:a", "x:c"}
    followed = await gateway.bfs_query(["x:a"], 1, only_predicates=["follows/led"])
    assert [edge.predicate for edge in followed.edges] == ["x:q"]
    await gateway.close()


ALIAS_OF_AN_EDGE = 'x:a a x:T ; x:p x:b ; x:q 1 . x:p skos:altLabel "weight" . x:q rdfs:label "weight" .'


async def test_no_alias_is_taken_while_names_of_predicates_of_values_are_unread() -> None:
    async def fail(query: str) -> None:
        if "/q>" in query and "/p>" not in query:
            raise EndpointFault("The endpoint's answer is no whole SPARQL JSON.")

    gateway = over(Watched(engine(ALIAS_OF_AN_EDGE), fail))
    with pytest.raises(EndpointFault, match="could not all be read"):
        await gateway.search_entities(node_types=["x:T"], where=["weight exists"])
    await gateway.close()


async def test_an_alias_leaves_doubts_where_not_all_predicates_of_values_are_known() -> None:
    profile = Profile(size=ROOM, orientation=OrientationSettings(glance_triples=1))
    gateway = over('x:a a x:T ; x:p x:b ; x:q 1 . x:p skos:altLabel "weight" .', profile)
    for text, is_complete in [("weight exists", False), ("x:p exists", True)]:
        answer = await gateway.call("search_entities", {"node_types": ["x:T"], "where": [text]}, shape="compact")
        assert isinstance(answer, CompactAnswer)
        assert answer.written["complete"] is is_complete, answer.written
        assert ("may be the name of another" in str(answer.written)) is not is_complete
    await gateway.close()


async def test_a_label_in_another_language_counts_as_an_alias() -> None:
    text = """
    x:a a x:T ; x:len 1 ; x:note 2 ; x:made x:b . x:len rdfs:label "runtime"@en, "Laufzeit"@de .
    x:note skos:altLabel "Laufzeit" . x:made rdfs:label "maker"@en, "Hersteller"@de .
    """
    gateway = over(text)
    with pytest.raises(InputError, match=r"'Laufzeit' fits 2 predicates.*x:len, x:note"):
        await gateway.search_entities(node_types=["x:T"], values=["Laufzeit"])
    followed = await gateway.bfs_query(["x:a"], 1, only_predicates=["Hersteller"])
    assert [edge.predicate for edge in followed.edges] == ["x:made"]
    await gateway.close()


async def test_a_type_with_more_synonyms_than_rows_of_a_query_keeps_its_label() -> None:
    many = ", ".join(f'"synonym {number}"' for number in range(300))
    profile = Profile(size=ROOM, limits=LimitSettings(query_rows=100))
    gateway = over(f'x:a a x:T ; x:p x:b . x:T rdfs:label "thing" ; skos:altLabel {many} .', profile)
    assert [hit.id for hit in (await gateway.search_entities(node_types=["thing"])).result] == ["x:a"]
    await gateway.close()
