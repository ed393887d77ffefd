"""The arguments of the six tools: one model a tool, and the error for an argument that is wrong.

The input schemas of the tools, the keyword arguments of `Gateway` and the options of the command line follow from these
models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Literal, TypedDict, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from gateway.errors import InputError, quoted
from gateway.graph.values import Iri
from gateway.terms.iri import MAX_IRI
from gateway.terms.prefixes import PrefixMap
from gateway.terms.spelling import did_you_mean, nearest

MAX_HOPS = 5
MAX_SEEDS = 50
MAX_IDS = 200
MAX_WHOLE_SEEDS = 10_000
MAX_NAMES = 200
MAX_QUERY = 1_000
MAX_QUERIES = 20
MAX_CONDITIONS = 20
MAX_CONDITION = 1_000
MAX_HITS = 100
MIN_TOKENS = 200
MAX_NUMBER = 1_000_000_000
MAX_ID = MAX_IRI + 2
"""Characters of an ID in an argument; it may be written as `<IRI>`."""

EXPLAIN = "explain"
_PLACEHOLDER = "random_string"
"""What some clients send to a tool that needs no argument: their models want every tool to have one."""

_LARGEST_AS_TEXT = 1 << 63
"""A number above this is no ID; Python refuses to write very long ones."""


def _no_truth_value(value: object) -> object:
    """Refuse true and false, which Python takes for 1 and 0."""
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "it must be a whole number")
    return value


def _number_as_text(value: object) -> object:
    """Return the text of a number; one that no ID or name has stays a number, which is refused."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST_AS_TEXT:
        return str(value)
    return value


def _listed(value: object) -> object:
    """Return a list for a text: the list that it is as JSON, else one with the text in it."""
    return _without_null(_entries(value) if isinstance(value, str) else value)


def _without_null(value: object) -> object:
    """Return a list with an empty text, which says as little, in the place of each null."""
    return ["" if entry is None else entry for entry in value] if isinstance(value, list | tuple) else value


def _entries(value: str) -> object:
    if value.lstrip().startswith("["):
        # No ID begins so. A text that is nested too deeply is no list of IDs either.
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return [value] if value else []


def _steps(value: object) -> object:
    """Return a list of names, or a list of lists of names if any of its entries is one."""
    value = _entries(value) if isinstance(value, str) else value
    if not isinstance(value, list | tuple):
        return value
    entries = [
        _listed(entry) if isinstance(entry, str) and entry.lstrip().startswith("[") else entry for entry in value
    ]
    # A list as JSON is also what the command line gives, as the only text of a list.
    if len(entries) == 1 and isinstance(value[0], str) and isinstance(entries[0], list):
        entries = entries[0]
    if any(isinstance(entry, list | tuple) for entry in entries):
        return [[] if entry is None else _listed(entry) for entry in entries]
    return _without_null(entries)


_DIRECTIONS = {"outgoing": "out", "outbound": "out", "incoming": "in", "inbound": "in", "any": "both", "all": "both"}


def _direction(value: object) -> object:
    """Return the direction that a word for it means."""
    if not isinstance(value, str):
        return value
    word = value.strip().lower()
    return _DIRECTIONS.get(word, word)


_TAG = re.compile(r"[a-z]{1,8}(-[a-z0-9]{1,8}){0,7}")


EVERY_LANGUAGE = "*"
"""Asks for texts in all languages, each with its tag."""

_ONLY = "only "
"""Before a tag: asks for texts in this language, and in no other."""


def _tag(value: object) -> object:
    """Return a language tag in lower case, with `only` where it is given, or what stands for all languages."""
    if value is None:
        return None
    tag = " ".join(value.lower().replace("_", "-").split()) if isinstance(value, str) else ""
    is_tag = _TAG.fullmatch(tag.removeprefix(_ONLY)) is not None and tag != _ONLY.strip()
    if tag != EVERY_LANGUAGE and not is_tag:
        raise PydanticCustomError(
            "language",
            "it must be a language tag, such as en or pt-br, only en for texts in no other, or * for all languages",
        )
    return tag


def language_of(given: str | None) -> str:
    """Return the tag of the language that an argument, which is valid, asks for; empty for those of the profile."""
    tag = _tag(given or None)
    return "" if tag in {None, EVERY_LANGUAGE} else str(tag).removeprefix(_ONLY)


