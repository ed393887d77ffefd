"""The graphs of one server: their file, profiles that change others, where each is stored, and what check found."""

import json
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.settings.endpoint import AccessSettings, EndpointSettings, RequestSettings
from gateway.settings.found_by_check import FoundSettings
from gateway.settings.graphs_file import GraphEntry, profile_of, read_graphs
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import LimitSettings, SharedCacheServer
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.settings.storage import GraphIdentity, graph_folder
from gateway.settings.vocabulary import EdgeSettings, EvidenceSettings, NameSettings, RoleSettings
from tests.cases import check_each
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture


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


def profile_written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def refused(path: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_profile(path)
    return str(caught.value)


def test_what_is_not_said_is_as_the_other_profile_says(tmp_path: Path) -> None:
    mine = load_profile(
        profile_written(
            tmp_path,
            "mine.toml",
            """
            extends = "wikidata-local"
            [endpoint]
            contact = "me@example.org"
            [names]
            languages = ["de"]
            """,
        )
    )
    theirs = load_profile("wikidata-local")
    assert mine.endpoint == theirs.endpoint.model_copy(update={"contact": "me@example.org"})
    assert mine.names == theirs.names.model_copy(update={"languages": ("de",)})
    assert (mine.edges, mine.types, mine.roles) == (theirs.edges, theirs.types, theirs.roles)


def test_prefixes_are_added_to_those_of_the_other_profile_and_may_be_used_with_them(tmp_path: Path) -> None:
    mine = load_profile(
        profile_written(
            tmp_path,
            "mine.toml",
            """
            extends = "wikidata-local"
            [prefixes]
            ex = "https://example.org/"
            [types]
            preferred = ["wd:Q5", "ex:Person"]
            """,
        )
    )
    assert mine.types.preferred == ("http://www.wikidata.org/entity/Q5", "https://example.org/Person")


def test_a_list_replaces_the_list_of_the_other_profile(tmp_path: Path) -> None:
    mine = load_profile(profile_written(tmp_path, "mine.toml", 'extends = "wikidata-local"\n[types]\nsubclass_of = []'))
    assert mine.types.subclass_of == ()


def test_a_path_is_meant_from_the_file_that_extends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    profile_written(folder, "base.toml", 'description = "ours"\n[limits]\nbatch = 20')
    mine = profile_written(folder, "mine.toml", 'extends = "base.toml"\n[limits]\nrequests = 50')
    monkeypatch.chdir(tmp_path)
    profile = load_profile(mine)
    assert (profile.description, profile.limits.batch, profile.limits.requests) == ("ours", 20, 50)


def test_a_profile_may_extend_one_that_extends_another(tmp_path: Path) -> None:
    profile_written(tmp_path, "base.toml", 'extends = "wikidata-local"\n[limits]\nbatch = 20')
    mine = load_profile(profile_written(tmp_path, "mine.toml", 'extends = "base.toml"\n[limits]\nrequests = 50'))
    assert (mine.limits.batch, mine.limits.requests, mine.names.on_stubs) == (20, 50, True)


def test_a_circle_of_profiles_is_reported_with_its_files(tmp_path: Path) -> None:
    profile_written(tmp_path, "one.toml", 'extends = "two.toml"')
    error = refused(profile_written(tmp_path, "two.toml", 'extends = "one.toml"'))
    assert "two.toml extends one.toml extends two.toml" in error


def test_a_misspelt_name_is_reported_with_the_nearest_one(tmp_path: Path) -> None:
    error = refused(profile_written(tmp_path, "mine.toml", 'extends = "wikidata-locl"'))
    assert "mine.toml extends 'wikidata-locl'" in error
    assert "Did you mean 'wikidata-local'?" in error


@pytest.mark.parametrize("value", ["3", "true", '["wikidata"]'])
def test_a_value_that_is_no_name_is_reported(tmp_path: Path, value: str) -> None:
    assert "extends" in refused(profile_written(tmp_path, "mine.toml", f"extends = {value}"))


def test_a_mistake_below_is_reported(tmp_path: Path) -> None:
    profile_written(tmp_path, "base.toml", "[limits]\nbatsh = 20")
    assert "'batch'" in refused(profile_written(tmp_path, "mine.toml", 'extends = "base.toml"'))


def test_the_profiles_of_wikidata_differ_from_the_local_one_only_in_where_and_how_much_they_ask() -> None:
    local = load_profile("wikidata-local")
    for name in ("wikidata", "wikidata-scholarly", "wikidata-qlever"):
        profile = load_profile(name)
        assert (profile.edges, profile.types, profile.roles) == (local.edges, local.types, local.roles)
        assert (profile.names, profile.prefixes) == (local.names, local.prefixes)
        assert profile.endpoint.requests.concurrency == 1
        assert profile.orientation.enumeration_seconds == 0
        assert profile.hubs.max_degree is not None


URL = "http://127.0.0.1:3030/ds/sparql"
NOW = datetime(2026, 11, 26, tzinfo=UTC)
FOUND = FoundSettings(checked=NOW, without_lateral=True, method="direct", query_rows=900, without_evidence=True)


def found(folder: Path, profile: Profile | None = None, days: float = 0) -> FoundSettings | None:
    return FoundSettings.of(URL, profile or Profile(), folder, (NOW + timedelta(days=days)).timestamp())


def test_what_is_kept_is_found_again_for_a_week(tmp_path: Path) -> None:
    assert found(tmp_path) is None
    assert FOUND.keep(URL, Profile(), tmp_path)
    assert found(tmp_path, days=6.9) == FOUND
    assert found(tmp_path, days=7.1) is None
    # By a clock that was set back it is no older than now.
    assert found(tmp_path, days=-0.1) is None


def test_a_later_check_replaces_an_earlier_one(tmp_path: Path) -> None:
    FOUND.keep(URL, Profile(), tmp_path)
    FoundSettings(checked=NOW).keep(URL, Profile(), tmp_path)
    kept = found(tmp_path)
    assert kept is not None
    assert kept.is_empty
    assert not FOUND.is_empty


@pytest.mark.parametrize(
    "other",
    [
        EndpointSettings(graphs=("http://example.org/g",)),
        EndpointSettings(access=AccessSettings(headers={"X-Tenant": "b"})),
    ],
    ids=["graphs", "user"],
)
def test_other_graphs_and_other_users_are_another_endpoint(other: EndpointSettings, tmp_path: Path) -> None:
    FOUND.keep(URL, Profile(), tmp_path)
    assert found(tmp_path, Profile(endpoint=other)) is None


def test_it_is_used_wherever_the_profile_says_nothing() -> None:
    used = FOUND.applied(URL, Profile())
    assert (used.endpoint.lateral, used.endpoint.requests.method) == (False, "direct")
    assert used.limits.query_rows == 900
    assert (used.edges.evidence_nodes, used.evidence.ways) == (False, "refused")
    assert FoundSettings(checked=NOW).applied(URL, Profile()) == Profile()


def test_what_the_profile_says_stays() -> None:
    own = Profile(
        endpoint=EndpointSettings(lateral=True, requests=RequestSettings(method="get")),
        limits=LimitSettings(query_rows=50_000),
        evidence=EvidenceSettings(ways=("annotations",)),
    )
    assert FOUND.applied(URL, own) == own


def test_evidence_is_read_where_a_policy_hides_it() -> None:
    hiding = Profile(hidden=HiddenSettings(types=("http://example.org/Secret",)))
    used = FOUND.applied(URL, hiding)
    assert (used.edges, used.evidence) == (hiding.edges, hiding.evidence)
    assert used.limits.query_rows == 900


def test_that_no_evidence_is_read_is_said(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    FOUND.applied(f"{URL}?key=secret", Profile())
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "no evidence is read there, and answers say so" in record.message
    assert "secret" not in record.message


@pytest.mark.parametrize("content", [b"", b"{", b'{"checked": 1e999}', b"\xff", b"[" * 100_000, b" " * 20_000])
def test_a_file_that_is_none_is_logged_and_ignored(
    content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    FOUND.keep(URL, Profile(), tmp_path)
    (path,) = tmp_path.glob("checked/*.json")
    path.write_bytes(content)
    assert found(tmp_path) is None
    assert "cannot be read" in caplog.text


def test_a_folder_that_others_may_write_to_is_not_trusted(tmp_path: Path) -> None:
    FOUND.keep(URL, Profile(), tmp_path)
    (tmp_path / "checked").chmod(0o777)
    with pytest.raises(ConfigurationError, match="may write"):
        found(tmp_path)


def test_where_nothing_can_be_kept_that_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "checked").write_text("in the way", encoding="utf-8")
    assert not FOUND.keep(URL, Profile(), tmp_path)
    assert "cannot be kept" in caplog.text


ONE_URL = "https://graph.example.org/sparql"
MESH = "http://id.nlm.nih.gov/mesh/"


def test_a_graph_has_the_same_folder_every_time() -> None:
    assert graph_folder(GraphIdentity.of(ONE_URL, Profile(), {})) == graph_folder(
        GraphIdentity.of(ONE_URL, Profile(), {})
    )


@pytest.mark.parametrize(
    ("url", "profile"),
    [
        ("https://graph.example.org/other", Profile()),
        (ONE_URL, Profile(endpoint=EndpointSettings(graphs=("urn:graph:a",)))),
        (ONE_URL, Profile(endpoint=EndpointSettings(graphs="union"))),
        (ONE_URL, Profile(edges=EdgeSettings(allowed=("http://example.org/p",)))),
        (ONE_URL, Profile(edges=EdgeSettings(types=("http://example.org/kind",)))),
        (ONE_URL, Profile(roles=RoleSettings(name=("http://example.org/name",)))),
        (ONE_URL, Profile(roles=RoleSettings(synonym=("http://example.org/name",)))),
        (ONE_URL, Profile(roles=RoleSettings(description=("http://example.org/note",)))),
        (ONE_URL, Profile(evidence=EvidenceSettings(ways=("statements",)))),
        (ONE_URL, Profile(names=NameSettings(languages=("de",)))),
        (ONE_URL, Profile(names=NameSettings(predicate_entity=("http://example.org/claim",)))),
    ],
)
def test_another_graph_or_another_way_to_read_it_has_another_folder(url: str, profile: Profile) -> None:
    assert graph_folder(GraphIdentity.of(url, profile, {})) != graph_folder(GraphIdentity.of(ONE_URL, Profile(), {}))


def test_what_does_not_change_what_is_read_does_not_change_the_folder() -> None:
    slow = Profile(
        endpoint=EndpointSettings(url=ONE_URL, requests=RequestSettings(delay_seconds=1)), description="a graph"
    )
    assert graph_folder(GraphIdentity.of(ONE_URL, slow, {})) == graph_folder(GraphIdentity.of(ONE_URL, Profile(), {}))


@pytest.mark.parametrize("url", ["postgresql://reader@graph.example.org/db", "neo4j://reader@graph.example.org/db"])
def test_a_database_whose_ids_other_prefixes_make_other_iris_of_has_another_folder(url: str) -> None:
    declared = Profile(prefixes={"MeSH": MESH, "x": "urn:x:"})
    same = [
        GraphIdentity.of(url, declared, {}),
        GraphIdentity.of(url, Profile(), {"x": "urn:x:", "MeSH": MESH}),
        GraphIdentity.of(url, Profile(prefixes={"MeSH": "urn:other:", "x": "urn:x:"}), {"MeSH": MESH}),
    ]
    others = [
        GraphIdentity.of(url, Profile(), {}),
        GraphIdentity.of(url, Profile(), {"MeSH": MESH}),
        GraphIdentity.of(url, declared, {"MeSH": "urn:other:"}),
    ]
    assert len({graph_folder(identity) for identity in same}) == 1
    assert len({graph_folder(identity) for identity in [same[0], *others]}) == 4


def test_an_endpoint_whose_ids_are_iris_has_one_folder_whatever_the_prefixes() -> None:
    declared = GraphIdentity.of(ONE_URL, Profile(prefixes={"MeSH": MESH}), {"x": "urn:x:"})
    assert graph_folder(declared) == graph_folder(GraphIdentity.of(ONE_URL, Profile(), {}))


def test_no_secret_of_a_url_is_stored() -> None:
    identity = GraphIdentity.of("https://ann:hush@graph.example.org/sparql?api_key=hush&db=films#hush", Profile(), {})
    assert identity.url == "https://graph.example.org/sparql?db=films"
    assert "hush" not in json.dumps(identity.readable)


def test_users_of_one_database_have_a_folder_each_because_they_may_read_other_rows() -> None:
    urls = [f"postgresql://{who}graphs.example.org/films" for who in ("", "ann@", "ann:hush@", "bob@")]
    identities = [GraphIdentity.of(url, Profile(), {}) for url in urls]
    none, ann, ann_too, bob = map(graph_folder, identities)
    assert ann == ann_too
    assert len({none, ann, bob}) == 3
    assert "hush" not in json.dumps([identity.readable for identity in identities])


def test_the_operators_folder_wins_over_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    identity = GraphIdentity.of(ONE_URL, Profile(), {})
    assert graph_folder(identity).is_relative_to(tmp_path / "cache")
    assert graph_folder(identity, tmp_path / "mine").parent == tmp_path / "mine"


PASSWORD, SECRET = "BFSQL_SHARED_CACHE_PASSWORD", "BFSQL_SHARED_CACHE_SECRET"


@pytest.fixture
def _no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (PASSWORD, SECRET):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)


@pytest.mark.usefixtures("_no_secret")
@pytest.mark.parametrize(
    "url", ["redis://cache.test", "rediss://10.0.0.1:6379/1", "redis://[2001:db8::1]", "redis://0.0.0.0"]
)
@pytest.mark.parametrize("given", [{}, {PASSWORD: ""}, {PASSWORD: " \t", SECRET: " "}])
def test_a_server_elsewhere_without_a_secret_is_an_error(
    url: str, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match="has no secret") as raised:
        SharedCacheServer.at(url)
    assert SECRET in raised.value.next_step
    with pytest.raises(ConfigurationError, match="has no secret"):
        open_gateway(endpoint="http://127.0.0.1:9/sparql", shared_cache=url)


@pytest.mark.usefixtures("_no_secret")
@pytest.mark.parametrize(
    ("given", "login", "key"),
    [
        ({PASSWORD: "hunter2"}, "hunter2", "hunter2"),
        ({SECRET: "long and random"}, None, "long and random"),
        ({PASSWORD: "hunter2", SECRET: "long and random"}, "hunter2", "long and random"),
        ({PASSWORD: "hunter2", SECRET: " "}, "hunter2", "hunter2"),
        ({f"{PASSWORD}_FILE": "in a file"}, "in a file", "in a file"),
        ({f"{SECRET}_FILE": "in a file", PASSWORD: "hunter2"}, "hunter2", "in a file"),
    ],
)
def test_the_secret_is_the_password_or_one_of_its_own(
    given: dict[str, str], login: str | None, key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in given.items():
        if name.endswith("_FILE"):
            (tmp_path / "secret").write_text(f"{value}\n", encoding="utf-8")
        monkeypatch.setenv(name, str(tmp_path / "secret") if name.endswith("_FILE") else value)
    server = SharedCacheServer.at("redis://cache.test")
    assert (server.login, server.key) == (login, key)


@pytest.mark.usefixtures("_no_secret")
@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({PASSWORD: "hunter2", f"{PASSWORD}_FILE": "file"}, "Both"),
        ({f"{SECRET}_FILE": "absent"}, "cannot be read"),
        ({f"{SECRET}_FILE": "empty"}, "empty or not set"),
        ({SECRET: "two\nlines"}, "is not a secret"),
    ],
)
def test_a_secret_that_cannot_be_one_is_an_error_that_does_not_show_it(
    given: dict[str, str], wrong: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "empty").touch()
    for name, value in given.items():
        monkeypatch.setenv(name, str(tmp_path / value) if name.endswith("_FILE") else value)
    with pytest.raises(ConfigurationError, match=wrong) as raised:
        SharedCacheServer.at("redis://127.0.0.1")
    assert "hunter2" not in str(raised.value)
    assert "two" not in str(raised.value)


@pytest.mark.anyio
@pytest.mark.usefixtures("_no_secret")
@pytest.mark.parametrize(
    "url", ["redis://localhost:1", "redis://127.1.2.3:1", "rediss://[::1]:1", "unix:///no/such/socket"]
)
async def test_a_server_on_this_machine_without_a_secret_is_a_warning(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_gateway(endpoint="http://127.0.0.1:9/sparql", shared_cache=url):
        pass
    assert caplog.text.count("has no secret") == 1


@pytest.mark.usefixtures("_no_secret")
def test_a_server_ends_at_once_where_a_secret_is_missing(run: Run) -> None:  # noqa: F811 - the fixture
    ran = run("serve", "--endpoint", "http://127.0.0.1:9/sparql", "--shared-cache", "redis://cache.test:6379")
    assert (ran.status, ran.out) == (2, "")
    assert "--shared-cache has no secret" in ran.err
