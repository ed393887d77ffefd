"""`python -m tests.release OWNER/NAME`: builds all that a release publishes into dist/."""

import subprocess
import sys

from tests.release.files import ROOT, build_bundle, write_entry
from tests.servers.unavailable import ServerUnavailable


def main() -> None:
    """Build the wheel, the source distribution, the bundle and the entry of the registry."""
    if len(sys.argv) != 2 or sys.argv[1].count("/") != 1:
        sys.exit("Say for which repository: python -m tests.release OWNER/NAME")
    target = ROOT / "dist"
    target.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(target)], cwd=ROOT, check=True)  # noqa: S603 - our own command
    try:
        written = build_bundle(target)
    except (ServerUnavailable, subprocess.CalledProcessError) as error:
        sys.exit(str(getattr(error, "stderr", error)))
    write_entry(sys.argv[1], written, target)
    for path in sorted(target.iterdir()):
        sys.stdout.write(f"{path.stat().st_size:>10,}  {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