def is_only(language: str | None) -> bool:
    """Return whether texts in no other language are asked for."""
    return language is not None and language.startswith(_ONLY)


Language = Annotated[str | None, BeforeValidator(_tag), WithJsonSchema({"type": "string"})]
Direction = Literal["both", "out", "in"]
Show = Literal["both", "id", "name"]
TraversalShow = Literal["both", "id", "name", "types"]
_Whole = BeforeValidator(_no_truth_value)
_Text = BeforeValidator(_number_as_text)
_List = BeforeValidator(_listed)
_NoneIfEmpty = AfterValidator(lambda names: names or None)
# Published without limits that only a broken client reaches: every word of a schema costs each of its readers.
Natural = Annotated[int, Field(ge=0, le=MAX_NUMBER), _Whole, WithJsonSchema({"type": "integer"})]
Positive = Annotated[int, Field(ge=1, le=MAX_NUMBER), _Whole, WithJsonSchema({"type": "integer"})]
Hits = Annotated[int, Field(ge=1, le=MAX_HITS), _Whole]
Hops = Annotated[int, Field(ge=1, le=MAX_HOPS), _Whole]
Tokens = Annotated[
    int, Field(ge=MIN_TOKENS, le=MAX_NUMBER), _Whole, WithJsonSchema({"type": "integer", "minimum": MIN_TOKENS})
]
Id = Annotated[str, Field(max_length=MAX_ID), _Text, WithJsonSchema({"type": "string"})]
Condition = Annotated[str, Field(max_length=MAX_CONDITION), _Text, WithJsonSchema({"type": "string"})]
_LIST = {"type": "array", "items": {"type": "string"}}
Names = Annotated[Annotated[list[Id], Field(max_length=MAX_NAMES), _List, WithJsonSchema(_LIST)] | None, _NoneIfEmpty]
Queries = Annotated[
    Annotated[
        # One that is too long is left out, as one that says nothing is.
        list[Annotated[str, _Text]],
        Field(max_length=MAX_QUERIES),
        _List,
        WithJsonSchema(_LIST),
    ]
    | None,
    _NoneIfEmpty,
]
Conditions = Annotated[
    Annotated[list[Condition], Field(max_length=MAX_CONDITIONS), _List, WithJsonSchema(_LIST)] | None, _NoneIfEmpty
]
Steps = Annotated[
    Annotated[
        list[Id | Annotated[list[Id], Field(max_length=MAX_NAMES)]],
        Field(max_length=MAX_NAMES),
        BeforeValidator(_steps),
        WithJsonSchema({"type": "array", "items": {"anyOf": [{"type": "string"}, _LIST]}}),
    ]
    | None,
    _NoneIfEmpty,
]


