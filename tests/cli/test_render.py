from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from gateway.answers.models import EntitiesResult, Entity, SchemaBasis, SchemaResult, SearchResult
from gateway.cli import render
from tests.cli.conftest import FIXTURES, Run

SLICE = ["-g", str(FIXTURES / "wikidata-slice.ttl"), "-p", "wikidata-local"]


def shown(part: RenderableType) -> str:
    console = Console(width=80, color_system=None, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(part, crop=False)
    return captured.get()


def rows(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()]


def test_the_schema_counts_types_and_predicates(run: Run) -> None:
    out = run("schema").out
    assert ["m:Disease", "16"] in rows(out)
    assert ["m:TREATS", "31"] in rows(out)
    assert "Next steps" in out


def test_the_schema_of_opaque_ids_has_labels(run: Run) -> None:
    out = run("schema", *SLICE).out
    assert ["wd:Q5", "human", "6"] in rows(out)
    assert ["wdt:P19", "place", "of", "birth", "4"] in rows(out)


def test_a_schema_that_is_cut_or_not_whole_says_so() -> None:
    answer = SchemaResult(
        graph_description="A graph.",
        complete=False,
        comprehensive=False,
        entity_types=["e:T"],
        predicates=[],
        entity_types_total=1201,
        predicates_total=0,
        counts={"e:T": 1234},
        names=[],
        basis=SchemaBasis(methods=["enumerated"]),
        prefixes={},
        schema_version="1",
        warnings=["The lists are not complete: the time is over."],
        next_steps="Go on.",
        tool_usage_notes="",
    )
    out = shown(render.schema(answer))
    assert "1,234" in out
    assert "… 1,200 more types" in out
    assert "No predicates are known." in out
    assert "! The lists are not complete: the time is over." in out


def test_hits_are_a_table(run: Run) -> None:
    out = run("search", "CYP2C9").out
    assert ["ID", "Type", "Name", "Match", "Matched"] in rows(out)
    assert ["gene:CYP2C9", "m:Gene", "CYP2C9", "label"] in rows(out)
    assert ["protein:CYP2C9", "m:Protein", "cytochrome", "P450", "2C9", "alias", "CYP2C9"] in rows(out)
    text = " ".join(out.split())
    assert text.endswith("3 hits.")


def test_hits_that_are_not_shown_are_counted(run: Run) -> None:
    assert "… 3 more: add words to the query, or raise --limit." in run("search", "insulin", "--limit", "1").out


def test_a_search_without_hits_says_what_to_try(run: Run) -> None:
    ran = run("search", "zebra")
    assert ran.status == 0
    text = " ".join(ran.out.split())
    advice = "No name is like this: try another spelling or a part of the name."
    assert text == f"Nothing was found for “zebra”. No name has the word 'zebra'. {advice}"


def test_guesses_are_a_table_below_the_statement_that_nothing_was_found(run: Run) -> None:
    out = run("search", "warfrin").out
    assert out.startswith("Nothing was found for “warfrin”.")
    assert ["drug:warfarin", "m:Drug", "warfarin", "similar"] in rows(out)
    assert "No name fits; guesses have some of the words, or are spelt alike." in " ".join(out.split())


@pytest.mark.parametrize("result", [[], [{"id": "e:a", "entity_type": "e:T", "match": "label"}]])
def test_a_search_that_was_cut_says_so(result: list[dict[str, str]]) -> None:
    answer = SearchResult.model_validate(
        {
            "result": result,
            "complete": False,
            "searched": {"how": "h", "truncated": True, "exhaustive": False},
            "warnings": ["Careful."],
        }
    )
    out = shown(render.search(answer, "x"))
    assert "! There are more matches than could be read" in out
    assert "! Not every name was compared" in out
    assert "! Careful." in out


def test_an_entity_is_a_table_of_keys_and_values(run: Run) -> None:
    out = run("describe", "drug:warfarin").out
    assert out.startswith("drug:warfarin  [m:Drug]\n")
    assert ["iri", "https://example.org/medical/drug/warfarin"] in rows(out)
    assert ["synonyms", "Coumadin"] in rows(out)
    assert ["total_mentions", "39"] in rows(out)


def test_lists_and_nested_values_are_readable() -> None:
    answer = Entity.model_validate(
        {
            "id": "e:a",
            "entity_type": "e:T",
            "complete": True,
            "iri": "http://e/a",
            "synonyms": ["one", "two"],
            "e:texts": ["Smith, Ann", "Jones, Bob"],
            "e:open": True,
            "e:none": [],
            "e:part": {"e:inner": {"e:deep": [1, 2]}, "e:empty": {}},
            "e:parts": [{"e:n": 1, "e:m": 2}, "x"],
        }
    )
    lines = [line.rstrip() for line in shown(render.entity(answer)).splitlines()]
    assert lines == [
        "e:a  [e:T]",
        "  iri       http://e/a",
        "  synonyms  one, two",
        "  e:texts   - Smith, Ann",
        "            - Jones, Bob",
        "  e:open    yes",
        "  e:none",
        "  e:part    e:inner: e:deep: 1, 2",
        "            e:empty:",
        "  e:parts   - e:n: 1",
        "              e:m: 2",
        "            - x",
    ]


def test_several_entities_are_shown_with_those_that_are_missing(run: Run) -> None:
    out = run("describe", "drug:warfarin", "drug:nothing", "drug:aspirin").out
    assert out.index("drug:warfarin  [m:Drug]") < out.index("drug:aspirin  [m:Drug]")
    assert "! Not in the graph: drug:nothing" in out


def test_everything_that_a_description_leaves_out_is_reported() -> None:
    answer = EntitiesResult(
        result=[],
        complete=False,
        not_found=["e:a"],
        failed=["e:b"],
        degraded={"values_shortened": 2, "something_new": 1},
        remaining_ids=["e:c", "e:d"],
    )
    assert shown(render.entities(answer)).splitlines() == [
        "! Not complete: what is missing here may still be in the graph.",
        "! Not in the graph: e:a",
        "! Failed, try again: e:b",
        "! Did not fit, describe separately: e:c, e:d",
        "! Shortened to limit the size of the answer: 2 values (long texts and lists).",
        "! something_new: 1",
    ]


@pytest.mark.parametrize(
    "argv",
    [["search", "second"], ["describe", "e:a"], ["describe", "e:a", "e:b"], ["bfs", "e:a"], ["intersect", "e:a", "e:b"],
     ["schema"]],
)  # fmt: skip
@pytest.mark.parametrize("colour", [False, True])
def test_text_from_a_graph_is_harmless(
    run: Run, hostile: Path, argv: list[str], colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if colour:
        monkeypatch.setenv("FORCE_COLOR", "1")
    out = run(*argv, "-g", hostile).out
    for control in ("\x1b[31m", "\x1b[2J", "\x1b[3J", "\x1b]", "\x9b", "\x07", "\u202e"):
        assert control not in out
    if argv[0] != "schema":
        assert r"[red]x[/red] \u001b[31mESC\nsecond\u009b1m \u202eback [/]" in out


def test_markup_and_emoji_in_a_description_are_shown_as_they_are(run: Run, hostile: Path, tmp_path: Path) -> None:
    profile = tmp_path / "nested.toml"
    profile.write_text('[nodes]\nblank = "off"\n')
    out = run("describe", "e:a", "e:b", "-g", hostile, "--profile", profile).out
    for literal in (
        r"[link=http://x]y[/link] \u001b]0;title\u0007",
        "[bold]one[/bold]",
        r"\u001b[2Jtwo",
        r"\u001b[3Jdeep",
        ":smile:",
    ):
        assert literal in out
