"""A graph of names with accents, in several scripts and Unicode forms, and of words inside words."""

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
WORDS: Final = (
    *("Vitamin K", "Vitamin K2", "vitamin A", "Vitamin B 6", "Vitamin B kinase", "K, the vitamin", "vitamin C"),
    *("IL-1 signaling", "human IL 1 receptor", "IL-18 signaling pathway", "IL1 signaling", "IL-10"),
    *("Ove Arup", "Mike Love", "Ovens", "Lovers of art", "Art", "Party", "Heart", "heart attack", "artist"),
    *("Cubic Metre", "Kubikmeter", "Kilometre per Hour", "km/h", "h", "0,06", "0,76", "6,0", "0.6"),
    *("C++", "C#", "C", "5'-nucleotidase", "nucleotidase 5", "AT&T", "At T", "O\u2019Brien", "OBrien", "Brien"),
    *("City of Oslo", "Oslo, the woman", "Wolves", "knife", "box rental"),
    *("TotalMentions", "total_mentions", "2-oxoglutarate", "oxoglutarate", "p53", "p53-binding", "P", "53"),
    *(
        "\u6771\u4eac\u90fd",
        "\u4eac\u90fdTower",
        "\u4eac \u6771",
        "\u30ac\u30e9\u30b9cup",
        "\u304b\u304e",
        "\u304c\u304f",
        "\u4f50\u3005\u6728",
    ),
    *(
        "\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e",
        "\u0ea7\u0ebd\u0e87\u0e88\u0eb1\u0e99",
        "\u1797\u17d2\u1793\u17c6\u1796\u17c1\u1789",
        "\u101b\u1014\u103a\u1000\u102f\u1014\u103a",
    ),
    *(
        "\ud55c\uad6d \uc0ac\ub78c",
        "\ud55c\uad6d\uc0ac\ub78c",
        "\ud55c",
        "stra\u00dfe",
        "strassen",
        "\u0130s",
        "\u0131s",
        "\u00bd cup",
        "5\u338f bag",
        "\ufb01t",
    ),
    *(
        "\u0627\u0644\u0633\u0644\u0627\u0645",
        "\u0633\u0644\u0627\u0645",
        "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
        "\u05d5\u05e9\u05dc\u05d5\u05dd",
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "\u0939\u093f\u0928",
    ),
)
"""Names with words that stand in others as words or inside words, in scripts with and without blanks."""

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
    for number, name in enumerate(WORDS):
        node = f"<{NAMESPACE}w{number}>"
        yield f"{node} <{_KNOWS}> <{NAMESPACE}n{number}>"
        yield f'{node} <{_LABELS[number % 5 == 0]}> "{name}"'


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
