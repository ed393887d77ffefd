"""The encoding of a file's text: what its first bytes show, what its XML declares, and reading it as UTF-8."""

from __future__ import annotations

import codecs
import io
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from typing import IO, cast

from gateway.files.parser_streams import PieceReader, RefusedError

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = {
    BOM_UTF8: "utf-8",
    BOM_UTF32_LE: "utf-32-le",
    BOM_UTF32_BE: "utf-32-be",
    BOM_UTF16_LE: "utf-16-le",
    BOM_UTF16_BE: "utf-16-be",
}
_XML_WITHOUT_MARK = {b"<\0?\0": "utf-16-le", b"\0<\0?": "utf-16-be"}

_DECLARATION = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']""")
_DECLARED = re.compile(r"""^(\s*<\?xml\s[^>]*?encoding\s*=\s*)(?:"[^"]*"|'[^']*')""")

_AS_BYTES_ARE = ("utf-8", "ascii")
"""Codecs whose text is UTF-8 as it stands."""

_WIDE = ("utf-16", "utf-32")
_CHUNK = 1 << 16


def mark_of(start: bytes) -> tuple[str, int]:
    """Return the encoding that the first bytes show, or an empty text, and the length of the mark that shows it."""
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding, len(mark)
    return _XML_WITHOUT_MARK.get(start[:4], ""), 0


def declared_in(start: bytes) -> str:
    """Return the encoding that an XML declaration names; empty where there is none."""
    found = _DECLARATION.match(start)
    return "" if found is None else found[1].decode().lower()


def is_wide(encoding: str) -> bool:
    """Return whether an encoding has no ASCII in it: a declaration that can be read names it by mistake."""
    return encoding.startswith(_WIDE)


def needs_recoding(encoding: str) -> bool:
    """Return whether bytes in an encoding are not UTF-8 as they stand.

    Raises:
        RefusedError: There is no such encoding.
    """
    if encoding.lower() in _AS_BYTES_ARE:
        return False
    try:
        return codecs.lookup(encoding).name not in _AS_BYTES_ARE
    except LookupError as error:
        raise RefusedError(
            f"its encoding {encoding!r} is not known", next_step="Convert it to UTF-8, for example with iconv."
        ) from error


class Utf8Reader(PieceReader):
    """The text of a stream in another encoding, as UTF-8.

    An XML declaration at its beginning names UTF-8.
    """

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        super().__init__()
        self._stream = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._line = 1
        self._is_begun = False
        self._is_ended = False

    def _piece(self) -> bytes:
        text = b""
        while not text and not self._is_ended:
            text = self._next()
        return text

    def _next(self) -> bytes:
        """Return the text of a block; refuse bytes that are none."""
        chunk = cast("io.BufferedReader", self._stream).read1(_CHUNK)
        self._is_ended = not chunk
        try:
            text = self._decoder.decode(chunk, final=self._is_ended)
        except UnicodeError as error:
            # That of UTF-16 has no place where there is no mark.
            bad = error.object[error.start] if isinstance(error, UnicodeDecodeError) else (chunk or b"\0")[0]
            before = error.object[: error.start] if isinstance(error, UnicodeDecodeError) else b""
            line = self._line + before.count(b"\n")
            raise RefusedError(
                f"the byte 0x{bad:02X} is not valid in {self._encoding}",
                place=f":{line}",
                next_step="Give the encoding that the file has: --encoding NAME.",
            ) from error
        self._line += text.count("\n")
        if not self._is_begun and text:
            self._is_begun = True
            text = _DECLARED.sub(r'\1"UTF-8"', text)
        return text.encode("utf-8", "replace")
