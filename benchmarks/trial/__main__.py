"""`python -m benchmarks.trial serve|score`: questions for a model or a person, over the tools or over SPARQL.

`serve` draws questions, writes them to `questions.json` in a folder, and serves each at its own URL; who answers
writes `tools-answers.json` or `sparql-answers.json` there. `score` compares these with the known answers.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from rich.console import Console
from rich.table import Table

from benchmarks.trial.questions import GRAPH, Question, draw
from benchmarks.trial.recorder import Recorder
from benchmarks.trial.scores import Score, costs, read_answers, scores, summary
from gateway.api import open_gateway
from gateway.server.access.http_access import HttpAccess
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.run import PATH, serve_http
from gateway.settings.serving import HttpSettings
from tests.servers.loopback import HOST, free_port
from tests.servers.oxigraph import running_oxigraph

ARMS: Final = ("tools", "sparql")
_PROFILE: Final = "wikidata-local"
_CALLS: Final = "calls.jsonl"
_DRAW: Final = "draw.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trial", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="draw questions, and serve them until Ctrl-C")
    serve.add_argument("--count", type=int, default=60, help="how many questions")
    serve.add_argument("--seed", type=int, default=1, help="which questions")
    serve.add_argument("--port", type=int, default=0, help="a free one where absent")
    score = commands.add_parser("score", help="compare the answers with the known ones")
    for command in (serve, score):
        command.add_argument("--folder", type=Path, required=True, help="where questions, calls and answers are")
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    if options.command == "score":
        drawn = json.loads((folder / _DRAW).read_text(encoding="utf-8"))
        return _score(folder, draw(drawn["count"], drawn["seed"]))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _DRAW).write_text(json.dumps({"count": options.count, "seed": options.seed}), encoding="utf-8")
    return asyncio.run(_serve(folder, draw(options.count, options.seed), options.port or free_port()))


async def _serve(folder: Path, questions: Sequence[Question], port: int) -> int:
    """Serve both arms until a signal comes."""
    stop = asyncio.Event()
    for signaled in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signaled, stop.set)
    with running_oxigraph([GRAPH], workdir=folder) as oxigraph:
        gateway = open_gateway([GRAPH], profile=_PROFILE, store=folder / "store")
        await gateway.wait_until_ready()
        tools = free_port()
        server = asyncio.create_task(
            serve_http(GatewayOpener.over(gateway), HttpAccess(HttpSettings(HOST, tools)), stop)
        )
        upstreams = {"tools": f"http://{HOST}:{tools}{PATH}", "sparql": oxigraph.endpoint}
        runner = web.AppRunner(Recorder(upstreams, folder / _CALLS, len(questions)).app())
        await runner.setup()
        await web.TCPSite(runner, HOST, port).start()
        _write_questions(folder, questions, port)
        sys.stderr.write(f"Questions and their URLs: {folder / 'questions.json'}. Ctrl-C ends.\n")
        await stop.wait()
        await runner.cleanup()
        await server
    return 0


def _write_questions(folder: Path, questions: Sequence[Question], port: int) -> None:
    """Write what whoever answers may see."""
    shown = [
        {
            "number": question.number,
            "question": question.text,
            "mcp": f"http://{HOST}:{port}/tools/{question.number}/mcp",
            "sparql": f"http://{HOST}:{port}/sparql/{question.number}",
        }
        for question in questions
    ]
    (folder / "questions.json").write_text(json.dumps(shown, indent=1, ensure_ascii=False), encoding="utf-8")


def _score(folder: Path, questions: Sequence[Question]) -> int:
    lines = (folder / _CALLS).read_text(encoding="utf-8").splitlines()
    calls: Sequence[Mapping[str, Any]] = [json.loads(line) for line in lines]
    tokens = _token_counter()
    by_arm: dict[str, Sequence[Score]] = {}
    for arm in ARMS:
        answers = read_answers(folder, arm)
        if answers:
            by_arm[arm] = scores(questions, answers, costs(calls, arm, tokens))
    report = {arm: summary(scored) for arm, scored in by_arm.items()}
    table = Table("", *report, title=f"{len(questions)} questions")
    for what in dict.fromkeys(what for figures in report.values() for what in figures):
        table.add_row(what, *(str(figures.get(what, "")) for figures in report.values()))
    console = Console(soft_wrap=True)
    console.print(table)
    if tokens is None:
        console.print("Tokens are counted where the package bpe-openai is installed.")
    each = {arm: [_row(score) for score in scored] for arm, scored in by_arm.items()}
    (folder / "scores.json").write_text(
        json.dumps({"summary": report, "questions": each}, indent=1, ensure_ascii=False), encoding="utf-8"
    )
    return 0


def _row(score: Score) -> Mapping[str, Any]:
    return {
        "number": score.question.number,
        "name": score.question.name,
        "question": score.question.text,
        "F1": round(score.f1, 3),
        "calls": score.cost.calls,
        "characters": score.cost.characters,
        "missing": sorted(score.question.gold - score.given),
        "wrong": sorted(score.given - score.question.gold),
    }


def _token_counter() -> Callable[[str], int] | None:
    """Return what counts tokens of o200k, a public tokenizer that needs no network; None if it is not installed."""
    try:
        package = importlib.import_module("bpe_openai")
    except ImportError:
        return None
    encoder = package.get_encoding("o200k_base")

    def count(text: str) -> int:
        return len(encoder.encode_ordinary(text))

    return count


if __name__ == "__main__":
    sys.exit(main())
