"""The section of a profile about the endpoint."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from gateway.settings.access import AccessSettings
from gateway.settings.contact import is_contact
from gateway.settings.quota import QuotaSettings
from gateway.settings.requests import RequestSettings, TimeoutSettings
from gateway.settings.secret import Unquoted
from gateway.settings.section import Iris, Section
from gateway.settings.urls import url_problem

Graphs = Literal["default", "union"] | Annotated[Iris, Field(min_length=1)]
EngineName = Literal["fuseki", "oxigraph", "virtuoso", "blazegraph", "qlever", "graphdb", "stardog", "rdf4j", "unknown"]


class EndpointSettings(Section):
    """Where the graph is, how requests are sent there, and what the endpoint grants."""

    url: Annotated[str, Unquoted()] = Field(
        default="",
        description="The SPARQL query endpoint. `--endpoint` overrides it. Ignored if a graph file is given.",
    )
    engine: Literal["auto"] | EngineName = Field(
        default="auto",
        description=(
            "The engine behind the endpoint. `auto` detects it with one request before the first query, and a second "
            "one for QLever unless the endpoint counts query time or errors. `unknown` turns detection off."
        ),
    )
    lateral: Literal["auto"] | bool = Field(
        default="auto",
        description=(
            "Whether the engine supports LATERAL. `auto` finds out with a harmless query when it is first needed."
        ),
    )
    graphs: Graphs = Field(
        default="default",
        description=(
            "`default`: the server's default graph. `union`: all its named graphs. A list: these named graphs "
            "together. Sent as `default-graph-uri`."
        ),
    )
    union_graph: Annotated[str, Field(min_length=1)] = Field(
        default="urn:x-arq:UnionGraph",
        description="The engine's name for the union of its named graphs. The default is Jena's.",
    )
    other_graph: str = Field(
        default="",
        description=(
            "Where the other part of a split graph is, in words. A node about which this endpoint says nothing is "
            "then reported as `other_graph`, not as empty."
        ),
    )
    trusted: bool = Field(
        default=True,
        description=(
            "Set to `false` for an endpoint that cuts answers without a sign. Then no answer says `complete: true`."
        ),
    )
    contact: str = Field(
        default="",
        description=(
            "Your e-mail address or URL, sent in `User-Agent`. Required by Wikimedia's servers. `--contact` overrides"
            " it; if empty, the environment variable `BFSQL_CONTACT` is used."
        ),
    )
    requests: RequestSettings = RequestSettings()
    timeout: TimeoutSettings = TimeoutSettings()
    quota: QuotaSettings = QuotaSettings()
    access: AccessSettings = AccessSettings()

    @field_validator("url")
    @classmethod
    def _no_secret_url(cls, value: str) -> str:
        if value and (problem := url_problem(value)):
            raise ValueError(problem)
        return value

    @field_validator("contact")
    @classmethod
    def _can_be_sent(cls, value: str) -> str:
        if value and not is_contact(value):
            raise ValueError("it is an e-mail address or a URL, in ASCII and without brackets")
        return value

    @property
    def named_graphs(self) -> tuple[str, ...]:
        """The named graphs that are read together; empty for the server's default graph."""
        match self.graphs:
            case "default":
                return ()
            case "union":
                return (self.union_graph,)
            case named:
                return tuple(named)

    @model_validator(mode="after")
    def _no_time_limit_for_virtuoso(self) -> Self:
        if self.engine == "virtuoso" and (self.timeout.parameter or self.timeout.header):
            raise ValueError(
                "Virtuoso answers a client's time-out with a part of the rows; "
                "leave timeout.parameter and timeout.header empty"
            )
        return self
