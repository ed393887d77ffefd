"""Finds the predicate by which a graph names its nodes, if it is not a usual one, by the values of its literals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from gateway.graph.values import Iri
from gateway.terms.folding import compact
from gateway.terms.iri import local_name
from gateway.terms.literals import Literal

_NAME_WORDS = re.compile(r"(name|title|label|term|caption|heading)$|^(name|title|label)")
"""Folded local names of predicates for names. For other languages, only the values count."""

_SHORTEST, _LONGEST = 2, 120
_NOT_A_NAME = re.compile(r"\w+://\S+|\S+@\S+|[\d\W_]+|[0-9a-fA-F-]{16,}")
"""An address, a number, a date or a hash."""

_NAMED = 0.2
"""Share of the nodes that must have a name for a predicate to be the one that names them."""

_DISTINCT = 0.5
"""Share of the values that must differ; a status or a category is the same for many nodes."""

_HINT = 2.0
"""How much more a predicate counts whose local name has such a word."""

Text = tuple[Iri, Iri, Literal]
"""A node, a predicate and a literal."""


def likely_name_predicate(texts: Sequence[Text], usual: Iterable[Iri], excepted: Iterable[Iri]) -> tuple[Iri, ...]:
    """Return the predicate that names the nodes of a graph whose usual ones name hardly any; else nothing.

    Args:
        texts: Literals of some nodes, all that each of them has.
        usual: Predicates that carry names in most graphs.
        excepted: Predicates that mean something else: descriptions, synonyms.
    """
    nodes = {node for node, _, _ in texts}
    usual = set(usual)
    named = {node for node, predicate, _ in texts if predicate in usual}
    if not nodes or len(named) >= _NAMED * len(nodes):
        return ()
    left_out = usual | set(excepted)
    values: dict[Iri, dict[Iri, Literal]] = defaultdict(dict)
    # Of several values the same one counts in whatever order the engine sends them.
    for node, predicate, literal in sorted(texts, key=lambda text: (text[0], text[1], text[2].value, text[2].language)):
        if predicate not in left_out:
            values[predicate].setdefault(node, literal)
    scores = {predicate: _score(predicate, by_node, len(nodes)) for predicate, by_node in values.items()}
    best = sorted((-score, predicate) for predicate, score in scores.items() if score)
    return (best[0][1],) if best else ()


def _score(predicate: Iri, by_node: Mapping[Iri, Literal], nodes: int) -> float:
    """Return how well a predicate names nodes; 0 if it does not."""
    named = len(by_node) / nodes
    likely = [literal for literal in by_node.values() if _may_be_name(literal)]
    distinct = len({literal.value for literal in likely})
    has_name_word = bool(_NAME_WORDS.search(compact(local_name(predicate))))
    if named < _NAMED or distinct < _DISTINCT * len(by_node) or len(by_node) < (1 if has_name_word else 3):
        return 0.0
    return named * distinct / len(by_node) * (_HINT if has_name_word else 1.0)


def _may_be_name(literal: Literal) -> bool:
    text = literal.value.strip()
    return (
        not literal.datatype
        and _SHORTEST <= len(text) <= _LONGEST
        and _NOT_A_NAME.fullmatch(text) is None
        and any(map(str.isalpha, text))
    )
