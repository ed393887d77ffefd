"""Walks that begin at blank nodes of an endpoint, lead through lists, or end at either: read step by step.

A query that has the whole walk knows no list, and cannot begin at a key. So where blank nodes or lists may be on a
walk, each step is read for all nodes at once, and what leads on is put together here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from gateway.errors import BudgetSpent, EndpointFault, Fault
from gateway.files.lists import is_list_part
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.values import WHOLE, Description, EdgeSelection, Iri, Mark
from gateway.graph.walks import End, Ends, Role, Walk, in_lists, several
from gateway.settings.profile import Profile
from gateway.sparql.batches import about_nodes
from gateway.sparql.blank.contents import is_evidence
from gateway.sparql.blank.edges import Known, as_edge
from gateway.sparql.blank.expressions import may_lead_to_content
from gateway.sparql.blank.joining import BlankJoiner
from gateway.sparql.blank.keys import ends_in
from gateway.sparql.blank.lists import Lists
from gateway.sparql.blank.lookup import Asked, BlankLookup, apart
from gateway.sparql.blank.values import said_by
from gateway.sparql.client import SparqlClient
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm, LiteralTerm, Table, Term, iri, literal_of, read
from gateway.sparql.table import term as any_term
from gateway.sparql.template import Parameter
from gateway.sparql.walks import SinglePredicates, WalkReader, joined
from gateway.terms.iri import ARRAY, RDF_NIL, RDF_REST, is_blank_node, is_reached_by, is_sendable
from gateway.terms.literals import Literal

_EMPTY: Final = Literal("[]", ARRAY, "")
_MOST_ENDS: Final = 500_000
"""Ends of one step, over all nodes at which a walk begins: many nodes may lead to all of many."""

_STARTS: Final = 100
"""Nodes at which a walk begins between two looks at the clock."""

_TOO_MANY: Final = Mark(BudgetSpent("A walk by blank nodes or lists has too many ends."), at_least=0)
_UNREAD: Final = Mark(EndpointFault("A blank node on a walk could not be read."), at_least=0)


@dataclass(frozen=True, slots=True)
class _Said:
    """What one step says of a node.

    Attributes:
        owner: The node, as lists have it: of a blank node its key.
        terms: The terms to which the step leads, with keys for blank nodes.
        mark: Whether these are all.
        cells: The cells of lists in which the node is, where their owners are wanted.
    """

    owner: Iri
    terms: tuple[Term, ...] = ()
    mark: Mark = WHOLE
    cells: tuple[Iri, ...] = ()


@dataclass(slots=True)
class _Led:
    """Where one step leads from a node.

    Attributes:
        ends: The ends.
        blank: How many further ends are blank nodes that are no nodes.
        mark: Whether these are all.
    """

    ends: dict[End, None] = field(default_factory=dict)
    blank: int = 0
    mark: Mark = WHOLE

    def doubt(self) -> None:
        """Note that some may be missing."""
        if self.mark.whole:
            self.mark = _UNREAD


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of a walk.

    Attributes:
        predicate: Its predicate.
        is_inverse: Whether it is followed against its direction.
        is_first: Whether it begins at the nodes that were asked for.
        is_last: Whether it leads to the ends.
        is_edge: Whether it leads to the ends of edges.
    """

    predicate: Iri
    is_inverse: bool
    is_first: bool
    is_last: bool
    is_edge: bool


class _Found:
    """Where a walk leads, by where it begins, as far as it was followed.

    Attributes:
        frontier: The nodes from which it goes on.
        size: How many ends there are, over all beginnings.
    """

    def __init__(self, starts: Sequence[Iri], *, ways: bool) -> None:
        self._ways = ways
        self._counts: dict[Iri, dict[End, int]] = {node: {node: 1} for node in starts}
        self._blank: Counter[Iri] = Counter()
        self._marks: dict[Iri, Mark] = {}
        self.frontier: Sequence[Iri] = list(self._counts)
        self.size = len(starts)

    def follow(self, led: Mapping[Iri, _Led], step: _Step, deadline: Deadline) -> None:
        """Go on by one step, by where that leads from each node of the frontier."""
        as_members = self._ways or not step.is_last
        leading = {node: tuple(in_lists(one.ends) if as_members else one.ends) for node, one in led.items()}
        following: dict[Iri, dict[End, int]] = {}
        self.size = 0
        for start, counts in deadline.checking(self._counts.items(), _STARTS):
            nodes = [(end, count) for end, count in counts.items() if isinstance(end, str)]
            further = following[start] = {}
            size = sum(len(leading[node]) for node, _ in nodes)
            if self.size + size > _MOST_ENDS:
                self._marks.setdefault(start, _TOO_MANY)
                continue
            self.size += size
            for node, count in nodes:
                one = led[node]
                for other in leading[node]:
                    further[other] = further.get(other, 0) + count
                self._blank[start] += one.blank if step.is_last else 0
                if not one.mark.whole:
                    self._marks.setdefault(start, one.mark)
        self._counts = following
        self.frontier = list(dict.fromkeys(end for some in following.values() for end in some if isinstance(end, str)))

    def ends(self, deadline: Deadline) -> Mapping[Iri, Ends]:
        """Return the ends by where the walk begins."""
        return {
            node: Ends(
                tuple(counts),
                self._blank[node],
                _at_least(self._marks.get(node, WHOLE), len(counts)),
                several(counts) if self._ways else {},
            )
            for node, counts in deadline.checking(self._counts.items(), _STARTS)
        }


