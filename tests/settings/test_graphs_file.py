"""The file of the graphs of one server, and the folder of profiles in its place."""

from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.settings.graphs_file import GraphEntry, profile_of, read_graphs
from gateway.settings.load import load_profile
from tests.cases import check_each


def written(folder: Path, text: str) -> Path:
    path = folder / "graphs.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_graph_has_a_name_a_line_a_source_and_limits(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").touch()
    path = written(
        tmp_path,
        """
[graphs.films]
about = "Films and their makers."
graph = ["a.ttl", "more/*.ttl"]
prefixes = { ex = "http://example.org/" }
store = "stored"
[graphs.films.limits]
deadline_seconds = 5
rows = 1000

[graphs.wiki]
about = "All that is known."
profile = "wikidata"

[graphs.near-by]
about = "Next door."
endpoint = "http://127.0.0.1:3030/ds/query"
profile = "mine.toml"
""",
    )
    assert read_graphs(path) == [
        GraphEntry(
            "films",
            "Films and their makers.",
            (str(tmp_path / "a.ttl"), str(tmp_path / "more/*.ttl")),
            prefixes=(("ex", "http://example.org/"),),
            store=str(tmp_path / "stored"),
            limits=(("deadline_seconds", 5.0), ("rows", 1000)),
        ),
        GraphEntry("wiki", "All that is known.", profile="wikidata"),
        GraphEntry(
            "near-by",
            "Next door.",
            endpoint="http://127.0.0.1:3030/ds/query",
            profile=str(tmp_path / "mine.toml"),
        ),
    ]


WRONG = [
    ("", "graphs: Field required"),
    ("[graphs]", "names 0 graphs. One server has 1 to 50."),
    ('[graphs.a]\ngraph = "a.ttl"', "graphs.a.about: Field required"),
    ('[graphs.a]\nabout = "x"', "the graph a says not where it is"),
    ('[graphs.a]\nabout = ""\ngraph = "a.ttl"', "it must be one line"),
    ('[graphs.a]\nabout = "x\\ny"\ngraph = "a.ttl"', "it must be one line"),
    ('[graphs.a]\nabout = "x\\u202ey"\ngraph = "a.ttl"', "it must be one line"),
    ('[graphs.a]\nabout = "x"\ngraph = ""', "the graph a"),
    ('[graphs.a]\nabout = "x"\ngraph = 7', "graphs.a.graph"),
    ('[graphs.a]\nabout = "x"\ngrahp = "a.ttl"', "unknown key 'graphs.a.grahp'. Did you mean 'graph'?"),
    ('[graphs.a]\nabout = "x"\ngraph = "a.ttl"\n[graphs.a.limits]\nrosw = 3', "Did you mean 'rows'?"),
    ('[graphs.a]\nabout = "x"\ngraph = "a.ttl"\n[graphs.a.limits]\nrows = 0', "graphs.a.limits.rows"),
    ('[grpahs.a]\nabout = "x"', "Did you mean 'graphs'?"),
    ('[graphs.A]\nabout = "x"\ngraph = "a.ttl"', "'A' is no name of a graph. It begins with a letter"),
    ('[graphs."a b"]\nabout = "x"\ngraph = "a.ttl"', "is no name of a graph"),
    ('[graphs.a]\nabout = "x"\ngraph = "a.ttl"\nendpoint = "http://127.0.0.1/"', "has both graph and endpoint"),
    ('[graphs.a]\nabout = "x"\nendpoint = "ftp://127.0.0.1/"', "graphs.a.endpoint"),
    ('[graphs.a]\nabout = "x"\ngraph = 2020-01-01', "contains a date"),
    ("[graphs", "is not valid TOML"),
    ("\n".join(f'[graphs.a{n}]\nabout = "x"\ngraph = "a.ttl"' for n in range(51)), "names 51 graphs"),
]


def test_what_is_wrong_is_said_with_what_is_valid(tmp_path: Path) -> None:
    def check(case: tuple[str, str]) -> None:
        text, expected = case
        with pytest.raises(ConfigurationError) as raised:
            read_graphs(written(tmp_path, text))
        assert expected in str(raised.value)
        assert "pydantic" not in str(raised.value)

    check_each(WRONG, check)


def test_no_secret_of_a_wrong_endpoint_is_repeated(tmp_path: Path) -> None:
    path = written(tmp_path, '[graphs.a]\nabout = "x"\nendpoint = "http://me:s3cret@127.0.0.1/"')
    with pytest.raises(ConfigurationError) as raised:
        read_graphs(path)
    assert "s3cret" not in str(raised.value)


def test_a_folder_names_a_graph_for_each_profile(tmp_path: Path) -> None:
    profile = 'description = "Pills,\\nand their makers."\n[endpoint]\nurl = "http://127.0.0.1:3030/ds/query"\n'
    for name in ("pills", "drugs"):
        (tmp_path / f"{name}.toml").write_text(profile, encoding="utf-8")
    assert read_graphs(tmp_path) == [
        GraphEntry(name, "Pills, and their makers.", profile=str(tmp_path / f"{name}.toml"))
        for name in ("drugs", "pills")
    ]


def test_a_profile_in_a_folder_has_an_endpoint(tmp_path: Path) -> None:
    (tmp_path / "pills.toml").write_text('description = "Pills."', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"has no endpoint\.url"):
        read_graphs(tmp_path)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_graphs(tmp_path.parent / "nothing")


def test_a_graph_without_a_profile_has_that_of_its_kind_of_address() -> None:
    for endpoint, name in (
        ("postgresql://reader@127.0.0.1/graph", "bfsql-postgres"),
        ("neo4j://127.0.0.1/graph", "bfsql-neo4j"),
        ("http://127.0.0.1/sparql", "local"),
    ):
        assert profile_of(GraphEntry("one", "One.", endpoint=endpoint)) == load_profile(name)
    assert profile_of(GraphEntry("one", "One.", ("a.ttl",))) == load_profile("local")


def test_a_profile_without_an_endpoint_says_not_where_a_graph_is() -> None:
    with pytest.raises(ConfigurationError, match="Nothing says where the graph one is"):
        profile_of(GraphEntry("one", "One.", profile="fuseki"))
