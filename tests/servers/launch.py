"""Become the given command, and end when the parent ends: `launch.py PARENT_PID COMMAND...`.

Run as a script of its own, so that nothing of the test process is forked with it. On Linux the
kernel is asked to terminate this process when its parent dies, by whatever cause; that wish
survives the exec. Elsewhere it is only the exec.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("the parent is gone")
    # The very command that the parent's own process.py put together.
    os.execvp(command[0], command)  # noqa: S606
