"""What an engine counts past its limit of time is whole, or no number (docs/limits.md, `partial-count`)."""

import http.client
import json
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest

from tests.columns import Column
from tests.graphs import RDF, priced_items
from tests.servers.loopback import send
from tests.servers.oxigraph import running_oxigraph

QUERY: Final = f"SELECT (COUNT(*) AS ?count) WHERE {{ ?a ?b ?c . ?d ?e ?f . ?g <{RDF}type> ?h }}"
LIMITS: Final = {
    "fuseki": ({"timeout": "1"}, {}),
    "rdf4j": ({"timeout": "1"}, {}),
    "blazegraph": ({}, {"X-BIGDATA-MAX-QUERY-MILLIS": "1000"}),
}
"""How an engine is told to end a query after a second: as parameters, and as headers."""


def counted(url: str, limit: dict[str, str], headers: dict[str, str]) -> int | None:
    """Return what an engine counts in several seconds; None where it sends no number."""
    sent = {"Accept": "application/sparql-results+json", "Content-Type": "application/x-www-form-urlencoded", **headers}
    try:
        answer = send("POST", url, body=urlencode({"query": QUERY, **limit}).encode(), headers=sent, timeout_s=60)
        rows = json.loads(answer.text)["results"]["bindings"]
    except (http.client.HTTPException, ValueError):
        return None
    return int(rows[0]["count"]["value"]) if rows else None


@pytest.fixture(scope="module")
def whole() -> int:
    """Return the true number."""
    triples = list(priced_items())
    return len(triples) ** 2 * sum(f"<{RDF}type>" in triple for triple in triples)


def test_an_engine_counts_on_past_its_limit_of_time_or_sends_no_number(engine: Column, whole: int) -> None:
    if engine.name in LIMITS:
        assert counted(engine.url("priced"), *LIMITS[engine.name]) in {None, whole}


@pytest.mark.slow
def test_oxigraph_counts_all_within_its_limit_of_time_or_sends_no_number(tmp_path: Path, whole: int) -> None:
    path = tmp_path / "priced.nt"
    path.write_text("".join(f"{triple} .\n" for triple in priced_items()))
    with running_oxigraph([path], workdir=tmp_path, timeout_s=1) as server:
        assert counted(server.endpoint, {}, {}) in {None, whole}
