"""Types and predicates that fit a question by words of their names."""

from pathlib import Path

import pytest

from gateway.answers.models import SchemaResult
from gateway.api import open_gateway
from gateway.errors import InputError
from gateway.resources import folder
from tests.cli.conftest import Run, run

pytestmark = pytest.mark.anyio
__all__ = ["run"]

FILMS = folder("fixtures") / "films.ttl"

TERMS = """@prefix x: <http://x.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:a a x:Person ; x:wasBornIn x:b ; x:dateOfBirth "1" ; x:hasPart x:b ; x:part_of x:b ;
  x:Verfasserin x:b ; x:interactsWith x:b .
x:b a x:Place , x:PersonOfInterest ; x:p9 x:a ; x:\u0430\u0432\u0442\u043e\u0440\u044b x:a .
x:p9 rdfs:label "employer of the person" ."""


def listed(answer: SchemaResult) -> list[str]:
    """Return all that an answer lists."""
    return [*answer.entity_types, *answer.predicates, *(answer.values or {})]


@pytest.mark.parametrize(
    ("question", "fitting"),
    [
        ("Where was she born?", ["x:wasBornIn"]),
        ("BORN", ["x:wasBornIn"]),
        ("date of birth", ["x:dateOfBirth"]),
        ("persons", ["x:Person", "x:PersonOfInterest", "x:p9"]),
        ("interaction", ["x:interactsWith"]),
        ("dates of birht", ["x:dateOfBirth"]),
        ("Verfasser", ["x:Verfasserin"]),
        ("\u0430\u0432\u0442\u043e\u0440", ["x:\u0430\u0432\u0442\u043e\u0440\u044b"]),
        ("of", ["x:PersonOfInterest", "x:part_of", "x:p9", "x:dateOfBirth"]),
        ("parts", ["x:hasPart", "x:part_of"]),
        ("zzyzx", []),
        ("?!", []),
    ],
)
async def test_terms_fit_by_words_whatever_their_case_number_and_ending(
    tmp_path: Path, question: str, fitting: list[str]
) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(TERMS, encoding="utf-8")
    async with open_gateway(path) as graph:
        answer = await graph.describe_schema(query=question)
        whole = await graph.describe_schema()
    assert listed(answer) == fitting
    assert (answer.entity_types_total, answer.predicates_total) == (whole.entity_types_total, whole.predicates_total)
    assert whole.complete
    # That a name does not fit says nothing of what its term means.
    assert not answer.complete
    assert any("under" in warning for warning in answer.warnings or ())


SMALL_WORDS = "".join(
    f"<http://x.example/a> <http://x.example/{name}> <http://x.example/b> .\n"
    for name in (
        *("istTeilVon", "derTitel", "dieAdresse", "warDa", "film", "mother", "deLaVille", "esDelAutor"),
        *("diedIn", "warOf1812", "son", "eraOfReign"),
    )
)


@pytest.mark.parametrize(
    ("question", "fitting"),
    [
        ("Von wem ist der Film?", ["film"]),
        ("Wer war die Mother von ihr?", ["mother"]),
        ("Qui est la mother de l'auteur de la ville?", ["mother", "deLaVille"]),
        ("\u00bfDe qui\u00e9n es el film?", ["film"]),
        ("Di chi era il film?", ["film"]),
        ("Who is the son of it?", ["son"]),
        ("In which war did she fight?", ["warDa", "warOf1812"]),
        ("Where did Leonardo da Vinci die?", ["dieAdresse"]),
        ("era", ["eraOfReign"]),
        ("von", ["istTeilVon"]),
    ],
)
async def test_small_words_of_other_languages_say_little_unless_they_mean_something_in_english(
    tmp_path: Path, question: str, fitting: list[str]
) -> None:
    path = tmp_path / "x.nt"
    path.write_text(SMALL_WORDS)
    async with open_gateway(path, prefixes={"": "http://x.example/"}) as graph:
        answer = await graph.describe_schema(query=question)
    assert {*listed(answer)} == {f":{name}" for name in fitting}


async def test_more_that_fits_than_is_listed_is_counted_and_all_lists_it(tmp_path: Path) -> None:
    path = tmp_path / "x.nt"
    lines = [f"<http://x.example/a> <http://x.example/isMade_{n}> <http://x.example/b> ." for n in range(60)]
    path.write_text("\n".join(lines), encoding="utf-8")
    async with open_gateway(path, prefixes={"x": "http://x.example/"}) as graph:
        some, every = [await graph.describe_schema(query="made", all=one) for one in (False, True)]
        shortest = await graph.describe_schema(query="made 7")
    assert len(some.predicates) == 20
    assert "the first 20 of 60 predicates. all=true" in " ".join(some.warnings or ())
    assert len(every.predicates) == 60
    assert listed(shortest)[0] == "x:isMade_7"


async def test_a_question_and_types_in_one_call_are_an_error() -> None:
    async with open_gateway(FILMS) as graph:
        with pytest.raises(InputError, match="node_types or query, not both"):
            await graph.describe_schema(query="film", node_types=["Film"])
        with pytest.raises(InputError, match="1000 characters at most"):
            await graph.describe_schema(query="film " * 300)


async def test_a_long_question_about_many_terms_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "x.nt"
    lines = [f"<http://x.example/a> <http://x.example/word{n}part{n % 7}> <http://x.example/b> ." for n in range(3000)]
    path.write_text("\n".join(lines), encoding="utf-8")
    async with open_gateway(path) as graph:
        answer = await graph.describe_schema(query=" ".join(f"word{n}part{n % 7}" for n in range(70)))
    assert len(answer.predicates) == 20
    assert answer.predicates_total == 3000


def test_the_command_line_lists_what_fits_and_says_where_nothing_does(run: Run) -> None:
    found = run("schema", "--query", "who directed it", "--graph", FILMS)
    assert found.status == 0
    assert "directed" in found.out
    assert "produced" not in found.out
    nothing = run("schema", "--query", "zzyzx", "--graph", FILMS)
    assert nothing.status == 0
    assert "none of 10 types and predicates has a word of" in nothing.out + nothing.err
