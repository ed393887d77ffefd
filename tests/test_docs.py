"""The documentation against the code: whatever has a name in one has it in the other."""

import contextlib
import dataclasses
import importlib
import inspect
import io
import json
import pkgutil
import re
import runpy
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar, get_type_hints

import pytest
from pydantic import BaseModel

import gateway
from gateway import arguments
from gateway.answers import models
from gateway.answers.page import STEPS
from gateway.api import open_gateway
from gateway.check.report import Claims
from gateway.cli.commands import app
from gateway.cli.main import main
from gateway.errors import Fault, GatewayError, InputError
from gateway.export.subgraph import Subgraph
from gateway.python.async_gateway import AsyncGateway
from gateway.server.prompts import PROMPTS
from gateway.server.resources import RESOURCES, TEMPLATES
from gateway.settings.load import built_in, load_profile
from gateway.settings.profile import Profile, ShapeName
from gateway.sparql import template
from gateway.telemetry.record import Record
from gateway.tools.gateway import Gateway
from gateway.traversal.gaps import CAUSES
from tests import generated_docs
from tests.site.build import pages_in_navigation

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("fixtures/*.md"), *ROOT.glob("deploy/**/*.md")]
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.+)$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_NAME = re.compile(r"`([^`]+)`")

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Table:
    """A table of a page.

    Attributes:
        under: The heading above it.
        subject: Its first header cell: what its rows are about.
        rows: The cells of each row.
    """

    under: str
    subject: str
    rows: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> list[str]:
        """What stands in backticks in the first cell of each row."""
        found = (_NAME.fullmatch(row[0]) for row in self.rows)
        return [match[1] for match in found if match]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def tables(name: str) -> Iterator[Table]:
    heading = ""
    rows: list[tuple[str, ...]] = []
    for line in [*_FENCE.sub("", page(name)).splitlines(), ""]:
        if match := _HEADING.match(line):
            heading = match[2]
        if line.startswith("|"):
            rows.append(tuple(cell.strip() for cell in line.strip("|").split("|")))
        elif rows:
            yield Table(heading, rows[0][0], tuple(rows[2:]))
            rows = []


def table(name: str, subject: str, under: str | None = None) -> Table:
    """Return the table about a subject; one that is split over several headings is put together."""
    found = [one for one in tables(name) if one.subject == subject and under in {None, one.under}]
    assert found, f"{name} has no table of {subject!r}"
    return Table(found[0].under, subject, tuple(row for one in found for row in one.rows))


def fences(text: str, *languages: str) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in _FENCE.finditer(text) if match[1] in languages]


def submodules() -> Iterator[str]:
    for module in pkgutil.walk_packages(gateway.__path__, "gateway."):
        if not module.name.endswith("__main__"):
            yield module.name


def subclasses(kind: type[Kind]) -> set[type[Kind]]:
    found = {kind}
    for below in kind.__subclasses__():
        found |= subclasses(below)
    return found


# --- tools ---


TOOLS: Final = [model.tool for model in arguments.ALL]
PIECES: Final = {
    "field of basis": models.SchemaBasis,
    "field of a shape": models.TypeShape,
    "field of a hit": models.SearchHit,
    "field of one of several queries": models.QueryResult,
    "field of searched": models.Searched,
    "field of an entity": models.FullNode,
    "field of a node": models.Node,
    "field of an edge": models.Edge,
    "field of schema_summary": models.SchemaSummary,
    "field of incomplete": models.Incomplete,
    "field of explain": models.Explain,
    "field of a sent query": models.SentQuery,
}


def answer_of(tool: str) -> type[models.Answer]:
    hint: type[models.Answer] = get_type_hints(getattr(Gateway, tool))["return"]
    return hint


