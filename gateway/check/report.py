"""The results of a check: claims with their evidence, comparisons of two clients, suggested settings, the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from gateway.errors import counted
from gateway.escaping import visible
from gateway.graph.values import Iri
from gateway.settings.endpoint import EngineName, Graphs
from gateway.settings.found_by_check import FoundSettings
from gateway.settings.limits import LimitSettings
from gateway.sparql.engines import TRAITS
from gateway.terms.prefixes import PrefixMap
from gateway.transport.http import Http

Value = bool | int | str


@dataclass(frozen=True, slots=True)
class TemplateCheck:
    """What became of the templates.

    Attributes:
        answered: How many were answered.
        refused: Those that the endpoint does not answer, and why.
        not_run: Those of which that is not known, and why.
        doubts: What answers of several templates say that does not fit together.
        helps: The settings under which all refused ones were answered; empty if there are none.
    """

    answered: int = 0
    refused: Mapping[str, str] = field(default_factory=dict)
    not_run: Mapping[str, str] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    helps: str = ""

    @property
    def holds(self) -> bool:
        """Whether nothing shows that a tool would not work."""
        return not self.refused and not self.doubts

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {**asdict(self), "doubts": list(self.doubts)}


@dataclass(frozen=True, slots=True)
class Claim:
    """One property of an endpoint.

    Attributes:
        value: The value; None if it is not determined.
        why: The evidence, or the reason why the value is not determined.
        at_least: Whether the value is a lower bound.
    """

    value: Value | None
    why: str
    at_least: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the claim as JSON."""
        if self.value is None:
            return {"not_determined": self.why}
        return {"at_least" if self.at_least else "value": self.value, "evidence": self.why}


def not_determined(why: str) -> Claim:
    """Return a claim without a value, with the reason."""
    return Claim(None, why)


@dataclass(frozen=True, slots=True)
class Claims:
    """The properties of one endpoint.

    Attributes:
        engine: The engine.
        version: Its version.
        post: Whether it accepts queries by POST.
        get: Whether it accepts queries by GET.
        row_cap: Rows of one answer at most.
        sentinel: How it can be asked for a last row that proves the end of an answer.
        format: The format that answers are asked for in.
        time_limit: The time-out of the server.
        deadline: How it receives the time limit of a query.
        lateral: Whether it supports LATERAL.
        rdf_1_2: Whether it supports triple terms.
        text_search: Its text index.
        named_graphs: The number of named graphs.
        union_default_graph: Whether its default graph is the union of them.
        triples: Triples in the graph that the profile selects.
        blank_nodes: The share of the edges that have a blank node at an end.
        names: The predicates that are taken for names, and how many nodes have none.
    """

    engine: Claim
    version: Claim
    post: Claim
    get: Claim
    row_cap: Claim
    sentinel: Claim
    format: Claim
    time_limit: Claim
    deadline: Claim
    lateral: Claim
    rdf_1_2: Claim
    text_search: Claim
    named_graphs: Claim
    union_default_graph: Claim
    triples: Claim
    blank_nodes: Claim
    names: Claim

    def by_name(self) -> Mapping[str, Claim]:
        """Return the claims in their order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answers of two clients to one question.

    Attributes:
        about: The question.
        ours: The rows of this gateway.
        theirs: The rows of SPARQLWrapper.
        differences: The rows that only one of them has, as text; empty if they agree.
        not_compared: The reason why they could not be compared; empty if they were.
    """

    about: str
    ours: int = 0
    theirs: int = 0
    differences: tuple[str, ...] = ()
    not_compared: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        if self.not_compared:
            return {"about": self.about, "not_compared": self.not_compared}
        compared = {"about": self.about, "same": not self.differences, "ours": self.ours, "theirs": self.theirs}
        return {**compared, "differences": list(self.differences)} if self.differences else compared


