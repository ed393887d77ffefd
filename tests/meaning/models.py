"""A real static model for tests: the weights in the package wordllama, in a folder as models are published."""

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from aiohttp import web

from gateway.graph.call import Deadline
from gateway.meaning.static_model import StaticModel
from gateway.settings.meaning import MeaningSettings
from gateway.settings.profile import Profile
from tests.small import ROOM

DIMENSIONS = 256


@cache
def _files() -> tuple[Path, Path]:
    found = importlib.util.find_spec("wordllama")
    assert found is not None
    assert found.submodule_search_locations is not None
    package = Path(found.submodule_search_locations[0])
    return (
        package / "weights" / "l2_supercat_256.safetensors",
        package / "tokenizers" / "l2_supercat_tokenizer_config.json",
    )


def model_in(folder: Path) -> Path:
    """Return a folder with the model; `folder` need not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in zip(("model.safetensors", "tokenizer.json"), _files(), strict=True):
        (folder / name).symlink_to(file)
    return folder


def by_meaning(embedder: Path | str, **settings: object) -> Profile:
    """Return a profile with an embedder."""
    return Profile(size=ROOM, meaning=MeaningSettings(embedder=str(embedder), **settings))  # type: ignore[arg-type]


@dataclass
class Service:
    """A service of embeddings on loopback over the model, which a test can break.

    Attributes:
        model: What makes the vectors.
        name: The model that answers name.
        url: Its URL.
        dimensions: Numbers of a vector.
        status: The status of answers.
        body: What is sent in the place of an answer.
        is_stalled: Whether no answer is sent until the test ends.
        asked: The texts of each request.
        keys: The keys of the requests.
    """

    model: StaticModel
    name: str = "wordllama"
    url: str = ""
    dimensions: int = DIMENSIONS
    status: int = 200
    body: bytes = b""
    is_stalled: bool = False
    asked: list[Sequence[str]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    _ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        texts = json.loads(await request.read())["input"]
        self.asked.append(texts)
        self.keys.append(request.headers.get("Authorization", ""))
        if self.is_stalled:
            await self._ended.wait()
        if self.body or self.status != 200:
            return web.Response(status=self.status, body=self.body, content_type="application/json")
        embedded = await self.model.embed(texts, Deadline.after(60))
        data = [
            {"object": "embedding", "index": place, "embedding": row[: self.dimensions]}
            for place, row in enumerate(embedded.vectors.tolist())
        ]
        return web.json_response({"object": "list", "data": data[::-1], "model": self.name})

    def end(self) -> None:
        """Let go of what is stalled."""
        self._ended.set()


@asynccontextmanager
async def service_over(folder: Path) -> AsyncIterator[Service]:
    """Serve a model on loopback."""
    service = Service(StaticModel(folder))
    runner = web.ServerRunner(web.Server(service.answer), shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        service.url = f"http://{host}:{port}/v1/embeddings"
        yield service
    finally:
        service.end()
        await runner.cleanup()
        await service.model.close()
