"""What is shown of blank nodes as values: the content of those that are no nodes, and what nodes say, as rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from gateway.graph.call import Call
from gateway.graph.values import WHOLE, BlankNode, Description, Iri, Mark, Properties, Value
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.blank_contents import Content, ContentReader, Triple
from gateway.sparql.blank_keys import by_key
from gateway.sparql.client import SparqlClient
from gateway.sparql.table import BlankTerm, IriTerm, Table, Term, UnexpectedRows, iri, value
from gateway.terms.iri import MAX_IRI, REACHED_BY, REIFICATION

_LONGEST = MAX_IRI - len(REACHED_BY)
"""Characters of a predicate that can be a type."""


def said_by(contents: Mapping[Iri, Content], types: Sequence[Iri] = ()) -> Table:
    """Return what nodes say as rows of ?n, ?p and ?v.

    Args:
        contents: What each says.
        types: The predicates of types; an untyped node has those that lead to it for types then.
    """
    rows: list[tuple[Iri, Iri, Term]] = []
    for node, content in contents.items():
        rows += ((node, predicate, end) for predicate, end in content.says)
        if types and not any(predicate in types and isinstance(end, IriTerm) for predicate, end in content.says):
            leading = dict.fromkeys(predicate for predicate, _ in content.said if len(predicate) <= _LONGEST)
            rows += ((node, types[0], IriTerm(f"{REACHED_BY}{predicate}")) for predicate in leading)
    return Table(
        len(rows),
        {"v": [end for _, _, end in rows]},
        {"n": [node for node, _, _ in rows], "p": [p for _, p, _ in rows]},
    )


@dataclass(frozen=True, slots=True)
class _Values:
    """The blank nodes to which a node leads, by predicate, as far as the mark says."""

    said: tuple[Triple, ...] = ()
    mark: Mark = WHOLE


class BlankValues:
    """Reads the content of blank nodes that are no nodes.

    Args:
        client: Sends the queries.
        batch: Nodes in one query.
    """

    def __init__(self, client: SparqlClient, batch: int) -> None:
        self._client = client
        self._batch = batch

    async def without_nodes(
        self, described: Mapping[Iri, Description], reader: ContentReader, call: Call
    ) -> Mapping[Iri, Description]:
        """Return descriptions of nodes with an IRI in which no blank node that is a node stands as a value."""
        beside = [node for node, one in described.items() if any(map(_has_blank, one.properties.values()))]
        if not beside:
            return {}
        query = BatchedQuery[Iri, _Values](
            self._client, "blank_nodes/values", self._batch, lambda batch: {"nodes": batch}, _read_values
        )
        found = {node: one.said for node, one in (await query.run(beside, call)).items() if one.mark.whole}
        return await self._with(found, {node: _without_blank(described[node]) for node in found}, reader, call)

    async def with_values(
        self,
        described: Mapping[Iri, Description],
        contents: Mapping[Iri, Content],
        reader: ContentReader,
        call: Call,
    ) -> Mapping[Iri, Description]:
        """Return descriptions of blank nodes with the content of those to which they lead that are no nodes."""
        said = {
            node: tuple(triple for triple in content.says if isinstance(triple[1], BlankTerm))
            for node, content in contents.items()
        }
        return await self._with({node: triples for node, triples in said.items() if triples}, described, reader, call)

    async def _with(
        self,
        said: Mapping[Iri, Sequence[Triple]],
        described: Mapping[Iri, Description],
        reader: ContentReader,
        call: Call,
    ) -> Mapping[Iri, Description]:
        keys = [end.value for triples in said.values() for _, end in triples if isinstance(end, BlankTerm)]
        ids = await reader.ids(keys, call)
        values = [key for key in dict.fromkeys(keys) if key not in ids]
        known = await reader.read(values, call)
        inner = (end for key in values for _, end in known[key].says)
        known = await reader.read([end.value for end in inner if isinstance(end, BlankTerm)], call)
        found: dict[Iri, Description] = dict(described)
        for node, triples in said.items():
            properties: dict[Iri, tuple[Value, ...]] = {**described[node].properties}
            for predicate, end in triples:
                if isinstance(end, BlankTerm) and end.value not in ids and predicate not in REIFICATION:
                    content = _content(known[end.value], known, levels=1)
                    properties[predicate] = (*properties.get(predicate, ()), content)
            found[node] = replace(described[node], properties=properties)
        return found


def _content(content: Content, known: Mapping[Iri, Content], levels: int) -> BlankNode:
    """Return what a blank node says, with that of the blank nodes to which it leads."""
    said: defaultdict[Iri, dict[Value, None]] = defaultdict(dict)
    nested: defaultdict[Iri, list[Value]] = defaultdict(list)
    is_cut = not content.mark.whole
    for predicate, end in content.says:
        if not isinstance(end, BlankTerm):
            if (single := value(end)) is not None:
                said[predicate][single] = None
        elif levels:
            nested[predicate].append(_content(known[end.value], known, levels - 1))
        else:
            is_cut = True
    properties: Properties = {
        predicate: (*said.get(predicate, ()), *nested.get(predicate, ())) for predicate in chain(said, nested)
    }
    return BlankNode(properties, cut=is_cut)


def _has_blank(values: Iterable[Value]) -> bool:
    return any(isinstance(one, BlankNode) for one in values)


def _without_blank(described: Description) -> Description:
    return replace(described, properties=dict(_others(described.properties)))


def _others(properties: Properties) -> Iterator[tuple[Iri, tuple[Value, ...]]]:
    for predicate, values in properties.items():
        others = tuple(one for one in values if not isinstance(one, BlankNode))
        if others:
            yield predicate, others


def _read_values(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, _Values]:
    found: dict[Iri, dict[Triple, None]] = {node: {} for node in batch}
    for node, predicate, end in zip(iri("n")(rows), iri("p")(rows), by_key(rows, "v"), strict=True):
        if not isinstance(end, BlankTerm):
            raise UnexpectedRows
        found[node][predicate, end] = None
    return {node: _Values(tuple(said), mark) for node, said in found.items()}
