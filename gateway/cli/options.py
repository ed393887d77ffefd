"""Options that several commands take, and groups of options that a command takes as one parameter."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from gateway.arguments import EXPLAIN, Arguments
from gateway.cli.completion import CompletedOfGraph, of_graph, one_of
from gateway.settings.paths import local_path
from gateway.settings.profile import ShapeName


def only(names: Sequence[str], wrong: str) -> Callable[[str | None], str | None]:
    """Return what refuses a value of an option that is none of some names, and says what is `wrong`."""

    def checked(value: str | None) -> str | None:
        if value is not None and value not in names:
            raise typer.BadParameter(wrong)
        return value

    return checked


def not_empty(value: str | None) -> str | None:
    """Return a value unchanged: an unset shell variable must not select the demo graph.

    Raises:
        BadParameter: The value is empty.
    """
    if value is not None and not value.strip():
        raise typer.BadParameter("it is empty; omit the option, or give a value.")
    return value


def text_option(names: str, metavar: str, about: str) -> Any:
    """Return an option for a text that must not be empty; `names` are those of the option, with blanks between."""
    return typer.Option(*names.split(), metavar=metavar, callback=not_empty, help=about)


def _profiles(incomplete: str) -> list[str]:
    from gateway.settings.load import built_in  # noqa: PLC0415 - `--help` is quick without it

    return [name for name in built_in() if name.startswith(incomplete)]


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """The options that several commands take, as given; those that a command does not take have their defaults."""

    graph: Annotated[
        list[str] | None,
        typer.Option(
            "--graph",
            "-g",
            metavar="FILE",
            help="RDF file to load, plain or packed, a folder, a pattern, or - for standard input; several become one "
            "graph. Without --graph and --endpoint: $BFSQL_GRAPH or $BFSQL_ENDPOINT, else what bfsql.toml names, else "
            "the profile's endpoint, else the demo graph.",
        ),
    ] = None
    endpoint: Annotated[
        str | None,
        text_option(
            "--endpoint -e",
            "URL",
            "SPARQL query endpoint, or database of PostgreSQL or Neo4j, in place of files and of the profile's.",
        ),
    ] = None
    contact: Annotated[
        str | None,
        text_option(
            "--contact",
            "ADDRESS",
            "Your e-mail address or URL, sent to the endpoint; Wikimedia requires it. Default: $BFSQL_CONTACT.",
        ),
    ] = None
    store: Annotated[
        str | None,
        text_option(
            "--store",
            "DIR",
            "Folder for what is stored between runs: parsed files, label indexes and schemas. Default: $BFSQL_STORE, "
            "else, for endpoints, the user's cache directory.",
        ),
    ] = None
    cache: Annotated[
        str | None,
        text_option(
            "--cache",
            "DIR",
            "Folder where large files are stored once they are parsed, 4 GB at most, unless --store is given. "
            "Default: $BFSQL_CACHE (off: none), else the user's cache directory.",
        ),
    ] = None
    shared_cache: Annotated[
        str | None,
        text_option(
            "--shared-cache",
            "URL",
            "Valkey or Redis server in which several processes share what they read of an endpoint: "
            "redis://127.0.0.1:6379.",
        ),
    ] = None
    embedder: Annotated[
        str | None,
        text_option(
            "--embedder",
            "FOLDER|URL",
            "Find names of files by their meaning too: a folder with a static model, or the URL of a service that "
            "takes OpenAI's requests, to which all names go. Needs the extra meaning.",
        ),
    ] = None
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Parse large files into memory each time."),
    ] = False
    file_limits: Annotated[
        list[str] | None,
        typer.Option(
            "--file-limit",
            metavar="NAME=NUMBER",
            help="Limit for parsing a file: memory_megabytes, cpu_seconds (per 100 MB), or growth (times the file's "
            "size). Repeatable.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        text_option(
            "--encoding", "NAME", "Encoding of files that neither show nor declare another one: cp1252. Default: UTF-8."
        ),
    ] = None
    base: Annotated[
        str | None,
        text_option("--base", "IRI", "What relative IRIs in files are resolved against. Default: file:///NAME."),
    ] = None
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            metavar="URL=FILE",
            help="File of a context that JSON-LD refers to by URL; none is fetched. Repeatable.",
        ),
    ] = None
    lenient: Annotated[
        bool,
        typer.Option(
            "--lenient",
            help="Leave out and count what is not valid in files, and read the rest; then no answer is complete.",
        ),
    ] = False
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            "-p",
            metavar="NAME|FILE",
            autocompletion=_profiles,
            help="How to read the graph: local (the default), another name that `profiles` lists, or a TOML file. "
            "Default: $BFSQL_PROFILE, else that of bfsql.toml.",
        ),
    ] = None
    prefix: Annotated[
        list[str] | None,
        typer.Option(
            "--prefix",
            metavar="NAME=IRI",
            help="Short name for a namespace in IDs. Repeatable.",
        ),
    ] = None
    shape: Annotated[
        str | None,
        typer.Option(
            "--shape",
            callback=only(get_args(ShapeName), "it must be compact or reference."),
            metavar="NAME",
            autocompletion=one_of(get_args(ShapeName)),
            help="How --json writes an answer: reference (lists of objects, the default), or compact, which is to the "
            "byte what a model reads.",
        ),
    ] = None
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON for programs: a document on a line, one for each page."),
    ] = False
    as_text: Annotated[
        bool | None,
        typer.Option(
            "--text/--tsv",
            help="Print for reading, or lines of tab-separated columns. Default: for reading at a terminal, columns "
            "in a pipe or a file.",
        ),
    ] = None
    guard_formulas: Annotated[
        bool,
        typer.Option(
            "--guard-formulas",
            help="Put an apostrophe before text in columns or CSV that a spreadsheet would run as a formula.",
        ),
    ] = False
    pager: Annotated[
        bool,
        typer.Option("--pager/--no-pager", help="Show what is longer than the terminal with $PAGER, or less."),
    ] = True
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Also print the cost of the answer, and the SPARQL that was sent."),
    ] = False
    user: Annotated[
        str | None,
        text_option(
            "--user",
            "NAME",
            "User name for the endpoint. Requires --password-file; overrides the profile's credentials.",
        ),
    ] = None
    password_file: Annotated[
        str | None, text_option("--password-file", "FILE", "File with the password, on one line.")
    ] = None
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Print nothing on standard error but errors.", show_default=False),
    ] = False
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            help="Log to standard error: -v for information, -vv for debugging.",
        ),
    ] = 0
    places: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Where options are from that were not given, by name: a variable, or the project file."""
    project: str = ""
    """The project file in use; empty if there is none."""
    project_prefixes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Namespaces by prefix, of the project file."""

    @property
    def store_folder(self) -> Path | None:
        """The folder of `--store`; None without it."""
        return None if self.store is None else local_path(self.store)

    def is_of_project(self, name: str) -> bool:
        """Return whether an option is that of the project file."""
        return bool(self.project) and self.places.get(name) == self.project

    def at_endpoint(self, url: str) -> CommonOptions:
        """Return these options with an endpoint in place of the graph of another place than the command line."""
        graph = None if "graph" in self.places else self.graph
        places = {name: place for name, place in self.places.items() if name not in {"graph", "endpoint"}}
        return dataclasses.replace(self, endpoint=url, graph=graph, places=places)


READING = ("encoding", "base", "context", "lenient")
"""The options that say how files are read."""

OF_GRAPH = (
    *("graph", "endpoint", "contact", "user", "password_file", "store", "cache", "no_cache", "file_limits"),
    *READING,
)
"""The options that say which graph is opened, and how."""

SELECTS_GRAPH = (*OF_GRAPH, "profile", "prefix")
"""The options on which it depends what an ID is, too."""

Result = TypeVar("Result")

_METAVARS: Mapping[Any, str] = {int: "N", str: "TEXT", list[str]: "TEXT"}
"""The placeholder of a value in the help, by its type."""


_USUAL_TEXTS: Mapping[str, tuple[str, str]] = {
    "language": (
        "TAG",
        "Show names and texts in this language first, where there are several: de, pt-br; *: all texts.",
    )
}
"""The placeholder and the help text of the options of every tool."""


_COMPLETED: Mapping[str, CompletedOfGraph] = {
    **dict.fromkeys(("node_types", "only_node_types", "exclude_node_types"), of_graph("types")),
    **dict.fromkeys(("predicates", "only_predicates"), of_graph("predicates")),
    **dict.fromkeys(("where", "values", "sort_by", "group_by"), of_graph("walks")),
}
"""What completes the value of an option, by the argument of the tools."""


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Options that become one value.

    Attributes:
        parameters: The options, as parameters that typer reads.
        combine: Makes the value of the options by name.
    """

    parameters: Sequence[inspect.Parameter]
    combine: Callable[..., object]