def test_the_page_for_clients_names_every_resource_and_prompt() -> None:
    resources = [*(one.uri for one in RESOURCES), *(one.uri_template for one in TEMPLATES)]
    assert table("docs/clients.md", "resource").names == resources
    prompts = {row[0]: row[1] for row in table("docs/clients.md", "prompt").rows}
    assert prompts == {
        f"`{prompt.name}`": ", ".join(f"`{argument.name}`" for argument in prompt.arguments or ()) for prompt in PROMPTS
    }


def test_the_readme_and_the_page_of_tools_name_all_six_in_their_tables() -> None:
    assert table("README.md", "tool").names == TOOLS
    assert re.findall(r"^\| \[`(\w+)`\]", page("docs/tools.md"), re.MULTILINE) == TOOLS


@pytest.mark.parametrize("model", [model for model in arguments.ALL if model.model_fields], ids=lambda m: m.tool)
def test_every_argument_of_a_tool_has_a_row_and_nothing_else_has(model: type[arguments.Arguments]) -> None:
    documented = table("docs/tools.md", "argument", f"Arguments of {model.tool}")
    assert sorted(documented.names) == sorted(model.model_fields)
    required = {name for name, row in zip(documented.names, documented.rows, strict=True) if row[1] == "yes"}
    assert required == {name for name, field in model.model_fields.items() if field.is_required()}


@pytest.mark.parametrize("tool", TOOLS)
def test_every_field_of_an_answer_has_a_row_and_nothing_else_has(tool: str) -> None:
    model = answer_of(tool)
    documented = set(table("docs/tools.md", "field", f"Answer of {tool}").names)
    if issubclass(model, models.Subgraph):
        documented |= set(table("docs/tools.md", "field", "Fields of every subgraph").names)
    assert documented == set(model.model_fields)


@pytest.mark.parametrize(("subject", "model"), PIECES.items(), ids=PIECES.keys())
def test_every_field_of_a_piece_of_an_answer_has_a_row(subject: str, model: type[models.Answer]) -> None:
    fields = {field.alias or name for name, field in model.model_fields.items()}
    assert set(table("docs/tools.md", subject).names) == fields


def test_no_kind_of_answer_is_left_out_of_the_page_of_tools() -> None:
    bases = {models.Subgraph, models.Result, models.Described, models.Answer}
    checked = {*PIECES.values(), *(answer_of(tool) for tool in TOOLS), *bases}
    assert subclasses(models.Answer) == checked


def test_no_kind_of_answer_is_left_out_of_the_page_of_python() -> None:
    bases = {models.Subgraph, models.Result, models.Described, models.Answer}
    assert subclasses(models.Answer) - bases == {
        kind for kind in generated_docs.ANSWERS if issubclass(kind, models.Answer)
    }


FILMS: Final = str(ROOT / "fixtures" / "films.ttl")

CALLS: Final = [
    (shape, graph, call.strip(), kind, text)
    for path, shape in (("docs/tools.md", "reference"), ("docs/contract.md", "compact"), ("docs/values.md", "compact"))
    for (graph, call), (kind, text) in zip(
        fences(page(path), "call", "films"), fences(page(path), "json", "text"), strict=True
    )
]
"""Calls of the pages; what is asked of the films says so."""


@pytest.mark.parametrize(
    ("shape", "graph", "call", "kind", "documented"), CALLS, ids=[call for _, _, call, *_ in CALLS]
)
@pytest.mark.anyio
async def test_every_example_call_gets_the_documented_answer(
    shape: ShapeName, graph: str, call: str, kind: str, documented: str
) -> None:
    tool, _, given = call.partition(" ")
    async with open_gateway(FILMS if graph == "films" else None) as asked:
        if kind == "text":
            with pytest.raises(InputError) as raised:
                await asked.call(tool, json.loads(given))
            assert str(raised.value) == documented.strip()
            return
        answer = (await asked.call(tool, json.loads(given), shape=shape)).as_json()
    shown = json.loads(documented)
    assert {key: answer.get(key) for key in shown} == shown


# --- generated tables ---


