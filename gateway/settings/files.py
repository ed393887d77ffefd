"""The section of a profile about graph files."""

from __future__ import annotations

import codecs
import io
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from gateway.errors import quoted
from gateway.settings.paths import local_path
from gateway.settings.section import Section
from gateway.settings.urls import url_problem
from gateway.terms.iri import is_iri

_LONGEST_BASE = 2_000
_NO_TEXT = frozenset({"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"})
"""What Python calls encodings, and no file has."""


class FileSettings(Section):
    """How graph files are read, and limits of the process that parses one."""

    memory_megabytes: Annotated[int, Field(ge=128)] = Field(
        default=2_048,
        description=(
            "Memory of the process that parses a file. Enforced on Linux only. JSON-LD with one `@graph` takes about "
            "13 times the size of the file; the other formats take about 50 MB whatever the size."
        ),
    )
    cpu_seconds: Annotated[int, Field(ge=1)] = Field(
        default=120, description="Processor time per 100 MB of a file, unpacked. Not enforced on Windows."
    )
    growth: Annotated[int, Field(ge=1)] = Field(
        default=200,
        description=(
            "How many times larger than the file its unpacked content, and its triples as N-Triples, may be. 64 MB "
            "are always allowed."
        ),
    )
    encoding: str = Field(
        default="",
        description=(
            "The encoding of files that neither show nor declare another one, for example `cp1252`. Empty: UTF-8."
        ),
    )
    base: str = Field(
        default="",
        description=(
            "The IRI that relative IRIs are resolved against, in every file. Empty: `file:///` with the path of the "
            "file relative to the folder that was given."
        ),
    )

    lenient: bool = Field(
        default=False,
        description=(
            "Whether terms, lines and parts of files that are not valid are left out and counted, and the rest is read."
            " If anything is left out, no answer says `complete: true`."
        ),
    )
    reload: bool = Field(
        default=False,
        description=(
            "Whether a server loads the graph anew when its files have changed, two seconds after the last change. It "
            "answers from the old one meanwhile, and keeps that if the files cannot be read; both are in memory for a "
            "time. Without it, answers say that the files have changed."
        ),
    )

    contexts: dict[str, str] = Field(
        default_factory=dict,
        description=(
            'Files of contexts that JSON-LD refers to by URL: `"https://schema.org/" = "schemaorg.jsonld"`. None is '
            "fetched."
        ),
    )

    @field_validator("contexts")
    @classmethod
    def _are_files(cls, value: dict[str, str]) -> dict[str, str]:
        files = {url: str(local_path(file).absolute()) for url, file in value.items()}
        for url, file in files.items():
            if url_problem(url):
                raise ValueError(f"{quoted(url)} is no URL of a context")
            if not Path(file).is_file():
                raise ValueError(f"there is no file {quoted(value[url])}")
        return files

    @field_validator("encoding")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if not value:
            return value
        try:
            name = codecs.lookup(value).name
            # It refuses what turns no bytes into text.
            io.TextIOWrapper(io.BytesIO(), encoding=value).close()
        except (LookupError, ValueError) as error:
            raise ValueError("there is no such encoding; it is a name such as `cp1252` or `iso-8859-1`") from error
        if name.replace("-", "_") in _NO_TEXT:
            raise ValueError("no file has this encoding; it is a name such as `cp1252` or `iso-8859-1`")
        return value

    @field_validator("base")
    @classmethod
    def _is_an_iri(cls, value: str) -> str:
        if value and (not is_iri(value) or len(value) > _LONGEST_BASE):
            raise ValueError("it must be a whole IRI, such as `https://example.org/data/`")
        return value
