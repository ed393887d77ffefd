"""Subgraphs with any text in them."""

from hypothesis import strategies as st

from gateway.export.subgraph import Subgraph, SubgraphEdge, SubgraphNode

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)
_METADATA = st.dictionaries(_TEXT, _VALUES, max_size=3)
_LOCAL = st.text("abcXYZ019_-.éßж漢", min_size=1, max_size=6).filter(lambda text: not text.endswith("."))
NAMESPACE = "http://example.org/n#"


@st.composite
def subgraphs(draw: st.DrawFn) -> Subgraph:
    """Draw a subgraph: its IDs are short forms of one namespace, its names and metadata are any text."""
    ids = [f"e:{local}" for local in draw(st.lists(_LOCAL, min_size=1, max_size=6, unique=True))]
    predicates = [f"e:p{local}" for local in draw(st.lists(_LOCAL, min_size=1, max_size=3, unique=True))]
    types = ["e:T1", "e:T2"]
    nodes = [
        SubgraphNode(
            name_id,
            "e:T1" if chosen else "untyped",
            tuple(chosen),
            draw(_TEXT),
            draw(st.none() | st.integers(0, 5)),
            draw(_METADATA),
        )
        for name_id in ids
        for chosen in [draw(st.lists(st.sampled_from(types), max_size=2, unique=True))]
    ]
    triples = draw(
        st.lists(
            st.tuples(st.sampled_from(ids), st.sampled_from(predicates), st.sampled_from(ids)), max_size=8, unique=True
        )
    )
    edges = [SubgraphEdge(*triple, draw(st.none() | _METADATA)) for triple in triples]
    return Subgraph(
        tuple(ids[:1]),
        nodes,
        edges,
        draw(st.booleans()),
        draw(st.lists(_TEXT, max_size=2)),
        {name_id: name_id.replace("e:", NAMESPACE, 1) for name_id in [*ids, *predicates, *types]},
        {"e": NAMESPACE},
        {predicates[0]: draw(_TEXT)},
    )
