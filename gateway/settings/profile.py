"""A profile: all its sections.

`docs/profiles.md` lists every setting; a test compares the two.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, ValidationError, field_validator

from gateway.errors import ConfigurationError, counted
from gateway.settings.databases import Neo4jSettings, PostgresSettings
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.files import FileSettings
from gateway.settings.hidden import HiddenSettings, Policy
from gateway.settings.limits import (
    CacheSettings,
    HubSettings,
    LimitSettings,
    OrientationSettings,
    SizeSettings,
    SnapshotSettings,
)
from gateway.settings.meaning import MeaningSettings
from gateway.settings.section import Seconds, Section, Url
from gateway.settings.urls import is_of_own_network, url_problem
from gateway.settings.vocabulary import (
    EdgeSettings,
    EvidenceSettings,
    IdentitySettings,
    NameSettings,
    NodeSettings,
    RoleSettings,
    TypeSettings,
    ValueSettings,
)
from gateway.terms.iri import RDF_TYPE, SUBCLASS_OF

UNCHECKED = "unchecked"
"""The source of a setting that no page states."""

_MOST_SOURCES = 200


class AboutSettings(Section):
    """Where the facts of a profile are from, and whether they were tried."""

    tried: bool = Field(
        default=False,
        description=(
            "Whether the profile was tried on its endpoint by those who wrote it. `false`: what it says was only read."
        ),
    )
    sources: dict[str, str] = Field(
        default_factory=dict,
        description=(
            'The page that a setting was read in, by the setting\'s name: `"roles.name" = "https://..."`. '
            "`unchecked`: no page states it."
        ),
    )

    @field_validator("sources")
    @classmethod
    def _are_pages(cls, value: dict[str, str]) -> dict[str, str]:
        if len(value) > _MOST_SOURCES:
            raise ValueError(f"it has more than {_MOST_SOURCES} entries")
        for setting, source in value.items():
            if source != UNCHECKED and (problem := url_problem(source)):
                raise ValueError(f"the source of {setting!r} is not `{UNCHECKED}`, and {problem}")
        return value

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The settings that no page states."""
        return tuple(sorted(setting for setting, source in self.sources.items() if source == UNCHECKED))


_LANGUAGE = re.compile(r"[a-z]{2,12}(-[a-z0-9]{1,12})*")
"""A language code of a Wikibase, such as `pt-br` or `zh-min-nan`."""


class SearchSettings(Section):
    """How names are searched."""

    index: Literal["auto", "none", "fuseki", "virtuoso", "blazegraph"] = Field(
        default="auto",
        description=(
            "The endpoint's text index. `auto`: that of Fuseki, Virtuoso or Blazegraph, if one is found and the graph"
            " has more than 100,000 names; in smaller graphs all names are compared. A named index is used for every "
            "graph. `none`: no index."
        ),
    )
    scan_triples: Annotated[int, Field(ge=0)] = Field(
        default=2_000_000,
        description=(
            "Largest number of names and synonyms for which all are compared. A graph in this process is always "
            "compared in full."
        ),
    )
    api: Url = Field(
        default="",
        description=(
            "The `api.php` of the Wikibase whose entities the endpoint has (`https://www.wikidata.org/w/api.php`). "
            "Names are then searched there, and `index` and `scan_triples` have no effect. Ignored if a graph file is"
            " given."
        ),
    )
    api_language: str = Field(
        default="",
        description=(
            "Language of these searches; the wiki falls back to others. Empty: the first of `names.languages` except "
            "`mul`, else `en`."
        ),
    )

    @field_validator("api")
    @classmethod
    def _is_bare(cls, value: str) -> str:
        if "?" in value or "#" in value:
            raise ValueError("it must be the URL of api.php, without anything after it")
        return value

    @field_validator("api_language")
    @classmethod
    def _is_a_code(cls, value: str) -> str:
        if value and not _LANGUAGE.fullmatch(value):
            raise ValueError("it must be a language code of the wiki in lower case, such as `en` or `pt-br`")
        return value


_COUNTED_AT_ONCE = 1_000_000
"""Triples up to which a graph in this process is counted at the first look, which takes a second or two."""


ShapeName = Literal["compact", "reference"]
"""How the nodes and edges of an answer are written."""


