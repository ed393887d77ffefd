"""The section of a profile about access to an endpoint: credentials, headers, certificates and proxy."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from gateway.settings.headers import HeaderName, HeaderValue
from gateway.settings.secret import Reference, Unquoted, is_reference
from gateway.settings.section import Section
from gateway.settings.urls import is_secret_name, url_problem

_OWN_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    }
)


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

    @field_validator("proxy")
    @classmethod
    def _no_secret_proxy(cls, value: str) -> str:
        if value and not is_reference(value) and url_problem(value):
            raise ValueError(
                "it is a URL without user and password; with them, write `env:NAME` or `file:/path` and put it there"
            )
        return value

    @model_validator(mode="after")
    def _one_kind_of_credentials(self) -> Self:
        if bool(self.user) != bool(self.password):
            raise ValueError("user and password go together")
        if self.user and self.token:
            raise ValueError("it has both a user and a token; give one of them")
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
