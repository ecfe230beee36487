# SPDX-License-Identifier: MIT
"""`profile`: measure a drive, or take a trace of one, and fit a profile to it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from understudy_devices.api import call, options
from understudy_devices.api.watch import Heard, Watch
from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.device.profile import load as load_profile
from understudy_devices.device.target import Target
from understudy_devices.profiler import methods, profile_fit
from understudy_devices.profiler.from_trace import fit
from understudy_devices.profiler.from_trace.services import Served
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.profiler.targets import factory, journal
from understudy_devices.profiler.targets.bench import capacity
from understudy_devices.profiler.targets.disk import facts
from understudy_devices.profiler.targets.disk.device_file import Disk
from understudy_devices.traces.form import Form
from understudy_devices.traces.formats import ANY
from understudy_devices.traces.read import load

SEED_MOST = 2**63 - 1


def profile(
    target: Target | str | None = None,
    seed: int = 1,
    *,
    device: str | os.PathLike[str] | None = None,
    trace: str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | None = None,
    method: str = methods.FULL,
    minutes: float | None = None,
    as_disk: bool = False,
    destroy_data: bool = False,
    out: str | os.PathLike[str] | None = None,
    columns: str | Sequence[str] | None = None,
    format: str | None = None,
) -> "Profiled":
    """Measure a drive and fit a profile to it, which `to_toml()` prints.

    `target` needs `capacity_sectors`, `writable` and `request(op, sector, sectors, at_ns)`.
    `request` sends a "read" or "write" at the time `at_ns` and returns the time of its
    completion, in ns.  Each request is sent after the previous request has completed.  The drive
    is written only if `destroy_data` is true.  `method` is "full", or the name of a paper's
    method (docs/profiler.md).

    Instead of a target, `target` may name one ("module:factory"), `device` a whole disk or an
    image file, or `trace` a trace of a drive; `keep` is the profile with the values that no trace
    reveals, and `columns` or `format` says the form of the trace, as in `trace`.  With `out`, a
    new .toml file, an interrupted measurement is resumed by the same call, unless the target is an
    object.
    """
    with call.alone():
        question = ask(
            target=target,
            seed=seed,
            device=device,
            trace=trace,
            keep=keep,
            method=method,
            minutes=minutes,
            as_disk=as_disk,
            destroy_data=destroy_data,
            out=out,
            columns=columns,
            format=format,
        )
        return question.answer()


@dataclass(frozen=True, repr=False)
class Profiled(Fitted):
    """A fitted profile, and the command that does the same; None if the target is an object."""

    command: str | None = None
    notices: tuple[str, ...] = ()

    def write(self, file: str | os.PathLike[str]) -> Path:
        """Write the profile, which `us.predict(disk=...)` accepts, and the files that it names."""
        path = Path(file)
        check(path)
        with ExitStack() as written:
            for name, text in reversed(self.files(path.stem).items()):  # the profile comes last
                part = written.enter_context(scratch.replacing(path.with_name(name)))
                part.write_text(text, encoding="utf-8")
        return path

    def __repr__(self) -> str:
        """Return what the command prints."""
        from understudy_devices.show import checks, notebook

        return notebook.printed(lambda console: checks.show(self, console), self.notices)

    def _repr_html_(self) -> str:
        """Return the checks and a picture for a notebook."""
        from understudy_devices.show import checks, inline, notebook, picture, profiled

        with inline.styled(profiled.STYLE):
            figure = profiled.figure(self, "profile")
            picture.settle(figure)
            drawing = inline.Drawing(
                "What was measured, and the fitted profile.", inline.svg(figure)
            )
        title = f"profile of {self.capacity_sectors:,} sectors, from {self.requests:,} requests"
        section = notebook.Section(
            title, [checks.grid(self.checks)], checks.sentences(self), drawing
        )
        return notebook.html(self.command or "", [section], self.notices)


def check(out: Path) -> None:
    """Refuse a file name that can't be that of a new profile."""
    if out.suffix != ".toml":
        raise UserError(f"--out: {out}: a profile is a .toml file")
    if not out.parent.is_dir():
        raise UserError(f"--out: {out.parent}: no such folder")


@dataclass(frozen=True)
class How:
    """The options of a measurement; only a command with the same options can resume its journal."""

    seed: int
    destroy_data: bool
    minutes: float | None
    as_disk: bool


