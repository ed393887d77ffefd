"""Which predicates of a graph carry its names, chosen by what they are called and by some of their values.

Rules: docs/profiles.md, "Names that a graph gives by predicates of its own".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from statistics import median_low

from gateway.terms.iri import local_name
from gateway.terms.literals import Literal
from gateway.terms.name_predicates import (
    FORMS_OF_ADDRESS,
    is_never_a_name,
    is_short,
    may_be_name,
    name_rank,
    pairs_among,
    reads_as_key,
    role_of,
)
from gateway.terms.names import one_line

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
        if role is None or predicate in excepted or predicate in FORMS_OF_ADDRESS or not _are_names(literals):
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
    left_out = usual | set(excepted) | FORMS_OF_ADDRESS | of_joined
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
