"""What a call asks of the nodes that it finds, and its answer: values read, conditions decided, nodes put in order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal as Literal_

from gateway.errors import counted, quoted
from gateway.graph.call import Call, Deadline, together
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.store import GraphStore
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.graph.walks import (
    ANY_LITERAL,
    NAMES,
    NOTHING_AGGREGATED,
    TYPES,
    Aggregate,
    Aggregated,
    Condition,
    End,
    Ends,
    Order,
    OtherWalk,
    Walk,
    expressions_in,
    in_lists,
    list_members,
)
from gateway.members.deciding import Decider
from gateway.members.figures import Grouped, Grouping, WalkEnds, grouped, may_be_aggregated, of_aggregates
from gateway.members.ordering import Ordered, in_one_language, in_order, were
from gateway.terms.iri import ARRAY, ORDER, is_reached_by
from gateway.terms.literals import Literal

_LISTS = frozenset({ARRAY, ORDER})

Places = Mapping[End, int]
"""The places of ends in one list; of a list of nodes those of its first members are known."""


def _lists_in(ends: Ends) -> list[Literal]:
    return [end for end in ends.ends if isinstance(end, Literal) and end.datatype in _LISTS]


def _places_in(literal: Literal) -> Places:
    return {end: place for place, end in enumerate(dict.fromkeys(list_members(literal)))}


Show = Literal_["both", "id", "name"]
"""What stands for a node in rows: its ID and its name, or one of them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer.

    Attributes:
        title: What is asked for, with the IDs of its predicates.
        walk: The walk whose ends its cells show.
    """

    title: str
    walk: Walk


@dataclass(frozen=True, slots=True)
class MemberQuestion:
    """What a call asks of the nodes that it finds.

    Attributes:
        conditions: What must hold for them.
        written: What each condition was taken for.
        columns: What is shown of them; None for metadata.
        order: In which order they stand; None for that of the tool.
        grouping: What is computed over them, which then stands in their place; None for nothing.
        edges: Whether edges are shown.
        show: What stands for a node in rows.
        warnings: What a reader should know about the names used.
        if_none: What a reader should know where no node fulfils the conditions.
        doubts: What else the names used may mean, so that no answer to the question is complete.
        languages: The languages in which texts are shown, the best first.
    """

    conditions: tuple[Condition, ...] = ()
    written: tuple[str, ...] = ()
    columns: tuple[Column, ...] | None = None
    order: Order | None = None
    grouping: Grouping | None = None
    edges: bool = True
    show: Show = "both"
    warnings: tuple[str, ...] = ()
    if_none: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    def with_doubts(self, doubts: Iterable[str]) -> MemberQuestion:
        """Return it with further doubts."""
        return replace(self, doubts=tuple(dict.fromkeys([*self.doubts, *doubts])))

    @property
    def is_of_members(self) -> bool:
        """Whether the nodes that are asked about are told apart from others."""
        return bool(self.conditions) or any(asked is not None for asked in (self.order, self.columns, self.grouping))

    @property
    def reads_names(self) -> bool:
        """Whether the answer rests on the names of nodes."""
        return any(walk[-1].predicates == "name" for walk in self.walks)

    @property
    def walks(self) -> list[Walk]:
        """All walks that are followed."""
        walks = [*chain.from_iterable(map(_walks_of, self.conditions)), *(one.walk for one in self.columns or ())]
        walks += [] if self.order is None else [self.order.walk]
        walks += [] if self.grouping is None else self.grouping.walks
        return list(dict.fromkeys(walks))

    @property
    def follows(self) -> bool:
        """Whether edges are followed, or may be."""
        return any(not isinstance(step.predicates, str) for walk in self.walks for step in walk)

    @property
    def is_in_rows(self) -> bool:
        """Whether the nodes stand in rows."""
        return self.columns is not None


NOTHING_ASKED = MemberQuestion()
_NO_ENDS = Ends()

WalkPlaces = Mapping[Walk, Mapping[Iri, Places]]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What conditions leave of some nodes.

    Attributes:
        nodes: The nodes for which all conditions hold, in the order given.
        removed: How many there are for which one does not hold.
        unsure: Nodes of which it could not be decided, with the marks that say why.
        alone: For how many nodes each condition holds by itself.
        read_as_numbers: For each condition, how many texts were compared as the numbers that they read as.
        not_comparable: For each condition, how many values could not be compared, and fulfil nothing.
        without_value: For each condition with `!=`, how many nodes fail it alone, or with others of that kind, because
            they have no value.
        read_as_durations: For each condition, how many texts were compared as the durations that they read as.
    """

    nodes: tuple[Iri, ...]
    removed: int = 0
    unsure: Mapping[Iri, Mark] = field(default_factory=dict)
    alone: tuple[int, ...] = ()
    read_as_numbers: tuple[int, ...] = ()
    not_comparable: tuple[int, ...] = ()
    without_value: tuple[int, ...] = ()
    read_as_durations: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeNames:
    """The names of nodes.

    Attributes:
        found: Those of the nodes that have one.
        unread: The nodes whose names could not be read, with the marks that say why.
    """

    found: Mapping[Iri, str] = field(default_factory=dict)
    unread: Mapping[Iri, Mark] = field(default_factory=dict)


