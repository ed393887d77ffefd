"""What an answer of `search_entities` says of the search, as it was made or where that goes without saying."""

from gateway.engine.answers import SearchResult


def found_in(answer: SearchResult) -> int:
    """Return how many entities fit; it is told where more fit than are listed."""
    assert answer.found is None or answer.found > len(answer.result)
    return len(answer.result) if answer.found is None else answer.found


def how(answer: SearchResult) -> str:
    """Return how it was searched, which is told where names may have been missed."""
    assert answer.searched is not None
    return answer.searched.how


def is_truncated(answer: SearchResult) -> bool:
    """Return whether there are more matches than could be read."""
    return answer.searched is not None and answer.searched.truncated is True


def is_exhaustive(answer: SearchResult) -> bool:
    """Return whether every name was compared."""
    return answer.searched is None or answer.searched.exhaustive
