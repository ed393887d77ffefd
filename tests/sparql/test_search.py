"""Which way a search goes and what it says of it, and how what is typed reaches a text index."""

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.cache.store import CachedStore
from gateway.errors import DeadlinePassed, EndpointFault, Fault, GaveUp, InputError, QueryRefused, QueryTooLong
from gateway.flow.control import FlowControl
from gateway.graph.call import Deadline, Spend, unpaid
from gateway.settings.endpoint import EndpointSettings, RequestSettings
from gateway.settings.profile import Profile, SearchSettings
from gateway.sparql.search import variants
from gateway.sparql.store import SparqlStore
from gateway.sparql.text_search import blazegraph_query, distinctive_words, lucene_query, virtuoso_query
from gateway.terms.names import is_word, listed_words, words_of
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.base import ProbeResponse, TimeoutPolicy
from gateway.transport.inprocess import InProcess
from tests.examples import examples
from tests.searches import how, is_exhaustive
from tests.small import PREFIXES, engine

pytestmark = pytest.mark.anyio

GRAPH = """
x:insulin rdfs:label 'Insulin' ; a x:Drug ; rdfs:comment 'A hormone of the pancreas. It lowers blood sugar.' .
x:resistance rdfs:label 'insulin resistance' ; a x:Disease .
x:resistant rdfs:label 'resistance to insulin'@en ; a x:Disease ; skos:altLabel 'IR' .
x:glucose dct:title 'glucose' ; a x:Drug .
"""

INDEX_FIRST = SearchSettings(index="virtuoso")
"""An index that is looked for first; all names are compared where it is not there."""

Reply = Callable[[str], Fault | None]


