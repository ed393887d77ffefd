"""Whether the keys of blank nodes lead back to the nodes at an endpoint: it is tried once, before any is believed.

Some engines take what states a key at another one for an IRI that is nowhere, or for nothing at all, and answer with
the whole graph (docs/notes/endpoints.md, "Blank nodes").
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.errors import EndpointFault, Fault, NetworkFault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.sparql.blank.contents import ContentReader
from gateway.sparql.blank.keys import ends_in, keys_in, made_up
from gateway.sparql.client import SparqlClient
from gateway.sparql.table import BlankTerm, Table, Term, UnexpectedRows, iri

_log = logging.getLogger(__name__)

_ROWS: Final = 500
"""Rows of the sample."""

_SECONDS: Final = 5.0
"""Time for all of it."""

_ATTEMPTS: Final = 3
"""Trials that may fail for another reason than the keys, before no more are made."""

Said = frozenset[tuple[Iri, Term]]
"""What a node says to others than blank nodes."""


class KeyProof:
    """What was found out about the keys of an endpoint.

    Attributes:
        holds: Whether they lead back to their nodes.
        fails: Whether they do not.
    """

    def __init__(self, client: SparqlClient) -> None:
        self._client = client
        self._trying = asyncio.Lock()
        self._left = _ATTEMPTS
        self.holds = False
        self.fails = False

    def has_held(self) -> None:
        """Note that a key led back to a node that says what it said before."""
        self.holds = True

    async def doubt(self, reader: ContentReader, beside: Iri | None, call: Call) -> Fault | None:
        """Return why keys are not to be believed; None if they are.

        Args:
            reader: Reads nodes by their keys.
            beside: A node beside which blank nodes are; None where none is known.
            call: The call that asks.
        """
        async with self._trying:
            if not self.holds and not self.fails:
                await self._try(reader, beside, call)
        if self.holds:
            return None
        return EndpointFault("It is not proven that blank nodes can be asked for at this endpoint.")

    async def _try(self, reader: ContentReader, beside: Iri | None, call: Call) -> None:
        probe = call.for_probe()
        try:
            with probe.within(min(_SECONDS, call.deadline.seconds_left / 2)):
                leads_back = await self._leads_back(reader, beside, probe)
        except (QueryRefused, UnexpectedRows) as refused:
            leads_back = False
            _log.info("blank nodes cannot be asked for at this endpoint: %s", refused)
        except Fault as fault:
            self._left -= 1
            self.fails = self._left <= 0
            _log.info("it could not be found out whether blank nodes can be asked for: %s", fault)
            return
        if leads_back is not None:
            self.holds, self.fails = leads_back, not leads_back
            _log.info("blank nodes can%s be asked for at this endpoint", "" if leads_back else "not")

    async def _leads_back(self, reader: ContentReader, beside: Iri | None, call: Call) -> bool | None:
        """Return whether keys lead to their nodes, alone, in any order, and beside one that nobody has.

        None where there are no blank nodes to try it with.
        """
        given = {"node": [[beside]] if beside is not None else []}
        rows, is_cut = (await self._client.rows("blank_nodes/sample", call, given, at_most=_ROWS)).part()
        said = _by_key(rows)
        if not said:
            return None
        first = next(iter(said))
        second = next((key for key in said if said[key] != said[first]), None)
        second = second or next((key for key in said if key != first), None)
        nobody = made_up(first)
        questions = [[first], [nobody], [nobody, first]]
        if second is not None:
            questions = [[second, first], [first], [nobody], [nobody, second]]
        for keys in questions:
            if not await self._is_right(reader, keys, said, call, is_part=is_cut):
                return False
        return True

    async def _is_right(
        self, reader: ContentReader, keys: Sequence[Iri], said: Mapping[Iri, Said], call: Call, *, is_part: bool
    ) -> bool:
        found = await reader.read_anew(keys, call)
        for key in keys:
            content = found[key]
            if isinstance(content.mark.fault, NetworkFault):
                raise content.mark.fault
            if content.mark.fault is not None or content.exists != (key in said):
                return False
            now = frozenset((predicate, end) for predicate, end in content.says if not isinstance(end, BlankTerm))
            before = said.get(key, frozenset())
            if not (before <= now if is_part else before == now):
                return False
        return True


def _by_key(rows: Table) -> Mapping[Iri, Said]:
    found: dict[Iri, set[tuple[Iri, Term]]] = {}
    for key, predicate, end in zip(keys_in(rows, "n"), iri("p")(rows), ends_in(rows), strict=True):
        said = found.setdefault(key, set())
        if not isinstance(end, BlankTerm):
            said.add((predicate, end))
    return {key: frozenset(said) for key, said in found.items()}
