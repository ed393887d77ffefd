"""Names found by their meaning beside those found by spelling (docs/tools.md, "search_entities")."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gateway import expand, messages
from gateway.answers.models import QueryResult, SearchHit, SearchResult
from gateway.api import open_gateway
from gateway.errors import Fault
from gateway.graph.call import Deadline
from gateway.graph.values import Hits, SearchTerms
from gateway.meaning.embedder import Embedded
from gateway.search_index.name_vectors import NameVectorsSource
from gateway.search_index.vectors import NameVectors, load, store
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.meaning.models import Service, by_meaning, model_in, service_over
from tests.search_index.small_indexes import Listed, allowance, index_of
from tests.small import HEADER

pytestmark = pytest.mark.anyio

GRAPH = """
x:bp a x:Disease ; rdfs:label 'hypertension' ; skos:altLabel 'arterial hypertension' .
x:mi a x:Disease ; rdfs:label 'myocardial infarction' .
x:tower a x:Building ; rdfs:label 'Eiffel Tower' .
x:car a x:Thing ; rdfs:label 'automobile' ; skos:altLabel 'motor vehicle' .
x:n4 a x:Person ; rdfs:label 'physician' .
x:low a x:Sign ; rdfs:label 'low blood sugar' .
"""
QUERY = "high blood pressure"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.ttl"
    path.write_text(HEADER + GRAPH, "utf-8")
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return model_in(tmp_path / "model")


async def ready(gateway: Gateway) -> Gateway:
    await gateway.wait_for_names()
    return gateway


def by_meaning_of(answer: SearchResult | QueryResult) -> list[SearchHit]:
    return answer.by_meaning or []


def meant(answer: SearchResult | QueryResult) -> list[str]:
    return [hit.id for hit in by_meaning_of(answer)]


async def test_a_name_is_found_by_its_meaning_and_says_so(graph: Path, model: Path) -> None:
    async with open_gateway(graph, profile=by_meaning(model)) as gateway:
        await ready(gateway)
        answer = await gateway.search_entities("medical doctor")
        best, *_ = by_meaning_of(answer)
        assert (answer.result, best.id, best.match, best.name) == ([], "x:n4", "meaning", "physician")
        assert best.score is not None
        assert 0.3 <= best.score <= 1
        # It is not called a hit, nor does it make the search more, or less, than it was.
        assert (answer.complete, answer.found, answer.searched, answer.warnings) == (True, None, None, None)
        assert answer.next_steps is not None
        assert answer.next_steps.endswith(messages.BY_MEANING)


async def test_an_answer_without_an_embedder_has_nothing_of_it(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        await ready(gateway)
        answer = await gateway.search_entities("car")
        assert (answer.by_meaning, answer.warnings) == (None, None)


async def test_what_is_said_of_spelling_is_the_same_with_and_without_an_embedder(graph: Path, model: Path) -> None:
    queries = ("hypertension", "Eiffel", "blood", "hypertenson", "tower", "car", QUERY, "??")
    answers = []
    for profile in (Profile(size=by_meaning(model).size), by_meaning(model)):
        async with open_gateway(graph, profile=profile) as gateway:
            await ready(gateway)
            answers.append([(await gateway.search_entities(query)).as_json() for query in queries])
    apart = {"by_meaning", "next_steps"}
    without, with_ = ([{k: v for k, v in one.items() if k not in apart} for one in some] for some in answers)
    assert without == with_


async def test_where_a_name_is_the_query_nothing_is_found_by_meaning(graph: Path, model: Path) -> None:
    async with open_gateway(graph, profile=by_meaning(model)) as gateway:
        await ready(gateway)
        answer = await gateway.search_entities("Motor Vehicle")
        assert ([hit.id for hit in answer.result], answer.by_meaning) == (["x:car"], None)


async def test_a_hit_is_not_listed_again_by_its_meaning(graph: Path, model: Path) -> None:
    async with open_gateway(graph, profile=by_meaning(model)) as gateway:
        await ready(gateway)
        answer = await gateway.search_entities("blood sugar")
        assert [hit.id for hit in answer.result] == ["x:low"]
        assert "x:low" not in meant(answer)


async def test_types_narrow_what_is_found_by_meaning(graph: Path, model: Path) -> None:
    async with open_gateway(graph, profile=by_meaning(model, least=0.0)) as gateway:
        await ready(gateway)
        assert set(meant(await gateway.search_entities(QUERY, ["Disease"]))) == {"x:bp", "x:mi"}
        assert meant(await gateway.search_entities(QUERY, ["untyped"])) == []


async def test_several_queries_each_have_what_is_near_in_meaning(graph: Path, model: Path) -> None:
    async with open_gateway(graph, profile=by_meaning(model)) as gateway:
        await ready(gateway)
        answer = await gateway.search_entities(queries=["car", "Eiffel Tower"])
        assert answer.queries is not None
        car, tower = answer.queries
        assert (meant(car)[0], tower.by_meaning) == ("x:car", None)


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
async def test_in_little_room_guesses_leave_the_nearest_by_meaning_and_what_is_not_shown_is_not_named(
    several: bool, tmp_path: Path, model: Path
) -> None:
    path = tmp_path / "things.ttl"
    about = f"rdfs:comment '{'about ' * 60}'"
    things = [f"x:m{n} a x:Thing ; rdfs:label 'medical thing {n} {'z' * 170}' ; {about} ." for n in range(30)]
    path.write_text(HEADER + GRAPH + "\n".join(things), "utf-8")
    cases = set()
    for tokens in (2_000, 1_000, 500, 400, 300, 200):
        size = SizeSettings(max_tokens=tokens, ceiling_tokens=tokens)
        profile = by_meaning(model).model_copy(update={"size": size})
        async with open_gateway(path, profile=profile) as gateway:
            await ready(gateway)
            answer: SearchResult | QueryResult = await (
                gateway.search_entities(queries=["medical doctor"])
                if several
                else gateway.search_entities("medical doctor")
            )
            steps = answer.next_steps or ""
            if isinstance(answer, SearchResult) and answer.queries:
                (answer,) = answer.queries
            guesses, near = len(answer.guesses or ()), meant(answer)
            assert near[:1] == (["x:n4"] if guesses > 1 else near[:1])
            assert guesses
            assert ("by_meaning" in steps) <= bool(near)
            cases.add((guesses > 1, bool(near)))
    assert {(True, True), (False, True)} <= cases


async def test_both_shapes_say_the_same(graph: Path, model: Path) -> None:
    async with open_gateway(graph, profile=by_meaning(model)) as gateway:
        await ready(gateway)
        for arguments in ({"query": "car"}, {"queries": ["car", "tower"]}):
            whole = await gateway.call("search_entities", arguments)
            compact = await gateway.call("search_entities", arguments, shape="compact")
            assert expand(compact.as_json()) == whole.as_json()


async def test_a_guess_by_meaning_is_no_entity_for_a_name_in_the_place_of_an_id(graph: Path, model: Path) -> None:
    async with open_gateway(graph, profile=by_meaning(model)) as gateway:
        await ready(gateway)
        with pytest.raises(Exception, match="x:car"):
            await gateway.describe_entity("motorcar")


async def test_what_is_hidden_is_neither_sent_to_a_service_nor_found(graph: Path, model: Path) -> None:
    async with service_over(model) as service:
        profile = by_meaning(service.url, least=0.0)
        hidden = profile.model_copy(update={"hidden": HiddenSettings(types=("https://example.org/x/Disease",))})
        async with open_gateway(graph, profile=hidden) as gateway:
            await ready(gateway)
            assert not {"x:bp", "x:mi"} & set(meant(await gateway.search_entities(QUERY)))
    sent = {text for texts in service.asked for text in texts}
    assert "automobile" in sent
    assert not {"hypertension", "arterial hypertension", "myocardial infarction"} & sent


def embedded_names(service: Service) -> int:
    """Return how many texts a service was asked for, without the query and the probe."""
    return sum(len(texts) for texts in service.asked if len(texts) > 1)


@pytest.mark.slow
async def test_vectors_are_stored_and_made_again_for_another_model_alone(
    graph: Path, model: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    async with service_over(model) as service:

        async def names_embedded(name: str) -> int:
            service.name = name
            before = embedded_names(service)
            async with open_gateway(graph, profile=by_meaning(service.url), store=store) as gateway:
                await ready(gateway)
                assert meant(await gateway.search_entities("car"))[0] == "x:car"
            return embedded_names(service) - before

        # The vectors of two models stay: two gateways may share the folder.
        models = ("one", "one", "two", "two", "one", "two", "three", "two", "one")
        assert [await names_embedded(name) for name in models] == [8, 0, 8, 0, 0, 0, 8, 0, 8]
        assert len([*store.rglob("*.vectors")]) == 2


@pytest.mark.slow
async def test_broken_files_of_vectors_are_made_again(graph: Path, model: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"

    async def first_by_meaning() -> str:
        async with open_gateway(graph, profile=by_meaning(model), store=store) as gateway:
            await ready(gateway)
            return meant(await gateway.search_entities("car"))[0]

    await first_by_meaning()
    (file,) = store.rglob("*.vectors")
    whole = file.read_bytes()
    # The vectors themselves may be damaged too.
    infinite = whole[:400] + np.asarray([np.inf, 7e20], np.float32).tobytes() + whole[408:]
    for broken in (b"", whole[:-1], b"x" + whole[1:], infinite, whole[:-1] + bytes([whole[-1] ^ 1])):
        file.write_bytes(broken)
        assert await first_by_meaning() == "x:car"
        assert file.read_bytes() == whole


@pytest.mark.parametrize("fault", ["away", "slow", "another dimension", "another model", "strange"])
async def test_a_fault_of_a_service_leaves_the_hits_by_spelling_and_says_why(
    fault: str, graph: Path, model: Path
) -> None:
    async with service_over(model) as service:
        profile = by_meaning(service.url, seconds=0.2)
        async with open_gateway(graph, profile=profile) as gateway:
            await ready(gateway)
            match fault:
                case "away":
                    service.status = 503
                case "slow":
                    service.is_stalled = True
                case "another dimension":
                    service.dimensions = 64
                case "another model":
                    service.name = "other"
                case _:
                    service.body = b"{}"
            answer = await gateway.search_entities("blood")
            assert ([hit.id for hit in answer.result], answer.by_meaning) == (["x:low"], None)
            (warning,) = answer.warnings or [""]
            assert warning.startswith("Names were compared by spelling alone, not by meaning: the ")
            assert (answer.complete, answer.searched) == (True, None)
            service.end()


async def test_names_become_vectors_as_soon_as_a_service_that_was_away_is_back(graph: Path, model: Path) -> None:
    async with service_over(model) as service:
        service.status = 503
        profile = by_meaning(service.url)
        async with open_gateway(graph, profile=profile) as gateway:
            await ready(gateway)
            answer = await gateway.search_entities("car")
            assert (answer.by_meaning, answer.complete) == (None, True)
            assert "HTTP status 503" in " ".join(answer.warnings or ())


async def test_a_name_in_the_place_of_an_id_waits_for_no_vectors(graph: Path, model: Path) -> None:
    async with service_over(model) as service:
        service.is_stalled = True
        async with open_gateway(graph, profile=by_meaning(service.url)) as gateway:
            gateway.start()
            assert (await gateway.describe_entity("Eiffel Tower")).id == "x:tower"
            assert (await gateway.search_entities("Eiffel Tower")).warnings is None


class Held:
    """An embedder that waits until it is told to go on."""

    name = "held"
    at_once = 2
    seconds = 1.0

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()
        self.fails = 0
        self.fails_at = 0
        self.error: Exception = Fault("It is away.")
        self.model = "held"
        self.asked: list[Sequence[str]] = []

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embedded:
        """Return vectors by the first letters of texts."""
        deadline.check()
        await self.goes_on.wait()
        self.asked.append(texts)
        if self.fails or len(self.asked) == self.fails_at:
            self.fails = max(0, self.fails - 1)
            raise self.error
        rows = np.zeros((len(texts), 26), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[ord(text[0]) - ord("a")] = 1
        return Embedded(rows, self.model)

    async def close(self) -> None:
        """Go on."""
        self.goes_on.set()


NAMES = Listed({f"urn:{name}": [name] for name in ("apple", "avocado", "banana", "cherry")})


NO_HITS = Hits((), truncated=False, how="")
ALMOND = SearchTerms("almond", ("almond",))


async def test_a_search_does_not_wait_for_vectors_that_take_long() -> None:
    embedder = Held()
    async with index_of(NAMES) as index:
        source = NameVectorsSource(embedder, 0.3, patience=0)
        found = await source.added(NO_HITS, index, ALMOND, (), allowance())
        assert (found.meant, "still being computed" in found.not_meant) == ((), True)
        embedder.goes_on.set()
        await source.built_of(index)
        found = await source.added(NO_HITS, index, ALMOND, (), allowance())
        assert ([one.hit.text for one in found.meant], found.not_meant) == (["apple", "avocado"], "")
        await source.close()


async def test_of_too_many_names_none_becomes_a_vector_and_it_is_said() -> None:
    embedder = Held()
    embedder.goes_on.set()
    async with index_of(NAMES) as index:
        source = NameVectorsSource(embedder, 0.3, most=3)
        found = await source.added(NO_HITS, index, ALMOND, (), allowance())
        assert "4 names, and at most 3" in found.not_meant
        await source.close()


async def test_whatever_failed_fails_no_search_and_is_tried_again_after_a_time() -> None:
    for error in (Fault("It is away."), FileNotFoundError("/a/secret"), sqlite3.OperationalError(), IndexError("no")):
        embedder = Held()
        embedder.goes_on.set()
        embedder.fails, embedder.error = 1, error
        async with index_of(NAMES) as index:
            source = NameVectorsSource(embedder, 0.3, again_seconds=0)
            first = await source.added(NO_HITS, index, ALMOND, (), allowance())
            second = await source.added(NO_HITS, index, ALMOND, (), allowance())
            assert first.not_meant.startswith("Names were compared by spelling alone, not by meaning: ")
            assert ("secret" in first.not_meant, len(second.meant)) == (False, 2)
            await source.close()


async def test_a_build_that_was_stopped_is_begun_again() -> None:
    embedder = Held()
    async with index_of(NAMES) as index:
        source = NameVectorsSource(embedder, 0.3, patience=0, again_seconds=0)
        await source.added(NO_HITS, index, ALMOND, (), allowance())
        (building,) = [task for task in asyncio.all_tasks() if task.get_name() == "vectors of an index"]
        building.cancel()
        await asyncio.wait([building])
        embedder.goes_on.set()
        await source.built_of(index)
        assert len((await source.added(NO_HITS, index, ALMOND, (), allowance())).meant) == 2
        await source.close()


@pytest.mark.parametrize(("again_seconds", "found"), [(0, 2), (60, 0)])
async def test_after_a_change_of_the_model_all_vectors_are_made_anew_but_not_at_once_again(
    again_seconds: float, found: int
) -> None:
    embedder = Held()
    embedder.goes_on.set()
    async with index_of(NAMES) as index:
        source = NameVectorsSource(embedder, 0.3, again_seconds=again_seconds)
        await source.built_of(index)
        embedder.model = "another"
        before = len(embedder.asked)
        first = await source.added(NO_HITS, index, ALMOND, (), allowance())
        await source.built_of(index)
        second = await source.added(NO_HITS, index, ALMOND, (), allowance())
        await source.close()
    assert ("another model" in first.not_meant, len(second.meant)) == (True, found)
    again = [texts for texts in embedder.asked[before:] if len(texts) > 1]
    assert len(again) == found


async def test_a_model_whose_files_are_gone_leaves_the_hits_by_spelling(graph: Path, tmp_path: Path) -> None:
    model = model_in(tmp_path / "model")
    async with open_gateway(graph, profile=by_meaning(model)) as gateway:
        (model / "model.safetensors").unlink()
        await ready(gateway)
        for _ in range(2):
            answer = await gateway.search_entities("blood")
            assert [hit.id for hit in answer.result] == ["x:low"]
            assert "files of the model cannot be read" in " ".join(answer.warnings or ())


async def test_after_a_fault_no_vector_is_made_again() -> None:
    embedder = Held()
    embedder.goes_on.set()
    embedder.fails_at = 3
    async with index_of(NAMES) as index:
        source = NameVectorsSource(embedder, 0.3, again_seconds=0)
        first = await source.added(NO_HITS, index, ALMOND, (), allowance())
        second = await source.added(NO_HITS, index, ALMOND, (), allowance())
        await source.close()
    assert ("it is away" in first.not_meant, len(second.meant)) == (True, 2)
    names = [texts for texts in embedder.asked if len(texts) == 2]
    # The second portion was asked for twice, because the first attempt brought nothing.
    assert [sorted(texts) for texts in names] == [["apple", "banana"], ["avocado", "cherry"], ["avocado", "cherry"]]


def test_vectors_that_cannot_be_stored_remove_no_others(tmp_path: Path) -> None:
    numbers, rows = np.asarray([1, 2]), np.eye(2, dtype=np.float32)
    made = NameVectors(numbers, rows, "one")
    files = [tmp_path / f"names-{name}.vectors" for name in "abc"]
    for file in files[:2]:
        store(file, file.name, made)
    files[2].mkdir()
    with pytest.raises(OSError, match="names-c"):
        store(files[2], files[2].name, made)
    assert all(load(file, file.name, numbers, "one", 2) is not None for file in files[:2])
    assert sorted(tmp_path.iterdir()) == files


def test_the_nearest_vectors_are_those_that_a_plain_loop_finds() -> None:
    random = np.random.default_rng(2026)
    vectors = random.normal(size=(500, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    numbers = np.arange(3, 1503, 3)
    found = NameVectors(numbers, vectors, "").nearest(vectors[7], 0.2, 20, None)
    scores = {int(number): float(row @ vectors[7]) for number, row in zip(numbers, vectors, strict=True)}
    assert found[0][0] == 24
    assert [number for number, _ in found] == sorted(scores, key=lambda one: -scores[one])[: len(found)]
    others = vectors.copy()
    others[0], others[1], others[2] = np.inf, np.nan, 9 * vectors[7]
    # What is no cosine is near to nothing.
    assert [number for number, _ in NameVectors(numbers, others, "").nearest(vectors[7], -1, 500, None)] == [
        number for number in sorted(scores, key=lambda one: -scores[one]) if number > 9
    ]
    among = NameVectors(numbers, vectors, "").nearest(vectors[7], -1, 20, [3, 6, 7, 9])
    assert sorted(number for number, _ in among) == [3, 6, 9]
