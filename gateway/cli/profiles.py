"""The profile that a command line means."""

from __future__ import annotations

from gateway.cli.requests import CommonOptions
from gateway.settings.files import with_changes
from gateway.settings.load import DEFAULT, DEMO, load_profile, with_contact
from gateway.settings.profile import Profile


def profile_of(common: CommonOptions) -> Profile:
    """Return the profile that is named, or the default, with what other options change in it.

    Raises:
        ConfigurationError: The profile or one of these options is wrong.
    """
    named = common.profile or (DEFAULT if common.graph or common.endpoint else DEMO)
    profile = with_contact(load_profile(named), common.contact)
    return profile.model_copy(update={"files": with_changes(profile.files, common.file_limits)})
