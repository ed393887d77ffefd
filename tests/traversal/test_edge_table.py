"""The edges of a topology by their positions, compared with a naive reading of the same edges."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.graph.call import Deadline
from gateway.graph.values import Edge, Neighbourhood
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.breadth_first import Exploration
from gateway.traversal.edge_table import EdgeTable
from gateway.traversal.topology import in_order
from tests.examples import examples

NODES = [f"urn:n{number}" for number in range(8)]
OUTSIDE = ["urn:outside", "urn:n0outside"]
PREDICATES = ["urn:p", "urn:q", "urn:n3"]
IN_TIME = Deadline.after(3_600.0)

orders = st.lists(st.sampled_from(NODES), unique=True)
edges = st.builds(Edge, *map(st.sampled_from, (NODES + OUTSIDE, PREDICATES, NODES + OUTSIDE)))
edge_lists = st.lists(edges, unique=True, max_size=40)


def table(nodes: list[str], listed: list[Edge]) -> EdgeTable:
    return EdgeTable.of(nodes, listed, IN_TIME)


def later_end(nodes: list[str], edge: Edge) -> int | None:
    """Return where an edge ends, if both of its ends are among the nodes."""
    if edge.subject in nodes and edge.object in nodes:
        return max(nodes.index(edge.subject), nodes.index(edge.object))
    return None


@given(nodes=orders, listed=edge_lists)
def test_a_table_has_the_edges_that_were_put_in_by_place_by_slice_and_one_by_one(
    nodes: list[str], listed: list[Edge]
) -> None:
    found = table(nodes, listed)
    assert len(found) == len(listed)
    assert list(found) == listed == [found[place] for place in range(len(listed))]
    assert found[3:30:2] == listed[3:30:2]
    assert found == listed
    assert found == tuple(listed)
    assert found != [*listed, Edge("urn:n0", "urn:p", "urn:another")]
    assert (list(found.nodes[: found.node_count]), set(found.subjects)) == (nodes, {edge.subject for edge in listed})
    assert found.predicate_counts == {
        predicate: sum(edge.predicate == predicate for edge in listed)
        for predicate in {edge.predicate for edge in listed}
    }


@settings(max_examples=examples(300))
@given(nodes=orders, listed=edge_lists, data=st.data())
def test_an_edge_ends_where_the_later_of_its_two_ends_is(
    nodes: list[str], listed: list[Edge], data: st.DataObject
) -> None:
    found = table(nodes, listed)
    start = data.draw(st.integers(0, len(nodes)))
    stop = data.draw(st.integers(start, len(nodes)))
    assert [(position, list(places)) for position, places in found.ending(start, stop)] == [
        (position, [place for place, edge in enumerate(listed) if later_end(nodes, edge) == position])
        for position in range(start, stop)
    ]


@settings(max_examples=examples(300))
@given(nodes=orders, listed=edge_lists, data=st.data())
def test_edges_that_begin_on_a_page_and_end_after_it_are_counted(
    nodes: list[str], listed: list[Edge], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(nodes)))
    stop = data.draw(st.integers(start, len(nodes)))
    inside, before = set(nodes[start:stop]), set(nodes[:start])
    later = [
        edge
        for edge in listed
        if (edge.subject in inside) != (edge.object in inside) and not before & {edge.subject, edge.object}
    ]
    assert table(nodes, listed).begun_in(start, stop) == len(later)


@given(nodes=orders, listed=edge_lists)
def test_a_node_has_an_edge_where_one_begins_or_ends_at_it(nodes: list[str], listed: list[Edge]) -> None:
    ends = {end for edge in listed for end in (edge.subject, edge.object)}
    assert [table(nodes, listed).has_any_at(position) for position in range(len(nodes))] == [
        node in ends for node in nodes
    ]


@given(nodes=orders, listed=edge_lists, removed=st.sets(st.sampled_from(NODES)))
def test_without_some_nodes_a_table_is_the_one_of_the_others(
    nodes: list[str], listed: list[Edge], removed: set[str]
) -> None:
    left = [node for node in nodes if node not in removed]
    between = [edge for edge in listed if not removed & {edge.subject, edge.object}]
    found, expected = table(nodes, listed).without(removed, IN_TIME), table(left, between)
    assert found == expected
    assert found.nodes[: found.node_count] == left
    assert found.predicate_counts == expected.predicate_counts
    assert found.begun_in(0, len(left)) == expected.begun_in(0, len(left))
    assert [list(places) for _, places in found.ending(0, len(left))] == [
        list(places) for _, places in expected.ending(0, len(left))
    ]


@settings(max_examples=examples(300))
@given(
    distance=st.dictionaries(st.sampled_from(NODES), st.integers(0, 3)),
    listed=st.lists(edge_lists, max_size=4),
    among=st.none() | st.sets(edges),
    seeds=st.lists(st.sampled_from(NODES), unique=True, max_size=2),
)
def test_nodes_and_edges_stand_in_the_order_of_their_ids(
    distance: dict[str, int], listed: list[list[Edge]], among: set[Edge] | None, seeds: list[str]
) -> None:
    prefixes = PrefixMap({"x": "urn:n", "a": "urn:out"})
    short = prefixes.declared_form
    known = {str(number): Neighbourhood(tuple(some)) for number, some in enumerate(listed)}
    others = None if among is None else [Neighbourhood(tuple(among)), Neighbourhood(tuple(among)[:2])]
    nodes, found = in_order(seeds, distance, Exploration([], known=known), prefixes, IN_TIME, others)
    every = {edge for some in listed for edge in some}
    if among is not None:
        every = {edge for edge in every | among if {edge.subject, edge.object} <= distance.keys()}
    farther = sorted(distance.keys() - set(seeds), key=lambda node: (distance[node], short(node)))
    assert nodes == distance
    assert list(nodes) == [*(seed for seed in seeds if seed in distance), *farther]
    assert found == sorted(every, key=lambda edge: (short(edge.subject), short(edge.predicate), short(edge.object)))
    assert list(found.nodes[: found.node_count]) == list(nodes)
