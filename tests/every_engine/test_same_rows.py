"""Every template gives the same rows on every engine as in this process, over the same files.

This is how an engine shows that answers a query wrongly with status 200 (docs/notes/blazegraph.md).
"""

import asyncio
import functools
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import pyoxigraph
import pytest

from gateway.errors import EndpointFault, Fault, QueryRefused
from gateway.graph.call import Deadline
from gateway.graph.values import ALL_EDGES, EdgeSelection
from gateway.settings.endpoint import Sentinel
from gateway.settings.load import load_profile
from gateway.settings.vocabulary import EdgeSettings
from gateway.sparql import template
from gateway.sparql.engines import TRAITS
from gateway.sparql.evidence import TERMS_OF_EVIDENCE, WAYS
from gateway.sparql.json_rows import decode
from gateway.sparql.rule import EdgeRule, predicate_parameters, selection_parameters
from gateway.sparql.sentinel import END, Place, marker, without_sentinel
from gateway.sparql.table import BlankTerm, IriTerm, LiteralTerm, Table, Term, TripleTerm, literal_of, term
from gateway.sparql.template import Parameter, Template
from gateway.sparql.text_search import INDEXES
from gateway.sparql.tsv_rows import decode_tsv
from gateway.terms.iri import (
    EVIDENCE_MARKERS,
    NAME_PREDICATES,
    NEGATED,
    NO_EDGES,
    OWN,
    RDF_SUBJECT,
    RDF_TYPE,
    RDFS,
    RESTRICTED,
    SYNONYM_PREDICATES,
    is_plain_iri,
)
from gateway.terms.local_names import local_patterns
from gateway.terms.name_predicates import NameWalk
from gateway.terms.names import patterns
from gateway.transport.base import Transport
from gateway.transport.http import Http
from tests.columns import BEHIND_HTTP, Column
from tests.every_engine.test_same_values import AWKWARD, DIFFERENT
from tests.graphs import existing_nodes, read
from tests.tables import Row, rows_of, table

pytestmark = pytest.mark.anyio

GRAPHS = ("medical", "films", "wikidata-slice", "wikibase", "singletons", "associations", "awkward", "random")
ROWS = 8_999
"""Below every row cap, and more than any answer here has."""

SHARED = tuple(graph for graph in GRAPHS if graph not in {"medical", "random"})
TURNS = {"random": (0, 2)} | {graph: (turn, len(SHARED)) for turn, graph in enumerate(SHARED)}
"""Of the questions about a graph, which is the first that a server is asked, and which comes next: all about the
medical graph, every second about the random one, and each about one of the others. It has to plan each anew, which is
most of the time. Templates that only such a graph has rows for are asked all of them."""

AT_A_TIME = {"blazegraph": 4}
"""Queries sent at once where it is not one: Blazegraph mostly waits (docs/notes/blazegraph.md, "Running it")."""

LACKING = {name: {"lateral", "sparql-1.2"} for name in ("virtuoso", "blazegraph", "rdf4j")}
"""Dialects that an engine does not take, and says so."""

ENGINES_OWN = (
    *("check/in_", "check/named_graphs", "check/rdf_1_2", "check/rows", "check/text_", "schema/random_"),
    *("evidence/graphs", "evidence/nanopublications", "policy/terms", "walks/first", "walks/untyped", "figures/"),
    "nameless_",
    "names_all",
    "blank_nodes/",
    "check/imports",
    *(index.template for index in INDEXES.values()),
)
"""Templates that find out how engines differ: what they answer is no graph's content, or any rows will do; those about
named graphs, which this process has not, are asked in `test_evidence_ways.py`. What a policy leaves is asked of engines
that keep one alone, in `tests/policy`: Blazegraph refuses a group without a pattern. What engines make of odd IRIs and
of numbers is compared in `tests/values`, with what each of them holds. Figures are asked of the engines alone that are
known to have them right, in `test_engine_figures.py`. Blank nodes are asked for in the form of each engine, in
`tests/blank_nodes`. Nodes without a name are listed in this process alone. No graph here imports an ontology, as in
`tests/tools/test_vocabularies.py`.
"""

NAMES = [name for name in template.names() if not name.startswith((*ENGINES_OWN, "check/version_of_jena"))]

WALKS = [
    NameWalk(SYNONYM_PREDICATES[0], NAME_PREDICATES[0]).row,
    NameWalk("http://www.w3.org/2008/05/skos-xl#prefLabel", "http://www.w3.org/2008/05/skos-xl#literalForm").row,
]
"""Names one step away, of which no graph here has any; `test_names_one_step_away.py` has one."""

