"""The profile in effect for a graph: its defaults depend on where the graph is."""

from __future__ import annotations

import hashlib

from gateway.settings.profile import Profile
from gateway.settings.urls import is_of_own_network

_COUNTED_AT_ONCE = 1_000_000
"""Triples up to which a graph in this process is counted at the first look, which takes a second or two."""

_DIGITS = 16


def profile_for_endpoint(profile: Profile, url: str) -> Profile:
    """Return the profile in effect for an endpoint.

    By default the gateway reads every triple only of an endpoint on the operator's own network: others share their
    endpoint with strangers. It also does not if queries are sent one at a time or count against a quota, because calls
    would wait for minutes.
    """
    endpoint = profile.endpoint
    may_read_all = is_of_own_network(url) and endpoint.requests.concurrency > 1 and not endpoint.quota.is_limited
    if profile.orientation.enumeration_seconds is not None or may_read_all:
        return profile
    return _changed(profile, "orientation", enumeration_seconds=0.0)


def profile_in_process(profile: Profile) -> Profile:
    """Return the profile in effect for a graph in this process: no API for names, and a larger first count."""
    profile = without_search_api(profile)
    if "glance_triples" in profile.orientation.model_fields_set:
        return profile
    return _changed(profile, "orientation", glance_triples=_COUNTED_AT_ONCE)


def without_search_api(profile: Profile) -> Profile:
    """Return a profile under which names are found in the graph itself."""
    return _changed(profile, "search", api="")


def profile_digest(profile: Profile) -> str:
    """Return a hash of the settings under which a graph is read; the limits of parsing do not matter."""
    return hashlib.sha256(profile.model_dump_json(exclude={"files"}).encode()).hexdigest()[:_DIGITS]


def _changed(profile: Profile, section: str, **settings: object) -> Profile:
    return profile.model_copy(update={section: getattr(profile, section).model_copy(update=settings)})
