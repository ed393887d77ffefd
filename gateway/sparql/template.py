"""Query templates: one file of SPARQL for each operation.

The header of a template (lines that begin with ``#+``) declares every parameter with its kind and a sample, the row
limit, the dialect, and what proves the end of its answer; the loader refuses slots that are not declared and parameters
that are not used. What the body may hold is in `gateway.sparql.markup`; a line ``#include name`` puts the file
``parts/name.rq`` in its place, its declarations too. Text becomes SPARQL in `gateway.terms.render` and nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import starmap
from textwrap import indent
from typing import Any, Literal, get_args

from gateway import resources
from gateway.sparql import markup, sentinel
from gateway.terms import render

Guard = Callable[[markup.TriplePattern], str]
"""Returns the conditions under which a policy leaves a triple."""

Parameter = str | int | bool | Iterable[Any]
"""A parameter's value; what it must be follows from its declared kind and is checked when it is rendered."""

NO_IRI = "urn:bfs-ql:none"
"""Begins IRIs that no graph has, and stands in a list of none.

Every term is ``NOT IN ()`` (SPARQL 1.1, 17.4.1.10), but to Oxigraph that is an error, by which a filter drops every
row.
"""

_KINDS: Mapping[str, Callable[[Any], str]] = {
    "iri": render.iri,
    "string": render.string,
    "int": render.integer,
    "double": render.double,
    "var": render.variable,
    "bool": render.boolean,
    "iris": lambda values: " ".join(map(render.iri, values)),
    "keys": lambda values: " ".join(map(render.blank_key, values)),
    "strings": lambda values: " ".join(map(render.string, values)),
    "walk": render.walk,
    "path": lambda values: "|".join(map(render.iri, values)),
    "iri_list": lambda values: ", ".join(map(render.iri, tuple(values) or (NO_IRI,))),
    "literals": lambda values: " ".join(starmap(render.literal, values)),
}
NAMED_GRAPHS = "named-graphs"
"""The dialect of templates about named graphs, which are asked over all of them, whichever the profile asks."""

_STANDARD = frozenset({"sparql-1.1", "lateral"})
"""Dialects whose triple patterns are all that reads the graph: no text index that has more."""

_DIALECTS = ("sparql-1.1", "sparql-1.2", "lateral", NAMED_GRAPHS, "fuseki", "virtuoso", "blazegraph")

End = Literal["sentinel", "counted", "none"]
"""What proves the end of an answer: a last row of ours, the count of what several pages bring together, or nothing."""

_ENDS: tuple[End, ...] = get_args(End)

Reads = Literal["graph", "nothing", "hidden"]
"""What a query reads: the graph, nothing of it, or what a policy hides too, to find out whether that can be hidden."""

_READS: tuple[Reads, ...] = get_args(Reads)

_CHOICES: tuple[tuple[str, str, Sequence[str]], ...] = (
    ("end", "proof of the end", _ENDS),
    ("dialect", "dialect", _DIALECTS),
    ("reads", "kind of reading", _READS),
)
"""Fields whose values are fixed, and what to call these; the first is that of a header without the field."""

_PARAM = re.compile(r"(?P<name>[a-z_]+) (?P<each>each )?(?P<kind>\([a-z_ ]+\)|[a-z_]+) (?P<sample>.+)")
_INCLUDE = re.compile(r"^(?P<indent>[ \t]*)#include (?P<name>[a-z_]+)\n", re.MULTILINE)
_PARTS = "parts"
"""The folder of what templates include."""

_FIELDS = frozenset({"summary", "dialect", "limit", "end"})
_OPTIONAL_FIELDS = frozenset({"iris", "reads"})

