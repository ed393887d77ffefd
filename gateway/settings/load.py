"""Reads profiles and other TOML files within bounds, and names what is wrong in one."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from gateway import resources
from gateway.errors import ConfigurationError, InputError, quoted
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.hidden import SCHEMES, HiddenSettings
from gateway.settings.paths import local_path, path_text
from gateway.settings.profile import Profile
from gateway.settings.section import Unquoted
from gateway.settings.storage import read_at_most
from gateway.settings.urls import checked_contact, is_neo4j_url, is_postgres_url
from gateway.settings.vocabulary import NAMESPACE_MARK
from gateway.terms.iri import walk_iri
from gateway.terms.prefixes import PrefixMap, is_prefix
from gateway.terms.spelling import did_you_mean, nearest

_LARGEST = 250_000
"""Bytes of a file."""


def read_toml(path: Path, name: str = "", most_bytes: int = _LARGEST) -> dict[str, Any]:
    """Return the table of a file.

    Args:
        path: The file.
        name: What an error calls it; by default its path.
        most_bytes: Bytes that it may have.

    Raises:
        ConfigurationError: It cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(read_at_most(path, most_bytes).decode())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{name or path} cannot be read: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{name or path} is not valid TOML: {error}.") from error


def keys_at(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """Return the keys that are valid in a table of a file that a model describes; none where there is no such table."""
    for part in location:
        field = model.model_fields.get(str(part))
        inner = None if field is None else section_of(field)
        if inner is None:
            return []
        model = inner
    return sorted(model.model_fields)


def section_of(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a setting that is a table; None for any other."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


_LOCAL_NAMES = frozenset({"roles.mentions", "roles.confidence", "roles.source", "roles.negated"})
"""Roles that take bare local names, which match any namespace."""

_WALKS = frozenset({"roles.name", "roles.synonym"})
"""Roles whose values may be one step away: `skosxl:prefLabel/skosxl:literalForm`."""

_WALK = re.compile(r"(?P<first>[^/<>:]*:[^/<>]+)/(?P<last>[^/<>:]*:[^/<>]+)")


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
            **{
                table: section.model_copy(update=reader.lists(table, section))
                for table, section in (("edges", profile.edges), ("types", profile.types), ("roles", profile.roles))
            },
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
        if key in _WALKS and (steps := _WALK.fullmatch(entry)):
            return walk_iri([(self.iri(steps["first"], key), False), (self.iri(steps["last"], key), False)])
        return self.iri(entry, key)

    def iri(self, entry: str, key: str) -> str:
        name, colon, local = entry.partition(":")
        is_whole = entry.startswith("<") or local.startswith("//") or name in SCHEMES
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


DEFAULT = "local"
"""The profile of a graph for which nobody names one."""

DEMO = "demo"
"""The profile of the demo graph."""

POSTGRES = "bfsql-postgres"
NEO4J = "bfsql-neo4j"
"""The profiles of databases for which nobody names one."""

_EXTENDS = "extends"
_DEEPEST = 20
"""Tables and lists in each other; a profile has three."""


def load_profile(name_or_path: str, *, within: Path | None = None) -> Profile:
    """Load a built-in profile by its name, or a TOML file by its path.

    Args:
        name_or_path: Which.
        within: The folder in which the file and those that it extends must lie, unless they are built in.

    Raises:
        ConfigurationError: There is no such profile, it is not TOML, or a key or value in it is wrong; the text
            names the file, the key and the nearest valid key.
    """
    path = _path_of(name_or_path)
    table = _table_of(path, within=within)
    try:
        # Strict JSON takes lists for tuples and whole numbers for seconds, and nothing else it was not given.
        profile = Profile.model_validate_json(json.dumps(table))
    except TypeError as error:
        raise ConfigurationError(f"The profile {path} is wrong: it contains a date, which no setting takes.") from error
    except ValidationError as error:
        raise ConfigurationError(f"The profile {path} is wrong: {_explain(error)}") from error
    return with_whole_iris(profile, path)


def default_profile(url: str | None) -> str:
    """Return the name of the profile of an endpoint, or of files, for which nobody names one."""
    if url and is_postgres_url(url):
        return POSTGRES
    return NEO4J if url and is_neo4j_url(url) else DEFAULT


def with_contact(profile: Profile, contact: str | None) -> Profile:
    """Return a profile with another contact of its operator; the same profile for None.

    Raises:
        ConfigurationError: It is neither an e-mail address nor a URL.
    """
    if contact is None:
        return profile
    endpoint = profile.endpoint.model_copy(update={"contact": checked_contact(contact, "The contact")})
    return profile.model_copy(update={"endpoint": endpoint})


def built_in() -> list[str]:
    """Return the names of the profiles that come with the gateway."""
    return sorted(path.stem for path in resources.folder("config").glob("*.toml"))


def _lies_in(path: Path, folders: tuple[Path, ...]) -> bool:
    """Return whether a file lies in one of some folders after links are followed."""
    return any(path.resolve().is_relative_to(folder.resolve()) for folder in folders)


def _path_of(name_or_path: str, beside: Path | None = None) -> Path:
    """Return the file of a profile; a path is relative to `beside`, by default the working directory."""
    known = built_in()
    if name_or_path in known:
        return resources.folder("config") / f"{name_or_path}.toml"
    path = local_path(name_or_path) if beside is None else beside / path_text(name_or_path)
    if path.is_file():
        return path
    raise ConfigurationError(
        f"There is no profile {name_or_path!r}.{did_you_mean(name_or_path, known)}",
        valid=f"A profile is one of {', '.join(known)}, or the path of a TOML file.",
    )


def _table_of(path: Path, above: tuple[Path, ...] = (), *, within: Path | None = None) -> dict[str, Any]:
    """Return what a profile says, over what the profiles say that it extends; `above` are those that extend it."""
    if within is not None and not _lies_in(path, (within, resources.folder("config"))):
        raise ConfigurationError(f"The profile {path} lies outside the folder of the project file, {within}.")
    chain = (*above, path.resolve())
    if len(set(chain)) < len(chain):
        names = " extends ".join(file.name for file in chain)
        raise ConfigurationError(f"The profile {path} extends itself: {names}.")
    table = read_toml(path, f"The profile {path}")
    if _is_deeper(table, _DEEPEST):
        raise ConfigurationError(f"The profile {path} is wrong: its tables are nested more than {_DEEPEST} deep.")
    extended = table.get(_EXTENDS, "")
    if not isinstance(extended, str) or not extended:
        return table
    try:
        below = _table_of(_path_of(extended, path.parent), chain, within=within)
    except ConfigurationError as error:
        if _EXTENDS in error.wrong:
            raise
        raise ConfigurationError(
            f"The profile {path} extends {extended!r}: {error.wrong}", valid=error.valid, next_step=error.next_step
        ) from error
    return _over(below, table)


def _is_deeper(value: object, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Put one table over another: tables are put together, everything else is replaced."""
    together = dict(below)
    for key, value in above.items():
        under = together.get(key)
        together[key] = _over(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return together


def _explain(error: ValidationError) -> str:
    sentences = []
    for problem in error.errors(include_url=False):
        where = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            keys = keys_at(Profile, problem["loc"][:-1])
            near = nearest(str(problem["loc"][-1]), keys)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(keys)}."
            sentences.append(f"unknown key {where!r}; {hint}")
        else:
            reason = problem["msg"].removeprefix("Value error, ")
            given = f" = {quoted(problem['input'])}" if _may_be_quoted(problem["loc"]) else ""
            sentences.append(f"{where}{given}: {reason}.")
    return " ".join(sentences)


def _may_be_quoted(location: tuple[int | str, ...]) -> bool:
    """Return whether no secret can stand at a place of the profile, not even by mistake."""
    model: type[BaseModel] = Profile
    for part in location:
        field = model.model_fields.get(str(part))
        if field is None or _is_unquoted(field):
            return field is None
        inner = section_of(field)
        if inner is None:
            return True
        model = inner
    return not any(map(_is_unquoted, model.model_fields.values()))


def _is_unquoted(field: FieldInfo) -> bool:
    return any(isinstance(mark, Unquoted) for mark in field.metadata)
