"""The arguments of the tools against their signatures, and the sentences of answers for one of a kind."""

import functools
import inspect
import operator
import re
from collections.abc import Mapping, Sequence
from types import GenericAlias, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest

from gateway import messages
from gateway.arguments import (
    ALL,
    Arguments,
    BfsQuery,
    SearchEntities,
    SearchOptions,
    TraversalBase,
    TraversalOptions,
    parse,
)
from gateway.errors import GatewayError, InputError
from gateway.graph.values import Degree, NamelessNodes
from gateway.search_index.index import IndexInfo
from gateway.tools.gateway import Gateway
from tests.sentences import SENTENCES


def unconstrained(annotation: Any) -> Any:
    """Return a type without the constraints in it, with sequences for lists."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return unconstrained(parts[0])
    if origin is list:
        return GenericAlias(Sequence, (unconstrained(parts[0]),))
    if origin is Union or isinstance(annotation, UnionType):
        return functools.reduce(operator.or_, (unconstrained(part) for part in parts))
    return annotation


def test_the_options_of_traversals_and_searches_are_the_fields_of_their_models() -> None:
    for options, model in ((TraversalOptions, TraversalBase), (SearchOptions, SearchEntities)):
        fields = {name: unconstrained(field.annotation) for name, field in model.model_fields.items()}
        positional = {"query", "node_types"} if model is SearchEntities else set()
        assert get_type_hints(options) == {name: fields[name] for name in fields.keys() - positional}


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.tool)
def test_each_method_takes_the_arguments_of_its_tool(model: type[Arguments]) -> None:
    parameters = set(inspect.signature(getattr(Gateway, model.tool)).parameters) - {"self", "progress"}
    if "options" in parameters:
        options = SearchOptions if model is SearchEntities else TraversalOptions
        parameters = parameters - {"options"} | set(options.__annotations__)
    assert parameters == set(model.model_fields)


@pytest.mark.parametrize("empty", [None, "", "[]", [], ()])
def test_an_empty_filter_counts_as_not_given(empty: object) -> None:
    given = {"seeds": "x:a", "max_hops": 1, "node_types": empty, "predicates": empty, "exclude_node_types": empty}
    assert parse(BfsQuery, given) == parse(BfsQuery, {"seeds": ["x:a"], "max_hops": 1})


@pytest.mark.parametrize("number", [10**5_000, 1e300, float("nan"), float("inf"), True], ids=range(5))
def test_what_is_no_number_of_an_id_or_a_name_is_refused_as_text(number: object) -> None:
    for model, given in ((SearchEntities, {"query": number}), (BfsQuery, {"seeds": [number], "max_hops": 1})):
        with pytest.raises(InputError, match="but it must be text"):
            parse(model, given)


ONE_OF_MANY = re.compile(r"(?<![\d,])1 (?:more )?(?!is\b|was\b|has\b|this\b)\w+s\b|(?:^|: )1 (?:more )?\w+ are\b")

WITH_NUMBERS = [
    function
    for module in SENTENCES
    for _, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__
    and inspect.signature(function).return_annotation in {"str", "InputError", "DeadlinePassed"}
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
    assert "1 of the 1 node with edges has no name" in texts[0]
    assert "1 of 3 nodes with edges in a sample has no name" in texts[1]
    assert texts[3] == "the local label index: 1 name of 1 entity"


def test_the_description_of_a_language_says_how_one_is_written() -> None:
    described = SearchEntities.model_fields["language"].description
    assert described == "Tag (de, pt-br): texts in it first."
