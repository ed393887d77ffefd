"""Answers `describe_schema`: the types and predicates of the graph, as many as fit, and advice for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Protocol

from gateway import messages
from gateway.answers.page import PageShape, SchemaPage
from gateway.answers.reference import REFERENCE
from gateway.answers.rows import ShapeWriter
from gateway.answers.shape import Shape, iris_of_shapes
from gateway.answers.size import limit_page, max_bytes
from gateway.arguments import DescribeSchema
from gateway.errors import BudgetSpent, DeadlinePassed, quoted
from gateway.graph.call import Call
from gateway.graph.shapes import ReadShape
from gateway.graph.values import Iri, Schema
from gateway.schema.cache import SchemaCache
from gateway.schema.view import LONGEST_LABEL, SchemaView
from gateway.settings.profile import Profile
from gateway.terms.iri import is_iri, is_reached_by, local_name
from gateway.terms.names import cut, fold
from gateway.terms.prefixes import PrefixMap, is_plain_curie
from gateway.tools.shapes import ShapeReader, Values

_LISTED = 40
_MOST_LISTED = 200
"""Types, and predicates, that are listed by default, and where all are asked for: as many as fit."""

_VALUES = 25
"""Predicates of literals that are listed by default: each has its kinds and a range or examples."""

_MOST_SHAPES = 20
"""Types whose shapes one answer has."""

_MOST_BYTES = 15_000
"""Bytes of an answer where all are asked for, if the answer may not be shorter still."""

_MOST_COMPARED = 1_000
"""Types, the most frequent ones, of which the description of a graph names some."""

_MOST_DESCRIBED = 5
"""Types that the description of a graph names."""

_FLOODS = 0.4
"""The share of all nodes above which a type is said to flood answers."""

_MOST_NAMED = 3
"""IDs that one sentence of advice lists."""


class _PageWith(Protocol):
    """Returns the page with at most so many terms in each list; a whole one has what is said beside all of them."""

    def __call__(self, count: int, /, *, is_whole: bool) -> SchemaPage: ...


class SchemaDescriber:
    """Answers `describe_schema` for one graph."""

    def __init__(self, profile: Profile, prefixes: PrefixMap, schema_cache: SchemaCache, shapes: ShapeReader) -> None:
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache
        self._shapes = shapes

    def forget(self) -> None:
        """Read values and shapes again."""
        self._shapes.forget()

    async def describe(self, arguments: DescribeSchema, shape: Shape, call: Call) -> SchemaPage:
        """Return the schema, the most frequent types and predicates where not all fit, or the shapes of some types.

        Raises:
            Fault: The graph could not be asked. A graph that is too large to be read in time has empty lists instead.
            InputError: A type that is asked for does not exist.
        """
        view = await self._schema_cache.view(call, in_full=True)
        if view.fault is not None and not isinstance(view.fault, DeadlinePassed | BudgetSpent):
            raise view.fault
        limit = max_bytes(self._profile.size, None, explain=arguments.explain)
        if arguments.node_types:
            page = await self._of_types(arguments.node_types, view, limit, shape, call)
        else:
            most, room = (_MOST_LISTED, min(limit, _MOST_BYTES)) if arguments.all else (_LISTED, limit)
            values = None if view.fault is not None else await self._shapes.values(view, call)
            if values is not None:
                self._prefixes.coin(one.iri for one in values.found.predicates[:most])
            page = self._fitting(partial(self._page, view, values), most, room, shape)
            if values is None and view.fault is None:
                page.warnings.append(messages.VALUES_UNREAD)
        limit_page(page, limit, shape)
        return page

    async def _of_types(
        self, names: Sequence[str], view: SchemaView, limit: int, shape: Shape, call: Call
    ) -> SchemaPage:
        """Return the shapes of some types, with as many predicates of each as fit into so many bytes."""
        chosen = view.types.choose("node_types", names)
        warnings = list(chosen.warnings)
        types = sorted(filter(is_iri, chosen.iris), key=self._prefixes.declared_form)
        if len(types) < len(chosen.iris):
            warnings.append(messages.NO_SHAPE)
        if len(types) > _MOST_SHAPES:
            warnings.append(messages.too_many_shapes(_MOST_SHAPES, len(types)))
        found, unread = await self._shapes.shapes(types[:_MOST_SHAPES], view, call) if types else ([], [])
        self._prefixes.coin(iris_of_shapes(one.shape for one in found))
        writer = ShapeWriter(view.chooser, self._prefixes)
        shapes = [writer.shape(one) for one in found]

        def page_with(count: int, /, *, is_whole: bool) -> SchemaPage:
            del is_whole  # it has the prefixes of its IDs alone
            return self._shapes_page(view, found, shapes, count, [*warnings, *unread])

        return self._fitting(page_with, max((one.total for one in shapes), default=0), limit, shape)

    def _shapes_page(
        self,
        view: SchemaView,
        found: Sequence[ReadShape],
        shapes: Sequence[PageShape],
        count: int,
        warnings: Sequence[str],
    ) -> SchemaPage:
        """Return the page with at most so many predicates of each shape."""
        types = [one.id for one in shapes]
        labels: dict[str, str] = {}
        for one in found:
            shown = [one.shape.iri, *(predicate for (predicate, _), _ in one.shape.in_order()[:count])]
            known = {**view.labels, **one.labels}
            labels |= {self._prefixes.shorten(iri): cut(known[iri], LONGEST_LABEL) for iri in shown if iri in known}
        listed = [replace(one, rows=one.rows[:count]) for one in shapes]
        counts = {self._prefixes.shorten(term.iri): term.count for term in view.schema.types if term.count is not None}
        used = [*types, *(name_id for one in listed for row in one.rows for name_id in (row.predicate, *row.ids))]
        return SchemaPage(
            description=self._description(view.schema),
            complete=view.comprehensive,
            types=types,
            predicates=[],
            types_total=len(view.schema.types),
            predicates_total=len(view.schema.predicates),
            counts={type_id: counts[type_id] for type_id in types if type_id in counts},
            names=None,
            basis=view.schema.basis,
            prefixes=self._prefixes.used_by(used),
            version=view.schema.version,
            next_steps=messages.SHAPES_READ,
            usage_notes="",
            shapes=listed,
            warnings=list(warnings),
            labels=dict(sorted(labels.items())) if self._profile.names.on_stubs else {},
        )

    def latest(self) -> SchemaPage | None:
        """Return the latest schema without asking the graph; None before it was read."""
        view = self._schema_cache.latest
        if view is None or view.fault is not None:
            return None
        page_with = partial(self._page, view, self._shapes.known_values(view))
        return self._fitting(page_with, _LISTED, max_bytes(self._profile.size, None, explain=False), REFERENCE)

    def _fitting(self, page_with: _PageWith, most: int, limit: int, shape: Shape) -> SchemaPage:
        """Return the page with as many terms in each list as fit into so many bytes, and no more than `most`."""
        page = page_with(most, is_whole=True)
        if shape.size_of_part(page) <= limit:
            return page
        fitting, too_many = page_with(0, is_whole=False), most + 1
        least = 0
        while too_many - least > 1:
            middle = (least + too_many) // 2
            page = page_with(middle, is_whole=False)
            if shape.size_of_part(page) <= limit:
                fitting, least = page, middle
            else:
                too_many = middle
        return fitting

    def _page(self, view: SchemaView, values: Values | None, count: int, *, is_whole: bool) -> SchemaPage:
        """Return the page with at most so many types and as many predicates, and, if it is whole, all prefixes."""
        schema, shorten = view.schema, self._prefixes.shorten
        writer = ShapeWriter(view.chooser, self._prefixes)
        most_values = count if count > _LISTED else min(count, _VALUES)
        with_values = () if values is None else values.found.predicates[:most_values]
        types, predicates = schema.types[:count], schema.predicates[:count]
        listed = [*types, *predicates]
        ids = [shorten(term.iri) for term in listed]
        warnings = (
            [] if view.comprehensive else [messages.not_all_listed(_reason(schema), self._schema_cache.is_reading)]
        )
        if self._profile.evidence.ways == "refused":
            warnings.append(messages.EVIDENCE_REFUSED)
        if any(is_reached_by(term.iri) for term in types):
            warnings.append(messages.TYPES_OF_BLANK_NODES)
        if share := schema.blank_share:
            named = ", ".join(map(self._id, share.types[:_MOST_NAMED]))
            warnings.append(messages.share_of_blank_nodes(share.edges, share.of, named))
        totals = {"entity_types": len(schema.types), "predicates": len(schema.predicates)}
        if left_out := {name: total for name, total in totals.items() if total > count}:
            warnings.append(messages.lists_cut(left_out, count, can_have_more=is_whole and count < _MOST_LISTED))
        labelled = {term.iri: cut(term.label, LONGEST_LABEL) for term in listed if term.label}
        if values is not None:
            shown = {one.iri for one in with_values}
            labelled |= {iri: cut(label, LONGEST_LABEL) for iri, label in values.labels.items() if iri in shown}
        labels = {shorten(iri): labelled[iri] for iri in sorted(labelled, key=self._prefixes.declared_form)}
        return SchemaPage(
            description=self._description(schema),
            complete=view.comprehensive,
            types=ids[: len(types)],
            predicates=ids[len(types) :],
            types_total=len(schema.types),
            predicates_total=len(schema.predicates),
            counts={shorten(term.iri): term.count for term in listed if term.count is not None},
            names=None if schema.names is None else [shorten(iri) for iri in schema.names],
            basis=schema.basis,
            prefixes=self._prefixes.prefixes
            if is_whole
            else self._prefixes.used_by([*ids, *(shorten(one.iri) for one in with_values)]),
            version=schema.version,
            next_steps=self._next_steps(view, has_all=not left_out),
            values=None if values is None else [writer.value_predicate(one, values.found) for one in with_values],
            values_total=0 if values is None else len(values.found.predicates),
            warnings=warnings,
            labels=labels if self._profile.names.on_stubs else {},
        )

    def _description(self, schema: Schema) -> str:
        """Return what the graph is about: the operator's words, or figures and plain CURIEs.

        It is among the instructions of the server, so no text of the graph stands in it: no label, and no ID that reads
        as text.
        """
        if self._profile.description:
            return self._profile.description
        if not schema.types and not schema.predicates:
            return messages.UNKNOWN_GRAPH
        prefixes = self._prefixes.prefixes
        shown = ((term, self._prefixes.shorten(term.iri)) for term in schema.types[:_MOST_COMPARED])
        plain = (
            f"{term.count:,} {short}" if term.count is not None else short
            for term, short in shown
            if is_plain_curie(short, prefixes)
        )
        edges = sum(term.count or 0 for term in schema.predicates) if schema.exact else None
        return messages.graph_description(edges, schema.blank.edges, ", ".join(islice(plain, _MOST_DESCRIBED)))

    def _next_steps(self, view: SchemaView, *, has_all: bool) -> str:
        """Return the advice for this graph: the operator's own words first."""
        schema, world = view.schema, messages.OPEN_WORLD
        if view.comprehensive:
            world = messages.CLOSED_WORLD if has_all else messages.CLOSED_WORLD_IN_PART
        own = self._profile.next_steps
        parts = (own, messages.START, world, self._about_names(schema), self._about_floods(schema))
        return " ".join(part for part in (*parts, self._about_hubs(schema)) if part)

    def _about_names(self, schema: Schema) -> str:
        if self._profile.search.api:
            return messages.SEARCH_BY_API
        if schema.names:
            return messages.names_compared(", ".join(map(self._id, schema.names[:_MOST_NAMED])))
        return "" if schema.names is None else messages.NO_NAMES

    def _about_floods(self, schema: Schema) -> str:
        """Say which type most nodes have, where that is known, since it fills every answer."""
        total = sum(term.count or 0 for term in schema.types)
        if not schema.exact or len(schema.types) < 3 or not total:  # noqa: PLR2004 - of two types, neither floods
            return ""
        first = schema.types[0]
        share = (first.count or 0) / total
        return "" if share < _FLOODS else messages.flooding_type(round(100 * share), self._shown(first.iri, schema))

    def _about_hubs(self, schema: Schema) -> str:
        named = ", ".join(self._shown(iri, schema) for iri in schema.hubs[:_MOST_NAMED])
        return messages.hub_types(named, self._profile.hubs.max_degree) if named else ""

    def _shown(self, iri: Iri, schema: Schema) -> str:
        """Return the ID of a type, with its label, quoted and bounded, where the ID does not say it."""
        short = self._id(iri)
        label = next((term.label for term in schema.types if term.iri == iri), "")
        return f"{short} (label: {quoted(label)})" if label and fold(local_name(iri)) != fold(label) else short

    def _id(self, iri: Iri) -> str:
        """Return an ID as advice may name it: quoted and cut where it may read as text."""
        short = self._prefixes.shorten(iri)
        return short if is_plain_curie(short, self._prefixes.prefixes) else quoted(short)


def _reason(schema: Schema) -> str:
    """Return why the lists of a schema are not all."""
    blank = schema.blank
    uncounted = messages.blank_nodes_uncounted(blank.edges, sum(blank.types.values())) if blank else ""
    return "; ".join(filter(None, [schema.reason, uncounted]))
