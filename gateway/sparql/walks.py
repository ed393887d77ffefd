"""Where walks end, read in batches (docs/values.md)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, product

from gateway.errors import QueryRefused
from gateway.graph.call import Call, together
from gateway.graph.values import WHOLE, Description, Iri, Mark
from gateway.graph.walks import End, Ends, Role, Walk, expressions_in, in_lists, several
from gateway.settings.profile import Profile
from gateway.sparql.batches import about_nodes
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes import NamePredicates, NodeReader
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import (
    IriTerm,
    LiteralTerm,
    Table,
    Term,
    iri,
    literal_of,
    optional,
    read,
    term,
)
from gateway.sparql.template import Parameter
from gateway.terms.iri import is_sendable, is_walk, walk_steps
from gateway.terms.literals import Literal

_NODES = ("n", "a", "b", "c", "v")
"""The variables of the nodes on a walk; the last is that of its end, however many steps there are."""

_MOST_COMBINATIONS = 24
"""Sequences of single predicates that one walk may mean."""

SinglePredicates = Sequence[tuple[Iri, bool]]
"""A walk of one predicate a step, each with whether it is inverse."""


class WalkReader:
    """Reads where walks end."""

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, nodes: NodeReader, names: NamePredicates, profile: Profile
    ) -> None:
        self._client = client
        self._rule = rule
        self._nodes = nodes
        self._names = names
        self._type_predicates = profile.edges.types
        self._batch = profile.limits.facts_batch

    async def ends(self, ids: Sequence[Iri], walk: Walk, call: Call, *, ways: bool = False) -> Mapping[Iri, Ends]:
        """Return where a walk ends that begins at each node; see `GraphStore.ends`."""
        if walk[0].predicates == "any":
            return await self._literals(ids, call)
        await self._rule.refresh(call)
        combinations = self.combinations(walk)
        if len(combinations) > _MOST_COMBINATIONS:
            refused = QueryRefused("The names of a walk mean too many predicates.", next_step="Give IDs of predicates.")
            return dict.fromkeys(ids, Ends(mark=Mark(refused)))
        async with together() as tasks:
            readings = [tasks.create_task(self._along(ids, steps, call, ways=ways)) for steps in combinations]
        found = [reading.result() for reading in readings]
        ends = found[0] if len(found) == 1 else {node: joined([one[node] for one in found]) for node in ids}
        if walk[-1].predicates != "name":
            return ends
        return {node: replace(one, ends=tuple(_literals_of(one.ends)), blank=0) for node, one in ends.items()}

    def combinations(self, walk: Walk) -> Sequence[SinglePredicates]:
        """Return the walks of single predicates that a walk means."""
        steps = []
        for step in walk:
            predicates = self._of_role(step.predicates) if isinstance(step.predicates, str) else step.predicates
            steps.append([self._steps_of(predicate, is_inverse=step.is_inverse) for predicate in predicates])
        found = (tuple(chain.from_iterable(one)) for one in product(*steps))
        # A name one step away may be too far.
        return [one for one in found if len(one) < len(_NODES)]

    def _steps_of(self, predicate: Iri, *, is_inverse: bool) -> SinglePredicates:
        """Return the steps of a predicate, which may stand for a walk to a name."""
        if not is_walk(predicate):
            return [(predicate, is_inverse)]
        steps = [(first, is_inverse) for first, _ in walk_steps(predicate)[:2]]
        return steps[::-1] if is_inverse else steps

    def _of_role(self, role: Role) -> Sequence[Iri]:
        return self._type_predicates if role == "type" else self._names.all

    def unmarked(self, steps: SinglePredicates) -> dict[str, Parameter]:
        """Return what may state no evidence on a walk, as template parameters: inner nodes, and ends of edges."""
        inner = list(_NODES[1 : len(steps)])
        last, _ = steps[-1]
        is_edge = self._rule.allows(last) and last not in self._rule.excepted
        return self._rule.evidence_at([*inner, *(["v"] if is_edge else [])])

    async def _along(
        self, ids: Sequence[Iri], steps: SinglePredicates, call: Call, *, ways: bool
    ) -> Mapping[Iri, Ends]:
        given = {"steps": patterns_of(steps), "turns": turns_of(steps), **self.unmarked(steps)}
        # One edge is the only way to its end.
        template, reader = ("walks/ways", read_ways) if ways and len(steps) > 1 else ("walks/ends", read_ends)
        return await about_nodes(self._client, template, self._batch, given, reader).run(ids, call)

    async def _literals(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Ends]:
        described = await self._nodes.metadata(ids, call, blank_nodes=False, precise=False)
        return {node: literals_of(each) for node, each in described.items()}


def literals_of(described: Description) -> Ends:
    """Return the literals of a description, as the ends of a walk to all of them."""
    values = chain.from_iterable(described.properties.values())
    return Ends(tuple(dict.fromkeys(one for one in values if isinstance(one, Literal))), mark=described.mark)


def patterns_of(steps: SinglePredicates) -> list[tuple[str, Iri, str]]:
    """Return the triple patterns of a walk from ?n to ?v."""
    nodes = [*_NODES[: len(steps)], _NODES[-1]]
    return [
        (end, predicate, start) if is_inverse else (start, predicate, end)
        for start, end, (predicate, is_inverse) in zip(nodes, nodes[1:], steps, strict=False)
    ]


def turns_of(steps: SinglePredicates) -> list[str]:
    """Return the variables of inner nodes that are objects of both steps beside them, and so might be literals."""
    beside = enumerate(pairwise(steps), 1)
    return [_NODES[place] for place, ((_, came_back), (_, goes_back)) in beside if goes_back and not came_back]


def read_ends(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Ends]:
    """Read ends from rows of ?n, ?v and ?text."""
    found: dict[Iri, dict[End, None]] = {node: {} for node in batch}
    blank: dict[Iri, int] = defaultdict(int)
    for node, bound in read(rows, iri("n"), term("v", "text")):
        if (end := _end_of(bound)) is not None:
            found[node][end] = None
        else:
            blank[node] += node in found
    return {node: Ends(tuple(ends), blank[node], mark) for node, ends in found.items()}


def read_ways(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Ends]:
    """Read ends, with the number of ways to each, from rows that have the nodes between as ?a, ?b and ?c."""
    found: dict[Iri, defaultdict[object, dict[End, None]]] = {node: defaultdict(dict) for node in batch}
    blank: dict[Iri, int] = defaultdict(int)
    between = read(rows, optional("a"), optional("b"), optional("c"))
    for inner, (node, bound) in zip(between, read(rows, iri("n"), term("v", "text")), strict=True):
        if (end := _end_of(bound)) is not None:
            found[node][inner][end] = None
        else:
            blank[node] += node in found
    ends = {node: Counter(chain.from_iterable(map(in_lists, ways.values()))) for node, ways in found.items()}
    content = {node: sum(map(expressions_in, ways.values())) for node, ways in found.items()}
    return {
        node: Ends(tuple(counts), blank[node] + content[node], mark, several(counts), content[node])
        for node, counts in ends.items()
    }


def _end_of(bound: Term) -> End | None:
    """Return an end; None for a blank node without an ID."""
    match bound:
        case IriTerm():
            return bound.value if is_sendable(bound.value) else None
        case LiteralTerm():
            return literal_of(bound)
        case _:
            return None


def joined(found: Sequence[Ends]) -> Ends:
    """Return the ends of several walks as one."""
    ends = dict.fromkeys(end for one in found for end in one.ends)
    marks = [one.mark for one in found if not one.mark.whole]
    content = sum(one.content for one in found)
    return Ends(tuple(ends), sum(one.blank for one in found), marks[0] if marks else WHOLE, content=content)


def _literals_of(ends: Iterable[End]) -> Iterable[Literal]:
    return (end for end in ends if isinstance(end, Literal))
