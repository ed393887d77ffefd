"""A service that makes vectors, asked as OpenAI's is (https://platform.openai.com/docs/api-reference/embeddings)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import aiohttp
import msgspec
import numpy as np

from gateway.errors import ConfigurationError, EndpointFault, Throttled
from gateway.graph.call import Deadline
from gateway.meaning.embedder import MOST_DIMENSIONS, Embedded, as_sent, unit_rows
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.meaning import MeaningSettings
from gateway.settings.secrets import read
from gateway.settings.urls import is_loopback
from gateway.transport.credentials import Access, access_without_credentials
from gateway.transport.exchange import CaughtFault, excerpt, whole_body

if TYPE_CHECKING:
    from gateway.meaning.embedder import Matrix

_SERVER = "the service of embeddings"
_JSON = "application/json"
_DIGITS = 40
"""Bytes of a number in an answer, with what stands between two."""

_BESIDE = 64 << 10
"""Bytes of an answer beside its numbers."""

_LARGEST_BODY = 128 << 20
"""Bytes of an answer at most: 2,000 vectors of 3,072 numbers."""

_LARGE = 1 << 20
"""Bytes of an answer that takes some milliseconds to read: too long for the event loop."""

_LONGEST_MODEL = 200

_LARGEST_NUMBER = 1e9
"""Numbers of a vector are about one; the square of one above 1e19 is none of 32 bits."""

_SETTING = "The operator of this gateway should check meaning.embedder and meaning.model."


class _Vector(msgspec.Struct):
    embedding: msgspec.Raw
    index: int


class _Answer(msgspec.Struct):
    data: list[_Vector]
    model: str = ""


_numbers = msgspec.json.Decoder(list[float])


class EmbeddingService:
    """A service; see `gateway.meaning.embedder.Embedder`.

    Args:
        settings: The section of the profile.
        endpoint: Its section about the endpoint, for proxy and certificates.

    Raises:
        ConfigurationError: The URL is wrong, the key cannot be read, or would go unencrypted over a network.
    """

    def __init__(self, settings: MeaningSettings, endpoint: EndpointSettings) -> None:
        self._url = settings.embedder
        self._model = settings.model
        self.name = f"{settings.model or 'a model'} at {urlsplit(self._url).hostname}"
        self.at_once = settings.batch
        self.seconds = settings.seconds
        self._access = _access(settings, endpoint)
        self._session: aiohttp.ClientSession | None = None

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embedded:
        """Return the vectors of texts; see `Embedder.embed`."""
        with CaughtFault(_SERVER) as caught:
            async with asyncio.timeout(deadline.seconds_left):
                deadline.check()
                body = await self._body(texts)
                if len(body) < _LARGE:
                    return self._embedded(body, len(texts))
                return await asyncio.to_thread(self._embedded, body, len(texts))
        raise caught.fault

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _body(self, texts: Sequence[str]) -> bytes:
        if self._session is None:
            self._session = self._access.session(_JSON)
        asked = {"input": [as_sent(text) or " " for text in texts], "encoding_format": "float"}
        content = msgspec.json.encode({**asked, **({"model": self._model} if self._model else {})})
        options = self._access.options({"Content-Type": _JSON})
        async with self._session.post(self._url, data=content, **options) as response:
            if response.status == HTTPStatus.TOO_MANY_REQUESTS:
                raise Throttled("The service of embeddings wants fewer requests.")
            if response.status != HTTPStatus.OK:
                await excerpt(response)
                raise EndpointFault(
                    f"The service of embeddings failed with HTTP status {response.status}.", next_step=_SETTING
                )
            return await whole_body(response, most_bytes(len(texts)), _SERVER)

    def _embedded(self, body: bytes, count: int) -> Embedded:
        try:
            answer = msgspec.json.decode(body, type=_Answer)
            rows = sorted(answer.data, key=lambda one: one.index)
            if [one.index for one in rows] != list(range(count)):
                raise _strange(f"other vectors than one for each of {count} texts")
            numbers = np.empty((0, 0))
            # One by one: while one is read no other thread runs.
            for place, row in enumerate(_numbers.decode(one.embedding) for one in rows):
                if not place and len(row) <= MOST_DIMENSIONS:
                    numbers = np.empty((count, len(row)))
                if not 0 < len(row) == numbers.shape[1]:
                    raise _strange("vectors of several lengths, or of none that a model has")
                numbers[place] = row
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise _strange("something else than vectors") from error
        if not np.abs(numbers).max() < _LARGEST_NUMBER:
            raise _strange("numbers that no model makes")
        vectors: Matrix = numbers.astype(np.float32)
        # A service may serve another model under the same name; how many numbers it has is compared beside that.
        model = f"{self._url} {self._model} {answer.model[:_LONGEST_MODEL]}"
        return Embedded(unit_rows(vectors), model)


def most_bytes(count: int) -> int:
    """Return how many bytes an answer with so many vectors may have."""
    return min(count * MOST_DIMENSIONS * _DIGITS + _BESIDE, _LARGEST_BODY)


def _strange(what: str) -> EndpointFault:
    return EndpointFault(f"The service of embeddings answered with {what}.", next_step=_SETTING)


def _access(settings: MeaningSettings, endpoint: EndpointSettings) -> Access:
    access = access_without_credentials(settings.embedder, endpoint, "meaning.embedder")
    if not settings.key:
        return access
    parts = urlsplit(settings.embedder)
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise ConfigurationError("The key of the embedder would go unencrypted over a network.", valid="Use https.")
    key = read(settings.key, "meaning.key").get_secret_value()
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError("The secret of meaning.key is wrong: a header holds printable ASCII characters only.")
    return replace(access, headers={**access.headers, "Authorization": f"Bearer {key}"})
