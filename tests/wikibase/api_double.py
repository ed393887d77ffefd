"""The API of a Wikibase, played on loopback over the labels and aliases of a graph file.

It answers the documented JSON of `wbsearchentities`, `list=search`, `meta=siteinfo` and `wbgetentities`, refuses who
does not say whom to reach, and throttles by a clock. Its order is that of the names: exact ones first, then by ID.
"""

import json
import re
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyoxigraph
from aiohttp import web

from tests.graphs import read
from tests.servers.loopback import HOST
from tests.transport.fake_endpoint import FakeEndpoint, Handler, Received, fake_endpoint

BASE: Final = "http://www.wikidata.org/entity/"
LANGUAGES: Final = ("en", "de", "de-at", "fr", "ja", "mul", "pt-br")
LONGEST_QUERY: Final = 300

_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
_DESCRIPTION = "http://schema.org/description"
_ID = re.compile(r"[QP][1-9][0-9]*")
_CONTACT = re.compile(r"[^()]+ \([^()]*(@|://)[^()]*\)")
_AT_MOST = 50
_SYNTAX = re.compile(r'["*?~/\\:!-]|\b(AND|OR|NOT)\b')

_Answer = dict[str, Any]


@dataclass
class Entity:
    """An item or a property.

    Attributes:
        labels: One for each language.
        aliases: Any number for each language.
        descriptions: One for each language.
    """

    labels: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> set[str]:
        """All words of its page."""
        aliases = (alias for some in self.aliases.values() for alias in some)
        return set(_words(" ".join([*self.labels.values(), *aliases, *self.descriptions.values()])))


class Wiki:
    """Entities by ID."""

    def __init__(self, entities: Mapping[str, Entity]) -> None:
        self.entities = dict(sorted(entities.items(), key=lambda item: (item[0][0] == "P", int(item[0][1:]))))

    @classmethod
    def of(cls, path: Path) -> "Wiki":
        """Read the entities of a graph file that is in the shape of Wikidata."""
        return cls.from_quads(read(path))

    @classmethod
    def from_quads(cls, quads: Iterable[pyoxigraph.Quad | pyoxigraph.Triple]) -> "Wiki":
        """Read entities from triples."""
        entities: dict[str, Entity] = {}
        for quad in quads:
            subject, predicate, text = quad.subject, quad.predicate.value, quad.object
            if not isinstance(subject, pyoxigraph.NamedNode) or not isinstance(text, pyoxigraph.Literal):
                continue
            id_ = subject.value.removeprefix(BASE)
            if not _ID.fullmatch(id_) or not text.language:
                continue
            entity = entities.setdefault(id_, Entity())
            if predicate == _LABEL:
                entity.labels[text.language] = text.value
            elif predicate == _ALIAS:
                entity.aliases.setdefault(text.language, []).append(text.value)
            elif predicate == _DESCRIPTION:
                entity.descriptions[text.language] = text.value
        return cls(entities)


@dataclass
class Throttle:
    """So many requests in so many seconds of a clock, counted from the first; the rest is refused, and told to wait."""

    requests: int
    seconds: float
    clock: Callable[[], float]
    too_early: int = 0
    _came: list[float] = field(default_factory=list)
    _free_at: float = 0.0

    def wait(self) -> float:
        """Return the seconds to wait; 0 where the request may pass."""
        now = self.clock()
        if now < self._free_at:
            self.too_early += 1
            return self._free_at - now
        self._came = [at for at in self._came if at > now - self.seconds]
        if len(self._came) < self.requests:
            self._came.append(now)
            return 0.0
        self._free_at = self._came[0] + self.seconds
        return self._free_at - now


