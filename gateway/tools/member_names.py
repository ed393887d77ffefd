"""Reads the arguments about values: walks, conditions, columns and an order, as the graph knows their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import cast, get_args

from gateway import messages
from gateway.arguments import MemberArguments
from gateway.errors import EndpointFault, Fault, GatewayError, InputError, quoted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri
from gateway.graph.walks import LONGEST_WALK, NAMES, TYPES, Condition, Operator, Order, OtherWalk, Walk
from gateway.members.conditions import ConditionText, EndKind, read_conditions, resolved, written
from gateway.members.expression_notes import about_paths, says_edges_unseen
from gateway.members.figures import Figure, FigureKind, Grouping
from gateway.members.reading import NOTHING_ASKED, Column, MemberQuestion
from gateway.members.sides import WalkReader
from gateway.schema.cache import SchemaCache
from gateway.schema.view import SchemaView, TermLookup, called_so
from gateway.settings.profile import Profile
from gateway.terms.iri import EXPRESSION_PREDICATES, OWL, RDFS, SUBCLASS_OF, TEXT_PREDICATES, walk_iri
from gateway.terms.literals import language_order
from gateway.terms.names import fold
from gateway.terms.prefixes import PrefixMap
from gateway.tools.entity_names import EntityNames
from gateway.tools.local_names import other_properties
from gateway.tools.shapes import ShapeReader, ValueTerms

_OPERATORS = frozenset(get_args(Operator))


class StepNames:
    """What the names of predicates mean in walks: those of edges and those of literals.

    Args:
        edges: The predicates of edges.
        values: The predicates of literals.
        others: Predicates that are neither, and that answers show as metadata.
        prefixes: The prefixes of IDs.
        may_lead_further: Whether class expressions that the schema does not know may say edges of any predicate.
        used: Takes the names that are looked up.
        annotations: Predicates of what is stated about edges.
    """

    def __init__(
        self,
        edges: TermLookup,
        values: ValueTerms,
        others: Collection[Iri],
        prefixes: PrefixMap,
        *,
        may_lead_further: bool = False,
        used: set[str] | None = None,
        annotations: Sequence[Iri] = (),
    ) -> None:
        self._edges = edges
        self._annotations = annotations
        self._used = set() if used is None else used
        self._may_lead_further = may_lead_further
        self._others = frozenset(others)
        self._values = values.by_name
        self._fault = values.fault
        self._are_all = values.are_all
        self._with_lists = values.with_lists
        self._of_content = values.of_content
        self._prefixes = prefixes
        self._known: dict[str, frozenset[Iri]] = {}
        self._by_alias: dict[str, frozenset[Iri]] = {}

    def predicates(self, name: str) -> frozenset[Iri]:
        """Return the predicates that have a name, ID or label, or else an alias; those of an ID not listed too."""
        if name not in self._known:
            if _OPERATORS.isdisjoint(name.split()):
                bare = self._prefixes.without_name(name)
                found = self._edges.found(bare) | self._values.found(bare) or self._unlisted(bare)
            else:
                # What stands behind an ID is then the rest of a condition, and not its name.
                bare, found = name, self._edges.named(name) | self._values.named(name)
            if not found and (found := self._edges.aliased(bare) | self._values.aliased(bare)):
                self._by_alias[name] = frozenset(found)
            self._known[name] = frozenset(found)
            self._used.add(name)
        return self._known[name]

    def is_id(self, name: str) -> bool:
        """Return whether a name is an ID: its predicates are then one, and it is not known which the graph has."""
        bare = [self._prefixes.without_name(name)]
        return self.predicates(name) <= {*self._edges.as_iris(bare), *self._values.as_iris(bare)}

    def is_alias(self, name: str) -> bool:
        """Return whether a name is no more than an alias of its predicates."""
        return bool(self.predicates(name)) and name in self._by_alias

    def taken_by_alias(self, walks: Iterable[Walk]) -> Mapping[str, frozenset[Iri]]:
        """Return each alias that was taken for a predicate of some walks, with this.

        Raises:
            GatewayError: There is one, and names could not be read that would go before it.
        """
        used = {
            one for walk in walks for step in walk if not isinstance(step.predicates, str) for one in step.predicates
        }
        taken = {name: predicates for name, predicates in self._by_alias.items() if predicates <= used}
        if taken and (self._edges.unread is not None or self._fault is not None):
            raise self.unknown(next(iter(taken)))
        return taken

    @property
    def are_all(self) -> bool:
        """Whether all predicates of literals are known."""
        return self._are_all

    def shown_under(self, key: str, predicates: Iterable[Iri]) -> Sequence[Iri]:
        """Return those of some predicates of literals that a key of answers stands for, and the same word does not."""
        asked = [found for name, found in self._known.items() if fold(self._prefixes.without_name(name)) == key]
        meant = set(chain.from_iterable(asked))
        return [iri for iri in predicates if iri not in meant and self._values.has_any([iri])] if meant else []

    def _unlisted(self, name: str) -> frozenset[Iri]:
        """Return the IRI of an ID that is not listed; one with a slash is a walk, unless it is a whole IRI."""
        if "/" in name and "://" not in name and not name.startswith("<"):
            return frozenset()
        # Where all predicates are known, an ID that is not among them is misspelt.
        found = {*self._edges.iris_of([name]), *self._values.iris_of([name])}
        return frozenset(found) or frozenset(self._values.as_iris([name])) & self._others

    def unknown(self, name: str) -> GatewayError:
        """Return the error of a name that no predicate has, or of what could not be read, where one may have it."""
        if self._edges.unread is not None:
            return self._edges.unread
        if self._fault is not None:
            return values_unread(self._fault)
        if (iri := called_so(self._prefixes.without_name(name), self._annotations, self._prefixes)) is not None:
            return messages.of_evidence("", self._prefixes.in_prose(iri))
        near = self._edges.near(name), self._values.near(name)
        return messages.unknown_step(quoted(name), *near, are_all=self._are_all and self._edges.comprehensive)

    def listed(self, predicates: Sequence[Iri], most: int) -> str:
        """Return the IDs of the first predicates for a sentence, and the number of the others."""
        return self._prefixes.listed(predicates, most)

    def kind_of_ends(self, walk: Walk) -> EndKind:
        """Return where a walk ends; both, unless it is known of all predicates of its last step."""
        last = walk[-1]
        if isinstance(last.predicates, str):
            return "nodes" if last.predicates == "type" else "literals"
        if last.is_inverse:
            return "nodes"
        to_nodes = self._edges.has_any(last.predicates) or not self._others.isdisjoint(last.predicates)
        # What expressions say of one class alone is compared with nothing.
        to_literals = self._values.has_any([iri for iri in last.predicates if iri not in self._of_content])
        # A predicate that was not seen with an end of one kind may have such an end where not all was seen.
        if to_nodes and not to_literals and self._are_all:
            return "nodes"
        if (
            not to_literals
            or to_nodes
            or self._may_be_restricted(last.predicates)
            or not (self._edges.comprehensive and self._with_lists.isdisjoint(last.predicates))
        ):
            return "both"
        return "literals" if self._are_all else "literals and IDs"

    def leads_to_nodes(self, walk: Walk) -> bool:
        """Return whether a walk is known to end at nodes, and perhaps at literals too."""
        last = walk[-1]
        if isinstance(last.predicates, str):
            return False
        is_known = last.is_inverse or self._edges.has_any(last.predicates)
        return is_known or self._may_be_restricted(last.predicates)

    def unseen_ends(self, walk: Walk) -> Collection[Iri]:
        """Return the last predicates of a walk that may lead to nodes unseen, which known ones of texts do not."""
        last = walk[-1]
        if isinstance(last.predicates, str) or last.is_inverse or self._edges.comprehensive:
            return ()
        texts = {iri for iri in TEXT_PREDICATES.intersection(last.predicates) if self._values.has_any([iri])}
        return self._edges.unlisted(frozenset(last.predicates) - texts)

    def without_texts(self, walk: Walk) -> Collection[Iri]:
        """Return the usual predicates of texts in which a walk ends, if it is known that the graph has none of them."""
        last = walk[-1]
        if isinstance(last.predicates, str) or last.is_inverse or not self._are_all:
            return ()
        has_some = self._edges.has_any(last.predicates) or self._values.has_any(last.predicates)
        return () if has_some or not TEXT_PREDICATES.issuperset(last.predicates) else last.predicates

    def _may_be_restricted(self, predicates: Iterable[Iri]) -> bool:
        """Return whether edges of predicates may be those of expressions alone; expressions of texts are content."""
        return self._may_lead_further and not TEXT_PREDICATES.issuperset(predicates)


class MemberNames:
    """Reads what a call asks of the nodes that it finds."""

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        schema_cache: SchemaCache,
        shapes: ShapeReader,
    ) -> None:
        self._store = store
        self._schema_cache = schema_cache
        self._others = profile.edges.excluded
        self._languages = profile.names.languages
        self._keys = {"description": profile.roles.description, "synonyms": profile.roles.synonym}
        # Where blank nodes are none, no expression is read.
        self._sets = _SETS if profile.nodes.blank == "on" else frozenset()
        self._shapes = shapes
        self._prefixes = prefixes
        self._entities = EntityNames(store, prefixes)

    async def read(self, arguments: MemberArguments, known: SchemaView, call: Call) -> MemberQuestion:
        """Return what is asked, with names resolved.

        Raises:
            InputError: A name means nothing, or a condition is wrong.
            Fault: A name could not be looked up.
        """
        if not arguments.asks_for_members:
            return NOTHING_ASKED
        names: set[str] = set()
        # In a graph that is known whole, they are soon read, and tell a misspelt ID from others.
        values = await self._shapes.value_terms(known, call, only_known=not known.comprehensive)
        try:
            asked = await self._read(arguments, known, values, call, names)
        except GatewayError:
            # A name may be that of a predicate of literals, which are read when one is first named.
            values = await self._shapes.value_terms(known, call)
        else:
            # So may one that is an alias of an edge: a label goes before it.
            if not any(known.predicates.aliased(name) and not known.predicates.found(name) for name in names):
                return await self._with_others(asked, arguments, names, known, values, call)
            values = await self._shapes.value_terms(known, call)
        try:
            asked = await self._read(arguments, known, values, call, names)
        except GatewayError:
            others = await other_properties(names, known, self._store, call)
            if not others.iris and known.predicates.unread is None and known.types.unread is None:
                raise
        else:
            return await self._with_others(asked, arguments, names, known, values, call)
        if not others.iris:
            known = await self._schema_cache.view(call, unknown_term=True)
            values = await self._shapes.value_terms(known, call)
        asked = await self._read(arguments, known.with_predicates(others.iris), values, call)
        return asked.with_doubts(others.doubts)

    async def _with_others(
        self,
        asked: MemberQuestion,
        arguments: MemberArguments,
        names: Collection[str],
        known: SchemaView,
        values: ValueTerms,
        call: Call,
    ) -> MemberQuestion:
        """Return what is asked where names are those of properties too that the schema does not know."""
        others = await other_properties(names, known, self._store, call)
        if others.iris:
            asked = await self._read(arguments, known.with_predicates(others.iris), values, call)
        return asked.with_doubts(others.doubts)

    async def _read(
        self,
        arguments: MemberArguments,
        known: SchemaView,
        values: ValueTerms,
        call: Call,
        used: set[str] | None = None,
    ) -> MemberQuestion:
        may_lead_further = says_edges_unseen(self._store, known)
        names = StepNames(
            known.predicates,
            values,
            self._others,
            self._prefixes,
            may_lead_further=may_lead_further,
            used=used,
            annotations=known.schema.annotations,
        )
        reader = WalkReader(names, "where", union=True)
        read = read_conditions(arguments.where or (), reader)
        meant = await self._entities.meant(read, names, known, call)
        pairs = zip(read, meant, strict=True)
        conditions = [resolved(one, names.kind_of_ends(one.walk), entities.iris) for one, entities in pairs]
        grouping = self._grouping(arguments, names)
        order = None if grouping is not None else self._order(arguments.sort_by, names)
        columns = self._columns(arguments.values, names)
        if columns is None and order is not None:
            columns = () if order.walk == NAMES else (Column(self._title(order.walk), order.walk),)
        asked = MemberQuestion(tuple(conditions), (), columns, order, grouping)
        aliases = names.taken_by_alias(asked.walks)
        of_texts = zip(read, conditions, strict=True)
        said = [written(one, condition, self._prefixes.shorten) for one, condition in of_texts]
        return replace(
            asked,
            written=tuple(said),
            edges=arguments.edges,
            show="both" if arguments.show == "types" else arguments.show,
            warnings=(
                *self._warnings(read),
                *self._about_names(arguments, names),
                *self._about_absent(asked.walks, names),
                *(
                    messages.taken_by_alias("", quoted(name), "predicate", self._prefixes.listed(sorted(predicates)))
                    for name, predicates in aliases.items()
                ),
                *self._about_keys(names),
                *self._about_alike(conditions),
                *self._about_figures(conditions, grouping),
                *chain.from_iterable(one.warnings for one in meant),
                *self._about_denied(asked.walks, known),
            ),
            if_none=tuple(self._about_types(conditions, known)),
            doubts=tuple(
                dict.fromkeys(
                    chain(
                        *(one.doubts for one in meant),
                        self._about_sets(asked),
                        () if names.are_all else map(alias_in_doubt, map(quoted, aliases)),
                    )
                )
            ),
            languages=language_order(self._languages, call.language, known.schema.languages),
        )

    def _about_denied(self, walks: Iterable[Walk], known: SchemaView) -> Iterable[str]:
        """Return a warning of what class expressions deny or say of each other, which walks do not follow."""
        steps = (step for walk in walks for step in walk if not isinstance(step.predicates, str))
        predicates = chain.from_iterable(step.predicates for step in steps)
        are_unseen = says_edges_unseen(self._store, known)
        return about_paths(cast("Iterable[Iri]", predicates), known, self._prefixes, are_unseen=are_unseen)

    def _about_types(self, conditions: Sequence[Condition], known: SchemaView) -> Iterable[str]:
        """Yield a warning of a type that is compared with nodes, which are hardly ever the type itself."""
        equal = [one for one in conditions if one.operator in {"=", "in"} and one.walk != TYPES]
        compared = {iri: one.walk for one in equal for iri in one.nodes}
        types = [term.iri for term in known.schema.types if term.iri in compared] if compared else []
        if types:
            walk = compared[types[0]]
            condition = f"{self._title(walk)}/type = {self._prefixes.in_prose(types[0])}"
            yield type_compared(self._prefixes.listed(types), len(types), condition if len(walk) < LONGEST_WALK else "")

    def _about_sets(self, asked: MemberQuestion) -> Iterable[str]:
        """Yield doubts where what is asked about is read as edges of a class: its own sets, and class expressions."""
        walks = [one.walk for one in asked.conditions if one.operator not in {"exists", "missing"}]
        walks += [one.operand.walk for one in asked.conditions if isinstance(one.operand, OtherWalk)]
        walks += [] if asked.order is None else [asked.order.walk]
        walks += [] if asked.grouping is None else asked.grouping.walks
        steps = {step for walk in walks for step in walk if not isinstance(step.predicates, str)}
        sets = sorted({one for step in steps for one in step.predicates if one in self._sets})
        if sets:
            yield members_unread(self._prefixes.listed(sets))
        pairs = chain.from_iterable(map(pairwise, asked.walks if self._sets else ()))
        through = {
            one
            for axiom, said in pairs
            if not (axiom.is_inverse or said.is_inverse) and not _AXIOMS.isdisjoint(axiom.predicates)
            for one in EXPRESSION_PREDICATES.intersection(said.predicates)
        }
        if through:
            yield expressions_not_walked(self._prefixes.listed(sorted(through)))

    def _warnings(self, read: Iterable[ConditionText]) -> Iterable[str]:
        for one in read:
            for name, predicates in one.ambiguous:
                yield messages.several_meant("where", quoted(name), "predicate", self._prefixes.listed(predicates))
            if one.hides_predicate:
                yield reserved_word(quoted(one.left))

    def _about_names(self, arguments: MemberArguments, names: StepNames) -> Iterable[str]:
        """Yield a warning of groups and figures by a word that is the name of a predicate too."""
        by = (arguments.group_by or "").strip()
        figures = [
            found[2].strip(" ()") for one in arguments.compute or () if (found := _FIGURE.fullmatch(one.strip()))
        ]
        for argument, asked in (("group_by", [by]), ("compute", figures)):
            for word in dict.fromkeys(
                one for one in asked if one in _RESERVED and (argument, one) != ("compute", "type")
            ):
                if names.predicates(word):
                    yield reserved_word(quoted(word), argument)

    def _about_keys(self, names: StepNames) -> Iterable[str]:
        """Yield a warning of a word that answers use as a key for other predicates too."""
        for key, predicates in self._keys.items():
            if others := names.shown_under(key, predicates):
                yield key_of_others(key, self._prefixes.listed(others))

    def _about_absent(self, walks: Iterable[Walk], names: StepNames) -> Iterable[str]:
        """Yield a warning of usual predicates of names and texts that the graph does not have."""
        absent = set(chain.from_iterable(names.without_texts(walk) for walk in walks))
        if absent:
            yield no_such_texts(self._prefixes.listed(sorted(absent)))

    def _about_alike(self, conditions: Sequence[Condition]) -> Iterable[str]:
        """Yield a warning of conditions on walks of several steps that begin alike and go on to different ends."""
        walks = {one.walk for one in conditions if len(one.walk) > 1}
        for step, count in Counter(walk[0] for walk in walks).items():
            if count > 1 and not isinstance(step.predicates, str):
                listed = self._prefixes.listed(step.predicates)
                yield alike_walks(f"{'^' * step.is_inverse}{listed}")

    def _about_figures(self, conditions: Sequence[Condition], grouping: Grouping | None) -> Iterable[str]:
        """Yield a warning of figures whose walks begin like those of conditions: the values of both are not paired."""
        chosen = {one.walk[0] for one in conditions if len(one.walk) > 1}
        asked = [] if grouping is None else [walk for walk in grouping.walks if len(walk) > 1]
        for step in dict.fromkeys(walk[0] for walk in asked if walk[0] in chosen):
            if not isinstance(step.predicates, str):
                yield unpaired_figures(f"{'^' * step.is_inverse}{self._prefixes.listed(step.predicates)}")

    def _columns(self, texts: Sequence[str] | None, names: StepNames) -> tuple[Column, ...] | None:
        if texts is None:
            return None
        reader = WalkReader(names, "values", union=False)
        columns = [self._column(text, reader) for text in dict.fromkeys(texts)]
        return tuple(columns)

    def _column(self, text: str, reader: WalkReader) -> Column:
        if text in _RESERVED:
            return Column(text, _RESERVED[text])
        walk = reader.required(text).walk
        return Column(self._title(walk), walk)

    def _title(self, walk: Walk) -> str:
        steps = [(step.predicates[0], step.is_inverse) for step in walk if not isinstance(step.predicates, str)]
        words = [step.predicates for step in walk if isinstance(step.predicates, str)]
        if len(steps) > 1:
            return "/".join([self._prefixes.shorten(walk_iri(steps)), *words])
        ((predicate, is_inverse),) = steps
        return "/".join([f"{'^' * is_inverse}{self._prefixes.shorten(predicate)}", *words])

    def _order(self, text: str | None, names: StepNames) -> Order | None:
        if text is None:
            return None
        reader = WalkReader(names, "sort_by", union=False)
        bare = text.strip()
        descending = bare.startswith("-")
        bare = bare.removeprefix("-").strip()
        return Order(NAMES if bare == "name" else reader.required(bare).walk, descending)

    def _grouping(self, arguments: MemberArguments, names: StepNames) -> Grouping | None:
        if arguments.group_by is None and arguments.compute is None:
            return None
        if arguments.values:
            raise columns_of_groups()
        by, title = None, ""
        if arguments.group_by is not None:
            bare = arguments.group_by.strip()
            by = _RESERVED.get(bare) or WalkReader(names, "group_by", union=False).required(bare).walk
            title = bare if bare in _RESERVED else self._title(by)
        reader = WalkReader(names, "compute", union=False)
        figures = dict.fromkeys(self._figure(text, reader) for text in arguments.compute or ["count"])
        grouping = Grouping(by, title, tuple(figures))
        return grouping if arguments.sort_by is None else self._sorted(grouping, arguments.sort_by, arguments, reader)

    def _sorted(self, grouping: Grouping, text: str, arguments: MemberArguments, reader: WalkReader) -> Grouping:
        """Return groups in the order of one of their columns, which is named as it was asked for, or as it is titled.

        Raises:
            InputError: No column is called so.
        """
        bare = text.strip()
        descending = bare.startswith("-")
        bare = bare.removeprefix("-").strip()
        if arguments.group_by is not None and bare in {grouping.title, arguments.group_by.strip()}:
            return replace(grouping, place=None, descending=descending)
        figure = self._figure(bare, reader) if _FIGURE.fullmatch(bare) else None
        if figure not in grouping.figures:
            titles = [*([grouping.title] if grouping.by is not None else []), *(one.title for one in grouping.figures)]
            raise InputError(
                f"sort_by: {quoted(bare)} is no column of the groups.",
                valid=f"One of {', '.join(map(quoted, titles))}.",
            )
        return replace(grouping, place=grouping.figures.index(figure), descending=descending)

    def _figure(self, text: str, reader: WalkReader) -> Figure:
        found = _FIGURE.fullmatch(text.strip())
        if found is None:
            raise no_figure(quoted(text))
        kind, rest = cast("FigureKind", found[1].lower()), found[2].strip()
        if rest.startswith("(") and rest.endswith(")"):
            rest = rest[1:-1].strip()
        if kind == "count":
            if rest not in {"", "*"}:
                raise count_of_walk(quoted(rest))
            return Figure(kind, None, kind)
        if not rest:
            raise no_figure(quoted(text))
        if rest == "name":
            return Figure(kind, NAMES, f"{kind} {rest}")
        walk = reader.required(rest).walk
        return Figure(kind, walk, f"{kind} {self._title(walk)}")


_SETS = frozenset({f"{OWL}unionOf", f"{OWL}intersectionOf"})
"""Predicates of which the lists are read as edges of the classes in them."""

_AXIOMS = frozenset({SUBCLASS_OF, f"{OWL}equivalentClass", f"{RDFS}domain", f"{RDFS}range"})
"""Predicates from a class or a property to class expressions, which are read as edges."""

_RESERVED: Mapping[str, Walk] = {"name": NAMES, "type": TYPES}

_FIGURE = re.compile(rf"({'|'.join(get_args(FigureKind))})\b(.*)", re.DOTALL | re.IGNORECASE)


# --- sentences that a model reads ---


def values_unread(fault: Fault) -> Fault:
    """Return the fault of a name that may be that of a predicate of values, which could not be read."""
    kind = EndpointFault if isinstance(fault, EndpointFault) else Fault
    return kind(
        f"The predicates of values could not all be read, so not every name can be looked up: {fault.wrong}",
        valid=fault.valid,
        next_step=fault.next_step or "Try again, or write IDs.",
    )


def alias_in_doubt(name: str) -> str:
    """Return a doubt: a name that was taken for an alias may be that of a predicate of values."""
    return (
        f"Not all predicates of values are known, so {name}, which was taken by an alias, may be the name of another. "
        "Its ID says which one is meant."
    )


def members_unread(predicates: str) -> str:
    """Return a doubt: what stands in the lists of some predicates is read as edges between classes."""
    return (
        f"What classes are in the lists of {predicates} is not compared: it is read as edges of the classes, mostly "
        f"rdfs:subClassOf, which bfs_query shows."
    )


def expressions_not_walked(predicates: str) -> str:
    """Return a doubt: a walk leads over class expressions, which are no nodes."""
    return (
        f"What class expressions say by {predicates} is read as edges of the classes that have them, which bfs_query "
        "shows, so walks over expressions find none of it."
    )


def columns_of_groups() -> InputError:
    """Return the error of a call that asks for columns of nodes and for groups in their place."""
    return InputError(
        "values: columns are of nodes, in whose place group_by and compute show groups.",
        valid="Leave out values, or group_by and compute.",
    )


_FIGURE_FORM = "count alone, or sum, avg, min, max or distinct with a walk behind it: avg pv:price/pv:amount."


def no_figure(text: str) -> InputError:
    """Return the error of a text that is no figure."""
    return InputError(f"compute: {text} is no figure.", valid=_FIGURE_FORM)


def count_of_walk(walk: str) -> InputError:
    """Return the error of a count with a walk: it may mean nodes, or values."""
    return InputError(
        f"compute: count is of nodes, and {walk} stands behind it.",
        valid="Write count alone, or distinct and the walk for how many different values there are.",
        next_step="For nodes that have a value, add a condition: where: the walk, and exists.",
    )


def no_such_texts(predicates: str) -> str:
    """Return a warning of usual predicates of texts that were asked for, and that the graph does not have."""
    return (
        f"This graph has no texts by {predicates}, so no node has one. `name` stands for the name of a node, whatever "
        "its predicate; describe_schema lists the predicates of values."
    )


def alike_walks(step: str) -> str:
    """Return a warning: conditions are about nodes on the way that need not be the same."""
    return (
        f"where: walks that begin with {step} need not lead over the same node. For one that fulfils all, ask for the "
        f"nodes on the way (node_types: theirs, or untyped), and walk back from these."
    )


def unpaired_figures(step: str) -> str:
    """Return a warning: figures are not only about the nodes on the way that fulfil conditions."""
    return (
        f"compute: figures and groups are about all values of a node behind {step}, not only those that fulfil where. "
        f"For these alone, ask for the nodes on the way (node_types: theirs, or untyped) with where, and walk back."
    )


def type_compared(types: str, count: int, condition: str) -> str:
    """Return a warning: conditions compare with types themselves, and nothing fulfils them."""
    are = "is a type" if count == 1 else "are types"
    advice = f" For nodes of the type, write {quoted(condition)}." if condition else ""
    return f"where: {types} {are}, and nodes are compared with the type itself.{advice}"


def key_of_others(key: str, predicates: str) -> str:
    """Return a warning: what answers show under a key is not what the same word asks about."""
    return f"{quoted(key)} is here the predicate of this name; answers show {predicates} under it too: ask by ID."


def reserved_word(name: str, argument: str = "where") -> str:
    """Return a warning: a word of an argument is the name of a predicate too."""
    return f"{argument}: {name} is not the predicate of this name; for that, write its ID."