EXPRESSIONS = [NEGATED, RESTRICTED]
"""Predicates that state what class expressions say of edges, of which no graph here has any."""

CODES = [NAME_PREDICATES[0]]
"""Predicates whose values are read as codes."""

OF_ALL = {
    "check/blank_count",
    "check/blank_edges",
    "check/blank_types",
    "check/count",
    "check/count_distinct",
    "check/distinct_triples",
    "check/sample",
    "check/triples",
    "schema/subjects",
    "schema/totals",
    "schema/values",
    "schema/values_of",
    "search/name_count",
    "names_count",
    "names_page",
}
"""Templates about all triples or all names; not compared on the awkward graph, of which no two engines keep just
the same terms.
"""

_IN_ONE_GRAPH = {
    "wikibase": {"blank_content", "evidence/wikibase", "policy/wikibase", "predicate_labels"},
    "wikidata-slice": {"wikibase/value_nodes"},
    "singletons": {"evidence/singletons"},
    "associations": {"evidence/reified"},
    "random": {"schema/declared"},
    "awkward": {"search/blank_names", "search/blank_of_types"},
}
# No graph here has a VoID description.
_IN_MEDICAL = {*NAMES} - {"schema/published"}.union(*_IN_ONE_GRAPH.values())
HAVING_ROWS = {graph: _IN_ONE_GRAPH.get(graph, set()) for graph in GRAPHS} | {"medical": _IN_MEDICAL}
"""Templates that must have rows in a graph, because engines that all answer nothing are not compared."""

TEXTS = {"v": "text", "w": "inner"}
"""Variables of literals, each with that of what `STR()` gives of it."""

Values = Mapping[str, Parameter]
Triple = tuple[str, str, str]
_Other = TypeVar("_Other")

ENDS = ("any_object", "objects")
RULE = tuple(EdgeRule.of(EdgeSettings()).parameters)
_LITERAL_RULE = ("any_predicate", "allowed", "namespaces", *ENDS)
BOTH = tuple(selection_parameters(ALL_EDGES))
WIKIBASE = "http://wikiba.se/ontology#"