class Elsewhere:
    """An engine that is somebody else's, may have a text index, and may fail.

    The index is one that knows the beginnings of the words of labels, asked as Virtuoso's is, and no single letters.
    """

    def __init__(self, graph: str = GRAPH, fails: Reply = lambda _: None, *, indexed: bool = False) -> None:
        self.timeout_policy = TimeoutPolicy()
        self.flow = FlowControl(RequestSettings())
        self.sent: list[str] = []
        self.fails = fails
        self._indexed = indexed
        self._inner = InProcess(engine(graph), max_bytes=1 << 24)

    path = "/sparql"

    async def look(self, accept: str, deadline: Deadline, parameters: str = "", path: str = "") -> ProbeResponse:
        """Show nothing that names an engine."""
        del accept, deadline, parameters, path
        return ProbeResponse(200, {}, "")

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query."""
        self.sent.append(query)
        fault = self.fails(query)
        if fault is not None:
            raise fault
        return await self._inner.select(self._without_index(query), deadline, spend)

    def _without_index(self, query: str) -> str:
        if "bif:contains" not in query or not self._indexed:
            return query
        words = re.findall(r'\\"(\w+)(\*?)\\"', query)
        joint = " && " if " AND " in query else " || "
        ends = {"*": "", "": "\\\\b"}
        asked = joint.join(
            f'REGEX(STR(?v), "\\\\b{word}{ends[star]}", "i")' if len(word) > 1 else "false" for word, star in words
        )
        told = query.replace("?v <bif:contains>", "BIND(1 AS ?found) #")
        return told.replace("FILTER(?p IN", f'FILTER(STRENDS(STR(?p), "label") && ({asked}))\n  FILTER(?p IN', 1)

    async def close(self) -> None:
        """Close the engine."""
        await self._inner.close()

    def count(self, word: str) -> int:
        """Return how many queries with a word were sent."""
        return sum(word in query for query in self.sent)


def over(endpoint: Elsewhere, settings: SearchSettings | None = None, name: str = "unknown") -> Gateway:
    """Open a gateway over it."""
    profile = Profile(
        search=settings or SearchSettings(),
        endpoint=EndpointSettings.model_validate({"engine": name, "requests": {"retries": 0}}),
    )
    return Gateway(SparqlStore(endpoint, profile), profile, PrefixMap(PREFIXES))


async def test_all_names_of_a_small_graph_are_compared_and_counted_once() -> None:
    endpoint = Elsewhere()
    async with over(endpoint) as gateway:
        answer = await gateway.search_entities("insulin")
        await gateway.search_entities("glucose")
    assert [hit.id for hit in answer.result] == ["x:insulin", "x:resistance", "x:resistant"]
    assert (answer.complete, is_exhaustive(answer), answer.warnings) == (True, True, None)
    assert answer.searched is None
    assert endpoint.count("COUNT(*) AS ?count) WHERE {\n  {\n    SELECT (") == 1


async def test_without_an_index_exact_names_of_a_large_graph_are_found_and_nothing_is_claimed() -> None:
    async with over(Elsewhere(), SearchSettings(scan_triples=2)) as gateway:
        found = await gateway.search_entities("insulin")
        missed = await gateway.search_entities("resistance")
    assert [(hit.id, hit.match) for hit in found.result] == [("x:insulin", "label")]
    assert missed.result == []
    for answer in (found, missed):
        assert (answer.complete, is_exhaustive(answer)) == (False, False)
        assert "equal to the text" in how(answer)
        assert answer.warnings is not None
        assert "bfsql-gateway index" in answer.warnings[0]


@pytest.mark.parametrize(
    "query", ["INSULIN", "insulin", "Insulin", "resistance TO insulin", "ir", "insulin_resistance"]
)
async def test_an_exact_name_is_found_whatever_its_case_and_language(query: str) -> None:
    async with over(Elsewhere(), SearchSettings(scan_triples=0, index="none")) as gateway:
        assert len((await gateway.search_entities(query)).result) == 1


async def test_exact_names_are_looked_up_among_the_types_asked_for() -> None:
    async with over(Elsewhere(), SearchSettings(scan_triples=0)) as gateway:
        assert (await gateway.search_entities("insulin", ["x:Disease"])).result == []
        assert len((await gateway.search_entities("insulin", ["x:Drug"])).result) == 1


async def test_an_index_that_finds_a_name_by_its_word_is_used_and_named() -> None:
    endpoint = Elsewhere(indexed=True)
    async with over(endpoint, SearchSettings(scan_triples=2), "virtuoso") as gateway:
        answer = await gateway.search_entities("resist")
        again = await gateway.search_entities("resistance insulin")
    assert {hit.id for hit in answer.result} == {"x:resistance", "x:resistant"}
    assert "bif:contains on label (it does not cover title, altLabel)" in how(answer)
    assert (answer.complete, is_exhaustive(answer), answer.warnings) == (False, False, None)
    assert [hit.match for hit in again.result] == ["all words", "all words"]


async def test_exact_names_may_take_the_time_that_the_text_index_has_left() -> None:
    class Late(Elsewhere):
        async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
            if '"Glucose"@' in query:
                looked_up.append(deadline.at)
            elif "bif:contains" in query:
                indexed.append(deadline.at)
            return await super().select(query, deadline, spend)

    indexed: list[float] = []
    looked_up: list[float] = []
    async with over(Late(indexed=True), SearchSettings(scan_triples=2), "virtuoso") as gateway:
        await gateway.search_entities("glucose")
    assert looked_up
    assert min(looked_up) > max(indexed)


async def test_a_search_of_many_names_sends_no_probe_for_comparing_them() -> None:
    endpoint = Elsewhere()
    async with over(endpoint, SearchSettings(scan_triples=2)) as gateway:
        await gateway.search_entities("insulin")
    assert endpoint.count("㏍") == 0


async def test_what_an_index_does_not_cover_is_found_by_its_exact_name() -> None:
    async with over(Elsewhere(indexed=True), SearchSettings(scan_triples=2), "virtuoso") as gateway:
        assert [hit.id for hit in (await gateway.search_entities("Glucose")).result] == ["x:glucose"]


async def test_an_index_that_finds_nothing_proves_nothing() -> None:
    async with over(Elsewhere(indexed=True), SearchSettings(scan_triples=2), "virtuoso") as gateway:
        missed = await gateway.search_entities("gluco")
        some = await gateway.search_entities("unheard insulin")
    assert missed.result == []
    assert missed.complete is False
    assert missed.warnings is not None
    assert "no proof" in missed.warnings[0]
    assert some.result == []
    assert {hit.match for hit in some.guesses or ()} == {"some words"}
    async with over(Elsewhere(indexed=True), SearchSettings(index="virtuoso")) as gateway:
        compared = await gateway.search_entities("gluco")
    assert [hit.id for hit in compared.result] == ["x:glucose"]
    assert compared.complete is True


async def test_an_index_with_too_many_names_is_asked_for_the_very_words_too() -> None:
    many = " ".join(f"x:n{number:04} rdfs:label 'an insulinoma {number}' ." for number in range(5_001))
    endpoint = Elsewhere(f"{GRAPH} {many}", indexed=True)
    async with over(endpoint, SearchSettings(scan_triples=2), "virtuoso") as gateway:
        answer = await gateway.search_entities("insulin")
    assert [hit.id for hit in answer.result][:3] == ["x:insulin", "x:resistance", "x:resistant"]
    assert [hit.match for hit in answer.result][:4] == ["label", "prefix", "all words", "part"]
    assert answer.searched is not None
    assert answer.searched.truncated


async def test_an_index_is_asked_for_the_longer_words_where_it_may_lack_the_short_ones() -> None:
    turtle = (
        "x:chain rdfs:label 'insulin A chain' . x:us rdfs:label 'U.S. insulin' . x:unit rdfs:label 'Insulin unit' ."
    )
    async with over(Elsewhere(GRAPH + turtle, indexed=True), SearchSettings(scan_triples=2), "virtuoso") as gateway:
        queries = ("insulin un", "insulin u.s.", "chain a", "insulin x")
        found = [[hit.id for hit in (await gateway.search_entities(query)).result] for query in queries]
    assert found == [["x:unit"], ["x:us"], ["x:chain"], []]


async def test_a_search_compares_all_names_once_more_only_for_what_the_first_time_did_not_tell() -> None:
    scans = {}
    for query in ("insulin", "unheard", "insulin resistance", "insulin unheard", "resist insul", "xy insulin"):
        endpoint = Elsewhere()
        async with over(endpoint) as gateway:
            await gateway.search_entities(query)
        scans[query] = endpoint.count(COMPARISON)
    assert scans == {
        "insulin": 1,
        "unheard": 1,
        "insulin resistance": 1,
        "insulin unheard": 2,
        "resist insul": 2,
        "xy insulin": 2,
    }


async def test_an_index_that_is_not_there_is_not_asked_again() -> None:
    endpoint = Elsewhere(fails=lambda query: QueryRefused("No.") if "bif:contains" in query else None)
    async with over(endpoint, SearchSettings(scan_triples=2), "virtuoso") as gateway:
        await gateway.search_entities("insulin")
        asked = endpoint.count("bif:contains")
        answer = await gateway.search_entities("resistance")
    assert endpoint.count("bif:contains") == asked == 1
    assert answer.warnings is not None
    assert "no text search" in answer.warnings[0]


async def test_an_index_that_answers_with_other_nodes_is_not_believed() -> None:
    # Without its index this engine takes no notice of what should be found, as one that ignores a pattern does.
    async with over(Elsewhere(indexed=False), SearchSettings(scan_triples=2), "virtuoso") as gateway:
        answer = await gateway.search_entities("resistance")
    assert "text index" not in how(answer)


async def test_an_index_that_fails_once_is_reported_and_the_answer_is_not_stored() -> None:
    faults = [GaveUp("Too much.")]
    endpoint = Elsewhere(indexed=True)
    profile = Profile(
        search=SearchSettings(scan_triples=2),
        endpoint=EndpointSettings.model_validate({"engine": "virtuoso", "requests": {"retries": 0}}),
    )
    store = CachedStore(SparqlStore(endpoint, profile), megabytes=1, ttl_seconds=60)
    async with Gateway(store, profile, PrefixMap(PREFIXES)) as gateway:
        await gateway.search_entities("insulin")
        endpoint.fails = lambda query: faults.pop() if "bif:contains" in query and faults else None
        first = await gateway.search_entities("resistance")
        second = await gateway.search_entities("resistance")
    assert "did not answer" in how(first)
    assert first.result == []
    assert len(second.result) == 2


@pytest.mark.parametrize("fault", [GaveUp("Too much."), DeadlinePassed("Too late.")])
async def test_a_comparison_of_all_names_that_takes_too_long_is_reported_and_not_tried_after_two(
    fault: Fault,
) -> None:
    endpoint = Elsewhere(fails=lambda query: fault if "REGEX(?v" in query else None)
    async with over(endpoint, INDEX_FIRST) as gateway:
        answers = [await gateway.search_entities(query) for query in ("insulin", "resistance", "hormone")]
    assert [len(answer.result) for answer in answers] == [1, 0, 0]
    assert endpoint.count("REGEX(?v") == 2
    for answer in answers:
        assert (answer.complete, is_exhaustive(answer)) == (False, False)
        assert answer.warnings is not None
        assert "too long" in answer.warnings[0]


@pytest.mark.parametrize("which", ["REGEX(?v", "VALUES ?v"])
async def test_an_endpoint_that_fails_is_an_error_and_no_empty_answer(which: str) -> None:
    endpoint = Elsewhere(fails=lambda query: EndpointFault("Down.") if which in query else None)
    async with over(endpoint, INDEX_FIRST) as gateway:
        with pytest.raises(EndpointFault):
            await gateway.search_entities("resistance")


async def test_names_that_cannot_be_counted_are_too_many() -> None:
    endpoint = Elsewhere(fails=lambda query: GaveUp("Too much.") if "?count" in query else None)
    async with over(endpoint) as gateway:
        answer = await gateway.search_entities("insulin")
    assert endpoint.count("REGEX(?v") == 0
    assert [hit.id for hit in answer.result] == ["x:insulin"]
    assert answer.complete is False


async def test_a_description_is_the_first_sentence() -> None:
    async with over(Elsewhere()) as gateway:
        (first, *_) = (await gateway.search_entities("insulin")).result
    assert first.description == "A hormone of the pancreas."


async def test_a_graph_in_this_process_is_compared_whole_without_being_counted() -> None:
    profile = Profile(search=SearchSettings(scan_triples=0))
    store = SparqlStore(InProcess(engine(GRAPH), max_bytes=1 << 24), profile)
    async with Gateway(store, profile, PrefixMap(PREFIXES)) as gateway:
        answer = await gateway.search_entities("resist", explain=True)
    assert answer.complete is True
    assert answer.explain is not None
    assert not any("?count" in sent.sparql for sent in answer.explain.sent if sent.template.startswith("search"))


async def test_a_text_without_any_symbol_and_one_that_is_too_long_are_refused_before_anything_is_sent() -> None:
    endpoint = Elsewhere()
    async with over(endpoint) as gateway:
        for query in ("_ -", "\u202e", "\u200b\u0301", "n" * 10_000, "\ud800"):
            with pytest.raises(InputError):
                await gateway.search_entities(query)
    assert endpoint.sent == []


ACCENTS = GRAPH + "x:bjork rdfs:label 'Bj\u00f6rk' . x:plain rdfs:label 'bjork street' ."
PROBE = 'REGEX("'
COMPARISON = "REGEX(?v"


def refused(part: str) -> Reply:
    """Refuse the queries that have a text in them."""
    return lambda query: QueryRefused("No.") if part in query else None


async def test_names_with_other_accents_are_found_by_patterns_that_one_probe_showed_to_work() -> None:
    endpoint = Elsewhere(ACCENTS)
    async with over(endpoint) as gateway:
        answers = [await gateway.search_entities(query) for query in ("Bjork", "BJO\u0308RK")]
    for answer in answers:
        assert {hit.id for hit in answer.result} == {"x:bjork", "x:plain"}
        assert (answer.complete, is_exhaustive(answer), answer.warnings) == (True, True, None)
    assert endpoint.count(PROBE) == 1
    assert endpoint.count("CONTAINS(") == 0


@pytest.mark.parametrize(
    ("fails", "probes"),
    [
        (refused(PROBE), 1),
        (lambda query: EndpointFault("Odd.") if PROBE in query else None, 3),
        (refused(COMPARISON), 1),
        (lambda query: QueryTooLong("Too long.") if COMPARISON in query else None, 1),
    ],
)
@pytest.mark.parametrize("search", [SearchSettings(), INDEX_FIRST])
async def test_where_regex_takes_no_classes_of_letters_no_search_is_complete(
    search: SearchSettings, fails: Reply, probes: int
) -> None:
    endpoint = Elsewhere(ACCENTS, fails)
    async with over(endpoint, search) as gateway:
        answers = [await gateway.search_entities(query) for query in ("bjork", "resist", "unheard", "bjork unheard")]
    assert [len(answer.result) for answer in answers] == [1, 2, 0, 0]
    assert [len(answer.guesses or ()) for answer in answers] == [0, 0, 0, 1]
    for answer in answers:
        assert (answer.complete, is_exhaustive(answer)) == (False, False)
        assert answer.warnings is not None
        assert "without their accents" in answer.warnings[0]
        assert "as typed" in how(answer)
    assert endpoint.count(PROBE) == probes


async def test_an_engine_that_reads_a_pattern_otherwise_is_not_believed() -> None:
    class Bytewise(Elsewhere):
        async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
            """Compare as an engine does that takes each byte of a text for a character."""
            return await super().select(
                query.replace(r"\\p{M}", "[\u00cc\u00cd]") if PROBE in query else query, deadline, spend
            )

    async with over(Bytewise(ACCENTS)) as gateway:
        answer = await gateway.search_entities("bjork")
    assert [hit.id for hit in answer.result] == ["x:plain"]
    assert not answer.complete


LUCENE_SPECIAL = set('+-&|!(){}[]^"~*?:\\/ \t\n\r\u3000')
"""What ends a term of Lucene's classic syntax, or means something in it."""

