"""The command `profiles`: lists the profiles that come with the gateway."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from gateway.cli.options import CommonOptions
from gateway.cli.render import sections
from gateway.cli.screen import ID, TYPE, IdTable, Screen
from gateway.cli.streams import print_line
from gateway.escaping import json_text
from gateway.settings.load import built_in, load_profile
from gateway.settings.profile import Profile

_COLUMNS = (("Profile", ID), ("Graph", ""), ("Endpoint", TYPE), ("Tried", ""))


def print_profiles(options: CommonOptions) -> None:
    """Print the built-in profiles: a table of those of public endpoints, or all as JSON."""
    profiles = {name: load_profile(name) for name in built_in()}
    if options.as_json:
        print_line(json_text({"profiles": [_as_json(name, profile) for name, profile in profiles.items()]}))
        return
    public = {name: profile for name, profile in profiles.items() if profile.endpoint.url}
    rows = [
        (name, _first_sentence(profile.description), profile.endpoint.url, "yes" if profile.about.tried else "no")
        for name, profile in public.items()
    ]
    others = ", ".join(name for name in profiles if name not in public)
    note = (
        "Tried: whether those who wrote the profile tried it there. Where not, it says what was read, and "
        "bfsql-gateway check --profile NAME finds out what holds."
    )
    Screen().show(sections([IdTable(_COLUMNS, rows)], [Text(note), Text(f"Without an endpoint: {others}.")]))


def _as_json(name: str, profile: Profile) -> dict[str, Any]:
    """Return what is known about a profile; a text that it lacks is None."""
    has_endpoint = bool(profile.endpoint.url)
    return {
        "name": name,
        "description": profile.description or None,
        "endpoint": profile.endpoint.url or None,
        "tried": profile.about.tried if has_endpoint else None,
        "unchecked": list(profile.about.unchecked),
        "sources": dict(profile.about.sources),
    }


def _first_sentence(description: str) -> str:
    return description.partition(". ")[0].removesuffix(".")
