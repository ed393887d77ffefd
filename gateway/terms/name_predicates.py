"""Which predicates carry names, by what they are called and by their values.

Rules: docs/profiles.md, "Names that a graph gives by predicates of its own".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median_low
from typing import Literal as OneOf

from gateway.terms.iri import (
    FOAF,
    NAME_PREDICATES,
    RDF,
    RDFS,
    SCHEMA,
    SKOS,
    SYNONYM_PREDICATES,
    VCARD,
    is_walk,
    local_name,
    walk_iri,
    walk_steps,
)
from gateway.terms.literals import Literal, best_text, is_date, is_number
from gateway.terms.local_names import local_part
from gateway.terms.names import one_line

Role = OneOf["name", "synonym"]

_CODE = re.compile(r"notation|code|symbol|identifier|(?:^|[^a-zA-Z]|[a-z])ID|(?:^|[^a-zA-Z])id|[a-z]Id")

_ENDINGS = ("name", "label", "title", "term", "heading", "lemma")
"""How names of predicates end whose values are names, the likeliest first."""

_FIRST = ("pref", "display")
"""What the name of a predicate has in it whose values are shown before those of others."""

_SUFFIX = re.compile(r"(?:string|text|value)$")
_SYNONYM = re.compile(r"alt|hidden|short|synonym|colloquial|historical")
_OF_A_PERSON = re.compile(r"(?:additional|middle)name$|honorific|job(?:title|label)$")
"""What is called a name or a title and is a further part of the name of a person, a form of address or a job."""

_OF_ANOTHER = re.compile(
    rf"file|class|family|given|attribution|template|first|last|surname|user|{_OF_A_PERSON.pattern}"
)
"""What is called a name and names something else, or a part of a name only."""

_NEVER = re.compile(
    r"comment|message|note|description|definition|abstract|identifier|notation|code|symbol|(?:^|[^a-z])id$|[a-z]ID$|Id$"
)
"""What comments, messages and identifiers are called, which differ more from node to node than names do."""

NO_NAMES = frozenset({f"{FOAF}title", f"{VCARD}title", f"{VCARD}country-name"})
"""Predicates that are called a title and mean a form of address, or a position; and the country of an address."""

_NUMBERED = re.compile(r"[A-Za-z]*[_-]?\d{2,}")
"""A local name that says nothing, such as `IAO_0000118` and `P1476`."""

_LONGEST = 160
_NOT_A_NAME = re.compile(r"\w+://\S+|\S+@\S+|[\d\W_]+|[0-9a-fA-F-]{16,}")
"""An address, a number, a date or a hash."""

_KEY = re.compile(r"\S*\w_\w\S*|(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])\S{16,}")

_SHORTEST = 2


_MOST_JOINED = 1_000
"""Names of one node that are made of its given and family names."""

NAME_PARTS = (
    (f"{FOAF}givenName", f"{FOAF}familyName"),
    (f"{FOAF}firstName", f"{FOAF}lastName"),
    (f"{FOAF}givenname", f"{FOAF}family_name"),
    (f"{VCARD}given-name", f"{VCARD}family-name"),
    *((f"{namespace}givenName", f"{namespace}familyName") for namespace in SCHEMA),
)
"""Predicates of given and family names, which make one name. It is shown where there is no other, and found always."""


def parts_among(predicates: Collection[str]) -> tuple[str, ...]:
    """Return the predicates of given and family names of which some predicates have both."""
    return tuple(part for pair in NAME_PARTS if set(pair) <= set(predicates) for part in pair)


def pairs_among(parts: Collection[str]) -> list[tuple[str, str]]:
    """Return the predicates of a given and a family name that are both among some predicates, pair by pair."""
    return [pair for pair in NAME_PARTS if set(pair) <= set(parts)]


def joined_name(texts: Mapping[str, Collection[Literal]], order: Sequence[str]) -> str:
    """Return the given name and the family name as one; empty where there are not both."""
    for pair in NAME_PARTS:
        parts = [one_line(best_text(texts, [part], order)) for part in pair]
        if all(parts):
            return " ".join(parts)
    return ""


def joined_names(given: Iterable[tuple[str, str]], family: Iterable[tuple[str, str]]) -> list[str]:
    """Return each given name with each family name as one; where these are very many, the first of each language.

    Args:
        given: Given names, each with its language.
        family: Family names in the same way.

    >>> joined_names([("Dee", "en"), ("Di", "de")], [("Do", "de")])
    ['Di Do', 'Dee Do']
    """
    firsts, lasts = _by_language(given), _by_language(family)
    while len(firsts) * len(lasts) > _MOST_JOINED:
        max(firsts, lasts, key=len).pop()
    return list(dict.fromkeys(f"{first} {last}" for first in firsts for last in lasts))


_MOST_ALIASES = 100
_LONGEST_ALIAS = 200
"""Aliases of one term of a schema, and characters of one: nobody types a longer one."""


def aliases_among(
    texts: Mapping[str, Collection[Literal]], synonyms: Iterable[str], name: str, names: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the synonyms of a type or predicate and its names in other languages, sorted: as many as a schema stores.

    Args:
        texts: Its texts, by predicate.
        synonyms: The predicates of synonyms.
        name: Its name, which is no alias.
        names: The predicates of names.
    """
    found: set[str] = set()
    for predicates in (synonyms, names):
        said = {one_line(literal.text) for predicate in predicates for literal in texts.get(predicate, ())}
        found.update(sorted(one for one in said - {name, ""} if len(one) <= _LONGEST_ALIAS)[:_MOST_ALIASES])
    return tuple(sorted(found))