@pytest.mark.parametrize("path", generated_docs.PAGES, ids=[path.name for path in generated_docs.PAGES])
def test_every_generated_table_is_as_the_source_has_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == generated_docs.up_to_date(text), "`make docs` writes it anew"


# --- profiles ---


def settings(model: type[BaseModel] = Profile, above: str = "") -> Iterator[str]:
    """Yield every setting by its full name."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from settings(field.annotation, f"{above}{name}.")
        else:
            yield f"{above}{name}"


def test_every_setting_of_a_profile_has_a_row_and_nothing_else_has() -> None:
    assert sorted(table("docs/profiles.md", "setting").names) == sorted(settings())


def test_every_built_in_profile_has_a_row() -> None:
    assert sorted(table("docs/profiles.md", "built-in profile").names) == built_in()


@pytest.mark.parametrize("text", [text for _, text in fences(page("docs/profiles.md"), "toml")])
def test_an_example_of_a_profile_loads(text: str, tmp_path: Path) -> None:
    path = tmp_path / "example.toml"
    path.write_text(text, encoding="utf-8")
    assert tomllib.loads(text).get("prefixes", {}).items() <= load_profile(str(path)).prefixes.items()


# --- errors ---


def public(kind: type[Kind]) -> dict[str, type[Kind]]:
    """Return a class and all below it by name, but for those that one module keeps to itself."""
    for module in submodules():
        importlib.import_module(module)
    return {found.__name__: found for found in subclasses(kind) if not found.__name__.startswith("_")}


def test_every_error_class_has_a_row_with_its_cause() -> None:
    documented = table("docs/errors.md", "error")
    assert sorted(documented.names) == sorted([*public(GatewayError), template.TemplateError.__name__])
    listed = {name: row[-1].strip("`") for name, row in zip(documented.names, documented.rows, strict=True)}
    causes = {name: kind.cause for name, kind in public(Fault).items()}
    assert causes == {name: cause for name, cause in listed.items() if cause}


def test_every_cause_of_an_incomplete_answer_has_a_row() -> None:
    assert table("docs/errors.md", "cause").names == list(CAUSES)


def test_every_step_of_making_an_answer_smaller_has_a_row() -> None:
    assert sorted(table("docs/errors.md", "step").names) == sorted(STEPS)


def test_every_step_of_making_an_answer_smaller_is_taken_somewhere() -> None:
    modules = [path for name in ("answers", "tools") for path in (ROOT / "gateway" / name).glob("*.py")]
    modules.remove(ROOT / "gateway" / "answers" / "page.py")
    source = "".join(path.read_text(encoding="utf-8") for path in modules)
    assert [step for step in STEPS if f'"{step}"' not in source] == []


# --- architecture, decisions ---


def test_every_template_has_a_row() -> None:
    assert table("docs/templates.md", "template").names == template.names()


def test_every_layer_stands_in_the_diagram_in_its_order() -> None:
    (contract,) = tomllib.loads(page("pyproject.toml"))["tool"]["importlinter"]["contracts"][:1]
    (diagram, *_) = fences(page("docs/architecture.md"), "text")
    drawn = [line.split()[0].removesuffix("/").removesuffix(".py") for line in diagram[1].splitlines()]
    assert drawn == contract["layers"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_of_ours_that_a_page_names_exists(path: Path) -> None:
    named = re.findall(r"`([\w./-]+\.(?:py|rq))`", path.read_text(encoding="utf-8"))
    folders = ("gateway", "queries", "tests", "benchmarks")
    files = [f"/{file.relative_to(ROOT)}" for folder in folders for file in (ROOT / folder).rglob("*.*")]
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []


LOCKS = ("requirements.lock", "requirements-dev.lock")


def test_every_dependency_has_a_row_in_its_decision_record() -> None:
    project = tomllib.loads(page("pyproject.toml"))
    extras = [each for extra in project["project"]["optional-dependencies"].values() for each in extra]
    groups = project["dependency-groups"]
    developing = [each for each in [*groups["dev"], *groups["build"]] if isinstance(each, str)]
    declared = [*project["project"]["dependencies"], *developing, *extras]
    names = {re.split(r"[^\w.-]", requirement)[0] for requirement in declared}
    assert set(table("docs/decisions/0005-dependencies.md", "package").names) == names


def test_the_lock_for_a_run_is_a_part_of_that_for_tests() -> None:
    pinned = {name: set(re.findall(r"^([\w.-]+==\S+)", page(name), re.MULTILINE)) for name in LOCKS}
    run, developing = (pinned[name] for name in LOCKS)
    assert run
    assert run < developing


def test_the_decision_records_are_numbered_and_listed() -> None:
    records = sorted(path.name for path in (DOCS / "decisions").glob("*.md"))
    assert [int(name[:4]) for name in records] == list(range(1, len(records) + 1))
    assert (
        _LINK.findall("".join(row[0] for row in table("docs/decisions/0001-record-decisions.md", "number").rows))
        == records
    )


# --- checking an endpoint ---


def test_every_claim_of_a_check_has_a_row_and_nothing_else_has() -> None:
    assert table("docs/check.md", "field").names == [field.name for field in dataclasses.fields(Claims)]


# --- citations ---


CITATION: Final = re.compile(r'docs/([\w/-]+\.md)(?:, "([^"]+)"(?: and "([^"]+)")?)?')


def headings(path: Path) -> set[str]:
    """Return the headings of a page, without their numbers."""
    return {
        re.sub(r"^\d+\. ", "", match[1]) for match in re.finditer(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    }


def test_every_section_of_a_page_that_the_source_cites_exists() -> None:
    cited = 0
    for path in [path for folder in ("gateway", "queries", "tests") for path in sorted((ROOT / folder).rglob("*.*"))]:
        if path.suffix not in {".py", ".rq"} or path == Path(__file__).resolve():
            continue
        text = re.sub(r"\n[ #]*", " ", path.read_text(encoding="utf-8"))
        for page_cited, *sections in CITATION.findall(text):
            assert (DOCS / page_cited).exists(), f"{path}: {page_cited}"
            assert {section for section in sections if section} <= headings(DOCS / page_cited), f"{path}: {sections}"
            cited += 1
    assert cited > 50


# --- all pages ---


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


UNCLEAR: Final = re.compile(
    r"\b(?:is|are) told\b|\bone's own\b|\bslips? of the finger\b|\bwithout a word\b|\bwhoever\b", re.IGNORECASE
)
"""Phrases that readers of the documentation stumbled over."""

HISTORY: Final = (DOCS / "decisions", ROOT / "CHANGELOG.md")


@pytest.mark.parametrize("path", PAGES, ids=[str(path.relative_to(ROOT)) for path in PAGES])
def test_no_page_has_a_phrase_that_readers_stumbled_over(path: Path) -> None:
    if not any(path.is_relative_to(history) for history in HISTORY):
        assert not UNCLEAR.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PAGES, ids=[str(path.relative_to(ROOT)) for path in PAGES])
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_stands_in_the_navigation_of_the_site_and_nothing_else_does() -> None:
    named = sorted(pages_in_navigation())
    assert named == sorted([*(path.name for path in DOCS.glob("*.md")), *NOTES])


NOTES: Final = [
    "decisions/0001-record-decisions.md",
    *(f"notes/{path.name}" for path in (DOCS / "notes").glob("*.md")),
    *(f"notebooks/{path.stem}.md" for path in (DOCS / "notebooks").glob("*.ipynb")),
]
"""The first record lists the others; notebooks become pages."""


def test_every_target_of_make_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", page("Makefile"), re.MULTILINE))
    for path in PAGES:
        named = set(re.findall(r"(?:^|`)make ([a-z]+)\b", path.read_text(encoding="utf-8"), re.MULTILINE))
        assert named <= targets, path


PYTHON_PAGES: Final = ("docs/python.md", "docs/connect.md", "docs/how-a-hop.md")
PYTHON: Final = [
    example
    for name in PYTHON_PAGES
    for example in zip(fences(page(name), "python"), fences(page(name), "text"), strict=True)
]


@pytest.mark.process
@pytest.mark.parametrize(("code", "printed"), PYTHON)
def test_the_python_examples_run_and_print_what_is_documented(
    code: tuple[str, str], printed: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "example.py"
    script.write_text(code[1], encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out == printed[1]


def test_the_page_of_python_names_every_call_and_no_other() -> None:
    named = set(re.findall(r"`(\w+)\(", page("docs/python.md"))) - {"open_gateway", "str", "tqdm"}
    calls = [name for kind in (AsyncGateway, Subgraph) for name, _ in inspect.getmembers(kind, inspect.isfunction)]
    assert named == {name for name in calls if name[0] != "_"} - {"close"}


def test_the_page_of_python_names_every_field_of_a_record() -> None:
    rows = table("docs/python.md", "field", "Cost of a call").rows
    assert [name for row in rows for name in _NAME.findall(row[0])] == [
        field.name for field in dataclasses.fields(Record)
    ]


def test_every_marker_of_tests_is_explained() -> None:
    markers = tomllib.loads(page("pyproject.toml"))["tool"]["pytest"]["ini_options"]["markers"]
    explained = set(re.findall(r"`@pytest\.mark\.(\w+)`", page("CONTRIBUTING.md")))
    assert explained == {marker.partition(":")[0] for marker in markers}


# --- commands, and the readme ---


CONSOLE_PAGES: Final = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


def commands(path: Path) -> Iterator[tuple[str, str]]:
    """Return each command of a page, and what is shown below it."""
    for _, text in fences(path.read_text(encoding="utf-8"), "console"):
        command, _, shown = text.partition("\n")
        yield command, shown


def printed(command: str) -> str:
    """Return what a command of a page shows at a terminal of 80 columns, without blanks at the ends of lines."""
    prompt, program, *given = shlex.split(command)
    assert (prompt, program) == ("$", "bfsql-gateway")
    written = io.BytesIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        io.TextIOWrapper(written, encoding="utf-8") as stdout,
        contextlib.redirect_stdout(stdout),
    ):
        patch.chdir(ROOT)
        # Of such a terminal rich knows that it has 80 columns and no colours.
        patch.setattr(stdout, "isatty", lambda: True)
        patch.setenv("TERM", "dumb")
        patch.delenv("FORCE_COLOR", raising=False)
        assert main(given) == 0
        stdout.flush()
        lines = written.getvalue().decode().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


@pytest.mark.parametrize(("command", "shown"), [example for path in CONSOLE_PAGES for example in commands(path)])
def test_every_console_example_of_a_page_prints_what_is_shown(command: str, shown: str) -> None:
    assert printed(command) == shown, "`python -m tests.test_docs` writes the examples anew"


@pytest.mark.parametrize("name", ["README.md", "docs/connect.md"])
def test_every_example_of_json_in_a_page_for_new_users_is_json(name: str) -> None:
    for _, text in fences(page(name), "json"):
        json.loads(text)


def test_the_readme_is_short() -> None:
    assert len(page("README.md").splitlines()) <= 120


def test_the_page_of_the_command_line_has_a_row_for_every_command() -> None:
    registered = {info.name or getattr(info.callback, "__name__", "") for info in app.registered_commands}
    assert {name.split()[1] for name in table("docs/cli.md", "command").names} == registered


def write_console_examples_anew() -> None:
    """Put into the pages what their commands print now."""
    for path in CONSOLE_PAGES:
        text = path.read_text(encoding="utf-8")
        for command, shown in commands(path):
            text = text.replace(f"{command}\n{shown}```", f"{command}\n{printed(command)}```")
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_console_examples_anew()
