"""The section of a profile about the search for names."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator

from gateway.settings.secret import Unquoted
from gateway.settings.section import Section
from gateway.settings.urls import url_problem

_LANGUAGE = re.compile(r"[a-z]{2,12}(-[a-z0-9]{1,12})*")


class SearchSettings(Section):
    """How names are searched."""

    index: Literal["auto", "none", "fuseki", "virtuoso", "blazegraph"] = Field(
        default="auto",
        description=(
            "The endpoint's text index. `auto`: that of Fuseki, Virtuoso or Blazegraph, if one is found and the graph"
            " has more than 100,000 names; in smaller graphs all names are compared. A named index is used for every "
            "graph. `none`: no index."
        ),
    )
    scan_triples: Annotated[int, Field(ge=0)] = Field(
        default=2_000_000,
        description=(
            "Largest number of names and synonyms for which all are compared. A graph in this process is always "
            "compared in full."
        ),
    )
    api: Annotated[str, Unquoted()] = Field(
        default="",
        description=(
            "The `api.php` of the Wikibase whose entities the endpoint has (`https://www.wikidata.org/w/api.php`). "
            "Names are then searched there, and `index` and `scan_triples` have no effect. Ignored if a graph file is"
            " given."
        ),
    )
    api_language: str = Field(
        default="",
        description=(
            "Language of these searches; the wiki falls back to others. Empty: the first of `names.languages` except "
            "`mul`, else `en`."
        ),
    )

    @field_validator("api")
    @classmethod
    def _no_secret_url(cls, value: str) -> str:
        if value and (problem := url_problem(value)):
            raise ValueError(problem)
        if "?" in value or "#" in value:
            raise ValueError("it is the URL of api.php alone, without anything after it")
        return value

    @field_validator("api_language")
    @classmethod
    def _is_a_code(cls, value: str) -> str:
        if value and not _LANGUAGE.fullmatch(value):
            raise ValueError("it is a language code of the wiki, in lower case: `en`, `pt-br`")
        return value