class MemberReader:
    """Reads where walks end that begin at nodes of one graph."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store

    async def ends(self, nodes: Sequence[Iri], walks: Iterable[Walk], call: Call) -> WalkEnds:
        """Return where each walk ends that begins at each node."""
        return _with_list_members(await self._with_lists(nodes, walks, call))

    async def absent(self, conditions: Iterable[Condition], call: Call) -> list[Iri]:
        """Return the nodes in conditions that the graph does not have, sorted: where nothing is left, they may be why.

        Raises:
            Fault: The graph could not be asked.
        """
        named = set(chain.from_iterable(one.nodes for one in conditions if one.walk != TYPES))
        # A type in parentheses is no node, but may be a value.
        nodes = sorted(iri for iri in named if not is_reached_by(iri))
        found = await self._store.existing(nodes, call) if nodes else {}
        return [iri for iri in nodes if found[iri].mark.whole and not found[iri].exists]

    async def ends_and_places(
        self, nodes: Sequence[Iri], walks: Iterable[Walk], call: Call
    ) -> tuple[WalkEnds, WalkPlaces]:
        """Return where each walk ends that begins at each node, and the places of ends in lists."""
        found = await self._with_lists(nodes, walks, call)
        places: dict[Walk, Mapping[Iri, Places]] = {}
        for walk, ends in found.items():
            has_lists = await self._store.may_have_lists(walk, call)
            places[walk] = await self._list_places(walk, ends, call) if has_lists else {}
        return _with_list_members(found), places

    async def _with_lists(
        self, nodes: Sequence[Iri], walks: Iterable[Walk], call: Call, of_ways: Collection[Walk] = ()
    ) -> WalkEnds:
        distinct = list(dict.fromkeys(walks))
        async with together() as tasks:
            readings = [tasks.create_task(self._of_walk(nodes, walk, call, ways=walk in of_ways)) for walk in distinct]
        return {walk: reading.result() for walk, reading in zip(distinct, readings, strict=True)}

    async def _list_places(self, walk: Walk, ends: Mapping[Iri, Ends], call: Call) -> Mapping[Iri, Places]:
        """Return the places of the ends of a walk from each node that leads to one list, or through one."""
        found: dict[Iri, Places] = {}
        others = []
        for node, one in ends.items():
            lists = _lists_in(one)
            if len(lists) == 1:
                found[node] = _places_in(lists[0])
            elif not lists and len(one.ends) > 1:
                others.append(node)
        if others and len(walk) > 1:
            found |= await self._places_through(others, walk, call)
        return found

    async def _places_through(self, nodes: Sequence[Iri], walk: Walk, call: Call) -> Mapping[Iri, Places]:
        """Return the places of members of the list by which a walk leads to each of its ends, if it is the only one."""
        lengths = range(1, len(walk))
        async with together() as tasks:
            readings = [tasks.create_task(self._store.ends(nodes, walk[:length], call)) for length in lengths]
        beginnings = {length: reading.result() for length, reading in zip(lengths, readings, strict=True)}
        of_nodes: defaultdict[int, dict[Iri, Places]] = defaultdict(dict)
        for node in nodes:
            passed = [(length, one) for length in lengths for one in _lists_in(beginnings[length][node])]
            if len(passed) == 1:
                length, literal = passed[0]
                of_nodes[length][node] = _places_in(literal)
        found: dict[Iri, Places] = {}
        for length, by_node in of_nodes.items():
            members = dict.fromkeys(end for places in by_node.values() for end in places if isinstance(end, str))
            ends = await self._store.ends([*members], walk[length:], call)
            for node, places in by_node.items():
                led: dict[End, int] = {}
                for member, place in places.items():
                    if isinstance(member, str):
                        led = dict.fromkeys(ends[member].ends, place) | led
                found[node] = led
        return found

    async def names(self, nodes: Iterable[Iri], call: Call) -> NodeNames:
        """Return the names of nodes."""
        distinct = list(dict.fromkeys(nodes))
        facts = await self._store.nodes(distinct, call, names=True) if distinct else {}
        return NodeNames(
            {node: fact.name for node, fact in facts.items() if fact.name},
            {node: fact.mark for node, fact in facts.items() if not fact.mark.whole},
        )

    async def chosen(self, nodes: Sequence[Iri], conditions: Sequence[Condition], call: Call) -> Chosen:
        """Return the nodes for which all of some conditions hold."""
        if not (nodes and conditions):
            return Chosen(tuple(nodes), alone=tuple(0 for _ in conditions))
        with call.tally.stage("metadata"):
            ends = await self.ends(nodes, chain.from_iterable(map(_walks_of, conditions)), call)
        is_little = len(nodes) * len(conditions) <= FEW_FOR_A_THREAD
        return await in_thread(call, lambda _: _decided(nodes, conditions, ends), unless=is_little)

    async def ordered(self, nodes: Sequence[Iri], order: Order, languages: Sequence[str], call: Call) -> Ordered:
        """Return nodes in an order, by texts in the first of some languages where others say the same."""
        with call.tally.stage("metadata"):
            if order.walk == NAMES:
                names = await self.names(nodes, call)
                return in_order(nodes, order, {}, names.found, names.unread)
            ends = (await self.ends(nodes, [order.walk], call))[order.walk]
            names = await self.names(chain.from_iterable(map(_nodes_of, ends.values())), call)
        return await in_thread(
            call,
            lambda _: in_order(nodes, order, ends, names.found, names.unread, languages),
            unless=len(nodes) <= FEW_FOR_A_THREAD,
        )

    async def grouped(self, nodes: Sequence[Iri], grouping: Grouping, languages: Sequence[str], call: Call) -> Grouped:
        """Return nodes in groups with what is computed over these; of translations in the language of the call, if any.

        `languages` are those in which texts are shown, the best first.
        """
        of_ways = {one.walk for one in grouping.figures if one.is_of_ways and one.walk is not None}
        with call.tally.stage("metadata"):
            walks = [walk for walk in grouping.walks if walk != NAMES]
            ends = dict(_with_list_members(await self._with_lists(nodes, walks, call, of_ways)))
            other_languages = Counter[str]()
            if call.language:
                for walk, by_node in ends.items():
                    ends[walk], hidden = await self._in_one_language(walk, by_node, languages, call)
                    other_languages += hidden
            if NAMES in grouping.walks:
                shown = await self.names(nodes, call)
                ends[NAMES] = {node: _called(shown, node) for node in nodes}
            named = {one.walk for one in grouping.figures if one.kind in {"min", "max"}} | {grouping.by}
            read = chain.from_iterable(by_node.values() for walk, by_node in ends.items() if walk in named)
            names = await self.names(chain.from_iterable(map(_nodes_of, read)), call)
        is_little = len(nodes) * (1 + len(grouping.figures)) <= FEW_FOR_A_THREAD
        found = await in_thread(
            call, lambda _: grouped(nodes, grouping, ends, names.found, names.unread), unless=is_little
        )
        return replace(found, other_languages=other_languages) if found.mark.whole else found

    async def _in_one_language(
        self, walk: Walk, by_node: Mapping[Iri, Ends], languages: Sequence[str], call: Call
    ) -> tuple[Mapping[Iri, Ends], Counter[str]]:
        """Return ends without texts that say the same as others of one subject, and how many were left out by language.

        Texts of different subjects at the end of a walk of several steps are no translations of each other.
        """
        before: Mapping[Iri, Ends] = {}
        last: Mapping[Iri, Ends] = {}
        tagged = [
            node
            for node, one in by_node.items()
            if len({end.language for end in one.ends if isinstance(end, Literal)}) > 1
        ]
        if len(walk) > 1 and tagged:
            before = (await self.ends(tagged, [walk[:-1]], call))[walk[:-1]]
            subjects = dict.fromkeys(chain.from_iterable(map(_nodes_of, before.values())))
            last = (await self.ends(list(subjects), [walk[-1:]], call))[walk[-1:]] if subjects else {}

        def in_one(end: Deadline) -> tuple[Mapping[Iri, Ends], Counter[str]]:
            left = dict(by_node)
            counts = Counter[str]()
            for node in end.checking(tagged):
                one = by_node[node]
                if before and before[node].blank:
                    # What they say is not told from what others say.
                    continue
                of_subjects = [last[subject] for subject in _nodes_of(before[node])] if before else [one]
                unread = [each.mark for each in (before.get(node, one), *of_subjects) if not each.mark.whole]
                if unread:
                    # A text that only an unread subject has would look like a translation.
                    left[node] = replace(one, mark=unread[0] if one.mark.whole else one.mark)
                    continue
                told = frozenset(chain.from_iterable(each.ends for each in of_subjects))
                shown = frozenset(chain.from_iterable(in_one_language(each.ends, languages) for each in of_subjects))
                translations = told - shown
                hidden = {text for text in one.ends if isinstance(text, Literal) and text in translations}
                counts.update(text.language for text in hidden)
                left[node] = replace(one, ends=tuple(text for text in one.ends if text not in hidden))
            return left, counts

        return await in_thread(call, in_one, unless=len(tagged) <= FEW_FOR_A_THREAD)

    async def aggregated(self, types: Iterable[Iri], grouping: Grouping, call: Call) -> tuple[Grouped, int] | None:
        """Return what the engine itself computes over all nodes of some types, and how many these are.

        None where its answers do not prove it, or do not come: then the nodes are to be read.
        """
        if not may_be_aggregated(grouping):
            return None
        nodes = Aggregate(tuple(sorted(types)))
        members = nodes if grouping.by is None else replace(nodes, by=grouping.by[0])
        walks = dict.fromkeys(one.walk for one in grouping.figures if one.walk is not None)
        sums = {walk: replace(members, walk=walk) for walk in walks}
        with call.reserving(requests=0.5, time=0.3), call.tally.stage("metadata"):
            found = await self._proven([nodes, members, *sums.values()], call)
            has_rest = grouping.by is not None and None in found.get(members, NOTHING_AGGREGATED).groups
            rests = {walk: replace(one, is_of_rest=True) for walk, one in sums.items() if has_rest}
            of_rests = await self._proven(list(rests.values()), call) if found else {}
            if not found or len(of_rests) < len(rests):
                return None
            groups = found[members].groups
            if call.language and any(isinstance(end, Literal) and end.language for end in groups):
                # Which of them are translations, each node alone tells.
                return None
            names = await self.names((end for end in groups if isinstance(end, str)), call)
        totals = {
            walk: Aggregated({**found[one].groups, **(of_rests[rests[walk]].groups if rests else {})})
            for walk, one in sums.items()
        }
        grouped = await in_thread(
            call,
            lambda _: of_aggregates(grouping, found[members], totals, names.found),
            unless=len(found[members].groups) * (1 + len(grouping.figures)) <= FEW_FOR_A_THREAD,
        )
        return None if grouped is None else (grouped, found[nodes].groups[None].count)

    async def _proven(self, asked: Sequence[Aggregate], call: Call) -> Mapping[Aggregate, Aggregated]:
        """Return what the engine computes; nothing where some of it is not proven."""
        found = await self._store.aggregates(list(dict.fromkeys(asked)), call) if asked else {}
        return found if all(one.mark.whole for one in found.values()) else {}

    async def _of_walk(self, nodes: Sequence[Iri], walk: Walk, call: Call, *, ways: bool = False) -> Mapping[Iri, Ends]:
        if walk != TYPES:
            return await self._store.ends(nodes, walk, call, ways=ways)
        facts = await self._store.nodes(nodes, call, names=False)
        return {node: Ends(fact.types, fact.left_out, fact.mark) for node, fact in facts.items()}


def _nodes_of(one: Ends) -> list[Iri]:
    return [end for end in one.ends if isinstance(end, str)]


def _called(names: NodeNames, node: Iri) -> Ends:
    """Return the name that a node shows as where a walk ends."""
    name = names.found.get(node, "")
    return Ends((Literal(name),) if name else (), mark=names.unread.get(node, WHOLE))


def _with_list_members(found: WalkEnds) -> WalkEnds:
    return {
        walk: {node: _opened(one) if walk != ANY_LITERAL else _literals_of(one) for node, one in ends.items()}
        for walk, ends in found.items()
    }


def _literals_of(one: Ends) -> Ends:
    """Return ends that are literals, those in lists too."""
    return replace(one, ends=tuple(end for end in in_lists(one.ends) if isinstance(end, Literal)), blank=0, content=0)


def _opened(one: Ends) -> Ends:
    """Return ends with the members of lists in the place of the lists."""
    if not _lists_in(one):
        return one
    content = expressions_in(one.ends)
    members = tuple(in_lists(one.ends))
    return replace(one, ends=members, blank=one.blank + content, content=one.content + content)


def _walks_of(condition: Condition) -> Sequence[Walk]:
    other = condition.operand
    return [condition.walk, other.walk] if isinstance(other, OtherWalk) else [condition.walk]


def _decided(nodes: Sequence[Iri], conditions: Sequence[Condition], ends: WalkEnds) -> Chosen:
    deciders = [Decider(condition) for condition in conditions]
    alone, as_numbers, left_out, without, as_durations = (Counter[int]() for _ in range(5))
    kept: list[Iri] = []
    unsure: dict[Iri, Mark] = {}
    for node in nodes:
        verdicts: list[bool | None] = []
        for place, decider in enumerate(deciders):
            verdict = decider.decided(*_ends_of(decider.condition, node, ends))
            verdicts.append(verdict.holds)
            alone[place] += verdict.holds is True
            as_numbers[place] += verdict.read_as_numbers
            left_out[place] += verdict.not_comparable
            as_durations[place] += verdict.read_as_durations
        if all(verdicts):
            kept.append(node)
        elif False not in verdicts:
            unsure[node] = _mark_of(node, conditions, ends)
        else:
            failed = [place for place, holds in enumerate(verdicts) if holds is False]
            if None not in verdicts and all(_is_without_value(conditions[place], node, ends) for place in failed):
                without.update(failed)
    places = range(len(conditions))
    return Chosen(
        tuple(kept),
        len(nodes) - len(kept) - len(unsure),
        unsure,
        *(tuple(counts[place] for place in places) for counts in (alone, as_numbers, left_out, without, as_durations)),
    )


def _is_without_value(condition: Condition, node: Iri, ends: WalkEnds) -> bool:
    """Return whether a node fails a condition that values are not equal because it has none."""
    found = ends[condition.walk].get(node, _NO_ENDS)
    return condition.operator == "!=" and not (found.ends or found.blank)


def _ends_of(condition: Condition, node: Iri, ends: WalkEnds) -> tuple[Ends, Ends]:
    operand = condition.operand
    other = ends[operand.walk].get(node, _NO_ENDS) if isinstance(operand, OtherWalk) else _NO_ENDS
    return ends[condition.walk].get(node, _NO_ENDS), other


def _mark_of(node: Iri, conditions: Sequence[Condition], ends: WalkEnds) -> Mark:
    """Return why it could not be decided of a node."""
    marks = (one.mark for condition in conditions for one in _ends_of(condition, node, ends))
    return next((mark for mark in marks if not mark.whole), WHOLE)


# --- sentences that a model reads ---

ORDER_UNSURE = "Not all values could be read by which nodes are ordered, so these may stand elsewhere."


def about_values(conditions: Sequence[str], chosen: Chosen) -> Iterator[str]:
    """Yield warnings about the values that conditions were decided by."""
    read_as = zip(chosen.read_as_numbers, chosen.read_as_durations, strict=True)
    counts = zip(read_as, chosen.not_comparable, chosen.without_value, strict=True)
    for condition, (from_texts, left_out, without) in zip(conditions, counts, strict=False):
        for kind, count in zip(("number", "duration"), from_texts, strict=True):
            if count:
                texts = f"{counted(count, 'text')} that read as a {kind} {were(count)}"
                yield f"where: {texts} compared as one, by {quoted(condition)}."
        if left_out:
            yield f"where: {counted(left_out, 'value')} cannot be compared, and fulfil nothing, by {quoted(condition)}."
        if without:
            nodes, have = counted(without, "node"), "has" if without == 1 else "have"
            yield f"where: {nodes} that {have} no value cannot fulfil {quoted(condition)}; missing finds them."


def no_nodes(nodes: str, count: int) -> str:
    """Return a warning: conditions compare with nodes that the graph does not have."""
    are = "is no node" if count == 1 else "are no nodes"
    return f"where: {nodes} {are} of this graph, so nothing leads there."


def each_alone(conditions: Sequence[str], counts: Sequence[tuple[int, bool]]) -> str:
    """Return how many nodes each condition alone lets through, and whether these are all, where none fulfils all."""
    each = "; ".join(
        f"{quoted(one)} {'' if is_exact else 'at least '}{count:,}"
        for one, (count, is_exact) in zip(conditions, counts, strict=True)
    )
    return f"where: no node fulfils all conditions. Each alone lets through: {each}."
