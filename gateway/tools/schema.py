"""Answers `describe_schema`: the types and predicates of the graph, as many as fit, and advice for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Protocol

from gateway import messages
from gateway.answers.page import PageShape, SchemaPage
from gateway.answers.reference import REFERENCE
from gateway.answers.rows import ShapeWriter
from gateway.answers.shape import Shape
from gateway.answers.size import limit_page, max_bytes
from gateway.arguments import DescribeSchema
from gateway.errors import BudgetSpent, DeadlinePassed, InputError, counted, quoted
from gateway.graph.call import Call, together
from gateway.graph.shapes import ReadShape, ValuePredicate
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, NamelessNodes, Schema, Term
from gateway.members.expression_notes import about_axioms
from gateway.schema.cache import SchemaCache
from gateway.schema.view import LONGEST_LABEL, SchemaView
from gateway.settings.profile import PartlyRead, Profile, asks_ahead, doubt_of
from gateway.terms.iri import SCHEMA_TERM_CLASSES, is_iri, is_reached_by, local_name
from gateway.terms.names import cut, fold
from gateway.terms.prefixes import PrefixMap
from gateway.terms.well_known_prefixes import WELL_KNOWN
from gateway.tools.fitting_terms import Fitting, best_listed, fitting
from gateway.tools.imports import IMPORTED_WITHOUT_IRI, IMPORTS_UNREAD, ImportReader, Unread, imports_missing
from gateway.tools.shapes import ShapeReader, Values
from gateway.tools.terms_by_meaning import TermsByMeaning

_LISTED = 40
_LISTED_WITH_NAMES = 20
_MOST_LISTED = 200
"""Types, and predicates, that are listed by default, where each has a name beside its ID, and where all are asked for:
as many as fit."""

_VALUES = 25
"""Predicates of literals that are listed by default: each has its kinds and a range or examples."""

_MOST_SHAPES = 20
"""Types whose shapes one answer has."""

_MOST_BYTES = 15_000
_MOST_OF_SHAPES = 8_000
"""Bytes of an answer where all are asked for, and of one with shapes, if the answer may not be shorter still."""

_MOST_COMPARED = 1_000
"""Types, the most frequent ones, of which the description of a graph names some."""

_MOST_DESCRIBED = 5
"""Types that the description of a graph names."""

_FLOODS = 0.4
"""The share of all nodes above which a type is said to flood answers."""

_MOST_NAMED = 3
"""IDs that one sentence of advice lists."""
_MOST_ANNOTATIONS = 6
"""Predicates of what is stated about edges that advice lists."""

_NAME_PARTS = 4
"""Predicates of given and family names that advice lists: two pairs."""


_Others = tuple[Mapping[Iri, str], NamelessNodes | None, Sequence[Iri] | Unread]
"""Labels in the language of a call, the nodes without a name, and imports that are missing."""


class _PageWith(Protocol):
    """Returns the page with at most so many terms in each list; a whole one has what is said beside all of them."""

    def __call__(self, count: int, /, *, is_whole: bool) -> SchemaPage: ...


class SchemaDescriber:
    """Answers `describe_schema` for one graph."""

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        schema_cache: SchemaCache,
        shapes: ShapeReader,
        imports: ImportReader,
        terms: TermsByMeaning | None = None,
    ) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache
        self._shapes = shapes
        self._imports = imports
        self._terms = terms

    def forget(self) -> None:
        """Read values, shapes and imports again."""
        self._shapes.forget()
        self._imports.forget()

    async def describe(self, arguments: DescribeSchema, shape: Shape, call: Call) -> SchemaPage:
        """Return the schema, the most frequent types and predicates where not all fit, or the shapes of some types.

        Raises:
            Fault: The graph could not be asked. A graph that is too large to be read in time has empty lists instead.
            InputError: A type that is asked for does not exist, or shapes are asked for by a question.
        """
        if arguments.query and arguments.node_types:
            raise InputError(
                "describe_schema takes node_types or query, not both.",
                next_step="Ask with query for types and predicates, then with node_types for what instances have.",
            )
        view = await self._schema_cache.view(call, in_full=True)
        if view.fault is not None and not isinstance(view.fault, DeadlinePassed | BudgetSpent):
            raise view.fault
        limit = max_bytes(self._profile.size, None, explain=arguments.explain)
        if arguments.node_types:
            room = min(limit, _MOST_BYTES if arguments.all else _MOST_OF_SHAPES)
            page = await self._of_types(arguments.node_types, view, room, shape, call)
        elif arguments.query and view.fault is None:
            most, room = (_MOST_LISTED, min(limit, _MOST_BYTES)) if arguments.all else (_LISTED_WITH_NAMES, limit)
            page = await self._of_question(arguments.query, view, most, room, shape, call)
        else:
            most, room = (_MOST_LISTED, min(limit, _MOST_BYTES)) if arguments.all else (self._listed, limit)
            values, (labels, nameless, missing) = await self._beside(view, most, call)
            page = self._fitting(partial(self._page, view, values, missing, labels, nameless), most, room, shape)
            if values is None and view.fault is None:
                page.warnings.append(VALUES_UNREAD)
            page.warnings += await about_axioms(self._store, view, self._prefixes, call)
        limit_page(page, limit, shape)
        return page

    async def _of_question(
        self, question: str, view: SchemaView, most: int, limit: int, shape: Shape, call: Call
    ) -> SchemaPage:
        """Return the types and predicates that fit a question, as many as fit into so many bytes."""
        values = await self._shapes.values(view, call)
        named = await self._shapes.named_values(view, call)
        found = await fitting(question, view, values, named, call)
        near = "" if self._terms is None else await self._terms.near_to(question, view, call)
        labels = await self._labels(
            [term.iri for term in found.types[:most]], [term.iri for term in found.predicates[:most]], call
        )
        missing = await self._imports.missing(view, call)
        if near:
            found = replace(found, warnings=(*found.warnings, near))
        page_with = partial(self._page, view, values, missing, labels, None, fit=found)
        page = self._fitting(page_with, most, limit, shape)
        if values is None:
            page.warnings.append(VALUES_UNREAD)
        return page

    async def _beside(self, view: SchemaView, most: int, call: Call) -> tuple[Values | None, _Others]:
        """Return what the answer says beside the schema: predicates of values, and labels, nameless nodes and imports.

        Values may take a part of the time alone, so where both are read at once, they have a part of the call.
        """
        if view.fault is not None:
            return None, await self._others(view, most, call)
        if not asks_ahead(self._profile):
            return await self._shapes.values(view, call), await self._others(view, most, call)
        with call.part(requests=call.requests // 2, rows=call.rows // 2) as part:
            async with together() as tasks:
                values = tasks.create_task(self._shapes.values(view, part))
                others = await self._others(view, most, call)
        return values.result(), others

    async def _others(self, view: SchemaView, most: int, call: Call) -> _Others:
        types = [term.iri for term in view.schema.types[:most]]
        labels = await self._labels(types, [term.iri for term in view.schema.predicates[:most]], call)
        nameless = await self._nameless(view, call)
        return labels, nameless, () if view.fault is not None else await self._imports.missing(view, call)

    async def _labels(self, types: Sequence[Iri], predicates: Sequence[Iri], call: Call) -> Mapping[Iri, str]:
        """Return the labels of types and predicates in the language that a call asks for."""
        if not (call.language and self._profile.names.on_stubs):
            return {}
        with call.tally.stage("facts"):
            facts = await self._store.nodes(types, call, names=True) if types else {}
            facts = {**facts, **(await self._store.predicates(predicates, call) if predicates else {})}
        return {iri: fact.name for iri, fact in facts.items() if fact.name}

    async def _nameless(self, view: SchemaView, call: Call) -> NamelessNodes | None:
        """Return how many nodes have no name, which is counted once; None where an API knows the names."""
        if view.fault is not None or self._profile.search.api:
            return None
        with call.tally.stage("search"):
            return await self._store.nameless(view.schema, call)

    async def _of_types(
        self, names: Sequence[str], view: SchemaView, limit: int, shape: Shape, call: Call
    ) -> SchemaPage:
        """Return the shapes of some types, with as many predicates of each as fit into so many bytes."""
        chosen = view.types.choose("node_types", names, leaves_out=True)
        warnings = list(chosen.warnings)
        types = sorted(filter(is_iri, chosen.iris), key=self._prefixes.declared_form)
        if len(types) < len(chosen.iris):
            warnings.append(NO_SHAPE)
        if len(types) > _MOST_SHAPES:
            warnings.append(too_many_shapes(_MOST_SHAPES, len(types)))
        if doubt := doubt_of(self._profile):
            warnings.append(messages.values_may_be_missing(doubt))
        found, unread = await self._shapes.shapes(types[:_MOST_SHAPES], view, call) if types else ([], [])
        labels = {**view.labels, **await self._labels([one.shape.iri for one in found], (), call)}
        writer = ShapeWriter(view.chooser, self._prefixes)
        shapes = [writer.shape(one) for one in found]

        def page_with(count: int, /, *, is_whole: bool) -> SchemaPage:
            del is_whole  # it has the prefixes of its IDs alone
            return self._shapes_page(view, labels, found, shapes, count, [*warnings, *unread])

        return self._fitting(page_with, max((one.total for one in shapes), default=0), limit, shape)

    def _shapes_page(
        self,
        view: SchemaView,
        known_labels: Mapping[Iri, str],
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
            known = {**known_labels, **one.labels}
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
            next_steps=SHAPES_READ,
            usage_notes="",
            shapes=listed,
            warnings=list(warnings),
            labels=dict(sorted(labels.items())) if self._profile.names.on_stubs else {},
            coined=self._prefixes.coined_in_answer,
        )

    @property
    def _listed(self) -> int:
        """How many types and predicates are listed, unless all are asked for."""
        return _LISTED_WITH_NAMES if self._profile.names.on_stubs else _LISTED

    def latest(self) -> SchemaPage | None:
        """Return the latest schema without asking the graph; None before it was read."""
        view = self._schema_cache.latest
        if view is None or view.fault is not None:
            return None
        missing = self._imports.known(view)
        page_with = partial(self._page, view, self._shapes.known_values(view), missing, {}, None)
        with self._prefixes.one_answer():
            return self._fitting(page_with, self._listed, max_bytes(self._profile.size, None, explain=False), REFERENCE)

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

    def _page(
        self,
        view: SchemaView,
        values: Values | None,
        missing: Sequence[Iri] | Unread,
        in_language: Mapping[Iri, str],
        nameless: NamelessNodes | None,
        count: int,
        *,
        is_whole: bool,
        fit: Fitting | None = None,
    ) -> SchemaPage:
        """Return the page with at most so many types and as many predicates, and, if it is whole, all prefixes.

        `missing` are imports that are not in the graph, or why that could not be found out. `fit` is what alone is
        listed, where a question asks for it.
        """
        schema, shorten = view.schema, self._prefixes.shorten
        writer = ShapeWriter(view.chooser, self._prefixes)
        most_values = count if count > _LISTED else min(count, _VALUES)
        with_values: Sequence[ValuePredicate] = () if values is None else values.found.shown[:most_values]
        types: Sequence[Term] = schema.types[:count]
        predicates: Sequence[Term] = schema.predicates[:count]
        if fit is not None:
            types, predicates, with_values = fit.types[:count], fit.predicates[:count], fit.values[:count]
        listed = [*types, *predicates]
        ids = [shorten(term.iri) for term in listed]
        warnings = [] if view.comprehensive else [not_all_listed(_reason(schema), self._schema_cache.is_reading)]
        warnings += self._about_imports(missing)
        if self._profile.evidence.ways == "refused":
            warnings.append(messages.EVIDENCE_REFUSED)
        if any(is_reached_by(term.iri) for term in types):
            warnings.append(TYPES_OF_BLANK_NODES)
        if schema_terms := [one.iri for one in types if one.iri in SCHEMA_TERM_CLASSES]:
            named = ", ".join(map(self._id, schema_terms[:_MOST_NAMED]))
            if len(schema_terms) < len(schema.types):
                warnings.append(types_of_schema_terms(named))
        if share := schema.blank_share:
            named = ", ".join(map(self._id, share.types[:_MOST_NAMED]))
            warnings.append(share_of_blank_nodes(share.edges, share.of, named))
        totals = {"entity_types": len(schema.types), "predicates": len(schema.predicates)}
        if fit is not None:
            warnings += fit.warnings
            totals = {"entity_types": len(fit.types), "predicates": len(fit.predicates), "values": len(fit.values)}
        if left_out := {name: total for name, total in totals.items() if total > count}:
            say_cut = lists_cut if fit is None else best_listed
            warnings.append(say_cut(left_out, count, can_have_more=is_whole and count < _MOST_LISTED))
        labels_of = {term.iri: in_language.get(term.iri) or term.label for term in listed}
        labelled = {iri: cut(label, LONGEST_LABEL) for iri, label in labels_of.items() if label}
        if values is not None:
            shown = {one.iri for one in with_values}
            labelled |= {iri: cut(label, LONGEST_LABEL) for iri, label in values.labels.items() if iri in shown}
        labels = {shorten(iri): labelled[iri] for iri in sorted(labelled, key=self._prefixes.declared_form)}
        return SchemaPage(
            description=self._description(schema),
            # That a name does not fit says nothing of what its term means.
            complete=view.comprehensive and not missing and fit is None,
            types=ids[: len(types)],
            predicates=ids[len(types) :],
            types_total=len(schema.types),
            predicates_total=len(schema.predicates),
            counts={shorten(term.iri): term.count for term in listed if term.count is not None},
            names=None if schema.names is None else [shorten(iri) for iri in schema.names],
            basis=schema.basis,
            prefixes=self._listed_prefixes([*ids, *(shorten(one.iri) for one in with_values)], is_whole=is_whole),
            version=schema.version,
            next_steps=self._next_steps(view, nameless, labels_of, has_all=not left_out)
            if fit is None
            else TERMS_FOUND,
            values=None if values is None else [writer.value_predicate(one, values.found) for one in with_values],
            values_total=0 if values is None else len(values.found.shown),
            warnings=warnings,
            labels=labels if self._profile.names.on_stubs else {},
            coined=self._prefixes.coined_in_answer,
        )

    def _listed_prefixes(self, ids: Sequence[str], *, is_whole: bool) -> Mapping[str, str]:
        """Return all prefixes; where not all fit, those of the IDs; where IDs are opaque, of these what few know."""
        if not self._profile.names.on_stubs:
            return self._prefixes.declared if is_whole else self._prefixes.used_by(ids)
        used = self._prefixes.used_by(ids)
        return {name: namespace for name, namespace in used.items() if WELL_KNOWN.get(name) != namespace}

    def _description(self, schema: Schema) -> str:
        """Return what the graph is about: the operator's words, or figures and plain CURIEs.

        It is among the instructions of the server, so no text of the graph stands in it: no label, and no ID that reads
        as text.
        """
        if self._profile.description:
            return self._profile.description
        if not schema.types and not schema.predicates:
            return UNKNOWN_GRAPH
        # An opaque ID says nothing without its label, which stands beside it in the list.
        listed = () if self._profile.names.on_stubs else schema.types[:_MOST_COMPARED]
        shown = ((term, self._prefixes.shorten(term.iri)) for term in listed)
        plain = (
            f"{term.count:,} {short}" if term.count is not None else short
            for term, short in shown
            if self._prefixes.is_plain_curie(short)
        )
        edges = sum(term.count or 0 for term in schema.predicates) if schema.exact else None
        is_vocabulary = bool(schema.types) and all(term.iri in SCHEMA_TERM_CLASSES for term in schema.types)
        kind = "ontology or vocabulary" if is_vocabulary else "RDF graph"
        text = graph_description(kind, edges, schema.blank.edges, ", ".join(islice(plain, _MOST_DESCRIBED)))
        # It is not known how large what was not read is.
        is_in_part = isinstance(self._profile.files, PartlyRead)
        return text.replace(f"A large {kind}", f"An {kind} that was read in part", 1) if is_in_part else text

    def _next_steps(
        self, view: SchemaView, nameless: NamelessNodes | None, labels: Mapping[Iri, str], *, has_all: bool
    ) -> str:
        """Return the advice for this graph: the operator's own words first."""
        schema, world = view.schema, OPEN_WORLD
        if view.comprehensive:
            world = CLOSED_WORLD if has_all else CLOSED_WORLD_IN_PART
        own = self._profile.next_steps
        names = (self._about_names(schema), messages.about_nameless_nodes(nameless))
        parts = (own, world, *names, self._about_evidence(schema), self._about_floods(schema, labels))
        return " ".join(part for part in (*parts, self._about_hubs(schema, labels)) if part)

    def _about_imports(self, missing: Sequence[Iri] | Unread) -> list[str]:
        if isinstance(missing, Unread):
            return [IMPORTED_WITHOUT_IRI if missing is Unread.WITHOUT_IRI else IMPORTS_UNREAD]
        return [imports_missing(len(missing), self._prefixes.listed(missing))] if missing else []

    def _about_names(self, schema: Schema) -> str:
        if self._profile.search.api:
            return SEARCH_BY_API
        joined = joined_names(", ".join(map(self._id, schema.name_parts[:_NAME_PARTS]))) if schema.name_parts else ""
        if schema.names:
            return f"{names_compared(', '.join(map(self._id, schema.names[:_MOST_NAMED])))} {joined}".rstrip()
        return joined if joined or schema.names is None else NO_NAMES

    def _about_evidence(self, schema: Schema) -> str:
        listed = ", ".join(map(self._id, schema.annotations[:_MOST_ANNOTATIONS]))
        return evidence_of_edges(listed, len(schema.annotations) - _MOST_ANNOTATIONS) if listed else ""

    def _about_floods(self, schema: Schema, labels: Mapping[Iri, str]) -> str:
        """Say which type most nodes have, where that is known, since it fills every answer."""
        total = sum(term.count or 0 for term in schema.types)
        if not schema.exact or len(schema.types) < 3 or not total:  # noqa: PLR2004 - of two types, neither floods
            return ""
        first = schema.types[0]
        share = (first.count or 0) / total
        return "" if share < _FLOODS else flooding_type(round(100 * share), self._shown(first.iri, schema, labels))

    def _about_hubs(self, schema: Schema, labels: Mapping[Iri, str]) -> str:
        named = ", ".join(self._shown(iri, schema, labels) for iri in schema.hubs[:_MOST_NAMED])
        return hub_types(named, self._profile.hubs.max_degree) if named else ""

    def _shown(self, iri: Iri, schema: Schema, labels: Mapping[Iri, str]) -> str:
        """Return the ID of a type, with its label, quoted and bounded, where the ID does not say it."""
        short = self._id(iri)
        label = labels.get(iri) or next((term.label for term in schema.types if term.iri == iri), "")
        return f"{short} (label: {quoted(label)})" if label and fold(local_name(iri)) != fold(label) else short

    def _id(self, iri: Iri) -> str:
        """Return an ID as advice may name it: quoted and cut where it may read as text."""
        short = self._prefixes.shorten(iri)
        return short if self._prefixes.is_plain_curie(short) else quoted(short)


