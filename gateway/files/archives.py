"""Archives and packed files: how they are opened, and which files of an archive are graphs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from typing import IO, NamedTuple, cast

from gateway.files import recognition
from gateway.files.other_formats import refuse_office_file
from gateway.files.parser_streams import RefusedError

_MOST_MEMBERS = 10_000
"""Files in an archive."""

_MEDIA_TYPE = "mimetype"
"""The file of an OpenDocument package that says what it is (OpenDocument 1.3, part 2, 3.3)."""

_LONGEST_MEDIA_TYPE = 200


class Members(NamedTuple):
    """The files in an archive: those that are graphs, and the number of others."""

    graphs: list[zipfile.ZipInfo]
    others: int


def members_of(archive: zipfile.ZipFile) -> Members:
    """Return which files of an archive are graphs.

    Raises:
        RefusedError: None is one, there are too many files, or they make a workbook or a document together.
    """
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) > _MOST_MEMBERS:
        raise RefusedError(f"it holds more than {_MOST_MEMBERS:,} files", next_step="Unpack it.")
    refuse_office_file({member.filename for member in members}, _media_type(archive, members))
    graphs = [member for member in members if _is_graph(member)]
    if not graphs:
        raise RefusedError("no file in it has the suffix of an RDF format")
    return Members(graphs, len(members) - len(graphs))


def opened_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    """Open a file of an archive, which may be packed once more."""
    stream = io.BufferedReader(cast("io.RawIOBase", archive.open(member)))
    packing = recognition.packing_of(stream.peek(recognition.START))
    return unpacked(cast("IO[bytes]", stream), "" if packing == "zip" else packing)


def unpacked(raw: IO[bytes], packing: str) -> IO[bytes]:
    """Return the content of a file that is packed in some way; empty for one that is not."""
    match packing:
        case "gzip":
            return cast("IO[bytes]", gzip.open(raw))
        case "bzip2":
            return cast("IO[bytes]", bz2.open(raw))
        case "xz":
            return cast("IO[bytes]", lzma.open(raw))
        case _:
            return raw


def is_encrypted(member: zipfile.ZipInfo) -> bool:
    """Return whether a file of an archive needs a password."""
    return bool(member.flag_bits & 1)


def _is_graph(member: zipfile.ZipInfo) -> bool:
    """Return whether a file of an archive is a graph by its name, and not hidden or one of macOS's own."""
    parts = member.filename.split("/")
    is_hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    is_meant = not is_hidden and not recognition.is_no_graph(parts[-1])
    return is_meant and bool(recognition.format_by_name(member.filename))


def _media_type(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> str:
    """Return what an archive says that it is; empty where it does not."""
    for member in members:
        if member.filename == _MEDIA_TYPE and not is_encrypted(member):
            with archive.open(member) as file:
                return file.read(_LONGEST_MEDIA_TYPE).decode("ascii", "replace").strip()
    return ""
