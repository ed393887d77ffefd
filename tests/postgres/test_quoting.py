"""Names of tables and columns become SQL in one place, quoted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ConfigurationError
from gateway.postgres.sql import identifier


@given(st.text())
def test_a_name_is_one_quoted_identifier_or_two_or_refused(name: str) -> None:
    try:
        sql = identifier(name)
    except ConfigurationError:
        return
    assert sql.replace('"."', ".") == f'"{name}"'
    assert sql.count('"') == 2 * (name.count(".") + 1)


@pytest.mark.parametrize("name", ["", ".", "a.b.c", 'a"; DROP TABLE entity; --', "a\nb", "x" * 64, "ü" * 32, "a\0"])
def test_a_name_that_cannot_be_quoted_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError):
        identifier(name)


def test_a_schema_and_a_table_are_quoted_apart() -> None:
    assert identifier("My graph.entity") == '"My graph"."entity"'
