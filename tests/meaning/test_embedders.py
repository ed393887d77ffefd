"""What turns texts into vectors: a model in a folder, and a service (`gateway.meaning`)."""

import asyncio
import json
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from gateway.errors import AnswerCut, ConfigurationError, DeadlinePassed, EndpointFault, Fault, NetworkFault, Throttled
from gateway.graph.call import Deadline
from gateway.meaning.embedder import Embedded, Embedder
from gateway.meaning.service import EmbeddingService, most_bytes
from gateway.meaning.static_model import StaticModel
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.meaning import MeaningSettings
from gateway.settings.profile import Profile
from gateway.stores.embedders import embedder_of
from tests.cases import check_each
from tests.meaning.models import DIMENSIONS, Service, by_meaning, model_in, service_over

pytestmark = pytest.mark.anyio

TEXTS = ("high blood pressure", "hypertension", "the Eiffel Tower", "")


def after(seconds: float = 60) -> Deadline:
    return Deadline.after(seconds)


def asked(service: Service, **settings: object) -> EmbeddingService:
    """Return a client of a service."""
    given = MeaningSettings.model_validate({"embedder": service.url, "model": "wordllama", **settings})
    return EmbeddingService(given, EndpointSettings())


async def test_a_text_is_nearer_to_one_that_means_the_same_than_to_another_one(tmp_path: Path) -> None:
    model = StaticModel(model_in(tmp_path))
    vectors = (await model.embed(TEXTS, after())).vectors
    await model.close()
    same, other = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert vectors.shape == (len(TEXTS), DIMENSIONS)
    assert same > 0.4 > other
    # What the model knows nothing of is near to nothing.
    assert np.linalg.norm(vectors, axis=1).tolist() == pytest.approx([1, 1, 1, 0], abs=1e-5)


async def test_weights_and_a_mapping_of_tokens_are_applied(tmp_path: Path) -> None:
    folder = model_in(tmp_path / "whole")
    tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    tokenizer["model"] = {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "c": 2}, "unk_token": "a"}
    changed = tmp_path / "mapped"
    changed.mkdir()
    plain = {**tokenizer, "normalizer": None, "post_processor": None, "added_tokens": [], "decoder": None}
    plain["pre_tokenizer"] = {"type": "Whitespace"}
    (changed / "tokenizer.json").write_text(json.dumps(plain), "utf-8")
    save_file(
        {
            "embeddings": np.asarray([[1, 0], [0, 1]], np.float32),
            "mapping": np.asarray([0, 1, 1], np.int64),
            "weights": np.asarray([3, 4, 0], np.float32),
        },
        changed / "model.safetensors",
    )
    model = StaticModel(changed)
    vectors = (await model.embed(["a b", "c", "b"], after())).vectors
    await model.close()
    assert vectors.tolist() == [pytest.approx([0.6, 0.8]), [0, 0], [0, 1]]


