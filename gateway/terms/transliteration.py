"""Names in the letters of ASCII: what people type who write a name of another script in Latin letters.

Several spellings are in use for most names, and the characters of Chinese and Japanese have the same form here, that of
Chinese. So what is found by this is a guess.
"""

from __future__ import annotations

from anyascii import anyascii

from gateway.terms.names import fold_marks, folded_words


def latin_words(text: str) -> list[str]:
    """Return the words of a text in the letters of ASCII; none where searches compare it in these letters anyway.

    >>> latin_words("Лев Толстой"), latin_words("Søren"), latin_words("Zoë")
    (['lev', 'tolstoy'], ['soren'], [])
    """
    if text.isascii():
        return []
    folded = fold_marks(text)
    if not any(character.isalpha() for character in folded if not character.isascii()):
        return []
    # The folded form has no accents, by which some letters are others: `й`, and the voiced ones of kana.
    return folded_words(anyascii(text))
