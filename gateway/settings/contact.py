"""The contact of the operator for endpoints: an e-mail address or a URL, sent in `User-Agent`.

Wikimedia's policy requires it of every program (https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy);
programs without it share one small quota (docs/notes/wikimedia.md, "The User-Agent").
"""

from __future__ import annotations

import os
import re

from gateway.errors import ConfigurationError, quoted

VARIABLE = "BFSQL_CONTACT"
"""The environment variable that gives it where neither a profile nor a command line does."""

_WIKIMEDIA = (
    "mediawiki.org", "toolforge.org", "wikibooks.org", "wikidata.org", "wikifunctions.org", "wikimedia.org",
    "wikimediafoundation.org", "wikinews.org", "wikipedia.org", "wikiquote.org", "wikisource.org", "wikiversity.org",
    "wikivoyage.org", "wiktionary.org", "wmcloud.org", "wmflabs.org",
)  # fmt: skip
"""The projects (https://www.mediawiki.org/wiki/Wikimedia_projects), and what Wikimedia hosts for others."""

_CONTACT = re.compile(r"[^()\\\x00-\x1f\x7f-\U0010ffff]*(@|://)[^()\\\x00-\x1f\x7f-\U0010ffff]*")
_LONGEST = 500
"""Characters of a contact; an e-mail address has at most 254."""


def is_contact(text: str) -> bool:
    """Return whether a text can be sent as a contact: as a comment of `User-Agent` (RFC 9110, 10.1.5)."""
    return len(text) <= _LONGEST and _CONTACT.fullmatch(text) is not None


def contact_for(host: str, given: str, *, from_environment: bool = True) -> str:
    """Return the contact to send to a host: the given one, else that of `BFSQL_CONTACT`; empty if there is none.

    Args:
        host: The host.
        given: The contact of a profile or an option; none where empty.
        from_environment: Whether others than Wikimedia may get that of `BFSQL_CONTACT`.

    Raises:
        ConfigurationError: The host is one of Wikimedia's, and there is no contact; or the variable holds no contact.
    """
    variable = os.environ.get(VARIABLE, "").strip() if from_environment or is_of_wikimedia(host) else ""
    contact = given or (checked_contact(variable, VARIABLE) if variable else "")
    if not contact and is_of_wikimedia(host):
        raise ConfigurationError(
            "Wikimedia's servers require a way to contact the operator of this gateway, and none is given. Nothing was "
            "sent.",
            valid=f"Give your e-mail address or a URL: --contact you@example.org, {VARIABLE}=you@example.org in the "
            'environment, or contact = "you@example.org" in [endpoint] of a profile.',
        )
    return contact


def is_of_wikimedia(host: str) -> bool:
    """Return whether a host is one of Wikimedia's."""
    name = host.lower().rstrip(".")
    return any(name == domain or name.endswith(f".{domain}") for domain in _WIKIMEDIA)


def checked_contact(contact: str, given_by: str) -> str:
    """Return a contact; `given_by` names where it was given, for the error.

    Raises:
        ConfigurationError: It is neither an e-mail address nor a URL.
    """
    if not is_contact(contact):
        raise ConfigurationError(
            f"{given_by} {quoted(contact)} is wrong.",
            valid=f"A contact is an e-mail address or a URL: ASCII, without brackets, at most {_LONGEST} characters.",
        )
    return contact