def common(*names: str, **texts: str) -> OptionGroup:
    """Return the group of some common options, whose value is a `CommonOptions`.

    Args:
        *names: The options, in the order of the help; all by default.
        **texts: Help texts by option, in place of the usual ones.
    """
    parameters = _parameters_of(CommonOptions, names, texts)
    taken = {parameter.name for parameter in parameters}

    def combined(**given: Any) -> CommonOptions:
        if not {"graph", "endpoint"} & taken:
            return CommonOptions(**given)
        from gateway.cli.graph_source import with_defaults  # noqa: PLC0415 - `--help` is quick without it

        return with_defaults(CommonOptions(**given), frozenset(taken))

    return OptionGroup(parameters, combined)


def group_of(options: type[Any]) -> OptionGroup:
    """Return the group of the options that a dataclass has as fields; its value is one of these."""
    return OptionGroup(_parameters_of(options, (), {}), options)


def _parameters_of(options: type[Any], names: Sequence[str], texts: Mapping[str, str]) -> list[inspect.Parameter]:
    """Return the options that a dataclass has as fields, all or some, as parameters that typer reads."""
    hints = get_type_hints(options, include_extras=True)
    defaults = {field.name: field.default for field in dataclasses.fields(options)}
    parameters = []
    for name in names or [name for name, hint in hints.items() if get_origin(hint) is Annotated]:
        kind, info = get_args(hints[name])
        info = copy(info)
        info.help, info.show_default = texts.get(name, info.help), False
        parameters.append(_parameter(name, kind, info, defaults[name]))
    return parameters


