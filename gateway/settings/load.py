"""Reads a profile by name or path, and says which key is wrong when one is."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from gateway import resources
from gateway.errors import ConfigurationError, InputError, quoted
from gateway.settings.profile import Edges, Profile, Roles, Types
from gateway.terms.iri import is_iri
from gateway.terms.prefixes import PrefixMap

DEFAULT = "local"


def built_in() -> list[str]:
    """Return the names of the profiles that come with the gateway."""
    return sorted(path.stem for path in resources.folder("config").glob("*.toml"))


def load_profile(name_or_path: str) -> Profile:
    """Load a profile.

    Args:
        name_or_path: The name of a built-in profile, or the path of a TOML file.

    Raises:
        ConfigurationError: There is no such profile, it is no TOML, or a key or value in it is wrong; the text
            names the file, the key and the nearest valid key.
    """
    path = _path(name_or_path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The profile {path} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"The profile {path} is no valid TOML: {error}.") from error
    try:
        # Strict JSON takes lists for tuples and whole numbers for seconds, and nothing else it was not given.
        profile = Profile.model_validate_json(json.dumps(table, default=str))
    except ValidationError as error:
        raise ConfigurationError(f"The profile {path} is wrong: {_explain(error)}") from error
    return _with_whole_iris(profile, path)


def _path(name_or_path: str) -> Path:
    known = built_in()
    if name_or_path in known:
        return resources.folder("config") / f"{name_or_path}.toml"
    path = Path(name_or_path)
    if path.is_file():
        return path
    near = difflib.get_close_matches(name_or_path, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ConfigurationError(
        f"There is no profile {quoted(name_or_path)}.{hint}",
        valid=f"A profile is one of {', '.join(known)}, or the path of a TOML file.",
    )


def _explain(error: ValidationError) -> str:
    sentences = []
    for problem in error.errors(include_url=False):
        where = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            keys = _keys_at(problem["loc"][:-1])
            near = difflib.get_close_matches(str(problem["loc"][-1]), keys, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(keys)}."
            sentences.append(f"unknown key {where!r}; {hint}")
        else:
            reason = problem["msg"].removeprefix("Value error, ")
            sentences.append(f"{where} = {quoted(problem['input'])}: {reason}.")
    return " ".join(sentences)


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
        if not is_iri(namespace) or any(character in name for character in ":/<> "):
            raise ConfigurationError(
                f"The profile {path} is wrong: the prefix {name!r} = {quoted(namespace)}.",
                valid="A prefix has no colon, slash or blank, and its namespace is an IRI.",
            )
    prefixes = PrefixMap(profile.prefixes)

    def expanded(section: Edges | Types | Roles, table: str) -> dict[str, Any]:
        return {
            key: tuple(_expand(entry, prefixes, f"{table}.{key}", path) for entry in value)
            for key, value in _lists(section)
        }

    return profile.model_copy(
        update={
            "edges": profile.edges.model_copy(update=expanded(profile.edges, "edges")),
            "types": profile.types.model_copy(update=expanded(profile.types, "types")),
            "roles": profile.roles.model_copy(update=expanded(profile.roles, "roles")),
            "names": profile.names.model_copy(
                update={
                    "predicate_entity": _expand(
                        profile.names.predicate_entity, prefixes, "names.predicate_entity", path
                    )
                }
            ),
        }
    )


def _lists(section: BaseModel) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key in type(section).model_fields:
        value = getattr(section, key)
        if isinstance(value, tuple):
            yield key, value


def _expand(entry: str, prefixes: PrefixMap, key: str, path: Path) -> str:
    if ":" not in entry:
        return entry
    name, _, local = entry.partition(":")
    known: Mapping[str, str] = prefixes.prefixes
    if name not in known and not local:
        raise ConfigurationError(
            f"The profile {path} is wrong: {key} names {entry!r}, but [prefixes] does not declare {name!r}.",
            valid=f"Declared: {', '.join(known) or 'none'}.",
        )
    try:
        return prefixes.expand(entry)
    except InputError as error:
        raise ConfigurationError(f"The profile {path} is wrong: {key}: {error.wrong}") from error
