"""Reads a profile by name or path, and says which key is wrong when one is."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from gateway.errors import ConfigurationError, InputError, quoted
from gateway.settings.contact import checked_contact
from gateway.settings.edges import NAMESPACE_MARK
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.moved import advice_on
from gateway.settings.profile import Profile
from gateway.settings.profile_files import path_of, table_of
from gateway.settings.secret import Unquoted
from gateway.terms.prefixes import PrefixMap, is_prefix

DEFAULT = "local"
DEMO = "demo"

_LOCAL_NAMES = frozenset({"roles.mentions", "roles.confidence", "roles.source", "roles.negated"})
"""Roles that take bare local names, which match any namespace."""

_SCHEMES = frozenset({"did", "doi", "info", "mailto", "tag", "urn"})
"""Schemes of IRIs without ``//``; any other name before a colon is meant as a prefix."""


def load_profile(name_or_path: str) -> Profile:
    """Load a profile.

    Args:
        name_or_path: The name of a built-in profile, or the path of a TOML file.

    Raises:
        ConfigurationError: There is no such profile, it is no TOML, or a key or value in it is wrong; the text
            names the file, the key and the nearest valid key.
    """
    path = path_of(name_or_path)
    table = table_of(path)
    try:
        # Strict JSON takes lists for tuples and whole numbers for seconds, and nothing else it was not given.
        profile = Profile.model_validate_json(json.dumps(table))
    except TypeError as error:
        raise ConfigurationError(f"The profile {path} is wrong: it has a date, which no setting takes.") from error
    except ValidationError as error:
        raise ConfigurationError(f"The profile {path} is wrong: {_explain(error)}") from error
    return _with_whole_iris(profile, path)


def with_contact(profile: Profile, contact: str | None) -> Profile:
    """Return a profile with another contact of whoever runs this gateway; the same where none is given.

    Args:
        profile: The profile.
        contact: An e-mail address or a URL.

    Raises:
        ConfigurationError: It is neither.
    """
    if contact is None:
        return profile
    endpoint = profile.endpoint.model_copy(update={"contact": checked_contact(contact, "The contact")})
    return profile.model_copy(update={"endpoint": endpoint})


def _explain(error: ValidationError) -> str:
    sentences = []
    for problem in error.errors(include_url=False):
        where = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden" and (advice := advice_on(problem["loc"])):
            sentences.append(advice)
        elif problem["type"] == "extra_forbidden":
            keys = _keys_at(problem["loc"][:-1])
            near = difflib.get_close_matches(str(problem["loc"][-1]), keys, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(keys)}."
            sentences.append(f"unknown key {where!r}; {hint}")
        else:
            reason = problem["msg"].removeprefix("Value error, ")
            given = f" = {quoted(problem['input'])}" if _may_be_quoted(problem["loc"]) else ""
            sentences.append(f"{where}{given}: {reason}.")
    return " ".join(sentences)


def _may_be_quoted(location: tuple[int | str, ...]) -> bool:
    """Tell whether no secret can stand at a place of the profile, not even by mistake."""
    model: type[BaseModel] = Profile
    for part in location:
        field = model.model_fields.get(str(part))
        if field is None or _is_unquoted(field):
            return field is None
        if not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            return True
        model = field.annotation
    return not any(_is_unquoted(field) for field in model.model_fields.values())


def _is_unquoted(field: FieldInfo) -> bool:
    return any(isinstance(mark, Unquoted) for mark in field.metadata)


def _keys_at(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Profile
    for part in location:
        field = model.model_fields.get(str(part))
        if field is None or not isinstance(field.annotation, type) or not issubclass(field.annotation, BaseModel):
            return []
        model = field.annotation
    return sorted(model.model_fields)


def _with_whole_iris(profile: Profile, path: Path) -> Profile:
    """Write out the CURIEs of a profile with the profile's own prefixes."""
    for name, namespace in profile.prefixes.items():
        if not is_prefix(name, namespace):
            raise ConfigurationError(
                f"The profile {path} is wrong: the prefix {name!r} = {quoted(namespace)}.",
                valid="A prefix has no colon, slash or blank, and its namespace is an IRI.",
            )
    reader = _Iris(profile.prefixes, path)
    return profile.model_copy(
        update={
            "endpoint": profile.endpoint.model_copy(update=reader.endpoint(profile.endpoint)),
            "edges": profile.edges.model_copy(update=reader.lists("edges", profile.edges)),
            "types": profile.types.model_copy(update=reader.lists("types", profile.types)),
            "roles": profile.roles.model_copy(update=reader.lists("roles", profile.roles)),
            "names": profile.names.model_copy(
                update={"predicate_entity": reader.iris(profile.names.predicate_entity, "names.predicate_entity")}
            ),
        }
    )


class _Iris:
    """Writes out the IRIs of a profile."""

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

    def endpoint(self, section: EndpointSettings) -> dict[str, tuple[str, ...] | str]:
        """Return the IRIs of the section about the endpoint that the profile itself gives."""
        given: dict[str, tuple[str, ...] | str] = {**self.lists("endpoint", section)}
        if "union_graph" in section.model_fields_set:
            given["union_graph"] = self.iri(section.union_graph, "endpoint.union_graph")
        return given

    def iris(self, entries: Sequence[str], key: str) -> tuple[str, ...]:
        """Return a list with each entry as a whole IRI."""
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
                f"The profile {self._path} is wrong: {key} names {entry!r}, a namespace, which matches nothing there.",
                valid="Name each IRI. Only edges.allowed and edges.objects take all IRIs that begin alike.",
            )
        return self.iri(entry, key)

    def iri(self, entry: str, key: str) -> str:
        """Return the IRI that an entry means.

        Raises:
            ConfigurationError: It is none, or its prefix is not declared.
        """
        name, colon, local = entry.partition(":")
        bracketed = entry.startswith("<")
        if (
            colon
            and not bracketed
            and name not in self._declared
            and not local.startswith("//")
            and name not in _SCHEMES
        ):
            raise ConfigurationError(
                f"The profile {self._path} is wrong: {key} names {entry!r}, but [prefixes] does not declare {name!r}.",
                valid=f"Declared: {', '.join(self._declared) or 'none'}.",
            )
        try:
            return self._prefixes.expand(entry)
        except InputError as error:
            raise ConfigurationError(
                f"The profile {self._path} is wrong: {key}: {error.wrong}",
                valid="It is an IRI, or a name of [prefixes] and a local name.",
            ) from error
