"""Shortens IRIs to canonical IDs, and expands them without loss (docs/contract.md, "Canonical IDs").

Why not the `curies` package: decision record 0003.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from sys import getsizeof
from types import MappingProxyType

from gateway.errors import QUOTE_LIMIT, ConfigurationError, InputError, quoted
from gateway.terms.bounded_map import BoundedMap
from gateway.terms.coined_prefixes import CoinedPrefixes, NamedNamespaces, looks_coined, names_in, namespace_of
from gateway.terms.iri import (
    BLANK_NODE,
    MAX_IRI,
    OBO,
    OWN,
    OWN_KEYS,
    PATH,
    REACHED_BY,
    SCHEMA,
    WALK,
    WalkStep,
    is_iri,
    is_path,
    is_walk,
    local_name,
    path_iri,
    path_steps,
    walk_steps,
)
from gateway.terms.spelling import nearest

_LOCAL = re.compile(r"[\w.\-]{1,200}")
_NAMESPACES = 100
"""A local name as it is typed, and namespaces in which it is looked for: an ontology has some ten."""

_SHOWN = 8
"""Prefixes that an error lists."""

_LISTED = 5
"""IDs that a sentence lists."""

_COMPARED = 500
_LONGEST_COMPARED = 20
"""Declared prefixes, and characters of one, that are compared with an undeclared prefix."""

_PLAIN_CURIE = re.compile(r"[A-Za-z0-9_.\-]*:[A-Za-z0-9_.\-]+")
_NAME = re.compile(r"(?!_$|\()[^\s:^]{0,80}")
"""A prefix that can be written in an ID: short, without blanks and colons, and not as IDs of other kinds begin."""

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9.\-]*:[A-Za-z0-9][A-Za-z0-9_\-]*")
"""An identifier such as `GO:0005737`: what stands before the colon is no prefix of a namespace."""

_SCHEMES = frozenset(
    {"about", "ark", "blob", "cid", "data", "did", "doi", "file", "ftp", "geo", "http", "https", "info", "mailto"}
    | {"mid", "news", "ni", "oid", "tag", "tel", "urn", "ws", "wss"}
)
"""Schemes of IRIs without `//`, which are not undeclared prefixes."""

_REMEMBERED_BYTES = 32 << 20
"""Memory for some 100,000 short forms of ordinary length: a traversal shortens each IRI once."""


@dataclass(frozen=True, slots=True)
class PrefixConflict:
    """A prefix that a later source binds to another namespace; the earlier binding stays valid.

    Attributes:
        name: The prefix.
        namespace: Its namespace.
        ignored: The namespace in the later source.
        source: The name of the later source.
    """

    name: str
    namespace: str
    ignored: str
    source: str

    def __str__(self) -> str:
        return (
            f"The prefix {quoted(self.name)} of {self.source} would mean <{in_prose(self.ignored)}>, "
            f"but it already means <{in_prose(self.namespace)}>, which is used."
        )


def is_scheme(name: str) -> bool:
    """Return whether a name is that of a scheme of IRIs that everybody knows, and so no prefix that is not declared."""
    return name.lower() in _SCHEMES


def is_prefix(name: str, namespace: str) -> bool:
    """Return whether a name can be a prefix, and its namespace is an IRI."""
    return is_iri(namespace) and not any(character in name for character in ":/<>^ ")


def checked_prefixes(prefixes: Mapping[str, str]) -> Mapping[str, str]:
    """Return the user's own prefixes.

    Raises:
        ConfigurationError: One of them can be none.
    """
    for name, namespace in prefixes.items():
        if not is_prefix(name, namespace):
            raise ConfigurationError(
                f"The prefix {quoted(name)} = {quoted(namespace)} is wrong.",
                valid="A prefix has no colon, slash, caret or blank, and its namespace is an IRI.",
            )
    return prefixes


def merge(sources: Iterable[tuple[str, Mapping[str, str]]]) -> tuple[dict[str, str], list[PrefixConflict]]:
    """Return the prefixes of all sources and the conflicts: the first binding of a name wins.

    Args:
        sources: The name of each source, for the warning, and its prefixes; the strongest first.
    """
    merged: dict[str, str] = {}
    conflicts: list[PrefixConflict] = []
    for source, table in sources:
        for name, namespace in table.items():
            first = merged.setdefault(name, namespace)
            if first != namespace:
                conflicts.append(PrefixConflict(name, first, namespace, source))
    return merged, conflicts


_NOTHING: Mapping[str, str] = MappingProxyType({})

_OF_OTHERS = (REACHED_BY, WALK, PATH)
"""IRIs of the gateway's own which are written with the IDs of other IRIs."""