class Arguments(BaseModel):
    """The base of all tool arguments.

    Models write arguments in many ways: "1" for 1, "true", a number for a text, a text for a list. Each is accepted for
    what it means.

    Attributes:
        tool: The name of the tool.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    tool: ClassVar[str]

    language: Annotated[Language, Field(description="Tag (de, pt-br): texts in it first.")] = None
    explain: Annotated[bool, Field(description="Add `explain`: what the call cost, and the SPARQL that was sent.")] = (
        False
    )


class MemberArguments(Arguments):
    """Arguments about the nodes that a call finds, and their values; all are optional."""

    where: Annotated[
        Conditions,
        Field(
            description='All must hold: "x:price/x:amount < 50", "name starts U", "x:boss missing", '
            '"x:width > @x:height"; = != < <= > >= in contains starts exists missing.'
        ),
    ] = None
    values: Annotated[Names, Field(description="Columns: predicates, walks, name, type.")] = None
    sort_by: Annotated[
        Id | None, Field(description="A predicate, walk or name; - before it: descending. With limit, the first.")
    ] = None
    group_by: Annotated[Id | None, Field(description="Groups in place of nodes: a predicate, walk, name or type.")] = (
        None
    )
    compute: Annotated[
        Names, Field(description='For each group, or all: "count", "avg x:price/x:amount"; sum min max distinct.')
    ] = None
    edges: Annotated[bool, Field(description="false: nodes only")] = True
    show: Annotated[TraversalShow, Field(description="Of a node in rows.")] = "both"

    @property
    def asks_for_members(self) -> bool:
        """Whether the nodes found are chosen, shown or ordered by values."""
        asked = self.where or self.values or self.sort_by or self.group_by or self.compute
        return bool(asked) or not self.edges


class DescribeSchema(Arguments):
    """Arguments of `describe_schema`."""

    tool = "describe_schema"

    all: Annotated[bool, Field(description="Up to 200 of each, not 40.")] = False
    node_types: Annotated[Names, Field(description="Shapes of these types, no lists.")] = None
    query: Annotated[
        str,
        Field(max_length=MAX_QUERY, description="Only what fits a question."),
        _Text,
        WithJsonSchema({"type": "string"}),
    ] = ""


class SearchEntities(MemberArguments):
    """Arguments of `search_entities`."""

    tool = "search_entities"

    query: Annotated[
        str,
        Field(
            max_length=MAX_QUERY,
            description="A name, alias or part of it; none: all of node_types.",
        ),
        _Text,
        WithJsonSchema({"type": "string"}),
    ] = ""
    queries: Annotated[Queries, Field(description="Up to 20 names, each a query.")] = None
    node_types: Annotated[Names, Field(description="Only entities of these types.")] = None
    show: Annotated[Show, Field(description="Of a node in rows.")] = "both"
    limit: Annotated[Hits | None, Field(description="Hits at most; 10, or 5 if one is exact.")] = None
    offset: Annotated[Natural, Field(description="next_offset of the page before.")] = 0


class SearchOptions(TypedDict, total=False):
    """The optional arguments of `search_entities` besides the query and the types, for type checkers and editors."""

    queries: Sequence[str] | None
    limit: int | None
    offset: int
    where: Sequence[str] | None
    values: Sequence[str] | None
    sort_by: str | None
    group_by: str | None
    compute: Sequence[str] | None
    edges: bool
    show: Show
    language: str | None
    explain: bool


class TraversalBase(MemberArguments):
    """Arguments that `bfs_query` and `intersect_subgraphs` share; all are optional."""

    where: Annotated[Conditions, Field(description="As in search_entities.")] = None
    values: Annotated[Names, Field(description="As there.")] = None
    sort_by: Annotated[Id | None, Field(description="As there.")] = None
    group_by: Annotated[Id | None, Field(description="As there.")] = None
    compute: Annotated[Names, Field(description="As there.")] = None
    language: Annotated[Language, Field(description="As there.")] = None
    show: Annotated[TraversalShow, Field(description="Of a node in rows; types: by type.")] = "both"
    only_predicates: Annotated[
        Steps, Field(description="Follow and show only these (ID or label); ^p: p incoming.")
    ] = None
    direction: Annotated[
        Direction, BeforeValidator(_direction), Field(description="Edges out of a node, into it, or both.")
    ] = "both"
    only_node_types: Annotated[Names, Field(description="Show only these types, and paths to them.")] = None
    node_types: Annotated[Names, Field(description="Metadata for these types only; removes none.")] = None
    predicates: Annotated[Names, Field(description="Metadata for these predicates only; removes none.")] = None
    topology_only: Annotated[bool, Field(description="No metadata.")] = False
    exclude_node_types: Annotated[Names, Field(description="Remove nodes of these types.")] = None
    min_mentions: Annotated[Natural, Field(description="Remove nodes with a lower total_mentions.")] = 1
    limit: Annotated[Positive | None, Field(description="Nodes on a page at most.")] = None
    offset: Annotated[Natural, Field(description="next_offset of the page before.")] = 0
    edge_offset: Annotated[Natural, Field(description="next_edge of the page before.")] = 0
    max_tokens: Annotated[Tokens | None, Field(description="Size at most, 4 bytes a token.")] = None
    max_degree: Annotated[
        Positive | None, Field(description="Do not expand nodes with more edges, seeds excepted.")
    ] = None
    max_edges_per_node: Annotated[
        Positive | None, Field(description="Edges of an expanded node at most; any of them.")
    ] = None
    snapshot: Annotated[
        Annotated[str, Field(max_length=64), _Text, WithJsonSchema({"type": "string"})] | None,
        Field(description="snapshot of the page before."),
    ] = None

    @property
    def names_terms(self) -> bool:
        """Whether a filter names types or predicates."""
        return bool(self.node_types or self.predicates or self.exclude_node_types or self.only_node_types)

    @property
    def removes_nodes(self) -> bool:
        """Whether a filter may remove nodes."""
        return bool(self.exclude_node_types or self.only_node_types) or self.min_mentions > 1


class TraversalOptions(TypedDict, total=False):
    """The optional arguments that `bfs_query` and `intersect_subgraphs` share, for type checkers and editors."""

    only_predicates: Sequence[str | Sequence[str]] | None
    direction: Direction
    only_node_types: Sequence[str] | None
    node_types: Sequence[str] | None
    predicates: Sequence[str] | None
    topology_only: bool
    exclude_node_types: Sequence[str] | None
    min_mentions: int
    limit: int | None
    offset: int
    edge_offset: int
    max_tokens: int | None
    max_degree: int | None
    max_edges_per_node: int | None
    snapshot: str | None
    where: Sequence[str] | None
    values: Sequence[str] | None
    sort_by: str | None
    group_by: str | None
    compute: Sequence[str] | None
    edges: bool
    show: TraversalShow
    language: str | None
    explain: bool


class BfsQuery(TraversalBase):
    """Arguments of `bfs_query`."""

    tool = "bfs_query"

    seeds: Annotated[
        list[Id],
        Field(min_length=1, max_length=MAX_SEEDS, description="IDs to start from, or exact names, 1 to 50."),
        _List,
    ]
    only_predicates: Annotated[
        Steps,
        Field(
            description="Follow and show only these (ID or label); ^p: p incoming. A list of lists: one a "
            "hop, [] is any."
        ),
    ] = None
    max_hops: Annotated[Hops, Field(description="Distance from any seed, 1 to 5.")]


class IntersectSubgraphs(TraversalBase):
    """Arguments of `intersect_subgraphs`."""

    tool = "intersect_subgraphs"

    seeds: Annotated[
        list[Id],
        Field(
            min_length=2, max_length=MAX_SEEDS, description="IDs or exact names that the result is near to, 2 to 50."
        ),
        _List,
    ]
    only_predicates: Annotated[
        Steps,
        Field(
            description="Follow and show only these (ID or label); ^p: p incoming. A list of lists: one a "
            "seed, [] is any."
        ),
    ] = None
    k: Annotated[Hops, Field(description="Distance from every seed, 1 to 5.")]
    via: Annotated[
        bool | None,
        Field(description="Paths to the seeds: all (true), none (false); else as many as fit."),
    ] = None


TraversalArguments = BfsQuery | IntersectSubgraphs


WholeSeeds = Annotated[list[Id], Field(min_length=1, max_length=MAX_WHOLE_SEEDS), _List]


class WholeBfsQuery(BfsQuery):
    """Arguments of a whole neighbourhood, for programs, which may begin at many nodes."""

    seeds: WholeSeeds


class WholeIntersectSubgraphs(IntersectSubgraphs):
    """Arguments of a whole intersection."""

    seeds: Annotated[WholeSeeds, Field(min_length=2)]


class DescribeEntity(Arguments):
    """Arguments of `describe_entity`."""

    tool = "describe_entity"

    id: Annotated[Id, Field(min_length=1, description="Its ID or exact name.")]
    max_tokens: Annotated[Tokens | None, Field(description="Size at most, 4 bytes a token.")] = None


class DescribeEntities(Arguments):
    """Arguments of `describe_entities`."""

    tool = "describe_entities"

    ids: Annotated[
        list[Id],
        Field(min_length=1, max_length=MAX_IDS, description="IDs or exact names, 1 to 200."),
        _List,
    ]
    max_tokens: Annotated[Tokens | None, Field(description="Size at most, 4 bytes a token.")] = None


ALL: tuple[type[Arguments], ...] = (
    DescribeSchema,
    SearchEntities,
    BfsQuery,
    DescribeEntity,
    DescribeEntities,
    IntersectSubgraphs,
)
BY_TOOL: Mapping[str, type[Arguments]] = {model.tool: model for model in ALL}

AnyArguments = TypeVar("AnyArguments", bound=Arguments)


def argument_names(model: type[Arguments], *, explain: bool) -> list[str]:
    """Return the names of a tool's arguments: the required ones first, those of every tool last."""
    last = ("language", EXPLAIN) if explain else ("language",)
    own = [name for name in model.model_fields if name not in {"language", EXPLAIN}]
    own.sort(key=lambda name: not model.model_fields[name].is_required())
    return [*own, *last]


