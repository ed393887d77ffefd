"""No sequence of readings, expiries and observations makes the schema cache claim what it did not count."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.cache.on_disk import StoredSchema
from gateway.errors import EndpointFault, Fault
from gateway.graph.call import Call, Deadline, deadline_passed
from gateway.graph.store import GraphStore
from gateway.graph.values import Basis, Schema, Term
from gateway.schema.cache import SchemaCache
from gateway.settings.limits import LimitSettings, OrientationSettings
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from tests.examples import examples
from tests.small import PREFIXES, X

HOUR = 3600.0

EXACT = Schema((Term(f"{X}T", 3),), (), exact=True, version="1", basis=Basis(("enumerated",)), names=())
PARTIAL = replace(EXACT, exact=False, reason="too large", version="2", basis=Basis(("sampled",)))

results = st.sampled_from([EXACT, PARTIAL, EndpointFault("Down."), deadline_passed()])
steps = st.one_of(
    st.tuples(st.just("read"), results, results, st.booleans(), st.booleans()),
    st.tuples(st.just("wait"), st.sampled_from([61.0, HOUR + 1])),
    st.tuples(st.just("observe"), st.sampled_from(["T", "New", "Newer"])),
)


@dataclass
class Readings:
    """A store whose schema is what the test says, and that notes when it returned what."""

    now: float = 1_000.0
    quick: Schema | Fault = EXACT
    whole: Schema | Fault = EXACT
    returned: list[tuple[float, Schema | Fault]] = field(default_factory=list)

    async def quick_schema(self, _: Call) -> Schema:
        """Return the result of the quick reading, or raise."""
        return self._return(self.quick)

    async def schema(self, _: Call) -> Schema:
        """Return the result of the enumeration, or raise."""
        return self._return(self.whole)

    def _return(self, result: Schema | Fault) -> Schema:
        self.returned.append((self.now, result))
        if isinstance(result, Fault):
            raise result
        return result

    def count_holds(self) -> bool:
        """Return whether a reading counted every triple, and none failed or was cut after that had expired."""
        counted = [number for number, (_, result) in enumerate(self.returned) if result is EXACT]
        if not counted:
            return False
        at = self.returned[counted[-1]][0]
        return all(when <= at + HOUR for when, _ in self.returned[counted[-1] + 1 :])


@given(
    st.sampled_from([None, EXACT, PARTIAL]),
    st.sampled_from([None, 0.0, 600.0]),
    st.booleans(),
    st.lists(steps, max_size=12),
)
@settings(max_examples=examples(300))
def test_lists_are_comprehensive_only_if_a_count_holds_and_no_traversal_disproved_it(
    tmp_path_factory: pytest.TempPathFactory,
    stored: Schema | None,
    enumeration_seconds: float | None,
    vouched: bool,
    script: list[Any],
) -> None:
    storage = StoredSchema(tmp_path_factory.mktemp("schema"))
    if stored is not None:
        storage.save(stored)
    asyncio.run(_follow(storage, enumeration_seconds, vouched=vouched, script=script))


async def _follow(
    storage: StoredSchema, enumeration_seconds: float | None, *, vouched: bool, script: list[Any]
) -> None:
    orientation = OrientationSettings(enumeration_seconds=enumeration_seconds, vouched=vouched, patience_seconds=60)
    store = Readings()
    profile = Profile(orientation=orientation, limits=LimitSettings(schema_hours=1.0))
    cache = SchemaCache(cast("GraphStore", store), profile, PrefixMap(PREFIXES), lambda: store.now, storage)
    is_disproved = False
    for step, *arguments in script:
        before = len(store.returned)
        if step == "wait":
            store.now += arguments[0]
        elif step == "observe":
            claimed = cache.latest is not None and cache.latest.comprehensive
            listed = {} if cache.latest is None else {term.iri for term in cache.latest.schema.types}
            await cache.observe([f"{X}{arguments[0]}"], [])
            is_disproved = is_disproved or (claimed and f"{X}{arguments[0]}" not in listed)
        else:
            store.quick, store.whole, unknown_term, in_full = arguments
            call = Call(Deadline.after(30, lambda: store.now), 200, 500_000, 200_000)
            await cache.view(call, unknown_term=unknown_term, in_full=in_full)
        await cache.wait_until_read()
        if any(result is EXACT for _, result in store.returned[before:]):
            is_disproved = False
        latest = cache.latest
        if latest is not None and latest.comprehensive:
            assert not is_disproved
            assert vouched or store.count_holds()
