"""What the audit log says of each request, and what happens where it cannot be written."""

import json
import logging
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from gateway import resources
from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.server.app import build
from gateway.server.observe import audit_log
from gateway.server.observe.audit_log import AuditLog
from gateway.server.observe.watching import WatchedRequest, Watching
from gateway.telemetry.tally import Tally


def asked(client: str = "ward-7", **arguments: Any) -> WatchedRequest:
    record = Tally("bfs_query").answered(complete=False, causes=["hub"])
    return WatchedRequest("tools/call", "bfs_query", client, "", "incomplete", 0.25, 4_000, (record,), arguments)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_says_who_asked_what_and_how_much_and_quotes_nobody(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path, wall_clock=lambda: 1_800_000_000.5)
    log.observe(asked(seeds=["drug:warfarin"], max_hops=2))
    log.close()
    (line,) = lines(path)
    digest = line.pop("arguments_digest")
    assert line == {
        "time": "2027-01-15T08:00:00.500+00:00",
        "client": "ward-7",
        "graph": None,
        "method": "tools/call",
        "tool": "bfs_query",
        "arguments_bytes": 43,
        "outcome": "incomplete",
        "errors": [],
        "causes": ["hub"],
        "ms": 250.0,
        "queries": 0,
        "rows": 0,
        "bytes": 0,
        "answer_bytes": 4_000,
    }
    assert len(digest) == 24
    assert "warfarin" not in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_equal_arguments_have_one_digest_within_a_run_and_another_in_the_next(tmp_path: Path) -> None:
    digests = []
    for run in ("one", "two"):
        log = AuditLog(tmp_path / run)
        for request in (asked(k=1, seeds=["a"]), asked(seeds=["a"], k=1), asked(seeds=["a"], k=2)):
            log.observe(request)
        log.close()
        digests.append([line["arguments_digest"] for line in lines(tmp_path / run)])
    (first, same, other), (later, _, _) = digests
    assert first == same
    assert len({first, other, later}) == 3


def test_a_file_that_was_moved_away_or_removed_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    log.observe(asked("one"))
    log.close()
    log = AuditLog(path)
    path.rename(tmp_path / "audit.jsonl.1")
    log.observe(asked("two"))
    log.close()
    assert [line["client"] for line in lines(tmp_path / "audit.jsonl.1")] == ["one"]
    assert [line["client"] for line in lines(path)] == ["two"]


def test_what_cannot_be_written_is_lost_counted_and_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    lost: list[None] = []
    log = AuditLog(folder / "audit.jsonl", lambda: lost.append(None))
    (folder / "audit.jsonl").unlink()
    folder.rmdir()
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            log.observe(asked())
        log.close()
    assert len(lost) == 3
    assert [record.message for record in caplog.records] == [
        "the audit log cannot be written: No such file or directory; 1 lines are lost so far"
    ]


_FULL = """
import resource, signal, sys
from pathlib import Path
from gateway.server.observe.audit_log import AuditLog
from tests.server.test_audit_log import asked

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
line = AuditLog(Path(sys.argv[2]))._line(asked())
resource.setrlimit(resource.RLIMIT_FSIZE, (len(line) + 9, limit))
log, lost = AuditLog(Path(sys.argv[1]), lambda: lost.append(1)), []
for _ in range(4):
    log.observe(asked())
log.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
again = AuditLog(Path(sys.argv[1]))
again.observe(asked("after"))
again.close()
print(len(lost))
"""


@pytest.mark.process
def test_a_line_that_a_full_disk_took_in_part_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    ran = subprocess.run(  # noqa: S603 - a program of this file
        [sys.executable, "-c", _FULL, str(path), str(tmp_path / "other")],
        check=True,
        capture_output=True,
        text=True,
    )
    written = path.read_text(encoding="utf-8").splitlines()
    assert int(ran.stdout) == 3
    assert len(written) == 3
    assert json.loads(written[0])["client"] == "ward-7"
    assert json.loads(written[-1])["client"] == "after"


def test_more_lines_than_may_wait_are_lost_and_no_request_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_log, "MOST_WAITING", 2)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    lost: list[None] = []
    log = AuditLog(pipe, lambda: lost.append(None))
    for _ in range(resource.getpagesize()):
        log.observe(asked())
    assert lost
    os.close(reading)


def test_a_file_that_cannot_be_opened_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be opened: No such file"):
        AuditLog(tmp_path / "nowhere" / "audit.jsonl")


def test_a_pipe_that_nobody_reads_is_an_error_at_the_start(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="cannot be opened: No such device or address"):
        AuditLog(tmp_path / "pipe")


@pytest.mark.anyio
async def test_a_server_writes_a_line_for_each_request_that_reads_the_graph(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    async with open_gateway(resources.folder("fixtures") / "medical.ttl") as gateway:
        server = await build(gateway)
        server.middleware.append(Watching([log.observe]))
        async with Client(server) as client:
            await client.list_tools()
            await client.call_tool("describe_entity", {"id": "drug:warfarin"})
            await client.call_tool("describe_entity", {"id": "nowhere"})
            await client.read_resource("bfs-ql://entity/drug%3Awarfarin")
    log.close()
    written = lines(tmp_path / "audit.jsonl")
    assert [(line["method"], line["tool"], line["outcome"]) for line in written] == [
        ("tools/call", "describe_entity", "complete"),
        ("tools/call", "describe_entity", "failed"),
        ("resources/read", None, "complete"),
    ]
    assert written[0]["rows"] > 0
    assert written[1]["errors"] == ["InputError"]
    assert written[0]["answer_bytes"] > 100
    text = (tmp_path / "audit.jsonl").read_text(encoding="utf-8")
    assert "warfarin" not in text
