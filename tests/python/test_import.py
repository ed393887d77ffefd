"""`import bfsql_gateway`: from any folder where it is installed, and from a clone where nothing is."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import get_args

import pytest

import bfsql_gateway
from bfsql_gateway import errors
from gateway.answers.models import ToolAnswer

ROOT = Path(__file__).resolve().parents[2]
CODE = "import bfsql_gateway as b; print(b.__version__, b.open_gateway.__name__, b.errors.InputError.__name__)"


def test_it_has_its_version_and_all_that_it_names() -> None:
    assert bfsql_gateway.__version__ == version("bfsql-gateway")
    assert all(hasattr(bfsql_gateway, name) for name in bfsql_gateway.__all__)
    assert set(get_args(ToolAnswer)) <= {getattr(bfsql_gateway, name) for name in bfsql_gateway.__all__}


def test_every_error_says_what_to_do_and_is_in_one_tree() -> None:
    for name in errors.__all__:
        error = getattr(errors, name)
        assert issubclass(error, errors.GatewayError)
        assert error("Wrong.", next_step="Do this.").next_step == "Do this."


def test_types_are_published() -> None:
    assert (Path(bfsql_gateway.__file__).parent / "py.typed").exists()


@pytest.mark.process
@pytest.mark.parametrize("where", ["clone", "elsewhere"])
def test_it_is_imported_from_a_clone_and_from_an_editable_install(where: str, tmp_path: Path) -> None:
    # Without the folder of the editable install, as in a clone.
    code = f"import sys; sys.path.remove({str(ROOT)!r}); {CODE}" if where == "clone" else CODE
    folder = ROOT if where == "clone" else tmp_path
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split()[1:] == ["open_gateway", "InputError"]
