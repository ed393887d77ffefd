"""The reference shape: what it writes of a page, and that sizes are those of what it writes."""

from collections.abc import Sequence
from typing import Any

from gateway.answers.models import Answer, BfsResult, EntitiesResult, Entity, IntersectionResult, SearchResult
from gateway.answers.page import (
    AnyPage,
    EntitiesPage,
    EntityPage,
    Header,
    IdList,
    PageEdge,
    PageGap,
    PageHit,
    PageNode,
    SearchPage,
    SubgraphPage,
    TermSummary,
)
from gateway.answers.reference import REFERENCE
from gateway.answers.shape import size_of
from gateway.answers.values import Amount, EdgeMetadata, Id, Nested, NodeMetadata, PageAssertion
from gateway.graph.values import Edge, NoValue
from tests.small import X

NODE = PageNode(
    f"{X}a",
    "x:a",
    "x:T",
    paths=[["x:a", "x:b"]],
    metadata=NodeMetadata(
        name="A",
        descriptions=["one"],
        synonyms=["B"],
        total_mentions=[1, 2],
        properties={
            "x:p": [Id("x:b")],
            "x:q": [NoValue(unknown=True), NoValue(unknown=False)],
            "x:r": [Nested({"x:s": [Amount(3, Id("x:m"))]}, cut=True)],
        },
    ),
)
METADATA = {
    "name": "A",
    "description": "one",
    "synonyms": ["B"],
    "total_mentions": [1, 2],
    "x:p": "x:b",
    "x:q": [{"unknown": True}, {"no_value": True}],
    "x:r": {"x:s": {"amount": 3, "unit": "x:m"}, "more": True},
}
EDGE = PageEdge(
    Edge(f"{X}a", f"{X}p", f"{X}b"),
    "x:a",
    "x:p",
    "x:b",
    metadata=EdgeMetadata(
        [PageAssertion(negated=True, source_documents=["P1"]), PageAssertion(confidence=[0.5])],
        PageAssertion(source_documents=["P1"]),
    ),
)
LITTLE = Header(IdList(["x:a"]), 1, 1, 0, [1], [], {}, {}, IdList([]), 0, [], TermSummary((), ()))


def answer(model: type[Answer], page: AnyPage) -> dict[str, Any]:
    return model.model_validate(REFERENCE.writers[type(page)](page)).as_json()


def test_a_page_that_has_all_is_written_whole() -> None:
    header = Header(
        seeds=IdList(["x:a"]),
        hops=2,
        node_count=3,
        edge_count=1,
        levels=[1, 2],
        gaps=[PageGap("budget", 2, ["x:c"], "Too many.")],
        removed={"exclude_node_types": 3},
        undecided={"min_mentions": 1},
        missing_seeds=IdList([], left_out=1),
        blank_node_edges=4,
        warnings=["Careful."],
        summary=TermSummary(["x:T"], ["x:p"], 5, 6),
        degraded={"ids_not_listed": 1},
    )
    page = SubgraphPage(
        header, [NODE, PageNode(f"{X}b", "x:b", "untyped", name="")], [EDGE], {"x:quote": 1}, labels={"x:T": "T"}
    )
    page.next_offset, page.next_edge, page.edges_on_later_pages = 2, 3, 1
    page.snapshot, page.is_result_changed, page.place = "abc", True, "1-2 of 3"
    assert answer(BfsResult, page) == {
        "seeds": ["x:a"],
        "max_hops": 2,
        "node_count": 3,
        "edge_count": 1,
        "complete": False,
        "incomplete": [{"cause": "budget", "count": 2, "ids": ["x:c"], "detail": "Too many."}],
        "missing_seeds": [],
        "levels": [1, 2],
        "page": "1-2 of 3",
        "removed": {"exclude_node_types": 3},
        "undecided": {"min_mentions": 1},
        "blank_node_edges": 4,
        "warnings": ["Careful."],
        "degraded": {"ids_not_listed": 1},
        "omitted_texts": {"x:quote": 1},
        "nodes": [
            {"id": "x:a", "entity_type": "x:T", "via": [["x:a", "x:b"]], "metadata": METADATA},
            {"id": "x:b", "entity_type": "untyped", "name": ""},
        ],
        "edges": [
            {
                "subject": "x:a",
                "predicate": "x:p",
                "object": "x:b",
                "metadata": {
                    "source_documents": ["P1"],
                    "assertions": [{"negated": True, "source_documents": ["P1"]}, {"confidence": 0.5}],
                },
            }
        ],
        "schema_summary": {
            "entity_types_found": ["x:T"],
            "predicates_found": ["x:p"],
            "entity_types_total": 5,
            "predicates_total": 6,
        },
        "labels": {"x:T": "T"},
        "next_offset": 2,
        "next_edge": 3,
        "edges_on_later_pages": 1,
        "snapshot": "abc",
        "result_changed": True,
    }
    assert REFERENCE.size_of_part(page) == size_of(answer(BfsResult, page))


