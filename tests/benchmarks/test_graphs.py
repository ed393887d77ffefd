import hashlib
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from benchmarks import graphs
from tests.oracle import OracleGraph, bfs

SMALL = 20_000


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "small.nt"
    path.write_text("".join(graphs.triples(SMALL)), encoding="utf-8")
    return path


def test_a_graph_has_as_many_distinct_triples_as_it_is_asked_for(small: Path) -> None:
    lines = small.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == SMALL


def test_the_same_size_gives_the_same_graph_everywhere(small: Path) -> None:
    # The cached databases and everyone's figures are about this very graph.
    assert hashlib.sha256(small.read_bytes()).hexdigest()[:16] == "364b79d602cf692e"


def test_few_nodes_are_in_most_of_the_edges(small: Path) -> None:
    oracle = OracleGraph.from_files([small])
    degrees = sorted(Counter(end for edge in oracle.edges for end in {edge[0], edge[2]}).values())
    median, hundredth, largest = degrees[len(degrees) // 2], degrees[-len(degrees) // 100], degrees[-1]
    assert hundredth > 5 * median
    assert largest > 20 * median
    assert 0.01 < largest / len(oracle.edges) < 0.1


@pytest.mark.parametrize("size", [2_000, SMALL])
def test_the_planted_question_has_one_answer_in_every_size(size: int, tmp_path: Path) -> None:
    path = tmp_path / "graph.nt"
    path.write_text("".join(graphs.triples(size)), encoding="utf-8")
    found = bfs(OracleGraph.from_files([path]), [graphs.PLANTED_SEED], 2)
    assert (len(found.distance), len(found.edges)) == (graphs.PLANTED_NODES, graphs.PLANTED_EDGES)
    planted = {line for line in islice(graphs.triples(100_000), 1_000) if "/planted/" in line}
    with path.open(encoding="utf-8") as lines:
        assert planted == {line for line in lines if "/planted/" in line}


def test_the_planted_neighbourhood_is_part_of_the_graph_around_it(small: Path) -> None:
    oracle = OracleGraph.from_files([small])
    near, further = (len(bfs(oracle, [graphs.PLANTED_SEED], hops).distance) for hops in (2, 4))
    assert further > 2 * near


def test_a_graph_without_room_for_the_planted_part_is_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        next(graphs.triples(100))
