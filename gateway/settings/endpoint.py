"""The section of a profile about the endpoint: requests, time-outs, quota, access."""

from __future__ import annotations

import ssl
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from gateway.errors import ConfigurationError, EndpointFault, as_beginning
from gateway.settings.paths import local_path, path_text
from gateway.settings.secrets import Reference, is_reference, revealed
from gateway.settings.section import EndpointUrl, HeaderName, HeaderValue, Iris, Seconds, Section, Unquoted
from gateway.settings.urls import is_contact, is_secret_name, url_problem

Graphs = Literal["default", "union"] | Annotated[Iris, Field(min_length=1)]
EngineName = Literal["fuseki", "oxigraph", "virtuoso", "blazegraph", "qlever", "graphdb", "stardog", "rdf4j", "unknown"]
SendingMethod = Literal["auto", "post", "direct", "get"]
Sentinel = Literal["none", "united", "sorted"]
Unit = Literal["seconds", "milliseconds"]

Amount = Annotated[float, Field(ge=0, le=1_000_000)]
"""Seconds, or a number of errors; no endpoint grants more in a minute."""

_OWN_HEADERS = frozenset({
    "accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect", "host",
    "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
})  # fmt: skip
"""Headers that the transport itself sets."""


class RequestSettings(Section):
    """How requests are sent."""

    method: SendingMethod = Field(
        default="auto",
        description=(
            "How queries are sent. `post`: as a form. `direct`: as the body of a POST (`application/sparql-query`), "
            "also for a server that decodes forms wrongly. `get`: in the URL, of 7,000 bytes at most, so batches "
            "shrink. `auto` sends forms; if the server refuses one, it tries `direct` and `get`, and stays with what "
            "worked."
        ),
    )
    concurrency: Annotated[int, Field(ge=1, le=32)] = Field(
        default=4,
        description=("Requests in flight at once, per process. Processes share `endpoint.quota` but not this limit."),
    )
    delay_seconds: Annotated[float, Field(ge=0, le=60)] = Field(
        default=0.0, description="Minimum time between the starts of two requests."
    )
    retries: Annotated[int, Field(ge=0, le=10)] = Field(
        default=2,
        description=(
            "How often a query is retried after a transient fault: a broken connection, a broken answer, throttling. "
            "Pauses grow, with jitter. `Retry-After` is honoured if the call has time for it."
        ),
    )
    connect_seconds: Seconds = Field(default=10.0, description="Time allowed for connecting.")


class TimeoutSettings(Section):
    """How a query states its time limit."""

    parameter: str = Field(
        default="",
        description=(
            "Form parameter that tells the server how much time is left. If this and `header` are empty, the "
            "gateway sends what the detected engine supports. Never sent to Virtuoso."
        ),
    )
    header: Literal[""] | HeaderName = Field(
        default="",
        description="Header that tells the server how much time is left (Blazegraph: `X-BIGDATA-MAX-QUERY-MILLIS`).",
    )
    unit: Unit = Field(default="seconds", description="Unit of both.")
    cancel_by_id: bool = Field(
        default=False,
        description=(
            "Whether an abandoned query is cancelled by its ID. Blazegraph needs this, because it does not stop when "
            "the connection closes; it is on when Blazegraph is detected."
        ),
    )


