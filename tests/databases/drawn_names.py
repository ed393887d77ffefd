"""Nodes with names of every kind that a property can be, and what of each has to be found and shown."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mcp import Client

from tests.calls import asked

_KEYS: Final = ("name", "title", "synonyms", "note")

Node = Mapping[str, Any]
"""The properties of a node."""


def drawn_nodes(seed: str, count: int) -> list[Node]:
    """Draw nodes; each text and number in them is one that no other has."""
    draw = random.Random(seed)  # noqa: S311 - a test that can be repeated
    fresh = iter(range(10_000, 99_999))

    def word() -> str:
        return draw.choice(["", " \t", *[f"w{next(fresh)}"] * 4])

    def value() -> Any:
        match draw.randrange(7):
            case 0:
                return None
            case 1 | 2:
                return word()
            case 3:
                return [word() for _ in range(draw.randrange(4))]
            case 4:
                return next(fresh)
            case 5:
                return [next(fresh) for _ in range(draw.randrange(3))]
            case _:
                return draw.choice([True, next(fresh) + 0.25])

    def node(number: int) -> Node:
        found = {key: value() for key in _KEYS}
        return {"id": f"urn:d:{number}", **{key: one for key, one in found.items() if one is not None}}

    return [node(number) for number in range(count)]


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _texts(node: Node, *keys: str) -> Iterator[str]:
    """Yield what has to be a name: all but blank texts."""
    return (_text(value) for key in keys for value in _each(node.get(key)) if _text(value).strip())


async def check_nothing_is_lost(client: Client, node: Node, *, names: Sequence[str]) -> None:
    """Fail if a value of a node is not shown, or one of its names is not found.

    Args:
        client: Calls the tools.
        node: The node.
        names: The properties with its name; `synonyms` has further ones.
    """
    answer = await asked(client, "bfs_query", seeds=[node["id"]], max_hops=1)
    assert answer["complete"] is True
    (shown,) = answer["nodes"]
    metadata = shown.get("metadata", {})
    texts = [*_texts(node, *names)]
    assert metadata.get("name") == next(iter(texts), None)
    every = {*texts, *_texts(node, "synonyms")}
    assert {*texts[:1], *metadata.get("synonyms", ())} == every
    for key in _KEYS:
        values, others = _each(node.get(key)), {*map(_text, _each(metadata.get(f"term:{key}")))}
        if key in (*names, "synonyms"):
            # Blank texts are no names, and are shown for what they are.
            assert {value for value in values if isinstance(value, str) and not value.strip()} <= others
        else:
            assert {*map(_text, values)} == others
    for text in every - {"true"}:
        found = await asked(client, "search_entities", query=text)
        assert [hit["id"] for hit in found["result"]] == [node["id"]], text
        assert found["complete"] is True
