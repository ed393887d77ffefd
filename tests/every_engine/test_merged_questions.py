"""Several questions in one query have the rows that each has alone, on every engine."""

import pytest

from gateway.graph.call import Deadline
from gateway.sparql.json_rows import decode
from gateway.sparql.merging import Merged, Question, may_be_merged
from gateway.sparql.template import Parameter, Template
from gateway.transport.http import Http
from tests.columns import BEHIND_HTTP, Column
from tests.every_engine.test_same_rows import LACKING, ROWS, _asked, _meanings, _rows

pytestmark = pytest.mark.anyio

AT_ONCE = 3
ENGINES = [one for one in BEHIND_HTTP if "virtuoso" not in one.values]
"""Virtuoso finds some of them too long together; it does not sort, and is sent none."""


@pytest.mark.parametrize("graph", ["medical", "awkward"])
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_questions_in_one_query_have_the_rows_that_each_has_alone(
    engine: Column, reference: Column, graph: str
) -> None:
    there, here = engine.transport(graph), reference.transport(graph)
    assert isinstance(there, Http)
    lacking = LACKING.get(engine.name, set())
    by_template: dict[str, list[tuple[Template, dict[str, Parameter]]]] = {}
    for text, values in _asked(engine, graph):
        if may_be_merged(text) and text.dialect not in lacking and "/" not in text.name.removeprefix("lateral/"):
            by_template.setdefault(text.name, []).append((text, {**values}))
    # Each template stands beside others, by its first question and its last.
    asked = [given[at] for at in (0, -1) for given in by_template.values()]
    compared = 0
    try:
        for begin in range(0, len(asked), AT_ONCE):
            some = asked[begin : begin + AT_ONCE]
            queries = [text.render(values) for text, values in some]
            if len({query[: query.index("SELECT")] for query in queries}) > 1:
                # They declare prefixes, which would have to be one for all.
                continue
            merged = Merged(
                tuple(Question(text, query, query, ROWS) for (text, _), query in zip(some, queries, strict=True)),
                AT_ONCE * (ROWS + 1),
            )
            answer = await there.select(merged.query, Deadline.after(100))
            answers = merged.answers(decode(answer, merged.variables))
            for (text, values), rows in zip(some, answers, strict=True):
                assert rows is not None, merged.query
                assert _meanings(rows, text, None) == await _rows(here, text, values), merged.query
                compared += 1
    finally:
        await there.close()
        await here.close()
    assert compared > len(by_template)