class StepReader:
    """Reads where walks end that blank nodes or lists may be on.

    Args:
        client: Sends the queries.
        rule: Says what is an edge.
        lookup: Looks blank nodes up.
        joiner: Adds what lists and expressions say of nodes with an IRI.
        walks: Reads the other walks.
        profile: The profile.
    """

    def __init__(
        self,
        client: SparqlClient,
        rule: EdgeRule,
        lookup: BlankLookup,
        joiner: BlankJoiner,
        walks: WalkReader,
        profile: Profile,
    ) -> None:
        self._client = client
        self._types = profile.edges.types
        self._rule = rule
        self._lookup = lookup
        self._joiner = joiner
        self._walks = walks
        self._batch = profile.limits.facts_batch

    async def lists_behind(self, walk: Walk, call: Call) -> bool:
        """Return whether a predicate of a walk may lead to lists that are blank nodes, or empty."""
        if not await self._lookup.read_lists(call):
            return False
        predicates = {predicate for steps in self._walks.combinations(walk) for predicate, _ in steps}
        return await self._lookup.lists_are_behind(predicates, call)

    async def _may_say(self, walk: Walk, call: Call) -> bool:
        """Return whether class expressions may say edges or content by which a walk leads on."""
        named = {one for step in walk if isinstance(step.predicates, tuple) for one in step.predicates}
        return await self._joiner.may_say(sorted(named.difference(self._types)), call)

    async def is_read_by_steps(self, walk: Walk, call: Call) -> bool:
        """Return whether a query of a whole walk may miss ends: of lists and expressions, or types of blank nodes."""
        if await self.lists_behind(walk, call) or await self._may_say(walk, call):
            return True
        may_be_blank = self._lookup.are_there is not False and await self._lookup.have_keys(call)
        return may_be_blank and bool(self._before_types(walk))

    def _before_types(self, walk: Walk) -> Walk:
        """Return the part of a walk before its first step to types, if nodes are before that."""
        for place, step in enumerate(walk):
            if place and not step.is_inverse and self._are_types(step.predicates):
                return walk[:place]
        return ()

    def _are_types(self, predicates: tuple[Iri, ...] | Role) -> bool:
        return predicates == "type" or any(one in predicates for one in self._types[:1])

    async def ends(self, ids: Sequence[Iri], walk: Walk, call: Call, *, ways: bool = False) -> Mapping[Iri, Ends]:
        """Return where a walk ends that begins at each node, which is no walk to every literal."""
        named, blank = apart(ids)
        has_lists = await self.lists_behind(walk, call) or await self._may_say(walk, call)
        found: dict[Iri, Ends] = {}
        if named and not has_lists:
            found |= await self._walks.ends(named, walk, call, ways=ways)
        before = self._before_types(walk) if named and not has_lists and await self._lookup.have_keys(call) else ()
        typed = await self._walks.ends(named, before, call) if before else {}
        beside = {node for node, one in typed.items() if one.blank or not one.mark.whole}
        again = [*(node for node in named if has_lists or found[node].blank or node in beside), *blank]
        if not again:
            return found
        if not await self._lookup.lead_back(call):
            if has_lists:
                found |= await self._walks.ends(named, walk, call, ways=ways)
            # Whether a blank node there is an expression, which equals nothing and is other than nothing, is not known.
            may_be_content = _leads_to_expressions(walk)
            unread = {
                node: found.get(node, Ends())
                for node in again
                if has_lists or may_be_content or node in beside or is_blank_node(node)
            }
            return {**found, **{node: _marked(one, _UNREAD) for node, one in unread.items()}}
        await self._rule.refresh(call)
        combinations = self._walks.combinations(walk)
        read = [await self._along(again, steps, call, ways=ways) for steps in combinations]
        for node in again:
            one = read[0][node] if len(read) == 1 else joined([each[node] for each in read])
            if walk[-1].predicates == "name":
                one = replace(one, ends=tuple(end for end in one.ends if isinstance(end, Literal)), blank=0)
            found[node] = one
        return found

    async def _along(
        self, ids: Sequence[Iri], steps: SinglePredicates, call: Call, *, ways: bool
    ) -> Mapping[Iri, Ends]:
        """Return where a walk of single predicates ends, step by step."""
        found = _Found(ids, ways=ways and len(steps) > 1)
        try:
            for place, (predicate, is_inverse) in enumerate(steps):
                is_last = place == len(steps) - 1
                step = _Step(predicate, is_inverse, place == 0, is_last, is_last and self._rule.is_edge(predicate))
                led = await self._led(found.frontier, step, call) if found.frontier else {}
                is_little = found.size * max((len(one.ends) for one in led.values()), default=0) <= FEW_FOR_A_THREAD
                await in_thread(call, partial(found.follow, led, step), unless=is_little)
        except Fault as fault:
            return dict.fromkeys(ids, Ends(mark=Mark(fault)))
        return await in_thread(call, found.ends, unless=found.size <= FEW_FOR_A_THREAD)

    async def _led(self, nodes: Sequence[Iri], step: _Step, call: Call) -> Mapping[Iri, _Led]:
        """Return where one step leads from each node."""
        named, blank = apart(node for node in nodes if not is_reached_by(node))
        # Which blank nodes have such a type is not read; nothing else is said of it.
        reached = (node for node in nodes if is_reached_by(node))
        said = {
            **{node: _Said(node, mark=_UNREAD if step.is_inverse else WHOLE) for node in reached},
            **(await self._said_of_named(named, step, call) if named else {}),
            **(await self._said_of_blank(blank, step, call) if blank else {}),
        }
        keys = {end.value: None for one in said.values() for end in one.terms if isinstance(end, BlankTerm)}
        keys |= {cell: None for one in said.values() for cell in one.cells}
        known = await self._lookup.known(keys, call)
        led = {node: _resolved(said[node], step, known) for node in nodes}
        may_be_said = await self._joiner.may_say([step.predicate], call)
        has_lists = await self._lookup.have_lists(call)
        if may_be_said or (has_lists and step.is_inverse):
            await self._add_said(named, led, step, call)
        if may_be_said:
            for node in blank:
                led[node].doubt()
        if has_lists and step.is_inverse:
            for node in blank:
                _add_owners(led[node], said[node], step, known)
        elif has_lists and step.predicate != RDF_REST:
            for one in led.values():
                if RDF_NIL in one.ends:
                    del one.ends[RDF_NIL]
                    one.ends[_EMPTY] = None
        return led

    async def _said_of_blank(self, nodes: Sequence[Iri], step: _Step, call: Call) -> Mapping[Iri, _Said]:
        asked = await self._lookup.asked(nodes, call)
        types = await self._types_of(asked, step, call)
        found: dict[Iri, _Said] = {}
        for one in asked:
            found[one.node] = _Said(one.node, mark=one.mark)
            if (content := one.content) is None:
                continue
            triples, edges = content.says, content.outgoing
            if step.is_inverse:
                triples, edges = content.said, content.incoming
            terms = [
                triple[1]
                for triple in triples
                if triple[0] == step.predicate
                # What is no edge leads to a node that states evidence.
                and not (step.is_edge and isinstance(triple[1], IriTerm) and triple not in edges)
            ]
            cells = [end.value for p, end in content.said if is_list_part(p) and isinstance(end, BlankTerm)]
            found[one.node] = _Said(
                one.key, (*terms, *types.get(one.node, ())), one.mark, tuple(cells) if step.is_inverse else ()
            )
        return found

    async def _types_of(self, asked: Sequence[Asked], step: _Step, call: Call) -> Mapping[Iri, Sequence[Term]]:
        """Return the types of blank nodes without one, where a step leads to types."""
        if step.is_inverse or step.predicate != next(iter(self._types), None):
            return {}
        contents = {one.node: one.content for one in asked if one.content is not None}
        rows = said_by(contents, self._types, await self._joiner.lists_beside(contents, call))
        found: defaultdict[Iri, list[Term]] = defaultdict(list)
        for node, end in read(rows, iri("n"), any_term("v")):
            if isinstance(end, IriTerm) and is_reached_by(end.value):
                found[node].append(end)
        return found

    async def _said_of_named(self, nodes: Sequence[Iri], step: _Step, call: Call) -> Mapping[Iri, _Said]:
        pattern = ("v", step.predicate, "n") if step.is_inverse else ("n", step.predicate, "v")
        checked = self._rule.evidence_at([*([] if step.is_first else ["n"]), *(["v"] if step.is_edge else [])])
        given: dict[str, Parameter] = {"steps": [pattern], **checked}
        return await about_nodes(self._client, "blank_nodes/step", self._batch, given, _read_step).run(nodes, call)

    async def _add_said(self, nodes: Sequence[Iri], led: Mapping[Iri, _Led], step: _Step, call: Call) -> None:
        """Add what lists and expressions say of some nodes by the predicate of a step: edges, and content."""
        selection = (
            EdgeSelection((step.predicate,), ()) if not step.is_inverse else EdgeSelection((), (step.predicate,))
        )
        for node, around in (await self._joiner.of_lists(nodes, {}, selection, call)).items():
            one = led[node]
            one.ends |= dict.fromkeys(edge.subject if step.is_inverse else edge.object for edge in around.edges)
            if around.blank_edges or not around.mark.whole:
                one.doubt()
        if step.is_inverse:
            return
        described = dict.fromkeys(nodes, Description())
        for node, said in (await self._joiner.without_nodes(described, call, contents=False)).items():
            values = said.properties.get(step.predicate, ())
            led[node].ends |= dict.fromkeys(one for one in values if isinstance(one, Literal))
            if not said.mark.whole:
                led[node].doubt()


