"""Renders schemas, hits, entities, rows, costs and profiles for a person; `subgraph` renders subgraphs."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from math import inf
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from gateway import PROGRAM
from gateway.answers.models import (
    EntitiesResult,
    Entity,
    QueryResult,
    SchemaResult,
    SearchHit,
    SearchResult,
    Subgraph,
    TypeShape,
)
from gateway.arguments import TraversalShow
from gateway.cli.edges_said import EdgesSaid
from gateway.cli.options import CommonOptions
from gateway.cli.own_words import own_words
from gateway.cli.screen import ID, STRONG, TYPE, IdTable, KeyValues, Screen, Unwrapped, WordWrapped
from gateway.cli.streams import clean, line, print_line
from gateway.errors import counted
from gateway.escaping import json_text, printable
from gateway.settings.load import built_in, load_profile
from gateway.settings.profile import Profile
from gateway.telemetry.record import Record, Sent
from gateway.tools.whole_subgraph import VALUES_INCOMPLETE

WARNING = "yellow"

ABOUT_THE_ANSWER = frozenset({"complete", "prefixes", "degraded", "warnings", "explain"})
"""Keys of an entity that say nothing about it."""

_OWN_KEYS = ABOUT_THE_ANSWER | {"id", "entity_type", "iri"}
_EDGES = frozenset({"edges", "edge_rows_total"})
_ONE_LINE = 60
"""Characters of a list that is written on one line, at most."""

_STEPS: Mapping[str, tuple[str, str]] = {
    "examples_left_out": ("Omitted to limit the size of the answer: {} in edges.", "neighbor"),
    "values_shortened": ("Shortened to limit the size of the answer: {} (long texts and lists).", "value"),
    "nodes_as_stubs": ("Omitted to limit the size of the answer: the details of {}.", "node"),
    "edges_bare": ("Omitted to limit the size of the answer: the evidence of {}.", "edge"),
    "ids_left_out": ("Omitted because they are not IRIs, or too long for an ID: {}.", "term"),
    "precision_failed": (
        "The precisions of dates and the units of quantities of {} could not be read: try again.",
        "item",
    ),
    "metadata_failed": ("The details of {} could not be read: try again.", "item"),
}
"""For each step in `degraded`: a sentence, and the noun that is counted in it."""


def _may_lack() -> Text:
    return warned("Not complete: what is missing here may still be in the graph.")


def schema(answer: SchemaResult) -> RenderableType:
    """Return the types, predicates and values, the most frequent first, or the shapes."""
    if answer.shapes is not None:
        shapes = (_shape(type_id, shape, answer.labels or {}) for type_id, shape in answer.shapes.items())
        return sections(*shapes, schema_notes(answer))
    return sections(
        [Text(line(answer.graph_description))],
        _terms("Type", "Nodes", answer.entity_types, answer.entity_types_total, answer),
        _terms("Predicate", "Edges", answer.predicates, answer.predicates_total, answer),
        _values(answer),
        schema_notes(answer),
    )


def _values(answer: SchemaResult) -> list[RenderableType]:
    if not answer.values:
        return []
    rows = [
        (
            clean(_labelled(iri, answer.labels or {})),
            clean(str(nodes)),
            clean(str(kinds)),
            clean(", ".join(map(str, texts))),
        )
        for iri, (nodes, kinds, *texts) in answer.values.items()
    ]
    more = (answer.values_total or 0) - len(rows)
    return [
        IdTable(
            [("Value", ID), ("Nodes", ""), ("Kind", TYPE), ("Range or examples", "")], rows, numeric={1}, is_titled=True
        ),
        *([Text(f"… {counted(more, 'more predicate')} of values")] if more > 0 else []),
    ]


def _shape(type_id: str, shape: TypeShape, labels: Mapping[str, str]) -> list[RenderableType]:
    title = Text.assemble((clean(_labelled(type_id, labels)), STRONG), f" ({line(shape.read)})")
    more = (shape.predicates_total or 0) - len(shape.predicates)
    columns = [("Predicate", ID), ("Share", ""), ("Values", ""), ("Kind or type", TYPE), ("Range or example", "")]
    rows = [
        (clean(_labelled(iri, labels)), share, several, clean(kinds), clean(", ".join(texts)))
        for iri, (share, several, kinds, *texts) in shape.predicates.items()
    ]
    return [
        title,
        *([Text(f"with instances of {line(shape.subclasses)}")] if shape.subclasses else []),
        *([IdTable(columns, rows, numeric={1}, is_titled=True)] if rows else []),
        *([Text(f"… {counted(more, 'more predicate')}")] if more > 0 else []),
    ]


def _labelled(iri: str, labels: Mapping[str, str]) -> str:
    """Return the ID of a predicate, with `^` where its edges come in, and its label where it has one."""
    label = labels.get(iri.removeprefix("^"), "")
    return f"{iri} {label}" if label else iri


def schema_notes(answer: SchemaResult) -> list[RenderableType]:
    """Return what is said beside the types and predicates."""
    is_sample = "enumerated" not in answer.basis.methods
    return [
        *(warned(text) for text in answer.warnings or ()),
        *([Text("With --whole, the whole graph is read first.")] if is_sample else []),
        Text.assemble(("Next steps: ", STRONG), line(own_words(answer.next_steps))),
    ]


def _terms(title: str, unit: str, terms: Sequence[str], total: int, answer: SchemaResult) -> list[RenderableType]:
    labels = answer.labels or {}
    with_labels = any(term in labels for term in terms)
    columns = [(title, ID), *([("Label", "")] if with_labels else []), (unit, "")]
    rows = [
        (clean(term), *([clean(labels.get(term, ""))] if with_labels else []), _count(answer.counts.get(term)))
        for term in terms
    ]
    if not terms:
        return [Text(f"No {title.lower()}s are known.")]
    more = [Text(f"… {counted(total - len(terms), f'more {title.lower()}')}")] if total > len(terms) else []
    return [IdTable(columns, rows, numeric={len(columns) - 1}), *more]


def _count(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def search(answer: SearchResult, query: str, offset: int = 0, show: TraversalShow = "both") -> RenderableType:
    """Return the hits, the best first, or the rows after `offset` others; of several queries those of each."""
    if answer.queries is not None:
        parts = ([_heading(one), search(_alone(one), one.query)] for one in answer.queries)
        return sections(*parts, _beside_all(answer))
    if table_of(answer) is not None:
        return sections(row_table(answer, show), _about_rows(answer, offset, query))
    if not answer.result:
        nothing = Text(f"Nothing was found for “{clean(query)}”.{_how(answer)}")
        return sections([nothing], *_no_hits(answer), search_notes(answer))
    found = answer.found or len(answer.result)
    left = found - len(answer.result)
    more = [Text(f"… {left:,} more: add words to the query, or raise --limit.")] if left > 0 else []
    return sections(
        [_hits(answer.result), *more],
        *_no_hits(answer),
        [Text(f"{counted(found, 'hit')}.{_how(answer)}"), *search_notes(answer)],
    )


def search_summary(answer: SearchResult, query: str, offset: int = 0) -> RenderableType:
    """Return how many hits there are, and what is said beside them; guesses, which are no hits, stand here."""
    if answer.queries is not None:
        parts = ([_heading(one), search_summary(_alone(one), one.query)] for one in answer.queries)
        return sections(*parts, _beside_all(answer))
    if table_of(answer) is not None:
        return sections(_about_rows(answer, offset, query))
    found = answer.found or len(answer.result)
    some = f"{counted(found, 'hit')}." if found == len(answer.result) else f"{len(answer.result)} of {found:,} hits."
    summary = Text(f"{some if found else f'Nothing was found for “{clean(query)}”.'}{_how(answer)}")
    return sections([summary, *search_notes(answer)], *_no_hits(answer))


def _no_hits(answer: SearchResult) -> list[list[RenderableType]]:
    """Return what is listed beside hits: guesses, and names of near meaning."""
    return [[_hits(listed)] for listed in (answer.guesses, answer.by_meaning) if listed]


def _heading(one: QueryResult) -> Text:
    return Text(f"“{clean(one.query)}”", style=STRONG)


def _beside_all(answer: SearchResult) -> list[RenderableType]:
    """Return what is said of several queries together; whether each is complete stands below it."""
    return search_notes(answer.model_copy(update={"complete": True}))


def _alone(one: QueryResult) -> SearchResult:
    """Return the answer to one of several queries as that to a query alone."""
    written = one.as_json()
    return SearchResult.model_validate({name: value for name, value in written.items() if name != "query"})


def _about_rows(answer: SearchResult, offset: int, query: str) -> list[RenderableType]:
    """Return how many entities there are, and what is said of those in rows."""
    found, nodes = table_count(answer), answer.found or 0
    what = f"{counted(nodes, 'entity')} found" if nodes else "Nothing was found"
    what = what if answer.groups is None else f"{counted(found, 'group')} of {counted(nodes, 'entity')}"
    whole = (
        "not complete" if not answer.complete else "complete" if answer.values_complete is None else "not all values"
    )
    what = f"{what}, {whole}."
    parts = [what, *said_of_rows(answer), place_of_rows(answer, offset, found)]
    shown = [Text(line(part)) for part in parts if part]
    return [*shown, *search_notes(answer), *left_out_of_rows(answer, offset, is_search=bool(query))]


def left_out_of_rows(answer: SearchResult, offset: int, *, is_search: bool = False) -> list[RenderableType]:
    """Return that rows follow which are not printed, and how to see them; nothing where none follow."""
    if answer.next_offset is None or table_of(answer) is None:
        return []
    left = table_count(answer) - offset - len(table_of(answer) or ())
    ways = f"--offset {answer.next_offset} shows the next"
    ways = ways if is_search else f"--all shows all, {ways}"
    return [warned(f"{counted(left, 'row')} more not shown here: {ways}.")]


def values_cut() -> str:
    """Return that values are missing from cells, and how to see them."""
    return f"{VALUES_INCOMPLETE} --out FILE.csv writes those whole that could be read."


def _how(answer: SearchResult) -> str:
    return f" Searched: {line(answer.searched.how)}." if answer.searched is not None else ""


def search_notes(answer: SearchResult) -> list[RenderableType]:
    """Return what is said beside the hits."""
    searched = answer.searched
    notes = [*([] if answer.complete else [_may_lack()]), *(warned(text) for text in answer.warnings or ())]
    if answer.values_complete is False:
        notes.append(warned(values_cut()))
    if searched is not None and searched.truncated:
        notes.append(warned("There are more matches than could be read: add words to the query."))
    if searched is not None and not searched.exhaustive:
        notes.append(warned("Not every name was compared: matches may be missing."))
    notes += map(warned, not_shown(answer.other_languages))
    if answer.next_steps:
        notes.append(Text(line(own_words(answer.next_steps))))
    return [*prefixes(answer.prefixes), *notes]


def not_shown(languages: Mapping[str, int] | None) -> list[str]:
    """Return how many texts in other languages are not shown."""
    listed = ", ".join(f"{clean(language)} {count:,}" for language, count in (languages or {}).items())
    return [f"Not shown, in other languages: {listed}. See --language."] if listed else []


def _told_apart(hit: SearchHit) -> str:
    """Return the name of a hit, with what tells it from others of that name."""
    said = ", ".join(f"{predicate} {value}" for predicate, value in (hit.differs or {}).items())
    return clean(f"{hit.name or ''} ({said})" if said else hit.name or "")


def _hits(hits: Sequence[SearchHit]) -> RenderableType:
    columns = [("ID", ID), ("Type", TYPE), ("Name", ""), ("Match", "")]
    if any(hit.matched for hit in hits):
        columns.append(("Matched", ""))
    rows = [
        (clean(hit.id), clean(hit.entity_type), _told_apart(hit), _match(hit), clean(hit.matched or ""))[: len(columns)]
        for hit in hits
    ]
    if all(hit.edges is None for hit in hits):
        return IdTable(columns, rows)
    counts = (_count(hit.edges) if isinstance(hit.edges, int) else hit.edges or "" for hit in hits)
    counted_rows = [(*row, count) for row, count in zip(rows, counts, strict=True)]
    return IdTable([*columns, ("Edges", "")], counted_rows, numeric={len(columns)})


def _match(hit: SearchHit) -> str:
    return hit.match if hit.score is None else f"{hit.match} {hit.score:.2f}"


_NOTHING_SAID = EdgesSaid()


def entity(answer: Entity, edges_said: EdgesSaid = _NOTHING_SAID) -> RenderableType:
    """Return one entity; behind its edges stands how class expressions say them."""
    written = answer.as_json()
    return sections([_entity(written, _without(written, _OWN_KEYS), edges_said)], entity_notes(answer))


def entity_notes(answer: Entity | EntitiesResult) -> list[RenderableType]:
    """Return what is said beside the values of entities."""
    others = (
        [
            ("Not in the graph", answer.not_found),
            ("Failed, try again", answer.failed),
            ("Did not fit, describe separately", answer.remaining_ids),
        ]
        if isinstance(answer, EntitiesResult)
        else []
    )
    return [
        *([] if answer.complete else [_may_lack()]),
        *(warned(f"{what}: {', '.join(ids)}") for what, ids in others if ids),
        *prefixes(answer.prefixes),
        *degraded(answer.degraded),
        *map(warned, answer.warnings or ()),
    ]


def entities(answer: EntitiesResult, edges_said: EdgesSaid = _NOTHING_SAID) -> RenderableType:
    """Return several entities, and the IDs that have no entity in the answer."""
    written = [node.model_dump(exclude_none=True) for node in answer.result]
    return sections(
        *([_entity(own, {**own.pop("metadata"), **_without(own, _OWN_KEYS)}, edges_said)] for own in written),
        entity_notes(answer),
    )


def prefixes(coined: Mapping[str, str] | None) -> list[Text]:
    """Return what the coined prefixes in an answer stand for."""
    return [Text(f"{name}: stands for {clean(namespace)}") for name, namespace in (coined or {}).items()]


def _without(written: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in written.items() if key not in keys}


def instances(found: Mapping[str, Any]) -> str:
    """Return how many instances an entity has as a type, and the command that lists them."""
    command = shlex.join([PROGRAM, "list", *found["search_entities"]["node_types"]])
    return f"{found['count']:,}: {command}" if "count" in found else command


def _entity(own: Mapping[str, Any], said: Mapping[str, Any], edges_said: EdgesSaid) -> RenderableType:
    title = Text.assemble((clean(own["id"]), f"{STRONG} {ID}"), "  ", (f"[{clean(own['entity_type'])}]", TYPE))
    if "instances" in said:
        said = {**said, "instances": instances(said["instances"])}
    rows = [
        (clean(key), _lines(value))
        for key, value in {**({"iri": own["iri"]} if "iri" in own else {}), **_without(said, _EDGES)}.items()
    ]
    # By themselves, or long keys of metadata would leave too little room for the IDs.
    of_edges = _edges(own["id"], said["edges"], said.get("edge_rows_total"), edges_said) if "edges" in said else []
    edges = [("edges", of_edges)] if of_edges else []
    return Group(Unwrapped(title), KeyValues(rows, indent=2), *([KeyValues(edges, indent=2)] if edges else []))


def _edges(
    entity_id: str, edges: Mapping[str, Sequence[int | str]], total: int | None, edges_said: EdgesSaid
) -> list[str]:
    """Return what could be followed as lines: predicate, number of edges, some neighbors, and how these are said."""
    lines = []
    for key, (count, *neighbors) in edges.items():
        ways = [edges_said.of(entity_id, key, str(neighbor)) for neighbor in neighbors]
        is_of_all = count == len(neighbors) and len(set(ways)) == 1
        beside = [""] * len(ways) if is_of_all else ways
        ends = [f"{clean(str(neighbor))} {way}".rstrip() for neighbor, way in zip(neighbors, beside, strict=True)]
        shown = ", ".join([*ends, *(["…"] if neighbors and count != len(neighbors) else [])])
        title = f"{clean(key)} {ways[0]}".rstrip() if is_of_all else clean(key)
        lines.append(f"{title}: {count}" + (f" ({shown})" if shown else ""))
    left_out = [f"… {counted(total - len(edges), 'more row')}"] if total else []
    unread = [_NOT_READ] if edges_said.lacks(entity_id, edges) else []
    return [*lines, *left_out, *unread] or ["none"]


_NOT_READ = "How some of these edges are said was not read: bfs shows it."


def _lines(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        lines = []
        for key, inner in value.items():
            first, *rest = _lines(inner) or [""]
            lines += [f"{clean(key)}: {first}", *(f"  {line}" for line in rest)]
        return lines
    if isinstance(value, list):
        written = [_lines(element) for element in value]
        flat = ", ".join(line for lines in written for line in lines)
        simple = all(not isinstance(element, Mapping | list) and "," not in str(element) for element in value)
        if simple and len(flat) <= _ONE_LINE:
            return [flat]
        return [f"{'  ' if place else '- '}{line}" for lines in written for place, line in enumerate(lines)]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return [clean(str(value))]


def warned(text: str) -> Text:
    """Return a warning."""
    return Text.assemble(("! ", f"{STRONG} {WARNING}"), (line(own_words(text)), WARNING))


def degraded(steps: Mapping[str, int] | None) -> list[RenderableType]:
    """Return what was omitted to limit the size of the answer, by step."""
    return [warned(_step(step, count)) for step, count in (steps or {}).items()]


def _step(step: str, count: int) -> str:
    if step not in _STEPS:
        return f"{step}: {count:,}"
    sentence, noun = _STEPS[step]
    return sentence.format(counted(count, noun))


def sections(*parts: Sequence[RenderableType]) -> RenderableType:
    """Return the sections that are not empty, with blank lines between them, wrapped between words only."""
    shown: list[RenderableType] = []
    for section in parts:
        if section:
            shown += [Text(), *section] if shown else section
    return Group(*(WordWrapped(part) if isinstance(part, Text) else part for part in shown))


def print_explained(screen: Screen, record: Record) -> None:
    """Print the record of a call below its answer."""
    screen.show()
    screen.show(_summary(record))
    for place, sent in enumerate(record.sent, 1):
        screen.show()
        screen.show(_title(place, sent))
        # Wrapping would break IRIs. The text can be sent again, because SPARQL reads these escapes.
        screen.show(Unwrapped(Text("\n".join(map(printable, sent.sparql.split("\n"))))))


def _summary(record: Record) -> RenderableType:
    asked = [
        counted(record.queries, "query"),
        *([f"{record.retries:,} of them retries"] if record.retries else []),
        counted(record.rows, "row"),
        counted(record.bytes, "byte"),
        *([f"{record.overflows:,} with too many rows for one query"] if record.overflows else []),
        *([f"split {counted(record.splits, 'time')}"] if record.splits else []),
    ]
    stages = {name: value for name, value in asdict(record.ms).items() if value and name not in {"total", "waiting"}}
    rows = [
        ("Asked", " · ".join(asked)),
        ("Cache", f"{record.cache_hits:,} found · {record.cache_misses:,} not found"),
        ("Time", f"{record.ms.total:,} ms, of which {record.ms.waiting:,} waiting for the graph"),
        ("Stages", " · ".join(f"{name} {value:,}" for name, value in stages.items())),
        ("Ended", ", ".join([record.outcome, *record.causes, *([record.error] if record.error else [])])),
    ]
    return KeyValues([(title, [text]) for title, text in rows])


def _title(place: int, sent: Sent) -> Text:
    size = f"{counted(sent.rows, 'row')}, {counted(sent.bytes, 'byte')}, {sent.ms:,} ms"
    title = Text.assemble((f"{place}. {clean(sent.template)}", STRONG), "  ", (size, TYPE))
    return title.append(f"  {sent.fault}", style=WARNING) if sent.fault else title


InRows = SearchResult | Subgraph
"""An answer that may have rows: of nodes, of groups, or of figures over all nodes."""


def table_of(answer: InRows) -> list[list[Any]] | None:
    """Return the rows of an answer, whatever they are of; None where there are none."""
    if answer.computed is not None:
        return [list(answer.computed.values())]
    return answer.rows if answer.groups is None else answer.groups


def table_count(answer: InRows) -> int:
    """Return how many rows all pages have."""
    if answer.computed is not None:
        return 1
    return (answer.found if answer.groups is None else answer.group_count) or 0


_IDENTITY: dict[TraversalShow, tuple[str, ...]] = {
    "both": ("id", "name"),
    "id": ("id",),
    "name": ("name",),
    "types": ("id", "name"),
}
"""The titles of what stands for a node."""


def row_titles(answer: InRows, show: TraversalShow) -> list[str]:
    """Return the titles of the columns."""
    if answer.computed is not None:
        return list(answer.computed)
    if answer.groups is not None:
        return list(answer.group_columns or ())
    return [*_IDENTITY[show], *(answer.columns or ())]


def row_cells(answer: InRows, show: TraversalShow) -> Iterator[list[Any]]:
    """Yield the cells of each row: ID and name of a node in two, and its values, several as a list."""
    if answer.rows is None:
        yield from table_of(answer) or ()
        return
    for first, *values in answer.rows:
        name_id, _, name = first.partition(" ")
        yield [*((name_id, name) if show == "both" else (first,)), *values]


def row_texts(answer: InRows, show: TraversalShow) -> Iterator[list[str]]:
    """Yield the cells of each row as texts, several values with commas between."""
    for cells in row_cells(answer, show):
        yield [", ".join(map(_text, cell)) if isinstance(cell, list) else _text(cell) for cell in cells]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json_text(value)


def row_table(answer: InRows, show: TraversalShow) -> list[RenderableType]:
    """Return the rows as a table; nothing where there are none."""
    rows = [[clean(text) for text in texts] for texts in row_texts(answer, show)]
    if not rows:
        return []
    of_numbers = {
        place
        for place, column in enumerate(zip(*row_cells(answer, show), strict=True))
        if all(cell is None or _is_number(cell) for cell in column)
    }
    titles = list(map(clean, row_titles(answer, show)))
    if answer.rows is not None:
        titles = [title.upper() if title == "id" else title.capitalize() for title in _IDENTITY[show]]
        titles += map(clean, answer.columns or ())
    is_of_ids = answer.rows is not None and show != "name"
    columns = [(title, ID if place == 0 and is_of_ids else "") for place, title in enumerate(titles)]
    bars = [] if answer.groups is None else _bars(answer.groups)
    return [IdTable(columns, rows, numeric=of_numbers, is_titled=True, bars=bars)]


def _bars(groups: Sequence[Sequence[Any]]) -> list[float]:
    """Return the first figure of each group as a share of the largest; none where one is no number, or below 0."""
    figures: list[Any] = [row[1] if len(row) > 1 else None for row in groups]
    if not all(_is_number(one) and 0 <= one < inf for one in figures) or not any(figures):
        return []
    largest = Fraction(max(figures))
    # Sums may be too large for a float.
    return [float(Fraction(one) / largest) for one in figures]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def said_of_rows(answer: InRows) -> list[str]:
    """Return what is said of the rows: what each condition was taken for, and what the last of them ties with."""
    noun = "more node" if answer.groups is None else "more group"
    return [
        *([f"Conditions: {'; '.join(answer.where)}."] if answer.where else []),
        *([f"{counted(answer.tied, noun)} with the value of the last row."] if answer.tied else []),
    ]


def place_of_rows(answer: InRows, offset: int, found: int) -> str:
    """Return which rows of how many these are; empty where they are all."""
    rows: Sequence[Any] = table_of(answer) or ()
    if len(rows) >= found:
        return ""
    return f"Rows {offset + 1:,} to {offset + len(rows):,} of {found:,}." if rows else ""


_COLUMNS = (("Profile", ID), ("Graph", ""), ("Endpoint", TYPE), ("Tried", ""))


def print_profiles(options: CommonOptions) -> None:
    """Print the built-in profiles: a table of those of public endpoints, or all as JSON."""
    profiles = {name: load_profile(name) for name in built_in()}
    if options.as_json:
        print_line(json_text({"profiles": [_as_json(name, profile) for name, profile in profiles.items()]}))
        return
    public = {name: profile for name, profile in profiles.items() if profile.endpoint.url}
    rows = [
        (name, _first_sentence(profile.description), profile.endpoint.url, "yes" if profile.about.tried else "no")
        for name, profile in public.items()
    ]
    others = ", ".join(name for name in profiles if name not in public)
    note = (
        "Tried: whether those who wrote the profile tried it there. Where not, it says what was read, and "
        "bfsql-gateway check --profile NAME finds out what holds."
    )
    table = IdTable(_COLUMNS, rows, is_titled=True)
    Screen().show(sections([table], [Text(note), Text(f"Without an endpoint: {others}.")]))


def _as_json(name: str, profile: Profile) -> dict[str, Any]:
    """Return what is known about a profile; a text that it lacks is None."""
    has_endpoint = bool(profile.endpoint.url)
    return {
        "name": name,
        "description": profile.description or None,
        "endpoint": profile.endpoint.url or None,
        "tried": profile.about.tried if has_endpoint else None,
        "unchecked": list(profile.about.unchecked),
        "sources": dict(profile.about.sources),
    }


def _first_sentence(description: str) -> str:
    return description.partition(". ")[0].removesuffix(".")
