"""The label index of an endpoint or a database."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from gateway.errors import ConfigurationError
from gateway.graph.store import OnProgress
from gateway.labels.index import IndexInfo
from gateway.labels.partial_index import allowance_of, no_progress
from gateway.labels.stored_index import StoredIndex
from gateway.settings.graph_identity import GraphIdentity, default_store
from gateway.settings.private_folder import check_private
from gateway.settings.profile import Profile, under_policy_at_endpoint, without_search_api
from gateway.stores.caches import cached
from gateway.stores.endpoints import store_at
from gateway.terms.prefixes import checked_prefixes


async def make_label_index(
    endpoint: str,
    profile: Profile,
    *,
    prefixes: Mapping[str, str] | None = None,
    store: str | Path | None = None,
    restart: bool = False,
    on_progress: OnProgress = no_progress,
) -> tuple[IndexInfo, Path]:
    """Build the label index of an endpoint, which `open_gateway` then uses.

    Args:
        endpoint: The URL.
        profile: The profile of the endpoint.
        prefixes: Namespaces by prefix, as `open_gateway` takes them: for a database they decide which IRIs its IDs are,
            so an index is used only with the same ones.
        store: The folder for stored indexes and schemas; by default the user's cache directory.
        restart: Whether to read all names again; by default an interrupted build is resumed.
        on_progress: Called with the number of entities that were read, and the total.

    Returns:
        Facts about the index, and its folder.

    Raises:
        Fault: The endpoint could not be asked; the next build resumes here.
        ConfigurationError: The URL or a prefix is wrong, or the folder cannot be written.
    """
    profile = under_policy_at_endpoint(profile)
    own = checked_prefixes(prefixes or {})
    read = store_at(endpoint, profile, own, None, time.time)
    graph = cached(read(without_search_api(profile)), without_search_api(profile), time.monotonic)
    stored = stored_index(endpoint, profile, own, store)
    allowance = allowance_of(profile)
    try:
        names = graph.name_reader()
        if names is None:
            raise ConfigurationError("This graph lists no names, so it can have no label index.")
        await names.find_predicates(allowance())
        return await stored.build(names, allowance, restart=restart, on_progress=on_progress), stored.folder
    finally:
        await graph.close()


def stored_index(url: str, profile: Profile, prefixes: Mapping[str, str], store: str | Path | None) -> StoredIndex:
    """Return the place of the label index of an endpoint or a database.

    Raises:
        ConfigurationError: The folder belongs to somebody else.
    """
    folder = default_store() if store is None else Path(store)
    stored = StoredIndex.of(GraphIdentity.of(url, profile, prefixes), folder)
    check_private(folder, stored.folder)
    return stored