def role_of(called: str) -> Role | None:
    """Return what the values of a predicate are by what it is called, in its IRI or by its own label; None for neither.

    >>> role_of("fullTitle"), role_of("alternative term"), role_of("fileName")
    ('name', 'synonym', None)
    """
    compact = _compact(called)
    if _SYNONYM.search(compact) is not None and compact.endswith((*_ENDINGS, "synonym", "synonyms")):
        return "synonym"
    if not compact.endswith(_ENDINGS) or _OF_ANOTHER.search(compact) is not None:
        return None
    return "name"


def is_code(called: str) -> bool:
    """Return whether the values of a predicate are notations, codes, symbols or identifiers by what it is called.

    >>> is_code("notation"), is_code("ucumCode"), is_code("id"), is_code("isValid")
    (True, True, True, False)
    """
    ends = (match.end() for match in _CODE.finditer(called))
    return len(called) in ends or called.lower().endswith(("notation", "code", "symbol", "identifier"))


def name_rank(called: str) -> tuple[bool, int, bool]:
    """Return the sort key of a predicate whose values are names, by what it is called: `name` before `brandName`."""
    compact = _compact(called)
    place = next((place for place, ending in enumerate(_ENDINGS) if compact.endswith(ending)), len(_ENDINGS))
    return (not any(word in compact for word in _FIRST), place, compact not in _ENDINGS)


def has_numbered_name(predicate: str) -> bool:
    """Return whether the local name of a predicate says nothing, so that its own label has to."""
    return _NUMBERED.fullmatch(local_name(predicate)) is not None


def is_never_a_name(called: str) -> bool:
    """Return whether a predicate is called as those of comments, messages, identifiers and jobs are.

    >>> is_never_a_name("errorMessage"), is_never_a_name("jobTitle"), is_never_a_name("jobName")
    (True, True, False)
    """
    return (
        _NEVER.search(called) is not None
        or _NEVER.search(called.lower()) is not None
        or _OF_A_PERSON.search(_compact(called)) is not None
    )


def may_be_name(literal: Literal) -> bool:
    """Return whether a literal reads as a name: a text that is not long, no address and no number."""
    text = one_line(literal.value)
    return (
        not (is_number(literal.datatype) or is_date(literal.datatype))
        and len(text) >= _SHORTEST
        and _NOT_A_NAME.fullmatch(text) is None
        and any(map(str.isalpha, text))
    )


def reads_as_key(text: str) -> bool:
    """Return whether a text reads as a key of a program or a column, and not as what people call something.

    >>> reads_as_key("arrival_time"), reads_as_key("1IedFN$LrDXxWafTVrdUfI"), reads_as_key("Bauteil 3_a")
    (True, True, False)
    """
    return _KEY.fullmatch(text) is not None


def is_short(length: int) -> bool:
    """Return whether texts of a length, the median of some, are as short as names."""
    return length <= _LONGEST


def _by_language(texts: Iterable[tuple[str, str]]) -> list[str]:
    """Return texts in one line: first that of each language which is shown, then others."""
    counts: Counter[str] = Counter()
    ranked = []
    for language, text in sorted({(language, one_line(text)) for text, language in texts}):
        ranked.append((counts[language], language, text))
        counts[language] += 1
    return [text for _, _, text in sorted(ranked) if text]


def _compact(called: str) -> str:
    letters = "".join(filter(str.isalnum, called)).lower()
    return _SUFFIX.sub("", letters)


_NAMED = 0.2
"""Share of the nodes that must have a name; below it, values alone decide."""

_DISTINCT = 0.5
"""Share of the values that must differ for values alone to decide; a status is the same for many nodes."""

_FEW = 5
"""Nodes from which on a predicate with one and the same value for all of them names none."""

