import gzip
import os
from pathlib import Path

import pytest

from tests.servers.loopback import ask
from tests.servers.oxigraph import OxigraphLoadError, running_oxigraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = pytest.mark.server

ANNOTATED = "PREFIX ex: <http://example.org/>\nex:a ex:p ex:b {| ex:confidence 0.9 |} . _:b ex:says 1 .\n"
MORE = "_:b <http://example.org/says> <http://example.org/c> .\n"


def test_oxigraph_answers_over_several_files_and_is_gone_afterwards(tmp_path: Path) -> None:
    annotated, more = tmp_path / "annotated.ttl", tmp_path / "more.nt.gz"
    annotated.write_text(ANNOTATED)
    more.write_bytes(gzip.compress(MORE.encode()))
    try:
        with running_oxigraph([annotated, more], workdir=tmp_path, timeout_s=5) as server:
            count = ask(server.endpoint, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }").text.split()
            blank = ask(server.endpoint, "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s <http://example.org/says> ?o }")
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert count == ["n", "5"]
    assert blank.text.split() == ["n", "2"]
    with pytest.raises(ProcessLookupError):
        os.kill(server.process.pid, 0)


def test_oxigraph_serves_an_empty_graph(tmp_path: Path) -> None:
    try:
        with running_oxigraph([], workdir=tmp_path) as server:
            answer = ask(server.endpoint, "SELECT ?s ?p ?o { ?s ?p ?o }")
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert (answer.status, answer.text.split()) == (200, ["s,p,o"])


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text("this is no Turtle")
    try:
        with pytest.raises(OxigraphLoadError), running_oxigraph([broken], workdir=tmp_path):
            pytest.fail("it never ran")
    except ServerUnavailable as error:
        skip_or_fail(error)
