"""Answers `search_entities` about sets: entities of some types, or those that a query finds, by their values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway.answers.page import MemberHeader, PageNode, SearchPage
from gateway.answers.rows import MOST_GROUPS, RowWriter, fit_groups, titles
from gateway.answers.shape import Shape
from gateway.answers.size import limit_page, max_bytes
from gateway.arguments import SearchEntities
from gateway.errors import AnswerCut, BudgetSpent
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.graph.walks import Condition, FigureUnproven, Order, Selected, Selection
from gateway.members.expression_notes import may_have_expressions, steps_that_may_not_hold
from gateway.members.figures import Grouped
from gateway.members.ordering import Ordered, place_of
from gateway.members.reading import (
    ORDER_UNSURE,
    Chosen,
    MemberQuestion,
    MemberReader,
    about_values,
    each_alone,
    no_nodes,
)
from gateway.schema.types import UNTYPED
from gateway.schema.view import SchemaView
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap

_USUAL = 10
"""Entities on a page unless the caller says how many."""


@dataclass(frozen=True, slots=True)
class EntitySet:
    """Entities that fulfil conditions.

    Attributes:
        nodes: The entities, in order.
        mark: Whether these are all, in this order.
        order: By what they are ordered; None for their IDs, or for how well their names fit.
        warnings: What a reader should know about their values.
        total: How many there are, where these are the first; None where these are all that were found.
        blank: Whether blank nodes, which cannot be listed, may belong to them; None where that is not known.
        grouped: The groups in their place; None where none were asked for.
    """

    nodes: Sequence[Iri]
    mark: Mark = WHOLE
    order: Ordered | None = None
    warnings: list[str] = field(default_factory=list)
    total: int | None = None
    blank: bool | None = None
    grouped: Grouped | None = None

    @property
    def count(self) -> int:
        """How many entities there are."""
        return len(self.nodes) if self.total is None else self.total


class EntitySets:
    """Finds entities of one graph by their values."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._reader = MemberReader(store)
        self._rows = RowWriter(store, profile.size, prefixes)

    async def of_types(
        self, types: Collection[str], asked: MemberQuestion, limit: int, known: SchemaView, call: Call
    ) -> EntitySet:
        """Return the entities of some types that fulfil conditions.

        Args:
            types: The types, and the word for none.
            asked: The conditions, and the order.
            limit: How many of the first are shown.
            known: The schema.
            call: The call that asks.

        Raises:
            Fault: The graph could not be asked.
        """
        # How expressions say what a figure is about, its nodes tell.
        may_be_aggregated = asked.grouping is not None and types and UNTYPED not in types and not asked.conditions
        may_be_aggregated = may_be_aggregated and not (asked.follows and await self._may_be_open(known, call))
        if asked.grouping is not None and may_be_aggregated:
            computed = await self._reader.aggregated(types, asked.grouping, call)
            if computed is not None:
                grouped, count = computed
                return EntitySet((), total=count, blank=False, grouped=grouped)
        with call.tally.stage("search"):
            found = await self._selected(types, asked.conditions, call, asked.order, limit)
        chosen = await self.under(sorted(found.nodes, key=place_of), asked, call, found.mark)
        if asked.grouping is not None and isinstance(found.mark.fault, AnswerCut | BudgetSpent):
            unproven = FigureUnproven()
            chosen = replace(chosen, mark=Mark(unproven), warnings=[*chosen.warnings, str(unproven)])
        chosen = replace(chosen, total=found.total, blank=found.blank)
        if not chosen.nodes and len(asked.conditions) > 1:
            chosen.warnings.append(await self._each_alone(types, asked, call))
        return chosen

    async def _may_be_open(self, known: SchemaView, call: Call) -> bool:
        return await may_have_expressions(self._store, known, call)

    async def _selected(
        self,
        types: Collection[str],
        conditions: tuple[Condition, ...],
        call: Call,
        order: Order | None = None,
        limit: int = 0,
    ) -> Selected:
        """Return the entities that may fulfil conditions: where the store can tell, the first in an order."""
        if UNTYPED in types:
            # The first of two sets are not the first of both.
            limit = 0
        asked = [tuple(sorted(iri for iri in types if iri != UNTYPED)), *([()] if UNTYPED in types else [])]
        found = [
            await self._store.select(Selection(iris, conditions, order, limit), call)
            for iris in (asked if asked[0] else asked[1:])
        ]
        if len(found) == 1:
            return found[0]
        nodes = tuple(dict.fromkeys(node for one in found for node in one.nodes))
        return Selected(nodes, next((one.mark for one in found if not one.mark.whole), WHOLE))

    async def _each_alone(self, types: Collection[str], asked: MemberQuestion, call: Call) -> str:
        """Return how many entities of some types each condition alone lets through, where all together let none."""
        counts = []
        for condition in asked.conditions:
            found = await self._selected(types, (condition,), call)
            chosen = await self._reader.chosen(found.nodes, [condition], call)
            counts.append((len(chosen.nodes), found.mark.whole and not chosen.unsure))
        return each_alone(asked.written, counts)

    async def under(self, nodes: Sequence[Iri], asked: MemberQuestion, call: Call, mark: Mark = WHOLE) -> EntitySet:
        """Return those of some entities that fulfil conditions, in their order or that of the question.

        Args:
            nodes: The entities.
            asked: The conditions, and the order.
            call: The call that asks.
            mark: Whether all entities that are meant are among them.
        """
        chosen = await self._reader.chosen(nodes, asked.conditions, call)
        warnings = [*about_values(asked.written, chosen)]
        if not chosen.nodes:
            warnings += asked.if_none
            if absent := await self._reader.absent(asked.conditions, call):
                warnings.append(no_nodes(self._prefixes.listed(absent), len(absent)))
        doubt = mark if not mark.whole else _doubt(chosen)
        if asked.grouping is not None:
            found = Grouped(mark=doubt)
            if doubt.whole:
                found = await self._reader.grouped(chosen.nodes, asked.grouping, asked.languages, call)
            warnings += found.warnings
            return EntitySet(chosen.nodes, found.mark, warnings=warnings, grouped=found)
        if asked.order is None or not chosen.nodes:
            return EntitySet(chosen.nodes, doubt, warnings=warnings)
        order = await self._reader.ordered(chosen.nodes, asked.order, asked.languages, call)
        warnings += order.warnings
        if order.unsure:
            warnings.append(ORDER_UNSURE)
        return EntitySet(order.nodes, order.mark if doubt.whole else doubt, order, warnings)

    async def add_rows(
        self,
        page: SearchPage,
        found: EntitySet,
        asked: MemberQuestion,
        arguments: SearchEntities,
        shape: Shape,
        known: SchemaView,
        call: Call,
    ) -> None:
        """Add to a page, which says what holds of a whole set, the rows that its arguments ask for."""
        if asked.follows and await self._may_be_open(known, call):
            first = 0 if found.grouped is not None else arguments.offset
            end = len(found.nodes) if found.grouped is not None else first + (arguments.limit or _USUAL)
            page.warnings += await steps_that_may_not_hold(
                self._store, self._prefixes, found.nodes[first:end], asked.walks, call
            )
        if found.grouped is not None:
            await self._add_groups(page, found, found.grouped, asked, arguments, shape, call)
            return
        limit, offset = arguments.limit or _USUAL, arguments.offset
        iris = found.nodes[offset : offset + limit]
        page.members = members = MemberHeader(asked.written, titles(asked), found.count)
        rows = [PageNode(iri, self._prefixes.shorten(iri), "") for iri in iris]
        page.warnings += await self._rows.add_to(rows, asked, members, call)
        most = max_bytes(self._profile.size, None, explain=arguments.explain)
        page.rows = rows
        self._cut(page, found, offset, len(rows))
        while len(page.rows) > 1 and shape.size_of_part(page) > most:
            self._cut(page, found, offset, len(page.rows) * 3 // 4)
        limit_page(page, most, shape)

    async def _add_groups(
        self,
        page: SearchPage,
        found: EntitySet,
        grouped: Grouped,
        asked: MemberQuestion,
        arguments: SearchEntities,
        shape: Shape,
        call: Call,
    ) -> None:
        page.members = MemberHeader(asked.written, None, found.count, is_grouped=True)
        most = max_bytes(self._profile.size, None, explain=arguments.explain)
        if grouped.mark.whole and grouped.is_shown:

            def is_too_large(next_offset: int | None) -> bool:
                page.next_offset = next_offset
                return shape.size_of_part(page) > most

            limit = arguments.limit or MOST_GROUPS
            await self._rows.add_groups(page.members, grouped, asked, arguments.offset, limit, call)
            fit_groups(page.members, grouped, arguments.offset, is_too_large)
        limit_page(page, most, shape)

    def _cut(self, page: SearchPage, found: EntitySet, offset: int, count: int) -> None:
        """Leave the first rows, and say what stands behind them."""
        page.rows = page.rows[:count]
        end = offset + count
        page.next_offset = end if end < found.count else None
        page.degraded.pop("values_shortened", None)
        if values_cut := sum(row.shortened for row in page.rows):
            page.degraded["values_shortened"] = values_cut
        if page.members is not None:
            page.members.tied = 0 if found.order is None else found.order.tied(end)


def _doubt(chosen: Chosen) -> Mark:
    marks: Mapping[Iri, Mark] = chosen.unsure
    return next(iter(marks.values()), WHOLE)