WRITERS = [lucene_query, virtuoso_query, blazegraph_query]
HOSTILE = ["AND", "and or not", 'a" OR "b', "a) uri:*", "x* ?y", "~2", "[a TO z]", "\\", "'", "?x . } #", "a\x00b"]

texts = st.text(max_size=40) | st.sampled_from(HOSTILE)


def beginning(word: str) -> str:
    """Return what an index is asked for instead of a word of four characters and more."""
    word = word[:60]
    for ending in ("ies", "ses", "xes", "zes", "ches", "shes", "s"):
        cut = {"ies": 3, "s": 1}.get(ending, 2)
        if word.endswith(ending) and not word.endswith("ss") and len(word) - cut >= (5 if cut == 3 else 4):
            return word[:-cut]
    return word


TERM = r'(?:"([^"]+)"|\("([^"]+)"((?: OR "[^"]+")*) OR ([^"*]+)\*\))'
"""A word in quotes, or that, its short singulars and the beginning of words."""


def quoted_words(written: str, joint: str) -> list[str]:
    """Read a query of Lucene's back, strictly."""
    assert re.fullmatch(f"{TERM}(?:{joint}{TERM})*", written) is not None, written
    found = []
    for only, word, singulars, begun in re.findall(TERM, written):
        assert begun == beginning(word)
        assert not LUCENE_SPECIAL & set("".join(re.findall(r'"([^"]+)"', singulars)))
        assert not LUCENE_SPECIAL & set(begun)
        found.append(only or word)
    return found


