"""Reads what an answer in the compact shape tells: one small function for each thing, to be fitted to the shape."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Json: TypeAlias = Mapping[str, Any]

Expand: TypeAlias = Callable[[str], str]
"""Returns the whole IRI of an ID."""

_READ_AS_NUMBERS: Final = re.compile(r"where: (?P<count>\d[\d,]*) texts? that reads?")
_UNCOMPARABLE: Final = re.compile(r"where: (?P<count>\d[\d,]*) values? cannot be compared")


@dataclass(frozen=True)
class Told:
    """What the pages of an answer tell of a set.

    Attributes:
        nodes: The members and what stays for them, in the order of the answer; blank nodes as `_:` and their IDs.
        is_ordered: Whether the order of the nodes is that of the answer; lists by type lose it.
        hides_blank_nodes: Whether blank nodes may stand in edges and not among the nodes.
        cells: The cells of the nodes that have some.
        found: How many there are.
        tied: How many more have the value of the last.
        alone: How many each condition alone lets through, where the answer says so.
        complete: Whether it says that it is complete.
        values_complete: Whether all values of the columns are shown.
        read_as_numbers: How many texts were read as numbers, by its warnings.
        uncomparable: How many values could not be compared, by its warnings.
        seeds_left_out: Seeds of an intersection that qualify.
    """

    nodes: tuple[str, ...]
    is_ordered: bool = True
    hides_blank_nodes: bool = False
    cells: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    found: int | None = None
    tied: int = 0
    alone: tuple[int, ...] | None = None
    complete: bool = True
    values_complete: bool = True
    read_as_numbers: int = 0
    uncomparable: int = 0
    seeds_left_out: int | None = None


def told(pages: Sequence[Json], expand: Expand) -> Told:
    """Read the pages of an answer."""
    first, nodes, cells = pages[0], [], {}
    for page in pages:
        for identifier, row in read_rows(page):
            node = whole(identifier, expand)
            nodes.append(node)
            cells[node] = row
        if not has_rows(page):
            nodes += [whole(identifier, expand) for identifier in read_nodes(page)]
    warnings = read_warnings(first)
    return Told(
        tuple(nodes),
        is_ordered=is_ordered(first),
        hides_blank_nodes=not has_rows(first) and "edges" in first,
        cells=cells,
        found=read_found(first),
        tied=read_tied(pages[-1]),
        alone=read_alone(first),
        complete=all(map(read_complete, pages)),
        values_complete=all(map(read_values_complete, pages)),
        read_as_numbers=_counted(_READ_AS_NUMBERS, warnings),
        uncomparable=_counted(_UNCOMPARABLE, warnings),
        seeds_left_out=read_seeds_left_out(first),
    )


# What follows knows the keys of answers; docs/contract.md will have them.


def has_rows(page: Json) -> bool:
    """Return whether a page has a table in the place of nodes."""
    return "columns" in page


def read_rows(page: Json) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the rows of a page, each with the ID of its node; empty cells at the end may be left out."""
    columns = page.get("columns", ())
    for row in page.get("rows", ()):
        first, *cells = row if isinstance(row, list) else [row]
        yield identifier_of(first), [*cells, *[None] * (len(columns) - len(cells))]


def read_nodes(page: Json) -> Iterator[str]:
    """Yield the IDs of a page without rows: the hits of a search, or nodes by type, or nodes in order."""
    listed = page.get("result", page.get("nodes", ()))
    groups = listed.values() if isinstance(listed, Mapping) else [listed]
    for group in groups:
        for entry in group:
            if isinstance(entry, Mapping):
                yield from map(identifier_of, entry)
            else:
                yield identifier_of(entry[0] if isinstance(entry, list) else entry)


def is_ordered(page: Json) -> bool:
    """Return whether what is listed is in the order of the answer."""
    return has_rows(page) or isinstance(page.get("result", page.get("nodes", [])), list)


def identifier_of(entry: str) -> str:
    """Return the ID of `ID name`; no ID has a blank."""
    return entry.partition(" ")[0]


def read_found(page: Json) -> int | None:
    """Return how many members there are; absent where all of them are listed."""
    found = page.get("found")
    return found if isinstance(found, int) else None


def read_tied(page: Json) -> int:
    """Return how many more have the value of the last node; absent where none has."""
    return int(page.get("tied", 0))


def read_alone(page: Json) -> tuple[int, ...] | None:
    """Return how many each condition alone lets through, which stands on empty results."""
    alone = page.get("alone")
    if alone is None:
        return None
    return tuple(alone.values() if isinstance(alone, Mapping) else alone)


def read_complete(page: Json) -> bool:
    """Return whether a page says that the answer is complete; what is absent is true on the later ones."""
    return bool(page.get("complete", True))


def read_values_complete(page: Json) -> bool:
    """Return whether a page has all values of its columns."""
    return bool(page.get("values_complete", True))


def read_warnings(page: Json) -> Sequence[str]:
    """Return the warnings of a page."""
    return list(page.get("warnings", ()))


def read_seeds_left_out(page: Json) -> int | None:
    """Return how many seeds of an intersection qualify."""
    count = page.get("seeds_left_out")
    return count if isinstance(count, int) else None


def next_page(page: Json) -> Mapping[str, Any] | None:
    """Return the arguments of the next page, None on the last."""
    if "next_offset" not in page:
        return None
    further = {"offset": page["next_offset"], "edge_offset": page.get("next_edge"), "snapshot": page.get("snapshot")}
    return {name: value for name, value in further.items() if value is not None}


def items_of(cell: Any) -> list[Any]:
    """Return the values in a cell: none, one, or a list."""
    if cell is None:
        return []
    return cell if isinstance(cell, list) else [cell]


def whole(identifier: str, expand: Expand) -> str:
    """Return the IRI of an ID, or the ID of a blank node."""
    return identifier if identifier.startswith("_:") else expand(identifier)


def _counted(pattern: re.Pattern[str], warnings: Sequence[str]) -> int:
    found = (pattern.search(warning) for warning in warnings)
    return sum(int(one["count"].replace(",", "")) for one in found if one is not None)
