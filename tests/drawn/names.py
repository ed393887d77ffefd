"""A graph of names with accents, in several scripts and Unicode forms, and the naive comparison of two names."""

import random
import unicodedata
from collections.abc import Iterator
from typing import Final

NAMESPACE: Final = "https://example.org/names/"
_LABELS: Final = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#altLabel",
)
_KNOWS: Final = NAMESPACE + "knows"
_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

_GIVEN_NAMES: Final = """
Björk José Zoë François Łucja Søren Đorđe Ægir Øystein Çağla İbrahim Ştefan Nguyễn Ångström Straße Weiß Ælfred Þóra
Žižek Ōe Ἀθηνᾶ Σωκράτης Ελένη Алёна Сергей Юлія محمد مُحَمَّد שָׁלוֹם 김철수 東京 がぎぐ \ufb01nance \uff26\uff55\uff4c\uff4c
naïve O\u2019Brien Jean-Luc São Dvořák Gödel Erdős Mañana Ŝanĝo Đặng Ḥusayn Ṣalāḥ Same Sàme
"""
_FAMILY_NAMES: Final = """
Guðmundsdóttir Peña Müller Škoda Tōkyō Wałęsa Brontë Ibáñez Nørgård Παπαδόπουλος Достоевский Name Nãme Smith Şimşek
Kovács Nạm d\u2019Arc Ó_Briain von_Neumann de_la_Cruz
"""
_GIVEN: Final = _GIVEN_NAMES.split()
_FAMILY: Final = [name.replace("_", " ") for name in _FAMILY_NAMES.split()]
_ENTITIES: Final = 400
_LONGEST: Final = 900
"""Characters of a name that is typed; the gateway takes 1,000."""

_FORMS: Final = ("NFC", "NFC", "NFD", "NFC")


def names_graph() -> Iterator[str]:
    """Yield the triples of the graph as lines of N-Triples, without the final dot; the same in each run."""
    dice = random.Random(13)  # noqa: S311 - test data, not a secret
    for number in range(_ENTITIES):
        node = f"<{NAMESPACE}n{number}>"
        yield f"{node} <{_TYPE}> <{NAMESPACE}{dice.choice(('Person', 'Place'))}>"
        yield f"{node} <{_KNOWS}> <{NAMESPACE}n{dice.randrange(_ENTITIES)}>"
        for label in _LABELS[: 1 + (dice.random() < 0.3)]:
            name = " ".join((dice.choice(_GIVEN), dice.choice(_FAMILY))[: 1 + (dice.random() < 0.8)])
            text = unicodedata.normalize(dice.choice(_FORMS), name)
            yield f'{node} <{label}> "{text}"{dice.choice(("", "@en", "@is"))}'


def spelling(name: str, dice: random.Random) -> str:
    """Return a name as somebody may type it: in other case, without accents, in another Unicode form or order."""
    words = name.split()
    ways = (
        name,
        name.upper(),
        name.lower(),
        unicodedata.normalize("NFC", name),
        unicodedata.normalize("NFD", name),
        without_accents(name),
        without_accents(name).lower(),
        " ".join(reversed(words)),
    )
    return dice.choice(ways)


def without_accents(name: str) -> str:
    """Return a name without the marks that a keyboard may lack, in composed form."""
    bare = (letter for letter in unicodedata.normalize("NFD", name) if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", "".join(bare))


def stands_for_an_id(name: str) -> bool:
    """Return whether a name can be given in the place of an ID: it has a word, and reads as no ID."""
    return len(name) < _LONGEST and any(map(str.isalnum, name)) and not set(name) & set(":/<>")


def spelled_alike(name: str) -> str:
    """Return a name with case, accents, Unicode forms and separators folded away, written without the gateway."""
    bare = without_accents(unicodedata.normalize("NFKC", name).casefold())
    spaced = bare.replace("_", " ").replace("-", " ")
    return unicodedata.normalize("NFC", without_accents(" ".join(spaced.split()).casefold()))


def words_alike(name: str) -> frozenset[str]:
    """Return the words of a name with case, accents and Unicode forms folded away, written without the gateway."""
    bare = without_accents(unicodedata.normalize("NFKC", name).casefold())
    spaced = "".join(one if one.isalnum() or unicodedata.category(one)[0] == "M" else " " for one in bare)
    return frozenset(unicodedata.normalize("NFC", without_accents(word.casefold())) for word in spaced.split())
