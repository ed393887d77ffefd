"""The published schemas of what `check` and `profiles` print as JSON."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from gateway import cli

SCHEMAS: dict[str, Any] = json.loads(Path(*cli.__path__, "schemas.json").read_text(encoding="utf-8"))


def faults_of(document: Any, name: str) -> list[str]:
    """Return what is wrong with a document by a schema."""
    return [error.message for error in Draft202012Validator(SCHEMAS[name]).iter_errors(document)]
