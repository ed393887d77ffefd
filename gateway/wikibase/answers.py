"""What the API of a Wikibase answers, as far as a search reads it.

Sources: `action=help` of any `api.php` for the modules `wbsearchentities`, `query+search`, `query+siteinfo` and
`wbgetentities`, and Wikibase's ``repo/includes/Api/SearchEntities.php``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gateway.errors import EndpointFault

Shape = TypeVar("Shape", bound=BaseModel)


def _no_list(value: object) -> object:
    """Take an empty list for an empty table: PHP has one array for both."""
    return {} if value == [] else value


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Match(_Part):
    """The label or alias that fits, or the ID: `type` is `label`, `alias`, or `entityId`."""

    type: str
    text: str


class Entry(_Part):
    """One entity that was found, with label and description in the wanted language or one that stands in for it."""

    id: str
    concepturi: str
    match: Match
    label: str = ""
    description: str = ""


class Entries(_Part):
    """The answer of `wbsearchentities`, the likeliest first; the next page never begins above 50."""

    search: list[Entry]
    next: int | None = Field(default=None, alias="search-continue")


class Page(_Part):
    """A page of the wiki: its title is the ID of an entity."""

    title: str


class General(_Part):
    """What a wiki says about itself."""

    concept_base: str = Field(default="", alias="wikibase-conceptbaseuri")


class _Query(_Part):
    search: list[Page]
    general: General | None = None


class _Continue(_Part):
    sroffset: int


class Pages(_Part):
    """The answer of `list=search`, maybe with `meta=siteinfo`."""

    query: _Query
    more: _Continue | None = Field(default=None, alias="continue")


class Text(_Part):
    """A label, an alias or a description."""

    value: str


class Entity(_Part):
    """The names and descriptions of one entity, by language; none where it is missing."""

    labels: Annotated[dict[str, Text], BeforeValidator(_no_list)] = Field(default_factory=dict)
    aliases: Annotated[dict[str, list[Text]], BeforeValidator(_no_list)] = Field(default_factory=dict)
    descriptions: Annotated[dict[str, Text], BeforeValidator(_no_list)] = Field(default_factory=dict)


class Entities(_Part):
    """The answer of `wbgetentities`."""

    entities: Annotated[dict[str, Entity], BeforeValidator(_no_list)]


def read(shape: type[Shape], content: Mapping[str, Any]) -> Shape:
    """Return an answer in the shape that it should have; another one is an `EndpointFault`."""
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        raise EndpointFault(
            "The Wikibase API's answer is none that its documentation knows.",
            next_step="The operator of this gateway should check search.api in its profile.",
        ) from error
