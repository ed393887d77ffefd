"""The options of a server."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.options import only, text_option
from gateway.errors import ConfigurationError
from gateway.settings.paths import local_path
from gateway.settings.serving import DRAIN_SECONDS, ClientLimits, HttpSettings, OAuthSettings, ObserveSettings


class GraphsWay(StrEnum):
    """How clients choose one of several graphs over HTTP."""

    ARGUMENT = "argument"
    PATH = "path"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """The options as given."""

    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead, at http://127.0.0.1:8000/mcp.")] = False
    port: Annotated[
        int | None, typer.Option("--port", metavar="PORT", help="Port for --http. Default: 8000; 0: any free port.")
    ] = None
    host: Annotated[
        str | None,
        text_option(
            "--host", "HOST", "Address for --http. Default: 127.0.0.1. Others need --token-file or --oauth-issuer."
        ),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A name by which clients call this server, such as graphs.example.org. Repeatable.",
        ),
    ] = None
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin",
            metavar="ORIGIN",
            help="An origin whose web pages may ask: https://app.example.org. Repeatable.",
        ),
    ] = None
    token_file: Annotated[
        str | None,
        text_option(
            "--token-file",
            "FILE",
            "File of the clients that may ask, and their tokens; `bfsql-gateway token NAME` prints a line.",
        ),
    ] = None
    oauth_issuer: Annotated[
        str | None, text_option("--oauth-issuer", "URL", "Take access tokens of this authorization server.")
    ] = None
    oauth_keys: Annotated[
        str | None, text_option("--oauth-keys", "URL", "Where its public keys are (JSON Web Key Set).")
    ] = None
    oauth_audience: Annotated[
        str | None,
        text_option(
            "--oauth-audience", "URL", "The URL at which clients reach this server; its tokens must be for it."
        ),
    ] = None
    oauth_token_audience: Annotated[
        str | None,
        text_option(
            "--oauth-token-audience",
            "TEXT",
            "What its tokens have as their audience (aud), where that is not the URL of --oauth-audience.",
        ),
    ] = None
    unauthenticated: Annotated[
        bool, typer.Option("--unauthenticated", help="Let everybody ask who reaches the address of --host.")
    ] = False
    tls_cert: Annotated[str | None, text_option("--tls-cert", "FILE", "Certificate with its chain, for https.")] = None
    tls_key: Annotated[str | None, text_option("--tls-key", "FILE", "The key of --tls-cert.")] = None
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy",
            metavar="ADDRESS",
            help="A proxy before this server, whose X-Forwarded-For and X-Forwarded-Proto are taken. Repeatable.",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", help="Processes that serve. Default: 1. See also --shared-cache."),
    ] = None
    drain_seconds: Annotated[
        int | None,
        typer.Option(
            "--drain-seconds",
            metavar="SECONDS",
            help="How long calls may go on after SIGTERM or Ctrl-C, before each gets an error. Default: 2.",
        ),
    ] = None
    client_limit: Annotated[
        list[str] | None,
        typer.Option(
            "--client-limit",
            metavar="NAME=NUMBER",
            help="A limit of each client at each worker: under-way, requests-a-minute, megabytes-a-minute, sessions. "
            "Repeatable.",
        ),
    ] = None

    def settings(self) -> HttpSettings | None:
        """Return how to serve over HTTP; None over stdio.

        Raises:
            ConfigurationError: Options do not fit together, or one is wrong.
        """
        if not self.http:
            given = [field.name for field in fields(self) if getattr(self, field.name)]
            if given or self.port is not None:
                name = (given or ["port"])[0].replace("_", "-")
                raise ConfigurationError(f"--{name} requires --http.")
            return None
        return HttpSettings(
            host=self.host or "127.0.0.1",
            port=8_000 if self.port is None else self.port,
            hosts=tuple(self.allow_host or ()),
            origins=tuple(self.allow_origin or ()),
            token_file=None if self.token_file is None else local_path(self.token_file),
            oauth=self._oauth(),
            open_to_all=self.unauthenticated,
            certificate=self._certificate(),
            proxies=tuple(self.proxy or ()),
            limits=self._limits(),
            workers=1 if self.workers is None else self.workers,
            drain_seconds=DRAIN_SECONDS if self.drain_seconds is None else self.drain_seconds,
        )

    def _oauth(self) -> OAuthSettings | None:
        given = (self.oauth_issuer, self.oauth_keys, self.oauth_audience)
        if not any((*given, self.oauth_token_audience)):
            return None
        issuer, keys, audience = given
        if issuer is None or keys is None or audience is None:
            raise ConfigurationError("--oauth-issuer, --oauth-keys and --oauth-audience are needed together.")
        return OAuthSettings(issuer, keys, audience, self.oauth_token_audience or "")

    def _certificate(self) -> tuple[Path, Path] | None:
        if self.tls_cert is None and self.tls_key is None:
            return None
        if self.tls_cert is None or self.tls_key is None:
            raise ConfigurationError("--tls-cert and --tls-key are needed together.")
        certificate = local_path(self.tls_cert), local_path(self.tls_key)
        for path in certificate:
            if not path.is_file():
                raise ConfigurationError(
                    f"There is no file {path}.", next_step="Give the files of --tls-cert and --tls-key."
                )
        return certificate

    def _limits(self) -> ClientLimits:
        limits = ClientLimits()
        for text in self.client_limit or ():
            name, _, number = text.partition("=")
            limits = limits.with_limit(name, number)
        return limits


_HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class ObserveOptions:
    """The options as given."""

    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            metavar="PORT",
            help="Port for operators, beside that of --http: /metrics for Prometheus, /healthz and /readyz.",
        ),
    ] = None
    metrics_host: Annotated[
        str | None,
        text_option(
            "--metrics-host",
            "HOST",
            "Address for --metrics-port. Default: 127.0.0.1. Whoever reaches it can read the counts.",
        ),
    ] = None
    audit_log: Annotated[
        str | None,
        text_option(
            "--audit-log",
            "FILE",
            "File that gets a line of JSON for each request: who, which tool, how much; no texts.",
        ),
    ] = None
    log_format: Annotated[
        str | None,
        typer.Option(
            "--log-format",
            metavar="NAME",
            callback=only(("text", "json"), "it must be text or json."),
            help="Log on standard error as text, or as json.",
        ),
    ] = None

    @property
    def as_json(self) -> bool:
        """Whether the log is written in JSON."""
        return self.log_format == "json"

    def settings(self, *, is_http: bool) -> ObserveSettings:
        """Return what the operator wants to see.

        Raises:
            ConfigurationError: Options do not fit together.
        """
        if self.metrics_port is None and self.metrics_host is not None:
            raise ConfigurationError("--metrics-host requires --metrics-port.")
        if self.metrics_port is not None and not is_http:
            raise ConfigurationError("--metrics-port requires --http.")
        if self.metrics_port is not None and not 0 < self.metrics_port <= _HIGHEST_PORT:
            raise ConfigurationError(
                f"--metrics-port {self.metrics_port} is not a port.", valid=f"A port is 1 to {_HIGHEST_PORT}."
            )
        metrics = None if self.metrics_port is None else (self.metrics_host or "127.0.0.1", self.metrics_port)
        return ObserveSettings(metrics, None if self.audit_log is None else local_path(self.audit_log))
