"""Any number of entities described, for programs: in batches, and none left out for size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from gateway import messages
from gateway.answers.models import EntitiesResult, FullNode
from gateway.arguments import MAX_IDS
from gateway.errors import AllWrongError, Fault, InputError, QueryRefused, UnresolvedNameError, counted, quoted
from gateway.graph.call import Progress
from gateway.schema.view import first_warnings
from gateway.tools.readers import MOST_WRONG

Ask = Callable[[Mapping[str, Any]], Awaitable[EntitiesResult]]
"""Answers a call about at most `MAX_IDS` entities, whose size nothing limits."""


_MOST_HALVED = 100
"""Batches of one call that are asked again in halves because the engine refuses their queries."""

_ABOUT_IDS = re.compile(r"(?:describe_entities: )?ids\b")
_PLACE = re.compile(r"(?<=\Aids\[)[0-9]+|(?<=\Adescribe_entities: ids\[)[0-9]+")


def listed_texts(ids: Iterable[str]) -> Sequence[str]:
    """Return texts as a list, from whatever they come one by one; one text stays as it is.

    Raises:
        InputError: They are no texts.
    """
    if isinstance(ids, str):
        return ids
    if not isinstance(ids, Iterable):
        raise InputError(f"ids: {quoted(ids)} is no list of texts.", next_step="Give IDs or names, each as a text.")
    texts = list(ids)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"ids[{place}]: {quoted(text)} is no text.", next_step="Give IDs or names, each as a text."
            )
    return texts


async def whole_entities(
    ask: Ask, ids: Sequence[str], others: Mapping[str, Any], progress: Progress, is_id: Callable[[str], bool]
) -> EntitiesResult:
    """Return one answer about any number of entities, in the order asked.

    A text that means no entity is in `not_found`. What could not be asked for, and a text of which it is not known what
    it means, is in `failed`, and a warning says why.

    Args:
        ask: Answers about the entities of a batch.
        ids: IDs, IRIs or names.
        others: The other arguments.
        progress: Called after each batch.
        is_id: Whether a text is an ID; others are looked up as names.

    Raises:
        InputError: All IDs are wrong, or the cost of several calls is asked for.
        Fault: None could be looked up.
    """
    if isinstance(ids, str):
        # What it means is known where all arguments are read.
        return await ask({"ids": ids, **others})
    batches = list(_batches(dict.fromkeys(ids), is_id))
    if others.get("explain") and len(batches) > 1:
        raise InputError(
            "What it costs is known of one call, and these are several.",
            valid=f"Up to {MAX_IDS} IDs are described by one call.",
            next_step="Take `on_record` of `open_gateway`, which is called for each.",
        )
    if others.get("explain") or not batches:
        return await ask({"ids": list(dict.fromkeys(ids)), **others})
    asked = _Asked(ask, others, ids)
    done, total = 0, sum(map(len, batches))
    for batch in batches:
        await asked.add(batch)
        done += len(batch)
        if len(batches) > 1:
            await progress(done, total, f"{done:,} of {counted(total, 'entity')}")
    return asked.together()


class _Asked:
    """The answers of batches, where what is wrong with one text, or with the query about it, spoils no other."""

    def __init__(self, ask: Ask, others: Mapping[str, Any], ids: Sequence[str]) -> None:
        self._ask = ask
        self._others = others
        self._places = {text: place for place, text in reversed([*enumerate(ids)])}
        self._answers: list[EntitiesResult] = []
        self._problems: list[Fault | InputError] = []
        self._halved = 0
        self._is_answered = False

    async def add(self, batch: Sequence[str]) -> None:
        """Ask for a batch.

        Raises:
            InputError: An argument beside the IDs is wrong.
        """
        try:
            answer = await self._ask({"ids": list(batch), **self._others})
        except InputError as error:
            if not _ABOUT_IDS.match(error.wrong):
                # Another argument is wrong, for each batch alike.
                raise
            self._problems.append(error)
            errors = error.errors if isinstance(error, AllWrongError) else {batch[0]: error}
            if len(errors) == len(batch):
                self._answers.append(self._wrong(batch, errors))
            else:
                await self._add_halves(batch)
        except Fault as fault:
            self._problems.append(fault)
            if isinstance(fault, QueryRefused) and len(batch) > 1 and self._halved < _MOST_HALVED:
                self._halved += 1
                await self._add_halves(batch)
            else:
                self._answers.append(_failed(batch, fault))
        else:
            warnings = [self._placed(text, batch) for text in answer.warnings or ()]
            self._answers.append(answer.model_copy(update={"warnings": warnings}))
            self._is_answered = True

    def together(self) -> EntitiesResult:
        """Return one answer.

        Raises:
            InputError: All IDs are wrong.
            Fault: No other ID could be looked up.
        """
        if not self._is_answered:
            faults = [problem for problem in self._problems if isinstance(problem, Fault)]
            raise (faults or self._problems)[0]
        return _together(self._answers)

    async def _add_halves(self, batch: Sequence[str]) -> None:
        middle = len(batch) // 2
        await self.add(batch[:middle])
        await self.add(batch[middle:])

    def _wrong(self, batch: Sequence[str], errors: Mapping[str, InputError]) -> EntitiesResult:
        unsure = [text for text, error in errors.items() if isinstance(error, UnresolvedNameError)]
        return EntitiesResult(
            result=[],
            complete=not unsure,
            not_found=[text for text in errors if text not in unsure],
            failed=unsure,
            warnings=first_warnings(
                "ids", [self._placed(messages.left_out(error), batch) for error in errors.values()]
            ),
        )

    def _placed(self, warning: str, batch: Sequence[str]) -> str:
        """Return a warning about a place in a batch as one about the place in all IDs."""
        return _PLACE.sub(lambda found: str(self._places[batch[int(found[0])]]), warning)


def _batches(ids: Iterable[str], is_id: Callable[[str], bool]) -> Iterator[list[str]]:
    """Yield the IDs of each call, with so few names that all are looked up whatever they mean."""
    batch: list[str] = []
    names = 0
    for text in ids:
        is_name = not is_id(text)
        if len(batch) == MAX_IDS or (is_name and names == MOST_WRONG - 1):
            yield batch
            batch, names = [], 0
        batch.append(text)
        names += is_name
    if batch:
        yield batch


def _failed(batch: Sequence[str], error: Fault) -> EntitiesResult:
    return EntitiesResult(result=[], complete=False, not_found=[], failed=list(batch), warnings=[str(error)])


def _together(answers: Sequence[EntitiesResult]) -> EntitiesResult:
    """Return the answer that answers of batches make together; one entity may have two names in different ones."""
    found: dict[str, FullNode] = {}
    for answer in answers:
        found = {node.id: node for node in answer.result} | found
    order = {node.id: None for answer in answers for node in answer.result}
    labels = {name_id: name for answer in answers for name_id, name in (answer.labels or {}).items()}
    prefixes = {prefix: iri for answer in answers for prefix, iri in (answer.prefixes or {}).items()}
    degraded = sum((Counter(answer.degraded or {}) for answer in answers), Counter[str]())
    return EntitiesResult(
        result=[found[name_id] for name_id in order],
        complete=all(answer.complete for answer in answers),
        not_found=_distinct(answer.not_found for answer in answers),
        failed=_distinct(answer.failed or () for answer in answers) or None,
        labels=labels or None,
        prefixes=prefixes or None,
        degraded=dict(degraded) or None,
        warnings=_distinct(answer.warnings or () for answer in answers) or None,
    )


def _distinct(lists: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(lists)))
