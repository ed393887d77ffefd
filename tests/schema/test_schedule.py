"""When a schema expires, and when a failed reading is tried again."""

from dataclasses import dataclass, replace

import pytest

from gateway.graph.values import Schema
from gateway.schema.schedule import SchemaAge
from gateway.settings.endpoint import EndpointSettings, QuotaSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile

WHOLE = Schema(exact=True, names=())
QUOTA = EndpointSettings(quota=QuotaSettings(query_seconds_per_minute=60, query_seconds_burst=120))


@dataclass
class Times:
    """A schema's times on a clock that the test sets."""

    endpoint: EndpointSettings
    now: float = 1_000.0

    def __post_init__(self) -> None:
        """Make the times."""
        profile = Profile(endpoint=self.endpoint, limits=LimitSettings(schema_hours=2.0))
        self.freshness = SchemaAge(profile, lambda: self.now)

    def seconds(self) -> float:
        """Return the seconds until the schema expires, to the second."""
        began = self.now
        low, high = 0.0, 10_000.0
        while high - low > 1.0:
            self.now = began + (low + high) / 2
            low, high = (low, self.now - began) if self.freshness.is_expired else (self.now - began, high)
        self.now = began
        return round(high)


@pytest.mark.parametrize(
    ("schema", "seconds"),
    [(WHOLE, 7_200), (replace(WHOLE, names=None), 3_600), (replace(WHOLE, labelled=False), 60)],
    ids=["whole", "without name predicates", "without labels"],
)
def test_a_schema_that_lacks_something_expires_earlier(schema: Schema, seconds: float) -> None:
    times = Times(EndpointSettings())
    times.freshness.note_reading(schema)
    assert times.seconds() == pytest.approx(seconds, abs=1)


def test_failed_readings_are_tried_again_every_minute() -> None:
    times = Times(EndpointSettings())
    for _ in range(3):
        times.freshness.note_failure()
        assert times.seconds() == pytest.approx(60, abs=1)


def test_failed_readings_of_an_endpoint_with_a_quota_are_tried_again_at_doubling_intervals() -> None:
    times = Times(QUOTA)
    for seconds in (60, 120, 240, 480, 960, 1_920, 3_600, 3_600):
        times.freshness.note_failure()
        assert times.seconds() == pytest.approx(seconds, abs=1)
    times.freshness.note_reading(WHOLE)
    times.freshness.note_failure()
    assert times.seconds() == pytest.approx(60, abs=1)


def test_a_reading_is_recent_for_a_minute() -> None:
    times = Times(EndpointSettings())
    times.freshness.note_reading(WHOLE)
    times.now += 60
    assert times.freshness.is_recent
    times.now += 1
    assert not times.freshness.is_recent