class PrefixMap:
    """Shortens IRIs to canonical IDs and expands IDs to IRIs; the two round-trip exactly.

    Args:
        prefixes: The declared namespaces by prefix.
        coined: Coins prefixes for other namespaces; None to coin none.
        well_known: Namespaces by the prefixes that everybody knows, for what is not declared. They are not repeated
            among the prefixes of an answer.
    """

    def __init__(
        self,
        prefixes: Mapping[str, str],
        coined: CoinedPrefixes | None = None,
        well_known: Mapping[str, str] = _NOTHING,
    ) -> None:
        # A name with a colon is ambiguous with its first part, and callers cannot send back IDs that have blanks or are
        # long.
        self._declared = {
            name: namespace
            for name, namespace in prefixes.items()
            if _NAME.fullmatch(name) and name.isprintable() and len(namespace) <= MAX_IRI
        }
        best: dict[str, str] = {}
        for name, namespace in self._declared.items():
            rival = best.get(namespace)
            if namespace and (rival is None or _preference(name) < _preference(rival)):
                best[namespace] = name
        # What is declared otherwise means that.
        others = {name: namespace for name, namespace in well_known.items() if name not in prefixes}
        for name, namespace in others.items():
            best.setdefault(namespace, name)
        self._namespaces = {**others, **self._declared}
        self._names = best
        self._lengths = sorted({len(namespace) for namespace in best}, reverse=True)
        self._short: BoundedMap[str, str] = BoundedMap(_REMEMBERED_BYTES)
        self._coined = coined

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes by name, sorted: those declared, and coined ones that are known here."""
        coined = {} if self._coined is None else self._coined.namespaces
        return dict(sorted({**coined, **self._declared}.items()))

    @property
    def declared(self) -> dict[str, str]:
        """The declared prefixes by name, sorted."""
        return dict(sorted(self._declared.items()))

    def is_plain_curie(self, text: str) -> bool:
        """Return whether an ID is a short CURIE that is no sentence; see `is_plain_curie`."""
        return is_plain_curie(text, self._namespaces) or self._is_coined_curie(text)

    def _is_coined_curie(self, text: str) -> bool:
        name = text.partition(":")[0]
        return self._coined is not None and looks_coined(name) and is_plain_curie(text, {name})

    def used_by(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the prefixes that some IDs use, sorted."""
        used = {name for name, colon, _ in (text.partition(":") for text in ids) if colon}
        known = {**self._namespaces, **self.coined_in_answer, **self._declared}
        return {name: known[name] for name in sorted(used & known.keys())}

    @contextmanager
    def one_answer(self) -> Iterator[None]:
        """Note which coined prefixes an answer has, until the end of the context."""
        if self._coined is None:
            yield
        else:
            with self._coined.one_answer():
                yield

    @property
    def coined_in_answer(self) -> Mapping[str, str]:
        """The coined prefixes with which the answer under way has shortened IRIs, and their namespaces."""
        return {} if self._coined is None else self._coined.in_answer

    def named(self, namespaces: Iterable[str]) -> NamedNamespaces:
        """Return namespaces with the prefixes that are coined for them; may be called in a thread."""
        return NamedNamespaces() if self._coined is None else self._coined.named(namespaces)

    def learn(self, named: NamedNamespaces, *, are_all: bool) -> None:
        """Note namespaces of the graph, all of them or some, so that the coined prefixes that they had are read."""
        if self._coined is not None:
            self._coined.learn(named, are_all=are_all)

    def coined_names(self, texts: Iterable[str]) -> set[str]:
        """Return what looks like a coined prefix in some texts."""
        if self._coined is None:
            return set()
        return {name for text in texts for name in names_in(text) if name not in self._namespaces}

    def knows(self, name: str) -> bool:
        """Return whether a prefix means a namespace here."""
        return self._namespace(name) is not None

    def shorten(self, iri: str) -> str:
        """Return the canonical ID of an IRI as answers write it, under a declared prefix or else a coined one."""
        short = self._short.known.get(iri) or self.declared_form(iri)
        # Most are known, and a declared prefix fits.
        if self._coined is None or not (short == iri or short.startswith("<")):
            return own_form(iri, self.shorten) if iri.startswith(_OF_OTHERS) else short
        return self._coined.shortened(iri) or short

    def declared_forms(self, iris: Iterable[str]) -> dict[str, str]:
        """Return the ID of each IRI without coined prefixes; most are remembered."""
        known = self._short.known.get
        return {iri: known(iri) or self.declared_form(iri) for iri in iris}

    def declared_form(self, iri: str) -> str:
        """Return the ID of an IRI without coined prefixes; orders rest on it, because it never changes.

        That is a CURIE, the IRI, or ``<IRI>`` if that would look like a CURIE.
        """
        short = self._short.known.get(iri)
        if short is None:
            short = self._declared_form(iri)
            self._short.add(iri, short, getsizeof(iri) + getsizeof(short))
        return short

    def _declared_form(self, iri: str) -> str:
        if iri.startswith(OWN):
            return own_form(iri, self.declared_form)
        for length in self._lengths:
            name = self._names.get(iri[:length]) if len(iri) > length else None
            if name is not None and len(name) + len(iri) - length < MAX_IRI:
                return f"{name}:{iri[length:]}"
        return f"<{iri}>" if iri.partition(":")[0] in self._namespaces else iri

    def in_order(self, terms: Iterable[str]) -> list[str]:
        """Return the canonical IDs of IRIs in the order of those without coined prefixes; a word stands for itself."""
        ordered = sorted(terms, key=lambda term: self.declared_form(term) if ":" in term else term)
        return [self.shorten(term) if ":" in term else term for term in ordered]

    def in_prose(self, iri: str) -> str:
        """Return the canonical ID of an IRI for a sentence; see `in_prose`."""
        return in_prose(self.shorten(iri))

    def listed(self, iris: Iterable[str], most: int = _LISTED) -> str:
        """Return the first canonical IDs of some IRIs for a sentence, and the number of the others."""
        return listed_ids(self.in_order(iris), most)

    @property
    def are_all_looked_at(self) -> bool:
        """Whether `with_local_name` looks behind all declared prefixes: else another node may be called so."""
        return len({*filter(None, self._declared.values())}) <= _NAMESPACES

    def with_local_name(self, text: str, beside: Iterable[str] = ()) -> list[str]:
        """Return the IRIs that have a text as local name behind a declared prefix; of the first prefixes, if many.

        Coined prefixes are none of these: which there are depends on earlier answers.

        Args:
            text: The local name.
            beside: IRIs in whose namespaces it may stand, whether these have a prefix or not.
        """
        if _LOCAL.fullmatch(text) is None:
            return []
        declared = sorted(dict.fromkeys(filter(None, self._declared.values())), key=len)[:_NAMESPACES]
        namespaces = dict.fromkeys((*declared, *list(map(namespace_of, beside))[:_NAMESPACES]))
        return sorted(iri for iri in (f"{one}{text}" for one in namespaces) if len(iri) <= MAX_IRI and is_iri(iri))

    def undeclared(self, iris: Iterable[str]) -> str:
        """Return a sentence about IRIs that look like CURIEs with undeclared prefixes; empty if there are none."""
        schemes = {iri.partition(":")[0] for iri in iris if ":" in iri and not iri.partition(":")[2].startswith("//")}
        unknown = sorted(name for name in schemes - self._namespaces.keys() if not is_scheme(name))
        if not unknown:
            return ""
        known = sorted(filter(None, self._declared))
        # Other calls wait for the comparison, so very many prefixes are not all compared.
        compared = [name for name in known if len(name) <= _LONGEST_COMPARED][:_COMPARED]
        wanted = [name for name in unknown[:3] if len(name) <= _LONGEST_COMPARED]
        near = dict.fromkeys(chain.from_iterable(nearest(name, compared, 3) for name in wanted))
        named = ", ".join(f"{name}:" for name in near or known[:_SHOWN])
        which = f"Nearest declared: {named}." if near else f"Declared: {named}." if named else "No prefix is declared."
        if len(unknown) == 1:
            return f"The prefix {quoted(unknown[0])} is not declared. {which}"
        return f"The prefixes {', '.join(map(quoted, unknown[:3]))} are not declared. {which}"

    def expand(self, text: str) -> str:
        """Return the IRI of an ID, of an IRI, or of ``<IRI>``.

        Raises:
            InputError: The result is not a legal IRI, or is too long.
        """
        if text.startswith("<") and text.endswith(">"):
            iri = text[1:-1]
        elif text.startswith("_:"):
            iri = BLANK_NODE + text[2:]
        elif text.startswith("(") and text.endswith(")"):
            iri = self._of_others(text[1:-1])
        else:
            name, colon, local = text.partition(":")
            namespace = self._namespace(name) if colon else None
            iri = text if namespace is None else namespace + local
        if len(iri) > MAX_IRI:
            raise InputError(
                f"{quoted(text)} is too long for an ID.",
                valid=f"An ID means an IRI of {MAX_IRI} characters at most.",
            )
        if not is_iri(iri):
            if looks_coined(iri.partition(":")[0]):
                raise _forgotten(iri)
            names = [f"{name}:" for name in self.declared]
            known = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            raise InputError(
                f"{quoted(text)} is not an ID.",
                valid=f"An ID is a prefix and a local name ({known or 'no prefix is known here'}), or a whole IRI.",
                next_step="Call search_entities to find the ID of a name.",
            )
        return iri

    def meanings(self, text: str) -> list[str]:
        """Return the IRIs that an ID may mean: the first one, unless another is the one that the graph has.

        Raises:
            InputError: As `expand`.
        """
        iri = self.expand(text)
        name, _, local = text.partition(":")
        if name == "schema" and name not in self._declared and iri == SCHEMA[0] + local:
            return [iri, SCHEMA[1] + local]
        if self.is_undeclared(text):
            return [iri, f"{OBO}{name}_{local}"]
        return [iri]

    def is_undeclared(self, text: str) -> bool:
        """Return whether a text looks like a CURIE whose prefix means nothing here."""
        name, _, _ = text.partition(":")
        return not is_scheme(name) and _IDENTIFIER.fullmatch(text) is not None and self._namespace(name) is None

    def _of_others(self, inner: str) -> str:
        """Return the IRI of the gateway's own that is written with IDs in brackets: of a type, or of a path."""
        if steps := _steps_of(inner):
            return path_iri((self.expand(step), is_inverse) for step, is_inverse in steps)
        return REACHED_BY + self.expand(inner)

    def without_name(self, text: str) -> str:
        """Return an ID without the name that stands behind it in answers; a text that is no such pair stays."""
        alone, _, name = text.partition(" ")
        is_pair = name and self._is_id(alone) and not (alone.startswith("<") or any(map(self._is_id, name.split())))
        return alone if is_pair else text

    def _is_id(self, word: str) -> bool:
        """Return whether a word is a CURIE of a known prefix, or an IRI with an authority."""
        prefix, _, local = word.removeprefix("<").partition(":")
        is_known = prefix == "_" or looks_coined(prefix) or self._namespace(prefix) is not None
        return bool(local) and (is_known or local.startswith("//"))

    def _namespace(self, name: str) -> str | None:
        declared = self._namespaces.get(name)
        return self._coined.namespace(name) if declared is None and self._coined is not None else declared


