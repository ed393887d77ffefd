"""What is said of a subgraph beside its nodes and edges: whether it is complete, what it lacks, how to go on."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from gateway.answers.models import BfsResult, IntersectionResult, Subgraph
from gateway.arguments import MAX_HOPS
from gateway.cli import render
from gateway.cli.own_words import own_words
from gateway.cli.render import degraded, prefixes, sections, warned
from gateway.cli.screen import ID, STRONG
from gateway.cli.streams import clean, line
from gateway.errors import counted
from gateway.tools.whole_subgraph import notes_of


def notes(answer: BfsResult | IntersectionResult, offset: int) -> RenderableType:
    """Return what is said of a page of a subgraph beside its nodes and edges, or its rows."""
    return sections(
        [
            *head(answer, offset),
            *_beside_rows(answer),
            *map(Text, between_last(answer)),
            *warnings_of(answer),
            *next_page(answer),
        ]
    )


def _beside_rows(answer: Subgraph) -> list[RenderableType]:
    """Return what is said of edges that columns leave out where nodes stand in rows."""
    if render.table_of(answer) is None or not answer.edges:
        return []
    return [Text(f"{counted(len(answer.edges), 'edge')} not in the columns: --text and --json show edges.")]


class WholeNotes:
    """What is said of a subgraph of which all pages were shown: it is complete only if each of them is."""

    def __init__(self) -> None:
        self._title: Text | None = None
        self._is_complete = True
        self._said: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        self._prefixes: dict[str, str] = {}

    def add(self, page: BfsResult | IntersectionResult) -> None:
        """Note what a page says."""
        self._title = _counted(page)
        self._is_complete = self._is_complete and page.complete
        self._said |= dict.fromkeys([*render.said_of_rows(page), *between_last(page)])
        self._notes |= dict.fromkeys([*removed(page), *notes_of(page)])
        self._prefixes |= page.prefixes or {}

    def shown(self) -> RenderableType:
        """Return it."""
        if self._title is None:
            return sections()
        title = self._title.append_text(_verdict(is_complete=self._is_complete))
        said = (Text(line(text)) for text in self._said)
        return sections([title, *said, *prefixes(self._prefixes), *map(warned, self._notes)])


def _about(answer: BfsResult | IntersectionResult) -> str:
    if isinstance(answer, BfsResult):
        return f"{counted(answer.max_hops, 'hop')} around"
    return f"Within {counted(answer.k, 'hop')} of{' each of' * (len(answer.seeds) > 1)}"


def head(answer: BfsResult | IntersectionResult, offset: int) -> list[RenderableType]:
    """Return what was asked, whether the answer is complete and why not, and which page this is."""
    return [*_title(answer), *_place(answer, offset)]


def _title(answer: BfsResult | IntersectionResult) -> list[RenderableType]:
    return [_counted(answer).append_text(_verdict(is_complete=answer.complete)), *_gaps(answer)]


def _counted(answer: BfsResult | IntersectionResult) -> Text:
    return Text.assemble(
        f"{_about(answer)} ",
        (", ".join(map(clean, answer.seeds)), f"{STRONG} {ID}"),
        f": {counted(answer.node_count, 'node')}, {counted(answer.edge_count, 'edge')}, ",
    )


def _verdict(*, is_complete: bool) -> Text:
    if is_complete:
        return Text.assemble(("complete", "green"), ".")
    return Text.assemble(("not complete", f"{STRONG} yellow"), ".")


def _gaps(answer: Subgraph) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for gap in answer.incomplete or ():
        more = f" and {gap.count - len(gap.ids):,} more" if gap.count > len(gap.ids) else ""
        parts.append(warned(f"{gap.cause}, {counted(gap.count, 'node')}: {gap.detail} ({', '.join(gap.ids)}{more})"))
    if not answer.complete:
        parts.append(warned("What is missing here may still be in the graph."))
    parts += map(Text, removed(answer))
    parts += (Text(line(text)) for text in render.said_of_rows(answer))
    if answer.seeds_left_out:
        parts.append(Text(f"Seeds that would be in the rows too: {answer.seeds_left_out:,}"))
    if answer.values_complete is False:
        parts.append(warned(render.values_cut()))
    if answer.missing_seeds:
        parts.append(warned(f"Not in the graph: {', '.join(answer.missing_seeds)}"))
    if answer.result_changed:
        parts.append(warned("The answer has changed since the previous page: start again at --offset 0."))
    return parts


def removed(answer: Subgraph) -> list[str]:
    """Return what filters took away."""
    removed = ", ".join(f"{counted(count, 'node')} by {name}" for name, count in (answer.removed or {}).items())
    return [own_words(f"Removed: {removed}.")] if removed else []


def _place(answer: Subgraph, offset: int) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if render.table_of(answer) is not None:
        found = render.table_count(answer)
        if text := render.place_of_rows(answer, offset, found):
            parts.append(Text(text))
        elif not render.table_of(answer) and found:
            parts.append(warned(f"This page is empty: --offset {offset} is beyond the last row."))
    elif answer.found is not None and not answer.nodes:
        # Groups were asked for, and none is shown; a warning says why.
        pass
    elif len(answer.nodes) < answer.node_count:
        end = offset + len(answer.nodes)
        if answer.nodes:
            edges = counted(len(answer.edges), "edge")
            earlier = " and to nodes of earlier pages" if offset else ""
            parts.append(Text(f"This page: nodes {offset + 1:,} to {end:,}, and the {edges} among them{earlier}."))
        elif answer.edges:
            parts.append(Text("This page: more edges of the last node of the previous page."))
        else:
            parts.append(warned(f"This page is empty: --offset {offset} is beyond the last node."))
    return parts


def between_last(answer: Subgraph) -> list[str]:
    """Return that edges between the farthest nodes of a neighbourhood were not asked for, where there may be some."""
    if not isinstance(answer, BfsResult) or answer.levels[answer.max_hops :] in ([], [0], [1]):
        return []
    if not answer.edges or render.table_of(answer) is not None:
        return []
    more = ": one hop more shows them" if answer.max_hops < MAX_HOPS else ""
    return [f"Edges between two nodes at distance {answer.max_hops} are not shown{more}."]


def warnings_of(answer: Subgraph) -> list[RenderableType]:
    """Return what the coined prefixes stand for, and what was left out."""
    parts: list[RenderableType] = [*prefixes(answer.prefixes)]
    parts += [warned(text) for text in answer.warnings or ()]
    if answer.blank_node_edges:
        left_out = counted(answer.blank_node_edges, "edge")
        parts.append(warned(f"Omitted: {left_out} to blank nodes that cannot be followed."))
    parts += degraded(answer.degraded)
    # A drawing shows no values.
    parts += map(warned, render.not_shown(answer.other_languages if answer.rows else None))
    if answer.omitted_texts:
        omitted = ", ".join(f"{key} {count:,}" for key, count in answer.omitted_texts.items())
        parts.append(warned(f"Omitted from the evidence, as long quotes: {omitted}."))
    return parts


def next_page(answer: Subgraph) -> list[RenderableType]:
    """Return how to see the next page."""
    parts: list[RenderableType] = []
    if answer.next_offset is not None:
        count, noun = (
            (answer.node_count, "node") if render.table_of(answer) is None else (render.table_count(answer), "row")
        )
        more = counted(count - answer.next_offset, f"more {noun}")
        if answer.edges_on_later_pages:
            more += f", and {counted(answer.edges_on_later_pages, 'edge')} from this page to them"
        go_on = f"--offset {answer.next_offset}"
        go_on += f" --edge-offset {answer.next_edge}" if answer.next_edge else ""
        go_on += f" --snapshot {answer.snapshot}" if answer.snapshot else ""
        parts.append(warned(f"… {more}. Next page: {go_on}"))
    return parts