class ServerSettings(Section):
    """What clients may do, and what answers look like."""

    shape: ShapeName = Field(
        default="compact",
        description=(
            "[The shape of the answers](contract.md#the-two-shapes-of-an-answer): `compact`, or `reference`, which is "
            "that of the protocol's documents. Python returns objects of the latter."
        ),
    )

    explain: bool = Field(
        default=False,
        description=(
            "Whether the tools accept `explain`, which shows [the cost of a "
            "call](tools.md#explain-the-cost-of-a-call) and the SPARQL that was sent."
        ),
    )

    completion_seconds: Seconds = Field(
        default=2.0,
        description="Time for a completion, for which a person waits while typing; after it, nothing is proposed.",
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
    about: AboutSettings = AboutSettings()
    endpoint: EndpointSettings = EndpointSettings()
    postgres: PostgresSettings = PostgresSettings()
    neo4j: Neo4jSettings = Neo4jSettings()
    edges: EdgeSettings = EdgeSettings()
    hubs: HubSettings = HubSettings()
    types: TypeSettings = TypeSettings()
    roles: RoleSettings = RoleSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    names: NameSettings = NameSettings()
    nodes: NodeSettings = NodeSettings()
    values: ValueSettings = ValueSettings()
    search: SearchSettings = SearchSettings()
    meaning: MeaningSettings = MeaningSettings()
    identity: IdentitySettings = IdentitySettings()
    hidden: HiddenSettings = HiddenSettings()
    limits: LimitSettings = LimitSettings()
    files: FileSettings = FileSettings()
    orientation: OrientationSettings = OrientationSettings()
    size: SizeSettings = SizeSettings()
    snapshots: SnapshotSettings = SnapshotSettings()
    cache: CacheSettings = CacheSettings()
    server: ServerSettings = ServerSettings()


def asks_ahead(profile: Profile) -> bool:
    """Return whether a query may be sent before it is known to be needed: several run at once, and none is counted."""
    endpoint = profile.endpoint
    return endpoint.requests.concurrency > 1 and not endpoint.quota.is_limited


def asks_together(profile: Profile) -> bool:
    """Return whether a query that is most likely needed may be sent with one that is needed in any case.

    Where one query runs at a time, both are asked in one.
    """
    return profile.endpoint.requests.concurrency == 1 or asks_ahead(profile)


def profile_for_endpoint(profile: Profile, url: str) -> Profile:
    """Return the profile in effect for an endpoint.

    By default the gateway reads every triple only of an endpoint on the operator's own network: others share their
    endpoint with strangers. It also does not if queries are sent one at a time or count against a quota, because calls
    would wait for minutes.
    """
    may_read_all = is_of_own_network(url) and asks_ahead(profile)
    if profile.orientation.enumeration_seconds is not None or may_read_all:
        return profile
    return _changed(profile, "orientation", enumeration_seconds=0.0)


def profile_in_process(profile: Profile) -> Profile:
    """Return the profile in effect for a graph in this process: no API for names, and a larger first count."""
    profile = without_search_api(profile)
    if "glance_triples" in profile.orientation.model_fields_set:
        return profile
    return _changed(profile, "orientation", glance_triples=_COUNTED_AT_ONCE)


def has_blank_nodes(profile: Profile) -> bool:
    """Return whether the blank nodes of files are nodes."""
    return profile.nodes.blank == "on" and not profile.values.wikibase


class PartlyRead(FileSettings):
    """How files were read of which something was left out.

    Attributes:
        skipped: How many terms, lines and parts were left out.
    """

    skipped: int = 0


def with_skipped(profile: Profile, skipped: int) -> Profile:
    """Return the profile in effect for a graph of whose files so much was left out: nothing about it is complete."""
    if not skipped:
        return profile
    profile = _changed(_changed(profile, "endpoint", trusted=False), "orientation", vouched=False)
    return profile.model_copy(update={"files": PartlyRead(**{**profile.files.model_dump(), "skipped": skipped})})


def doubt_of(profile: Profile) -> str:
    """Return why nothing that is read of the graph is all of it, as a sentence goes on; empty if nothing says so."""
    if isinstance(profile.files, PartlyRead):
        if not profile.hidden.is_empty:
            # What is left out may be what is hidden.
            return "the files of this graph were read in part"
        were = "was" if profile.files.skipped == 1 else "were"
        return f"{counted(profile.files.skipped, 'part')} of the files of this graph {were} not valid and left out"
    return "" if profile.endpoint.trusted else "this endpoint is known to cut answers without a sign"


def with_hidden(profile: Profile, hidden: HiddenSettings) -> Profile:
    """Return a profile that hides what it hid, and more."""
    return profile.model_copy(update={"hidden": profile.hidden.with_others(hidden)})


def policy_of(profile: Profile) -> Policy | None:
    """Return what is hidden of a graph; None if nothing is.

    Raises:
        ConfigurationError: An entry may be a CURIE, which would hide nothing.
    """
    hidden = profile.hidden
    if hidden.is_empty:
        return None
    if key := hidden.unclear():
        raise ConfigurationError(
            f"hidden.{key} has an entry that may be no whole IRI, so nothing is served.",
            valid="Outside the file of a profile each entry is a whole IRI, such as https://example.org/Salary.",
        )
    return Policy(
        hidden.types,
        hidden.predicates,
        hidden.graphs,
        hidden.literals,
        tuple(dict.fromkeys((RDF_TYPE, *profile.edges.types))),
        tuple(dict.fromkeys((SUBCLASS_OF, *profile.types.subclass_of))),
    )


_MOST_HIDDEN = 100
"""Terms that are hidden of an endpoint: each is several times in every query."""


def under_policy_at_endpoint(profile: Profile) -> Profile:
    """Return the profile in effect for an endpoint of which something is hidden; the profile itself if nothing is.

    What cannot be asked without telling what is hidden is not asked: evidence, text indexes and value nodes.

    Raises:
        ConfigurationError: It cannot be hidden of an endpoint.
    """
    policy = policy_of(profile)
    if policy is None:
        return profile
    if profile.search.api:
        raise _not_hidden("search.api finds names elsewhere.", "Set search.api to an empty text.")
    named = profile.endpoint.graphs
    if policy.graphs and (isinstance(named, str) or not set(policy.graphs).isdisjoint(named)):
        raise _not_hidden(
            "Named graphs are hidden by a list of those that are read.",
            "List in endpoint.graphs the graphs that may be seen, without hidden ones.",
        )
    if len({*policy.types, *policy.predicates, *policy.graphs, *policy.literals}) > _MOST_HIDDEN:
        raise _not_hidden(
            f"It has more than {_MOST_HIDDEN} terms, which every query would repeat.", "Serve a file of the graph."
        )
    without = _changed(_changed(profile, "evidence", ways=()), "search", index="none")
    return _changed(without, "values", wikibase=False)


def _not_hidden(why: str, next_step: str) -> ConfigurationError:
    return ConfigurationError(
        "What the profile hides ([hidden]) cannot be hidden of this endpoint.", valid=why, next_step=next_step
    )


def with_shape(profile: Profile, shape: ShapeName | None) -> Profile:
    """Return a profile under which answers have a shape; None changes nothing."""
    return profile if shape is None else _changed(profile, "server", shape=shape)


def with_embedder(profile: Profile, embedder: str) -> Profile:
    """Return a profile under which names are found by their meaning, too.

    Raises:
        ConfigurationError: The embedder is wrong.
    """
    try:
        changed = MeaningSettings.model_validate({**profile.meaning.model_dump(), "embedder": embedder})
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ConfigurationError(f"The embedder is wrong: {problem}.") from error
    return profile.model_copy(update={"meaning": changed})


def without_search_api(profile: Profile) -> Profile:
    """Return a profile under which names are found in the graph itself."""
    return _changed(profile, "search", api="")


_UNLIMITED = 1 << 40
"""More tokens and characters than any answer has."""


def with_unlimited_size(profile: Profile) -> Profile:
    """Return a profile whose answers are of any size, for programs that read all of a subgraph."""
    most = _UNLIMITED
    sizes = ("max_tokens", "ceiling_tokens", "evidence_text_characters", "cell_characters", "cell_values")
    return _changed(profile, "size", **dict.fromkeys(sizes, most))


def _changed(profile: Profile, section: str, **settings: object) -> Profile:
    return profile.model_copy(update={section: getattr(profile, section).model_copy(update=settings)})
