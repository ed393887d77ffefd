"""Programs of Debian's archive, fetched by apt and unpacked into the cache; nothing is installed."""

import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tests.servers.cache import kept
from tests.servers.unavailable import ServerUnavailable

_FETCH_TIMEOUT_S: Final = 240
_TO_INSTALL: Final = re.compile(r"^Inst (\S+) ", re.MULTILINE)


def unpacked(package: str) -> Path:
    """Return a folder that holds a package, and of its dependencies those that this machine lacks.

    Raises:
        ServerUnavailable: This machine has no apt, or apt cannot get the package.
    """
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise ServerUnavailable(f"needs Debian's package {package}, and this machine has no apt-get")
    release = platform.freedesktop_os_release()
    key = f"{package}-{release['ID']}-{release.get('VERSION_ID', 'rolling')}-{platform.machine()}"
    return kept(key, lambda folder: _fill(folder, package))


def library_folders(root: Path) -> Iterable[Path]:
    """Return the folders of an unpacked package that have its shared libraries."""
    return (folder for pattern in ("usr/lib/*-linux-gnu*", "lib/*-linux-gnu*") for folder in sorted(root.glob(pattern)))


def _fill(folder: Path, package: str) -> None:
    plan = _run(["apt-get", "--simulate", "--no-install-recommends", "install", package], folder, package)
    _run(["apt-get", "download", *_TO_INSTALL.findall(plan)], folder, package)
    for archive in sorted(folder.glob("*.deb")):
        _run(["dpkg-deb", "--extract", archive, folder], folder, package)
        archive.unlink()


def _run(command: Sequence[str | Path], folder: Path, package: str) -> str:
    try:
        # Debian's own tools, on names that they gave.
        done = subprocess.run(  # noqa: S603
            command, cwd=folder, capture_output=True, text=True, timeout=_FETCH_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerUnavailable(f"needs Debian's package {package}: {error}") from error
    if done.returncode != 0:
        raise ServerUnavailable(
            f"needs Debian's package {package}, which apt could not get; `apt-get update` may help. "
            f"It said: {done.stderr.strip()[-1000:]}"
        )
    return done.stdout
