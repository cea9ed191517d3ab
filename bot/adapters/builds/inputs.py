"""Workloads: made once, from base or else from head, and laid where both sides read the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.adapters.builds import checkout
from bot.adapters.processes.process import Ended
from bot.model.errors import UsageError
from bot.model.revisions import WORKLOADS, Build
from bot.model.sites import Account
from bot.model.subject import Subject, Workload
from bot.model.trials import Side

Shell = Callable[[str, Side, Path], Ended]
"""Runs a shell command as a side's account in a folder."""
SIDES: tuple[Side, Side] = ("base", "head")


@dataclass
class Inputs:
    """What became of the workloads: name -> file, notes, and per side the last failure."""

    files: dict[str, Path] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failures: dict[Side, Build] = field(default_factory=dict)


class Kitchen:
    """Makes a subject's workloads in writable copies of the built trees, below a folder of this run."""

    def __init__(
        self,
        place: Path,
        *,
        trees: Mapping[Side, Path],
        accounts: Mapping[Side, Account | None],
        shell: Shell,
        names: Mapping[Side, str] | None = None,
    ) -> None:
        """`names`: what messages call the sides, those tried first to last (base and head)."""
        self._place = place
        self._trees = trees
        self._accounts = accounts
        self._shell = shell
        self._names = names or {side: side for side in SIDES}
        self._copies: dict[Side, Path] = {}

    def prepare(self, subject: Subject) -> Inputs:
        """All workloads, each by its name and (because `stdin` may name that) by its path."""
        inputs = Inputs()
        try:
            for number, (name, workload) in enumerate(subject.workloads.items()):
                failures: dict[Side, Build] = {}
                for side in self._names:
                    failed = self._make(workload, name, side=side, target=self._place / f"input-{number}")
                    if failed is None:
                        inputs.files[name] = self._place / f"input-{number}" / Path(workload.path).name
                        inputs.files.setdefault(workload.path, inputs.files[name])
                        break
                    failures[side] = failed
                else:
                    inputs.failures = failures
                    return inputs
                if failures:
                    inputs.notes.append(f"Workload {name} comes from head: {failures['base'].reason}")
        finally:
            for copy in self._copies.values():
                checkout.remove(copy)
        return inputs

    def _make(self, workload: Workload, name: str, *, side: Side, target: Path) -> Build | None:
        """Runs `prepare` and copies the result out; None when it went well."""
        seconds = 0.0
        try:
            if workload.prepare is not None:
                ended = self._shell(workload.prepare, side, self._copy(side))
                seconds = ended.seconds
                if ended.outcome != "ok":
                    what = f"`prepare` of workload {name} at {self._names[side]}"
                    return Build(
                        side, False, seconds, step="prepare", reason=ended.reason(what), log=ended.log
                    )
            source = checkout.inside(self._copies.get(side, self._trees[side]), workload.path)
            if not (source.is_file() or source.is_dir()):
                made = " after `prepare`" if workload.prepare is not None else ""
                reason = f"Workload {name}: there is no {workload.path} at {self._names[side]}{made}."
                step = WORKLOADS if workload.prepare is None else "prepare"
                return Build(side, False, seconds, step=step, reason=reason)
            self._lay_out(source, target / Path(workload.path).name, side)
        except (OSError, UsageError) as error:
            reason = f"Workload {name} cannot be used at {self._names[side]}: {error}"
            return Build(side, False, seconds, step="prepare", reason=reason)
        return None

    def _copy(self, side: Side) -> Path:
        """The side's tree, writable by its account."""
        if side not in self._copies:
            self._copies[side] = self._place / f"{side}-copy"
            checkout.copy(self._trees[side], self._copies[side])
            checkout.unseal(self._copies[side], self._accounts[side])
        return self._copies[side]

    def _lay_out(self, source: Path, target: Path, side: Side) -> None:
        checkout.remove(target.parent)
        target.parent.mkdir(mode=0o755)
        checkout.copy(source, target)
        made_by = self._accounts[side] if side in self._copies else None
        checkout.seal(target.parent, made_by)
