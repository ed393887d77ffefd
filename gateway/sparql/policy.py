"""Hides a part of the graph behind an endpoint: which questions are asked under a policy, and with which conditions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from typing import Any

from gateway.errors import QueryRefused
from gateway.graph.call import Call, GivenTerms
from gateway.graph.values import Iri
from gateway.settings.endpoint import EngineName
from gateway.settings.hidden import Policy
from gateway.sparql import markup, template
from gateway.sparql.engines import TRAITS
from gateway.sparql.learned import Asking
from gateway.sparql.table import UnexpectedRows, integer, read
from gateway.sparql.template import NO_IRI, Parameter
from gateway.telemetry.tally import Clock
from gateway.terms.iri import STATING

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
