"""Hides a part of the graph behind an endpoint: which questions are asked under a policy, and with which conditions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from gateway.errors import QueryRefused
from gateway.graph.deadline import Clock
from gateway.settings.endpoint import EngineName
from gateway.settings.hidden import Policy
from gateway.sparql import template
from gateway.sparql import template_markup as markup
from gateway.sparql.engines.traits import TRAITS
from gateway.terms.known_iris import STATING

_LOOK_AGAIN_SECONDS = 300.0
"""After which the endpoint is asked again whether it has a Wikibase: data may have been loaded."""

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


def _proven() -> str:
    return " and ".join(traits.name for traits in TRAITS.values() if traits.keeps_policy)


def _no_elements(name: str) -> Sequence[str]:
    raise template.TemplateError(f"the conditions of a policy repeat nothing, and not {name}")
