"""The words of the command line in texts that name tools and their arguments, as a model reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gateway import PROGRAM
from gateway.cli.options import option_name
from gateway.engine.arguments import (
    Arguments,
    BfsQuery,
    DescribeEntities,
    DescribeEntity,
    DescribeSchema,
    IntersectSubgraphs,
    SearchEntities,
)

_COMMANDS: Mapping[type[Arguments], str] = {
    DescribeSchema: "schema",
    SearchEntities: "search",
    BfsQuery: "bfs",
    DescribeEntity: "describe",
    DescribeEntities: "describe",
    IntersectSubgraphs: "intersect",
}

_OF_THE_COMMANDS = {"max_hops": "--hops", "k": "--hops", "seeds": "SEED", "id": "ID", "ids": "ID", "query": "QUERY"}
"""Arguments that the commands name otherwise than by `option_name`."""

_FROM_AN_ANSWER = {"next_offset": "--offset", "next_edge": "--edge-offset"}
"""Keys of an answer, which a person reads as the options that take them."""


def _names() -> Iterator[tuple[str, str]]:
    for model in _COMMANDS:
        for name in model.model_fields:
            yield name, f"--{option_name(model, name)}"


_TOOLS = {model.tool: f"{PROGRAM} {command}" for model, command in _COMMANDS.items()}
_ARGUMENTS = {**dict(_names()), **_FROM_AN_ANSWER, **_OF_THE_COMMANDS}


def _one_of(names: Mapping[str, str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_ALONE_BEFORE, _ALONE_AFTER = r"(?<![\w./-])", r"(?![\w/-]|\.\w)"
"""A name is not part of a path, of a file name, or of a setting (`size.max_tokens`)."""

_QUOTED = re.compile(r"('[^']*'|\"[^\"]*\"|“[^”]*”)")
_TOOL_FIRST = re.compile(rf"^(?:{_one_of(_TOOLS)}): ")
_PLACE_FIRST = re.compile(r"^(?:seeds|ids|id)(?:\[\d+\])?: (?='|\")")
_INDEX = re.compile(rf"{_ALONE_BEFORE}({_one_of(_ARGUMENTS)})\[\d+\]")
_TOOL = re.compile(rf"{_ALONE_BEFORE}(?:(C|c)all )?({_one_of(_TOOLS)}){_ALONE_AFTER}")
_TRUE = re.compile(rf"{_ALONE_BEFORE}({_one_of(_ARGUMENTS)})=true\b")
_VALUE = re.compile(rf"{_ALONE_BEFORE}({_one_of(_ARGUMENTS)})=(?=\w)")
_PLAIN = re.compile(rf"{_ALONE_BEFORE}({_one_of({name: '' for name in _ARGUMENTS if '_' in name})}){_ALONE_AFTER}")
_SUBJECT = re.compile(
    rf"(?:(?<=^)|(?<=\. )|(?<=without ))({_one_of(_ARGUMENTS)})(?= (?:is|are|has|have|must|needs)\b|[:.])"
)
"""A name that is also a plain word (`limit`), where it can only be the argument: at the beginning of a sentence."""


def own_words(text: str) -> str:
    """Return a text with the commands and options in place of the tools and arguments that it names.

    What stands in quotation marks is a caller's or the graph's, and stays.
    """
    text = _PLACE_FIRST.sub("", _TOOL_FIRST.sub("", text))
    return "".join(part if _QUOTED.fullmatch(part) else _translated(part) for part in _QUOTED.split(text))


def _translated(text: str) -> str:
    def option(match: re.Match[str]) -> str:
        return _ARGUMENTS[match[1]]

    def tool(match: re.Match[str]) -> str:
        verb = {"C": "Run ", "c": "run "}.get(match[1] or "", "")
        return f"{verb}{_TOOLS[match[2]]}"

    text = _TOOL.sub(tool, _INDEX.sub(option, text))
    text = _VALUE.sub(lambda match: f"{option(match)} ", _TRUE.sub(option, text))
    return _SUBJECT.sub(option, _PLAIN.sub(option, text))
