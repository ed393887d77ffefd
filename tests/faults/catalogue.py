"""Every fault that the proxy can inject, by name."""

from collections.abc import Mapping, Sequence
from typing import Final

from tests.faults.breaking import BREAKING
from tests.faults.cutting import CUTTING
from tests.faults.injected import InjectedFault
from tests.faults.refusing import REFUSING
from tests.faults.silent import SILENT

CATALOGUE: Final[Mapping[str, InjectedFault]] = {
    fault.name: fault for fault in (*CUTTING, *BREAKING, *REFUSING, *SILENT)
}
DETECTABLE: Final[Sequence[InjectedFault]] = tuple(fault for fault in CATALOGUE.values() if fault.detectable)
UNDETECTABLE: Final[Sequence[InjectedFault]] = tuple(fault for fault in CATALOGUE.values() if not fault.detectable)
BY_SENTINEL: Final[Sequence[InjectedFault]] = tuple(fault for fault in UNDETECTABLE if fault.by_sentinel)
"""Those of them that show where the query asks for a last row that proves the end: cuts between two rows."""
OF_DATABASES: Final = ("rows-and-their-number", "changed-value")
"""What cannot be known of the answers of databases (`tests/databases/cut_answers.py`)."""
TOLD: Final[Sequence[InjectedFault]] = (*DETECTABLE, *BY_SENTINEL)
"""What is reported at an engine with a sentinel."""
