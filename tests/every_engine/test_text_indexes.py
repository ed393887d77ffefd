"""Searching by an engine's own text index, and what hostile text does to it (issue 5, acceptance 6)."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway import messages
from gateway.answers.models import SearchResult, SentQuery
from gateway.api import open_gateway
from gateway.errors import InputError
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.profile import Profile, SearchSettings
from gateway.sparql.sentinel import END
from gateway.terms.local_names import local_patterns
from gateway.terms.names import MOST_WORDS, folded_words, has_symbol, patterns, words_of
from gateway.tools.gateway import Gateway
from tests.columns import Column
from tests.searches import found_in, how, is_exhaustive
from tests.servers.command import fuseki_command
from tests.servers.engines import Asked, shared_server
from tests.servers.loopback import HOST, free_port
from tests.servers.process import running
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.shared_data import shared_data
from tests.small import ROOM

pytestmark = pytest.mark.anyio

INDEXED = ("fuseki", "virtuoso", "blazegraph")

NAMES = {
    "plain": "plain harmless name",
    "quoted": 'it\'s "quoted"',
    "slash": "back\\slash",
    "braces": "{braces} and [brackets]",
    "smile": "\U0001f600 smile",
    "hebrew": "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "arabic": "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "logic": "and or not",
    "query": "select where",
    "stop": "the of a",
    "year": "1984",
    "k": "vitamin K",
    "a": "vitamin A",
    "kinase": "a vitamin kinase",
    "city": "old City hall",
}

HOSTILE = [
    *("AND", "OR NOT", "AND OR NOT", "NOT quoted", "quoted AND NOT plain", "a OR b", "&& ||", "+plain -quoted"),
    *("plain~2", "pla*", "*", "?lain", "plain^9", "uri:plain", "label:plain", "[a TO z]", "{a TO z}", "_exists_:x"),
    *("(", ")", "((plain", 'plain"', '"plain', "'", "''", '"', "\\", "\\\\", "pl\\ain", '\\"', "/plain/"),
    *("?x . } #", '" . ?s ?p ?o . "', '") } #', "' OR 1=1 --", "}} UNION {{ ?s ?p ?o", "?n", "$n", "<urn:x>"),
    *("<bif:contains>", "the", "the of a", "of", "1984", "12", "1 2 3", "...", "%", "~2"),
    *("a\x00b", "plain\x00", "\x01plain\x7f", "plain\nquoted", "plain\r\tx", "\ud800", "plain\udfff"),
    *("\U0001f600", "\U0001f600 smile", "\U0001f3f3\ufe0f\u200d\U0001f308", "\u202eniarp", "e\u0301"),
    *("\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627", "\u0939\u093f\u0928\u094d\u0926\u0940"),
    *("\u4e00", "\u6771\u4eac\u90fd", "\u0130", "\u00df", "SELECT * WHERE { ?s ?p ?o }"),
    *("n" * 1_000, "n" * 10_000, " ".join(["word"] * 200), "a " * 500, "x" * 255),
]
SAME_FOR_ALL = {"search/name_count", "search/sample", "search/letter_classes", "search/of_types"}
"""Templates that have nothing of what is searched for."""

CODE = re.compile(r'FILTER\(LCASE\(STR\(\?v\)\) = ("(?:[^"\\]|\\.)*")\)')
"""A code is compared with the whole text that was typed."""

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"(?:@[A-Za-z-]+)?')


@dataclass(frozen=True)
class Indexed:
    """An engine with a text index over two graphs.

    Attributes:
        name: The engine, and its index.
        graphs: How each graph is asked for.
    """

    name: str
    graphs: Mapping[str, Asked]

    def open(self, graph: str, **search: object) -> Gateway:
        """Open a gateway over a graph that asks the index first."""
        asked = self.graphs[graph]
        return open_gateway(
            endpoint=asked.endpoint,
            profile=Profile(
                size=ROOM,
                search=SearchSettings.model_validate({"index": self.name, **search}),
                endpoint=EndpointSettings(graphs=asked.graphs or "default"),
            ),
        )


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.server) for name in INDEXED])
def indexed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_folder: Path
) -> Iterator[Indexed]:
    """Run the test on each engine that has a text index."""
    workdir = tmp_path_factory.mktemp(f"text-{request.param}")
    hostile = workdir / "hostile.nt"
    hostile.write_text("".join(_triples(key, name) for key, name in NAMES.items()), encoding="utf-8")
    files = {"hostile": [hostile], "medlit": [shared_data("medlit-rdf11.ttl.gz")]}
    try:
        folder = run_folder / f"{request.param}-with-text"
        with shared_server(request.param, folder, files, text_index=True) as graphs:
            yield Indexed(request.param, graphs)
    except ServerUnavailable as error:
        skip_or_fail(error)


def _triples(key: str, name: str) -> str:
    text = name.replace("\\", "\\\\").replace('"', '\\"')
    node = f"<urn:hostile:{key}>"
    a, label = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<http://www.w3.org/2000/01/rdf-schema#label>"
    return f'{node} {a} <urn:hostile:Thing> .\n{node} {label} "{text}" .\n'


async def searched(gateway: Gateway, query: str) -> SearchResult | None:
    """Search; None where the query is refused with what to do."""
    try:
        return await gateway.search_entities(query, explain=True)
    except InputError:
        return None


def skeleton(sent: SentQuery) -> str:
    """Return a query without its texts, and without what is repeated for each text."""
    without = re.sub(r'(?:"" ?)+', '"" ', LITERAL.sub('""', sent.sparql))
    lines = without.splitlines()
    return "\n".join(line for number, line in enumerate(lines) if number == 0 or line != lines[number - 1])


async def skeletons(gateway: Gateway) -> dict[str, str]:
    """Return what harmless searches send, by template."""
    found: dict[str, str] = {}
    for query in ("plain", "plain quoted", "unheard things", "\u2605"):
        answer = await searched(gateway, query)
        assert answer is not None
        assert answer.explain is not None
        found |= {sent.template: skeleton(sent) for sent in answer.explain.sent if sent.template.startswith("search")}
    return found


def texts(sent: SentQuery) -> list[str]:
    """Return the texts that a query carries, without that of the sentinel."""
    return [text for text in LITERAL.findall(CODE.sub("", sent.sparql)) if not text.startswith(f"{END} ")]


async def asks_nothing_else(gateway: Gateway, query: str, harmless: dict[str, str]) -> SearchResult | None:
    """Search, and compare what is sent with what a harmless search sends."""
    answer = await searched(gateway, query)
    if answer is None:
        return None
    assert answer.explain is not None
    for sent in answer.explain.sent:
        if not sent.template.startswith("search") or sent.template in SAME_FOR_ALL:
            continue
        assert sent.fault is None, (query, sent)
        assert skeleton(sent) == harmless[sent.template], query
        assert {json.loads(text, strict=False) for text in CODE.findall(sent.sparql)} <= {query.strip().lower()}
        if sent.template in {"search/every_word", "search/any_word"}:
            assert set(texts(sent)) == set(words_of(query))
        elif sent.template == "search/folded":
            searched_for = {text.replace("\\\\", "\\") for text in texts(sent)} - {""}
            folded = [*dict.fromkeys(folded_words(query))][:MOST_WORDS]
            whole = patterns(folded, whole=True)
            # Of the words that no name with all of them has, any.
            some = {"|".join(pattern for pattern in whole if any(pattern in text for text in searched_for))}
            local = {text for every in (True, False) for text in local_patterns(folded, every=every)}
            assert searched_for - local in ({*patterns(folded)}, {*whole}, some)
        elif sent.template != "search/exact":
            (asked, *_) = texts(sent)
            operators = {"AND", "OR"}
            words = set(re.findall(r"\w[\w\u0300-\u036f\u0900-\u097f]*", asked)) - operators
            typed = {word[:60] for word in words_of(query)}
            # Of a plural, what its singular has too.
            assert words <= typed | {word[:-ending] for word in typed if word.endswith("s") for ending in (1, 2, 3)}
    return answer


@pytest.mark.data
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("desmopressin", "http://purl.bioontology.org/ontology/RXNORM/3251"),
        ("cushing syndrome", "http://id.nlm.nih.gov/mesh/D003480"),
        ("desmopr", "http://purl.bioontology.org/ontology/RXNORM/3251"),
        ("cushing syndromes", "http://id.nlm.nih.gov/mesh/D003480"),
    ],
)
async def test_each_index_finds_names_of_medlit_and_says_that_it_did(
    indexed: Indexed, query: str, expected: str
) -> None:
    async with indexed.open("medlit") as gateway:
        answer = await gateway.search_entities(query)
        assert gateway.prefixes.expand(answer.result[0].id) == expected
    if answer.result[0].match == "label":
        assert how(answer) == messages.OTHERS_MAY_HAVE_THIS_NAME
    else:
        assert how(answer).startswith("the endpoint's text index")
        assert " on label" in how(answer)
    assert not is_exhaustive(answer)
    assert answer.complete is False


@pytest.mark.data
async def test_an_index_is_found_by_itself_where_names_are_too_many_to_compare(indexed: Indexed) -> None:
    async with indexed.open("medlit", index="auto", scan_triples=10) as gateway:
        answer = await gateway.search_entities("cushing")
    assert how(answer).startswith("the endpoint's text index")
    assert found_in(answer) > 50


@pytest.mark.data
async def test_types_are_looked_at_before_an_index_cuts(indexed: Indexed) -> None:
    async with indexed.open("medlit") as gateway:
        answer = await gateway.search_entities("cushing", ["Disease"])
    assert answer.result
    assert all("isease" in hit.entity_type for hit in answer.result)
    assert how(answer).startswith("the endpoint's text index")


async def test_a_short_singular_is_found_by_its_plural(indexed: Indexed) -> None:
    if indexed.name == "blazegraph":
        pytest.skip("it takes words and no OR between two of them")
    async with indexed.open("hostile", scan_triples=0) as gateway:
        found = [(await gateway.search_entities(query)).result for query in ("cities", "old cities")]
    assert [[hit.name for hit in hits] for hits in found] == [["old City hall"]] * 2


async def test_hostile_text_asks_an_index_for_its_words_and_nothing_else(indexed: Indexed) -> None:
    async with indexed.open("hostile", scan_triples=0) as gateway:
        harmless = await skeletons(gateway)
        assert {template for template in harmless if template.endswith(indexed.name)}
        for query in HOSTILE:
            answer = await asks_nothing_else(gateway, query, harmless)
            if not has_symbol(query) or len(query) > 1_000 or "\ud800" in query or "\udfff" in query:
                assert answer is None, query
            elif answer is not None:
                words = words_of(query)
                assert all(any(word in (hit.name or "").lower() for word in words) for hit in answer.result), query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("vitamin K", {"k": "label"}),
        ("K vitamin", {"k": "all words"}),
        ("kinase vitamin", {"kinase": "all words"}),
        ("vitam", {"k": "prefix", "a": "prefix", "kinase": "part"}),
    ],
)
async def test_an_index_finds_words_of_one_character_and_tells_words_from_their_beginnings(
    indexed: Indexed, query: str, expected: dict[str, str]
) -> None:
    async with indexed.open("hostile", scan_triples=0) as gateway:
        answer = await gateway.search_entities(query)
    assert {hit.id.removeprefix("urn:hostile:"): hit.match for hit in answer.result} == expected
    assert not answer.complete
    assert "No name has" not in (answer.next_steps or "")


async def test_a_hostile_name_is_found_by_itself(indexed: Indexed) -> None:
    async with indexed.open("hostile") as gateway:
        for key, name in NAMES.items():
            answer = await gateway.search_entities(name)
            assert answer.result[0].id == f"urn:hostile:{key}", name
            assert answer.result[0].match == "label"


PLAIN = """
PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX ja: <http://jena.hpl.hp.com/2005/11/Assembler#>
<#own> a fuseki:Service ; fuseki:name "own" ; fuseki:dataset <#memory> ;
  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "sparql" ] .