_MARKUP = ("#each ", "#if ", "#unless ", "#end", "#include ", "#visible ")
_VARIABLE = re.compile(r"\?([a-z]\w*)")
_AGGREGATE = re.compile(r"\b(?:COUNT|SUM|MIN|MAX)\([^)]*\)")
_GROUPED = re.compile(r"\bGROUP BY((?:\s+\?\w+)+)")
_INNERMOST = re.compile(r"\{[^{}]*\}")
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
        dialect: The SPARQL it is written in: ``sparql-1.1``, ``sparql-1.2``, ``lateral`` (1.1 with LATERAL),
            ``named-graphs`` (1.1 over all named graphs), or the engine whose own functions it uses.
        limit: The parameter that bounds its rows.
        end: What proves the end of its answer.
        iris: The variables that the query itself binds to nothing but IRIs and blank nodes; all that it projects, or
            none.
        reads: What it reads: the graph, nothing of it, or by design also what a policy hides of it.
    """

    name: str
    summary: str
    dialect: str
    limit: str
    end: End
    iris: tuple[str, ...]
    reads: Reads
    _body: str
    _declared: Mapping[str, _Declared]

    def render(self, parameters: Mapping[str, Parameter], guard: Guard | None = None) -> str:
        """Render the query.

        Args:
            parameters: All that the header declares.
            guard: Returns the conditions under which a policy leaves a triple; None without a policy.

        Raises:
            InputError: A value cannot be written as its declared kind.
            TemplateError: A parameter is missing or unknown.
        """
        if parameters.keys() != self._declared.keys():
            wrong = ", ".join(sorted(parameters.keys() ^ self._declared.keys()))
            raise TemplateError(f"{self.name}.rq is rendered with missing or unknown parameters: {wrong}")
        prefixes: dict[str, str] = {}
        kinds: Mapping[str, Callable[[Any], str]] = {**_KINDS, "iris": partial(render.iris, prefixes=prefixes)}
        rendered = {
            name: kinds[declared.kind](parameters[name])
            for name, declared in self._declared.items()
            if not declared.each
        }
        repeated = {
            name: self._elements(name, declared.kind, parameters[name])
            for name, declared in self._declared.items()
            if declared.each
        }
        return render.prologue(prefixes) + "".join(markup.write(self._parts, rendered, repeated.__getitem__, guard))

    def with_sentinel(self, query: str, rows: int, *, is_sorted: bool) -> str:
        """Return the rendered query so that its last row is the sentinel: a row of ours that binds ``?end``.

        Args:
            query: What `render` returned.
            rows: The rows that it has at most.
            is_sorted: Whether the engine has to sort for that.

        Raises:
            TemplateError: The template declares another proof of its end.
        """
        if self.end != "sentinel":
            raise TemplateError(f"{self.name}.rq is not rendered with a sentinel: its header declares none")
        return sentinel.around(_part("sentinel"), query, self.variables, rows, is_sorted=is_sorted)

    def _elements(self, name: str, kind: str, elements: Parameter) -> list[str]:
        if isinstance(elements, str) or not isinstance(elements, Iterable):
            raise TemplateError(f"{self.name}.rq: {name} is repeated, but {elements!r} is one value")
        return [_element(kind, element) for element in elements]

    @cached_property
    def _parts(self) -> Sequence[markup.Part]:
        return markup.read(self._body)

    @cached_property
    def may_be_guarded(self) -> bool:
        """Whether it can be asked under a policy: its triple patterns have a place for conditions, or need none."""
        return self.reads != "graph" or (self.dialect in _STANDARD and markup.has_visible(self._parts))

    @cached_property
    def of_iris(self) -> frozenset[str]:
        """The parameters that are IRIs, or are made of them."""
        return frozenset(name for name, declared in self._declared.items() if "iri" in declared.kind)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables that the query projects."""
        projection = self._body[self._body.index("SELECT") : self._body.index("WHERE")]
        return tuple(_VARIABLE.findall(_AGGREGATE.sub("", projection)))

    @cached_property
    def is_distinct(self) -> bool:
        """Whether no two rows of an answer are the same: the query says DISTINCT, or projects what it groups by."""
        outermost = _outside_braces(self._body)
        grouped = _GROUPED.search(outermost)
        keys = _VARIABLE.findall(grouped[1]) if grouped else []
        return "SELECT DISTINCT" in outermost or (bool(keys) and set(keys) <= set(self.variables))

    def sample(self) -> str:
        """Render the query with the samples of its header."""
        return self.render(self.samples())

    def samples(self) -> dict[str, Parameter]:
        """Return the samples of its header."""
        return {name: declared.sample for name, declared in self._declared.items()}

    @property
    def repeated(self) -> Sequence[str]:
        """The parameters with parts of the query that are written for each element, or left out without any."""
        return [name for name, declared in self._declared.items() if declared.each]


def _element(kind: str, element: Any) -> str:
    if kind.startswith("("):
        kinds = kind.strip("()").split()
        return " ".join(_KINDS[part](value) for part, value in zip(kinds, element, strict=True))
    return _KINDS[kind](element)


