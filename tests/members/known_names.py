"""Names of predicates for tests of walks and conditions."""

from collections.abc import Collection, Mapping, Sequence

from gateway.errors import InputError, quoted
from gateway.graph.walks import Step, Walk
from gateway.members.conditions import ConditionText, read_condition
from gateway.members.sides import WalkReader

EX = "http://example.org/"

PREDICATES: Mapping[str, tuple[str, ...]] = {
    name: (EX + name.partition(":")[2],)
    for name in ("pv:price", "pv:amount", "pv:weight_g", "pv:city", "pv:width_mm", "pv:height_mm", "pv:manager")
} | {
    "given name": (EX + "P735",),
    "located in/on physical feature": (EX + "P706",),
    "a = b": (EX + "ab",),
    "a/b": (EX + "slash",),
    "x": (EX + "x",),
    "x > y": (EX + "xy",),
    "weight": (EX + "net", EX + "gross"),
    f"<{EX}p/q>": (EX + "p/q",),
    f"{EX}p/q": (EX + "p/q",),
}


class KnownNames:
    """What names mean, by a table; it counts how often it is asked."""

    def __init__(self, names: Mapping[str, tuple[str, ...]] = PREDICATES) -> None:
        self._names = names
        self.asked = 0

    def predicates(self, name: str) -> Collection[str]:
        """Return the predicates of the table that have a name."""
        self.asked += 1
        return self._names.get(name, ())

    def is_id(self, name: str) -> bool:
        """Return whether a name is an ID with several meanings: none is."""
        del name
        return False

    def is_alias(self, name: str) -> bool:
        """Return whether a name is an alias: none is."""
        del name
        return False

    def unknown(self, name: str) -> InputError:
        """Return an error."""
        return InputError(f"where: {quoted(name)} is no predicate.", valid="Predicates are: pv:price.")

    def listed(self, predicates: Sequence[str], most: int) -> str:
        """Return whole IRIs."""
        return ", ".join(predicates[:most])


def reader(*, union: bool = True) -> WalkReader:
    return WalkReader(KnownNames(), "where", union=union)


def read(text: str) -> ConditionText:
    return read_condition(text, reader())


def walk(*names: str) -> Walk:
    """Return the walk of predicates of the example namespace, each with `^` before it where it leads in."""
    return tuple(Step((EX + name.removeprefix("^"),), name.startswith("^")) for name in names)
