"""The models of the tools' arguments against the signatures that follow from them."""

import inspect
from collections.abc import Sequence
from types import GenericAlias
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest

from gateway.engine.arguments import ALL, Arguments, TraversalBase, TraversalOptions
from gateway.engine.gateway import Gateway


def unconstrained(annotation: Any) -> Any:
    """Return a type without the constraints in it, with sequences for lists."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return unconstrained(parts[0])
    if origin is list:
        return GenericAlias(Sequence, (unconstrained(parts[0]),))
    if type(None) in parts:
        return unconstrained(parts[0]) | None
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