def parse(model: type[AnyArguments], given: Mapping[str, Any], *, explain: bool = True) -> AnyArguments:
    """Return the arguments of a tool, checked.

    Args:
        model: The model of the tool.
        given: The arguments, unchecked. A tuple is accepted as a list.
        explain: Whether `explain` is accepted.

    Raises:
        InputError: An argument is wrong; the text names the tool, the argument, its value and what is valid.
    """
    # A misspelt name explains a missing one, so it is reported first.
    known = argument_names(model, explain=explain)
    for name in given:
        if name not in known and not (name == _PLACEHOLDER and model is DescribeSchema):
            raise unknown_argument(model.tool, name, known)
    try:
        return model.model_validate(_without_empty(model, given))
    except ValidationError as error:
        # What pydantic says of it is in the text.
        raise _wrong_value(model, error.errors(include_url=False)[0]) from None


def expanded(place: str, text: str, prefixes: PrefixMap) -> Iri:
    """Return the IRI that an ID means, which stands at a place of the arguments.

    Raises:
        InputError: It is no ID; the text says which.
    """
    try:
        return prefixes.expand(prefixes.without_name(text))
    except InputError as error:
        raise InputError(f"{place}: {error.wrong}", valid=error.valid, next_step=error.next_step) from error


def _without_empty(model: type[Arguments], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without optional ones that are null or empty: many clients send all they know."""
    return {
        name: value
        for name, value in given.items()
        if name in model.model_fields and (value not in (None, [], "") or model.model_fields[name].is_required())
    }


def _wrong_value(model: type[Arguments], problem: ErrorDetails) -> InputError:
    name = str(problem["loc"][0]) if problem["loc"] else ""
    field = model.model_fields[name]
    valid = f"{name}: {field.description}"
    if problem["type"] == "missing":
        return InputError(f"{model.tool} needs the argument {name}.", valid=valid)
    place = next((f"[{part}]" for part in problem["loc"][1:] if isinstance(part, int)), "")
    given = problem["input"]
    what = f"is {quoted(given)}"
    if isinstance(given, list):
        what = "has 1 entry" if len(given) == 1 else f"has {len(given)} entries"
    return InputError(
        f"{model.tool}: {name}{place} {what}, but {_reason(problem)}.",
        valid=valid,
        next_step="Call search_entities to find the ID of a name." if name in {"seeds", "id", "ids"} else "",
    )


_REASONS: Mapping[str, str] = {
    "too_short": "it needs at least {min_length}",
    "too_long": "it takes {max_length} at most",
    "string_too_short": "it must not be empty",
    "string_too_long": "it takes {max_length} characters at most",
    "greater_than_equal": "it must be at least {ge}",
    "less_than_equal": "it must be at most {le}",
    "int_type": "it must be a whole number",
    "int_parsing": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "int_parsing_size": "it must be a smaller number",
    "finite_number": "it must be a whole number",
    "bool_type": "it must be true or false",
    "bool_parsing": "it must be true or false",
    "string_type": "it must be text",
    "list_type": "it must be a list of texts",
    "literal_error": "it must be {expected}",
}


def _reason(problem: ErrorDetails) -> str:
    reason = _REASONS.get(problem["type"])
    if reason is None:
        return problem["msg"][:1].lower() + problem["msg"][1:]
    return reason.format(**problem.get("ctx", {}))


def unknown_argument(call: str, name: str, known: Sequence[str], kind: type[InputError] = InputError) -> InputError:
    """Return the error of an argument that a call does not have, with the nearest that it has.

    Args:
        call: The name of the tool, or of the call in Python.
        name: The argument.
        known: The names of the arguments that it has.
        kind: The class of the error.
    """
    # By letters alone, hops would be near to no argument, and max_hops to max_tokens.
    near = ["k"] if "k" in known and "hop" in name else nearest(name, known)
    hint = f" Did you mean {near[0]}?" if near else ""
    return kind(
        f"{call} has no argument {quoted(name)}.{hint}",
        valid=f"Its {'arguments are' if len(known) > 1 else 'only argument is'} {', '.join(known)}.",
    )


def no_such_tool(name: str, known: Iterable[str]) -> InputError:
    """Return the error of a name that none of some tools has."""
    tools = list(known)
    return InputError(
        f"There is no tool {quoted(name)}.{did_you_mean(name, tools)}", valid=f"Tools: {', '.join(tools)}."
    )