def own_form(iri: str, shortened: Callable[[str], str]) -> str:
    """Return how answers write an IRI that the gateway made itself; see `BLANK_NODE` and its neighbours."""
    if iri.startswith(BLANK_NODE):
        return f"_:{iri[len(BLANK_NODE) :]}"
    if iri.startswith(REACHED_BY):
        predicate = iri[len(REACHED_BY) :]
        short = shortened(predicate)
        return f"(<{predicate}>)" if _steps_of(short) else f"({short})"
    if is_walk(iri):
        return _written(walk_steps(iri), shortened)
    if is_path(iri):
        return f"({_written(path_steps(iri), shortened)})"
    return OWN_KEYS.get(iri, iri)


def _written(steps: Iterable[WalkStep], shortened: Callable[[str], str]) -> str:
    return "/".join(f"{'^' * is_inverse}{_in_walk(one, shortened(one))}" for one, is_inverse in steps)


_STEP = re.compile(r"(\^?)(<[^<>]*>|[^/^<>:]*:[^/^<>]*)")
_PATH = re.compile(rf"{_STEP.pattern}(?:/{_STEP.pattern})*")


def _steps_of(text: str) -> list[WalkStep]:
    """Return the IDs of a path of several predicates, or of an inverse one; none where a text is no such path."""
    if text.startswith("(") or _PATH.fullmatch(text) is None:
        return []
    steps = [(step, bool(inverse)) for inverse, step in _STEP.findall(text)]
    return steps if len(steps) > 1 or steps[0][1] else []


