"""A gateway over the service, in the time of the event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.flow.quota import ChargedRequest, Quota
from gateway.graph.call import Deadline
from gateway.settings.profile import Profile
from gateway.stores.endpoints import connect, store_over
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.throttling.service import Service
from tests.throttling.virtual_time import VirtualTimeLoop


def now() -> float:
    """Return the time of the running loop."""
    return asyncio.get_running_loop().time()


class _Watched(Quota):
    """A quota that knows what is on its way to the service and back."""

    service: Service
    under_way = 0
    given_up = 0

    @asynccontextmanager
    async def charging(self, deadline: Deadline) -> AsyncIterator[ChargedRequest]:
        """Count a request."""
        async with super().charging(deadline) as request:
            self.under_way += 1
            try:
                yield request
            finally:
                self.under_way -= 1
                self.given_up += not request.has_ended

    @property
    def on_its_way(self) -> bool:
        """Whether a request, an answer, or word that nobody waits for it any more has not arrived."""
        return self.under_way > self.service.asleep or self.given_up > self.service.left

    def lost(self) -> None:
        """Let time go on: who gives up before it is connected leaves no trace at the service."""
        self.given_up = self.service.left


@asynccontextmanager
async def gateway_at(url: str, profile: Profile, service: Service) -> AsyncIterator[Gateway]:
    """Open a gateway, as `open_gateway` does."""
    http = connect(url, profile, now)
    quota = _Watched(profile.endpoint.quota, clock=now)
    quota.service = service
    http.flow.quota = quota
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    loop.watch(quota)
    store = store_over(http, profile, now)
    async with Gateway(store, profile, PrefixMap(profile.prefixes), now) as gateway:
        yield gateway
