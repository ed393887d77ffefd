"""Asks the gateway about a graph with blank nodes, and compares each answer with the oracle's."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from rdflib import BNode, URIRef
from rdflib.term import Identifier

from gateway import expand
from gateway.answers.models import Answer, CompactAnswer, SearchResult
from gateway.api import Gateway, open_gateway
from gateway.errors import GatewayError
from gateway.export.subgraph import Subgraph
from gateway.settings.load import default_profile, load_profile
from gateway.settings.profile import Profile
from tests.blank_nodes.contents import Contents, Shape, differences, is_blank, matched, name_of, unlike
from tests.blank_nodes.oracle import Expected, Found, Node, bfs, intersect, may_lack, read_file
from tests.harness.asking import judged
from tests.harness.report import Judgement, Report, Verdict
from tests.small import ROOM

Answered = TypeVar("Answered")

_SEEDS: Final = 50
_HITS: Final = 100
_BLANK_NODES: Final = "Not complete (blank_nodes"
_UNREAD: Final = " metadata failed"
_MOST_BEYOND: Final = 100
"""Blank nodes at the end of a traversal: of more, a page does not say where they lead."""
_MOST: Final = 4_000
"""Nodes of an expected answer; larger ones are asked for with fewer hops."""


def room() -> Profile:
    """Return the default profile with room for whole answers."""
    return load_profile(default_profile(None)).model_copy(update={"size": ROOM})


def worth(differing: str, *, complete: bool, right_complete: bool | None = None) -> Judgement:
    """Return what an answer is worth.

    Args:
        differing: How it differs, empty where it is right.
        complete: Whether it says that it is complete.
        right_complete: Whether it should; nothing where both are right.
    """
    if not differing and right_complete in {None, complete}:
        return Verdict.RIGHT if complete else Verdict.MARKED, ""
    return Verdict.WRONG if complete else Verdict.UNTRUE, differing or f"complete is {complete}"


def _bare(shape: Shape) -> Shape:
    """Return a shape without what nodes say, and without positions: an answer says that it could not read some."""
    return Shape(dict.fromkeys(shape.edges, frozenset()), dict.fromkeys(shape.nodes))


class Judge:
    """Asks one graph.

    Args:
        gateway: Over the graph.
        expected: What it should be.
        report: Counts the answers.
        graph: The name of the graph in the report.

    Attributes:
        same: The IDs of blank nodes by the names of the oracle; nothing where the graphs are not the same.
    """

    def __init__(self, gateway: Gateway, expected: Expected, report: Report, graph: str = "") -> None:
        self._report = report
        self._graph = graph
        self.same: dict[str, str] | None = None
        self._gateway = gateway
        self._expected = expected
        self.contents = Contents(expected, gateway.prefixes.expand)
        self._blank = sorted(node for node in expected.nodes if isinstance(node, BNode))
        self._iris = sorted(node for node in expected.nodes if isinstance(node, URIRef))
        self._apart = _apart(expected)
        self._ids: dict[str, str] = {}

    async def learn(self) -> None:
        """Read the whole graph, hop by hop, and find out which blank node has which ID."""
        whole = Shape()
        waiting = [str(iri) for iri in self._iris] + await self._apart_ids()
        seen = set(waiting)
        while waiting:
            seeds, waiting = waiting[:_SEEDS], waiting[_SEEDS:]
            answer = await self._gateway.bfs_subgraph([_as_seed(seed) for seed in seeds], 1)
            shape = self.contents.answered_shape(answer)
            whole.edges |= shape.edges
            whole.contents |= shape.contents
            new = [node for node in shape.nodes if is_blank(node) and node not in seen]
            seen.update(new)
            waiting += new
        asked = [node for node in self._expected.nodes if node not in self._apart]
        edges = [edge for edge in self._expected.edges if edge[0] not in self._apart]
        right = self.contents.expected_shape(asked, edges)
        self.same = matched(right, whole)
        differing = "" if self.same is not None else unlike(right, whole)
        self.note("whole graph", "hop by hop", worth(differing, complete=True))
        if self.same is None:
            self._guess(right, whole)
        # Labels are drawn anew whenever a file is read; questions are the same.
        self._blank.sort(key=self._name)

    async def ask(self, dice: random.Random, count: int) -> None:
        """Draw questions."""
        kinds = (
            self._traverse,
            self._traverse,
            self._page,
            self._intersect,
            self._describe,
            self._of_name,
            self._of_type,
        )
        for _ in range(count):
            await dice.choice(kinds)(dice)

    async def bfs(self, seeds: Sequence[Node], hops: int) -> None:
        """Ask for the neighbourhood of nodes and judge the answer."""
        right = bfs(self._expected, seeds, hops)
        question = f"bfs_query {[self._shown(seed) for seed in seeds]} max_hops={hops}"
        asking = self._gateway.bfs_subgraph([self.id_of(seed) for seed in seeds], hops)
        await self._ask(question, asking, lambda answer: self.of_traversal(right, answer))

    def of_traversal(self, right: Found, answer: Subgraph) -> Judgement:
        """Judge the answer to a traversal."""
        shape = self.contents.answered_shape(answer)
        wanted = self.contents.expected_shape(right.distance, right.edges)
        if any(note.endswith(_UNREAD) for note in answer.notes):
            wanted, shape = _bare(wanted), _bare(shape)
        wrong = differences(wanted, shape, self.same)
        parts = [wrong] if wrong else []
        told = sum(
            int(note.rpartition(" ")[2].replace(",", "")) for note in answer.notes if note.startswith("Edges left")
        )
        if told != right.left_out:
            parts.append(f"blank_node_edges {told}, not {right.left_out}")
        if self.same is not None:
            distances = {self.contents.node(node.id): node.distance for node in answer.nodes}
            expected = {self._name(node): at for node, at in right.distance.items()}
            if distances != expected and not wrong:
                parts.append("distances differ")
        if other := [note for note in answer.notes if note.startswith("Not complete") and _BLANK_NODES not in note]:
            parts.append(f"told {other}")
        return worth("; ".join(parts), complete=answer.complete, right_complete=not right.left_out)

    async def page(self, seeds: Sequence[Node], hops: int) -> None:
        """Ask for the neighbourhood as a reader gets it: blank nodes within edges, with where they lead beyond it."""
        right = bfs(self._expected, seeds, hops)
        question = f"page of bfs_query {[self._shown(seed) for seed in seeds]} max_hops={hops}"
        arguments = {"seeds": [self.id_of(seed) for seed in seeds], "max_hops": hops}

        def of_page(answer: Answer | CompactAnswer) -> Judgement:
            written = answer.as_json()
            differing = self.differing_page(right, hops, expand(json.loads(json.dumps(written))))
            return worth(differing, complete=written["complete"])

        await self._ask(question, self._gateway.call("bfs_query", arguments, shape="compact"), of_page)

    def differing_page(self, right: Found, hops: int, answer: Mapping[str, Any]) -> str:
        """Return how an answer in the reference shape differs; empty where it does not, or where IDs are not known."""
        names = {self._name(node): node for node in right.distance}
        if "" in names:
            return ""
        parts = []
        said = {self.contents.node(node["id"]): node.get("metadata", {}) for node in answer["nodes"]}
        if said.keys() != names.keys():
            parts.append(f"nodes missing {sorted(names - said.keys())[:3]}, more {sorted(said.keys() - names)[:3]}")
        expand_iri = self._gateway.prefixes.expand
        edges = {
            (self.contents.node(edge["subject"]), expand_iri(edge["predicate"]), self.contents.node(edge["object"]))
            for edge in answer["edges"]
        }
        if edges != {(self._name(s), p, self._name(o)) for s, p, o in right.edges}:
            parts.append("edges differ")
        last = {node for node, at in right.distance.items() if isinstance(node, BNode) and at == hops}
        for name, node in names.items():
            if not isinstance(node, BNode):
                continue
            beyond = said.get(name, {}).get("beyond", {})
            expected = self._beyond(node, right) if node in last and len(last) <= _MOST_BEYOND else set()
            if any(not end for _, end in expected):
                continue
            shown = {
                (f"{'^' * key.startswith('^')}{expand_iri(key.removeprefix('^'))}", self._end(value))
                for key, values in beyond.items()
                if key != "more"
                for value in (values if isinstance(values, list) else [values])
            }
            if not shown <= expected or (shown != expected and "more" not in beyond):
                parts.append(f"{name} leads to {sorted(shown)[:3]}, not {sorted(expected)[:3]}")
        return "; ".join(parts)

    def _beyond(self, node: Node, right: Found) -> set[tuple[str, str]]:
        """Return where a node leads outside of what was found, and what leads to it from there."""
        edges = self._expected.touching.get(node, ())
        more = [edge for edge in edges if edge not in right.edges]
        return {(p, self._name(o)) if s == node else (f"^{p}", self._name(s)) for s, p, o in more}

    def _end(self, value: str | Mapping[str, Any]) -> str:
        text = value if isinstance(value, str) else value["_"]
        return self.contents.node(text.partition(" ")[0])

    async def intersect(self, seeds: Sequence[Node], k: int) -> None:
        """Ask what is within k hops of each seed and judge the answer."""
        right = intersect(self._expected, seeds, k)
        question = f"intersect_subgraphs {[self._shown(seed) for seed in seeds]} k={k}"
        expected = self.contents.expected_shape(right.distance, right.edges)
        certain = False if right.left_out else None if may_lack(self._expected, seeds, k) else True

        def of_answer(answer: Subgraph) -> Judgement:
            wanted, shape = expected, self.contents.answered_shape(answer)
            if any(note.endswith(_UNREAD) for note in answer.notes):
                wanted, shape = _bare(wanted), _bare(shape)
            wrong = differences(wanted, shape, self.same)
            return worth(wrong, complete=answer.complete, right_complete=certain)

        await self._ask(
            question, self._gateway.intersection_subgraph([self.id_of(seed) for seed in seeds], k), of_answer
        )

    async def describe(self, node: Node) -> None:
        """Ask what a blank node says."""
        asking = self._gateway.describe_entity(self.id_of(node))
        await self._ask(
            f"describe_entity {self._shown(node)}", asking, lambda told: self._of_entity(node, told.as_json())
        )

    def _of_entity(self, node: Node, answer: Mapping[str, Any]) -> Judgement:
        parts = [] if "iri" not in answer else [f"a blank node has the IRI {answer['iri']}"]
        skipped = {"id", "entity_type", "iri", "types", "edges", "complete", "labels", "prefixes", "warnings"}
        skipped |= {"blank_node_edges", "edge_rows_total", "degraded"}
        said = self.contents.said({key: value for key, value in answer.items() if key not in skipped})
        right = self.contents.expected_said(node)
        parts += [f"says {set(one)}, not {set(other)}" for one, other in zip(said, right, strict=True) if one != other]
        edges = Counter[str]()
        for s, p, o in self._expected.touching.get(node, ()):
            edges[p] += s == node
            edges[f"^{p}"] += o == node
        told = {self._row(row): int(values[0]) for row, values in answer.get("edges", {}).items()}
        # A self loop is one edge, whichever row has it.
        if +edges != told and not any(s == o for s, _, o in self._expected.touching.get(node, ())):
            parts.append(f"edges {told}, not {dict(+edges)}")
        left_out = self._expected.left_out.get(node, 0)
        if answer.get("blank_node_edges", 0) != left_out:
            parts.append(f"blank_node_edges {answer.get('blank_node_edges')}, not {left_out}")
        return worth("; ".join(parts), complete=answer["complete"])

    async def of_name(self, name: str, predicates: Iterable[str]) -> None:
        """Search for a name and judge which blank nodes are found as having just this one."""
        wanted = list(predicates)
        named = {
            self._name(node)
            for node, said in self._expected.literals.items()
            if any(_plain(str(value)) == _plain(name) for each in wanted for value in said.get(each, ()))
        }
        expected = {node for node in named if is_blank(node)}

        def of_hits(answer: SearchResult) -> Judgement:
            hits = {self.contents.node(hit.id) for hit in answer.result if hit.match in {"label", "alias"}}
            found, differing = {node for node in hits if is_blank(node)}, ""
            if len(answer.result) < _HITS and self.same is not None and "" not in named and expected != found:
                differing = f"missing {sorted(expected - found)[:3]}, not expected {sorted(found - expected)[:3]}"
            return worth(differing, complete=answer.complete)

        await self._ask(f"search_entities {name!r}", self._gateway.search_entities(name, limit=_HITS), of_hits)

    async def of_type(self, name: str) -> None:
        """Search for the instances of a type, and judge which are found."""
        right = {self._name(node) for node, types in self._expected.types.items() if name in types}

        def of_hits(answer: SearchResult) -> Judgement:
            hits, differing = {self.contents.node(hit.id) for hit in answer.result}, ""
            count = answer.found or len(answer.result)
            if count > len(right) or (answer.complete and count != len(right)):
                differing = f"{count} found, not {len(right)}"
            elif len(hits) == len(right) and self.same is not None and hits != right - {""}:
                unknown = {node for node in right if node not in self.same.values() and is_blank(node)}
                if not unknown:
                    differing = f"missing {sorted(right - hits)[:3]}, not expected {sorted(hits - right)[:3]}"
            return worth(differing, complete=answer.complete)

        asking = self._gateway.search_entities(node_types=[name], limit=_HITS)
        await self._ask(f"search_entities node_types=[{name}]", asking, of_hits)

    async def _ask(self, question: str, asking: Awaitable[Answered], judge: Callable[[Answered], Judgement]) -> None:
        def of_answer(answer: Answered | GatewayError) -> Judgement:
            return (Verdict.ERROR, str(answer)) if isinstance(answer, GatewayError) else judge(answer)

        self.note(question.partition(" ")[0], question, await judged(asking, of_answer))

    def note(self, tool: str, question: str, judgement: Judgement) -> None:
        """Count an answer."""
        self._report.add("files", tool, question, judgement, graph=self._graph)

    async def _traverse(self, dice: random.Random) -> None:
        await self.bfs(*self._neighbourhood(dice))

    async def _page(self, dice: random.Random) -> None:
        await self.page(*self._neighbourhood(dice))

    def _neighbourhood(self, dice: random.Random) -> tuple[Sequence[Node], int]:
        seeds = [self._seed(dice) for _ in range(dice.choice((1, 1, 1, 2, 3)))]
        seeds = list(dict.fromkeys(seeds))
        hops = dice.choice((1, 1, 2, 2, 3, 5))
        while hops > 1 and len(bfs(self._expected, seeds, hops).distance) > _MOST:
            hops -= 1
        return seeds, hops

    async def _intersect(self, dice: random.Random) -> None:
        first = self._seed(dice)
        near = sorted(bfs(self._expected, [first], dice.choice((1, 2, 3))).distance, key=name_of)
        known = [node for node in near if node not in self._apart and self._name(node)]
        others = [dice.choice(known) if dice.random() < 0.8 and known else self._seed(dice) for _ in range(2)]
        seeds = list(dict.fromkeys([first, *others[: dice.choice((1, 1, 2))]]))
        if len(seeds) < 2:
            seeds.append(next(node for node in [self._seed(dice) for _ in range(50)] + self._iris if node != first))
        k = dice.choice((1, 1, 2, 2, 3))
        while k > 1 and any(len(bfs(self._expected, [seed], k).distance) > _MOST for seed in seeds):
            k -= 1
        await self.intersect(seeds, k)

    async def _describe(self, dice: random.Random) -> None:
        if known := [node for node in self._blank if self._name(node)]:
            await self.describe(dice.choice(known))

    async def _of_name(self, dice: random.Random) -> None:
        predicates = [self.contents.node(name) for name in (await self._gateway.describe_schema(all=True)).names or ()]
        named = sorted(
            str(value)
            for node, said in self._expected.literals.items()
            if isinstance(node, BNode)
            for each in predicates
            for value in said.get(each, ())
            if _plain(str(value)).replace(" ", "").isalnum() and len(value) < 100 and value.isascii()
        )
        if named:
            await self.of_name(dice.choice(named), predicates)

    async def _of_type(self, dice: random.Random) -> None:
        kept = Contents.shown_types(
            {name for node, types in self._expected.types.items() if isinstance(node, BNode) for name in types}
        )
        if kept:
            await self.of_type(dice.choice(sorted(kept)))

    def _seed(self, dice: random.Random) -> Node:
        known = [node for node in self._blank if self._name(node)]
        if known and dice.random() < 0.6:
            return dice.choice(known)
        return dice.choice(self._iris)

    def _name(self, node: Node) -> str:
        """Return the name of a node in answers; empty for a blank node whose ID is not known."""
        if isinstance(node, URIRef):
            return str(node)
        return (self._ids if self.same is None else self.same).get(name_of(node), "")

    def id_of(self, node: Node) -> str:
        """Return what is sent for a node."""
        return _as_seed(self._name(node))

    def _shown(self, node: Node) -> str:
        return f"{self._name(node)}" + (f" ({node})" if isinstance(node, BNode) else "")

    def _row(self, row: str) -> str:
        incoming, name = row.startswith("^"), row.removeprefix("^").partition(" ")[0]
        return f"{'^' * incoming}{self.contents.node(name)}"

    def _guess(self, right: Shape, whole: Shape) -> None:
        """Take blank nodes of unique content for the same, where the graphs are not."""
        ours, theirs = _by_content(right), _by_content(whole)
        self._ids = {
            nodes[0]: theirs[said][0]
            for said, nodes in ours.items()
            if len(nodes) == 1 and len(theirs.get(said, ())) == 1
        }

    async def _apart_ids(self) -> list[str]:
        """Return IDs of blank nodes to which no IRI leads: they are found by their types."""
        types = {name for node in self._apart for name in self._expected.types.get(node, ())}
        found: dict[str, None] = {}
        for name in sorted(Contents.shown_types(types)):
            try:
                answer = await self._gateway.search_entities(node_types=[name], limit=_HITS)
            except GatewayError:
                return []
            if len(answer.result) >= _HITS:
                return []
            found |= {hit.id: None for hit in answer.result if is_blank(hit.id)}
        typed = {node for node in self._apart if Contents.shown_types(self._expected.types.get(node, ()))}
        self._apart -= _reached(self._expected, typed)
        return list(found)


def _apart(expected: Expected) -> frozenset[Node]:
    """Return the blank nodes to which no path leads from any IRI."""
    return expected.nodes - _reached(expected, (node for node in expected.nodes if isinstance(node, URIRef)))


def _reached(expected: Expected, nodes: Iterable[Node]) -> frozenset[Node]:
    reached = set(nodes)
    new = set(reached)
    while new:
        ends = {end for node in new for edge in expected.touching.get(node, ()) for end in (edge[0], edge[2])}
        new = ends - reached
        reached |= new
    return frozenset(reached)


def _by_content(shape: Shape) -> dict[object, list[str]]:
    links: defaultdict[str, set[str]] = defaultdict(set)
    for (s, p, o), at in shape.edges.items():
        links[s].add(f">{p} {'_:' if is_blank(o) else o} {sorted(at)}")
        links[o].add(f"<{p} {'_:' if is_blank(s) else s} {sorted(at)}")
    found: defaultdict[object, list[str]] = defaultdict(list)
    for node, said in shape.contents.items():
        if is_blank(node):
            found[said, frozenset(links[node])].append(node)
    return found


def _as_seed(node: str) -> str:
    return node if is_blank(node) else f"<{node}>"


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("-", " ").split()).casefold()


async def ask_files(
    paths: Sequence[Path],
    expected: Expected,
    dice: random.Random,
    questions: int,
    report: Report,
    *,
    graph: str = "",
    reopens: bool = True,
) -> None:
    """Ask questions about files.

    Args:
        paths: The files.
        expected: What they should become.
        dice: Draws the questions.
        questions: How many.
        report: Counts the answers.
        graph: The name of the graph in the report.
        reopens: Whether the files are read again, as they are and in another order: IDs should be the same.
    """
    async with open_gateway(list(paths), profile=room()) as gateway:
        await gateway.wait_until_ready()
        judge = Judge(gateway, expected, report, graph)
        await judge.learn()
        await judge.ask(dice, questions)
        if not reopens:
            return
        ids = await ids_of(gateway, expected)
    with TemporaryDirectory(prefix="blank-nodes-") as folder:
        for again in (paths, rewritten(paths, Path(folder), dice)):
            if not again:
                continue
            async with open_gateway(list(again), profile=room()) as gateway:
                now = await ids_of(gateway, expected)
            more, fewer = sorted(now - ids), sorted(ids - now)
            what = f"{len(fewer)} IDs are gone {fewer[:3]}, {len(more)} are new {more[:3]}" if more or fewer else ""
            judge.note("IDs", str([path.name for path in again]), worth(what, complete=True))


def rewritten(paths: Sequence[Path], folder: Path, dice: random.Random) -> list[Path]:
    """Write files in another order and with other labels; nothing where they have triple terms."""
    written = []
    for number, path in enumerate(paths):
        labels: dict[str, str] = {}
        lines = []
        for triple in read_file(path):
            if any(isinstance(term, tuple) for term in triple):
                return []
            terms = [
                f"_:z{labels.setdefault(term, str(len(labels)))}" if isinstance(term, BNode) else term.n3()
                for term in triple
                if isinstance(term, Identifier)
            ]
            lines.append(" ".join(terms) + " .")
        dice.shuffle(lines)
        target = folder / f"again-{number}.ttl"
        # A literal on several lines is written by `n3` as Turtle has it.
        target.write_text("\n".join(dict.fromkeys(lines)), encoding="utf-8")
        written.append(target)
    return written


async def ids_of(gateway: Gateway, expected: Expected) -> frozenset[str]:
    """Return the IDs of the blank nodes near some IRIs."""
    iris = sorted(node for node in expected.nodes if isinstance(node, URIRef))[:_SEEDS]
    if not iris:
        return frozenset()
    answer = await gateway.bfs_subgraph(list(iris), 2)
    return frozenset(node.id for node in answer.nodes if is_blank(node.id))
