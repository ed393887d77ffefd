"""The small graphs of single tests: one server of each engine holds them all, since starting one takes seconds."""

from collections.abc import Iterator
from pathlib import Path

from tests.servers.engines import ColumnName, Files


def files_of_small_graphs(_: ColumnName, folder: Path) -> Files:
    """Write the graphs as files, the same for each engine."""
    files: dict[str, list[Path]] = {}
    for name, text in _texts():
        files[name] = [folder / name]
        files[name][0].write_text(text, encoding="utf-8")
    return {Path(name).stem: paths for name, paths in files.items()}


def _texts() -> Iterator[tuple[str, str]]:
    # Tests write them, and are imported by these alone.
    from tests.blank_nodes import served_graphs  # noqa: PLC0415
    from tests.every_engine import (  # noqa: PLC0415
        test_aliases_of_terms,
        test_joined_names,
        test_languages_of_calls,
        test_names_one_step_away,
        test_search_forms,
        test_steered_hub,
    )
    from tests.sparql import test_names  # noqa: PLC0415

    yield "aliases-of-terms.ttl", test_aliases_of_terms.GRAPH
    yield "joined.ttl", test_joined_names.GRAPH
    yield "languages.ttl", test_languages_of_calls.GRAPH
    yield "names-one-step-away.ttl", test_names_one_step_away.GRAPH
    yield "forms.nt", test_search_forms.triples()
    yield "hub.nt", "\n".join(test_steered_hub.lines())
    yield from test_names.graphs_by_predicate()
    yield from served_graphs.texts()
