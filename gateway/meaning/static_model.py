"""A static model in a folder: a vector for each token, and that of a text is their mean.

The files are those of model2vec, and of the static models of sentence-transformers.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from gateway.errors import ConfigurationError, Fault
from gateway.graph.call import Deadline, deadline_passed
from gateway.meaning.embedder import MOST_DIMENSIONS, Embedded, as_sent, unit_rows
from gateway.settings.storage import read_at_most

if TYPE_CHECKING:
    from gateway.meaning.embedder import Matrix

_WEIGHTS = "model.safetensors"
_TOKENIZER = "tokenizer.json"
_TENSORS = ("embeddings", "embedding.weight")
"""What the vectors are called, by model2vec and by sentence-transformers."""

_LARGEST = 4 << 30
"""Bytes of the file of the weights."""

_LARGEST_TOKENIZER = 256 << 20

_RESTORE = "The operator of this gateway should put the files back, or restart it with those that are there now."

_VALID = f"It has {_WEIGHTS} with a tensor `embeddings` or `embedding.weight`, and {_TOKENIZER}."


class StaticModel:
    """A static model; see `gateway.meaning.embedder.Embedder`.

    Args:
        folder: Its folder.

    Raises:
        ConfigurationError: A file is missing, or is not what it should be.
    """

    at_once = 500
    seconds = 10.0

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self._files = [folder / _WEIGHTS, folder / _TOKENIZER]
        try:
            self._states = [_state(file) for file in self._files]
        except OSError as error:
            raise _wrong(folder, f"a file cannot be read: {error.strerror}") from error
        self._vectors, self._weights, self._rows = _read(folder)
        self._tokenizer = _tokenizer(folder)
        self._version = ""
        self._thread = ThreadPoolExecutor(1, "meaning")
        self._closed = threading.Event()

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embedded:
        """Return the vectors of texts; see `Embedder.embed`."""
        if self._closed.is_set():
            raise _closed()
        working = asyncio.get_running_loop().run_in_executor(self._thread, self._embedded, list(texts))
        try:
            await asyncio.wait([working], timeout=deadline.seconds_left)
            if not working.done():
                raise deadline_passed()
        finally:
            working.cancel()
        if working.cancelled():
            raise _closed()
        # What a tokenizer raises is of no class of its own, as for a token that its vocabulary lacks.
        if type(error := working.exception()) is Exception:
            raise Fault(
                "The tokenizer of the model failed.",
                next_step="The operator of this gateway should check the folder of meaning.embedder.",
            ) from error
        return working.result()

    async def close(self) -> None:
        """Stop the thread."""
        self._closed.set()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embedded(self, texts: Sequence[str]) -> Embedded:
        if not self._version:
            self._version = self._digest()
        shorter = [as_sent(text) for text in texts]
        sums: Matrix = np.zeros((len(texts), self._vectors.shape[1]), np.float32)
        for row, encoding in enumerate(self._tokenizer.encode_batch(shorter, add_special_tokens=False)):
            tokens = np.asarray([token for token in encoding.ids if token < len(self._rows)], np.int64)
            vectors = self._vectors[self._rows[tokens]].astype(np.float32)
            if self._weights is not None:
                vectors *= self._weights[tokens][:, None]
            # Of the mean only the direction counts.
            vectors.sum(axis=0, out=sums[row])
        return Embedded(unit_rows(np.nan_to_num(sums, posinf=0.0, neginf=0.0)), self._version)

    def _digest(self) -> str:
        """Return a digest of the files from which the model was read.

        Raises:
            Fault: They are gone, or are others now.
        """
        digest = hashlib.sha256()
        try:
            for file in self._files:
                with file.open("rb") as opened:
                    digest.update(hashlib.file_digest(opened, "sha256").digest())
            are_same = [_state(file) for file in self._files] == self._states
        except OSError as error:
            raise Fault(f"The files of the model cannot be read: {error.strerror}.", next_step=_RESTORE) from error
        if not are_same:
            raise Fault("The files of the model changed after they were read.", next_step=_RESTORE)
        return digest.hexdigest()[:32]


def _closed() -> Fault:
    return Fault("The model is closed.")


def _state(file: Path) -> tuple[int, int]:
    """Return what changes with the content of a file."""
    found = file.stat()
    return found.st_size, found.st_mtime_ns


def _read(folder: Path) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Return the vectors, the weight of each token if there are any, and which vector each token has."""
    path = folder / _WEIGHTS
    try:
        if path.stat().st_size > _LARGEST:
            raise _wrong(folder, f"{_WEIGHTS} is larger than {_LARGEST >> 30} GB")
        with safe_open(path, framework="numpy") as file:
            names = set(file.keys())
            found = [name for name in _TENSORS if name in names]
            if not found:
                raise _wrong(folder, f"{_WEIGHTS} has neither of the tensors {' and '.join(_TENSORS)}")
            vectors = file.get_tensor(found[0])
            weights = file.get_tensor("weights").astype(np.float32) if "weights" in names else None
            rows = file.get_tensor("mapping").astype(np.int64) if "mapping" in names else np.arange(len(vectors))
    except (OSError, SafetensorError, TypeError) as error:
        raise _wrong(folder, f"{_WEIGHTS} cannot be read: {error}") from error
    if vectors.ndim != 2 or not 0 < vectors.shape[1] <= MOST_DIMENSIONS or vectors.dtype.kind not in "fi":  # noqa: PLR2004
        raise _wrong(folder, f"{_WEIGHTS} has no table of vectors of at most {MOST_DIMENSIONS:,} numbers")
    is_whole = rows.ndim == 1 and (not len(rows) or (rows.min() >= 0 and rows.max() < len(vectors)))
    if not is_whole or (weights is not None and weights.shape != (len(rows),)):
        raise _wrong(folder, f"the tables of {_WEIGHTS} do not fit together")
    return vectors, weights, rows


def _tokenizer(folder: Path) -> Tokenizer:
    path = folder / _TOKENIZER
    try:
        tokenizer = Tokenizer.from_buffer(read_at_most(path, _LARGEST_TOKENIZER))
    except (OSError, ValueError) as error:
        raise _wrong(folder, f"{_TOKENIZER} cannot be read: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _wrong(folder: Path, why: str) -> ConfigurationError:
    return ConfigurationError(f"The folder {folder} has no static model: {why}.", valid=_VALID)