@settings(deadline=None, max_examples=examples(300))
@given(text=texts, every=st.booleans())
@example(text="AND OR NOT", every=True)
@example(text="\u0130stanbul", every=True)
def test_lucene_gets_each_word_quoted_and_nothing_else(text: str, every: bool) -> None:
    words = words_of(text)
    if words:
        assert quoted_words(lucene_query(words, every=every), " AND " if every else " OR ") == [
            word[:60] for word in words
        ]


@settings(deadline=None, max_examples=examples(300))
@given(text=texts, every=st.booleans())
@example(text="1984", every=True)
@example(text="n" * 1_000, every=True)
@example(text="abc", every=True)
def test_virtuoso_gets_each_word_quoted_and_a_wildcard_only_after_four_characters(text: str, every: bool) -> None:
    words = words_of(text)
    if not words:
        return
    terms = virtuoso_query(words, every=every).split(" AND " if every else " OR ")
    for term, word in zip(terms, words, strict=True):
        asked = f'"{beginning(word)}*"' if len(word) >= 4 else f'"{word}"'
        assert (term == asked) if '" OR "' not in term else re.fullmatch(rf'\((?:"\w+" OR )+{re.escape(asked)}\)', term)
        assert '"' not in word


@settings(deadline=None, max_examples=examples(300))
@given(text=texts)
def test_a_bag_of_words_has_the_words_and_nothing_else(text: str) -> None:
    words = words_of(text)
    if words:
        expected = [f"{beginning(word)}*" if len(word) >= 4 else word for word in words]
        assert blazegraph_query(words, every=True).split() == expected


