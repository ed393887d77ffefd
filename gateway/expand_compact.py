"""Turns a compact answer into the reference shape, for programs that want lists of objects.

It needs no other module, so that a client can copy it. docs/contract.md, "The two shapes of an answer", has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

INCOMING = "^"
"""Stands before the predicate of an edge that comes in."""

OUTGOING = ">"
"""Stands before the predicate of an edge that goes out where that is a walk that begins with `^`."""

BOTH_WAYS = "<->"
"""Stands before the predicate of edges that lead both ways and say the same."""

BLANK = "_:"
"""Begins the ID of a blank node, which has no IRI."""

OTHER = "other"
"""The column of a row that holds what has no column of its own."""

SOURCES = "source_documents"

NODE_COLUMNS = "node_columns"
"""What the cells of nodes are."""

ON_THE_WAY = "on_the_way"
"""The nodes that are shown only as steps to others, by type as the others are."""

TYPES = "types"
"""The types of the nodes that stand only where edges lead to them: one of all, or by predicate."""

OTHERS = "others"
"""How many of these nodes have types that are not listed."""

CONTINUED = "continued"
"""The node before a page, whose edges go on there."""

FIRST = "1-"
"""Begins what the first of several pages says about which nodes it has."""

BLANK_ID = "_"
"""The key of the ID of a blank node that stands as an object where its ID would."""

BLANK_TYPE = "type"
"""The key of its type, which is absent where that says no more than the predicate that leads to it."""

BLANK_EVIDENCE = "evidence"
"""The key of the evidence of the edge that leads to it."""

BEYOND = "beyond"
"""Where a blank node at the end of a traversal leads outside of the answer."""

OTHER_TYPES = "other_types"
"""The types of a node besides the one below which it stands."""

_COINED = re.compile(r"[A-Za-z]{1,12}_[a-z2-7]{3,52}")
"""A prefix that the gateway coined; the reference shape tells no others."""

_NO_COUNT = "?"
_AT_LEAST = "at least "
_BESIDE = ("also_in", "instances", "edges", "edge_rows_total", "blank_node_edges", "edges_failed")

Json = dict[str, Any]
_Edge = tuple[str, str, str]


def expand(answer: Mapping[str, Any]) -> Json:
    """Return an answer of any of the six tools in the reference shape.

    Nodes, edges and entities are those that `shape="reference"` gives, in another order. What the compact shape leaves
    out because it repeats the arguments is absent, and so is the type of a node that stands in a list of several
    types, or in an answer that is edges alone. An answer in the reference shape is returned as it is.

    Args:
        answer: The answer, as JSON.
    """
    reader = _Reader()
    if isinstance(answer.get("edges"), Mapping) and "id" not in answer:
        expanded = reader.subgraph(answer)
    elif "id" in answer:
        expanded = reader.entity(answer)
    elif isinstance(answer.get("entity_types"), Mapping):
        expanded = reader.schema(answer)
    elif isinstance(answer.get("result"), Mapping):
        expanded = reader.entities(answer)
    else:
        expanded = reader.search(answer)
    labels = {**answer.get("labels", {}), **reader.labels}
    return {**expanded, "labels": dict(sorted(labels.items()))} if labels else expanded


def combined(assertions: Sequence[Json]) -> Json:
    """Return what several assertions about one edge say together."""
    first = assertions[0].get("confidence")
    sources = {source for assertion in assertions for source in assertion.get(SOURCES, ())}
    said: Json = {}
    if all(assertion.get("negated") for assertion in assertions):
        said["negated"] = True
    if first is not None and all(assertion.get("confidence") == first for assertion in assertions):
        said["confidence"] = first
    if sources:
        said[SOURCES] = sorted(sources)
    return said


class _Reader:
    """Reads one answer.

    Attributes:
        labels: The names that stood behind IDs of types, predicates and nodes of other pages, by ID.
    """

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}
        self._named: dict[str, str] = {}

    def subgraph(self, answer: Mapping[str, Any]) -> Json:
        """Return a traversal with lists of nodes and edges."""
        listed = list(self._entries(answer.get("nodes", {}), answer.get(NODE_COLUMNS, ())))
        listed += [{**node, ON_THE_WAY: True} for node in self._entries(answer.get(ON_THE_WAY, {}))]
        columns = answer.get("evidence_columns", ())
        steps = _first_steps(answer["edges"])
        within = frozenset(_folded_ids(answer["edges"])).union(node["id"] for node in listed)
        # What stands in rows is told there.
        others = () if "rows" in answer else (name_id for name_id in steps if name_id not in within)
        inside = [name_id for name_id in others if name_id != answer.get(CONTINUED)]
        # One relation of one seed tells nothing else; on its first page the seed is a node of it.
        if "node_count" not in answer and answer.get("page", FIRST).startswith(FIRST):
            inside = list(dict.fromkeys([*(text.partition(" ")[0] for text in answer["edges"]), *inside]))
        ids, folded = within.union(inside), list[Json]()
        edges = [_edge(ends, evidence, columns) for ends, evidence in self._adjacent(answer["edges"], ids, folded)]
        types = self._types(answer.get(TYPES, {}))
        nodes = [*listed, *(self._in_edges(name_id, steps.get(name_id), types) for name_id in inside), *folded]
        for node in nodes:
            if node["id"] in answer.get("via", {}):
                node["via"] = [path.split(" ") for path in answer["via"][node["id"]]]
        own = {"via", NODE_COLUMNS, ON_THE_WAY, "evidence_columns", CONTINUED, TYPES}
        left = {key: value for key, value in answer.items() if key not in own}
        if "schema_summary" in left:
            left["schema_summary"] = {
                key: [self._id(text) for text in value] if isinstance(value, list) else value
                for key, value in answer["schema_summary"].items()
            }
        # One relation that is all on one page is not counted.
        counts = {} if "page" in left else {"node_count": len(nodes), "edge_count": len(edges)}
        return {**counts, **left, "nodes": nodes, "edges": edges}

    def _types(self, said: Any) -> Any:
        """Return the type of all nodes that stand in edges, or those by predicate below which all have one."""
        if isinstance(said, str):
            return self._id(said)
        types: dict[str, str] = {}
        for step, of_step in said.items():
            if isinstance(of_step, str):
                types[step] = self._id(of_step)
            else:
                for text in of_step:
                    self._id(text)
        return types

    def _in_edges(self, name_id: str, step: str | None, types: Any) -> Json:
        """Return a node that stands only where edges lead to it; without a type, where its list has several."""
        entity_type = types if isinstance(types, str) else types.get(step)
        name = self.labels.pop(name_id, None)
        return {
            "id": name_id,
            **({} if entity_type is None else {"entity_type": entity_type}),
            **({} if name is None else {"name": name}),
        }

    def entity(self, answer: Mapping[str, Any]) -> Json:
        """Return one entity, with a count before what each relation leads to."""
        types = {"types": list(map(self._id, answer["types"]))} if "types" in answer else {}
        edges = {"edges": self._survey(answer["edges"])} if "edges" in answer else {}
        return {**answer, "entity_type": self._id(answer["entity_type"]), **types, **edges}

    def _survey(self, rows: Mapping[str, Any]) -> Json:
        """Return what could be followed from an entity, with each name behind its ID again."""
        expanded: Json = {}
        for key, said in rows.items():
            mark = next((one for one in (BOTH_WAYS, INCOMING) if key.startswith(one)), "")
            listed = _listed(said)
            if isinstance(listed[0], str) and not listed[0].startswith(_AT_LEAST):
                listed = [len(listed), *listed]
            row = [listed[0], *map(self._again, listed[1:])]
            predicate = self._again(key[len(mark) :])
            for sign in ("", INCOMING) if mark == BOTH_WAYS else (mark,):
                expanded[f"{sign}{predicate}"] = row
        return expanded

    def _again(self, text: str) -> str:
        """Return an ID with the name that stands where the answer has it first."""
        return self._named.setdefault(text.partition(" ")[0], text)

    def entities(self, answer: Mapping[str, Any]) -> Json:
        """Return entities with their IRIs, which follow from the prefixes, and their edges beside the metadata."""
        prefixes = answer.get("prefixes", {})
        entities = []
        for entity in self._entries(answer["result"]):
            beside = {key: entity["metadata"].pop(key) for key in _BESIDE if key in entity["metadata"]}
            if "edges" in beside:
                beside["edges"] = self._survey(beside["edges"])
            iri = {} if entity["id"].startswith((BLANK, "(")) else {"iri": _iri(entity["id"], prefixes)}
            entities.append({**entity, **beside, **iri})
        left = {key: value for key, value in answer.items() if key != "prefixes"}
        coined = {name: namespace for name, namespace in prefixes.items() if _COINED.fullmatch(name)}
        return {"not_found": [], **left, **({"prefixes": coined} if coined else {}), "result": entities}

    def schema(self, answer: Mapping[str, Any]) -> Json:
        """Return a schema with lists of IDs, and counts by ID."""
        counts: dict[str, int] = {}
        lists: dict[str, list[str]] = {}
        for key in ("entity_types", "predicates"):
            listed = {self._id(text): count for text, count in answer[key].items()}
            lists[key] = list(listed)
            counts |= {name_id: count for name_id, count in listed.items() if count != _NO_COUNT}
        totals = {f"{key}_total": answer.get(f"{key}_total", len(listed)) for key, listed in lists.items()}
        by_id = {key: self._by_id(answer[key]) for key in ("values", "shapes") if key in answer}
        for iri, shape in by_id.get("shapes", {}).items():
            by_id["shapes"][iri] = {**shape, "predicates": self._by_id(shape["predicates"])}
        return {**answer, **lists, **totals, **by_id, "counts": counts}

    def _by_id(self, said: Mapping[str, Any]) -> Json:
        """Return what is said of IDs, without the names behind them."""
        found: Json = {}
        for text, value in said.items():
            is_incoming = text.startswith(INCOMING)
            found[f"{INCOMING * is_incoming}{self._id(text[is_incoming:])}"] = value
        return found

    def search(self, answer: Mapping[str, Any]) -> Json:
        """Return hits as objects, also those of each of several queries."""
        rows = {key: answer[key] for key in ("result", "guesses", "by_meaning") if _has_rows(answer.get(key))}
        queries = {"queries": [self.search(one) for one in answer["queries"]]} if "queries" in answer else {}
        return {**answer, **{key: [self._hit(row) for row in listed] for key, listed in rows.items()}, **queries}

    def _hit(self, row: Sequence[Any]) -> Json:
        """Return a hit of a search."""
        text, entity_type, *others = row
        said = dict(zip(("match", "edges", "description", "matched", "differs"), others, strict=False))
        known = {key: value for key, value in said.items() if value is not None}
        if not isinstance(known["match"], str):
            known = {**known, "match": "meaning", "score": known["match"]}
        return {**_identity(text, self._id(entity_type)), **_name(text), **known}

    def _id(self, text: str) -> str:
        """Return the ID with which a text begins, and remember the name behind it."""
        name_id, blank, name = text.partition(" ")
        if blank:
            self.labels[name_id] = name
        return name_id

    def _entries(self, by_type: Mapping[str, Sequence[Any]], columns: Sequence[str] = ()) -> Iterator[Json]:
        """Yield nodes or entities as objects: what carries metadata has its name in it."""
        for key, entries in by_type.items():
            entity_type = self._id(key)
            for entry in entries:
                if isinstance(entry, str):
                    yield {**_identity(entry, entity_type), **_name(entry)}
                    continue
                for text, said in entry.items():
                    metadata = {**_name(text), **(_cells(said, columns) if isinstance(said, list) else said)}
                    self._read_types(metadata, entity_type)
                    yield {**_identity(text, entity_type), "metadata": metadata}

    def _read_types(self, metadata: Json, entity_type: str) -> None:
        if OTHER_TYPES in metadata:
            others = [self._id(name) for name in metadata.pop(OTHER_TYPES)]
            metadata["types"] = sorted([entity_type, *others])

    def _adjacent(
        self, edges: Mapping[str, Mapping[str, Any]], ids: frozenset[str], folded: list[Json]
    ) -> Iterator[tuple[_Edge, Any]]:
        """Yield each edge with its evidence, which is None where there is none; add nodes within edges to `folded`."""
        for key, by_predicate in edges.items():
            node = self._id(key)
            for step, others in by_predicate.items():
                mark = next((one for one in (BOTH_WAYS, INCOMING, OUTGOING) if step.startswith(one)), "")
                predicate = self._id(step[len(mark) :])
                for other in _listed(others):
                    inner: Mapping[str, Any] = {}
                    if isinstance(other, str):
                        ends = [(other, None)]
                    elif BLANK_ID in other:
                        ends = [(other[BLANK_ID].partition(" ")[0], other.get(BLANK_EVIDENCE))]
                        inner = self._folded(other, f"({predicate})", ids, folded)
                    else:
                        ends = list(other.items())
                    for text, evidence in ends:
                        name_id = self._id(text)
                        if mark in {INCOMING, BOTH_WAYS}:
                            yield (name_id, predicate, node), evidence
                        if mark != INCOMING:
                            yield (node, predicate, name_id), evidence
                        yield from self._adjacent({name_id: inner} if inner else {}, ids, folded)

    def _folded(
        self, said: Mapping[str, Any], implied: str, ids: frozenset[str], folded: list[Json]
    ) -> Mapping[str, Any]:
        """Add a node within an edge to `folded`, and return its own edges."""
        text, entity_type = said[BLANK_ID], self._id(said.get(BLANK_TYPE, implied))
        left = {key: value for key, value in said.items() if key not in {BLANK_ID, BLANK_TYPE, BLANK_EVIDENCE}}
        edges = {key: value for key, value in left.items() if key != BEYOND and is_among(value, ids)}
        metadata = {**_name(text), **{key: value for key, value in left.items() if key not in edges}}
        self._read_types(metadata, entity_type)
        folded.append({**_identity(text, entity_type), "metadata": metadata})
        return edges


def is_among(value: Any, ids: frozenset[str]) -> bool:
    """Return whether a value under a predicate of a node within an edge is the other end of an edge, or several."""
    return any(
        one.partition(" ")[0] in ids
        if isinstance(one, str)
        else isinstance(one, Mapping) and (BLANK_ID in one or any(key.partition(" ")[0] in ids for key in one))
        for one in _listed(value)
    )


def _first_steps(edges: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the predicate below which each node that is no node within an edge stands first, by ID."""
    steps: dict[str, str] = {}
    for by_predicate in edges.values():
        for step, others in by_predicate.items():
            for other in _listed(others):
                texts = [other] if isinstance(other, str) else () if BLANK_ID in other else other
                for text in texts:
                    steps.setdefault(text.partition(" ")[0], step.partition(" ")[0])
    return steps


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _folded_ids(edges: Any) -> Iterator[str]:
    """Yield the IDs of the nodes within edges."""
    if isinstance(edges, list):
        for one in edges:
            yield from _folded_ids(one)
    elif isinstance(edges, Mapping):
        if BLANK_ID in edges:
            yield edges[BLANK_ID].partition(" ")[0]
        for key, value in edges.items():
            if key not in {BEYOND, BLANK_EVIDENCE}:
                yield from _folded_ids(value)


