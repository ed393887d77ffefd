"""The options of `serve` about what its operator sees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.options import not_empty
from gateway.errors import ConfigurationError
from gateway.settings.observing import ObserveSettings

_HIGHEST_PORT = 65_535


def _log_format(value: str | None) -> str | None:
    """Return a value unchanged if it is the name of a format.

    Raises:
        BadParameter: It is none.
    """
    if value not in {None, "text", "json"}:
        raise typer.BadParameter("it must be text or json.")
    return value


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
        typer.Option(
            "--metrics-host",
            metavar="HOST",
            callback=not_empty,
            help="Address for --metrics-port. Default: 127.0.0.1. Whoever reaches it can read the counts.",
        ),
    ] = None
    audit_log: Annotated[
        str | None,
        typer.Option(
            "--audit-log",
            metavar="FILE",
            callback=not_empty,
            help="File that gets a line of JSON for each request: who, which tool, how much; no texts.",
        ),
    ] = None
    log_format: Annotated[
        str | None,
        typer.Option(
            "--log-format", metavar="NAME", callback=_log_format, help="Log on standard error as text, or as json."
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
        return ObserveSettings(metrics, None if self.audit_log is None else Path(self.audit_log))
