"""Writes the tables of the documentation that follow from the source.

A table stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``. ``make docs`` writes all of them.
"""

import dataclasses
import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gateway.answers import models
from gateway.export.subgraph import Subgraph, SubgraphEdge, SubgraphNode
from gateway.settings.profile import Profile
from gateway.settings.secrets import Reference
from gateway.settings.section import Iris, Words
from gateway.sparql import template
from gateway.terms.iri import DC, DCT, FOAF, OBO_IN_OWL, RDF, RDFS, SCHEMA, SKOS
from gateway.terms.prefixes import PrefixMap
from tests.schema.state_tables import state_table
from tests.suites.clients.library import libraries
from tests.suites.programs import REVISIONS, expected

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = tuple(sorted((ROOT / "docs").glob("*.md")))

_MARKED = re.compile(r"(<!-- generated: ([\w.]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
_PREFIXES: Final = PrefixMap(
    {
        "rdf": RDF,
        "rdfs": RDFS,
        "skos": SKOS,
        "foaf": FOAF,
        "dct": DCT,
        "dc": DC,
        "schema": SCHEMA[0],
        "oboInOwl": OBO_IN_OWL,
    }
)
_NAMED_TYPES: Final = (
    (Iris, "list of IRIs"),
    (Words, "list of IRIs or local names"),
    (Reference, "`env:NAME` or `file:/path`"),
)
_PLAIN_TYPES: Final = {bool: "true or false", str: "text", int: "integer", float: "number", dict: "table"}


def as_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


# --- settings ---


def settings_table(section: str) -> str:
    """Return the table of one section of a profile, or of the settings at its top for an empty name."""
    model: type[BaseModel] = _sections()[section] if section else Profile
    hints = get_type_hints(model, include_extras=True)
    rows = [
        (f"`{section}.{name}`" if section else f"`{name}`", type_of(hints[name]), default_of(field), described(field))
        for name, field in model.model_fields.items()
        if (f"{section}.{name}" if section else name) not in _sections()
    ]
    return as_table(("setting", "type", "default", "meaning"), rows)


def type_of(hint: Any) -> str:
    """Return the type of a setting in words, with its bounds."""
    words = list(_alternatives(hint))
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _alternatives(hint: Any) -> Iterator[str]:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        named = [words for alias, words in _NAMED_TYPES if get_args(alias)[1] in parts]
        yield named[0] if named else type_of(parts[0]) + _bounds(parts[1:])
    elif origin in {Union, UnionType}:
        for part in parts:
            yield from _alternatives(part)
    elif origin is Literal:
        yield from (f'`"{value}"`' for value in parts if value)
    elif origin is tuple:
        yield "list of texts" if parts[0] is str else "list of these: " + ", ".join(_alternatives(parts[0]))
    elif hint is not NoneType:
        yield _PLAIN_TYPES[origin or hint]


def _bounds(metadata: Iterable[Any]) -> str:
    found = {type(one): one for held in metadata if isinstance(held, FieldInfo) for one in held.metadata}
    least, most, above = found.get(Ge), found.get(Le), found.get(Gt)
    if isinstance(least, Ge) and isinstance(most, Le):
        return f", {least.ge:,} to {most.le:,}"
    if isinstance(least, Ge):
        return f", {least.ge:,} or more"
    return f" above {above.gt:,}" if isinstance(above, Gt) else ""


def default_of(field: FieldInfo) -> str:
    """Return a default as TOML and JSON write it, with short IRIs."""
    default = field.get_default(call_default_factory=True)
    if default is None:
        return "absent"
    if isinstance(default, tuple):
        default = [_PREFIXES.shorten(value) if ":" in value else value for value in default]
    return f"`{json.dumps(default)}`"


def described(field: FieldInfo) -> str:
    """Return the description of a setting."""
    assert field.description
    return field.description


def _sections(model: type[BaseModel] = Profile, above: str = "") -> dict[str, type[BaseModel]]:
    sections: dict[str, type[BaseModel]] = {}
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            sections[f"{above}{name}"] = field.annotation
            sections |= _sections(field.annotation, f"{above}{name}.")
    return sections


# --- templates and dependencies ---


def templates_table() -> str:
    """Return the table of query templates, from the summaries in their headers."""
    return as_table(("template", "returns"), [(f"`{name}`", template.load(name).summary) for name in template.names()])


def dependencies_table() -> str:
    """Return the table of dependencies at run time: versions from pyproject.toml, duties from decision record 0005."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    record = (ROOT / "docs/decisions/0005-dependencies.md").read_text(encoding="utf-8")
    duties = dict(re.findall(r"^\| `([\w-]+)` \| ([^|]+?) \|", record, re.MULTILINE))
    rows = [
        (f"`{name}`", f"`{versions}`", duties[name])
        for requirement in sorted(project["dependencies"], key=str.lower)
        for name, versions in re.findall(r"^([\w-]+)(.+)$", requirement)
    ]
    return as_table(("package", "versions", "used for"), rows)


def conformance_table(part: str) -> str:
    """Return a table of the protocol's conformance suite: `applies`, `excepted` or `not_applicable`."""
    known = expected()
    if part == "applies":
        scenarios = sorted({name for names in known.applies.values() for name in names})
        rows = [
            (f"`{name}`", *("yes" if name in known.applies[each] else "" for each in REVISIONS)) for name in scenarios
        ]
        return as_table(("scenario", *REVISIONS), rows)
    if part == "excepted":
        return as_table(("check", "why"), [(f"`{check}`", reason) for (_, check), reason in known.excepted.items()])
    by_reason: dict[str, list[str]] = {}
    for name, reason in known.not_applicable.items():
        by_reason.setdefault(reason, []).append(f"`{name}`")
    return as_table(("scenarios", "why"), [(", ".join(names), reason) for reason, names in by_reason.items()])


def clients_table() -> str:
    """Return the table of client libraries, from the list of `make clients`."""
    rows = [(each.name, f"`{each.package[0]}`", each.package[1], each.note) for each in libraries()]
    return as_table(("library", "package", "version", "note"), rows)


# --- answers in Python ---

ANSWERS: Final = (
    *(models.SchemaResult, models.SearchResult, models.BfsResult, models.IntersectionResult, models.Entity),
    *(models.EntitiesResult, models.SearchHit, models.Node, models.Edge, models.FullNode, models.QueryResult),
    *(models.Searched, models.Incomplete, models.SchemaSummary, models.SchemaBasis, models.TypeShape, models.Explain),
    *(models.SentQuery, Subgraph, SubgraphNode, SubgraphEdge),
)
_MODULES = re.compile(r"\b(?:\w+\.)+(?=\w)")


def answers_table() -> str:
    """Return what each answer has in Python: attributes with their types, and methods."""
    rows = []
    for kind in ANSWERS:
        always, optional, methods = _members(kind)
        if kind is models.IntersectionResult:
            like, others, _ = _members(models.BfsResult)
            assert optional == others
            without = " and ".join(one for one in like if one not in always)
            always = [*(one for one in always if one not in like), f"and those of `BfsResult` but for {without}"]
            optional = ["those of `BfsResult`"]
        rows.append((f"`{kind.__name__}`", ", ".join(always), ", ".join(optional), ", ".join(methods)))
    return as_table(("object", "attributes", "attributes that may be `None`", "methods"), rows)


def _members(kind: type[Any]) -> tuple[list[str], list[str], list[str]]:
    """Return the attributes of a class that are always there, the others, and its methods."""
    own = {name for one in kind.__mro__ if one.__module__.startswith("gateway.") for name in vars(one)}
    members = [(name, one) for name, one in inspect.getmembers(kind) if name in own]
    hints = dict(_hints(kind))
    hints |= {name: get_type_hints(one.fget)["return"] for name, one in members if isinstance(one, property)}
    always: list[str] = []
    optional: list[str] = []
    for name, hint in hints.items():
        is_optional = get_origin(hint) in {Union, UnionType} and NoneType in get_args(hint)
        (optional if is_optional else always).append(f"`{name}: {_python_type(hint)}`")
    return always, optional, [f"`{name}`" for name, one in members if inspect.isfunction(one) and _GIVES.match(name)]


_WITHIN_NAME = "stub_name"
"""Where a node keeps a part of what `name` returns."""

_GIVES = re.compile(r"to_|as_json|write")


def _hints(kind: type[Any]) -> Mapping[str, Any]:
    """Return the types of the fields of a class by name."""
    if issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items() if name != _WITHIN_NAME}
    return {field.name: get_type_hints(kind)[field.name] for field in dataclasses.fields(kind)}


