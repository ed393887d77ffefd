"""JSON-LD whose contexts lie elsewhere: they are put into the document from files, and none is fetched.

Only the objects that contain a context are taken apart, so that the texts of numbers stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urljoin

import msgspec

from gateway.files.parser_streams import MEGABYTE, RefusedError

_EXTRA = "contexts"

CARRIED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "https://linked.art/ns/v1/linked-art.json": ("cromulent", "data/linked-art.json"),
        "https://www.w3.org/ns/activitystreams": ("pyld", "documentloader/frozen/bundled/activitystreams.jsonld"),
        "https://w3id.org/ro/crate/1.3/context": ("rocrate", "data/ro-crate.jsonld"),
    }
)
"""The package and the file in it, by the URL of the context."""


class _Named(msgspec.Struct):
    """What a context says of itself."""

    url: str = msgspec.field(default="", name="@id")


@cache
def carried_contexts() -> Mapping[str, str]:
    """Return the files of contexts in packages that are installed, by their URLs."""
    found: dict[str, str] = {}
    for url, (package, name) in CARRIED.items():
        try:
            # Not what an import finds: that may be any folder with this name in the working directory.
            path = Path(str(distribution(package).locate_file(f"{package}/{name}")))
        except PackageNotFoundError:
            continue
        # Another version of the package may carry another version of a context, which means other terms.
        if path.is_file() and _said_url(path) in {"", url}:
            found[url] = str(path)
    return MappingProxyType(found)


def _said_url(path: Path) -> str:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Named).url
    except (OSError, msgspec.DecodeError):
        return "unreadable"


def installing(url: str) -> str:
    """Return how to have the context of a URL carried; empty where no package carries it."""
    return f" It also comes with pip install 'bfsql-gateway[{_EXTRA}]'." if url in CARRIED else ""


_KEY = "@context"
_IN_TEXT = b'"@context"'
_LARGEST = 16 * MEGABYTE
_MOST = 64 * MEGABYTE
"""Bytes of all contexts that are put into one document."""

_NAME = re.compile(r"^https?://|/$", re.IGNORECASE)

_Object = dict[str, msgspec.Raw]


def with_contexts(document: bytes, files: Mapping[str, str], base_iri: str) -> bytes:
    """Return a document with its contexts in it.

    Args:
        document: JSON-LD.
        files: The file of each context, by its URL; `http` and `https`, with and without a last slash, are the same.
        base_iri: What a relative URL is resolved against.

    Raises:
        RefusedError: A context is in no file, or in one that cannot be read; or it is no JSON.
    """
    try:
        return _Contexts(files).node(document, base_iri)
    except RecursionError as error:
        raise RefusedError("its objects, or its contexts, are nested too deep") from error
    except msgspec.DecodeError as error:
        raise RefusedError(f"not valid JSON-LD: {error}") from error


class _Contexts:
    def __init__(self, files: Mapping[str, str]) -> None:
        # Those that are given come last, and count most.
        self._files = {_NAME.sub("", url): file for url, file in files.items()}
        self._read: dict[str, msgspec.Raw] = {}
        self._size = 0

    def node(self, text: bytes, base: str) -> bytes:
        """Return an object or array of a document with its contexts."""
        if _IN_TEXT not in text:
            return text
        match text.lstrip()[:1]:
            case b"{":
                members = msgspec.json.decode(text, type=_Object)
                return _written(
                    {
                        name: self.context(bytes(value), base, ()) if name == _KEY else self.node(bytes(value), base)
                        for name, value in members.items()
                    }
                )
            case b"[":
                values = msgspec.json.decode(text, type=list[msgspec.Raw])
                return b"[" + b",".join(self.node(bytes(value), base) for value in values) + b"]"
            case _:
                return text

    def context(self, text: bytes, base: str, above: Sequence[str]) -> bytes:
        """Return a context in which none lies elsewhere."""
        found = self._contexts(text, base, above)
        return found[0] if len(found) == 1 else b"[" + b",".join(found) + b"]"

    def _contexts(self, text: bytes, base: str, above: Sequence[str]) -> list[bytes]:
        match text.lstrip()[:1]:
            case b'"':
                return self._elsewhere(urljoin(base, msgspec.json.decode(text, type=str)), above)
            case b"[":
                values = msgspec.json.decode(text, type=list[msgspec.Raw])
                return [one for value in values for one in self._contexts(bytes(value), base, above)]
            case b"{":
                return [self._definitions(msgspec.json.decode(text, type=_Object), base, above)]
            case _:
                return [text]

    def _elsewhere(self, url: str, above: Sequence[str]) -> list[bytes]:
        if url in above:
            raise RefusedError(f"its context {url[:200]} contains itself")
        found = self._contexts(bytes(self._content(url)), url, (*above, url))
        self._size += sum(map(len, found))
        if self._size > _MOST:
            raise RefusedError("its contexts take more than 64 MB")
        return [_without(one, "@base") for one in found]

    def _definitions(self, terms: _Object, base: str, above: Sequence[str]) -> bytes:
        written = {name: self._definition(bytes(value), base, above) for name, value in terms.items()}
        imported = written.pop("@import", None)
        if imported is None:
            return _written(written)
        (found,) = self._elsewhere(urljoin(base, msgspec.json.decode(imported, type=str)), above)
        below = msgspec.json.decode(found, type=_Object)
        return _written({**{name: bytes(value) for name, value in below.items()}, **written})

    def _definition(self, text: bytes, base: str, above: Sequence[str]) -> bytes:
        if _IN_TEXT not in text or not text.lstrip().startswith(b"{"):
            return text
        members = msgspec.json.decode(text, type=_Object)
        return _written(
            {
                name: self.context(bytes(value), base, above) if name == _KEY else bytes(value)
                for name, value in members.items()
            }
        )

    def _content(self, url: str) -> msgspec.Raw:
        name = _NAME.sub("", url)
        if name not in self._files:
            raise missing(url)
        if name not in self._read:
            path = Path(self._files[name])
            try:
                with path.open("rb") as file:
                    content = file.read(_LARGEST + 1)
                if len(content) > _LARGEST:
                    raise RefusedError(f"its context {url[:200]}: the file {path} has more than 16 MB")
                self._read[name] = msgspec.json.decode(content, type=_Object)[_KEY]
            except OSError as error:
                reason = error.strerror or error
                raise RefusedError(f"its context {url[:200]}: {path} cannot be read: {reason}") from error
            except (msgspec.DecodeError, KeyError) as error:
                raise RefusedError(f"its context {url[:200]}: {path} is no JSON with an @context") from error
        return self._read[name]


def missing(url: str) -> RefusedError:
    """Return the refusal of a document whose context lies elsewhere."""
    shown = url[:200]
    return RefusedError(
        f"its @context is at {shown}, and nothing is fetched",
        next_step=f"Put it into the file in the place of the URL, or fetch it and give it: --context {shown}=FILE."
        + installing(url),
    )


def _without(context: bytes, name: str) -> bytes:
    """Return a context without a term; a base counts only where it stands in the document itself."""
    if f'"{name}"'.encode() not in context or not context.lstrip().startswith(b"{"):
        return context
    members = msgspec.json.decode(context, type=_Object)
    return _written({key: bytes(value) for key, value in members.items() if key != name})


def _written(members: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(msgspec.json.encode(name) + b":" + value for name, value in members.items()) + b"}"
