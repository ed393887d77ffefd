"""The models of the tools' arguments against the signatures that follow from them."""

import functools
import inspect
import operator
from collections.abc import Sequence
from types import GenericAlias, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest

from gateway.arguments import ALL, Arguments, BfsQuery, SearchEntities, TraversalBase, TraversalOptions, parse
from gateway.errors import InputError
from gateway.tools.gateway import Gateway


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


def test_the_options_of_traversals_are_the_fields_of_their_model() -> None:
    fields = {name: unconstrained(field.annotation) for name, field in TraversalBase.model_fields.items()}
    assert get_type_hints(TraversalOptions) == fields


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.tool)
def test_each_method_takes_the_arguments_of_its_tool(model: type[Arguments]) -> None:
    parameters = set(inspect.signature(getattr(Gateway, model.tool)).parameters) - {"self", "progress"}
    if "options" in parameters:
        parameters = parameters - {"options"} | set(TraversalOptions.__annotations__)
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