def test_what_a_page_does_not_have_is_not_written() -> None:
    page = SubgraphPage(LITTLE, [], [])
    assert answer(BfsResult, page) == {
        "seeds": ["x:a"],
        "max_hops": 1,
        "node_count": 1,
        "edge_count": 0,
        "complete": True,
        "levels": [1],
        "nodes": [],
        "edges": [],
        "schema_summary": {"entity_types_found": [], "predicates_found": []},
    }


def test_a_page_without_levels_is_an_intersection() -> None:
    header = Header(IdList(["x:a"]), 2, 1, 0, None, [], {}, {}, IdList([]), 0, [], TermSummary((), ()))
    written = answer(IntersectionResult, SubgraphPage(header, [], []))
    assert written["k"] == 2
    assert not {"levels", "max_hops"} & written.keys()


def test_one_entity_is_flat_and_one_of_several_is_nested() -> None:
    identity = {"id": "x:a", "entity_type": "x:T", "iri": f"{X}a"}
    alone = EntityPage(NODE, complete=False, warnings=[], degraded={}, labels={"x:T": "T"})
    assert answer(Entity, alone) == {**identity, **METADATA, "complete": False, "labels": {"x:T": "T"}}
    several = EntitiesPage(
        [NODE], IdList(["x:b"]), IdList([]), IdList(["x:c"]), complete=True, warnings=["Careful."], labels={}
    )
    assert answer(EntitiesResult, several) == {
        "result": [{**identity, "metadata": METADATA}],
        "complete": True,
        "not_found": ["x:b"],
        "warnings": ["Careful."],
        "remaining_ids": ["x:c"],
    }
    assert REFERENCE.size_of_part(alone) == size_of(answer(Entity, alone))
    assert REFERENCE.size_of_part(several) == size_of(answer(EntitiesResult, several))


def test_a_hit_has_what_is_known_of_it() -> None:
    hits = [PageHit("x:a", "x:T", "A", "", "alias", "a"), PageHit("x:b", "untyped", "", "What it is.", "label", None)]
    page = _search_page(hits, found=3)
    assert answer(SearchResult, page) == {
        "result": [
            {"id": "x:a", "entity_type": "x:T", "name": "A", "match": "alias", "matched": "a"},
            {"id": "x:b", "entity_type": "untyped", "description": "What it is.", "match": "label"},
        ],
        "complete": True,
        "found": 3,
    }
    assert REFERENCE.size_of_part(page) == size_of(answer(SearchResult, page))


def test_a_search_tells_how_it_was_made_where_names_may_have_been_missed() -> None:
    hits = [PageHit("x:a", "x:T", "A", "", "label", None)]
    written = {"result": [{"id": "x:a", "entity_type": "x:T", "name": "A", "match": "label"}], "complete": True}
    assert answer(SearchResult, _search_page(hits)) == written
    how = {"how": "names", "exhaustive": False}
    assert answer(SearchResult, _search_page(hits, exhaustive=False)) == {**written, "searched": how}
    how = {"how": "names", "truncated": True, "exhaustive": True}
    assert answer(SearchResult, _search_page(hits, truncated=True)) == {**written, "searched": how}


def test_guesses_stand_apart_with_what_to_try() -> None:
    guesses = [PageHit("x:a", "x:T", "A", "", "similar", None)]
    page = _search_page([], guesses=guesses, next_steps="Try B.")
    assert answer(SearchResult, page) == {
        "result": [],
        "guesses": [{"id": "x:a", "entity_type": "x:T", "name": "A", "match": "similar"}],
        "complete": True,
        "next_steps": "Try B.",
    }
    assert REFERENCE.size_of_part(page) == size_of(answer(SearchResult, page))


def _search_page(
    hits: Sequence[PageHit],
    *,
    guesses: Sequence[PageHit] = (),
    next_steps: str = "",
    found: int = 0,
    truncated: bool = False,
    exhaustive: bool = True,
) -> SearchPage:
    return SearchPage(
        hits,
        guesses,
        next_steps,
        "names",
        found or len(hits),
        truncated,
        exhaustive,
        complete=True,
        warnings=[],
        labels={},
    )
