"""Blank nodes of an endpoint whose engine has no keys for them: read by walks from nodes with an IRI.

What an engine calls a blank node holds for one answer. So whatever is asked about some blank nodes comes in one
answer, which is asked for again with more in it until it has all that tells them apart. What stands for a blank node
here is its ID, if it has one, and else a number that means something in this call alone.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final
from weakref import WeakKeyDictionary

from typing_extensions import override

from gateway.errors import EndpointFault
from gateway.graph.call import Call, Requester
from gateway.graph.computing import in_thread
from gateway.graph.values import WHOLE, EdgeSelection, Iri, Mark
from gateway.settings.profile import Profile
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.blank.anchors import AnchoredWalk, id_of, key_of, walk_of, without_number
from gateway.sparql.blank.contents import BlankEnd, BlankEnds, Content, ContentReader, Kind, stating_in, triples_by_kind
from gateway.sparql.blank.graphs import BlankGraph, is_within_reach
from gateway.sparql.blank.keys import KEY, TRIPLE, NodeId, hash_of, written
from gateway.sparql.blank.probes import ExpressionProbe
from gateway.sparql.blank.rule import Triple
from gateway.sparql.client import SparqlClient
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm, Table, Term, TripleTerm, UnexpectedRows
from gateway.sparql.table import term as any_term
from gateway.sparql.template import Parameter
from gateway.terms.prefixes import PrefixMap
from gateway.terms.well_known_prefixes import WELL_KNOWN

_BATCH: Final = 50
"""Nodes in one query: what is around all of them comes in one answer."""

_ROUNDS: Final = 10
"""How often one answer is asked for again with more in it."""

_DIRECTIONS: Final = 24
"""Directions of walks in one query."""

_USUAL: Final = 10
"""Directions of walks that are asked for at once, because they were needed before."""

_FURTHER: Final = 2
"""Steps between blank nodes by which a search goes further than from a node with an IRI to one."""

_FEW: Final = 100
"""Blank nodes that are told apart in some milliseconds."""

_FIRST: Final = ("+", "-")

_NOT_TOLD: Final = ""
"""Stands for the blank nodes at the end of a walk that have no ID: no key is empty."""

_UNREAD: Final = Mark(EndpointFault("A blank node could not be told from what is around it."))
_ALIKE: Final = Mark(EndpointFault("Several blank nodes say the same, and nothing else tells them apart here."))

_Start = tuple[Iri, ...]
"""A node with an IRI that is asked about, and others whose blank nodes are to be in the same answer."""


@dataclass(frozen=True, slots=True)
class _Around:
    """The blank nodes around a node with an IRI: of all nodes of one query the same object."""

    nodes: Mapping[str, Content] = field(default_factory=dict)
    mark: Mark = WHOLE


@dataclass(slots=True)
class _Loaded:
    """What one call has read.

    Attributes:
        ends: The blank ends of edges of nodes with an IRI.
        beside: What nodes with an IRI say of blank nodes, and these of them.
        opened: What stands for blank nodes of which the neighbours were told apart.
        told: What stands for those that have an ID, if they are nodes.
        deep: The nodes with an IRI around which blank nodes were told apart that are further away.
    """

    ends: dict[Iri, BlankEnds] = field(default_factory=dict)
    beside: dict[Iri, Content] = field(default_factory=dict)
    opened: set[Iri] = field(default_factory=set)
    told: set[Iri] = field(default_factory=set)
    deep: set[Iri] = field(default_factory=set)
    numbers: count[int] = field(default_factory=count)

    def keep(self, start: Iri, graph: BlankGraph, keys: Mapping[str, Iri], mark: Mark) -> None:
        """Keep the blank nodes beside a node with an IRI."""
        ends: dict[BlankEnd, None] = {}
        says: dict[Triple, None] = {}
        said: dict[Triple, None] = {}
        for (predicate, is_incoming), label in graph.beside(start):
            end = BlankTerm(keys[label])
            (said if is_incoming else says)[predicate, end] = None
            content = graph.nodes[label]
            if (predicate, IriTerm(start)) in (content.outgoing if is_incoming else content.incoming):
                ends[BlankEnd(predicate, end.value, is_incoming)] = None
        outgoing = tuple((end.predicate, BlankTerm(end.key)) for end in ends if not end.is_incoming)
        self.ends[start] = BlankEnds(tuple(ends), mark)
        self.beside[start] = Content(tuple(says), tuple(said), outgoing, mark=mark)


class AnchoredReader(ContentReader):
    """Reads blank nodes by walks.

    Args:
        client: Sends the queries.
        rule: Says what is an edge.
        profile: The profile.
        expressions: Finds out whether there are expressions.
        goes_on: Whether the engine asks on from where a walk ends, and scans nothing.
    """

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, profile: Profile, expressions: ExpressionProbe, *, goes_on: bool
    ) -> None:
        self._template = "blank_nodes/walk_contents_at_once" if goes_on else "blank_nodes/walk_contents"
        super().__init__(client, rule, "iris", 0, expressions)
        self._types = profile.edges.types
        self._prefixes = PrefixMap(profile.prefixes, None, WELL_KNOWN)
        self._usual: tuple[str, ...] = _FIRST
        self._loaded: WeakKeyDictionary[Requester, _Loaded] = WeakKeyDictionary()

    @override
    async def read(self, keys: Iterable[Iri], call: Call) -> Mapping[Iri, Content]:
        # What the call has not met is unread.
        known = self._of(call).contents
        known |= {key: Content(mark=_UNREAD) for key in keys if key not in known}
        return known

    @override
    async def ids(self, keys: Iterable[Iri], call: Call) -> Mapping[Iri, Iri]:
        wanted = list(keys)
        await self.read(wanted, call)
        known, told = self._of(call), self._of_call(call).told
        for key in wanted:
            if key in told and key not in known.ids and self._kind(key, known) is Kind.NODE:
                known.ids[key] = id_of(key)
        return known.ids

    @override
    async def open(self, keys: Sequence[Iri], call: Call) -> None:
        loaded = self._of_call(call)
        wanted: defaultdict[Iri, dict[Iri, AnchoredWalk]] = defaultdict(dict)
        contents = self._of(call).contents
        for key in keys:
            walk = walk_of(key, self._prefixes)
            if walk is None or not is_within_reach(walk):
                contents.setdefault(key, Content())
            elif key not in loaded.opened:
                wanted[walk.anchor][key] = walk
        if wanted:
            await self._load([*wanted], wanted, call)

    @override
    def with_lists(self, key: Iri, said: str, call: Call) -> Iri:
        return NodeId(key, written(hash_of(said.encode()))).iri if key in self._of_call(call).told else ""

    async def blank_ends(self, nodes: Sequence[Iri], selection: EdgeSelection, call: Call) -> Mapping[Iri, BlankEnds]:
        """Return the blank ends of edges of nodes with an IRI."""
        await self._load_beside(nodes, call)
        loaded = self._of_call(call)
        return {node: _selected(loaded.ends[node], selection) for node in nodes}

    async def beside(self, nodes: Sequence[Iri], call: Call) -> Mapping[Iri, Content]:
        """Return what nodes with an IRI say of blank nodes, and those of them, by whatever predicate."""
        await self._load_beside(nodes, call)
        loaded = self._of_call(call)
        return {node: loaded.beside[node] for node in nodes}

    @override
    async def stating(self, nodes: Sequence[Iri], call: Call) -> Mapping[Iri, BlankEnds]:
        await self._load_beside(nodes, call)
        # What has an IRI is beside no blank node here.
        stated = await super().stating(nodes, call)
        loaded = self._of_call(call)
        found: dict[Iri, BlankEnds] = {}
        for node in nodes:
            mark = loaded.beside[node].mark
            found[node] = BlankEnds(stating_in(loaded.beside[node].said), stated[node].mark if mark.whole else mark)
        return found

    async def around(self, anchors: Sequence[Iri], call: Call) -> tuple[Mapping[Iri, Content], bool]:
        """Return the blank nodes with an ID up to three steps from some nodes, and whether all of these were read."""
        loaded = self._of_call(call)
        wanted = [node for node in anchors if node not in loaded.deep]
        if wanted:
            loaded.deep.update(wanted)
            await self._load(wanted, {}, call)
        contents = self._of(call).contents
        are_all = all(loaded.ends[node].mark.whole for node in anchors)
        return {key: contents[key] for key in loaded.told}, are_all

    def _of_call(self, call: Call) -> _Loaded:
        return self._loaded.setdefault(call.requester, _Loaded())

    async def _load_beside(self, nodes: Iterable[Iri], call: Call) -> None:
        loaded = self._of_call(call)
        wanted = [node for node in dict.fromkeys(nodes) if node not in loaded.ends]
        if wanted:
            await self._load(wanted, {}, call)

    async def _load(self, starts: Sequence[Iri], wanted: Mapping[Iri, Mapping[Iri, AnchoredWalk]], call: Call) -> None:
        """Read what is around some nodes with an IRI, until all is told apart that can be.

        Args:
            starts: The nodes.
            wanted: For each that is the anchor of blank nodes that are asked for, these with their walks; where there
                are none, all that is beside it is told apart.
            call: The call that asks.
        """
        walks = [walk for some in wanted.values() for walk in some.values()]
        first = _with_beginnings([*_FIRST, *self._usual, *(walk.directions for walk in walks)])
        await self._load_group([(start,) for start in starts], first, wanted, call, _ROUNDS)

    async def _load_group(
        self,
        starts: Sequence[_Start],
        directions: Sequence[str],
        wanted: Mapping[Iri, Mapping[Iri, AnchoredWalk]],
        call: Call,
        rounds: int,
    ) -> None:
        # Annotations tell equal nodes apart, whether or not evidence nodes are kept out of the edges.
        await self._rule.uses.refresh(call)
        rule = {**await self._rule.refreshed(call), **self._rule.evidence_as_found}
        is_judged = self._rule.may_have_evidence

        def parameters(batch: Sequence[_Start]) -> dict[str, Parameter]:
            nodes = list(dict.fromkeys(node for start in batch for node in start))
            return {"nodes": nodes, "walks": directions, **rule}

        def read(batch: Sequence[_Start], rows: Table, mark: Mark) -> dict[_Start, _Around]:
            around = _Around(self._read_nodes(rows, is_judged=is_judged), mark) if mark.whole else _Around({}, mark)
            return dict.fromkeys(batch, around)

        query = BatchedQuery[_Start, _Around](self._client, self._template, _BATCH, parameters, read)
        found = await query.run(starts, call)
        groups: dict[int, list[_Start]] = {}
        for start in starts:
            groups.setdefault(id(found[start]), []).append(start)
        async with asyncio.TaskGroup() as tasks:
            for group in groups.values():
                around = found[group[0]]
                tasks.create_task(self._after(group, around, directions, wanted, call, rounds - 1))

    async def _after(
        self,
        starts: Sequence[_Start],
        around: _Around,
        directions: Sequence[str],
        wanted: Mapping[Iri, Mapping[Iri, AnchoredWalk]],
        call: Call,
        rounds: int,
    ) -> None:
        """Ask again with more in the answer where that lacks something, and else keep what it says."""
        named = {node for start in starts for node in start}
        graph = BlankGraph(
            around.nodes,
            named,
            directions,
            self._types,
            has_expressions=await self.has_expressions(call),
            has_annotations=self._rule.uses.may_use("annotations"),
        )
        own = [start[0] for start in starts]
        few = len(around.nodes) <= _FEW
        if around.mark.whole:
            deep = self._of_call(call).deep
            targets = await in_thread(call, lambda _: _told_apart(graph, own, wanted, self._prefixes, deep), unless=few)
            more = [one for label in graph.lacking.labels for one in graph.directions_to(label)]
            more += [walk.directions for walk in graph.lacking.walks]
            wider = _with_beginnings([*directions, *more])
            others = {walk.anchor for walk in graph.lacking.walks}.difference(named)
            if rounds and (len(wider) > len(directions) or others) and len(wider) <= _DIRECTIONS:
                if len(self._usual) < _USUAL:
                    self._usual = tuple(_with_beginnings([*self._usual, *more]))
                beside = tuple(sorted(others))
                await self._load_group([(*start, *beside) for start in starts], wider, wanted, call, rounds)
                return
        else:
            targets = dict[Iri, str | Mark]()
        self._keep(own, graph, around.mark, targets, wanted, call)

    def _keep(
        self,
        starts: Sequence[Iri],
        graph: BlankGraph,
        mark: Mark,
        targets: Mapping[Iri, str | Mark],
        wanted: Mapping[Iri, Mapping[Iri, AnchoredWalk]],
        call: Call,
    ) -> None:
        """Keep what an answer says."""
        loaded, known = self._of_call(call), self._of(call)
        keys: dict[str, Iri] = {}
        for label in graph.nodes:
            told = None if graph.is_part(label) else graph.alone(label)
            key = "" if told is None else key_of(told.walk, told.digest, self._prefixes)
            if key:
                loaded.told.add(key)
            keys[label] = key or f"{KEY}{next(loaded.numbers)}"

        def keyed(triples: Iterable[Triple]) -> tuple[Triple, ...]:
            return tuple((predicate, _keyed(end, keys, loaded.numbers)) for predicate, end in triples)

        opened = {label for label in targets.values() if isinstance(label, str)}
        for label, said in graph.nodes.items():
            key = keys[label]
            before = known.contents.get(key)
            new = Content(keyed(said.says), keyed(said.said), keyed(said.outgoing), keyed(said.incoming))
            if before is None or label in opened or _unknown(new, loaded.told) <= _unknown(before, loaded.told):
                known.contents[key] = new
        for start in starts:
            for key in wanted.get(start, ()):
                loaded.opened.add(key)
                found = targets.get(key, WHOLE)
                if isinstance(found, Mark):
                    known.contents[key] = Content(mark=found if mark.whole else mark)
            if start not in wanted:
                loaded.keep(start, graph, keys, mark)

    def _read_nodes(self, rows: Table, *, is_judged: bool) -> Mapping[str, Content]:
        labels = [node.value for node in rows.terms("n") if isinstance(node, BlankTerm)]
        if len(labels) < len(rows):
            raise UnexpectedRows
        ends = (TRIPLE if isinstance(end, TripleTerm) else end for end in any_term("v", "text")(rows))
        read = triples_by_kind(labels, rows, ends)
        found = {label: Content(says, said, out, into) for label, (says, said, out, into) in read.items()}
        if is_judged:
            return found
        return {
            label: replace(
                one,
                outgoing=tuple(filter(self._leads, one.says)),
                incoming=tuple(filter(self._is_led_by, one.said)),
            )
            for label, one in found.items()
        }

    def _is_led_by(self, triple: Triple) -> bool:
        predicate, _ = triple
        return self._rule.reads(predicate)

    def _leads(self, triple: Triple) -> bool:
        end = triple[1]
        if not self._is_led_by(triple) or not isinstance(end, IriTerm | BlankTerm):
            return False
        is_allowed = not self._rule.objects or (isinstance(end, IriTerm) and end.value.startswith(self._rule.objects))
        return is_allowed or isinstance(end, BlankTerm)


def _told_apart(
    graph: BlankGraph,
    starts: Iterable[Iri],
    wanted: Mapping[Iri, Mapping[Iri, AnchoredWalk]],
    prefixes: PrefixMap,
    deep: Collection[Iri],
) -> dict[Iri, str | Mark]:
    """Tell blank nodes apart, and return those that are asked for, or why it is not known which they are."""
    found: dict[Iri, str | Mark] = {}
    ends: dict[AnchoredWalk, Mapping[Iri, str | Mark]] = {}
    for start in starts:
        for key, walk in wanted.get(start, {}).items():
            if walk not in ends:
                ends[walk] = _ends_of(walk, graph, prefixes)
            end = _end_of(key, ends[walk])
            if end is not None:
                found[key] = end
            if isinstance(end, str):
                for one in (end, *graph.around(end)):
                    graph.expand(one)
        if start not in wanted:
            for _, label in graph.beside(start):
                graph.expand(label)
            if start in deep:
                _expand_further(graph, [label for _, label in graph.beside(start)])
    return found


def _expand_further(graph: BlankGraph, labels: Sequence[str]) -> None:
    """Tell apart the blank nodes up to so many steps from some."""
    for _ in range(_FURTHER):
        labels = list(dict.fromkeys(further for label in labels for further in graph.around(label)))
        for label in labels:
            graph.expand(label)


def _ends_of(walk: AnchoredWalk, graph: BlankGraph, prefixes: PrefixMap) -> Mapping[Iri, str | Mark]:
    """Return the blank nodes to which a walk leads by what stands for them, and whether one is not told."""
    found: dict[Iri, str | Mark] = {}
    for label in graph.ends(walk):
        told, alone = graph.told(label), graph.alone(label)
        known = told if alone is None else alone
        key = "" if known is None else key_of(known.walk, known.digest, prefixes)
        if known is None:
            found[_NOT_TOLD] = _UNREAD
        elif key:
            found[key] = _ALIKE if alone is None else label
    return found


def _end_of(key: Iri, ends: Mapping[Iri, str | Mark]) -> str | Mark | None:
    """Return the blank node that is asked for, or why it is not known which that is; None where there is none."""
    if key in ends:
        return ends[key]
    # One of those that were numbered before may not be told from the others here.
    alike = ends.get(without_number(key))
    return alike if isinstance(alike, Mark) else ends.get(_NOT_TOLD)


def _with_beginnings(directions: Iterable[str]) -> list[str]:
    """Return directions of walks with those of their beginnings, the shortest first."""
    every = {one[:length] for one in directions for length in range(1, len(one) + 1)}
    return sorted(every, key=lambda one: (len(one), one))


def _keyed(end: Term, keys: dict[str, Iri], numbers: count[int]) -> Term:
    if not isinstance(end, BlankTerm):
        return end
    if end.value not in keys:
        keys[end.value] = f"{KEY}{next(numbers)}"
    return BlankTerm(keys[end.value])


def _unknown(content: Content, told: Collection[Iri]) -> int:
    """Return how many blank nodes beside one are told from no others."""
    return sum(key not in told for key in content.blank_neighbours)


def _selected(ends: BlankEnds, selection: EdgeSelection) -> BlankEnds:
    def is_wanted(end: BlankEnd) -> bool:
        wanted = selection.incoming if end.is_incoming else selection.outgoing
        return wanted is None or end.predicate in wanted

    return BlankEnds(tuple(filter(is_wanted, ends.ends)), ends.mark)
