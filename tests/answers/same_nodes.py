"""Whether an expanded compact answer has the nodes of the reference shape, and says the same of them."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def assert_same_nodes(expanded: Sequence[Mapping[str, Any]], reference: Sequence[Mapping[str, Any]]) -> None:
    """Assert it: names where the reference has them, and types where the compact answer tells them."""
    found = {node["id"]: node for node in expanded}
    wanted = {node["id"]: node for node in reference}
    assert len(found) == len(expanded)
    assert found.keys() == wanted.keys()
    for name_id, node in wanted.items():
        one, other = said(found[name_id]), said(node)
        if "metadata" not in other:
            # A node that carries nothing but a name says no type in a list of several.
            assert one.pop("entity_type", node["entity_type"]) == other.pop("entity_type")
        if "name" not in other:
            # The reference shape names stubs only where IDs are opaque.
            one.pop("name", None)
        assert one == other


def said(node: Mapping[str, Any]) -> Json:
    """Return what is said of a node, its name beside the metadata, which is absent where it says no more."""
    metadata = dict(node.get("metadata", {}))
    name = metadata.pop("name", node.get("name"))
    left = {key: value for key, value in node.items() if key not in {"metadata", "name"}}
    return {**left, **({} if name is None else {"name": name}), **({"metadata": metadata} if metadata else {})}