def _reason(schema: Schema) -> str:
    """Return why the lists of a schema are not all."""
    blank = schema.blank
    uncounted = blank_nodes_uncounted(blank.edges, sum(blank.types.values())) if blank else ""
    return "; ".join(filter(None, [schema.reason, uncounted]))


# --- sentences that a model reads ---

TYPES_OF_BLANK_NODES = (
    "A type in parentheses is that of nodes without a type and without an IRI: the predicate that leads to them."
)
CLOSED_WORLD = "The lists of entity_types and predicates are complete: filters take these values."
CLOSED_WORLD_IN_PART = (
    "All types and predicates are known, and the most frequent are listed: filters take these values, and those that "
    "describe_entity and bfs_query show."
)
OPEN_WORLD = (
    "The lists of entity_types and predicates are not complete: filters also take the predicates that describe_entity "
    "shows in edges, and the types of the nodes in answers."
)
SEARCH_BY_API = "search_entities asks the wiki of this graph: give the beginning of a name or alias, or an ID (Q42)."
NO_NAMES = (
    "No predicate of this graph was found to carry names: search_entities may find nothing; begin with IDs that you "
    "were given, or that bfs_query shows."
)
UNKNOWN_GRAPH = "An RDF graph whose types and predicates are not known."
VALUES_UNREAD = "The predicates of literals could not be read in time, so `values` is not here: ask again in a minute."
"""A warning: an answer about the schema does not say what values there are."""
SHAPES_READ = "Follow a predicate with bfs_query and only_predicates, with ^ before it where its edges come in."
"""Advice beside shapes."""
TERMS_FOUND = (
    "Follow a predicate with only_predicates; describe_schema with node_types shows what instances of a type have."
)
"""Advice beside what fits a question."""
NO_SHAPE = "node_types: nodes without a type have no shape."
"""A warning: the shape of `untyped` or `unknown` is asked for."""


