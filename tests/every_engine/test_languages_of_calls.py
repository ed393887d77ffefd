"""Names and texts in the language of a call: drawn questions on every engine, answered as rdflib sees the graph."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import rdflib

from gateway.api import open_gateway
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.columns import Column

pytestmark = pytest.mark.anyio

X = "http://example.org/x/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TAGS = ("en", "de", "fr", "fi", "pt-br")
NODES, QUESTIONS = 100, 300


def lines() -> Iterator[str]:
    """Return nodes with a name in some of five languages, a remark in some, and keywords that translate nothing."""
    drawn = random.Random(47)  # noqa: S311 - a drawn graph
    for number in range(NODES):
        node = f"<{X}n{number}>"
        yield f"{node} <{X}next> <{X}n{(number + 1) % NODES}> ."
        for predicate, word in ((LABEL, "name"), (f"{X}remark", "remark")):
            for tag in drawn.sample(TAGS, drawn.randint(1, len(TAGS))):
                yield f'{node} <{predicate}> "{word} {number} {tag}"@{tag} .'
        for _ in range(drawn.randint(0, 2)):
            yield f'{node} <{X}remark> "plain {drawn.randint(0, 9)}" .'
        yield f'{node} <{X}keyword> "first {number}"@en , "second {number}"@en , "dritter {number}"@de .'


GRAPH = "\n".join(lines())


class Oracle:
    """What rdflib sees, and what an answer in a language shows of it."""

    def __init__(self) -> None:
        self._graph = rdflib.Graph().parse(data=GRAPH, format="turtle")

    def shown(self, node: str, predicate: str, language: str) -> tuple[set[str], Counter[str]]:
        """Return the values that are shown, and how many are not, by language."""
        values = list(self._graph.objects(rdflib.URIRef(node), rdflib.URIRef(predicate)))
        texts = [(str(one), (one.language or "").lower()) for one in values if isinstance(one, rdflib.Literal)]
        by_tag = Counter(tag for _, tag in texts if tag)
        if len(by_tag) < 2 or set(by_tag.values()) != {1}:
            return {text for text, _ in texts}, Counter()
        relatives = [tag for tag in sorted(by_tag) if tag.partition("-")[0] == language]
        best = language if language in by_tag else next(iter(relatives), "en" if "en" in by_tag else None)
        if best is None:
            # The commonest one of a sample comes first, which is not said here.
            return set(), Counter()
        return {text for text, tag in texts if tag in {"", best}}, Counter(
            {tag: count for tag, count in by_tag.items() if tag != best}
        )


def _as_set(value: object) -> set[str]:
    listed = value if isinstance(value, list) else [value]
    return {str(one) for one in listed if one is not None}


async def ask_in_languages(gateway: Gateway, questions: int) -> int:
    """Ask drawn questions, compare each answer, and return how many were compared."""
    await gateway.describe_schema()
    oracle, drawn, asked = Oracle(), random.Random(1), 0  # noqa: S311 - drawn questions
    while asked < questions:
        number, language = drawn.randrange(NODES), drawn.choice(("en", "de", "fr", "fi", "pt"))
        node = f"{X}n{number}"
        names, names_left = oracle.shown(node, LABEL, language)
        remarks, remarks_left = oracle.shown(node, f"{X}remark", language)
        if not names or not remarks:
            continue
        asked += 1
        left = names_left + remarks_left
        tool = drawn.choice(("describe", "bfs", "rows", "search"))
        if tool == "describe":
            said = (await gateway.describe_entity(node, language=language)).model_extra or {}
            assert {said["name"]} == names
            assert _as_set(said[_remark(said)]) == remarks
            assert said.get("other_languages", {}) == left
            assert len(_as_set(said[_remark(said, "keyword")])) == 3
        elif tool == "bfs":
            answer = await gateway.bfs_query(
                [node],
                1,
                only_predicates=[f"{X}next"],
                direction="out",
                limit=1,
                node_types=["untyped"],
                language=language,
            )
            metadata = answer.nodes[0].metadata or {}
            assert {metadata["name"]} == names
            assert _as_set(metadata[_remark(metadata)]) == remarks
            assert (answer.other_languages or {}) == left
        elif tool == "rows":
            before = f"{X}n{(number - 1) % NODES}"
            answer = await gateway.bfs_query(
                [before],
                1,
                only_predicates=[f"{X}next"],
                direction="out",
                values=[f"{X}remark"],
                show="name",
                language=language,
                where=[f"name = {next(iter(names))}"],
            )
            name, cell = (answer.rows or [["", None]])[0]
            assert ({name}, _as_set(cell)) == (names, remarks)
            assert (answer.other_languages or {}) == remarks_left
        else:
            text = f"name {number} "
            found = (await gateway.search_entities(next(iter(names)), language=language)).result
            assert found[0].name in names
            assert text in found[0].name
    return asked


def _remark(said: Mapping[str, object], called: str = "remark") -> str:
    return next(key for key in said if key.endswith(called))


@pytest.mark.slow
async def test_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(GRAPH, encoding="utf-8")
    async with open_gateway(str(file)) as gateway:
        assert await ask_in_languages(gateway, QUESTIONS) == QUESTIONS


async def test_at_an_endpoint(endpoint: Column) -> None:
    there = endpoint.asked("languages")
    profile = there.settle(Profile(orientation=OrientationSettings(patience_seconds=120)))
    async with open_gateway(endpoint=there.endpoint, profile=profile) as gateway:
        assert await ask_in_languages(gateway, QUESTIONS) == QUESTIONS