async def test_files_of_a_model_that_are_gone_or_others_now_are_a_fault(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in model_in(tmp_path / "linked").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    weights, moved = folder / "model.safetensors", tmp_path / "moved"
    model = StaticModel(folder)
    weights.rename(moved)
    with pytest.raises(Fault, match="cannot be read"):
        await model.embed(TEXTS, after())
    # Vectors of one model must not be called those of another.
    weights.write_bytes(moved.read_bytes()[:-1])
    with pytest.raises(Fault, match="changed after they were read"):
        await model.embed(TEXTS, after())
    moved.replace(weights)
    assert (await model.embed(TEXTS, after())).vectors.shape == (len(TEXTS), DIMENSIONS)
    await model.close()


async def test_a_tokenizer_that_fails_is_a_fault(tmp_path: Path) -> None:
    tokenizer = json.loads((model_in(tmp_path / "whole") / "tokenizer.json").read_text("utf-8"))
    without = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[UNK]"}
    plain = {"normalizer": None, "post_processor": None, "decoder": None, "pre_tokenizer": None, "added_tokens": ()}
    (tmp_path / "tokenizer.json").write_text(json.dumps({**tokenizer, **plain, "model": without}), "utf-8")
    save_file({"embeddings": np.ones((1, 2), np.float32)}, tmp_path / "model.safetensors")
    model = StaticModel(tmp_path)
    with pytest.raises(Fault, match="tokenizer"):
        await model.embed(["b"], after())
    await model.close()


async def test_half_of_a_surrogate_pair_is_no_character_for_a_model(tmp_path: Path) -> None:
    async with service_over(model_in(tmp_path)) as service:
        client = asked(service)
        embedders: list[Embedder] = [service.model, client]
        for embedder in embedders:
            assert (await embedder.embed(["tower \ud800"], after())).vectors.shape == (1, DIMENSIONS)
        await client.close()


async def test_a_service_gives_the_vectors_of_the_model_behind_it_in_the_order_of_the_texts(tmp_path: Path) -> None:
    async with service_over(model_in(tmp_path)) as service:
        client = asked(service)
        given = await client.embed(TEXTS[:3], after())
        own = await service.model.embed(TEXTS[:3], after())
        await client.close()
    np.testing.assert_allclose(given.vectors, own.vectors, atol=1e-6)
    assert service.keys == [""]


class WatchedService(EmbeddingService):
    """A client that notes whether answers are read in the thread of the event loop."""

    def __init__(self, url: str) -> None:
        super().__init__(MeaningSettings(embedder=url), EndpointSettings())
        self.are_on_loop: list[bool] = []

    def _embedded(self, body: bytes, count: int) -> Embedded:
        self.are_on_loop.append(threading.current_thread() is threading.main_thread())
        return super()._embedded(body, count)


async def test_a_large_answer_of_a_service_is_read_in_a_thread(tmp_path: Path) -> None:
    texts = [f"tower {number}" for number in range(300)]
    async with service_over(model_in(tmp_path)) as service:
        client = WatchedService(service.url)
        given = await client.embed(texts, after())
        await client.embed(texts[:2], after())
        own = await service.model.embed(texts, after())
        await client.close()
    np.testing.assert_allclose(given.vectors, own.vectors, atol=1e-6)
    assert client.are_on_loop == [False, True]


async def test_an_answer_of_a_service_is_read_up_to_what_its_vectors_may_take(tmp_path: Path) -> None:
    async with service_over(model_in(tmp_path)) as service:
        client = asked(service)
        service.body = b" " * (most_bytes(1) + 1)
        with pytest.raises(AnswerCut):
            await client.embed(TEXTS[:1], after())
        await client.close()
    assert most_bytes(2_000) == 128 << 20


async def test_a_key_is_read_from_the_environment_and_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY_OF_TESTS", "s3cret")
    async with service_over(model_in(tmp_path)) as service:
        client = asked(service, key="env:A_KEY_OF_TESTS")
        await client.embed(TEXTS[:1], after())
        await client.close()
    assert service.keys == ["Bearer s3cret"]
    with pytest.raises(ConfigurationError, match="unencrypted") as caught:
        EmbeddingService(
            MeaningSettings(embedder="http://example.org/v1/embeddings", key="env:A_KEY_OF_TESTS"), EndpointSettings()
        )
    assert "s3cret" not in str(caught.value)


def vectors(*rows: list[float]) -> bytes:
    """Return an answer of a service."""
    return json.dumps({"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]}).encode()


STRANGE = {
    "no JSON": b"<html>",
    "no vectors": b'{"data": []}',
    "fewer vectors": vectors([1.0]),
    "vectors of several lengths": vectors([1.0], [1.0, 2.0]),
    "empty vectors": vectors([], []),
    "vectors that are too long": vectors([1.0] * 8_193, [1.0] * 8_193),
    "vectors that are no lists": b'{"data": [{"index": 0, "embedding": 1}, {"index": 1, "embedding": "a"}]}',
    "lists in lists": b'{"data": [{"index": 0, "embedding": ' + b"[" * 5_000 + b"]" * 5_000 + b"}]}",
    "no numbers": b'{"data": [{"embedding": ["a"]}, {"embedding": [1]}]}',
    "numbers that are too large": vectors([1e300], [1.0]),
    "one place twice": b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}',
}


@pytest.mark.parametrize("body", STRANGE.values(), ids=STRANGE)
async def test_a_strange_answer_of_a_service_is_a_fault_that_says_so(body: bytes, tmp_path: Path) -> None:
    async with service_over(model_in(tmp_path)) as service:
        service.body = body
        client = asked(service)
        with pytest.raises(EndpointFault, match="answered with"):
            await client.embed(TEXTS[:2], after())
        await client.close()


async def test_a_service_that_fails_is_a_fault_of_its_kind(tmp_path: Path) -> None:
    async with service_over(model_in(tmp_path)) as service:
        client = asked(service)
        for status, kind in ((429, Throttled), (500, EndpointFault), (307, EndpointFault)):
            service.status = status
            with pytest.raises(kind):
                await client.embed(TEXTS[:1], after())
        service.status, service.is_stalled = 200, True
        with pytest.raises(DeadlinePassed):
            await client.embed(TEXTS[:1], after(0.05))
    with pytest.raises(NetworkFault):
        await client.embed(TEXTS[:1], after())
    await client.close()


def test_a_folder_that_has_no_model_is_told(tmp_path: Path) -> None:
    bare, untold, flat = (tmp_path / name for name in ("bare", "untold", "flat"))
    for folder in (bare, untold, flat):
        folder.mkdir()
    (untold / "model.safetensors").write_bytes(b"\xff" * 100)
    save_file({"embeddings": np.zeros(3, np.float32)}, flat / "model.safetensors")

    def is_told(folder: Path) -> None:
        with pytest.raises(ConfigurationError):
            embedder_of(by_meaning(folder))

    check_each([bare, untold, flat, tmp_path / "absent"], is_told)


def test_a_profile_without_an_embedder_has_none() -> None:
    assert embedder_of(Profile()) is None


def test_a_url_with_a_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="key or a token"):
        MeaningSettings(embedder="https://example.org/v1/embeddings?api_key=1")


@pytest.mark.process
async def test_without_an_embedder_no_package_of_the_extra_is_imported(tmp_path: Path) -> None:
    graph = tmp_path / "graph.ttl"
    graph.write_text('<urn:w> <http://www.w3.org/2000/01/rdf-schema#label> "warfarin" .', "utf-8")
    code = (
        "import sys; from gateway.api import open_gateway\n"
        f"with open_gateway({str(graph)!r}) as graph: graph.search_entities('warfrin')\n"
        "print(sorted({'numpy', 'tokenizers', 'safetensors'} & set(sys.modules)))"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    assert (process.returncode, printed.strip()) == (0, b"[]")


async def test_a_closed_model_makes_no_vectors(tmp_path: Path) -> None:
    model: Embedder = StaticModel(model_in(tmp_path))
    await model.close()
    with pytest.raises(Fault):
        await model.embed(["a"], after())
