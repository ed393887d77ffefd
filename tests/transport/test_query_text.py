"""Queries that are shortened for a URL say the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.sparql import template
from gateway.transport.http import collapsed
from tests.examples import examples

KEPT = (
    '"a  b"',
    "'a \t b'",
    '"""a\n\n " "" b"""',
    "'''a\n\n ' '' b'''",
    r'"a \"  b"',
    r"'a \'  b'",
    r'"""a \"""  b"""',
    "<http://example.org/a#b>",
    "<urn:it's>",
    "#  it's a   comment\n",
    r"ex:it\'s",
    r"ex:a\#b",
    "'a # b  c'",
)
PLAIN = ("?a", "{", "}", ".", "<", ">", "<=", "&&", "1", "ex:p", "@en")
BLANKS = (" ", "\n", "\t", "\r\n", "  \n\t ")


@pytest.mark.parametrize("token", KEPT)
def test_a_token_is_kept_as_it_is(token: str) -> None:
    assert collapsed(f"  {token}\n\n {token}  ?x") == f" {token} {token} ?x"


@settings(max_examples=examples(300))
@given(
    tokens=st.lists(st.tuples(st.sampled_from((*KEPT, *PLAIN)), st.sampled_from(BLANKS)), max_size=20),
)
def test_only_what_stands_between_tokens_becomes_one_blank(tokens: list[tuple[str, str]]) -> None:
    written = "".join(token + blank for token, blank in tokens)
    assert collapsed(written) == "".join(f"{token} " for token, _ in tokens)


def test_a_less_than_sign_hides_no_string() -> None:
    assert collapsed("FILTER(?a <  ?b &&  ?c >  'a  >  b')") == "FILTER(?a < ?b && ?c > 'a  >  b')"


@pytest.mark.parametrize("name", template.names())
def test_a_template_says_the_same(name: str) -> None:
    query = template.load(name).sample()
    assert collapsed(query).split() == query.split()
    assert len(collapsed(query)) <= len(query)
