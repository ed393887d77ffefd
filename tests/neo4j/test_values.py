"""What the values of Neo4j become, which needs no database."""

import pytest
from neo4j.time import Duration

from gateway.neo4j.connection import plain
from gateway.terms.comparable import duration_in
from gateway.terms.iri import XSD
from gateway.terms.literals import Literal


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (Duration(), "PT0S"),
        (Duration(months=14, days=3, hours=25, nanoseconds=5_000_000), "P1Y2M3DT25H0.005S"),
        (Duration(minutes=-5), "-PT5M"),
        (Duration(days=-1), "-P1D"),
        (Duration(months=-14, seconds=-90, milliseconds=-500), "-P1Y2MT1M30.5S"),
        (Duration(milliseconds=-500), "-PT0.5S"),
        (Duration(seconds=-(2**63) + 1), f"-PT{(2**63 - 1) // 3600}H{(2**63 - 1) % 3600 // 60}M{(2**63 - 1) % 60}S"),
    ],
)
def test_a_duration_has_the_form_of_xml_schema_with_one_sign(duration: Duration, text: str) -> None:
    assert plain({"runtime": duration}) == {"runtime": Literal(text, f"{XSD}duration")}
    assert duration_in(text) is not None


def test_a_duration_whose_parts_have_several_signs_is_shown_as_it_is_and_read_as_none() -> None:
    found = plain({"runtime": Duration(months=1, days=-3)})["runtime"]
    assert found == Literal("P1M-3D", f"{XSD}duration")
    assert duration_in(found.value) is None