def names() -> list[str]:
    """Return the names of all templates; one for a dialect of its own is ``folder/name``."""
    root = resources.folder("queries")
    paths = (path.relative_to(root).with_suffix("") for path in root.rglob("*.rq"))
    return sorted(path.as_posix() for path in paths if path.parts[0] != _PARTS)


@cache
def load(name: str) -> Template:
    """Load a template by name.

    Raises:
        TemplateError: The file contradicts its own header.
    """
    return parse(name, _text_of(name))


def _text_of(name: str) -> str:
    return (resources.folder("queries") / f"{name}.rq").read_text(encoding="utf-8")


def parse(name: str, text: str) -> Template:
    """Read a template's text.

    Raises:
        TemplateError: The text contradicts its own header; the message names the file and what is wrong.
    """
    header, body = _assembled(text)
    fields = {key: value for key, _, value in (line.partition(": ") for line in header if line[:6] != "param ")}
    declared = dict(_declaration(name, line.removeprefix("param ")) for line in header if line.startswith("param "))
    _check(name, fields, declared, body)
    end = next(end for end in _ENDS if end == fields["end"])
    iris = tuple(fields.get("iris", "").split())
    reads = next(reads for reads in _READS if reads == fields.get("reads", "graph"))
    template = Template(name, fields["summary"], fields["dialect"], fields["limit"], end, iris, reads, body, declared)
    if iris not in {(), template.variables}:
        raise TemplateError(f"{name}.rq: iris are all variables of the projection in their order, or none")
    return template


def counting(query: str) -> str:
    """Return the query that counts the rows of a rendered one, in one row with the marker of its sentinel."""
    return sentinel.around(_part("count"), query, (), 0)


@cache
def _part(name: str) -> str:
    return part(name)


def part(name: str) -> str:
    """Return what a file of ``parts`` puts into a query."""
    return _without_comments(_text_of(f"{_PARTS}/{name}"))


def _outside_braces(body: str) -> str:
    """Return what is left of a query without its groups."""
    while (shorter := _INNERMOST.sub("", body)) != body:
        body = shorter
    return body


def written(kind: str, value: Parameter) -> str:
    """Return a value as SPARQL.

    Raises:
        InputError: It cannot be written as that kind.
    """
    return _KINDS[kind](value)


def _assembled(text: str) -> tuple[list[str], str]:
    """Return the header lines and the body of a file, those of what it includes among them."""
    header = [line[3:] for line in text.splitlines() if line.startswith("#+ ")]

    def included(match: re.Match[str]) -> str:
        declarations, body = _assembled(_text_of(f"{_PARTS}/{match['name']}"))
        header.extend(line for line in declarations if line not in header)
        return indent(body, match["indent"])

    return header, _INCLUDE.sub(included, _without_comments(text))


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
    """Drop the header and comment lines, but keep the lines that are markup."""
    return _COMMENT.sub(
        lambda match: match[0] if match[0].strip().startswith(_MARKUP) else "",
        f"{text.rstrip()}\n",
    )


def _check(name: str, fields: Mapping[str, str], declared: Mapping[str, _Declared], body: str) -> None:
    if fields.keys() - _OPTIONAL_FIELDS != _FIELDS:
        raise TemplateError(f"{name}.rq: the header needs {sorted(_FIELDS)}, and has {sorted(fields)}")
    for field, what, known in _CHOICES:
        if fields.get(field, known[0]) not in known:
            raise TemplateError(f"{name}.rq: unknown {what} {fields[field]!r}")
    if not body.rstrip().endswith(f"LIMIT ?_{fields['limit']}"):
        raise TemplateError(f"{name}.rq: the query does not end in LIMIT ?_{fields['limit']}")
    try:
        parts = markup.read(body)
    except markup.MarkupError as error:
        raise TemplateError(f"{name}.rq: {error}") from error
    used = set(markup.slots_of(parts))
    if used != declared.keys():
        raise TemplateError(f"{name}.rq: not both declared and used: {', '.join(sorted(used ^ declared.keys()))}")
    blocks = list(markup.blocks_of(parts))
    for block in blocks:
        if block.condition == "each" and block.name not in markup.slots_of(block.parts):
            raise TemplateError(f"{name}.rq: the block of {block.name} does not use its own slot")
    if {block.name for block in blocks} != {key for key, declaration in declared.items() if declaration.each}:
        raise TemplateError(f"{name}.rq: the blocks and the parameters declared as `each` differ")
