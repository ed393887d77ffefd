"""The nodes on the way to what is shown: one shortest path from the nearest seed, the first by ID from its end."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.graph.values import Edge, EdgeSelection
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.edge_table import EdgeTable
from gateway.traversal.steering import PredicateChoice, Steering, nodes_on_the_way
from gateway.traversal.topology import Topology
from tests.examples import examples
from tests.traversal.test_breadth_first import NODES, call

ends = st.sampled_from(NODES)
edge_lists = st.lists(st.builds(Edge, ends, st.sampled_from("pq"), ends), max_size=14, unique=True)
names = st.lists(st.builds(PredicateChoice, st.sampled_from("pq"), st.booleans()), max_size=2, unique=True).map(tuple)
steerings = st.builds(Steering, names.map(lambda one: (one,)), st.sampled_from(["both", "out", "in"])) | st.builds(
    Steering,
    st.tuples(names, names) | st.tuples(names, names, names),
    st.sampled_from(["both", "out", "in"]),
    st.just(value=True),
)


def paths(edges: Sequence[Edge], path: Sequence[str], steps: Sequence[EdgeSelection]) -> list[list[str]]:
    """Return every walk that goes on from a path, as the nodes where it is."""
    found = [list(path)]
    for edge in edges if steps else ():
        if steps[0].selects(path[-1], edge):
            other = edge.object if edge.subject == path[-1] else edge.subject
            found += paths(edges, [*path, other], steps[1:])
    return found


@settings(max_examples=examples(300))
@given(edges=edge_lists, seeds=st.lists(ends, min_size=1, max_size=2, unique=True), steering=steerings)
def test_the_way_to_a_node_is_the_first_of_the_shortest_paths_by_id_counted_from_its_end(
    edges: list[Edge], seeds: list[str], steering: Steering
) -> None:
    steps = steering.selections if steering.is_listed else steering.selections * 3
    every = [path for seed in seeds for path in paths(edges, [seed], steps)]
    distance = dict.fromkeys(seeds, 0)
    for path in sorted(every, key=len):
        distance.setdefault(path[-1], len(path) - 1)
    between = (edge for edge in edges if edge.subject in distance and edge.object in distance)
    shown = EdgeTable.of(distance, between, call().deadline)
    topology = Topology(tuple(seeds), distance, shown, {}, (), (), 0)
    for goal in distance:
        shortest = [path for path in every if path[-1] == goal and len(path) == distance[goal] + 1]
        (*before, _) = min(shortest, key=lambda path: path[::-1])
        found = nodes_on_the_way(topology, steering, [goal], PrefixMap({}), call().deadline)
        assert found == set(before)