_LIKELY = 0.5
"""Share of the values that must read as names."""

_HINT = 2.0
"""How much more a predicate counts that is called as those of names are, where values alone decide."""

Text = tuple[str, str, Literal]
"""A node, a predicate and a literal."""


def named_predicates(
    values: Mapping[str, Sequence[Literal]], labels: Mapping[str, str], excepted: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the predicates that are called as those of names are and have such values, and those of synonyms.

    Args:
        values: Some values by predicate.
        labels: The own labels of predicates whose local names say nothing.
        excepted: Predicates that mean something else, or are names by themselves.
    """
    names: list[tuple[tuple[bool, int, bool], str]] = []
    synonyms: list[str] = []
    for predicate, literals in values.items():
        called = labels.get(predicate) or local_name(predicate)
        role = role_of(called)
        if role is None or predicate in excepted or predicate in NO_NAMES or not _are_names(literals):
            continue
        if role == "name":
            names.append((name_rank(called), predicate))
        else:
            synonyms.append(predicate)
    return tuple(predicate for _, predicate in sorted(names)), tuple(sorted(synonyms))


def _are_names(literals: Sequence[Literal]) -> bool:
    """Return whether values read as names: short texts, not the same one for every node."""
    texts = [literal.value for literal in literals]
    likely = sum(map(may_be_name, literals))
    differ = len(texts) < _FEW or len(set(texts)) > 1
    return likely >= _LIKELY * len(texts) and differ and is_short(median_low(map(len, texts)))


def likely_name_predicate(texts: Sequence[Text], usual: Iterable[str], excepted: Iterable[str]) -> tuple[str, ...]:
    """Return the predicate that names the nodes of a graph whose usual ones name hardly any; else nothing.

    Args:
        texts: Literals of some nodes, all that each of them has.
        usual: Predicates that carry names in most graphs.
        excepted: Predicates that mean something else, such as descriptions.
    """
    said: dict[str, set[str]] = defaultdict(set)
    for node, predicate, _ in texts:
        said[node].add(predicate)
    usual = set(usual)
    named = {node for node, predicates in said.items() if predicates & usual}
    # A given and a family name are a name that says nothing of how nodes of other kinds are named.
    joined = {node for node in said.keys() - named if pairs_among(said[node])}
    nodes = len(said) - len(joined)
    if not nodes or len(named) >= _NAMED * nodes:
        return ()
    counts, counts_joined = (Counter(chain.from_iterable(said[node] for node in some)) for some in (said, joined))
    of_joined = {predicate for predicate, count in counts_joined.items() if 2 * count >= counts[predicate]}
    left_out = usual | set(excepted) | NO_NAMES | of_joined
    values: dict[str, dict[str, Literal]] = defaultdict(dict)
    # Of several values the same one counts in whatever order the engine sends them.
    for node, predicate, name in sorted(texts, key=lambda text: (text[0], text[1], text[2].value, text[2].language)):
        if node not in joined and predicate not in left_out and not is_never_a_name(local_name(predicate)):
            values[predicate].setdefault(node, name)
    scores = {predicate: _score(predicate, by_node, nodes) for predicate, by_node in values.items()}
    best = sorted((-score, predicate) for predicate, score in scores.items() if score)
    return (best[0][1],) if best else ()


def _score(predicate: str, by_node: Mapping[str, Literal], nodes: int) -> float:
    """Return how well the values of a predicate name nodes; 0 if they do not."""
    named = len(by_node) / nodes
    likely = [
        literal for literal in by_node.values() if may_be_name(literal) and not reads_as_key(one_line(literal.value))
    ]
    distinct = len({literal.value for literal in likely})
    is_called_so = role_of(local_name(predicate)) is not None
    is_long = not is_short(median_low(len(literal.value) for literal in by_node.values()))
    few = 1 if is_called_so else 3
    if named < _NAMED or distinct < _DISTINCT * len(by_node) or len(by_node) < few or is_long:
        return 0.0
    return named * distinct / len(by_node) * (_HINT if is_called_so else 1.0)


_SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
_ONTOLEX = "http://www.w3.org/ns/lemon/ontolex#"
_BIBFRAME = "http://id.loc.gov/ontologies/bibframe/"
_CIDOC_CRM = ("http://www.cidoc-crm.org/cidoc-crm/", "http://erlangen-crm.org/current/")

_EXPRESS, _EXPRESS_BEFORE = "https://w3id.org/express#", "http://purl.org/voc/express#"
_IFC = (
    ("https://standards.buildingsmart.org/IFC/DEV/IFC4/ADD2/OWL#", _EXPRESS),
    ("https://standards.buildingsmart.org/IFC/DEV/IFC2x3/TC1/OWL#", _EXPRESS),
    ("http://www.buildingsmart-tech.org/ifcOWL/IFC4_ADD1#", _EXPRESS_BEFORE),
    ("http://www.buildingsmart-tech.org/ifcOWL/IFC2X3_TC1#", _EXPRESS_BEFORE),
)
"""The versions of ifcOWL, each with the namespace of its texts."""

NO_CLASS = "urn:bfs-ql:none"
"""A class that no node has."""

Row = tuple[str, str, str, str, str]
"""A walk as queries are given it: its IRI, both predicates, and the classes that the node between must and must not
have."""


@dataclass(frozen=True, slots=True)
class NameWalk:
    """A walk of two predicates to names.

    Attributes:
        first: The predicate to the node between.
        last: The predicate from there to the name.
        only: A class that the node between must have; empty for any.
        but: A class that it must not have; empty for none.
        is_further: Whether another walk has the same predicates, to names that are shown before these.
    """

    first: str
    last: str
    only: str = ""
    but: str = ""
    is_further: bool = False

    @property
    def iri(self) -> str:
        """The IRI that stands for the walk, which of two with the same predicates one alone has."""
        steps = [(self.first, False), (self.last, False)]
        return walk_iri([*steps, (self.but, True)] if self.is_further else steps)

    @property
    def row(self) -> Row:
        """The walk as queries are given it."""
        return (self.iri, self.first, self.last, self.only or NO_CLASS, self.but or NO_CLASS)


NAME_WALKS = (
    NameWalk(f"{_SKOSXL}prefLabel", f"{_SKOSXL}literalForm"),
    NameWalk(f"{_ONTOLEX}canonicalForm", f"{_ONTOLEX}writtenRep"),
    NameWalk(f"{_BIBFRAME}title", f"{_BIBFRAME}mainTitle", only=f"{_BIBFRAME}Title"),
    *(
        NameWalk(f"{crm}{first}", last, but=f"{crm}E42_Identifier")
        for crm in _CIDOC_CRM
        for first in ("P102_has_title", "P1_is_identified_by")
        for last in (f"{crm}P190_has_symbolic_content", f"{RDFS}label", f"{crm}P3_has_note")
    ),
    *(NameWalk(f"{ifc}name_IfcRoot", f"{express}hasString") for ifc, express in _IFC),
)
"""The walks to display names, the strongest first."""

SYNONYM_WALKS = (
    NameWalk(f"{_SKOSXL}altLabel", f"{_SKOSXL}literalForm"),
    NameWalk(f"{_SKOSXL}hiddenLabel", f"{_SKOSXL}literalForm"),
    NameWalk(f"{_ONTOLEX}otherForm", f"{_ONTOLEX}writtenRep"),
    NameWalk(f"{_BIBFRAME}title", f"{_BIBFRAME}mainTitle", but=f"{_BIBFRAME}Title", is_further=True),
)
"""The walks to further names."""

USUAL_NAMES = frozenset(
    local_part(iri)
    for iri in (*NAME_PREDICATES, *SYNONYM_PREDICATES, *(walk.last for walk in (*NAME_WALKS, *SYNONYM_WALKS)))
)
"""The local names of predicates that carry names in most graphs."""

DESCRIPTION_WALKS = (NameWalk(f"{SKOS}definition", f"{RDF}value"),)
"""The walks to descriptions."""

_BY_IRI: Mapping[str, NameWalk] = {walk.iri: walk for walk in (*SYNONYM_WALKS, *NAME_WALKS, *DESCRIPTION_WALKS)}


def plain(predicates: Iterable[str]) -> list[str]:
    """Return those of some predicates of names that are no walks."""
    return [predicate for predicate in predicates if not is_walk(predicate)]


def rows_of(predicates: Iterable[str]) -> list[Row]:
    """Return those of some predicates of names that are walks, as queries are given them."""
    return [_walk_of(predicate).row for predicate in predicates if is_walk(predicate)]


def _walk_of(iri: str) -> NameWalk:
    if iri in _BY_IRI:
        return _BY_IRI[iri]
    (first, _), (last, _) = walk_steps(iri)
    return NameWalk(first, last)


def last_predicates(predicates: Iterable[str]) -> frozenset[str]:
    """Return the predicates from the nodes between to the names, of those that are walks."""
    return frozenset(_walk_of(predicate).last for predicate in predicates if is_walk(predicate))


def possible(walks: Sequence[NameWalk], known: frozenset[str]) -> list[str]:
    """Return the IRIs of the walks both of whose predicates are known; of all where none is known."""
    return [walk.iri for walk in walks if not known or {walk.first, walk.last} <= known]
