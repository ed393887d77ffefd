"""The commands `index`, `refresh` and `load`: store what is read later, a label index or the tables of a database."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from gateway.answers.models import SchemaResult
from gateway.api import open_gateway
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.screen import ProgressBar, Screen, Unwrapped
from gateway.cli.streams import print_note
from gateway.cli.tool_call import known_schema
from gateway.errors import ConfigurationError, Fault, counted
from gateway.escaping import visible
from gateway.graph.call import Progress
from gateway.messages import reading_names
from gateway.settings.databases import PostgresSettings
from gateway.settings.profile import Profile, profile_in_process
from gateway.settings.urls import is_postgres_url
from gateway.sparql.store import SparqlStore
from gateway.stores.endpoints import installed, make_label_index
from gateway.stores.loaded import load
from gateway.terms.prefixes import merge
from gateway.transport.inprocess import InProcess

if TYPE_CHECKING:
    from gateway.postgres.loading import Loaded, NewTables


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
            schema = asyncio.run(_read_schema(source, options.store, bar.show_call)) if rebuild else None
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


async def _read_schema(source: GraphSource, store: str | None, progress: Progress) -> SchemaResult:
    """Return the schema of an endpoint, read in full; the gateway stores it."""
    async with open_gateway(
        endpoint=source.url, profile=source.profile, prefixes=source.prefixes, store=store, keep_schema=True
    ) as gateway:
        # What was found out a moment ago, too, is read again.
        gateway.forget()
        return await known_schema(gateway, gateway.describe_schema, progress, whole=True)


def load_graph(options: CommonOptions, files: Sequence[str], to: str, *, replace: bool) -> None:
    """Write the graph of files into tables, and print what was written; all of it or nothing.

    `replace`: tables of the same names are removed in the same transaction.

    Raises:
        ConfigurationError: A file, the profile or the URL is wrong, or the tables are there already.
        Fault: The database could not be reached, or did not take a row.
    """
    if not is_postgres_url(to):
        raise ConfigurationError(
            "--to is no URL of a PostgreSQL database.",
            valid="postgresql://user@host:5432/database",
            next_step="For Neo4j, load the graph with its own tools.",
        )
    source = GraphSource(dataclasses.replace(options, endpoint=to))
    tables = _tables(to, source.profile)
    asyncio.run(tables.check(replace=replace))
    with ProgressBar(quiet=options.quiet) as bar:
        graph, prefixes = load(files, profile_in_process(source.profile), bar.show_load, source.parsed_files)
        known, _ = merge([("--prefix", source.prefixes), ("the profile", source.profile.prefixes), *prefixes])
        loaded = asyncio.run(_written(tables, graph, source.profile, known, bar, replace=replace))
    _report(loaded, source, known, quiet=options.quiet)


def _tables(to: str, profile: Profile) -> NewTables:
    with installed("postgres"):
        from gateway.postgres.connection import address_of  # noqa: PLC0415 - an extra
        from gateway.postgres.loading import NewTables  # noqa: PLC0415
    _refuse_other_columns(profile.postgres)
    return NewTables(address_of(to, profile.endpoint), profile.postgres)


def _refuse_other_columns(tables: PostgresSettings) -> None:
    usual = PostgresSettings()
    for name in ("nodes", "edges", "evidence"):
        given, default = getattr(tables, name), getattr(usual, name)
        if not given.table or given.model_copy(update={"table": default.table}) != default:
            raise ConfigurationError(
                f"The profile names other columns in postgres.{name}, or no table.",
                valid="A graph is loaded into three tables, which may have other names, with the usual columns.",
                next_step="Name only `table` in these sections, and make views for other columns.",
            )


async def _written(
    tables: NewTables,
    graph: InProcess,
    profile: Profile,
    prefixes: Mapping[str, str],
    bar: ProgressBar,
    *,
    replace: bool,
) -> Loaded:
    from gateway.postgres.loading import Loader, nodes_of  # noqa: PLC0415
    from gateway.postgres.tables import BlankEnds  # noqa: PLC0415 - an extra

    nodes, roles = nodes_of(graph.engine), profile.roles
    blank_ends = BlankEnds.of(graph.engine, profile.edges.types, (*roles.name, *roles.synonym))

    async def report(written: int) -> None:
        await bar.show_call(written, len(nodes), f"Writing {counted(len(nodes), 'node')}")

    try:
        store = SparqlStore(graph, profile_in_process(profile))
        loader = Loader(store, store.stated_edges, tables, roles, report, prefixes)
        return await loader.load(nodes, blank_ends, replace=replace)
    finally:
        await graph.close()


def _report(loaded: Loaded, source: GraphSource, prefixes: Mapping[str, str], *, quiet: bool) -> None:
    written = [counted(loaded.nodes, "node"), counted(loaded.edges, "edge")]
    stated = counted(loaded.statements, "statement")
    names = source.profile.postgres
    tables = f"{names.nodes.table}, {names.edges.table} and {names.evidence.table}"
    lines = [f"Loaded {', '.join(written)} and {stated} about edges into {tables}."]
    usual = source.profile.prefixes
    if own := {name: namespace for name, namespace in sorted(prefixes.items()) if name not in usual}:
        # A table has no prefixes; those of the files are lost without these lines.
        lines += ["", "For the profile:", "", "[prefixes]"]
        lines += [f"{json.dumps(name)} = {json.dumps(visible(namespace))}" for name, namespace in own.items()]
    Screen().show(Unwrapped(Text("\n".join(lines))))
    if loaded.blank_edges:
        print_note(
            f"{counted(loaded.blank_edges, 'edge')} to nodes without an IRI: left out, as answers say.", quiet=quiet
        )
    if loaded.unsendable:
        what = counted(loaded.unsendable, "part")
        print_note(f"{what} of the graph with an IRI that is none, or is too long for an ID: left out.", quiet=quiet)