class QuotaSettings(Section):
    """What the endpoint grants one client."""

    query_seconds_per_minute: Amount = Field(
        default=0.0,
        description=(
            "Query time that the endpoint grants one client per minute; `0`: it does not count. Requires "
            "`query_seconds_burst`. See [limits.md](limits.md#an-endpoint-that-counts)."
        ),
    )
    query_seconds_burst: Amount = Field(
        default=0.0, description="Query time that a client can save up; more than `query_seconds_per_minute`."
    )
    errors_per_minute: Amount = Field(
        default=0.0,
        description=(
            "Failed requests that the endpoint allows one client per minute; `0`: it does not count them. Requires "
            "`errors_burst`."
        ),
    )
    errors_burst: Amount = Field(
        default=0.0, description="Failed requests that a client can save up; more than `errors_per_minute`."
    )
    time_limit_seconds: Amount = Field(
        default=0.0,
        description=(
            "The endpoint's own limit for a query; `0`: unknown. If the endpoint counts query time, an abandoned "
            "query is charged this much."
        ),
    )

    @property
    def is_limited(self) -> bool:
        """Whether the endpoint counts the query time or the errors of one client."""
        return bool(self.query_seconds_per_minute or self.errors_per_minute)

    @model_validator(mode="after")
    def _burst_above_rate(self) -> Self:
        for name in ("query_seconds", "errors"):
            per_minute, burst = getattr(self, f"{name}_per_minute"), getattr(self, f"{name}_burst")
            if bool(per_minute) != bool(burst):
                raise ValueError(f"{name}_per_minute and {name}_burst must be given together")
            if per_minute and burst < per_minute + 1:
                raise ValueError(f"{name}_burst must be at least 1 more than {name}_per_minute")
        return self


class AccessSettings(Section):
    """Credentials, headers, certificates and proxy."""

    user: Annotated[str, Unquoted()] = Field(
        default="", repr=False, description="User name, or `env:NAME` or `file:/path`. Requires `password`."
    )
    password: Annotated[Reference, Unquoted()] = Field(default="", description="Where the password is.")
    auth: Literal["basic", "digest"] = Field(
        default="basic", description="How user and password are sent: HTTP Basic or HTTP Digest."
    )
    token: Annotated[Reference, Unquoted()] = Field(default="", description="Where a bearer token is. Excludes `user`.")
    headers: Annotated[dict[HeaderName, HeaderValue], Unquoted()] = Field(
        default_factory=dict, repr=False, description="Further headers that are not secret."
    )
    secret_headers: Annotated[dict[HeaderName, Reference], Unquoted()] = Field(
        default_factory=dict,
        description=(
            'Further headers with secret values: where the value of each is, `{ X-Api-Key = "env:GRAPH_KEY" }`.'
        ),
    )
    credentials_over_http: bool = Field(
        default=False,
        description="Whether credentials may be sent over `http:` to another machine, where others can read them.",
    )
    ca_bundle: str = Field(default="", description="File of CA certificates (PEM) to trust in place of the system's.")
    proxy: Annotated[str, Unquoted()] = Field(
        default="",
        description=(
            "URL of an HTTP proxy, `http:` or `https:`. Write a URL with user and password as `env:NAME` or "
            "`file:/path`. `HTTP_PROXY` and similar variables are ignored."
        ),
    )
    proxy_credentials_over_http: bool = Field(
        default=False,
        description=(
            "Whether the proxy's credentials may be sent over `http:` to another machine. Most proxies accept nothing"
            " else."
        ),
    )

    @property
    def has_secrets(self) -> bool:
        """Whether requests carry a secret: a profile says where it is, and so not whose it is."""
        return bool(self.password or self.token or self.secret_headers or is_reference(self.proxy))

    def secrets(self) -> tuple[str, ...]:
        """Read every secret that requests carry, and the user where that is one too.

        Raises:
            ConfigurationError: One cannot be read.
        """
        places = {"user": self.user, "password": self.password, "token": self.token, "proxy": self.proxy}
        places |= {f"secret_headers.{name}": place for name, place in sorted(self.secret_headers.items())}
        return tuple(
            revealed(place, f"endpoint.access.{name}") for name, place in places.items() if is_reference(place)
        )

    @field_validator("proxy")
    @classmethod
    def _no_secret_proxy(cls, value: str) -> str:
        if value and not is_reference(value) and url_problem(value):
            raise ValueError(
                "it is not a URL without user and password; if it has them, write `env:NAME` or `file:/path`, and put "
                "the URL there"
            )
        return value

    @model_validator(mode="after")
    def _one_kind_of_credentials(self) -> Self:
        if bool(self.user) != bool(self.password):
            raise ValueError("user and password must be given together")
        if self.user and self.token:
            raise ValueError("both user and token are given; give one of them")
        names = [name.lower() for name in (*self.headers, *self.secret_headers)]
        for name in names:
            if name in _OWN_HEADERS or (name == "authorization" and (self.user or self.token)):
                raise ValueError(f"the header {name} is set by the gateway itself")
            if names.count(name) > 1:
                raise ValueError(f"the header {name} is given twice")
        for name in self.headers:
            if is_secret_name(name):
                raise ValueError(
                    f"the header {name} belongs in endpoint.access.secret_headers, as `env:NAME` or `file:/path`"
                )
        return self