def _identity(text: str, entity_type: str) -> Json:
    return {"id": text.partition(" ")[0], "entity_type": entity_type}


def _name(text: str) -> Json:
    _, blank, name = text.partition(" ")
    return {"name": name} if blank else {}


def _edge(ends: _Edge, evidence: Any, columns: Sequence[str]) -> Json:
    edge: Json = dict(zip(("subject", "predicate", "object"), ends, strict=True))
    if evidence is not None:
        edge["metadata"] = _evidence(evidence, columns)
    return edge


def _evidence(evidence: Any, columns: Sequence[str]) -> Json:
    """Return the metadata of an edge: a row is one assertion, a list of rows several."""
    if isinstance(evidence, Mapping) and "assertions" in evidence:
        rows = [_assertion(row, columns) for row in evidence["assertions"]]
        return {**_assertion(evidence["combined"], columns), "assertions": rows}
    if isinstance(evidence, Mapping) or (columns and not (evidence and isinstance(evidence[0], list))):
        return _assertion(evidence, columns)
    rows = [_assertion(row, columns) for row in evidence]
    return rows[0] if len(rows) == 1 else {**combined(rows), "assertions": rows}


def _assertion(row: Any, columns: Sequence[str]) -> Json:
    """Return an assertion; without columns, a row is one already."""
    if isinstance(row, Mapping):
        return dict(row)
    assertion = _cells(row, columns)
    if not isinstance(sources := assertion.get(SOURCES, []), list):
        assertion[SOURCES] = [sources]
    return assertion


def _cells(row: Sequence[Any], columns: Sequence[str]) -> Json:
    """Return what the cells of a row say by column; those that are empty say nothing."""
    said = {column: cell for column, cell in zip(columns, row, strict=False) if cell is not None}
    others: Json = said.pop(OTHER, {})
    return said | others


def _iri(name_id: str, prefixes: Mapping[str, str]) -> str:
    prefix, _, local = name_id.partition(":")
    return prefixes[prefix] + local if prefix in prefixes else name_id.removeprefix("<").removesuffix(">")


def _has_rows(listed: object) -> bool:
    return isinstance(listed, list) and all(isinstance(entry, list) for entry in listed)