def local_form(name_id: str) -> str:
    """Return the local name of an ID; of a walk, and of what stands in parentheses, the local names of its steps.

    >>> local_form("(rdfs:subClassOf/owl:complementOf)"), local_form("(^ex:p)"), local_form("ex:p")
    ('(subClassOf/complementOf)', '(^p)', 'p')
    """
    if name_id.startswith("(") and name_id.endswith(")"):
        return f"({local_form(name_id[1:-1])})"
    steps = _steps_of(name_id) or [(name_id, False)]
    return "/".join(f"{'^' * is_inverse}{local_name(step.strip('<>'))}" for step, is_inverse in steps)


def _in_walk(iri: str, short: str) -> str:
    """Return an ID as a step of a walk: the whole IRI in the place of one that has a slash."""
    return f"<{iri}>" if "/" in short else short


def is_plain_curie(text: str, prefixes: Container[str]) -> bool:
    """Return whether an ID is a short CURIE of ASCII letters, digits, `_`, `-` and `.`, and so no sentence."""
    name, _, _ = text.partition(":")
    return name in prefixes and len(text) <= QUOTE_LIMIT and _PLAIN_CURIE.fullmatch(text) is not None


def in_prose(text: str) -> str:
    """Return an ID for a sentence: unchanged if it is one short printable word, else quoted and cut."""
    return text if len(text) <= QUOTE_LIMIT and text.isprintable() and " " not in text else quoted(text)


def listed_ids(ids: Sequence[str], most: int) -> str:
    """Return the first of some IDs for a sentence, and the number of the others."""
    more = f" and {len(ids) - most:,} more" if len(ids) > most else ""
    return ", ".join(map(in_prose, ids[:most])) + more


def _forgotten(text: str) -> InputError:
    """Return the error about an ID whose prefix looks as if another run of the gateway had coined it."""
    return InputError(
        f"{quoted(text)} has a prefix that is not known here, or that several namespaces have.",
        valid="A gateway knows the prefixes of the namespaces of a graph in this process, and those that its answers "
        "tell.",
        next_step="Send the whole IRI: `prefixes` of the answer that had this ID says what the prefix stands for. "
        "Otherwise call search_entities.",
    )


def _preference(name: str) -> tuple[bool, int, str]:
    """Return the sort key of a name of a namespace: not empty, then short, then alphabetical."""
    return (not name, len(name), name)
