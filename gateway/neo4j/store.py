"""Labels, relationships and properties of Neo4j as a graph: the store of one, in its dialect."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import cast

from gateway.databases.client import DatabaseClient, Remembered, Row, only_row
from gateway.databases.edges import Rule
from gateway.databases.store import DatabaseStore
from gateway.databases.terms import IriMapping
from gateway.errors import ConfigurationError, EndpointFault, quoted
from gateway.graph.call import Call
from gateway.neo4j.connection import Address, DriverPool
from gateway.neo4j.cypher import filled, identifier, identifiers
from gateway.settings.databases import Neo4jSettings, NodesInNeo4j, name_problem
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Clock
from gateway.terms.literals import Literal
from gateway.terms.name_predicates import likely_name_predicate, named_predicates
from gateway.terms.names import is_word

SAMPLED_NODES = 20
"""Nodes of each label whose texts are looked at."""

SAMPLED_TEXTS = 20_000
"""Texts of these that are looked at, at most."""

_MOST = 10
"""Properties of names, and of synonyms, that are found at most: each makes every query longer."""


@dataclass(frozen=True, slots=True)
class NameProperties:
    """The properties that are names.

    Attributes:
        names: Those of display names, the best first.
        synonyms: Those of further names.
    """

    names: tuple[str, ...]
    synonyms: tuple[str, ...]

    @classmethod
    def of_profile(cls, nodes: NodesInNeo4j) -> NameProperties:
        """Return those that the profile names, or that are usual."""
        return cls(nodes.names, tuple(filter(None, [nodes.synonyms])))

    @property
    def all(self) -> list[str]:
        """Both, the names first."""
        return list(dict.fromkeys((*self.names, *self.synonyms)))


def are_found(nodes: NodesInNeo4j) -> bool:
    """Return whether the properties of names are found out, because the profile names none."""
    return "names" not in nodes.model_fields_set


def not_names(nodes: NodesInNeo4j) -> list[str]:
    """Return the properties that mean something else."""
    return list(filter(None, (nodes.id, nodes.properties, *nodes.left_out)))


def found_among(nodes: NodesInNeo4j, rows: Iterable[Row]) -> NameProperties:
    """Return the properties of names: the usual ones, and those of a sample that are called so.

    Args:
        nodes: Says which properties are usual.
        rows: The ID of a node, a property and a text of it, as `sampled_texts.cypher` gives them.
    """
    usual = NameProperties.of_profile(nodes)
    texts = [(str(node), str(key), Literal(str(text))) for node, key, text in rows if not name_problem(str(key))]
    values: dict[str, list[Literal]] = defaultdict(list)
    for _, key, text in texts:
        values[key].append(text)
    names, synonyms = named_predicates(values, {}, usual.all)
    if not names:
        names = likely_name_predicate(texts, usual.names, usual.synonyms)
        synonyms = tuple(one for one in synonyms if one not in names)
    return NameProperties((*usual.names, *names[:_MOST]), (*usual.synonyms, *synonyms[:_MOST]))


MOST_INDEXES = 1_000
"""Full-text indexes that are looked at."""


@dataclass(frozen=True, slots=True)
class FullTextIndex:
    """A full-text index of the names of nodes.

    Attributes:
        name: Its name.
        has_all: Whether it is of every label that is read, and of every property with names.
    """

    name: str
    has_all: bool


def best_index(rows: Iterable[Row], labels: Sequence[str], properties: Sequence[str]) -> FullTextIndex | None:
    """Return the index that has the most of the names; None if no index has any of them.

    Args:
        rows: The indexes, as `full_text_indexes.cypher` gives them.
        labels: The labels that are read.
        properties: The properties that are names.
    """
    found: list[tuple[int, int, str]] = []
    for name, of, on in rows:
        known_labels = len({*labels} & {*cast("Sequence[str]", of)})
        known_properties = len({*properties} & {*cast("Sequence[str]", on)})
        if known_labels and known_properties:
            found.append((-known_labels, -known_properties, str(name)))
    if not found:
        return None
    less_labels, less_properties, name = min(found)
    return FullTextIndex(name, has_all=(-less_labels, -less_properties) == (len({*labels}), len(properties)))


def lucene_query(words: Sequence[str], *, every: bool, whole: bool = False) -> str:
    """Return what finds names that have words beginning with these, or the words as a whole: all of them, or any.

    A word of Chinese is several to the index, so that it is also asked for as a whole, which the index splits
    (Lucene, classic query parser).

    Raises:
        ValueError: One of them is not a word, and could be an operator.
    """
    if not all(map(is_word, words)):
        raise ValueError("a word has letters, digits and marks only")
    # Operators of the syntax are in capitals.
    each = [word if whole else f"({word} {word}*)" for word in map(str.lower, words)]
    return " ".join(f"+{one}" for one in each) if every else " ".join(each)


MOST_LABELS = 200
"""Labels that are looked up; a graph of more names those that it reads."""


@dataclass(frozen=True)
class GraphModel:
    """The labels and properties of one graph.

    Args:
        settings: The section of the profile.
        labels: The labels of its nodes.
        found: The properties that are names; those of the settings where they are not given.

    Raises:
        ConfigurationError: There are no labels, or a name cannot stand in a query.
    """

    settings: Neo4jSettings
    labels: Sequence[str]
    found: NameProperties | None = None

    def __post_init__(self) -> None:
        """Check that a node can be asked for."""
        if not self.labels:
            raise ConfigurationError(
                "The database has no labels, so that no node of it can be read.",
                valid="A node has a label, and a text as its ID.",
                next_step="Name another database, or load a graph into this one.",
            )
        self._texts()

    @property
    def names(self) -> NameProperties:
        """The properties that are names."""
        return self.found or NameProperties.of_profile(self.settings.nodes)

    def query(self, name: str) -> str:
        """Return a query over this graph."""
        return _query(name, *self._texts().items())

    def _texts(self) -> dict[str, str]:
        nodes, edges = self.settings.nodes, self.settings.edges
        no_types = ", ".join(f"{identifier(label)}: 0" for label in nodes.no_types)
        node_id, types = identifier(nodes.id), filled("parts/types", no_types=no_types)
        names, synonyms = _texts_of(self.names.names), _texts_of(self.names.synonyms)
        return {
            "labels": identifiers(self.labels, "|"),
            "id": node_id,
            "names": names,
            "synonyms": synonyms,
            "types": types,
            "matching": filled("parts/matching", id=node_id, names=names, synonyms=synonyms, types=types),
            "some_nodes": " UNION ALL ".join(
                filled("parts/some_nodes", label=identifier(label), id=node_id) for label in self.labels
            ),
            "rule": filled("parts/rule", id=node_id),
            "size_of_n": filled("parts/size", of="n"),
            "size_of_r": filled("parts/size", of="r"),
            "json_of_n": _property("n", nodes.properties),
            "json_of_r": _property("r", edges.properties),
            "without_of_n": _without(not_names(nodes), self.names.all),
            "without_of_r": _without([edges.properties, *edges.left_out]),
        }


@cache
def _query(name: str, *texts: tuple[str, str]) -> str:
    return filled(name, **dict(texts))


def _property(owner: str, name: str) -> str:
    return f"{owner}.{identifier(name)}" if name else "null"


def _values_of(names: Iterable[str]) -> str:
    """Return the list of all values of some properties of a node, each of which may be a list."""
    return " + ".join(f"coalesce([] + n.{identifier(name)}, [])" for name in names) or "[]"


def _texts_of(names: Iterable[str]) -> str:
    return filled("parts/texts", values=_values_of(names))


def _without(names: Iterable[str], with_names: Iterable[str] = ()) -> str:
    """Return the end of a map of all properties by which some are null, and those whose values all are names."""
    left_out = dict.fromkeys(map(identifier, filter(None, names)), "null")
    shown = {
        identifier(name): filled(
            "parts/not_only_names", texts=_texts_of([name]), values=_values_of([name]), property=identifier(name)
        )
        for name in with_names
    }
    return "".join(f", {name}: {value}" for name, value in {**shown, **left_out}.items())


_log = logging.getLogger(__name__)

_IDS = 1_000
"""IDs that are looked at to see whether they are texts."""


class Neo4jClient(DatabaseClient):
    """Sends the queries of `queries/neo4j/` to one database.

    Args:
        pool: The connections.
        settings: Its section about the graph.
        profile: The profile, which says how long labels and indexes are used before they are looked up again.
        prefixes: Namespaces by prefix, for CURIEs.
        clock: A monotonic clock, in seconds.
    """

    def __init__(
        self, pool: DriverPool, settings: Neo4jSettings, profile: Profile, prefixes: Mapping[str, str], clock: Clock
    ) -> None:
        ids, terms = (IriMapping(base, prefixes) for base in (settings.base, settings.vocabulary))
        super().__init__(pool, profile, ids, terms, alive=filled("alive"), clock=clock)
        seconds = profile.cache.ttl_seconds
        self._settings = settings
        self._model: Remembered[GraphModel] = Remembered(seconds, clock)
        self._index: Remembered[FullTextIndex | None] = Remembered(seconds, clock)
        self._has_warned = False

    async def query(self, name: str, call: Call) -> str:
        """Return a query over the labels and properties; see `DatabaseClient.query`."""
        return (await self.model(call)).query(name)

    async def model(self, call: Call) -> GraphModel:
        """Return what the graph is made of, which is looked up once in a while.

        Raises:
            Fault: The database could not be asked, or has no node that can be asked for.
        """
        return await self._model.found(partial(self._looked_up, call))

    async def _looked_up(self, call: Call) -> GraphModel:
        try:
            model = GraphModel(self._settings, self._settings.nodes.labels or await self._labels(call))
            if are_found(self._settings.nodes):
                model = await self._with_names(model, call)
        except ConfigurationError as error:
            raise EndpointFault(error.wrong, valid=error.valid, next_step=error.next_step) from error
        await self._check_ids(model, call)
        return model

    async def _with_names(self, model: GraphModel, call: Call) -> GraphModel:
        given = [not_names(self._settings.nodes), SAMPLED_NODES]
        rows = await self._fetched("sampled_texts", model.query("sampled_texts"), given, SAMPLED_TEXTS, call)
        return replace(model, found=found_among(self._settings.nodes, rows))

    async def _labels(self, call: Call) -> list[str]:
        rows = await self._fetched("labels", filled("labels"), [], MOST_LABELS + 1, call)
        if len(rows) > MOST_LABELS:
            raise EndpointFault(
                f"The database has more than {MOST_LABELS} labels.",
                next_step="The operator of this gateway should name those of the graph as neo4j.nodes.labels.",
            )
        return sorted(str(label) for (label,) in rows)

    async def _check_ids(self, model: GraphModel, call: Call) -> None:
        """Raise a fault if no node has a text as its ID: the graph would look as if it were empty."""
        found, texts = only_row(await self._fetched("sample_ids", model.query("sample_ids"), [_IDS], 1, call))
        if texts < found and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "of %d nodes with an ID, %d have none that is a text: these and their edges are not in the graph",
                found,
                found - texts,
            )
        if not texts:
            name = quoted(self._settings.nodes.id)
            wrong = f"has no text in the property {name}" if found else f"has the property {name}"
            raise EndpointFault(
                f"No node that is read {wrong}, which is its ID.",
                valid="The profile names the labels and the ID of nodes as neo4j.nodes.labels and neo4j.nodes.id.",
                next_step="The operator of this gateway should correct it.",
            )

    async def parameters(
        self, words: Sequence[str], call: Call, *, every: bool, whole: bool, at_most: int
    ) -> Sequence[object]:
        """Return what asks the full-text index, which is looked up once in a while; see `NameIndex`."""
        index = await self._index.found(partial(self._index_if_large, call))
        return () if index is None else (index.name, lucene_query(words, every=every, whole=whole), at_most)

    async def _index_if_large(self, call: Call) -> FullTextIndex | None:
        """Return the index that a search asks; None if there is none, or comparing all names takes no longer."""
        (nodes,) = only_row(await self._fetched("node_count", filled("node_count"), [], 1, call))
        if nodes <= self._settings.nodes.full_text_above:
            return None
        model = await self.model(call)
        rows = await self._fetched("full_text_indexes", filled("full_text_indexes"), [], MOST_INDEXES, call)
        return best_index(rows, model.labels, model.names.all)

    def forget(self) -> None:
        """Look up the labels and the indexes again with the next question."""
        self._model.forget()
        self._index.forget()


class Neo4jStore(DatabaseStore):
    """A graph in a database of Neo4j, whose CURIEs are read by these prefixes; see `DatabaseStore`."""

    def __init__(
        self,
        address: Address,
        settings: Neo4jSettings,
        profile: Profile,
        prefixes: Mapping[str, str],
        *,
        clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,
    ) -> None:
        pool = DriverPool(address, profile.endpoint.requests.concurrency)
        client = Neo4jClient(pool, settings, profile, prefixes, clock)
        super().__init__(client, parameters=_parameters, expression=_expression, index=client, wall_clock=wall_clock)


def _parameters(rule: Rule) -> Sequence[object]:
    """Return the rule for edges as the first parameters of each query about edges."""
    return rule.excepted, rule.allowed, rule.begin, rule.objects


def _expression(pattern: str) -> str:
    """Return a pattern of a search as an expression of Java for a whole text that has it."""
    return f"(?s).*(?:{pattern}).*"