@pytest.mark.parametrize(
    ("plural", "begun"),
    [
        *(("proteins", "protein*"), ("diseases", "diseas*"), ("viruses", "virus*"), ("therapies", "therap*")),
        *(("cities", "citie*"), ("boxes", "boxe*"), ("churches", "church*"), ("glass", "glass*"), ("gas", "gas")),
        *(("bus", "bus"), ("cats", "cats*"), ("news", "news*")),
    ],
)
def test_a_plural_is_asked_for_by_what_its_singular_has_too(plural: str, begun: str) -> None:
    assert blazegraph_query([plural], every=True) == begun


@pytest.mark.parametrize(
    ("word", "singulars"),
    [
        *(("cities", ["city"]), ("boxes", ["box"]), ("buses", ["bus"]), ("cats", ["cat"]), ("companies", [])),
        *(("proteins", []), ("glass", []), ("gas", []), ("city", []), ("ties", ["ty", "tie"])),
    ],
)
def test_a_singular_that_begins_otherwise_than_its_plural_is_asked_for_as_a_word(
    word: str, singulars: list[str]
) -> None:
    wanted = re.findall(r'"([^"]+)" OR ', virtuoso_query([word], every=True))
    assert wanted == singulars
    if len(word) >= 4:
        terms = [f'"{one}"' for one in (word, *singulars)]
        assert lucene_query([word], every=True) == f"({' OR '.join([*terms, beginning(word)])}*)"