@dataclass(frozen=True)
class Question:
    """A checked request for a profile of one drive: a target, a device, or a trace."""

    command: str | None
    target: Target | str | None
    device: Path | None
    trace: str | None
    keep: str | None
    method: str
    how: How
    out: Path | None
    form: Form = ANY

    def answer(self, watch: Watch | None = None) -> Profiled:
        """Measure the drive or read the trace, and write the profile."""
        heard = Heard(watch or Watch())
        if self.out:
            scratch.say_if_interrupted(f"{self.out} was not written")
        if self.trace:
            return self._profiled(self._fitted(self.trace, heard), heard)
        if self.form != ANY:
            raise UserError("--columns, --format: only with --trace; a drive is measured instead")
        if self.keep:
            raise UserError("--keep: only with --trace; a drive is measured instead")
        with self._opened(heard) as target:
            return self._measured(target, heard)

    def _profiled(self, fitted: Fitted, heard: Heard) -> Profiled:
        whole = Profiled(**vars(fitted), command=self.command, notices=tuple(heard.notices))
        if self.out:
            whole.write(self.out)
        return whole

    def _fitted(self, trace: str, heard: Heard) -> Fitted:
        """Return the profile fitted to a trace."""
        if self.how.destroy_data:
            raise UserError("--destroy-data: nothing can be written to a trace")
        if self.method != methods.FULL:
            raise UserError(
                f"--method: {self.method} sends its own requests, and can't use a trace"
            )
        if self.how.minutes is not None or self.how.as_disk:
            raise UserError("--minutes, --as: nothing is measured with --trace; leave them out")
        base = load_profile(self.keep) if self.keep else None
        recording = load(trace, self.form)
        try:
            completion_ns = recording.completed_ns()
        except UserError as error:
            raise UserError(f"--trace: {error}") from error
        if recording.losses:
            heard.say(f"{trace}: {recording.losses}")
        sent_ns = recording.arrival_ns if recording.dispatch_ns is None else recording.dispatch_ns
        columns = (recording.op, recording.sector, recording.sectors, sent_ns, completion_ns)
        try:
            return fit.profile(Served.of(*columns), self.how.seed, base)
        except RunFailed as error:
            raise RunFailed(f"--trace: {trace}: {error}") from error

    def _measured(self, target: Target, heard: Heard) -> Profiled:
        """Measure the target and write its profile."""
        with self._journaled(target) as measured, heard.watch.phases("profile") as report:
            if isinstance(measured, journal.Journal) and measured.told:
                heard.say(f"{measured.told:,} requests were answered before; resuming from there")
            fitted = profile_fit.profile(
                measured,
                method=self.method,
                report=report,
                told=lambda duration: heard.say(duration.said()),
                **asdict(self.how),
            )
        if isinstance(target, Disk):
            own = facts.findings(facts.ask(target.descriptor), target.capacity_sectors)
            fitted = replace(fitted, findings=facts.said_better(fitted.findings, own))
        profiled = self._profiled(fitted, heard)
        if isinstance(measured, journal.Journal):
            measured.done()
        return profiled

    @contextmanager
    def _journaled(self, target: Target) -> Iterator[Target]:
        """Yield the target, with a journal if it has a name by which it can be found again."""
        named = self.device or (self.target if isinstance(self.target, str) else None)
        if not named or not self.out:
            yield target
            return
        identity = {
            "target": str(named),
            "code": factory.code(self.target) if isinstance(self.target, str) else "",
            "method": self.method,
            "capacity_sectors": capacity(target),
            **asdict(self.how),
        }
        with journal.kept(target, self.out, identity) as journaled:
            yield journaled

    @contextmanager
    def _opened(self, heard: Heard) -> Iterator[Target]:
        """Yield the target, which is open while the block runs."""
        if self.device:
            with Disk(self.device, destroy_data=self.how.destroy_data) as disk:
                if self.how.destroy_data:
                    lost = f"what is on {self.device} ({disk.capacity_sectors:,} sectors)"
                    heard.say(f"--destroy-data: {lost} is being lost")
                yield disk
        elif isinstance(self.target, str):
            target = factory.target(self.target)
            if self.how.destroy_data and not target.writable:
                raise UserError(f"--destroy-data: {self.target} can't be written")
            yield target
        elif self.target is not None:
            yield self.target


def ask(
    *,
    target: Any = None,
    seed: Any = 1,
    device: Any = None,
    trace: Any = None,
    keep: Any = None,
    method: str = methods.FULL,
    minutes: Any = None,
    as_disk: bool = False,
    destroy_data: bool = False,
    out: Any = None,
    columns: Any = None,
    format: Any = None,
    command: str | None = None,
) -> Question:
    """Check the arguments of `profile`; `command` is the command line, if somebody typed one."""
    if [device, target, trace].count(None) != 2:
        raise UserError("profile: name what to profile: one of --device, --target and --trace")
    file = None if out is None else Path(out)
    if file:
        check(file)
    how = How(
        options.within("--seed", seed, 0, SEED_MOST),
        destroy_data,
        None if minutes is None else options.above_zero("--minutes", minutes),
        as_disk,
    )
    form = options.form(columns, format)
    typed = {
        "device": device,
        "target": target,
        "trace": trace,
        "keep": keep,
        "out": out,
        "method": None if method == methods.FULL else method,
        "seed": None if how.seed == 1 else how.seed,
        "minutes": minutes,
        "as": "disk" if as_disk else None,
        "destroy_data": destroy_data,
        "columns": form.columns,
        "format": form.format,
    }
    can_be_typed = target is None or isinstance(target, str)
    return Question(
        command or (options.command("profile", typed) if can_be_typed else None),
        target,
        None if device is None else Path(device),
        None if trace is None else options.names("--trace", trace),
        None if keep is None else options.names("--keep", keep),
        method,
        how,
        file,
        form,
    )
