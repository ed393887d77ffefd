"""What belongs into a profile, as TOML to paste: only what is known, and only what differs from the default."""

from __future__ import annotations

from gateway.checking.claims import Claim, Claims
from gateway.escaping import visible
from gateway.settings.endpoint import EngineName, Graphs
from gateway.settings.profile import LimitSettings
from gateway.sparql.engines.traits import TRAITS

_PRUDENT = 0.9
"""Of a row cap, so much is asked for: a cut at exactly the cap could not be told from a whole answer."""

_LEAST = 10
"""What `limits.query_rows` takes at least."""


def settings_for(url: str, engine: EngineName, claims: Claims, graphs: Graphs) -> str:
    """Return a snippet of a profile.

    Args:
        url: The endpoint's URL.
        engine: The engine that was recognised.
        claims: What is known about it.
        graphs: The graphs to ask.
    """
    told = [f"url = {_text(url)}"]
    if engine != "unknown":
        told.append(f"engine = {_text(engine)}")
    if claims.lateral.value is not None:
        told.append(f"lateral = {'true' if claims.lateral.value else 'false'}")
    if claims.post.value is False and claims.get.value:
        told.append('method = "get"')
    if graphs != "default":
        told.append(f"graphs = {_text(graphs)}")
    if TRAITS[engine].cuts_silently:
        told.append("trusted = false  # its time-out cuts answers without a sign")
    rows = _query_rows(engine, claims.row_cap)
    limits = [f"query_rows = {rows}"] if rows is not None else []
    return "\n".join(["[endpoint]", *told, *(["", "[limits]", *limits] if limits else [])]) + "\n"


def _query_rows(engine: EngineName, cap: Claim) -> int | None:
    """Return the rows to ask for at most; None where the default will do."""
    if cap.value is None:
        return None
    usual: int = LimitSettings.model_fields["query_rows"].default
    below = int(cap.value) - 1 if cap.at_least else int(int(cap.value) * _PRUDENT)
    if below < usual:
        return max(_LEAST, below)
    # An engine that comes with a cap is asked for few rows, unless the profile says that more may come.
    return usual if TRAITS[engine].rows is not None else None


def _text(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        # TOML has no surrogate pairs, so a character above U+FFFF has an escape of its own.
        escaped = visible(value).replace('"', r"\"")
        return f'"{escaped}"'
    return f"[{', '.join(map(_text, value))}]"