def optional_arguments(
    model: type[Arguments], texts: Mapping[str, tuple[str | None, str]], without: Collection[str] = ()
) -> OptionGroup:
    """Return the group of the optional arguments of a tool, whose value is a dictionary of them.

    `explain` is not in it, nor are those of `without`, which the command takes otherwise or not at all.

    An argument that is a list becomes a repeatable option named in the singular, and one that is true unless it is
    given `--no-NAME`. `texts` has the placeholder of the
    value and the help text by argument; the default is the description of the model.
    """
    parameters = []
    for name, field in model.model_fields.items():
        if field.is_required() or name in {EXPLAIN, *without}:
            continue
        kind = _unconstrained(field.annotation)
        metavar, text = texts.get(name) or _USUAL_TEXTS.get(name) or (_METAVARS.get(kind), field.description)
        option = option_name(model, name)
        shown = field.default is not None and kind is not bool
        names = f"--{option}/--no-{option}" if field.default is True else f"--{option}"
        completed = _COMPLETED.get(name)
        info = typer.Option(names, metavar=metavar, help=text, show_default=shown, autocompletion=completed)
        parameters.append(_parameter(name, kind if kind is bool else kind | None, info, field.default))
    return OptionGroup(parameters, dict)


def option_name(model: type[Arguments], argument: str) -> str:
    """Return the option of an argument, without hyphens before it: that of a list is in the singular."""
    is_list = _unconstrained(model.model_fields[argument].annotation) == list[str]
    return (argument.removesuffix("s") if is_list else argument).replace("_", "-")


def _unconstrained(annotation: Any) -> Any:
    """Return the type of an argument without its constraints and without None."""
    if get_origin(annotation) is Annotated:
        return _unconstrained(get_args(annotation)[0])
    if get_origin(annotation) is list:
        return list[str]
    if type(None) in get_args(annotation):
        return _unconstrained(get_args(annotation)[0])
    return annotation


def _parameter(name: str, kind: Any, info: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def with_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Return a command in whose signature each parameter annotated with a group is replaced by the group's options."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, OptionGroup] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        group = next((mark for mark in get_args(hints[name])[1:] if isinstance(mark, OptionGroup)), None)
        if group is None:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
        else:
            groups[name] = group
            parameters += group.parameters

    def called(**given: object) -> Result:
        combined = {
            name: group.combine(**{option.name: given.pop(option.name) for option in group.parameters})
            for name, group in groups.items()
        }
        return command(**given, **combined)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return called
