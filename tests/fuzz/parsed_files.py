"""Mutated small files of ten formats, parsed strictly and leniently in this process."""

import bz2
import gzip
import io
import lzma
import os
import random
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gateway.files import recognition
from gateway.files.parser import answer
from gateway.files.parser_streams import REFUSAL, TRIPLES, ParseRequest
from gateway.settings.files import FileSettings
from tests.fuzz import hostile

_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_E: Final = "http://e.org/"
_TTL: Final = (
    f'@prefix e: <{_E}> .\ne:a a e:T ; e:name "Änn"@de , "x"@zh-classical ; e:knows [ e:p ( 1 2.5 "t" ) ] .\n'
    '# about b\ne:b e:p e:a , <relative#x> ; e:q \'one\' , """two\nlines""" .\n'
)
_LINES: Final = "".join(
    f'<{_E}{n}> <{_E}p> "text {n}"@{"en" if n % 5 else "zh-classical"} .\n_:b{n % 3} <{_E}q> <{_E}{n}> .\n'
    for n in range(20)
)
_DOCTYPE: Final = f"<!DOCTYPE rdf:RDF [\n<!ENTITY e '{_E}'><!-- <!ENTITY e \"no\"> -->\n]>\n"
DOCUMENTS: Final = {
    "x.ttl": _TTL,
    "x.nt": _LINES,
    "x.nq": _LINES.replace(" .\n", f" <{_E}g> .\n"),
    "x.trig": f"{_TTL}e:g {{ e:c e:p e:d }}\n",
    "x.n3": f"{_TTL}e:c = e:d .\n",
    "x.rdf": (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{_DOCTYPE}<rdf:RDF xmlns:rdf="{_RDF}" xmlns:e="{_E}">\n'
        '<e:T rdf:about="&e;a"><e:name xml:lang="en">Ann é</e:name>\n<e:p rdf:parseType="Collection"><e:U/></e:p></e:T>'
        '<rdf:Description rdf:ID="b"><e:p rdf:resource="&e;c"/></rdf:Description>\n</rdf:RDF>'
    ),
    "x.jsonld": (
        f'{{"@context": {{"e": "{_E}", "name": "e:name"}}, "@graph": [{{"@id": "e:a", "@type": "e:T", "name": "Änn",\n'
        '"e:p": [{"@list": [1, 2.5, true]}, {"@id": "e:b"}, {"@value": "x", "@language": "zh-classical"}]}]}'
    ),
    "x.xml": (
        '<?xml version="1.0"?><TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><triple>'
        f"<uri>{_E}a</uri><uri>{_E}p</uri><plainLiteral>Ann</plainLiteral></triple></graph></TriX>"
    ),
    "y.rdf": (
        f'<?xml version="1.0" encoding="ISO-8859-1"?>\n<rdf:RDF xmlns:rdf="{_RDF}" xmlns:e="{_E}">'
        f'<e:T rdf:about="{_E}a"><e:name>caf\xe9</e:name></e:T></rdf:RDF>'
    ),
    "x.owl": f"Prefix(:=<{_E}>)\nOntology(<{_E}o>\nDeclaration(Class(:A))\n)\n",
}
_PACKERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a file.

    Attributes:
        lines: Its triples; None where it was refused.
        refusal: Why it was.
        skipped: How much of it was left out.
    """

    lines: tuple[bytes, ...] | None
    refusal: str
    skipped: int


def parsed(name: str, content: bytes, settings: FileSettings) -> Outcome:
    """Parse a file here."""
    frames: list[tuple[bytes, bytes]] = []
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(content)
        file.seek(0)
        request = ParseRequest(
            recognition.format_by_name(name),
            recognition.packing_by_name(name),
            "file:///x",
            settings.memory_megabytes,
            # Those of a process of its own.
            1 << 30,
            settings.growth,
            lenient=settings.lenient,
            encoding=settings.encoding,
        )
        with io.FileIO(os.dup(file.fileno())) as opened:
            answer(opened, request, lambda kind, content: frames.append((kind, content)))
    kind, last = frames[-1]
    if kind == REFUSAL:
        return Outcome(None, last.decode(), 0)
    lines = b"".join(content for kind, content in frames if kind == TRIPLES).split(b"\n")
    skipped = int(last.decode().rpartition('"skipped": ')[2].partition(",")[0])
    return Outcome(tuple(sorted(lines)), "", skipped)


async def parsed_files(dice: random.Random) -> list[str]:
    """Parse a mutated file strictly and leniently: what is left out is counted, and what is valid is the same."""
    name = dice.choice(list(DOCUMENTS))
    body = DOCUMENTS[name].encode("iso-8859-1" if name == "y.rdf" else "utf-8")
    body = hostile.mutated(body, dice) if dice.random() < 0.95 else body
    packing = dice.choice(("", "", "", *_PACKERS, ".zip"))
    if packing == ".zip":
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(name, body)
        body = packed.getvalue()
    elif packing:
        body = _PACKERS[packing](body)
    if packing and dice.random() < 0.3:
        body = hostile.mutated(body, dice)
    encoding = dice.choice(("", "", "", "cp1252", "utf-16"))
    strict, lenient = (
        parsed(f"{name}{packing}", body, FileSettings(lenient=is_lenient, encoding=encoding))
        for is_lenient in (False, True)
    )
    return [f"{problem}: {name}{packing} {encoding} {body!r}" for problem in _wrong(strict, lenient)]


def _wrong(strict: Outcome, lenient: Outcome) -> list[str]:
    problems = []
    if max(len(strict.refusal), len(lenient.refusal)) > 4_000:
        problems.append("a long refusal")
    if strict.lines is None:
        if lenient.lines is not None and not lenient.skipped:
            problems.append(f"refused ({strict.refusal}), and whole when it is read leniently")
    elif lenient.lines is None:
        if not strict.skipped:
            problems.append(f"read, and refused ({lenient.refusal}) when it is read leniently")
    elif strict.skipped != lenient.skipped and not (strict.skipped and lenient.skipped):
        problems.append(f"{strict.skipped} and {lenient.skipped} parts left out")
    elif len(strict.lines) != len(lenient.lines):
        problems.append("the two readings differ")
    return problems
