"""What a cell claims, held against its answer, which a process that never ran its solver evaluates."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from optiframe.comparison.cells import Request
from optiframe.comparison.processes.watched import WatchedChild
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.wire import request_parts
from optiframe.findings import Finding
from optiframe.printable import printable
from optiframe.solving.result import Status

_MODULE = "optiframe.comparison.run.judge_main"
_ALIKE = 1e-6  # relative, above 1: a claim further off than this is no rounding
_TURN = 0.25  # seconds between two looks at whether the user has stopped us


@dataclass
class Judge:
    """A process, what its requests have in common, and the problems that it has built."""

    child: WatchedChild
    kind: str
    known: list[str] = field(default_factory=list)


class Judges:
    """Processes that judge answers, kept for the next cell on the same kind of problem.

    Parameters
    ----------
    keep
        How many may wait for a next cell.
    """

    def __init__(self, keep: int = 0) -> None:
        self._keep = keep
        self._idle: list[Judge] = []
        self._lock = threading.Lock()

    @contextmanager
    def prepared(self, request: Request, stop: threading.Event | None = None) -> Iterator[Case]:
        """A judge that has built the problem before the cell runs, from what the cell cannot have touched.

        That the problem cannot be built is for the cell to say.
        """
        asked = _for_judge(request)
        kind = _kind(asked)
        with self._lock:
            judge = next((one for one in self._idle if one.kind == kind and not one.child.gone), None)
            if judge is not None:
                self._idle.remove(judge)
        case = Case(asked, judge or Judge(WatchedChild(_MODULE, None, asked.limits), kind), stop)
        try:
            if asked.key not in case.judge.known and case.ask(Path()) is None:
                case.judge.child.kill()  # its late answer would be taken for one to the next question
            yield case
        except BaseException:
            case.judge.child.kill()
            raise
        self._give_back(case.judge)

    def _give_back(self, judge: Judge) -> None:
        with self._lock:
            self._idle.append(judge)
            ended = [one for one in self._idle if one.child.gone]
            ended += [one for one in self._idle if one not in ended][: -self._keep or None]
            self._idle = [one for one in self._idle if one not in ended]
        for one in ended:
            one.child.kill()

    def close(self) -> None:
        """End those that wait."""
        with self._lock:
            ended, self._idle = self._idle, []
        for judge in ended:
            judge.child.kill()


class Case:
    """One cell before its judge."""

    def __init__(self, asked: Request, judge: Judge, stop: threading.Event | None) -> None:
        self.judge = judge
        self._asked, self._stop = asked, stop

    def judged(self, outcome: Outcome, folder: Path) -> Outcome:
        """The outcome of the cell, which has ended, with what its answer in `folder` is really worth.

        An answer that cannot be judged is no answer: the outcome is an error with the reason. Where the cell
        claimed something else, or changed the problem, a finding says so, and its trace is left out.
        """
        outcome = replace(outcome, optimum=math.nan)  # the judge says it, not the cell
        if not outcome.answered or _claims_nothing(outcome):
            return outcome
        said = None if self.judge.child.gone else self.ask(folder)  # a cell may have killed it
        if said is None and not self._stopped:
            self.judge.child.kill()
            self.judge = Judge(WatchedChild(_MODULE, None, self._asked.limits), self.judge.kind)
            said = self.ask(folder)
        if said is None and self._stopped:
            return Outcome(Status.CANCELLED, "stopped by the user while its answer was judged")
        if said is None:
            reason = self.judge.child.why_gone(self._asked.limits.time)
            return _refused(outcome, f"the process that judged it failed ({reason})")
        if "refused" in said:
            refused = _refused(outcome, said["refused"])
            return replace(refused, traceback=said["traceback"], provisional=said["changed"])
        return _held_against(outcome, said)

    @property
    def _stopped(self) -> bool:
        return self._stop is not None and self._stop.is_set()

    def ask(self, folder: Path) -> dict[str, Any] | None:
        """What the judge says of the answer in a folder; None when it is gone, or silent until the limit."""
        asked, judge = self._asked, self.judge
        deadline = time.monotonic() + asked.limits.time
        if asked.key in judge.known:
            asked = replace(asked, objects={})
        judge.child.ask(request_parts(asked, folder, deadline), asked.limits.time)
        while (left := deadline - time.monotonic()) > 0 and not self._stopped:
            said = judge.child.next(min(_TURN, left))
            if said is not None:
                judge.known = said["known"]
                return said
            if judge.child.gone:
                break
        return None


def _for_judge(request: Request) -> Request:
    """The request without its solver and its seed; its key is that of the problem."""
    objects = {kind: sent for kind, sent in request.objects.items() if kind == "problem"}
    digest = hashlib.sha256()
    for sent in objects.values():
        for part in (sent.content, *sent.buffers):
            digest.update(part)
    said = [request.problem, asdict(request.checksums), digest.hexdigest()]
    key = hashlib.sha256(json.dumps(said).encode()).hexdigest()
    return replace(request, key=key, solver=None, seed=0, budget={}, objects=objects)


def _kind(asked: Request) -> str:
    """What all that one judge is asked has in common: a problem's name, where its code is, and the limits."""
    table = asked.problem or {}
    data = table.get("dataset")
    named = data.get("name") if isinstance(data, Mapping) else data
    name = [table.get("name"), named] if asked.problem else asked.key
    said = [name, asked.modules, asked.path, asked.folder, dict(asked.blocked), asdict(asked.limits)]
    return json.dumps(said)


