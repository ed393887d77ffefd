"""What an operator writes about what is hidden: a mistake is an error, and never hides nothing in silence."""

import logging
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.graphs_file import read_graphs
from gateway.settings.hidden import MOST, HiddenSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile, SearchSettings, policy_of, under_policy_at_endpoint, with_hidden
from gateway.settings.storage import GraphIdentity

PAY = "https://example.org/Salary"
LISTS = ("types", "predicates", "graphs", "literals")


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("key", LISTS)
def test_a_curie_of_the_profile_is_written_out(tmp_path: Path, key: str) -> None:
    path = written(tmp_path, f'[prefixes]\nex = "https://example.org/"\n[hidden]\n{key} = ["ex:Salary"]\n')
    assert getattr(load_profile(str(path)).hidden, key) == (PAY,)


@pytest.mark.parametrize("entry", ["ark:/12148/cb11901234k", "<ark:/12148/cb11901234k>", "urn:isbn:0"])
def test_an_iri_without_a_host_is_hidden_as_it_stands(tmp_path: Path, entry: str) -> None:
    hidden = load_profile(str(written(tmp_path, f'[hidden]\ntypes = ["{entry}"]\n'))).hidden
    assert hidden.types == (entry.strip("<>"),)
    assert hidden.unclear() == ""


@pytest.mark.parametrize("key", LISTS)
@pytest.mark.parametrize("entry", ["ex:Secret", "Secret", "", "a b:Secret", "ex:", "Secret*"])
def test_an_entry_that_is_no_iri_is_refused_and_not_repeated(tmp_path: Path, key: str, entry: str) -> None:
    path = written(tmp_path, f'[hidden]\n{key} = ["{entry}"]\n')
    with pytest.raises(ConfigurationError) as error:
        load_profile(str(path))
    assert "hidden" in str(error.value)
    assert "Secret" not in str(error.value)


def test_a_list_has_a_bound() -> None:
    with pytest.raises(ValueError, match=f"more than {MOST} entries"):
        HiddenSettings(types=tuple(f"https://example.org/{number}" for number in range(MOST + 1)))


def test_a_curie_in_a_profile_made_in_python_opens_nothing(tmp_path: Path) -> None:
    file = written(tmp_path, "<https://example.org/a> <https://example.org/b> 1 .", "a.ttl")
    with pytest.raises(ConfigurationError, match=r"hidden\.types has an entry that may be no whole IRI"):
        open_gateway(file, profile=Profile(hidden=HiddenSettings(types=("ex:Secret",))))


ENDPOINT = "http://127.0.0.1:9/sparql"
OPEN = "https://example.org/open"


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        (Profile(hidden=HiddenSettings(graphs=(PAY,))), "Named graphs are hidden by a list of those that are read"),
        (
            Profile(hidden=HiddenSettings(graphs=(PAY,)), endpoint=EndpointSettings(graphs=(OPEN, PAY))),
            "Named graphs are hidden by a list of those that are read",
        ),
        (
            Profile(hidden=HiddenSettings(types=(PAY,)), search=SearchSettings(api="https://example.org/w/api.php")),
            "search.api finds names elsewhere",
        ),
        (
            Profile(hidden=HiddenSettings(types=tuple(f"{PAY}{number}" for number in range(101)))),
            "more than 100 terms",
        ),
    ],
)
def test_what_cannot_be_hidden_of_an_endpoint_opens_nothing(profile: Profile, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why) as error:
        open_gateway(endpoint=ENDPOINT, profile=profile)
    assert PAY not in str(error.value)


def test_of_a_database_nothing_can_be_hidden() -> None:
    with pytest.raises(ConfigurationError, match="of a database nothing can be hidden"):
        open_gateway("postgresql://u@127.0.0.1/g", profile=Profile(hidden=HiddenSettings(types=(PAY,))))


def test_of_an_endpoint_no_evidence_and_no_text_index_is_asked_under_a_policy() -> None:
    profile = under_policy_at_endpoint(Profile(hidden=HiddenSettings(types=(PAY,))))
    assert (profile.evidence.ways, profile.search.index, profile.values.wikibase) == ((), "none", False)
    assert under_policy_at_endpoint(Profile()) == Profile()


def test_what_is_stored_of_an_endpoint_is_stored_for_one_policy() -> None:
    policies = [HiddenSettings(), HiddenSettings(types=(PAY,)), HiddenSettings(predicates=(PAY,))]
    digests = {GraphIdentity.of(ENDPOINT, Profile(hidden=hidden), {}).digest for hidden in policies}
    assert len(digests) == len(policies)


def test_a_graph_of_several_hides_what_its_profile_hides_and_more(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        f'[graphs.staff]\nabout = "Staff."\ngraph = "staff.ttl"\nhidden = {{ predicates = ["{PAY}"] }}\n',
    )
    [entry] = read_graphs(path)
    profile = with_hidden(Profile(hidden=HiddenSettings(types=("https://example.org/Judge",))), entry.hidden)
    assert profile.hidden == HiddenSettings(types=("https://example.org/Judge",), predicates=(PAY,))


@pytest.mark.parametrize(
    ("hidden", "wrong"),
    [
        ('types = ["ex:Secret"]', "hidden.types of the graph staff has an entry that may be no whole IRI"),
        ('types = ["Secret"]', "graphs.staff.hidden.types: entry 1 is neither an IRI nor a CURIE"),
        ('type = ["https://example.org/Secret"]', "unknown key 'graphs.staff.hidden.type'. Did you mean 'types'?"),
    ],
)
def test_a_mistake_in_the_file_of_graphs_is_an_error(tmp_path: Path, hidden: str, wrong: str) -> None:
    path = written(
        tmp_path, f'[graphs.staff]\nabout = "Staff."\ngraph = "staff.ttl"\n[graphs.staff.hidden]\n{hidden}\n'
    )
    with pytest.raises(ConfigurationError) as error:
        read_graphs(path)
    assert wrong in str(error.value)
    assert "Secret" not in str(error.value)


def test_every_list_and_every_way_to_read_types_is_part_of_the_hash() -> None:
    profiles = [Profile(hidden=HiddenSettings(**{key: (PAY,)})) for key in LISTS]
    other = profiles[0].edges.model_copy(update={"types": ("https://example.org/kind",)})
    profiles.append(profiles[0].model_copy(update={"edges": other}))
    policies = [policy_of(profile) for profile in profiles]
    assert len({policy.digest for policy in policies if policy is not None}) == len(LISTS) + 1
    assert policy_of(Profile()) is None


def test_the_operator_is_told_of_what_hides_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = written(tmp_path, "<https://example.org/a> a <https://example.org/Judge> .", "a.ttl")
    with caplog.at_level(logging.WARNING):
        open_gateway(file, profile=Profile(hidden=HiddenSettings(types=("https://example.org/judge",))))
    assert "does not occur in the graph: <https://example.org/judge>" in caplog.text
