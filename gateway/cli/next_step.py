"""The command that fits next, as a line on standard error: only where somebody reads at a terminal."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from gateway import PROGRAM
from gateway.answers.models import (
    Answer,
    BfsResult,
    CompactAnswer,
    EntitiesResult,
    Entity,
    IntersectionResult,
    SchemaResult,
    SearchResult,
)
from gateway.arguments import MAX_HOPS, IntersectSubgraphs, TraversalShow
from gateway.cli.options import CommonOptions, option_name
from gateway.cli.render import table_of
from gateway.cli.screen import is_terminal
from gateway.cli.streams import clean, print_command
from gateway.cli.subgraph import says_difference
from gateway.files.recognition import packing_by_name
from gateway.terms.local_names import local_part
from gateway.terms.name_predicates import USUAL_NAMES, role_of

_OF_GRAPH = ("graph", "endpoint", "profile", "prefix", "contact", "user", "password_file", "store", "cache", "embedder")
"""The options that the next command needs too."""

_FILTERS = (
    *("only_predicates", "direction", "only_node_types", "exclude_node_types", "min_mentions", "where"),
    *("max_degree", "max_edges_per_node", "language"),
)
"""The arguments that the next intersection of the same seeds needs too."""

_MOST_PREDICATES = 4
"""Predicates that the next command names."""

_SUFFIXES = (".ttl", ".nt", ".nq", ".trig", ".rdf", ".owl", ".jsonld")
"""Those of graph files that are seldom something else."""

_FILES_LOOKED_AT = 1_000
"""In the working directory, at most."""


def print_after(
    answer: Answer | CompactAnswer, arguments: Mapping[str, Any], show: TraversalShow, options: CommonOptions
) -> None:
    """Print what could be asked after the answer to a call with these arguments."""
    if options.quiet or not _is_read() or any(name.startswith("-") for name in options.graph or ()):
        return
    if words := _after(answer, arguments, show):
        command = shlex.join([PROGRAM, *map(clean, words), *_graph_of(options)])
        print_command(f"Next: {command}")


def print_first(options: CommonOptions) -> None:
    """Print what could be asked first: about the graph that is selected, or that is here, or the demo graph."""
    if not _is_read():
        return
    selected = options.graph or options.endpoint or options.profile
    found = None if selected else _graph_here()
    about = "of the demo"
    if selected or found:
        about = "that is selected" if selected else "in this folder"
    command = shlex.join([PROGRAM, "schema", *(["--graph", found] if found else [])])
    print_command(f"Next, what is in the graph {about}: {command}")


def _is_read() -> bool:
    return is_terminal(sys.stdout) and is_terminal(sys.stderr)


def _graph_of(options: CommonOptions) -> list[str]:
    """Return the options of the graph as they were given: those of other places hold for the next command too."""
    words = []
    for name in _OF_GRAPH:
        value = getattr(options, name)
        if value and name not in options.places:
            option = f"--{name.replace('_', '-')}"
            words += [word for one in (value if isinstance(value, list) else [value]) for word in (option, one)]
    return words


def _after(answer: Answer | CompactAnswer, arguments: Mapping[str, Any], show: TraversalShow) -> list[str]:
    """Return the words of the command that fits after an answer; none where the answer says itself what does."""
    words: list[str] = []
    match answer:
        case SchemaResult():
            words = _after_schema(answer)
        case SearchResult():
            hits = answer.result or [hit for one in answer.queries or () for hit in one.result]
            words = ["bfs", hits[0].id] if hits else _after_rows(answer, show)
        case Entity(edges={}):
            words = ["bfs", answer.id, *_one_relation(answer)] if answer.edges else []
        case EntitiesResult(result=[one, other, *_]):
            words = ["intersect", one.id, other.id]
        case IntersectionResult(complete=True, rows=None, missing_seeds=None) if answer.k < MAX_HOPS and {
            node.id for node in answer.nodes
        } <= {*answer.seeds}:
            words = ["intersect", *answer.seeds, "-k", str(answer.k + 1), *_filters(arguments)]
        case IntersectionResult(next_offset=None) if others := _without_differences(answer, arguments):
            words = [
                "intersect",
                *answer.seeds,
                "-k",
                str(answer.k),
                *_filters({**arguments, "only_predicates": others}),
            ]
        case BfsResult(next_offset=None) | IntersectionResult(next_offset=None):
            others = [node.id for node in answer.nodes if node.id not in answer.seeds]
            words = ["describe", others[0]] if others else _after_rows(answer, show)
    return words


def _filters(arguments: Mapping[str, Any]) -> list[str]:
    """Return the options of those arguments of an intersection that say what is followed and what is shown."""
    words: list[str] = []
    for name in _FILTERS:
        value = arguments.get(name)
        if value is None or value == IntersectSubgraphs.model_fields[name].default:
            continue
        option = f"--{option_name(IntersectSubgraphs, name)}"
        values = value if isinstance(value, list) else [value]
        if any(isinstance(one, list) for one in values):
            values = [json.dumps(value, ensure_ascii=False)]
        # What begins with a hyphen would be read as an option.
        words += [
            f"{option}={one}" if str(one).startswith("-") else part for one in values for part in (option, str(one))
        ]
    return words


def _without_differences(answer: IntersectionResult, arguments: Mapping[str, Any]) -> list[str]:
    """Return the predicates of an intersection by which nodes hang together, where others say that they differ.

    None where there are too many for a command line, or the caller chose some.
    """
    found = answer.schema_summary.predicates_found
    others = [name for name in found if not says_difference(name)]
    is_needed = not arguments.get("only_predicates") and len(others) < len(found)
    return others if is_needed and len(others) <= _MOST_PREDICATES else []


def _after_schema(answer: SchemaResult) -> list[str]:
    for type_id, shape in (answer.shapes or {}).items():
        labels = answer.labels or {}
        predicates = [
            name
            for name, (_, _, *found) in shape.predicates.items()
            if not name.startswith("^") and not _names_nodes(name, labels.get(name, ""), found)
        ]
        return ["list", type_id, *(["--value", predicates[0]] if predicates else [])]
    return ["list", answer.entity_types[0]] if answer.entity_types else []


def _names_nodes(predicate: str, label: str, found: Sequence[str]) -> bool:
    """Return whether a predicate carries names, which a list has anyway: by its ID or label, and by what was found."""
    # An ID without a prefix is a whole IRI in angle brackets.
    local = local_part(predicate.strip("<>"))
    called_so = role_of(label or local) is not None and any("text" in kinds for kinds in found[:1])
    return local in USUAL_NAMES or called_so


def _after_rows(answer: SearchResult | BfsResult | IntersectionResult, show: TraversalShow) -> list[str]:
    """Return what fits after rows of nodes; after groups, nothing does for certain."""
    if show == "name" or answer.rows is None or answer.next_offset is not None or not table_of(answer):
        return []
    return ["describe", str(answer.rows[0][0]).partition(" ")[0]]


def _one_relation(answer: Entity) -> list[str]:
    """Return the options that follow the most frequent relation of which not all ends are shown, if there is one."""
    for predicate, (count, *shown) in (answer.edges or {}).items():
        if isinstance(count, int) and count > len(shown) and not says_difference(predicate.partition(" ")[0]):
            return ["--only-predicate", predicate.partition(" ")[0]]
    return []


def _graph_here() -> str | None:
    """Return the first graph file in the working directory, by its name."""
    try:
        with os.scandir() as entries:
            names = [entry.name for entry in islice(entries, _FILES_LOOKED_AT) if entry.is_file()]
    except OSError:
        return None
    graphs = sorted(name for name in names if _is_graph(name))
    return graphs[0] if graphs else None


def _is_graph(name: str) -> bool:
    plain = Path(name).stem if packing_by_name(name) else name
    return plain.lower().endswith(_SUFFIXES) and name.isprintable() and not name.startswith((".", "-"))
