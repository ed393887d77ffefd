"""What a shell completes, and the scripts by which it asks.

The scripts, and the answers to what they ask, are typer's. Its own options would change the start files of a shell;
here the script is printed, and whoever wants it puts it where the shell looks.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import typer
from typer import completion

from gateway import PROGRAM
from gateway.errors import ConfigurationError, GatewayError, quoted

if TYPE_CHECKING:
    from gateway.answers.models import SchemaResult

SHELLS = ("bash", "zsh", "fish")

VARIABLE = f"_{PROGRAM.upper().replace('-', '_')}_COMPLETE"
"""The variable by which a script asks; typer derives the same name from that of the program."""

_SECONDS = 5
"""How long a shell waits, at most, for the words of a graph."""

_WORD = re.compile(r"\^?[A-Za-z0-9_:][A-Za-z0-9_.:-]*")
"""What any shell takes as it is, and no option: a completed word is not quoted, and one of a graph may be a command."""

Completed = Callable[[str], list[str]]
CompletedOfGraph = Callable[[typer.Context, str], list[str]]
Kind = Literal["types", "predicates", "walks"]


def is_completion_asked() -> bool:
    """Return whether this process was started by a completion script."""
    return VARIABLE in os.environ


def register_shells() -> None:
    """Let typer answer scripts, which it does when a command runs."""
    # No other public function does it; that these are parameters for typer's own options does not matter.
    completion.get_completion_inspect_parameters()


def print_script(command: Any, shell: str) -> int:
    """Print the completion script of a shell, and return the exit status.

    Args:
        command: The command of the whole program.
        shell: One of `SHELLS`.

    Raises:
        ConfigurationError: It is another shell.
    """
    if shell not in SHELLS:
        raise ConfigurationError(f"There is no completion for {quoted(shell)}.", valid=f"Give {' or '.join(SHELLS)}.")
    register_shells()
    return completion.shell_complete(command, {}, PROGRAM, VARIABLE, f"source_{shell}")


def one_of(names: Sequence[str]) -> Completed:
    """Return what completes one of some names."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def of_graph(kind: Kind) -> CompletedOfGraph:
    """Return what completes a type, a predicate, or a predicate whose values a walk ends in, of the graph at hand.

    The graph is that of the options before the word, of the environment or of the project file. A file is read, for
    some seconds at most; of an endpoint only what a command stored before is offered, because nobody expects that a key
    sends queries.
    """

    def offered(context: typer.Context, incomplete: str) -> list[str]:
        mark = "^" if kind != "types" and incomplete.startswith("^") else ""
        # What cannot be read completes nothing: a message would stand in the middle of the command line.
        with contextlib.suppress(GatewayError, OSError, KeyboardInterrupt), _at_most(_SECONDS):
            schema = _schema_of(context.params)
            names = _words(schema, kind) if schema is not None else []
            found = [f"{mark}{name}" for name in names if name.startswith(incomplete.removeprefix("^"))]
            return [word for word in found if _WORD.fullmatch(word)]
        return []

    return offered


def _schema_of(given: Mapping[str, Any]) -> SchemaResult | None:
    import asyncio  # noqa: PLC0415 - names of options are completed without any of these

    from gateway.cli.graph_source import GraphSource, with_defaults  # noqa: PLC0415
    from gateway.cli.options import SELECTS_GRAPH, CommonOptions  # noqa: PLC0415

    values: dict[str, Any] = {name: value for name in SELECTS_GRAPH if (value := given.get(name))}
    options = with_defaults(CommonOptions(**values), frozenset(SELECTS_GRAPH))
    if any(name.startswith("-") for name in options.graph or ()):
        # Standard input is the terminal.
        return None
    source = GraphSource(options)

    async def schema() -> SchemaResult | None:
        async with source.open(lambda *_: None) as gateway:
            if not source.url:
                return await gateway.describe_schema(all=True)
            # It loads what is stored at once; what it would ask in the background is ended before it begins.
            gateway.start()
            return gateway.known_schema()

    return asyncio.run(schema())


def _words(schema: SchemaResult, kind: Kind) -> list[str]:
    """Return the types or predicates, the most frequent first: by their local name where no other has the same."""
    from gateway.terms.iri import local_name  # noqa: PLC0415 - see `_schema_of`

    terms = list(schema.entity_types) if kind == "types" else list(schema.predicates)
    if kind == "walks":
        terms = list(dict.fromkeys([*(schema.values or ()), *terms]))
    short = {term: local_name(term.strip("<>")) for term in terms}
    times = Counter(short.values())
    return [name if times[name] == 1 else term for term, name in short.items()]


@contextlib.contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """End the block after some seconds as Ctrl-C does, where the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