@dataclass(frozen=True)
class Sample:
    """What is asked about in one graph.

    Attributes:
        nodes: All IRIs that no engine rewrites, but those whose values an engine is known to change.
        triples: The triples of three such IRIs.
        rules: Edge rules: the default one, and one with an allow-list.
        names: Texts and language tags of some names.
        with_values: The subjects and predicates of dates and decimals.
    """

    nodes: Sequence[str]
    triples: Sequence[Triple]
    rules: Sequence[Values]
    names: Sequence[tuple[str, str]]
    with_values: Sequence[tuple[str, str]]

    @property
    def batches(self) -> list[list[str]]:
        """Several nodes, one, none that exists, and one of either kind."""
        one, none = self.nodes[len(self.nodes) // 2], "https://example.org/no-node"
        return [self.spread(120), [one], [none], [one, none]]

    def spread(self, count: int) -> list[str]:
        """Return about so many nodes, from all over the graph."""
        return list(self.nodes[:: max(1, len(self.nodes) // count)])

    @property
    def ruled(self) -> list[Values]:
        """Each batch under each rule."""
        return [{"nodes": batch, **rule} for batch in self.batches for rule in self.rules]

    @property
    def types(self) -> list[str]:
        """Return two of the types."""
        return sorted({value for _, predicate, value in self.triples if predicate == RDF_TYPE})[:2]

    @property
    def bounded(self) -> list[Values]:
        """Small batches under each rule, with a bound for each node; the larger ones are the two halves of one."""
        spread, (_, *small) = self.spread(15), self.batches
        halves = [spread[at :: len(self.rules)] for at in range(len(self.rules))]
        batches = [*zip(halves, self.rules, strict=True), *itertools.product(small, self.rules)]
        return [{"nodes": batch, "most": 1_000, **rule} for batch, rule in batches]

    @property
    def single(self) -> list[Values]:
        """One node each, under one rule after the other."""
        return [{"node": [node], **rule} for node, rule in self.in_turn(self.rules)]

    @property
    def selections(self) -> list[EdgeSelection]:
        """The most frequent predicates in some directions, and others in the other."""
        often = Counter(predicate for _, predicate, _ in self.triples if predicate != RDF_TYPE).most_common(12)
        first, *others = [predicate for predicate, _ in often]
        return [
            EdgeSelection((first, *others[:1]), (first, *others[1:3])),
            EdgeSelection(incoming=()),
            EdgeSelection((), (first, *others, RDF_TYPE)),
        ]

    def steered(self, questions: Sequence[Values], selected: Sequence[Values] = ()) -> list[Values]:
        """Return the questions about all edges, and the first few of these, or of others, about selected ones."""
        every = selection_parameters(ALL_EDGES)
        steered = zip(selected or questions, map(selection_parameters, self.selections), strict=False)
        return [*({**one, **every} for one in questions), *({**one, **some} for one, some in steered)]

    def outward(self, questions: Sequence[Values]) -> list[Values]:
        """Return the same with predicates of outgoing edges alone."""
        some = [predicate_parameters(selection.outgoing) for selection in self.selections]
        steered = ({**one, **predicates} for one, predicates in zip(questions, some, strict=False))
        return [*({**one, **predicate_parameters(None)} for one in questions), *steered]

    def in_turn(self, others: Sequence[_Other]) -> list[tuple[str, _Other]]:
        """Return some nodes, each with the next of the others: every one comes up as often, in every graph.

        Each node with each of the others would take Blazegraph, which plans for 0.1 s, two minutes longer.
        """
        return list(zip(self.spread(8), itertools.cycle(others), strict=False))


@functools.cache
def sample(file: Path, left_out: frozenset[str]) -> Sample:
    """Read a graph file, and choose."""
    nodes = [iri for iri in existing_nodes(file) if is_plain_iri(iri) and iri not in left_out]
    triples = [
        (quad.subject.value, quad.predicate.value, quad.object.value)
        for quad in read(file)
        if isinstance(quad.subject, pyoxigraph.NamedNode) and isinstance(quad.object, pyoxigraph.NamedNode)
    ]
    plain = [triple for triple in triples if all(map(is_plain_iri, triple))]
    allowing = EdgeSettings(
        allowed=(plain[0][1], "https://example.org/"), objects=(plain[0][2], "https://example.org/d")
    )
    if file.stem == "wikidata-slice":
        allowing = load_profile("wikidata-local").edges
    rules = [EdgeRule.of(edges).parameters for edges in (EdgeSettings(), allowing)]
    return Sample(nodes, plain, rules, _some_names(file), _with_values(file))


def _with_values(file: Path) -> list[tuple[str, str]]:
    """Return the subjects and predicates of dates and decimals."""
    return sorted(
        {
            (quad.subject.value, quad.predicate.value)
            for quad in read(file)
            if isinstance(quad.subject, pyoxigraph.NamedNode)
            and isinstance(quad.object, pyoxigraph.Literal)
            and quad.object.datatype.value.endswith(("#dateTime", "#decimal"))
            and is_plain_iri(quad.subject.value)
            and is_plain_iri(quad.predicate.value)
        }
    )


def _some_names(file: Path) -> list[tuple[str, str]]:
    named = {*NAME_PREDICATES, *SYNONYM_PREDICATES}
    found = {
        (quad.object.value, quad.object.language or ""): None
        for quad in read(file)
        if isinstance(quad.object, pyoxigraph.Literal) and quad.predicate.value in named and not quad.object.direction
    }
    return list(found)[:: max(1, len(found) // 40)]


def questions(there: Sample) -> Mapping[str, Sequence[Values]]:
    """Return for each template the parameters with which it is asked."""
    about: list[Values] = [{"nodes": batch} for batch in there.batches]
    once: list[Values] = [{}]
    # Which edges come is the engine's choice, unless all do; how many there are is not.
    counted: list[Values] = [*there.bounded, *({**one, "most": 2} for one in _every_other(there.bounded[:1]))]
    capped = _with_blank_nodes(there.steered(there.bounded, _every_other(there.bounded)))
    middle = there.triples[len(there.triples) // 2]
    return {**_about_nodes(there, about), **_for_checks(there), **_for_the_schema(there)} | {
        "alive": once,
        "two_rows": once,
        "blank_content": about,
        "degrees": [
            {**_only(values, "nodes", *RULE, *BOTH), "scan": 1_000_000} for values in there.steered(there.bounded)
        ],
        "degrees_each": there.steered(counted, _every_other(there.bounded)),
        "iris_as_read": about,
        "edge_counts": there.steered(there.single),
        "edges": there.steered(there.ruled),
        "edges_between": [{**values, "nodes": there.nodes[:400]} for values in there.outward(there.single)],
        "edges_out": there.outward(there.ruled),
        "edges_page": there.steered(
            [
                {"node": [node], **rule, "after": after}
                for node, (rule, after) in there.in_turn([*itertools.product(there.rules, ([], [middle]))])
            ]
        ),
        "edges_capped": capped,
        **_about_edges(there),
        **_about_values(there),
        "evidence/in_use": [{"expressions": expressions} for expressions in ([], [EXPRESSIONS])],
        "existing": about,
        "subjects": about,
        "lateral/degrees": there.steered(counted, _every_other(there.bounded)),
        "lateral/edges_capped": capped,
        "lateral/probe": once,
        **_about_names(there),
        **_about_walks(there, about),
        "neighbours": there.ruled,
        "policy/wikibase": once,
        "predicate_counts": there.ruled,
        "search/every_word": _searches(there),
        "search/exact": [
            {"predicates": names, "walks": walks, "forms": forms, **_of_types(given)}
            for names, walks in ((NAME_PREDICATES, []), (NAME_PREDICATES[:1], WALKS), (SYNONYM_PREDICATES, []))
            for forms in (there.names, there.names[:1], [("no such name", "")])
            for given in ([], there.types)
        ],
        "search/folded": [
            {
                **_only(values, "predicates", "walks", "codes", "pairs", "typed", "type_predicates", "types"),
                "patterns": patterns(words),
                "names": NAME_PREDICATES,
                "no_edges": there.rules[0]["excepted"],
                "local": local,
                "markers": [],
                "associations": [],
            }
            for words in WORDS
            for values in _searches(there, words)
            for local in ([], local_patterns(words, every=True))
            # Virtuoso refuses names one step away with local names as too long; searches then say what is not compared.
            if not (local and values["walks"])
        ],
        "search/letter_classes": [
            {"pattern": patterns(["bjork"])[0], "matching": ["Bj\u00f6rk", "Bjo\u0308rk"], "others": others}
            for others in ([], ["Bjerk"], ["BJORK"])
        ],
        "search/sample": [{"predicates": names, "most": 5_000} for names in (NAME_PREDICATES, SYNONYM_PREDICATES[:1])],
        "search/name_count": [
            {"predicates": names, "walks": WALKS, "most": most, "triples": triples}
            for names in (NAME_PREDICATES, NAME_PREDICATES[:1], NAME_PREDICATES[-1:], [*NAME_PREDICATES, RDF_TYPE])
            for most, triples in ((1_000_000, 1), (2, 1_000_000))
        ],
        "search/any_word": _searches(there),
        "search/blank_names": [
            {"predicates": NAME_PREDICATES, "walks": WALKS, **_of_types(given)} for given in ([], there.types)
        ],
    }


def _every_other(questions: Sequence[Values]) -> list[Values]:
    """Return questions about every other node: a query has a sub-select for each, and Blazegraph plans it for 0.1 s."""
    nodes = [cast("list[str]", one["nodes"]) for one in questions]
    # Two nodes are one of either kind, and stay together.
    return [{**one, "nodes": some[::2] if len(some) > 2 else some} for one, some in zip(questions, nodes, strict=True)]


def _with_blank_nodes(questions: Sequence[Values]) -> list[Values]:
    """Return questions with triples of blank nodes, and the first two, about fewer nodes, without them."""
    with_them: list[Values] = [{**one, "blank_nodes": True} for one in questions]
    return [*with_them, *({**one, "blank_nodes": False} for one in _every_other(questions[:2]))]


def _about_nodes(there: Sample, about: Sequence[Values]) -> dict[str, Sequence[Values]]:
    labels = [f"{RDFS}label"]
    roles: list[Values] = [{"exact": [], "endings": ["mentions", "confidence"]}, {"exact": labels, "endings": []}]
    excepted: list[Values] = [{"also": []}, {"also": NO_EDGES}]
    predicates = sorted({predicate for _, predicate, _ in there.triples})
    return {
        "types": [{**values, "type": RDF_TYPE} for values in about],
        "facts": [
            {**values, **synonyms, "predicates": [RDF_TYPE, *NAME_PREDICATES], "walks": walks}
            for values in about
            for walks in ([], WALKS)
            for synonyms in _SYNONYMS
        ],
        "identities": [
            {**values, "predicates": [*predicates[:3], *labels], "same_as": same_as}
            for values in about
            for same_as in ([], [predicates[:1]], [predicates[:3]])
        ],
        "literals": [
            {
                **values,
                **also,
                "walks": walks,
                "blank": [True] * bool(walks),
                **_only(rule, "any_predicate", "allowed", "namespaces", *ENDS),
            }
            for values in about
            for also, walks in zip(excepted, ([], WALKS), strict=True)
            for rule in there.rules
        ],
        "mentions": [{**values, **role} for values in about for role in roles],
        "narrower": [{**values, "predicates": [f"{RDFS}subClassOf", RDF_TYPE]} for values in about],
        "predicate_labels": [
            {
                "nodes": predicates,
                "via": [f"{WIKIBASE}directClaim", f"{WIKIBASE}qualifier"],
                "names": labels,
                **synonyms,
            }
            for synonyms in _SYNONYMS
        ],
    }


_SYNONYMS: Sequence[Values] = (
    {"synonyms": [], "languages": []},
    {"synonyms": ["http://www.w3.org/2004/02/skos/core#altLabel"], "languages": ["en", "de"]},
)
"""No synonyms, and those in two languages."""


def _about_edges(there: Sample) -> dict[str, Sequence[Values]]:
    batches: list[Values] = [{"edges": there.triples[:150]}, {"edges": there.triples[:1]}]
    # Not all of them: Virtuoso takes no query of so many IRIs.
    direct = [triple for triple in there.triples if "/prop/direct/" in triple[1]][:300]
    reified = [WAYS[way].parameters for way in ("statements", "oban", "biolink")]
    return {
        "evidence/annotations": [
            {**values, "stated_by": stated_by} for values in batches for stated_by in ([], [RDF_SUBJECT])
        ],
        "evidence/reified": [{**values, **parameters} for values in batches for parameters in reified],
        "evidence/singletons": batches,
        "evidence/wikibase": [{"edges": direct}, *batches] if direct else batches,
    }


def _about_values(there: Sample) -> dict[str, Sequence[Values]]:
    """Ask about dates and numbers of items, statements and references, and about predicates that have none."""
    others = [(subject, predicate) for subject, predicate, _ in there.triples[:50]]
    batches = (there.with_values[:150], there.with_values[:1], others)
    return {"wikibase/value_nodes": [{"pairs": pairs} for pairs in batches if pairs]}


def _about_walks(there: Sample, about: Sequence[Values]) -> dict[str, Sequence[Values]]:
    """Ask along names, whose texts every engine keeps, and edges; numbers only where all engines compare them alike."""
    label, edge = f"{RDFS}label", there.triples[len(there.triples) // 2][1]
    target = there.triples[len(there.triples) // 2][2]
    walks = [
        [("n", label, "v")],
        [("n", edge, "v")],
        [("v", edge, "n")],
        [("n", edge, "a"), ("a", label, "v")],
        [("a", edge, "n"), ("a", edge, "v")],
    ]
    marked: list[Values] = [{"markers": (), "associations": ()}, _only(there.rules[0], "markers", "associations")]
    types: Values = {"types": [RDF_TYPE], "wanted": there.types}
    chosen: Values = dict.fromkeys(
        ("equal", "at_most", "at_least", "since", "before", "matching", "numbers", "infinite", "arrays"), ()
    )
    filters: list[Values] = [
        {},
        {"matching": ["[aA]"]},
        {"equal": [[target]]},
        {"since": ["1950"], "before": ["2000"]},
    ]
    followed: list[Values] = [
        {**values, "steps": steps, "turns": turns, "unmarked": unmarked, "unassociated": ()}
        for values, steps in zip(about, itertools.cycle(walks), strict=False)
        for turns, unmarked in (((), ()), (["n"], (("v", RDF_SUBJECT),)))
    ]
    return {
        "walks/ends": followed,
        "walks/ways": followed,
        "walks/selected": [
            {**chosen, **one, **types, **marks, "steps": steps}
            for one in filters
            for steps in walks[:2]
            for marks in marked
        ],
        "walks/odd_numbers": [{**types, **marks, "steps": walks[0], "numbers": "[aA]"} for marks in marked],
        "walks/count": [
            {**marks, "types": [RDF_TYPE], "wanted": some, "one_of": some}
            for marks in marked
            for some in (there.types, there.types[:1])
        ],
    }


def _about_names(there: Sample) -> dict[str, Sequence[Values]]:
    predicates: list[Values] = [{"predicates": [predicate], "walks": []} for predicate in NAME_PREDICATES]
    predicates += [{"predicates": [], "walks": [walk]} for walk in WALKS]
    middle = there.nodes[len(there.nodes) // 2]
    single: list[Values] = [
        {"node": node, "predicates": [predicate], "walks": []}
        for node in there.spread(8)
        for predicate in NAME_PREDICATES[:2]
    ]
    single += [{"node": node, "predicates": [], "walks": WALKS[:1]} for node in there.spread(4)]
    return {
        "names_count": predicates,
        "names_of": [{**values, "after": after} for values in single for after in ([], ["M"])],
        "names_of_count": single,
        "names_page": [{**values, "after": after} for values in predicates for after in ([], [middle])],
    }


def _for_checks(there: Sample) -> dict[str, Sequence[Values]]:
    single: list[Values] = [{"node": node, **rule} for node, rule in there.in_turn(there.rules)]
    once: list[Values] = [{}]
    counted: list[Values] = [{"most": 1_000_000}, {"most": 10}]
    return {
        "check/blank_edges": [{"own": OWN, **counted[0]}],
        "check/blank_count": [{"own": OWN, **counted[0]}],
        "check/blank_types": [{"own": OWN, "type": RDF_TYPE, **counted[0]}],
        "check/count": once,
        "check/count_distinct": once,
        "check/distinct_triples": counted,
        "check/edges_in": single,
        "check/edges_out": single,
        "check/names": [{"predicates": NAME_PREDICATES}],
        "check/present": [{"triples": [*there.triples[:150], ("urn:a", "urn:b", "urn:c")]}],
        "check/sample": [{**rule} for rule in there.rules],
        "check/stated": once,
        "check/triples": counted,
        "check/types": [{"node": node, "predicates": [RDF_TYPE]} for node in there.spread(8)],
        "check/used": [
            {"predicate": predicate, "most": most} for predicate in (RDF_TYPE, *NAME_PREDICATES[:1]) for most in (1, 5)
        ],
    }


def _for_the_schema(there: Sample) -> dict[str, Sequence[Values]]:
    predicates = sorted({predicate for _, predicate, _ in there.triples})
    types = sorted({value for _, predicate, value in there.triples if predicate == RDF_TYPE})
    everything = {"scan": 1_000_000}
    typed: Values = {"types": [RDF_TYPE]}
    marked = [_only(rule, "markers", "associations") for rule in there.rules]
    ends = [_only(rule, *ENDS) for rule in there.rules]
    between = [_only(rule, "markers", "associations", "singletons", *ENDS) for rule in there.rules]
    in_batches = (predicates[:20], predicates[:1])
    about_edges = ("excepted", "markers", "associations", "singletons", *ENDS)
    return {
        "schema/declared": [{}],
        "schema/ends": [{"predicates": some, "edges": 1_000_000, **end} for end in ends for some in in_batches],
        "schema/leading_to_nodes": [{"predicates": some} for some in in_batches],
        "schema/nameless": [
            {
                **_only(rule, *about_edges),
                "most": 1_000_000,
                "predicates": some,
                "names": NAME_PREDICATES,
                "walks": walks,
                "pairs": pairs,
                "blank_nodes": [],
            }
            for rule in there.rules
            for some in in_batches
            for walks in ([], WALKS)
            for pairs in ([], [tuple(NAME_PREDICATES[:2])])
        ],
        "schema/subjects": [{"skip": 0, "scan": 1_000_000}],
        "schema/annotations": [
            {**everything, "markers": markers, "unsaid": TERMS_OF_EVIDENCE}
            for markers in (EVIDENCE_MARKERS, EVIDENCE_MARKERS[1:])
        ],
        "schema/pointed_to": [{**_only(rule, *about_edges), **everything, "least": 2} for rule in there.rules],
        "schema/used_names": [{"predicates": NAME_PREDICATES, "walks": walks} for walks in ([], WALKS)],
        "schema/edges": [
            {**_only(rule, *about_edges), **everything, "predicates": some}
            for rule in there.rules
            for some in (predicates, predicates[:1])
        ],
        "schema/nodes_of": [
            {**marks, **typed, **everything, "wanted": some} for marks in marked for some in (types[:50], types[:1])
        ],
        "search/blank_of_types": [{**marks, **typed, "wanted": types[:50]} for marks in marked],
        "search/of_types": [{**marks, **typed, "wanted": some} for marks in marked for some in (types[:50], types[:1])],
        "schema/of_classes": [{**typed, "classes": types[:3], "nodes": 1_000_000, **end} for end in ends],
        "schema/published": [{}],
        "schema/sample": [{**typed, "skip": 0, **everything, **rule} for rule in between],
        "schema/totals": [everything],
        "schema/type_totals": [{**typed, **everything}],
        "schema/types": [{**marks, **typed, **everything} for marks in marked],
        "schema/values": [
            {**marks, **everything, "by_datatype": by_datatype, "with_blank": with_blank}
            for marks in marked
            for by_datatype, with_blank in ((True, False), (False, True))
        ],
        "schema/values_of": [
            {**marks, **everything, "values": 1_000_000, "predicates": some, "with_blank": with_blank}
            for marks, with_blank in zip(marked, (False, True), strict=False)
            for some in (NAME_PREDICATES, sorted({predicate for _, predicate in there.with_values}) or [RDF_TYPE])
        ],
        "schema/used_types": [{**typed, "wanted": types[:20], "nodes": 1_000_000}],
        "schema/without_evidence": [{"nodes": batch, **marks} for batch in there.batches for marks in marked],
    }


def _only(values: Values, *names: str) -> dict[str, Parameter]:
    return {name: values[name] for name in names}


WORDS = (["a"], ["in", "a"], ["no such word"])


def _beside(walks: Sequence[tuple[str, ...]], codes: Sequence[str]) -> Values:
    # Joined names are compared in `test_joined_names.py`: Virtuoso refuses the query as too long.
    return {"walks": walks, "codes": codes, "pairs": [], "typed": "insulin"}


def _searches(there: Sample, *given_words: Sequence[str]) -> list[Values]:
    return [
        {"predicates": names, **_beside(walks, codes), "words": words, **_of_types(given)}
        for names, walks, codes in (
            (NAME_PREDICATES, [], []),
            (NAME_PREDICATES[:1], WALKS, []),
            (NAME_PREDICATES[1:], [], CODES),
        )
        for words in given_words or WORDS
        for given in ([], there.types)
    ]


def _of_types(types: Sequence[str]) -> Values:
    return {"type_predicates": [RDF_TYPE], "types": [types] if types else []}


def test_every_template_is_asked(embedded: Column) -> None:
    assert sorted(questions(sample(*embedded.files["medical"], frozenset()))) == NAMES


# One test, because each query costs an engine, and Virtuoso has to compile it.
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("engine", BEHIND_HTTP, indirect=True)
async def test_every_template_has_the_same_rows_on_every_engine_and_the_same_terms_in_tsv_as_in_json(
    engine: Column, reference: Column, graph: str
) -> None:
    there, here = engine.transport(graph), reference.transport(graph)
    assert isinstance(there, Http)
    at_a_time = asyncio.Semaphore(AT_A_TIME.get(engine.name, 1))

    async def difference(text: Template, values: Values, *, is_in_tsv: bool) -> str:
        async with at_a_time:
            if text.dialect in LACKING.get(engine.name, ()):
                with pytest.raises(QueryRefused):
                    await there.select(text.render(values), Deadline.after(100))
                return ""
            sentinel = _sentinel(engine, text)
            query, variables, asked_marker = _query(text, values, sentinel)
            try:
                in_json = await there.select(query, Deadline.after(100))
                given = _meanings(decode(in_json, variables), text, asked_marker)
                if (expected := await _rows(here, text, values)) != given or given.total() >= ROWS:
                    return f"{text.name}: {query}\n{_difference(expected, given)}"
                if not _has_tsv(engine, text) or not is_in_tsv:
                    return ""
                in_tsv = await there.select_in("tsv", query, Deadline.after(100))
                table = decode_tsv(in_tsv, variables, ROWS, text.iris)
                # Raised is what the comparison of sets below would not see: that the sentinel is not the last row.
                _meanings(table, text, asked_marker)
            except Fault as fault:
                return f"{text.name}: {query}\n{fault!r}"
        sent, expected = _exactly(table, variables), _exactly(decode(in_json, variables), variables)
        return "" if sent == expected else f"{text.name}, in TSV: {query}\n{_difference(expected, sent)}"

    try:
        async with asyncio.TaskGroup() as asked:
            # The format does not depend on the plan: every other query is sent in both.
            compared = [
                asked.create_task(difference(text, values, is_in_tsv=number % 2 == 0))
                for number, (text, values) in enumerate(_asked(engine, graph))
            ]
    finally:
        await there.close()
        await here.close()
    different = [found for found in (task.result() for task in compared) if found]
    assert not different, "\n".join(different)


@pytest.mark.slow
@pytest.mark.parametrize("graph", GRAPHS)
async def test_every_template_is_answered_in_this_process_by_fewer_rows_than_any_cap(
    embedded: Column, graph: str
) -> None:
    # What other engines are compared with: a cut answer would be compared with a cut answer.
    here = embedded.transport(graph)
    found = Counter[str]()
    try:
        for text, values in _asked(embedded, graph):
            rows = await _rows(here, text, values)
            assert rows.total() < ROWS, text.render(values)
            found[text.name] += rows.total()
    finally:
        await here.close()
    assert {name for name in HAVING_ROWS[graph] if not found[name]} == set()


def _asked(engine: Column, graph: str) -> Iterator[tuple[Template, Values]]:
    """Yield every template with the parameters of each of its queries, or of those whose turn it is."""
    changed = frozenset(AWKWARD + node for node, _ in DIFFERENT.get(engine.name, ()))
    there = questions(sample(*engine.files[graph], changed))
    turn, turns = (0, 1) if engine.is_here else TURNS.get(graph, (0, 1))
    for name in NAMES:
        if graph == "awkward" and name in OF_ALL:
            continue
        text, of_template = template.load(name), there[name]
        if name not in HAVING_ROWS[graph]:
            of_template = of_template[turn % min(turns, len(of_template)) :: turns]
        if name == "schema/nameless" and not engine.is_here:
            # No endpoint is asked for pairs: a search there compares no given and family names.
            of_template = [values for values in of_template if not values["pairs"]]
        if name == "schema/nameless" and engine.name in {"virtuoso", "blazegraph"}:
            # They count more nodes without a name than there are, so that a search is less often complete: an EXISTS in
            # another one never holds at Virtuoso, and not for all names one step away at Blazegraph.
            of_template = [values for values in of_template if not values["walks"]]
        yield from ((text, {**values, "rows": ROWS}) for values in of_template)


def _sentinel(engine: Column, text: Template) -> Sentinel:
    """Return how the gateway asks this engine for a row that proves the end of the answer."""
    if text.end != "sentinel" or engine.name == "in-process":
        return "none"
    return TRAITS[engine.name].sentinel or "sorted"


def _has_tsv(engine: Column, text: Template) -> bool:
    """Return whether the gateway may ask for TSV; the other engines write it in a way of their own."""
    return engine.name in {"fuseki", "oxigraph"} or (engine.name == "virtuoso" and bool(text.iris))


def _difference(expected: Counter[tuple[object, ...]], given: Counter[tuple[object, ...]]) -> str:
    return f"only here: {expected - given}\nonly there: {given - expected}"


def _query(text: Template, values: Values, sentinel: Sentinel) -> tuple[str, tuple[str, ...], str | None]:
    """Return a query, its variables, and the marker of its sentinel."""
    query = text.render(values)
    if sentinel == "none":
        return query, text.variables, None
    with_sentinel = text.with_sentinel(query, ROWS, is_sorted=sentinel == "sorted")
    return with_sentinel, (*text.variables, END), marker(query)


async def _rows(here: Transport, text: Template, values: Values) -> Counter[tuple[object, ...]]:
    answer = await here.select(text.render(values), Deadline.after(100))
    return _meanings(decode(answer, text.variables), text, None)


def _meanings(answer: Table, text: Template, asked_marker: str | None) -> Counter[tuple[object, ...]]:
    """Return the rows; an EndpointFault if the sentinel is not the last row, or rows repeat that are distinct."""
    if asked_marker is not None:
        answer, place = without_sentinel(answer, asked_marker)
        if place is not Place.LAST:
            raise EndpointFault(f"The sentinel is {place.name}.")
    if text.is_distinct and answer.repeated(text.variables):
        raise EndpointFault("Rows are there twice.")
    rows = map(_as_said, rows_of(answer, text.variables))
    return Counter(tuple(sorted((key, _value(term)) for key, term in row.items())) for row in rows)


def _as_said(row: Row) -> Row:
    """Return a row with its literals as their texts say them, which mean no more than that."""
    said = dict(row)
    for name, text in TEXTS.items():
        if isinstance(row.get(text), LiteralTerm) and name in row:
            (said[name],) = term(name, text)(table(row))
        said.pop(text, None)
    return said


def _exactly(rows: Table, variables: Sequence[str]) -> Counter[tuple[object, ...]]:
    """Return rows with their terms as they were sent, but for the labels of blank nodes, which no two answers share."""
    return Counter(tuple(sorted((name, _sent(term)) for name, term in row.items())) for row in rows_of(rows, variables))


def _sent(term: Term) -> tuple[str, ...]:
    if isinstance(term, LiteralTerm):
        found = literal_of(term)
        return ("literal", found.value, found.datatype, found.language)
    if isinstance(term, TripleTerm):
        return ("triple", _LABEL.sub("", json.dumps(json.loads(bytes(term.value)), sort_keys=True)))
    return _value(term)


_LABEL = re.compile(r'(?<="type": "bnode", "value": ")[^"]+')


def _value(term: Term) -> tuple[str, ...]:
    """Return what a term means: the label of a blank node means nothing, and a number is its value."""
    if isinstance(term, IriTerm):
        return ("iri", term.value)
    if isinstance(term, BlankTerm):
        return ("blank",)
    if isinstance(term, TripleTerm):
        return ("triple", repr(json.loads(bytes(term.value))))
    found = literal_of(term)
    return ("literal", repr(found.json), found.language)