def _leads_to_expressions(walk: Walk) -> bool:
    """Return whether the last step of a walk may lead to class expressions, or to paths of SHACL."""
    last = walk[-1]
    return isinstance(last.predicates, tuple) and not last.is_inverse and any(map(may_lead_to_content, last.predicates))


def _resolved(said: _Said, step: _Step, known: Known) -> _Led:
    """Return the ends that some terms are: with IDs in the place of keys, and members in that of lists."""
    led = _Led(mark=said.mark)
    added: set[int] = set()
    for end in said.terms:
        if isinstance(end, LiteralTerm):
            led.ends[literal_of(end)] = None
        elif isinstance(end, IriTerm) and is_sendable(end.value):
            led.ends[end.value] = None
        elif not isinstance(end, BlankTerm):
            led.blank += 1
        elif end.value in known.ids:
            led.ends[known.ids[end.value]] = None
        elif not step.is_inverse and (lists := known.lists.get(end.value)):
            if id(lists) not in added:
                added.add(id(lists))
                _add_members(led, said.owner, lists, step, known)
        elif not (step.is_edge and known.is_evidence(end.value)):
            led.blank += 1
            content = known.contents.get(end.value)
            if content is None or not is_evidence(content):
                led.doubt()
    return led


def _add_members(led: _Led, owner: Iri, lists: Lists, step: _Step, known: Known) -> None:
    """Add what lists are for a node and the predicate of a step."""
    edges = [one for one in lists.edges.get(owner, ()) if (one.subject, one.predicate) == (owner, step.predicate)]
    values = lists.values.get((owner, step.predicate), ())
    made = [as_edge(one, known.ids) for one in edges]
    led.ends |= dict.fromkeys(edge.object for edge in made if edge is not None)
    led.ends |= dict.fromkeys(value.literal(known.ids) for value in values)
    # What an expression says may be edges of other predicates alone.
    if None in made or not (made or values or lists.are_expressions):
        led.doubt()


def _add_owners(led: _Led, said: _Said, step: _Step, known: Known) -> None:
    """Add the owners of the lists in which a blank node is, by the predicate of a step."""
    for cell in said.cells:
        lists = known.lists.get(cell)
        if lists is None:
            led.doubt()
            continue
        for one in lists.edges.get(said.owner, ()):
            if one.object == said.owner and one.predicate == step.predicate:
                edge = as_edge(one, known.ids)
                if edge is None:
                    led.doubt()
                else:
                    led.ends[edge.subject] = None


def _marked(one: Ends, mark: Mark) -> Ends:
    return replace(one, mark=_at_least(mark, len(one.ends))) if one.mark.whole else one


def _at_least(mark: Mark, count: int) -> Mark:
    """Return a mark with how much there is at least, unless nothing is known at all."""
    return mark if mark.at_least is None else replace(mark, at_least=count)


def _read_step(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, _Said]:
    found: defaultdict[Iri, dict[Term, None]] = defaultdict(dict)
    for node, end in zip(iri("n")(rows), ends_in(rows), strict=True):
        found[node][end] = None
    return {node: _Said(node, tuple(found.get(node, ())), mark) for node in batch}
