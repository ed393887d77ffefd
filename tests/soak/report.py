"""What a soak showed: figures against targets, as a table and as JSON."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.faults.catalogue import TOLD
from tests.harness.report import BAD, Verdict
from tests.servers.engines import ColumnName
from tests.soak.questions import DEADLINE_SECONDS
from tests.soak.slot import Outcome

LATE_SECONDS: Final = DEADLINE_SECONDS + 1.0
_EXAMPLES: Final = 20


@dataclass(frozen=True)
class Target:
    """A figure and what it has to be.

    Attributes:
        name: What is counted.
        value: What was counted.
        wanted: What it has to be, in words.
        met: Whether it is.
        timed: Whether it hangs on how fast this machine is.
    """

    name: str
    value: float
    wanted: str
    met: bool
    timed: bool

    @classmethod
    def none_of(cls, name: str, value: int, *, timed: bool = False) -> "Target":
        """Return the target that something never happens."""
        return cls(name, value, "0", value == 0, timed)

    @classmethod
    def at_least(cls, name: str, value: float, least: float, *, timed: bool = False) -> "Target":
        """Return the target that something is so much or more."""
        return cls(name, value, f">= {least:g}", value >= least, timed)


@dataclass
class Report:
    """A whole run.

    Attributes:
        seed: What it was drawn from.
        engines: The engines.
        least: How often each fault has to have happened on each engine.
        outcomes: Every call.
        tasks: Tasks that were left at the end.
        connections: Connections that closed gateways left open.
        handles: File handles that were left at the end.
        upstream_failures: Requests that a server behind a proxy did not answer, by no fault of the plan's.
        unclean: Questions whose answers were not right even without a fault.
        seconds: How long the calls took in all.
        blocked: The longest time in which this process did nothing: of a call that was late by less, nothing follows.
    """

    seed: int
    engines: Sequence[ColumnName]
    least: int
    outcomes: list[Outcome] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    connections: int = 0
    handles: int = 0
    upstream_failures: int = 0
    unclean: list[str] = field(default_factory=list)
    seconds: float = 0.0
    blocked: float = 0.0

    @property
    def targets(self) -> list[Target]:
        """Every figure that has to be something."""
        without = [one for one in self.outcomes if not one.injected]
        again = sum(one.again in BAD for one in self.outcomes)
        rarest = min((count for _, _, count in self._injected()), default=0)
        return [
            Target.none_of("wrong and complete", self._count(Verdict.WRONG)),
            Target.none_of("incomplete and untrue", self._count(Verdict.UNTRUE)),
            Target.none_of("crashed", self._count(Verdict.CRASHED)),
            Target.none_of("wrong, untrue or crashed when asked again", again),
            Target.none_of("wrong without any fault or proxy", len(self.unclean)),
            Target.at_least("% complete where no fault was injected", _share(without), 95, timed=True),
            Target.at_least("% complete over all", _share(self.outcomes), 30, timed=True),
            Target.none_of(
                f"calls over {LATE_SECONDS:g} s", sum(one.seconds > LATE_SECONDS for one in self.outcomes), timed=True
            ),
            Target.none_of("calls with a request open after the answer", sum(one.lingering for one in self.outcomes)),
            Target.none_of("tasks left", len(self.tasks)),
            Target.none_of("connections left", self.connections),
            Target.none_of("file handles left", self.handles),
            Target.at_least("times each fault on each engine", rarest, self.least),
        ]

    @property
    def passed(self) -> bool:
        """Whether every target is met."""
        return all(target.met for target in self.targets)

    @property
    def failures(self) -> list[Outcome]:
        """The calls that should not have ended so."""
        return [
            one
            for one in self.outcomes
            if one.verdict in BAD
            or one.again in BAD
            or one.lingering
            or one.seconds > LATE_SECONDS
            or _fails_by_itself(one)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return all figures, and the calls that failed a target."""
        return {
            "seed": self.seed,
            "engines": list(self.engines),
            "calls": len(self.outcomes),
            "seconds": round(self.seconds, 1),
            "blocked": round(self.blocked, 3),
            "passed": self.passed,
            "targets": {target.name: [target.value, target.wanted, target.met] for target in self.targets},
            "verdicts": {engine: self._verdicts(engine) for engine in self.engines},
            "faults": {engine: {name: n for e, name, n in self._injected() if e == engine} for engine in self.engines},
            "verdicts_by_fault": self._by_fault(),
            "asked_again": Counter(one.again.value for one in self.outcomes if one.again),
            "upstream_failures": self.upstream_failures,
            "unclean": self.unclean,
            "tasks": self.tasks,
            "failures": [one.as_json() for one in self.failures],
        }

    def as_text(self) -> str:
        """Return the table that a person reads."""
        lines = [f"seed {self.seed}: {len(self.outcomes):,} calls in {self.seconds:,.0f} s"]
        lines += [f"the longest time in which this process could do nothing: {self.blocked:.2f} s", ""]
        lines.append("".join(f"{title:>12}" for title in ("engine", *(verdict.value for verdict in Verdict))))
        for engine in self.engines:
            counts = self._verdicts(engine)
            lines.append(f"{engine:>12}" + "".join(f"{counts[verdict.value]:>12,}" for verdict in Verdict))
        lines += ["", f"{'fault':<28}{'injected':>10}" + "".join(f"{verdict.value:>10}" for verdict in Verdict)]
        for name, counts in self._by_fault().items():
            figures = "".join(f"{counts[verdict.value]:>10,}" for verdict in Verdict)
            lines.append(f"{name:<28}{counts['injected']:>10,}{figures}")
        again = Counter(one.again.value for one in self.outcomes if one.again)
        lines += [
            "",
            "asked again without a fault: " + ", ".join(f"{n:,} {verdict}" for verdict, n in again.items()),
            "",
        ]
        for target in self.targets:
            mark = "ok    " if target.met else "MISSED"
            lines.append(f"{mark} {target.name}: {target.value:g} (wanted {target.wanted})")
        worst = sorted(self.failures, key=lambda one: (one.verdict not in BAD and one.again not in BAD, -one.seconds))
        lines += [f"\n{one.call.engine} {one.verdict}: {one.as_json()}" for one in worst[:_EXAMPLES]]
        lines += self.unclean[:_EXAMPLES]
        return "\n".join([*lines, ""])

    def _count(self, verdict: Verdict) -> int:
        return sum(one.verdict is verdict for one in self.outcomes)

    def _verdicts(self, engine: str) -> dict[str, int]:
        counted = Counter(one.verdict for one in self.outcomes if one.call.engine == engine)
        return {verdict.value: counted[verdict] for verdict in Verdict}

    def _injected(self) -> list[tuple[str, str, int]]:
        counted = Counter((one.call.engine, name) for one in self.outcomes for name in one.injected)
        return [(engine, fault.name, counted[engine, fault.name]) for engine in self.engines for fault in TOLD]

    def _by_fault(self) -> dict[str, dict[str, int]]:
        """Return, for each fault, how often it happened, and how calls ended to which nothing else happened."""
        told: dict[str, dict[str, int]] = {}
        for fault in TOLD:
            alone = Counter(one.verdict for one in self.outcomes if one.injected == (fault.name,))
            total = sum(count for _, name, count in self._injected() if name == fault.name)
            told[fault.name] = {"injected": total, **{verdict.value: alone[verdict] for verdict in Verdict}}
        return told


def _share(outcomes: Sequence[Outcome]) -> float:
    right = sum(one.verdict is Verdict.RIGHT for one in outcomes)
    return round(100 * right / len(outcomes), 2) if outcomes else 0.0


def _fails_by_itself(outcome: Outcome) -> bool:
    return not outcome.injected and outcome.verdict is not Verdict.RIGHT
