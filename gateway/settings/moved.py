"""New names of settings, for the error about a profile that has an old one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_OF_ENDPOINT: Mapping[str, str] = {
    "timeout_parameter": "timeout.parameter",
    "timeout_header": "timeout.header",
    "timeout_unit": "timeout.unit",
    "cancel_by_id": "timeout.cancel_by_id",
    "query_seconds_a_minute": "quota.query_seconds_per_minute",
    "query_seconds_burst": "quota.query_seconds_burst",
    "errors_a_minute": "quota.errors_per_minute",
    "errors_burst": "quota.errors_burst",
    "time_limit_seconds": "quota.time_limit_seconds",
    **{key: f"requests.{key}" for key in ("method", "concurrency", "delay_seconds", "retries", "connect_seconds")},
    **{
        key: f"access.{key}"
        for key in (
            "user",
            "password",
            "auth",
            "token",
            "headers",
            "secret_headers",
            "credentials_over_http",
            "ca_bundle",
            "proxy",
            "proxy_credentials_over_http",
        )
    },
}

MOVED: Mapping[str, str] = {
    "size.evidence_text": "size.evidence_text_characters",
    **{f"endpoint.{old}": f"endpoint.{new}" for old, new in _OF_ENDPOINT.items()},
}
"""New names of settings, by their old ones."""

_REMOVED = frozenset({"endpoint.failures_before_rest", "endpoint.rest_seconds"})


def advice_on(location: Sequence[int | str]) -> str:
    """Return a sentence about a setting that has moved or is gone, and an empty text for any other.

    Args:
        location: The keys that lead to the setting.
    """
    name = ".".join(map(str, location))
    if name in MOVED:
        return f"{name} is now {MOVED[name]}."
    return f"{name} is no longer a setting; remove it." if name in _REMOVED else ""
