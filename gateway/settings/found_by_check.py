"""What `check` found out about an endpoint: kept for a week, and used where the profile says nothing else."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, ValidationError

from gateway.errors import ConfigurationError
from gateway.settings.profile import Profile, policy_of
from gateway.settings.section import Section
from gateway.settings.storage import check_private, default_store, endpoint_digest, read_at_most, write_file
from gateway.settings.urls import without_query

_log = logging.getLogger(__name__)

_FOLDER = "checked"
_LARGEST = 1 << 14
"""Bytes of a file that are read."""

_AGE = timedelta(days=7)
"""How long an endpoint is taken to be as it was."""


class FoundSettings(Section):
    """Settings of one endpoint, as it showed them.

    Only what makes queries plainer is kept: after a week another engine may answer there. Which graphs to ask is none
    of it, because that decides what an answer means: the profile has to say it.

    Attributes:
        checked: When.
        without_lateral: Whether it does not support LATERAL, so that need not be tried.
        method: `endpoint.requests.method`, where the endpoint does not take forms.
        query_rows: `limits.query_rows`, where the endpoint has a cap of its own.
        without_evidence: Whether it refuses queries with conditions about evidence, and answers them without.
    """

    checked: AwareDatetime
    without_lateral: bool = False
    method: Literal["direct", "get"] | None = None
    query_rows: Annotated[int, Field(ge=10)] | None = None
    without_evidence: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the endpoint can be asked like any other of its engine."""
        return self == FoundSettings(checked=self.checked)

    @classmethod
    def of(cls, url: str, profile: Profile, folder: Path | None, now: float) -> Self | None:
        """Return what is kept of an endpoint; None where that is nothing, too old, or cannot be read.

        Args:
            url: The endpoint.
            profile: Its graphs and its user are those that were checked.
            folder: Where it is kept; None for the user's cache directory.
            now: Seconds since the epoch.

        Raises:
            ConfigurationError: The folder belongs to somebody else.
        """
        path = _place(url, profile, folder)
        check_private(folder or default_store(), path.parent)
        try:
            found = cls.model_validate_json(read_at_most(path, _LARGEST))
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            _log.warning("%s cannot be read, and is ignored: %s", path, error)
            return None
        is_recent = timedelta() <= datetime.fromtimestamp(now, UTC) - found.checked <= _AGE
        return found if is_recent else None

    def keep(self, url: str, profile: Profile, folder: Path | None) -> bool:
        """Keep this of an endpoint, in a folder or the user's cache directory; return whether that could be done."""
        path = _place(url, profile, folder)
        try:
            check_private(folder or default_store(), path.parent)
            write_file(path, self.model_dump_json(exclude_defaults=True))
        except ConfigurationError as error:
            _log.warning("what was found cannot be kept: %s", error)
            return False
        return True

    def applied(self, url: str, profile: Profile) -> Profile:
        """Return a profile with these settings wherever it does not give its own."""
        endpoint, limits = profile.endpoint, profile.limits
        if self.without_lateral and endpoint.lateral == "auto":
            endpoint = endpoint.model_copy(update={"lateral": False})
        if self.method is not None and endpoint.requests.method == "auto":
            requests = endpoint.requests.model_copy(update={"method": self.method})
            endpoint = endpoint.model_copy(update={"requests": requests})
        if self.query_rows is not None and "query_rows" not in limits.model_fields_set:
            limits = limits.model_copy(update={"query_rows": self.query_rows})
        found = profile.model_copy(update={"endpoint": endpoint, "limits": limits})
        # What states evidence may be hidden, and would not be found then.
        if self.without_evidence and policy_of(profile) is None and profile.evidence.ways == "auto":
            found = without_evidence(found)
            _log.warning(
                "%s refuses queries about statements of edges, as check found on %s, so no evidence is read there, "
                "and answers say so; set evidence.ways to read it",
                without_query(url),
                self.checked.date(),
            )
        elif found != profile:
            _log.info("%s is asked as check found it on %s", without_query(url), self.checked.date())
        return found


def without_evidence(profile: Profile) -> Profile:
    """Return a profile under which no query has a condition about statements of edges."""
    return profile.model_copy(
        update={
            "edges": profile.edges.model_copy(update={"evidence_nodes": False}),
            "evidence": profile.evidence.model_copy(update={"ways": "refused"}),
        }
    )


def _place(url: str, profile: Profile, folder: Path | None) -> Path:
    return (folder or default_store()) / _FOLDER / f"{endpoint_digest(url, profile)}.json"
