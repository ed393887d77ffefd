"""What the engine computes over the nodes of some types, with what proves it (docs/values.md, "Who computes").

Sources of what engines do, and of the proof: docs/notes/endpoints.md, "Values in conditions".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from gateway.errors import Fault
from gateway.graph.call import Call, together
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.values import Iri, Mark
from gateway.graph.walks import UNPROVEN, Aggregate, Aggregated, End, Step, Totals
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import TRAITS
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import IriTerm, LiteralTerm, Table, Term, integer, literal, literal_of, optional, read
from gateway.sparql.template import Parameter
from gateway.sparql.walks import SinglePredicates, WalkReader, patterns_of, turns_of
from gateway.terms.comparable import Number, comparable
from gateway.terms.iri import ARRAY, ORDER, XSD, is_reached_by, is_sendable
from gateway.terms.literals import Literal

_EXACT = frozenset({f"{XSD}integer", f"{XSD}decimal"})
_LISTS = frozenset({ARRAY, ORDER})
_Groups = Mapping[End | None, Totals]


class AggregateReader:
    """Asks one engine for what it computes."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, walks: WalkReader, type_predicates: Sequence[Iri]) -> None:
        self._client = client
        self._rule = rule
        self._walks = walks
        self._type_predicates = type_predicates

    async def aggregates(self, asked: Sequence[Aggregate], call: Call) -> Mapping[Aggregate, Aggregated]:
        """Return what the engine computes; see `GraphStore.aggregates`."""
        figures = TRAITS[await self._client.engine(call)].figures if self._client.is_remote else "distinct"
        if figures is None:
            return dict.fromkeys(asked, UNPROVEN)
        await self._rule.refresh(call)
        is_distinct = figures == "distinct" and await self._may_have_named_graphs(asked, call)
        async with together() as tasks:
            readings = [tasks.create_task(self._marked(one, call, is_distinct=is_distinct)) for one in asked]
        return {one: reading.result() for one, reading in zip(asked, readings, strict=True)}

    async def _may_have_named_graphs(self, asked: Sequence[Aggregate], call: Call) -> bool:
        """Return whether triples may be in several graphs; the number of all nodes is that of distinct ones anyway."""
        if all(one.by is None and one.walk is None for one in asked):
            return True
        try:
            return len((await self._client.rows("evidence/graphs_in_use", call, {})).whole()) > 0
        except Fault:
            return True

    async def _marked(self, asked: Aggregate, call: Call, *, is_distinct: bool) -> Aggregated:
        if self._client.is_remote and any(map(is_reached_by, asked.types)):
            # An engine does not know the types of blank nodes without one.
            return UNPROVEN
        try:
            groups = await self._groups(asked, call, is_distinct=is_distinct)
        except Fault as fault:
            return Aggregated(mark=Mark(fault))
        return UNPROVEN if groups is None else Aggregated(groups)

    async def _groups(self, asked: Aggregate, call: Call, *, is_distinct: bool) -> _Groups | None:
        """Return what was computed over each group; None where it is not proven."""
        given: dict[str, Parameter] = {"types": self._type_predicates}
        by = None if asked.by is None else self._single((asked.by,))
        along = None if asked.walk is None else self._single(asked.walk)
        if (by is None) != (asked.by is None) or (along is None) != (asked.walk is None):
            return None
        if along is not None:
            to_group = [] if by is None else _to_group(by)
            given |= {
                "by": [] if asked.is_of_rest else to_group,
                "without": to_group if asked.is_of_rest else [],
                "steps": patterns_of(along),
                "turns": turns_of(along),
            }
            return await self._by_group("figures/sums", _sums, asked, given, call, is_distinct=is_distinct)
        if by is not None:
            given |= {"by": _to_group(by)}
            return await self._by_group("figures/members", _counts, asked, given, call, is_distinct=is_distinct)
        # Whatever states evidence is hidden by a policy.
        evidence = self._rule.evidence_of_nodes
        given |= dict.fromkeys(evidence, ()) if self._client.hides_evidence else evidence
        given |= self._wanted(asked, is_distinct=is_distinct)
        rows = (await self._client.rows("figures/all", call, given)).whole()
        found = {kind.value: found for kind, *found in read(rows, literal("kind"), integer("count"), integer("blank"))}
        count, blank = found.pop("all", [0, 0])
        return None if found or blank else {None: Totals(count)}

    async def _by_group(
        self,
        name: str,
        reader: Callable[[Table], _Groups | None],
        asked: Aggregate,
        given: dict[str, Parameter],
        call: Call,
        *,
        is_distinct: bool,
    ) -> _Groups | None:
        wanted = self._wanted(asked, is_distinct=is_distinct)
        rows = (await self._client.rows(name, call, given | wanted)).whole()
        found = await in_thread(call, lambda _: reader(rows), unless=len(rows) <= FEW_FOR_A_THREAD)
        if wanted["wanted"] and any(isinstance(end, Literal) and end.language for end in found or ()):
            # To some engines @en and @EN are one group, into which a node with both came twice.
            return await self._by_group(name, reader, asked, given, call, is_distinct=True)
        return found

    def _wanted(self, asked: Aggregate, *, is_distinct: bool) -> dict[str, Parameter]:
        """Return the types as template parameters: with distinct rows also where a node may have several of them."""
        is_distinct |= len(asked.types) > 1 or len(self._type_predicates) > 1
        return {
            "wanted": [] if is_distinct else [asked.types],
            "wanted_distinct": [asked.types] if is_distinct else [],
        }

    def _single(self, walk: Sequence[Step]) -> SinglePredicates | None:
        """Return a walk of one predicate a step; None for one that means several, or a role."""
        if any(isinstance(step.predicates, str) for step in walk):
            return None
        combinations = self._walks.combinations(tuple(walk))
        return combinations[0] if len(combinations) == 1 else None


def _to_group(by: SinglePredicates) -> list[tuple[str, Iri, str]]:
    return [(*pattern[:2], "g") if pattern[2] == "v" else ("g", *pattern[1:]) for pattern in patterns_of(by)]


def _counts(rows: Table) -> _Groups | None:
    found: dict[End | None, Totals] = {}
    for group, count in read(rows, optional("g"), integer("count")):
        end = _end_of(group)
        if end is None and group is not None:
            return None
        found[end] = Totals(count)
    return found


def _sums(rows: Table) -> _Groups | None:
    found: dict[End | None, Totals] = {}
    counts = read(rows, optional("g"), integer("count"), integer("plain"))
    for (group, count, plain), bound in zip(
        counts, read(rows, optional("sum"), optional("least"), optional("most")), strict=True
    ):
        end, (total, least, most) = _end_of(group), map(_exact, bound)
        if (end is None and group is not None) or count != plain or total is None or least is None or most is None:
            return None
        if total[0].datatype not in _EXACT:
            return None
        found[end] = Totals(count, total[1], least[0], most[0])
    return found


def _end_of(group: Term | None) -> End | None:
    """Return the end that stands for a group; None where there is none, or where it has no ID or is a list."""
    match group:
        case IriTerm() if is_sendable(group.value):
            return group.value
        case LiteralTerm():
            end = literal_of(group)
            return None if end.datatype in _LISTS else end
        case _:
            return None


def _exact(bound: Term | None) -> tuple[Literal, Fraction] | None:
    """Return an exact number."""
    if not isinstance(bound, LiteralTerm):
        return None
    found = literal_of(bound)
    match comparable(found):
        case Number(value=Fraction() as value):
            return found, value
        case _:
            return None