@dataclass
class ApiDouble:
    """A running API.

    Attributes:
        wiki: What it searches.
        throttle: How much it takes; None for any number of requests.
        instead: What it does with the next requests, before it answers again.
        syntax: Full-text queries that had an operator of the query language in them.
    """

    wiki: Wiki
    throttle: Throttle | None = None
    instead: list[Handler] = field(default_factory=list)
    syntax: list[str] = field(default_factory=list)
    _server: FakeEndpoint | None = None

    @property
    def url(self) -> str:
        """The URL of its `api.php`."""
        assert self._server is not None
        return f"http://{HOST}:{self._server.port}/w/api.php"

    @property
    def received(self) -> list[Received]:
        """What it was asked, in order."""
        assert self._server is not None
        return self._server.received

    @property
    def asked(self) -> list[dict[str, str]]:
        """The parameters of each request."""
        return [dict(request.form) for request in self.received]

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        return await (self.instead.pop(0) if self.instead else self.answering)(request)

    async def answering(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request as the API does."""
        if not _CONTACT.match(request.headers.get("User-Agent", "")):
            return web.Response(status=403, text="Please set a user-agent and respect our robot policy.")
        if self.throttle is not None and (wait := self.throttle.wait()):
            return web.Response(status=429, text="Too many requests", headers={"Retry-After": f"{wait:.0f}"})
        if request.path != "/w/api.php":
            return web.Response(status=404, text="Not Found")
        answer = self.answer(dict(request.query))
        headers = {"MediaWiki-API-Error": answer["error"]["code"]} if "error" in answer else {}
        return web.json_response(answer, headers=headers)

    def answer(self, asked: Mapping[str, str]) -> _Answer:
        """Return the JSON object for some parameters."""
        if asked.get("format") != "json":
            return error("unknown_format", "This double answers JSON only.")
        match asked.get("action"), asked.get("list"):
            case "wbsearchentities", None:
                return self._beginning(asked)
            case "query", "search":
                return self._searched(asked)
            case "wbgetentities", None:
                return self._entities(asked)
            case "query", None if asked.get("meta") == "siteinfo":
                return {"batchcomplete": "", "query": {asked.get("siprop", "general"): {"sitename": "Wiki"}}}
        return error("badvalue", 'Unrecognized value for parameter "action".')

    def _beginning(self, asked: Mapping[str, str]) -> _Answer:
        for name in ("search", "language"):
            if not asked.get(name):
                return error("missingparam", f'The "{name}" parameter must be set.')
        if asked["language"] not in LANGUAGES:
            return error("badvalue", f'Unrecognized value for parameter "language": {asked["language"]}.')
        limit, start = min(int(asked.get("limit", "7")), _AT_MOST), int(asked.get("continue", "0"))
        chain = _chain(asked["language"])
        entries = [
            entry
            for id_, entity in self.wiki.entities.items()
            if id_.startswith("Q" if asked.get("type", "item") == "item" else "P")
            and (entry := _entry(id_, entity, asked["search"], chain))
        ]
        wanted = _folded(asked["search"])
        entries.sort(
            key=lambda entry: (entry["match"]["type"] != "entityId", _folded(entry["match"]["text"]) != wanted)
        )
        answer: _Answer = {"searchinfo": {"search": asked["search"]}, "search": entries[start : start + limit]}
        # As in SearchEntities.php: no next page is told of that would begin above 50.
        if len(entries) > start + limit and start + limit <= _AT_MOST:
            answer["search-continue"] = start + limit
        return answer | {"success": 1}

    def _searched(self, asked: Mapping[str, str]) -> _Answer:
        query = asked.get("srsearch", "")
        if len(query) > LONGEST_QUERY:
            return error("cirrussearch-query-too-long", f"Search request is longer than {LONGEST_QUERY} characters.")
        if _SYNTAX.search(query):
            self.syntax.append(query)
        wanted = set(_words(query))
        ids = [
            id_
            for id_, entity in self.wiki.entities.items()
            if id_.startswith("Q") and wanted and wanted <= entity.words
        ]
        limit, start = int(asked.get("srlimit", "10")), int(asked.get("sroffset", "0"))
        pages = [{"ns": 0, "title": id_, "pageid": int(id_[1:])} for id_ in ids[start : start + limit]]
        found: _Answer = {"search": pages}
        if asked.get("meta") == "siteinfo":
            found["general"] = {"sitename": "Double", "wikibase-conceptbaseuri": BASE}
        more = {"continue": {"sroffset": start + limit, "continue": "-||siteinfo"}} if len(ids) > start + limit else {}
        return {"batchcomplete": "", **more, "query": found}

    def _entities(self, asked: Mapping[str, str]) -> _Answer:
        ids = asked.get("ids", "").split("|")
        if len(ids) > _AT_MOST:
            return error("toomanyvalues", f"Too many values supplied for parameter ids. The limit is {_AT_MOST}.")
        languages = asked.get("languages", "|".join(LANGUAGES)).split("|")
        return {"entities": {id_: self._entity(id_, languages) for id_ in ids}, "success": 1}

    def _entity(self, id_: str, languages: Iterable[str]) -> _Answer:
        entity = self.wiki.entities.get(id_)
        if entity is None:
            return {"id": id_, "missing": ""}
        labels = {
            asked: {"language": language, "value": entity.labels[language]}
            for asked in languages
            for language in reversed(_chain(asked))
            if language in entity.labels
        }
        aliases = {
            language: [{"language": language, "value": alias} for alias in entity.aliases[language]]
            for language in languages
            if language in entity.aliases
        }
        descriptions = {
            asked: {"language": language, "value": entity.descriptions[language]}
            for asked in languages
            for language in reversed(_chain(asked))
            if language in entity.descriptions
        }
        # PHP writes an empty table as a list.
        found: _Answer = {"labels": labels or [], "aliases": aliases or [], "descriptions": descriptions or []}
        return {"type": "item", "id": id_, **found}


@asynccontextmanager
async def api_double(wiki: Wiki) -> AsyncIterator[ApiDouble]:
    """Run an API over some entities."""
    double = ApiDouble(wiki)
    async with fake_endpoint(double.handle) as server:
        double._server = server  # noqa: SLF001 - a part of the double
        yield double


def error(code: str, info: str) -> _Answer:
    """Return the JSON object of an error, which comes with status 200."""
    return {"error": {"code": code, "info": info, "*": "See /w/api.php for API usage."}, "servedby": "double"}


def answer_of(content: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Handler:
    """Return a handler that answers a JSON value."""

    async def handle(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(
            body=json.dumps(content).encode(), status=status, content_type="application/json", headers=headers
        )

    return handle


def maxlag(seconds: int) -> Handler:
    """Return a handler that tells that the wiki's databases lag behind, as it does: with status 200."""
    told = error("maxlag", f"Waiting for all: {seconds} seconds lagged.")
    return answer_of(told, headers={"Retry-After": str(seconds), "X-Database-Lag": str(seconds)})


def _entry(id_: str, entity: Entity, search: str, chain: list[str]) -> _Answer | None:
    match = _match(id_, entity, _folded(search), chain)
    if match is None:
        return None
    label = next(((entity.labels[tag], tag) for tag in chain if tag in entity.labels), None)
    description = next(((entity.descriptions[tag], tag) for tag in chain if tag in entity.descriptions), None)
    display = {
        name: {"value": text[0], "language": text[1]}
        for name, text in (("label", label), ("description", description))
        if text is not None
    }
    return {
        "id": id_,
        "title": id_ if id_.startswith("Q") else f"Property:{id_}",
        "pageid": int(id_[1:]),
        "concepturi": f"{BASE}{id_}",
        "repository": "wikidata",
        "url": f"//www.wikidata.org/wiki/{id_}",
        "display": display,
        **({"label": label[0]} if label else {}),
        **({"description": description[0]} if description else {}),
        "match": match,
        **({"aliases": [match["text"]]} if label is None or match["text"] != label[0] else {}),
    }


def _match(id_: str, entity: Entity, wanted: str, chain: list[str]) -> dict[str, str] | None:
    if wanted == id_.lower():
        return {"type": "entityId", "text": id_}
    for tag in chain:
        if tag in entity.labels and _folded(entity.labels[tag]).startswith(wanted):
            return {"type": "label", "language": tag, "text": entity.labels[tag]}
    for tag in chain:
        for alias in entity.aliases.get(tag, ()):
            if _folded(alias).startswith(wanted):
                return {"type": "alias", "language": tag, "text": alias}
    return None


def _chain(language: str) -> list[str]:
    """Return a language and those that stand in for it."""
    return list(dict.fromkeys([language, language.partition("-")[0], "mul", "en"]))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", _folded(text))
