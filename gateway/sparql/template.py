"""Query templates: one file of SPARQL an operation, rendered by two constructs only.

A named slot ``?_name`` takes one rendered parameter. A block between the lines ``#each name`` and ``#end`` is
repeated for each element of a parameter, or left out where it is empty; inside it the slot ``?_name`` is the
element. The header of a template (lines that begin with ``#+``) declares every parameter with its kind and a
sample, the row limit and the dialect; the loader refuses slots that are not declared and parameters that are not
used. Text becomes SPARQL in `gateway.terms.render` and nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from gateway import resources
from gateway.terms import render

Parameter = str | int | bool | Iterable[Any]
"""A parameter's value; what it must be follows from its declared kind and is checked when it is rendered."""

_KINDS: Mapping[str, Callable[[Any], str]] = {
    "iri": render.iri,
    "string": render.string,
    "int": render.integer,
    "bool": render.boolean,
    "iris": lambda values: " ".join(render.iri(value) for value in values),
    "iri_list": lambda values: ", ".join(render.iri(value) for value in values),
}
_DIALECTS = frozenset({"sparql-1.1", "sparql-1.2"})

_PARAM = re.compile(r"(?P<name>[a-z_]+) (?P<each>each )?(?P<kind>\([a-z_ ]+\)|[a-z_]+) (?P<sample>.+)")
_SLOT = re.compile(r"\?_([a-z_]+)")
_BLOCK = re.compile(r"^[ \t]*#each (?P<name>[a-z_]+)\n(?P<body>.*?)^[ \t]*#end\n", re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(r"\?([a-z]\w*)")
_AGGREGATE = re.compile(r"\bCOUNT\([^)]*\)")
_COMMENT = re.compile(r"^[ \t]*#.*\n", re.MULTILINE)


class TemplateError(Exception):
    """A template file contradicts its own header: a mistake of ours, found when the file is loaded."""


@dataclass(frozen=True, slots=True)
class _Declared:
    each: bool
    kind: str
    sample: Any


@dataclass(frozen=True)
class Template:
    """A loaded template.

    Attributes:
        name: The file's name without its suffix.
        summary: What it asks, in a sentence.
        dialect: The SPARQL it is written in: ``sparql-1.1`` or ``sparql-1.2``.
        limit: The parameter that bounds its rows.
    """

    name: str
    summary: str
    dialect: str
    limit: str
    _body: str
    _declared: Mapping[str, _Declared]

    def render(self, parameters: Mapping[str, Parameter]) -> str:
        """Render the query.

        Raises:
            InputError: A value cannot be written as its declared kind.
            TemplateError: A parameter is missing or unknown.
        """
        if parameters.keys() != self._declared.keys():
            wrong = ", ".join(sorted(parameters.keys() ^ self._declared.keys()))
            raise TemplateError(f"{self.name}.rq is rendered with missing or unknown parameters: {wrong}")

        def block(match: re.Match[str]) -> str:
            name, body = match["name"], match["body"]
            kind = self._declared[name].kind
            elements = parameters[name]
            if isinstance(elements, str) or not isinstance(elements, Iterable):
                raise TemplateError(f"{self.name}.rq: {name} is repeated, but {elements!r} is one value")
            return "".join(body.replace(f"?_{name}", _element(kind, element)) for element in elements)

        def slot(match: re.Match[str]) -> str:
            return _KINDS[self._declared[match[1]].kind](parameters[match[1]])

        # One pass from front to end: what was written is never read as a slot again.
        pieces: list[str] = []
        end = 0
        for match in _BLOCK.finditer(self._body):
            pieces.append(_SLOT.sub(slot, self._body[end : match.start()]))
            pieces.append(block(match))
            end = match.end()
        pieces.append(_SLOT.sub(slot, self._body[end:]))
        return "".join(pieces)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables that the query projects."""
        projection = self._body[self._body.index("SELECT") : self._body.index("WHERE")]
        return tuple(_VARIABLE.findall(_AGGREGATE.sub("", projection)))

    def sample(self) -> str:
        """Render the query with the samples of its header."""
        return self.render({name: declared.sample for name, declared in self._declared.items()})


def _element(kind: str, element: Any) -> str:
    if kind.startswith("("):
        kinds = kind.strip("()").split()
        return " ".join(_KINDS[part](value) for part, value in zip(kinds, element, strict=True))
    return _KINDS[kind](element)


def names() -> list[str]:
    """Return the names of all templates."""
    return sorted(path.stem for path in resources.folder("queries").glob("*.rq"))


@cache
def load(name: str) -> Template:
    """Load a template by name.

    Raises:
        TemplateError: The file contradicts its own header.
    """
    return parse(name, (resources.folder("queries") / f"{name}.rq").read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Template:
    """Read a template's text.

    Raises:
        TemplateError: The text contradicts its own header; the message names the file and what is wrong.
    """
    header = [line[3:] for line in text.splitlines() if line.startswith("#+ ")]
    fields = {key: value for key, _, value in (line.partition(": ") for line in header if line[:6] != "param ")}
    declared = dict(_declaration(name, line.removeprefix("param ")) for line in header if line.startswith("param "))
    body = _without_comments(text)
    _check(name, fields, declared, body)
    return Template(name, fields["summary"], fields["dialect"], fields["limit"], body, declared)


def _declaration(name: str, line: str) -> tuple[str, _Declared]:
    match = _PARAM.fullmatch(line)
    if match is None:
        raise TemplateError(f"{name}.rq: cannot read the declaration {line!r}")
    kind = match["kind"]
    if not set(kind.strip("()").split()) <= _KINDS.keys():
        raise TemplateError(f"{name}.rq: {match['name']} has the unknown kind {kind!r}")
    if kind.startswith("(") and not match["each"]:
        raise TemplateError(f"{name}.rq: {match['name']} has several parts, so it must be repeated")
    try:
        sample = json.loads(match["sample"])
    except ValueError as error:
        raise TemplateError(f"{name}.rq: the sample of {match['name']} is no JSON") from error
    return match["name"], _Declared(bool(match["each"]), kind, sample)


def _without_comments(text: str) -> str:
    """Drop the header and comment lines, but keep the lines that begin and end a block."""
    return _COMMENT.sub(
        lambda match: match[0] if match[0].strip().startswith(("#each ", "#end")) else "",
        f"{text.rstrip()}\n",
    )


def _check(name: str, fields: Mapping[str, str], declared: Mapping[str, _Declared], body: str) -> None:
    if fields.keys() != {"summary", "dialect", "limit"}:
        raise TemplateError(f"{name}.rq: the header needs summary, dialect and limit, and has {sorted(fields)}")
    if fields["dialect"] not in _DIALECTS:
        raise TemplateError(f"{name}.rq: unknown dialect {fields['dialect']!r}")
    if not body.rstrip().endswith(f"LIMIT ?_{fields['limit']}"):
        raise TemplateError(f"{name}.rq: the query does not end in LIMIT ?_{fields['limit']}")
    repeated = {match["name"] for match in _BLOCK.finditer(body)}
    used = set(_SLOT.findall(body))
    if used != declared.keys():
        raise TemplateError(f"{name}.rq: not both declared and used: {', '.join(sorted(used ^ declared.keys()))}")
    for match in _BLOCK.finditer(body):
        if set(_SLOT.findall(match["body"])) != {match["name"]}:
            raise TemplateError(f"{name}.rq: the block of {match['name']} uses another slot than its own")
    if repeated != {parameter for parameter, declaration in declared.items() if declaration.each}:
        raise TemplateError(f"{name}.rq: the blocks and the parameters declared as `each` differ")
