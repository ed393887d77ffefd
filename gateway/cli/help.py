"""The help of a command: its options in groups, as wide as the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand

WIDEST = 160
"""Cells of a line, at most: longer lines of text are hard to read."""

_FIRST = "Options"

_FILTERS, _VALUES, _SIZE, _OUTPUT = "What is shown", "Values", "Size and pages", "Output"
_HTTP, _CLIENTS = "Over HTTP", "Who may ask"
_GRAPH, _FILES, _STORED, _MESSAGES = "Graph", "Reading files", "What is stored", "Messages"

GROUPS: Mapping[str, str] = {
    **dict.fromkeys(
        ("only_predicates", "direction", "only_node_types", "exclude_node_types", "min_mentions", "max_degree"),
        _FILTERS,
    ),
    **dict.fromkeys(("node_types", "predicates", "topology_only", "language", "via"), _FILTERS),
    **dict.fromkeys(("where", "values", "sort_by", "group_by", "compute", "edges", "show"), _VALUES),
    **dict.fromkeys(("limit", "offset", "edge_offset", "max_tokens", "max_edges_per_node", "snapshot"), _SIZE),
    **dict.fromkeys(("is_all", "export_format", "out", "as_json", "shape", "as_text", "guard_formulas"), _OUTPUT),
    **dict.fromkeys(("pager", "explain"), _OUTPUT),
    **dict.fromkeys(("graph", "endpoint", "profile", "prefix", "contact", "user", "password_file", "embedder"), _GRAPH),
    **dict.fromkeys(("encoding", "base", "context", "lenient", "file_limits"), _FILES),
    **dict.fromkeys(("store", "cache", "no_cache", "shared_cache"), _STORED),
    **dict.fromkeys(("quiet", "verbose", "log_format", "audit_log", "metrics_port", "metrics_host", "help"), _MESSAGES),
    **dict.fromkeys(("allow_host", "allow_origin", "host", "http", "port", "proxy", "workers"), _HTTP),
    **dict.fromkeys(("client_limit", "drain_seconds", "graphs_by", "explorer"), _HTTP),
    **dict.fromkeys(
        ("token_file", "oauth_issuer", "oauth_keys", "oauth_audience", "unauthenticated", "tls_cert", "tls_key"),
        _CLIENTS,
    ),
}
"""The group of an option, by its name as a parameter; all others come first."""

_ORDER = (_FIRST, _FILTERS, _VALUES, _SIZE, _OUTPUT, _GRAPH, _HTTP, _CLIENTS, _STORED, _FILES, _MESSAGES)


class GroupedCommand(TyperCommand):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options: those of the command, then each group that it has."""
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in _ORDER}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups[GROUPS.get(parameter.name or "", _FIRST)].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
