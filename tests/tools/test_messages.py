"""The sentences of answers are right for one of a kind, too."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

import pytest

from gateway import messages
from gateway.errors import GatewayError, InputError
from gateway.graph.values import Degree, NamelessNodes
from gateway.search_index.index import IndexInfo

ONE_OF_MANY = re.compile(r"(?<![\d,])1 (?:more )?(?!is\b|was\b|has\b|this\b)\w+s\b|(?:^|: )1 (?:more )?\w+ are\b")

WITH_NUMBERS = [
    function
    for _, function in inspect.getmembers(messages, inspect.isfunction)
    if function.__module__ == messages.__name__
    and any(
        parameter.annotation in {"int", "int | None"} for parameter in inspect.signature(function).parameters.values()
    )
]


def of_one(parameters: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """Return arguments by which every number is one."""
    texts = {"int": 1, "int | None": 1, "bool": True, "InputError": InputError("x")}
    return {name: texts.get(one.annotation, "x") for name, one in parameters.items()}


@pytest.mark.parametrize("function", WITH_NUMBERS, ids=lambda function: function.__name__)
def test_one_of_a_kind_is_no_plural(function: Any) -> None:
    arguments = of_one(inspect.signature(function).parameters)
    if "totals" in arguments:
        arguments["totals"] = {"types": 2}
    said = function(**arguments)
    text = str(said) if isinstance(said, GatewayError) else said
    assert not ONE_OF_MANY.search(text), text


def test_one_of_a_kind_is_no_plural_where_values_are_counted() -> None:
    texts = [
        messages.nameless_nodes(NamelessNodes(1, 1, exact=True)),
        messages.nameless_nodes(NamelessNodes(1, 3, exact=False)),
        messages.with_degrees("x", [("x:a", Degree(1))]),
        str(IndexInfo("", 1, 1, whole=True, typed=True, long=False)),
    ]
    assert [text for text in texts if ONE_OF_MANY.search(text)] == []
    assert "1 of the 1 node has no name" in texts[0]
    assert "1 of 3 nodes in a sample has no name" in texts[1]
    assert texts[3] == "the local label index: 1 name of 1 entity"
