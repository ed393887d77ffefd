"""Writes out the CURIEs of a profile as whole IRIs, by the prefixes that the profile itself declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel

from gateway.errors import ConfigurationError, InputError, quoted
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.hidden import HiddenSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NAMESPACE_MARK
from gateway.terms.prefixes import PrefixMap, is_prefix

_LOCAL_NAMES = frozenset({"roles.mentions", "roles.confidence", "roles.source", "roles.negated"})
"""Roles that take bare local names, which match any namespace."""

_SCHEMES = frozenset({"did", "doi", "info", "mailto", "tag", "urn"})
"""Schemes of IRIs without ``//``; any other name before a colon is meant as a prefix."""


def with_whole_iris(profile: Profile, path: Path) -> Profile:
    """Return the profile of a file with each CURIE as a whole IRI.

    Raises:
        ConfigurationError: A prefix or an IRI is wrong, or a prefix is not declared.
    """
    for name, namespace in profile.prefixes.items():
        if not is_prefix(name, namespace):
            raise ConfigurationError(
                f"The profile {path} is wrong: the prefix {name!r} = {quoted(namespace)}.",
                valid="A prefix has no colon, slash, caret or blank, and its namespace is an IRI.",
            )
    reader = _Iris(profile.prefixes, path)
    return profile.model_copy(
        update={
            "endpoint": profile.endpoint.model_copy(update=reader.endpoint(profile.endpoint)),
            "edges": profile.edges.model_copy(update=reader.lists("edges", profile.edges)),
            "types": profile.types.model_copy(update=reader.lists("types", profile.types)),
            "roles": profile.roles.model_copy(update=reader.lists("roles", profile.roles)),
            "identity": profile.identity.model_copy(
                update={
                    **reader.lists("identity", profile.identity),
                    "formatters": {
                        reader.iri(predicate, "identity.formatters"): formatter
                        for predicate, formatter in profile.identity.formatters.items()
                    },
                }
            ),
            "hidden": profile.hidden.model_copy(update=reader.hidden(profile.hidden)),
            "names": profile.names.model_copy(
                update={"predicate_entity": reader.iris(profile.names.predicate_entity, "names.predicate_entity")}
            ),
        }
    )


class _Iris:
    def __init__(self, declared: Mapping[str, str], path: Path) -> None:
        self._declared = declared
        self._prefixes = PrefixMap(declared)
        self._path = path

    def lists(self, table: str, section: BaseModel) -> dict[str, tuple[str, ...]]:
        """Return the lists of a section that the profile itself gives, each entry a whole IRI."""
        return {
            key: self.iris(value, f"{table}.{key}")
            for key in section.model_fields_set
            if isinstance(value := getattr(section, key), tuple)
        }

    def hidden(self, section: HiddenSettings) -> dict[str, tuple[str, ...]]:
        try:
            return self.lists("hidden", section)
        except ConfigurationError:
            # The usual error names the entry, and a client may read it where one of several graphs cannot be opened.
            raise ConfigurationError(
                f"The profile {self._path} is wrong: an entry of [hidden] is no IRI, or has a prefix that [prefixes] "
                "does not declare.",
                valid=f"Declared: {', '.join(self._declared) or 'none'}.",
            ) from None

    def endpoint(self, section: EndpointSettings) -> dict[str, tuple[str, ...] | str]:
        given: dict[str, tuple[str, ...] | str] = {**self.lists("endpoint", section)}
        if "union_graph" in section.model_fields_set:
            given["union_graph"] = self.iri(section.union_graph, "endpoint.union_graph")
        return given

    def iris(self, entries: Sequence[str], key: str) -> tuple[str, ...]:
        return tuple(self._entry(entry, key) for entry in entries)

    def _entry(self, entry: str, key: str) -> str:
        if ":" not in entry and key in _LOCAL_NAMES:
            return entry
        name, _, local = entry.partition(":")
        is_prefix = not local and name in self._declared
        if key == "edges.allowed":
            return f"{self._declared[name]}{NAMESPACE_MARK}" if is_prefix else self.iri(entry, key)
        if key == "edges.objects":
            # Each entry is how IRIs begin, with the mark or without.
            return self.iri(entry.removesuffix(NAMESPACE_MARK), key)
        if entry.endswith(NAMESPACE_MARK) or (is_prefix and key.startswith("edges.")):
            raise ConfigurationError(
                f"The profile {self._path} is wrong: {key} names {entry!r}, a namespace, which matches nothing.",
                valid="Name each IRI. Only edges.allowed and edges.objects accept namespaces.",
            )
        return self.iri(entry, key)

    def iri(self, entry: str, key: str) -> str:
        name, colon, local = entry.partition(":")
        is_whole = entry.startswith("<") or local.startswith("//") or name in _SCHEMES
        if colon and not is_whole and name not in self._declared:
            raise ConfigurationError(
                f"The profile {self._path} is wrong: {key} names {entry!r}, but [prefixes] does not declare {name!r}.",
                valid=f"Declared: {', '.join(self._declared) or 'none'}.",
            )
        try:
            return self._prefixes.expand(entry)
        except InputError as error:
            raise ConfigurationError(
                f"The profile {self._path} is wrong: {key}: {error.wrong}",
                valid="Write an IRI, or a prefix of [prefixes] and a local name.",
            ) from error
