"""What could be followed from an entity, and what `describe_schema` says of lists that it cuts."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.answers.values import ALL_SHOWN, EXAMPLES
from gateway.errors import EndpointFault, Fault, InputError
from gateway.escaping import json_text
from gateway.graph.call import Deadline, Spend, deadline_passed, unpaid
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NameSettings
from gateway.tools.description import EDGES_READ, FEW_ROWS, NAMES_READ, ROWS, WITH_EXAMPLES
from tests.small import ROOM, Watched, engine, over

pytestmark = pytest.mark.anyio

HUB = " ".join(f"x:n{number:03} x:in x:hub ." for number in range(EDGES_READ)) + " x:hub x:out x:n000, x:n001 ."
COUNTING = "GROUP BY ?n ?p ?kind"


async def described(turtle: str, id_: str = "x:a", profile: Profile | None = None) -> dict[str, Any]:
    async with over(turtle, profile) as gateway:
        return (await gateway.describe_entity(id_)).as_json()


def refusing(text: str, fault: Fault) -> Callable[[str], Awaitable[None]]:
    async def hook(query: str) -> None:
        if text in query:
            raise fault

    return hook


async def test_a_row_has_the_predicate_the_number_of_edges_and_neighbours() -> None:
    answer = await described("x:a x:p x:b, x:c ; x:q x:d ; a x:T ; rdfs:label 'A' . x:e x:p x:a .")
    assert answer["edges"] == {
        "x:p": [2, "x:b", "x:c"],
        "^x:p": [1, "x:e"],
        "x:q": [1, "x:d"],
    }
    assert "edge_rows_total" not in answer
    assert answer["complete"] is True


async def test_edges_stand_after_the_metadata() -> None:
    answer = await described("x:a x:p x:b ; rdfs:label 'A' ; x:note 'n' .")
    assert list(answer) == ["id", "entity_type", "iri", "complete", "name", "x:note", "edges"]


async def test_a_self_loop_goes_both_ways() -> None:
    assert (await described("x:a x:p x:a ."))["edges"] == {"x:p": [1, "x:a"], "^x:p": [1, "x:a"]}


async def test_an_entity_without_edges_says_so() -> None:
    assert (await described("x:a a x:T ; rdfs:label 'A' ."))["edges"] == {}


async def test_triples_with_blank_nodes_are_counted_beside_the_edges() -> None:
    answer = await described("x:a x:p [ x:q 1 ], x:b . [] x:r x:a .")
    assert answer["edges"] == {"x:p": [1, "x:b"]}
    assert answer["blank_node_edges"] == 2


@pytest.mark.parametrize("count", [ALL_SHOWN, ALL_SHOWN + 1])
async def test_a_few_neighbours_are_all_shown_and_of_more_three_those_with_names_first(count: int) -> None:
    others = [f"x:n{number:02}" for number in range(count)]
    turtle = f"x:a x:p {', '.join(others)} . x:n03 rdfs:label 'Delta' . x:n05 rdfs:label 'Foxtrot' ."
    unnamed = [other for other in others if other not in {"x:n03", "x:n05"}]
    shown = ["x:n03 Delta", "x:n05 Foxtrot", *unnamed][: count if count == ALL_SHOWN else EXAMPLES]
    assert (await described(turtle))["edges"] == {"x:p": [count, *shown]}


@pytest.mark.parametrize("named", [(1, 7, 8), (40, 41, 99), (98, 99), (100,)])
async def test_neighbours_with_names_stand_first_wherever_they_are_by_iri_as_far_as_names_are_read(
    named: tuple[int, ...],
) -> None:
    others = [f"x:n{number:03}" for number in range(2 * NAMES_READ)]
    turtle = f"x:a x:p {', '.join(others)} . " + " ".join(
        f"x:n{number:03} rdfs:label 'Name {number}' ." for number in named
    )
    read = [number for number in named if number < NAMES_READ]
    unnamed = [other for number, other in enumerate(others) if number not in read]
    shown = [*(f"x:n{number:03} Name {number}" for number in read), *unnamed][:EXAMPLES]
    assert (await described(turtle))["edges"] == {"x:p": [len(others), *shown]}


async def test_names_of_more_neighbours_cost_no_further_request() -> None:
    turtle = " ".join(f"x:a{row} x:p{row} x:n{number:03} ." for row in range(3) for number in range(90))
    async with over(turtle) as gateway:
        answer = await gateway.describe_entities([f"x:a{row}" for row in range(3)], explain=True)
    assert answer.explain is not None
    assert sum(query.template == "facts" and ":n000 " in query.sparql for query in answer.explain.sent) == 1
    assert {len(entity.edges["x:p" + entity.id[-1]]) for entity in answer.result if entity.edges} == {1 + EXAMPLES}


async def test_a_name_that_says_no_more_than_the_id_is_left_out() -> None:
    answer = await described("x:a x:p x:big_town, x:c . x:big_town rdfs:label 'Big Town' . x:c rdfs:label 'D' .")
    assert answer["edges"] == {"x:p": [2, "x:big_town", "x:c D"]}


async def test_where_ids_are_opaque_predicates_and_neighbours_have_names_beside_them_and_not_in_labels() -> None:
    turtle = "x:a a x:T ; x:p x:b . x:p rdfs:label 'parent' . x:b rdfs:label 'B. B.' . x:T rdfs:label 'type' ."
    profile = Profile(size=ROOM, names=NameSettings(on_stubs=True))
    answer = await described(turtle, profile=profile)
    assert answer["edges"] == {"x:p parent": [1, "x:b B. B."]}
    assert answer["labels"] == {"x:T": "type"}


async def test_rows_beyond_thirty_are_counted() -> None:
    answer = await described(" ".join(f"x:a x:p{number:02} x:b ." for number in range(ROWS + 5)))
    assert list(answer["edges"]) == [f"x:p{number:02}" for number in range(ROWS)]
    assert answer["edge_rows_total"] == ROWS + 5
    assert answer["complete"] is True


async def test_many_entities_have_few_rows_without_neighbours() -> None:
    names = [f"x:n{number}" for number in range(WITH_EXAMPLES + 1)]
    turtle = " ".join(f"{name} x:p{number:02} x:b ." for name in names for number in range(FEW_ROWS + 1))
    async with over(turtle) as gateway:
        few = await gateway.describe_entities(names[:WITH_EXAMPLES])
        many = await gateway.describe_entities(names)
    assert few.result[0].edges == {f"x:p{number:02}": [1, "x:b"] for number in range(FEW_ROWS + 1)}
    for entity in many.result:
        assert entity.edges == {f"x:p{number:02}": [1] for number in range(FEW_ROWS)}
        assert entity.edge_rows_total == FEW_ROWS + 1


async def test_a_hub_is_counted_by_the_endpoint_with_the_first_and_last_neighbour_of_each_row() -> None:
    answer = await described(HUB, "x:hub")
    assert answer["edges"] == {"^x:in": [EDGES_READ, "x:n000", "x:n299"], "x:out": [2, "x:n000", "x:n001"]}
    assert answer["complete"] is True


async def test_the_edges_of_all_entities_are_read_by_one_query() -> None:
    asked = []

    async def hook(query: str) -> None:
        asked.append(query)

    turtle = "x:a x:p x:b, [] . x:c x:p x:d . [] x:q x:c ."
    async with over(Watched(engine(turtle), hook)) as gateway:
        answer = await gateway.describe_entities(["x:a", "x:c"])
    assert [(entity.edges, entity.blank_node_edges) for entity in answer.result] == [
        ({"x:p": [1, "x:b"]}, 1),
        ({"x:p": [1, "x:d"]}, 1),
    ]
    assert sum("?s ?p ?o" in query.partition("WHERE")[0] for query in asked) == 1


async def test_blank_nodes_take_no_room_from_edges() -> None:
    blank = " ".join(f"x:a x:p [ x:number {number} ] ." for number in range(EDGES_READ + 1))
    few = await described(f"{blank} x:a x:q x:b .")
    assert few["edges"] == {"x:q": [1, "x:b"]}
    assert few["blank_node_edges"] == EDGES_READ + 1
    many = await described(blank + " ".join(f"x:n{number:03} x:q x:a ." for number in range(EDGES_READ + 1)))
    assert many["edges"] == {"^x:q": [EDGES_READ + 1, "x:n000", "x:n300"]}
    assert many["blank_node_edges"] == EDGES_READ + 1


async def test_all_hubs_of_a_call_are_counted_by_one_query() -> None:
    both = HUB + " ".join(f"x:n{number:03} x:in x:other ." for number in range(EDGES_READ + 1))
    asked = []

    async def hook(query: str) -> None:
        asked.append(query)

    async with over(Watched(engine(both), hook)) as gateway:
        answer = await gateway.describe_entities(["x:hub", "x:other", "x:n000"])
    assert [entity.edges for entity in answer.result] == [
        {"^x:in": [EDGES_READ, "x:n000", "x:n299"], "x:out": [2, "x:n000", "x:n001"]},
        {"^x:in": [EDGES_READ + 1, "x:n000", "x:n300"]},
        {"^x:out": [1, "x:hub"], "x:in": [2, "x:hub", "x:other"]},
    ]
    assert sum(COUNTING in query for query in asked) == 1


async def test_hubs_are_counted_in_a_quarter_of_the_time_of_a_call() -> None:
    left = {}

    class Timed(Watched):
        async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
            left[COUNTING in query] = deadline.seconds_left
            return await super().select(query, deadline, spend)

    profile = Profile(size=ROOM, limits=LimitSettings(deadline_seconds=100))
    async with over(
        Timed(engine(HUB), refusing("nothing", EndpointFault("No."))), profile, clock=lambda: 0.0
    ) as gateway:
        await gateway.describe_entity("x:hub")
    assert left[True] == 25
    assert left[False] > 25


@pytest.mark.parametrize(
    ("fault", "cause"), [(EndpointFault("No."), "endpoint_failed"), (deadline_passed(), "deadline")]
)
async def test_a_hub_that_could_not_be_counted_has_lower_bounds(fault: Fault, cause: str) -> None:
    async with over(Watched(engine(HUB), refusing(COUNTING, fault))) as gateway:
        answer = await gateway.describe_entity("x:hub")
    assert answer.edges
    for count, *_ in answer.edges.values():
        assert str(count).startswith("at least ")
    assert answer.edges_failed == cause
    assert answer.complete is False
    assert any("edges_failed: the edges of x:hub" in warning for warning in answer.warnings or ())


async def test_counts_that_are_lower_than_what_was_read_are_not_believed() -> None:
    class Partial(Watched):
        async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
            body = await super().select(query, deadline, spend)
            return body.replace(f'"value":"{EDGES_READ}"'.encode(), b'"value":"7"') if COUNTING in query else body

    async with over(Partial(engine(HUB), refusing("nothing", EndpointFault("No.")))) as gateway:
        answer = await gateway.describe_entity("x:hub")
    assert answer.edges_failed == "endpoint_failed"
    assert all(str(count).startswith("at least ") for count, *_ in (answer.edges or {}).values())
    assert not answer.complete


async def test_edges_that_could_not_be_read_are_no_absence_and_the_rest_of_the_answer_stands() -> None:
    turtle = "x:a x:p x:b ; rdfs:label 'A' ."
    async with over(Watched(engine(turtle), refusing("SELECT ?n ?s ?p ?o", EndpointFault("No.")))) as gateway:
        answer = (await gateway.describe_entity("x:a")).as_json()
        several = await gateway.describe_entities(["x:a", "x:b"])
    assert answer["name"] == "A"
    assert "edges" not in answer
    assert answer["edges_failed"] == "endpoint_failed"
    assert answer["complete"] is False
    assert [(entity.edges, entity.edges_failed) for entity in several.result] == [(None, "endpoint_failed")] * 2
    assert several.complete is False


async def test_a_survey_that_uses_up_the_requests_leaves_the_answer() -> None:
    profile = Profile(size=ROOM, limits=LimitSettings(requests=12, batch=1, facts_batch=1))
    names = [f"x:n{number:03}" for number in range(2)]
    turtle = HUB + " x:n000 rdfs:label 'Zero' ."
    async with over(turtle, profile) as gateway:
        await gateway.describe_schema()
        answer = await gateway.describe_entities(names)
    assert answer.result[0].metadata["name"] == "Zero"
    assert {entity.edges_failed for entity in answer.result} <= {None, "budget"}


async def test_an_endpoint_that_cuts_answers_without_a_sign_has_lower_bounds_only() -> None:
    profile = Profile.model_validate({"size": ROOM, "endpoint": {"trusted": False}})
    answer = await described("x:a x:p x:b .", profile=profile)
    assert answer["edges"] == {"x:p": ["at least 1", "x:b"]}


# --- size ---

WORDS = "w" * 3_000
LARGE = (
    f"x:a x:note '{WORDS}' ; "
    + " ; ".join(f"x:q{number:02} 'v{number}'" for number in range(20))
    + " ; "
    + " ; ".join(f"x:p{number:02} x:b1, x:b2, x:b3" for number in range(ROWS))
    + " ."
)


async def sized(tokens: int) -> dict[str, Any]:
    return await described(LARGE, profile=Profile(size=SizeSettings(max_tokens=tokens)))


async def test_long_values_are_shortened_before_a_survey_is() -> None:
    answer = await sized(1_000)
    assert len(answer["x:note"]) < len(WORDS)
    assert len(answer["edges"]) == ROWS
    assert answer["degraded"] == {"values_shortened": 1}


async def test_neighbours_are_left_out_before_rows_and_properties() -> None:
    answer = await sized(400)
    assert answer["edges"] == {f"x:p{number:02}": [3] for number in range(ROWS)}
    assert answer["degraded"]["examples_left_out"] == 3 * ROWS
    assert "properties_left_out" not in answer["degraded"]


async def test_rows_that_do_not_fit_are_counted_and_never_read_as_no_edges() -> None:
    long = "p" * 300
    answer = await described(
        " ".join(f"x:a x:{long}{number:02} x:b ." for number in range(4)),
        profile=Profile(size=SizeSettings(max_tokens=200)),
    )
    assert "edges" not in answer or answer["edges"]
    assert answer["edge_rows_total"] == 4


MANY = "\n".join(f"x:a x:predicate_with_a_long_name_{number} x:b . x:b a x:T ." for number in range(238))

FILTERS = "Filters take the others too."
SEE_ALL = "all=true lists up to 200 of each."


async def test_a_list_that_is_cut_says_how_much_of_it_there_is_and_how_to_see_the_rest() -> None:
    async with over(MANY, Profile()) as gateway:
        schema = await gateway.describe_schema()
        rare = await gateway.bfs_query(["x:a"], 1, predicates=["x:predicate_with_a_long_name_99"])
    assert (len(schema.predicates), schema.predicates_total) == (40, 238)
    assert schema.warnings == [f"Listed: the 40 most frequent of 238 predicates. {SEE_ALL} {FILTERS}"]
    assert schema.comprehensive
    assert "the most frequent are listed" in schema.next_steps
    assert rare.warnings is None


async def test_all_lists_up_to_200_of_each_in_15000_bytes_and_does_not_advise_itself() -> None:
    async with over(MANY, Profile(size=ROOM)) as gateway:
        schema = await gateway.describe_schema(all=True)
    assert len(json_text(schema.as_json()).encode()) <= 15_000
    assert 100 < len(schema.predicates) < 200
    assert schema.warnings == [f"Listed: the {len(schema.predicates)} most frequent of 238 predicates. {FILTERS}"]
    assert schema.comprehensive


async def test_a_schema_that_is_listed_in_full_has_no_warning_and_the_same_list_with_all() -> None:
    turtle = "\n".join(f"x:a a x:T{number} ; x:p{number} x:b ." for number in range(40))
    async with over(turtle, Profile()) as gateway:
        schema = await gateway.describe_schema()
        same = await gateway.describe_schema(all=True)
    assert (len(schema.entity_types), len(schema.predicates), schema.warnings) == (40, 40, None)
    assert same == schema


@pytest.mark.parametrize(("asked", "nearest"), [("rdsf:label", "rdfs:"), ("quite-other:x", "dct:")])
async def test_a_prefix_that_nobody_declared_is_named_with_the_nearest_that_are_declared(
    asked: str, nearest: str
) -> None:
    async with over("x:a x:p x:b .") as gateway:
        with pytest.raises(InputError) as of_seeds:
            await gateway.bfs_query([asked], 1)
        with pytest.raises(InputError) as of_one:
            await gateway.describe_entity(asked)
        some = await gateway.bfs_query(["x:a", asked], 1)
        several = await gateway.describe_entities(["x:a", asked])
    prefix = asked.partition(":")[0]
    for text in (
        str(of_seeds.value),
        str(of_one.value),
        *(some.warnings or ["nothing"]),
        *(several.warnings or ["nothing"]),
    ):
        assert f"The prefix '{prefix}' is not declared." in text
        assert nearest in text


@pytest.mark.parametrize("asked", ["http://example.org/other", "urn:other", "mailto:a@example.org", "x:other"])
async def test_an_iri_that_is_not_there_says_nothing_of_prefixes(asked: str) -> None:
    async with over("x:a x:p x:b .") as gateway:
        answer = await gateway.bfs_query(["x:a", asked], 1)
    assert answer.missing_seeds == [asked]
    assert answer.warnings is None