def share_of_blank_nodes(edges: int, of: int, types: str) -> str:
    """Return how many of all edges have a blank node at an end, and which types most of these nodes have."""
    share = max(1, round(100 * edges / max(1, of)))
    most = f"; most of these are {types}" if types else ""
    return f"{share} % of the edges ({edges:,} of {of:,}) have a blank node at an end{most}."


def names_compared(predicates: str) -> str:
    """Return advice: what a search compares."""
    return f"search_entities compares names ({predicates}), not descriptions or other text."


def joined_names(predicates: str) -> str:
    """Return advice: which names are made of two."""
    return (
        f"A given and family name ({predicates}) make one name, which is shown where a node has no other; "
        "search_entities compares it where it compares all names."
    )


def evidence_of_edges(predicates: str, more: int) -> str:
    """Return advice: by which predicates something is stated about edges."""
    others = f" and {more:,} more" if more > 0 else ""
    return f"The evidence of edges, which bfs_query shows and no filter or condition reads, has {predicates}{others}."


def flooding_type(percent: int, shown: str) -> str:
    """Return advice: one type fills every answer."""
    return (
        f"{percent} % of the typed nodes are {shown}: where they are beside the point, leave them out with "
        "exclude_node_types, and of searches with node_types."
    )


def hub_types(shown: str, max_degree: int | None) -> str:
    """Return advice: nodes of these types have very many edges."""
    if max_degree is not None:
        return f"Nodes of {shown} can be hubs; those with more than {counted(max_degree, 'edge')} are not expanded."
    return f"Nodes of {shown} can be hubs, with very many edges: from 2 hops on, use max_degree=100."


