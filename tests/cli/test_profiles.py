"""The command `profiles`."""

import json

from gateway.settings.load import built_in, load_profile
from tests.cli.conftest import Run


def test_a_person_sees_each_public_endpoint_with_its_graph_and_whether_it_was_tried(run: Run) -> None:
    ran = run("profiles")
    assert ran.status == 0
    shown = ran.out
    for name in built_in():
        assert name in shown
        assert load_profile(name).endpoint.url in shown
    assert "Bgee: gene expression in animals" in " ".join(shown.split())
    assert "Without an endpoint: bfsql-neo4j, bfsql-postgres, demo, fuseki, local, wikidata-local." in shown


def test_a_program_gets_every_profile_with_its_sources_on_one_line(run: Run) -> None:
    ran = run("profiles", "--json")
    [line] = ran.out.splitlines()
    profiles = {each["name"]: each for each in json.loads(line)["profiles"]}
    assert sorted(profiles) == built_in()
    mesh, local = profiles["mesh"], profiles["local"]
    assert (mesh["endpoint"], mesh["tried"]) == (load_profile("mesh").endpoint.url, False)
    assert "roles.synonym" in mesh["unchecked"]
    assert mesh["sources"]["limits.query_rows"].startswith("https://hhs.github.io/")
    assert (local["endpoint"], local["tried"], local["description"], local["unchecked"]) == (None, None, None, [])


def test_no_endpoint_is_asked_and_no_project_file_is_read(run: Run) -> None:
    assert run("profiles", "--endpoint", "http://127.0.0.1:1/sparql").status == 2
