"""The commands `index` and `refresh`: build the label index of an endpoint, and report what it contains."""

from __future__ import annotations

import asyncio

from rich.text import Text

from gateway.answers.models import SchemaResult
from gateway.api import open_gateway
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.screen import ProgressBar, Screen, Unwrapped
from gateway.cli.streams import print_note
from gateway.cli.tool_call import known_schema
from gateway.errors import ConfigurationError, Fault, counted
from gateway.messages import reading_names
from gateway.stores.remote import make_label_index


def index(options: CommonOptions, *, rebuild: bool) -> None:
    """Build the label index of an endpoint, and print what it contains.

    `rebuild`: an index that exists is replaced, and the schema is read again.

    Raises:
        ConfigurationError: No endpoint is given.
        Fault: The endpoint could not be queried. The names read so far are stored.
    """
    source = GraphSource(options)
    url, profile = source.url, source.profile
    if not url:
        raise ConfigurationError(
            "No endpoint was given.",
            valid="Give --endpoint URL, or --profile with a profile that has an endpoint.",
        )
    with ProgressBar(quiet=options.quiet) as bar:

        async def report(read: int, total: int) -> None:
            await bar.show_call(read, total, reading_names(total))

        try:
            built = make_label_index(
                url, profile, prefixes=source.prefixes, store=options.store, restart=rebuild, on_progress=report
            )
            about, place = asyncio.run(built)
            schema = asyncio.run(_read_schema(source, options.store)) if rebuild else None
        except (Fault, KeyboardInterrupt):
            bar.stop()
            print_note("What was read is stored: `bfsql-gateway index` continues from there.", quiet=options.quiet)
            raise
    lines = [f"{source.name.capitalize()} has {about}."]
    if schema is not None:
        count = f"{counted(schema.entity_types_total, 'type')} and {counted(schema.predicates_total, 'predicate')}"
        lines.append(f"It has {count}." if schema.comprehensive else f"It has at least {count}.")
    Screen().show(Unwrapped(Text("\n".join([*lines, f"Stored in {place}."]))))
    if not about.whole:
        print_note(
            "Some names are missing, or were read while the graph changed: `bfsql-gateway refresh` reads them again.",
            quiet=options.quiet,
        )


async def _read_schema(source: GraphSource, store: str | None) -> SchemaResult:
    """Return the schema of an endpoint, read in full; the gateway stores it."""
    async with open_gateway(
        endpoint=source.url, profile=source.profile, prefixes=source.prefixes, store=store, keep_schema=True
    ) as gateway:
        return await known_schema(gateway, gateway.describe_schema, whole=True)
