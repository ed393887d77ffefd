"""Suggests settings of a profile, as TOML: only those that are known and differ from the default."""

from __future__ import annotations

from gateway.checking.claims import Claim, Claims
from gateway.escaping import visible
from gateway.settings.endpoint import EngineName, Graphs
from gateway.settings.limits import LimitSettings
from gateway.sparql.engines.traits import TRAITS

_SHARE_OF_CAP = 0.9
"""The share of a row cap that queries ask for: an answer cut at the cap would look complete."""

_MIN_ROWS = 10
"""The minimum of `limits.query_rows`."""


def settings_for(url: str, engine: EngineName, claims: Claims, graphs: Graphs) -> str:
    """Return a snippet of a profile.

    Args:
        url: The URL of the endpoint.
        engine: The recognised engine.
        claims: The properties of the endpoint.
        graphs: The graphs to query.
    """
    endpoint = [f"url = {_text(url)}"]
    if engine != "unknown":
        endpoint.append(f"engine = {_text(engine)}")
    if claims.lateral.value is not None:
        endpoint.append(f"lateral = {'true' if claims.lateral.value else 'false'}")
    if graphs != "default":
        endpoint.append(f"graphs = {_text(graphs)}")
    if TRAITS[engine].cuts_silently:
        endpoint.append("trusted = false  # its time-out cuts answers without a sign")
    requests = ['method = "get"'] if claims.post.value is False and claims.get.value else []
    rows = _query_rows(engine, claims.row_cap)
    limits = [f"query_rows = {rows}"] if rows is not None else []
    tables = {"endpoint": endpoint, "endpoint.requests": requests, "limits": limits}
    return "\n".join("\n".join([f"[{name}]", *lines, ""]) for name, lines in tables.items() if lines)


def _query_rows(engine: EngineName, cap: Claim) -> int | None:
    """Return the rows that a query should ask for at most; None if the default is right."""
    if cap.value is None:
        return None
    usual: int = LimitSettings.model_fields["query_rows"].default
    below = int(cap.value) - 1 if cap.at_least else int(int(cap.value) * _SHARE_OF_CAP)
    if below < usual:
        return max(_MIN_ROWS, below)
    # For an engine with a default cap the gateway asks for few rows, unless the profile allows more.
    return usual if TRAITS[engine].rows is not None else None


def _text(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        # TOML has no surrogate pairs, so a character above U+FFFF has an escape of its own.
        escaped = visible(value).replace('"', r"\"")
        return f'"{escaped}"'
    return f"[{', '.join(map(_text, value))}]"