def _claims_nothing(outcome: Outcome) -> bool:
    """Whether a run ended without an answer, such as a library that found no point in time."""
    return math.isnan(outcome.objective) and math.isnan(outcome.violation) and not outcome.metrics


def _refused(outcome: Outcome, why: str) -> Outcome:
    """An outcome without an answer: nothing that the cell claims of it counts."""
    return replace(
        outcome,
        status=Status.ERROR,
        message=f"its answer cannot be judged: {printable(why)}",
        objective=math.nan,
        violation=math.nan,
        metrics={},
        solved="",
        trace={},
        history={},
    )


def _held_against(outcome: Outcome, judged: Mapping[str, Any]) -> Outcome:
    """The outcome with the judge's numbers, and with findings where the cell's were others."""
    if not judged["same"]:
        return _refused(
            outcome,
            "the problem is not the same when it is built again; give its data set a seed, and make sure "
            "that it draws no other random numbers",
        )
    found = []
    if not judged["untouched"] or outcome.solved != judged["solved"]:
        text = "The solver changed the problem's data. Its answer was judged on the data as they were."
        found.append(Finding("warning", text, identifier="cell.problem-changed"))
    claims = {"objective": outcome.objective, "violation": outcome.violation, **outcome.metrics}
    truth = {name: judged[name] for name in ("objective", "violation")} | judged["metrics"]
    if wrong := [name for name in truth | claims if not _alike(claims.get(name), truth.get(name))]:
        each = (f"{name} {_text(claims.get(name))} (in truth {_text(truth.get(name))})" for name in wrong)
        text = f"The run claimed numbers that its answer does not have: {', '.join(each)}."
        found.append(Finding("warning", text, identifier="cell.claim-differs"))
    return replace(
        outcome,
        objective=judged["objective"],
        violation=judged["violation"],
        metrics=judged["metrics"],
        better=judged["better"],
        optimum=math.nan if judged["optimum"] is None else float(judged["optimum"]),
        solved=judged["solved"],
        trace={} if found else outcome.trace,
        history={} if found else outcome.history,
        findings=(*outcome.findings, *map(asdict, found)),
    )


def _alike(claimed: float | None, judged: float | None) -> bool:
    if claimed is None or judged is None:
        return False
    if math.isnan(judged) or math.isinf(judged):
        return repr(claimed) == repr(judged)
    return abs(claimed - judged) <= _ALIKE * max(1.0, abs(judged))


def _text(number: float | None) -> str:
    return "not given" if number is None else f"{number:.6g}"
