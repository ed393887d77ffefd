"""The typed shape of a profile. `docs/profiles.md` lists every setting; a test keeps the two together."""

from __future__ import annotations

from pydantic import Field

from gateway.settings.edges import EdgeSettings, HubSettings
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.evidence import EvidenceSettings
from gateway.settings.files import FileSettings
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.memory import CacheSettings, SnapshotSettings
from gateway.settings.orientation import OrientationSettings
from gateway.settings.search import SearchSettings
from gateway.settings.section import Section
from gateway.settings.vocabulary import NameSettings, RoleSettings, TypeSettings, ValueSettings


class ServerSettings(Section):
    """What clients may do."""

    explain: bool = Field(
        default=False,
        description=(
            "Whether the tools accept `explain`, which shows [the cost of a "
            "call](tools.md#explain-the-cost-of-a-call) and the SPARQL that was sent."
        ),
    )


class Profile(Section):
    """Everything an operator says about one graph."""

    extends: str = Field(
        default="",
        description=(
            "The profile that this one changes: the name of a built-in profile, or a path relative to this file."
        ),
    )
    description: str = Field(
        default="",
        description="What the graph is about, shown as `graph_description`. Empty: a sentence made from the counts.",
    )
    next_steps: str = Field(default="", description="Advice for this graph, shown before the general `next_steps`.")
    prefixes: dict[str, str] = Field(default_factory=dict, description="Prefixes of namespaces, for short IDs.")
    endpoint: EndpointSettings = EndpointSettings()
    edges: EdgeSettings = EdgeSettings()
    hubs: HubSettings = HubSettings()
    types: TypeSettings = TypeSettings()
    roles: RoleSettings = RoleSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    names: NameSettings = NameSettings()
    values: ValueSettings = ValueSettings()
    search: SearchSettings = SearchSettings()
    limits: LimitSettings = LimitSettings()
    files: FileSettings = FileSettings()
    orientation: OrientationSettings = OrientationSettings()
    size: SizeSettings = SizeSettings()
    snapshots: SnapshotSettings = SnapshotSettings()
    cache: CacheSettings = CacheSettings()
    server: ServerSettings = ServerSettings()
