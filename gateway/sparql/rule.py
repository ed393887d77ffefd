"""Which triples are edges, which of them a question selects, and which of them a policy hides at an endpoint.

Nodes and predicates stand in two VALUES, so that a query is as long as both together and not as all pairs of them.
After them each template has ``BIND(?p AS ?asked)``: Oxigraph orders what it joins by size, and would read all edges of
a hub, or all triples of a predicate, in place of each pair. Over a BIND it moves nothing (docs/notes/endpoints.md,
"VALUES"). Inside LATERAL, where the node is known, another LATERAL does that; `degrees`, for engines without LATERAL,
has neither.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Protocol

from gateway.errors import QueryRefused
from gateway.graph.call import Call, GivenTerms
from gateway.graph.values import EdgeSelection, Iri
from gateway.settings.endpoint import EngineName
from gateway.settings.hidden import Policy
from gateway.settings.vocabulary import EdgeSettings, EvidenceSettings, EvidenceWay
from gateway.sparql import markup, template
from gateway.sparql.engines import TRAITS
from gateway.sparql.learned import Asking
from gateway.sparql.table import UnexpectedRows, integer, read
from gateway.sparql.template import NO_IRI, Parameter
from gateway.telemetry.tally import Clock
from gateway.terms.iri import (
    ANNOTATED,
    BIOLINK_SUBJECT,
    CELLS,
    EVIDENCE_MARKERS,
    OBAN_SUBJECT,
    SINGLETON_PROPERTY_OF,
    STATING,
)

_ASSOCIATIONS: Mapping[EvidenceWay, Iri] = {"oban": OBAN_SUBJECT, "biolink": BIOLINK_SUBJECT}

_MARKERS: Mapping[Iri, EvidenceWay] = dict(zip(EVIDENCE_MARKERS, ("annotations", "statements"), strict=True))

_MARKERS_IN_USE: Mapping[EvidenceWay, Iri] = {"singleton_properties": SINGLETON_PROPERTY_OF, "axioms": ANNOTATED[0]}
"""Markers that are asked for where a graph may use their way."""

WAYS_WITH_NODES: tuple[EvidenceWay, ...] = ("annotations", "statements", *_MARKERS_IN_USE, *_ASSOCIATIONS)
"""Ways of stating evidence by nodes of their own."""


class Uses(Protocol):
    """The ways in which a graph states evidence."""

    def may_use(self, way: EvidenceWay) -> bool:
        """Return whether the graph may use a way."""
        ...

    def never_uses(self, way: EvidenceWay) -> bool:
        """Return whether the graph does not use a way, and will not: no triple of it is there, and none can come."""
        ...

    @property
    def may_have_nodes(self) -> bool:
        """Whether the graph may have evidence nodes: where they were not looked for, or are there, and can be seen."""
        ...

    async def refresh(self, call: Call) -> None:
        """Detect the ways in use, if that can be done and was not done recently."""
        ...


@dataclass(frozen=True, slots=True)
class StatedWays:
    """What a profile says about it, and no more: the ways that it names; None where the graph may use any."""

    ways: tuple[EvidenceWay, ...] | None = None

    @classmethod
    def of(cls, evidence: EvidenceSettings) -> StatedWays:
        """Return what a profile says."""
        return cls(evidence.read)

    def may_use(self, way: EvidenceWay) -> bool:
        """Return whether the graph may use a way."""
        return self.ways is None or way in self.ways

    def never_uses(self, _way: EvidenceWay) -> bool:
        """Return False: a profile names the ways that are read, not all that there are."""
        return False

    @property
    def may_have_nodes(self) -> bool:
        """Whether the graph may have evidence nodes: a profile names the ways that are read, not all that there are."""
        return True

    async def refresh(self, _call: Call) -> None:
        """Nothing to detect."""


@dataclass(frozen=True, slots=True)
class EdgeRule:
    """A profile's edge rule, as template parameters.

    Attributes:
        excepted: Predicates that are no edges.
        allowed: Predicates that alone are edges; with `namespaces` empty too, every predicate is one.
        namespaces: Namespaces whose predicates alone are edges.
        objects: How the IRIs begin that alone are objects of edges; empty: any IRI is one.
        evidence_nodes: Whether the graph may have nodes that state evidence; these are then no ends of edges.
        uses: The ways of stating evidence that the graph uses. Only these are excluded, because each exclusion costs
            time for every triple.
        reads_cells: Whether the triples of cells are read too where the rule leaves them out, so that the lists can be
            read to which other predicates lead.
    """

    excepted: tuple[Iri, ...]
    allowed: tuple[Iri, ...]
    namespaces: tuple[str, ...]
    objects: tuple[str, ...]
    evidence_nodes: bool
    uses: Uses = field(default=StatedWays(), compare=False)
    reads_cells: bool = False

    @classmethod
    def of(cls, edges: EdgeSettings, uses: Uses | None = None, *, reads_cells: bool = False) -> EdgeRule:
        """Return the rule that a profile states."""
        return cls(
            excepted=edges.excluded,
            allowed=edges.allowed_predicates,
            namespaces=edges.allowed_namespaces,
            objects=edges.objects,
            evidence_nodes=edges.evidence_nodes,
            uses=uses or StatedWays(),
            reads_cells=reads_cells,
        )

    @property
    def is_allow_list(self) -> bool:
        """Whether some predicates alone are edges."""
        return bool(self.allowed or self.namespaces)

    def without_allow_list(self) -> EdgeRule:
        """Return the rule by which all predicates that are not excepted are edges."""
        return replace(self, allowed=(), namespaces=())

    def allows(self, predicate: Iri) -> bool:
        """Return whether the rule's allow-list, if there is one, has the predicate."""
        if not self.is_allow_list:
            return True
        return predicate in self.allowed or predicate.startswith(self.namespaces)

    def is_edge(self, predicate: Iri) -> bool:
        """Return whether triples with a predicate are edges, whatever their ends."""
        return self.allows(predicate) and predicate not in self.excepted

    def reads(self, predicate: Iri) -> bool:
        """Return whether triples with a predicate are read as edges are: edges, and cells of lists."""
        return self.is_edge(predicate) or predicate.startswith(self._of_cells)

    @property
    def _of_cells(self) -> tuple[str, ...]:
        """How the predicates of cells begin, where these are read though they are no edges."""
        return CELLS if self.reads_cells else ()

    @property
    def evidence(self) -> dict[str, Parameter]:
        """What makes nodes and predicates evidence, as template parameters."""
        singletons = self.evidence_nodes and self.uses.may_use("singleton_properties")
        further = (marker for way, marker in _MARKERS_IN_USE.items() if self.uses.may_use(way))
        return {
            "markers": (*EVIDENCE_MARKERS, *further) if self.evidence_nodes else (),
            "associations": tuple(
                predicate for way, predicate in _ASSOCIATIONS.items() if self.evidence_nodes and self.uses.may_use(way)
            ),
            "singletons": (SINGLETON_PROPERTY_OF,) if singletons else (),
        }

    @property
    def scanned_evidence(self) -> dict[str, Parameter]:
        """The same as `evidence` for questions that read the whole graph, without what it certainly does not have.

        Questions about some nodes ask for all of it: Oxigraph returns edges in an order that depends on the conditions.
        """
        never = {marker for marker, way in _MARKERS.items() if self.uses.never_uses(way)}
        markers = self.evidence["markers"]
        kept = tuple(one for one in markers if one not in never) if isinstance(markers, tuple) else markers
        return {**self.evidence, "markers": kept}

    @property
    def scanned_evidence_of_nodes(self) -> dict[str, Parameter]:
        """What of it makes nodes evidence."""
        return {name: value for name, value in self.scanned_evidence.items() if name != "singletons"}

    @property
    def read_markers(self) -> list[Iri]:
        """The predicates of the nodes that state something about edges, in the ways that are read."""
        found = self.scanned_evidence_of_nodes if self.may_have_evidence else {}
        markers = (one for listed in found.values() if isinstance(listed, tuple) for one in listed)
        return [one for one in markers if one not in _MARKERS or self.uses.may_use(_MARKERS[one])]

    @property
    def evidence_of_nodes(self) -> dict[str, Parameter]:
        """What makes nodes evidence, as template parameters."""
        return {name: value for name, value in self.evidence.items() if name != "singletons"}

    def evidence_at(self, variables: Sequence[str]) -> dict[str, Parameter]:
        """Return what makes the nodes of some variables evidence, as template parameters."""
        found = {name: (value if isinstance(value, tuple) else ()) for name, value in self.evidence_of_nodes.items()}
        return {
            "unmarked": [(node, marker) for node in variables for marker in found["markers"]],
            "unassociated": [(node, one) for node in variables for one in found["associations"]],
        }

    @property
    def may_have_evidence(self) -> bool:
        """Whether the graph may have evidence nodes, by what was found when they were looked for last.

        That is enough for lists that claim nothing. No edge leads to an evidence node, whatever was found.
        """
        return self.evidence_nodes and self.uses.may_have_nodes

    @property
    def evidence_as_found(self) -> dict[str, Parameter]:
        """The same as `evidence`; nothing where evidence nodes were looked for in vain, because it costs time."""
        return self.evidence if self.may_have_evidence else dict.fromkeys(self.evidence, ())

    @property
    def ends(self) -> dict[str, Parameter]:
        """What may stand at the end of an edge, as template parameters."""
        return {"any_object": not self.objects, "objects": self.objects}

    @property
    def predicates(self) -> dict[str, Parameter]:
        """The allow-list of predicates, as template parameters."""
        return {
            "any_predicate": not self.is_allow_list,
            "allowed": self.allowed,
            "namespaces": (*self.namespaces, *(self._of_cells if self.is_allow_list else ())),
        }

    async def refresh(self, call: Call) -> None:
        """Detect which evidence nodes to exclude, unless that was done recently."""
        if self.evidence_nodes:
            await self.uses.refresh(call)

    async def refreshed(self, call: Call) -> dict[str, Parameter]:
        """Return the rule as template parameters, as it is after `refresh`."""
        await self.refresh(call)
        return self.parameters

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The rule as template parameters."""
        # What the allow-list leaves out need not be excepted; on Wikidata that is half of each sub-select's text.
        excepted = tuple(iri for iri in self.excepted if self.allows(iri) and not iri.startswith(self._of_cells))
        return {"excepted": excepted, **self.evidence, **self.predicates, **self.ends}


_NO_PREDICATE = "urn:bfs-ql:none"
"""Stands where no predicate is wanted: every engine finds no triple with it at once, but not every one takes VALUES
without a term."""


def selection_parameters(selection: EdgeSelection) -> dict[str, Parameter]:
    """Return the predicates of each direction; where all are wanted, the query names none."""
    return {"outgoing": _in_values(selection.outgoing), "incoming": _in_values(selection.incoming)}


def predicate_parameters(predicates: tuple[Iri, ...] | None) -> dict[str, Parameter]:
    """Return the predicates of a question about outgoing edges alone."""
    return {"predicates": _in_values(predicates)}


def selected_predicates(selection: EdgeSelection) -> Sequence[Iri]:
    """Return the predicates that stand in a query, one for each time; none where all edges are selected."""
    lists = [*_in_values(selection.outgoing), *_in_values(selection.incoming)]
    return tuple(chain.from_iterable(lists))


def _in_values(predicates: tuple[Iri, ...] | None) -> Sequence[Sequence[Iri]]:
    """Return one list of predicates for a block of a template, or no list."""
    return [] if predicates is None else [predicates or (_NO_PREDICATE,)]


_LOOK_AGAIN_SECONDS = 300.0
"""After which the endpoint is asked again whether it has a Wikibase: data may have been loaded."""

_AT_ONCE = 200
"""Terms in one query."""

_OF_NODES = frozenset({"node", "nodes"})
"""Parameters whose IRIs are subjects or objects alone."""

_NEXT_STEP = "The operator of this gateway can serve a file of the graph in its place (docs/policy.md)."


class EndpointPolicy:
    """What is hidden of the graph of one endpoint.

    Args:
        policy: What is hidden.
        clock: A monotonic clock.
    """

    def __init__(self, policy: Policy, clock: Clock) -> None:
        self._slots = {
            "hidden": template.written("iri_list", (*policy.types, *policy.predicates, *policy.graphs)),
            "without_literals": template.written("iri_list", policy.literals),
            "in_class": template.written("path", (*policy.type_predicates, *policy.subclass_predicates)),
            "stating": template.written("path", STATING),
        }
        self._parts = markup.read(template.part("visible"))
        self._clock = clock
        self._is_wikibase = False
        self._looked_at: float | None = None

    def conditions(self, pattern: markup.TriplePattern) -> str:
        """Return the conditions under which a triple that matches a pattern is visible, as SPARQL."""
        subject, predicate, value = pattern
        slots = {**self._slots, "subject": subject, "predicate": predicate, "object": value}
        return "".join(markup.write(self._parts, slots, _no_elements))

    async def find_hidden(self, call: Call, client: Asking) -> None:
        """Find out, once for a call, which terms are hidden of those that its client gave.

        Raises:
            Fault: The endpoint could not be asked.
        """
        given = call.given
        async with given.finding:
            if given.hidden_nodes is not None:
                return
            terms, left = sorted(given.iris), list[tuple[bool, bool]]()
            size = max(1, min(_AT_ONCE, client.query_rows))
            for start in range(0, len(terms), size):
                left += await _left(terms[start : start + size], call, client)
            known = list(zip(terms, left, strict=True))
            given.hidden_predicates = frozenset(term for term, (_, as_predicate) in known if not as_predicate)
            given.hidden_nodes = frozenset(term for term, (as_node, _) in known if not as_node)

    def sent(
        self, text: template.Template, parameters: Mapping[str, Parameter], given: GivenTerms
    ) -> Mapping[str, Parameter]:
        """Return the parameters of a question with a term that the graph does not have in the place of each hidden one.

        What the engine would do about a hidden term, to find every triple of it hidden, could be told by the time.
        """
        if text.reads != "graph" or not given.hidden_nodes:
            return parameters
        return {
            name: _replaced(value, given.hidden_nodes if name in _OF_NODES else given.hidden_predicates)
            if name in text.of_iris
            else value
            for name, value in parameters.items()
        }

    async def check(
        self, text: template.Template, engine: EngineName, has_wikibase: Callable[[], Awaitable[bool]]
    ) -> None:
        """Check that a question can be asked without telling what is hidden.

        Args:
            text: The question.
            engine: The engine that would answer it.
            has_wikibase: Asks the endpoint whether it has something of a Wikibase.

        Raises:
            QueryRefused: It cannot.
            Fault: The endpoint could not be asked.
        """
        if text.reads != "graph":
            return
        if not text.may_be_guarded:
            raise QueryRefused("A part of this graph is hidden, and so this is not asked of its endpoint.")
        if not TRAITS[engine].keeps_policy:
            raise QueryRefused(
                f"A part of this graph is hidden, and its endpoint is {TRAITS[engine].name}, "
                "of which it is not known that it hides it.",
                valid=f"Tests have shown it of {_proven()}.",
                next_step=_NEXT_STEP,
            )
        if self._looked_at is None or self._clock() >= self._looked_at + _LOOK_AGAIN_SECONDS:
            self._is_wikibase = await has_wikibase()
            self._looked_at = self._clock()
        if self._is_wikibase:
            raise QueryRefused(
                "A part of this graph is hidden, and at an endpoint nothing can be hidden of a Wikibase, whose "
                "statements have several forms.",
                next_step=_NEXT_STEP,
            )


def is_stand_in(iri: Iri) -> bool:
    """Return whether an IRI was sent in the place of a hidden one."""
    return iri.startswith(NO_IRI)


async def _left(terms: Sequence[Iri], call: Call, client: Asking) -> list[tuple[bool, bool]]:
    """Return whether each term is left as a node, and as a predicate."""
    given = {"terms": [(term, place) for place, term in enumerate(terms)]}
    try:
        rows = (await client.rows("policy/terms", call.beside(), given)).whole()
    except QueryRefused:
        if len(terms) == 1:
            # Whatever is asked about it is refused too.
            return [(True, True)]
        middle = len(terms) // 2
        first = await _left(terms[:middle], call, client)
        return first + await _left(terms[middle:], call, client)
    found = {
        place: (as_node == 1, as_predicate == 1)
        for place, as_node, as_predicate in read(rows, integer("at"), integer("node"), integer("predicate"))
    }
    if found.keys() != set(range(len(terms))):
        raise UnexpectedRows
    return [found[place] for place in range(len(terms))]


def _replaced(value: Any, hidden: Container[Iri]) -> Any:
    """Return an IRI, or what is made of IRIs, with one of the same length that no graph has for each hidden one."""
    if isinstance(value, str):
        return NO_IRI.ljust(len(value), "-") if value in hidden else value
    return [_replaced(one, hidden) for one in value]


def _proven() -> str:
    return " and ".join(traits.name for traits in TRAITS.values() if traits.keeps_policy)


def _no_elements(name: str) -> Sequence[str]:
    raise template.TemplateError(f"the conditions of a policy repeat nothing, and not {name}")