def types_of_schema_terms(types: str) -> str:
    """Return a warning: types of schema terms are listed too."""
    return f"The last types are those of schema terms, such as classes and properties: {types}."


def graph_description(kind: str, edges: int | None, blank: int, types: str) -> str:
    """Return what a graph is about: its edges, where they were counted, and its most frequent types.

    Args:
        kind: What kind of graph it is.
        edges: How many there are.
        blank: How many more there would be if blank nodes were nodes.
        types: The types.
    """
    about = f" Its most frequent types: {types}." if types else ""
    if edges is None:
        return f"A large {kind}.{about}"
    more = f", and {blank:,} to or from blank nodes, which cannot be followed" if blank else ""
    return f"An {kind} of {counted(edges, 'edge')}{more}.{about}"


def blank_nodes_uncounted(edges: int, nodes: int) -> str:
    """Return why a schema is not all: so many edges and typed nodes are those of blank nodes."""
    return (
        f"blank nodes cannot be followed here: {counted(edges, 'edge')} to or from them, and {nodes:,} of them that "
        "have a type, are not counted, and types and predicates that only they have are not listed"
    )


def not_all_listed(reason: str, is_reading: bool) -> str:
    """Return a warning: the lists of types and predicates are not complete."""
    later = " All of it is being read in the background: ask again in a while." if is_reading else ""
    return f"The lists are not complete: {reason.rstrip('.')}.{later}"


def too_many_shapes(most: int, total: int) -> str:
    """Return a warning: more types were asked for than an answer has shapes of."""
    return f"node_types: shown are {most:,} of {counted(total, 'type')}; ask for the others in another call."


def lists_cut(totals: Mapping[str, int], count: int, *, can_have_more: bool) -> str:
    """Return a warning: lists have so many of the most frequent types or predicates, and how to see the others.

    Args:
        totals: How many there are, by the name of the list.
        count: How many each lists.
        can_have_more: Whether `all` would list more.
    """
    lists = ", ".join(f"the {count:,} most frequent of {total:,} {name}" for name, total in totals.items())
    more = " all=true lists up to 200 of each." if can_have_more else ""
    return f"Listed: {lists}.{more} Filters take the others too."
