"""The words of the command line in texts that name tools, their arguments and the operator, as a model reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from gateway import PROGRAM
from gateway.arguments import (
    Arguments,
    BfsQuery,
    DescribeEntities,
    DescribeEntity,
    DescribeSchema,
    IntersectSubgraphs,
    SearchEntities,
)
from gateway.cli.options import option_name

_COMMANDS: Mapping[type[Arguments], str] = {
    DescribeSchema: "schema",
    SearchEntities: "search",
    BfsQuery: "bfs",
    DescribeEntity: "describe",
    DescribeEntities: "describe",
    IntersectSubgraphs: "intersect",
}

_OF_THE_COMMANDS = {
    "max_hops": "--hops",
    "k": "--hops",
    "seeds": "SEED",
    "id": "ID",
    "ids": "ID",
    "query": "QUERY",
    "queries": "QUERY",
}
"""Arguments that the commands name otherwise than by `option_name`."""

_FROM_AN_ANSWER = {"next_offset": "--offset", "next_edge": "--edge-offset", "entity_types": "types"}
"""Keys of an answer, which a person reads as the options that take them, or as words."""


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
_TOOL_FIRST = re.compile(rf"(?:^|(?<=: )|(?<=\. ))(?:{_one_of(_TOOLS)}): ")
_PLACE_FIRST = re.compile(r"^(?:seeds|ids|id)(?:\[\d+\])?: (?='|\")")
_INDEX = re.compile(rf"{_ALONE_BEFORE}({_one_of(_ARGUMENTS)})\[\d+\]")
_TOOL = re.compile(rf"{_ALONE_BEFORE}(?:(C|c)all )?({_one_of(_TOOLS)}){_ALONE_AFTER}")
_FALSE = re.compile(rf"{_ALONE_BEFORE}({_one_of(_ARGUMENTS)})=false\b")
_TRUE = re.compile(rf"{_ALONE_BEFORE}({_one_of(_ARGUMENTS)})=true\b")
_VALUE = re.compile(rf"{_ALONE_BEFORE}({_one_of(_ARGUMENTS)})=(?=\w|$)")
_PLAIN = re.compile(rf"{_ALONE_BEFORE}({_one_of({name: '' for name in _ARGUMENTS if '_' in name})}){_ALONE_AFTER}")
_SUBJECT = re.compile(
    rf"(?:(?<=^)|(?<=\. )|(?<=: )|(?<=without ))({_one_of(_ARGUMENTS)})(?= (?:is|are|has|have|must|needs|does)\b|[:.])"
)
"""A name that is also a plain word (`limit`), where it can only be the argument: at the beginning of a sentence."""


_TELL = re.compile(r" ?\bTell the operator of this gateway\.")
_SHOULD = re.compile(r"(^|[.!?] )The operator of this gateway should (\w)")
_OF_OPERATOR: Sequence[tuple[str, str]] = (
    ("the operator of this gateway should ", ""),
    ("the operator of this gateway has ", "you have "),
    ("The operator of this gateway has ", "You have "),
    ("the operator of this gateway", "you"),
    ("The operator of this gateway", "You"),
    ("The operator's log", "The log"),
    ("in its profile", "in the profile"),
)
"""What is said of the operator, and what is said to somebody who is one."""

_OF_SEVERAL: Sequence[tuple[str, str]] = (
    ("without queries or ", "without "),
    ("; queries: several. Without either,", ", or several. Without it,"),
    ("these arguments", "these options"),
)
"""What is said of arguments that a command has in one place, as words on its line."""


def own_words(text: str) -> str:
    """Return a text with the commands and options in place of the tools and arguments that it names.

    Who reads it is the operator of the gateway. What stands in quotation marks is a caller's or the graph's, and stays.
    """
    return _unquoted(_PLACE_FIRST.sub("", _TOOL_FIRST.sub("", text)), _translated)


def to_the_operator(text: str) -> str:
    """Return a text in which what the operator of the gateway can do is said to the reader."""
    return _unquoted(text, _addressed)


def _unquoted(text: str, change: Callable[[str], str]) -> str:
    return "".join(part if _QUOTED.fullmatch(part) else change(part) for part in _QUOTED.split(text))


def _addressed(text: str) -> str:
    text = _SHOULD.sub(lambda match: f"{match[1]}{match[2].upper()}", _TELL.sub("", text))
    for said, instead in _OF_OPERATOR:
        text = text.replace(said, instead)
    return text


def _translated(text: str) -> str:
    def option(match: re.Match[str]) -> str:
        return _ARGUMENTS[match[1]]

    def tool(match: re.Match[str]) -> str:
        verb = {"C": "Run ", "c": "run "}.get(match[1] or "", "")
        return f"{verb}{_TOOLS[match[2]]}"

    for said, instead in _OF_SEVERAL:
        text = text.replace(said, instead)
    text = _TOOL.sub(tool, _INDEX.sub(option, _addressed(text)))
    text = _FALSE.sub(lambda match: option(match).replace("--", "--no-", 1), text)
    text = _VALUE.sub(lambda match: f"{option(match)} ", _TRUE.sub(option, text))
    return _SUBJECT.sub(option, _PLAIN.sub(option, text))
