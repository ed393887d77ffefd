"""Answers `describe_schema`: the types and predicates of the graph, as many as fit, and advice for it."""

from __future__ import annotations

from itertools import islice

from gateway import messages
from gateway.answers.page import SchemaPage
from gateway.answers.reference import REFERENCE
from gateway.answers.shape import Shape
from gateway.answers.size import limit_page, max_bytes
from gateway.arguments import DescribeSchema
from gateway.errors import BudgetSpent, DeadlinePassed, quoted
from gateway.graph.call import Call
from gateway.graph.values import Iri, Schema
from gateway.schema.cache import SchemaCache
from gateway.schema.view import LONGEST_LABEL, SchemaView
from gateway.settings.profile import Profile
from gateway.terms.iri import is_reached_by, local_name
from gateway.terms.names import cut, fold
from gateway.terms.prefixes import PrefixMap, is_plain_curie

_LISTED = 40
_MOST_LISTED = 200
"""Types, and predicates, that are listed by default, and where all are asked for: as many as fit."""

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


class SchemaDescriber:
    """Answers `describe_schema` for one graph."""

    def __init__(self, profile: Profile, prefixes: PrefixMap, schema_cache: SchemaCache) -> None:
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache

    async def describe(self, arguments: DescribeSchema, shape: Shape, call: Call) -> SchemaPage:
        """Return the schema, the most frequent types and predicates where not all fit.

        Raises:
            Fault: The graph could not be asked. A graph that is too large to be read in time has empty lists instead.
        """
        view = await self._schema_cache.view(call, in_full=True)
        if view.fault is not None and not isinstance(view.fault, DeadlinePassed | BudgetSpent):
            raise view.fault
        limit = max_bytes(self._profile.size, None, explain=arguments.explain)
        most, room = (_MOST_LISTED, min(limit, _MOST_BYTES)) if arguments.all else (_LISTED, limit)
        page = self._fitting(view, most, room, shape)
        limit_page(page, limit, shape)
        return page

    def latest(self) -> SchemaPage | None:
        """Return the latest schema without asking the graph; None before it was read."""
        view = self._schema_cache.latest
        if view is None or view.fault is not None:
            return None
        return self._fitting(view, _LISTED, max_bytes(self._profile.size, None, explain=False), REFERENCE)

    def _fitting(self, view: SchemaView, most: int, limit: int, shape: Shape) -> SchemaPage:
        """Return the page with as many types and predicates as fit into so many bytes, and no more than `most`."""
        page = self._page(view, most, is_whole=True)
        if shape.size_of_part(page) <= limit:
            return page
        fitting, too_many = self._page(view, 0, is_whole=False), most + 1
        least = 0
        while too_many - least > 1:
            middle = (least + too_many) // 2
            page = self._page(view, middle, is_whole=False)
            if shape.size_of_part(page) <= limit:
                fitting, least = page, middle
            else:
                too_many = middle
        return fitting

    def _page(self, view: SchemaView, count: int, *, is_whole: bool) -> SchemaPage:
        """Return the page with at most so many types and as many predicates, and, if it is whole, all prefixes."""
        schema, shorten = view.schema, self._prefixes.shorten
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
            prefixes=self._prefixes.prefixes if is_whole else self._prefixes.used_by(ids),
            version=schema.version,
            next_steps=self._next_steps(view, has_all=not left_out),
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