@pytest.mark.parametrize("writer", WRITERS)
@settings(deadline=None, max_examples=examples(300))
@given(text=texts)
@example(text="And")
@example(text='"')
@example(text="")
@example(text="a b")
@example(text="\u0301")
def test_what_is_no_word_is_refused(writer: object, text: str) -> None:
    assert callable(writer)
    if is_word(text) and text == text.lower():
        assert (beginning(text) if len(text) >= 4 else text) in writer([text], every=True)
        return
    with pytest.raises(InputError):
        writer([text], every=True)


@settings(deadline=None, max_examples=examples(300))
@given(text=st.text(max_size=60))
def test_every_word_of_a_text_is_a_word(text: str) -> None:
    for word in words_of(text):
        assert is_word(word)
        assert not LUCENE_SPECIAL & set(word)


def test_the_longest_words_tell_whether_an_index_is_there() -> None:
    names = [("a", "The Cushing disease of 1932"), ("b", "desmopressin-acetate")]
    assert distinctive_words(names, 2) == [("b", "desmopressin"), ("b", "acetate")]
    assert distinctive_words([("a", "ab of")], 2) == []
    assert distinctive_words([("a", "\u6771\u4eac\u90fd")], 2) == [("a", "\u6771\u4eac\u90fd")]


def test_a_name_is_looked_up_in_several_cases_and_languages() -> None:
    found = variants("type_2  diabetes", ["de"])
    assert {text for text, _ in found} >= {
        *("type_2 diabetes", "type 2 diabetes", "Type 2 diabetes", "Type 2 Diabetes", "TYPE 2 DIABETES"),
    }
    assert list(dict.fromkeys(tag for _, tag in found)) == ["", "en", "de", "mul"]
    assert found[0] == ("type_2 diabetes", "")


@settings(deadline=None, max_examples=examples(300))
@given(text=st.text(max_size=1_000))
@example(text="n" * 1_000)
@example(text="\x00")
@example(text="a\ud800b")
def test_the_forms_of_a_text_are_few_and_can_be_sent(text: str) -> None:
    found = variants(text, ["de", "fr"])
    assert sum(len(form) for form, _ in found) <= max(4_000, 5 * 1_500)
    for form, _ in found:
        assert "\x00" not in form
        assert not any("\ud800" <= character <= "\udfff" for character in form)


def test_words_are_listed_in_few_characters() -> None:
    assert listed_words(["one", "n" * 1_000]) == f"one, {'n' * 23}…"