<#memory> a ja:MemoryDataset ; ja:data <DATA> .
"""


@pytest.mark.server
@pytest.mark.parametrize("index", ["auto", "fuseki"])
async def test_a_fuseki_without_an_index_which_says_nothing_of_that_is_not_believed(index: str, tmp_path: Path) -> None:
    data, config, port = tmp_path / "hostile.nt", tmp_path / "plain.ttl", free_port()
    data.write_text("".join(_triples(key, name) for key, name in NAMES.items()), encoding="utf-8")
    config.write_text(PLAIN.replace("DATA", data.as_uri()))
    base = f"http://{HOST}:{port}"
    try:
        command = fuseki_command("6.2.0", port=port, config=config)
        with running(command, ready_url=f"{base}/$/ping", log=tmp_path / "log", cwd=tmp_path):
            async with Indexed(index, {"own": Asked(f"{base}/own/sparql")}).open("own", scan_triples=0) as gateway:
                missed, found = [await gateway.search_entities(query) for query in ("harmless", "select WHERE")]
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert missed.result == []
    assert [hit.match for hit in found.result] == ["label"]
    for answer in (missed, found):
        assert "text index" not in how(answer)
        assert answer.warnings is not None
        assert "no text search" in answer.warnings[0]


@pytest.mark.parametrize("settings", [SearchSettings(), SearchSettings(scan_triples=0, index="none")])
async def test_hostile_text_is_answered_or_refused_on_every_engine(engine: Column, settings: SearchSettings) -> None:
    async with engine.open("medical", Profile(size=ROOM, search=settings)) as gateway:
        harmless = await skeletons(gateway)
        for query in HOSTILE:
            await asks_nothing_else(gateway, query, harmless)