def _python_type(hint: Any) -> str:
    """Return a type as a program has it, without what pydantic checks and without `None`."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _python_type(parts[0])
    if origin is Literal:
        return type(parts[0]).__name__
    if origin in {Union, UnionType}:
        return " or ".join(dict.fromkeys(_python_type(part) for part in parts if part is not NoneType))
    if origin is not None and parts:
        inner = ", ".join("..." if part is Ellipsis else _python_type(part) for part in parts)
        return f"{origin.__name__}[{inner}]"
    return _MODULES.sub("", inspect.formatannotation(hint))


# --- pages ---


def generated(name: str) -> str:
    """Return the table that a marker names: its kind, and after a point which of that kind."""
    kind, _, section = name.partition(".")
    makers: dict[str, Callable[[], str]] = {
        "settings": lambda: settings_table(section),
        "schema_states": lambda: state_table(section),
        "templates": templates_table,
        "answers": answers_table,
        "dependencies": dependencies_table,
        "clients": clients_table,
        "conformance": lambda: conformance_table(section),
    }
    return makers[kind]()


def up_to_date(text: str) -> str:
    """Return a page with every marked table as it follows from the source."""
    return _MARKED.sub(lambda match: f"{match[1]}{generated(match[2])}{match[3]}", text)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(up_to_date(path.read_text(encoding="utf-8")), encoding="utf-8")