class EndpointSettings(Section):
    """Where the graph is, how requests are sent there, and what the endpoint grants."""

    url: EndpointUrl = Field(
        default="",
        description=(
            "The SPARQL query endpoint, or the URL of a database in [PostgreSQL](postgres.md) "
            "(`postgresql://user@host/db`) or [Neo4j](neo4j.md) (`neo4j://user@host/db`). `--endpoint` overrides it. "
            "Ignored if a graph file is given."
        ),
    )
    engine: Literal["auto"] | EngineName = Field(
        default="auto",
        description=(
            "The engine behind the endpoint. `auto` detects it with one request before the first query, and a second "
            "one for QLever, or to tell RDF4J from GraphDB, unless the endpoint counts query time or errors. `unknown` "
            "turns detection off."
        ),
    )
    lateral: Literal["auto"] | bool = Field(
        default="auto",
        description=(
            "Whether the engine supports LATERAL. `auto` finds out with a harmless query when it is first needed."
        ),
    )
    sentinel: Literal["auto"] | Sentinel = Field(
        default="auto",
        description=(
            "How queries ask for a last row that proves that all rows before it came. `united`: by a UNION, for an "
            "engine that evaluates its branches in order. `sorted`: by a UNION that the engine sorts. `none`: not at "
            "all, and answers that were cut are believed. `auto`: as is known of the detected engine, else `sorted`. "
            "Where one way does not hold, the other is tried, then a count of the rows. `check` tests it."
        ),
    )
    format: Literal["auto", "json", "tsv"] = Field(
        default="auto",
        description=(
            "The format of answers. `json`: JSON. `auto`: TSV from engines that are known to write it several times "
            "faster, for queries whose rows show that they are all (`endpoint.sentinel`). `tsv`: for these from every "
            "engine. A query whose TSV cannot be read is sent again, and from then on, for JSON."
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
    environment_contact: bool = Field(
        default=True,
        description="Whether others than Wikimedia's servers may get the contact of `BFSQL_CONTACT`.",
    )
    requests: RequestSettings = RequestSettings()
    timeout: TimeoutSettings = TimeoutSettings()
    quota: QuotaSettings = QuotaSettings()
    access: AccessSettings = AccessSettings()

    @field_validator("contact")
    @classmethod
    def _can_be_sent(cls, value: str) -> str:
        if value and not is_contact(value):
            raise ValueError("it must be an e-mail address or a URL, in ASCII and without brackets")
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


def distrusted(server: str) -> EndpointFault:
    """Return the fault of a server, called so, whose certificate `trusting` does not take."""
    return EndpointFault(
        f"{as_beginning(server)}'s certificate is not trusted.",
        next_step="The operator of this gateway should give the CA that signed it, as `endpoint.access.ca_bundle`.",
    )


def trusting(ca_bundle: str, *, is_checked: bool = True) -> ssl.SSLContext:
    """Return a context that trusts the certificates in a file; the system's where its name is empty.

    Without a check any certificate does: what is sent is encrypted, and whoever stands between can read it.

    Raises:
        ConfigurationError: It cannot be read as certificates.
    """
    try:
        # A pipe may have no writer, and a device no end.
        if ca_bundle and not local_path(ca_bundle).is_file():
            raise FileNotFoundError
        context = ssl.create_default_context(cafile=path_text(ca_bundle) or None)
    except OSError as error:
        raise ConfigurationError(
            f"endpoint.access.ca_bundle is wrong: {ca_bundle} cannot be read as certificates.",
            valid="It is a file of CA certificates in PEM.",
        ) from error
    if not is_checked:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
