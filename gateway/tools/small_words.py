"""Small words of several languages: articles, prepositions, pronouns and the like, as words are folded."""

from __future__ import annotations

from collections.abc import Sequence

IN_NAMES = frozenset({
    "a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "de", "del",
    "della", "des", "di", "do", "du", "el", "en", "et", "il", "la", "las", "le", "les", "los", "una", "das",
    "dem", "den", "der", "die", "ein", "eine", "im", "und", "von", "zu", "zur", "van", "het",
})  # fmt: skip
"""Words that two names have in common by chance."""

_ENGLISH = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "had", "has", "have", "how",
    "in", "is", "it", "its", "many", "much", "of", "on", "or", "that", "the", "their", "there", "these", "they", "this",
    "those", "to", "was", "were", "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with",
})  # fmt: skip
"""Words of a question in English that most names have, or none."""

_OTHER = frozenset({
    # German
    "als", "am", "auch", "auf", "aus", "bei", "beim", "das", "dass", "dem", "den", "der", "des", "die", "diese",
    "dieser", "dieses", "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er", "es", "fur", "hat", "hatte",
    "hatten", "haben", "ihr", "ihre", "im", "ist", "mit", "nach", "nicht", "oder", "sein", "seine", "sich", "sie",
    "sind", "uber", "um", "und", "unter", "viel", "viele", "vom", "von", "vor", "wann", "war", "waren", "warum", "wem",
    "wen", "wer", "werden", "wessen", "welche", "welchem", "welchen", "welcher", "welches", "wie", "wieviel",
    "wieviele", "wird", "wo", "woher", "wohin", "wurde", "wurden", "zu", "zum", "zur",
    # French
    "au", "aux", "avec", "ce", "ces", "cet", "cette", "combien", "comment", "d", "dans", "de", "du", "elle",
    "elles", "en", "est", "et", "etaient", "etait", "il", "ils", "l", "la", "le", "les", "leur", "leurs", "ont", "ou",
    "par", "pour", "pourquoi", "qu", "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "s", "sa",
    "sans", "ses", "son", "sont", "sous", "sur", "un", "une",
    # Spanish
    "al", "como", "con", "cual", "cuales", "cuando", "cuanta", "cuantas", "cuanto", "cuantos", "del", "donde", "el",
    "ella", "era", "esta", "estan", "este", "fue", "fueron", "ha", "han", "las", "lo", "los", "no", "para", "por",
    "quien", "quienes", "se", "sin", "sobre", "su", "sus", "una", "unas", "uno", "unos", "y",
    # Italian
    "alla", "che", "chi", "come", "cosa", "da", "dal", "dalla", "dei", "degli", "della", "delle", "dello", "di", "dove",
    "e", "erano", "gli", "hanno", "i", "nel", "nella", "per", "perche", "quale", "quali", "quando", "quante", "quanti",
    "quanto", "sono", "sua", "sul", "sulla", "suo",
    # Portuguese
    "com", "dos", "foi", "foram", "na", "nas", "nos", "o", "onde", "os", "pela", "pelo", "qual", "quais", "quem", "sao",
    "seu", "seus", "tem", "uma",
    # Dutch
    "aan", "bij", "dat", "deze", "dit", "door", "een", "heeft", "hebben", "het", "hoe", "hoeveel", "met", "naar", "op",
    "te", "uit", "van", "voor", "waar", "waarom", "wanneer", "wat", "welk", "werd", "wordt", "worden",
    "zijn",
})  # fmt: skip
"""The same in other languages."""

_ALSO_TELLING = frozenset({
    "chi", "com", "come", "comment", "con", "den", "die", "door", "dove", "era", "fur", "hat", "met", "no", "os", "par",
    "per", "sin", "son", "un", "van", "war",
})  # fmt: skip
"""Those of other languages that say something in English."""


def telling(words: Sequence[str]) -> list[str]:
    """Return the words of a question that say something; all of them where none does.

    What is small in one language and says something in English, such as `die` and `war`, is small where the question
    has more small words of other languages than of English.
    """
    other = sum(word in _OTHER and word not in _ENGLISH and word not in _ALSO_TELLING for word in words)
    english = sum(word in _ENGLISH and word not in _OTHER for word in words)
    small = _ENGLISH | (_OTHER if other > english else _OTHER - _ALSO_TELLING)
    return [word for word in words if word not in small] or list(words)
