import importlib
import inspect
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway import errors
from gateway.errors import QUOTE_LIMIT, ConfigurationError, Fault, GatewayError, InputError, counted, quoted
from gateway.sparql.table import Overflow
from gateway.traversal.gaps import GapCollector, cause_of
from tests.cases import check_each

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def below(base: type[GatewayError]) -> Iterator[type[GatewayError]]:
    yield base
    for inner in base.__subclasses__():
        yield from below(inner)


def test_a_value_that_python_does_not_write_is_reported_as_too_large() -> None:
    nested: object = []
    for _ in range(100_000):
        nested = [nested]
    for value in (10**5_000, [10**5_000], {"a": -(10**5_000)}, nested):
        assert quoted(value) == "a value that is too large to be shown"


def test_numbers_have_their_nouns() -> None:
    assert [counted(count, "node") for count in (0, 1, 1200)] == ["0 nodes", "1 node", "1,200 nodes"]
    assert [counted(count, "entity") for count in (1, 2)] == ["1 entity", "2 entities"]


DEFINED = [member for _, member in inspect.getmembers(errors, inspect.isclass) if issubclass(member, GatewayError)]
importlib.import_module("gateway.api")  # every layer that may define faults of its own is loaded now
FAULTS = [kind for kind in below(Fault) if issubclass(kind, Fault) and kind.__module__.startswith("gateway.")]


def test_every_error_reads_as_what_was_wrong_what_is_valid_and_what_to_do_next() -> None:
    def check(kind: type[GatewayError]) -> None:
        assert str(kind("Wrong.", valid="Valid.", next_step="Next.")) == "Wrong. Valid. Next."
        assert str(kind("Wrong.", next_step="Next.")) == "Wrong. Next."

    check_each(DEFINED, check)


def test_the_three_who_can_act_are_distinguished() -> None:
    assert not issubclass(InputError, Fault)
    assert not issubclass(ConfigurationError, Fault)
    assert not issubclass(InputError, ConfigurationError)
    assert not issubclass(ConfigurationError, InputError)


def test_the_faults_of_all_layers_are_looked_at() -> None:
    assert {errors.Fault, errors.AnswerCut, errors.DeadlinePassed, Overflow} <= set(FAULTS)


def test_every_fault_is_listed_under_its_own_cause() -> None:
    def check(kind: type[Fault]) -> None:
        # Another cause than those that an answer can name would be listed as a failure of the endpoint.
        assert cause_of(kind.__new__(kind)) == kind.cause

    check_each(FAULTS, check)


@pytest.mark.parametrize("value", ["", "short", 5, None, ["a"], {"a": 1}, "x" * (QUOTE_LIMIT - 2)])
def test_a_short_value_is_quoted_whole(value: object) -> None:
    assert quoted(value) == repr(value)


@pytest.mark.parametrize("value", ["x" * (QUOTE_LIMIT - 1), "x" * 100_000, list(range(1000))])
def test_a_long_value_is_cut_and_the_cut_is_reported(value: object) -> None:
    text = quoted(value)
    assert text.startswith(repr(value)[: QUOTE_LIMIT - 1])
    assert "\u2026 (" in text
    assert text.endswith(" characters)")
    assert len(text.partition("\u2026")[0]) < QUOTE_LIMIT


@given(
    st.one_of(ANY_TEXT, ANY_TEXT.map(lambda text: text * 50), st.lists(ANY_TEXT), st.dictionaries(ANY_TEXT, ANY_TEXT))
)
@example("\ud800")
@example("line\u2028separator\r\n\x85")
@settings(deadline=None)
def test_a_quoted_value_is_one_short_line_that_can_be_sent(value: object) -> None:
    text = quoted(value)
    assert len(text.splitlines()) == 1
    assert len(text) < QUOTE_LIMIT + 40
    assert text.encode()


def test_everything_that_happened_by_one_cause_is_told_up_to_a_bound() -> None:
    gaps = GapCollector()
    told = []
    for text in ("'Ahle' was not compared.", "'Ahle' was not compared.", "'Bede' was not compared", "x", "y", "z"):
        gaps.add("endpoint_failed", ["https://example.org/a"], text)
        told += [one.detail for one in gaps.entries]
    assert told[0] == told[1] == "'Ahle' was not compared."
    assert told[2] == "'Ahle' was not compared. 'Bede' was not compared."
    assert told[-1] == "'Ahle' was not compared. 'Bede' was not compared. x. And 2 more of this kind."
