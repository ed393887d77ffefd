"""The section of a profile about search by meaning."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from gateway.errors import ConfigurationError, quoted
from gateway.settings.paths import local_path
from gateway.settings.secrets import Reference
from gateway.settings.section import Seconds, Section, Unquoted
from gateway.settings.urls import url_problem

_URL = re.compile(r"https?://", re.IGNORECASE)


def is_service(embedder: str) -> bool:
    """Return whether an embedder is a service, and not a folder."""
    return _URL.match(embedder) is not None


class MeaningSettings(Section):
    """What turns names into vectors, so that they are found by their meaning."""

    embedder: Annotated[str, Unquoted()] = Field(
        default="",
        description=(
            "A folder with a static model (`model.safetensors`, `tokenizer.json`), or the URL of a service that takes "
            "OpenAI's requests (`http://127.0.0.1:8080/v1/embeddings`), to which all names go. Either needs the extra "
            "`meaning`. Empty: names are found by their spelling alone."
        ),
    )
    model: str = Field(default="", max_length=200, description="The model that a service is asked for.")
    key: Reference = Field(
        default="", description="The key of a service, sent as a bearer token: `env:NAME` or `file:/path`."
    )
    seconds: Seconds = Field(
        default=3.0, description="Time that a search waits for a service; after it, names are found by spelling alone."
    )
    batch: Annotated[int, Field(ge=1, le=2_000)] = Field(
        default=100, description="Names in one request to a service, of whose answer 128 MB are read."
    )
    least: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.3,
        description="Least similarity (the cosine) of a name that is shown as found by its meaning.",
    )

    @field_validator("embedder")
    @classmethod
    def _is_a_place(cls, value: str) -> str:
        if value and is_service(value):
            if problem := url_problem(value):
                raise ValueError(problem)
            return value
        return str(local_path(value).absolute()) if value else value


def model_folder(embedder: str) -> Path:
    """Return the folder of a local model.

    Raises:
        ConfigurationError: There is none.
    """
    folder = Path(embedder)
    if not folder.is_dir():
        raise ConfigurationError(
            f"There is no folder {quoted(embedder)} with a model.",
            valid="meaning.embedder is a folder with model.safetensors and tokenizer.json, or the URL of a service.",
        )
    return folder