@dataclass(frozen=True, slots=True)
class SettingCheck:
    """One setting of the profile that says something of the endpoint.

    Attributes:
        setting: Its name.
        stated: What the profile says.
        holds: Whether that holds; None if it is not determined.
        why: The evidence, or the reason why it is not determined.
    """

    setting: str
    stated: str
    holds: bool | None
    why: str

    def as_json(self) -> dict[str, Any]:
        """Return the check as JSON."""
        if self.holds is None:
            return {"stated": self.stated, "not_determined": self.why}
        return {"stated": self.stated, "holds": self.holds, "evidence": self.why}


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check.

    Attributes:
        place: What was checked: a URL without its query, or file names.
        claims: Its properties.
        comparisons: The answers of two clients; empty for a graph in this process.
        warnings: Warnings for the operator.
        settings: The settings that the profile should have, as TOML; empty if there are none.
        found: Those of them that are kept for this endpoint; None for a graph in this process.
        profile: What holds of the settings that the profile has.
        templates: What became of the queries that tools send.
    """

    place: str
    claims: Claims
    comparisons: tuple[Comparison, ...]
    warnings: tuple[str, ...]
    settings: str
    found: FoundSettings | None = None
    profile: tuple[SettingCheck, ...] = ()
    templates: TemplateCheck = field(default_factory=TemplateCheck)

    @property
    def agrees(self) -> bool:
        """Whether both clients got the same answers in all comparisons."""
        return not any(comparison.differences for comparison in self.comparisons)

    @property
    def holds(self) -> bool:
        """Whether nothing that the profile says is known to be wrong, and no tool known not to work."""
        return all(check.holds is not False for check in self.profile) and self.templates.holds

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "checked": self.place,
            "reachable": True,
            **{name: claim.as_json() for name, claim in self.claims.by_name().items()},
            "compared": [comparison.as_json() for comparison in self.comparisons],
            "agrees": self.agrees,
            "profile": {check.setting: check.as_json() for check in self.profile},
            "templates": self.templates.as_json(),
            "warnings": list(self.warnings),
            "settings": self.settings,
        }


_SHARE_OF_CAP = 0.9
"""The share of a row cap that queries ask for: an answer cut at the cap would look complete."""

_MIN_ROWS = 10
"""The minimum of `limits.query_rows`."""


def found_settings(http: Http, engine: EngineName, claims: Claims, templates: TemplateCheck) -> FoundSettings:
    """Return how an endpoint is to be asked, as far as that is another way than is known of its engine."""
    return FoundSettings(
        checked=datetime.now(UTC),
        without_lateral=claims.lateral.value is False,
        method=http.method if claims.post.value is False and http.method in {"direct", "get"} else None,
        query_rows=_query_rows(engine, claims.row_cap),
        without_evidence=bool(templates.helps),
    )


def settings_for(http: Http, engine: EngineName, claims: Claims, graphs: Graphs, found: FoundSettings) -> str:
    """Return a snippet of a profile that queries the given graphs of an endpoint as it was found."""
    endpoint = [f"url = {_text(http.url)}"]
    if engine != "unknown":
        endpoint.append(f"engine = {_text(engine)}")
    if claims.lateral.value is not None:
        endpoint.append(f"lateral = {'true' if claims.lateral.value else 'false'}")
    if graphs != "default":
        endpoint.append(f"graphs = {_text(graphs)}")
    without = found.without_evidence
    tables = {
        "endpoint": endpoint,
        "endpoint.requests": [] if found.method is None else [f"method = {_text(found.method)}"],
        "limits": [] if found.query_rows is None else [f"query_rows = {found.query_rows}"],
        "edges": ["evidence_nodes = false  # else it refuses queries of edges"] if without else [],
        "evidence": ['ways = "refused"'] if without else [],
    }
    return "\n".join("\n".join([f"[{name}]", *lines, ""]) for name, lines in tables.items() if lines)


def _query_rows(engine: EngineName, cap: Claim) -> int | None:
    """Return the rows that a query should ask for at most; None if the default is right."""
    if cap.value is None:
        return None
    usual: int = LimitSettings.model_fields["query_rows"].default
    below = int(cap.value) - 1 if cap.at_least else int(int(cap.value) * _SHARE_OF_CAP)
    if below < usual:
        return max(_MIN_ROWS, below)
    # For an engine with a default cap the gateway asks for few rows, unless the profile allows more.
    return usual if TRAITS[engine].rows is not None else None


def _text(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        # TOML has no surrogate pairs, so a character above U+FFFF has an escape of its own.
        escaped = visible(value).replace('"', r"\"")
        return f'"{escaped}"'
    return f"[{', '.join(map(_text, value))}]"


_TYPES_SHOWN: Final = 5


def share_of_blank_nodes(
    blank: int,
    total: int,
    types: Sequence[tuple[Iri, int]],
    prefixes: PrefixMap,
    *,
    is_bound: bool,
    left_out: int = 0,
    nodes: str = "",
) -> Claim:
    """Return the claim.

    Args:
        blank: Edges with a blank node at an end.
        total: Edges that were looked at.
        types: The types of blank nodes, with how many have each, in any order.
        prefixes: Shorten the types.
        is_bound: Whether there may be more edges than were looked at.
        left_out: Of the edges with a blank node, those that the graph only counts.
        nodes: How many blank nodes there are, in words; empty where they were not counted.
    """
    if not blank:
        return Claim("none", f"none of {total:,} edges has one at an end" if total else "there are no edges")
    share = f"{max(1, round(100 * blank / total))} % of the edges"
    in_order = sorted(types, key=lambda one: (-one[1], one[0]))
    typed = ", ".join(f"{prefixes.declared_form(name)} ({count:,})" for name, count in islice(in_order, _TYPES_SHOWN))
    how_many = f"; there are {nodes}" if nodes else ""
    of_types = f"; most are of the types {typed}" if typed else "; none has a type"
    not_read = f"; {counted(left_out, 'edge')} of these were left out by load" if left_out else ""
    of_all = f"{blank:,} of {'the first ' * is_bound}{total:,} have one at an end"
    return Claim(share, f"{of_all}{how_many}{of_types}{not_read}")
