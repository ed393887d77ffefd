"""Any number of entities described, for programs: in batches, and none left out for size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from gateway.answers.models import EntitiesResult, FullNode
from gateway.arguments import MAX_IDS
from gateway.errors import Fault, InputError, counted
from gateway.graph.call import Progress
from gateway.tools.readers import MOST_WRONG

Ask = Callable[[Mapping[str, Any]], Awaitable[EntitiesResult]]
"""Answers a call about at most `MAX_IDS` entities, whose size nothing limits."""


async def whole_entities(
    ask: Ask, ids: Sequence[str], others: Mapping[str, Any], progress: Progress, is_id: Callable[[str], bool]
) -> EntitiesResult:
    """Return one answer about any number of entities, in the order asked.

    What a batch could not be asked for is in `failed`, and a warning says why.

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
    if isinstance(ids, str) or not all(isinstance(text, str) for text in ids):
        # What it means, or what is wrong with it, is known where all arguments are read.
        return await ask({"ids": ids, **others})
    batches = list(_batches(dict.fromkeys(ids), is_id))
    if len(batches) <= 1:
        return await ask({"ids": list(ids), **others})
    if others.get("explain"):
        raise InputError(
            "What it costs is known of one call, and these are several.",
            valid=f"Up to {MAX_IDS} IDs are described by one call.",
            next_step="Take `on_record` of `open_gateway`, which is called for each.",
        )
    answers: list[EntitiesResult] = []
    problems: list[Fault | InputError] = []
    done, total = 0, sum(map(len, batches))
    for batch in batches:
        try:
            answers.append(await ask({"ids": batch, **others}))
        except (Fault, InputError) as error:
            problems.append(error)
            answers.append(_failed(batch, error))
        done += len(batch)
        await progress(done, total, f"{done:,} of {counted(total, 'entity')}")
    if len(problems) == len(answers):
        raise problems[0]
    return _together(answers)


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


def _failed(batch: Sequence[str], error: Fault | InputError) -> EntitiesResult:
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
