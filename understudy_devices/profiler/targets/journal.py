# SPDX-License-Identifier: MIT
"""Records the answers of a target, so that an interrupted run can continue.

The requests of a run depend only on the seed and the answers.  So, when the same command runs
again, the journal answers the first requests instead of the target.  FILE.partial has a line of
JSON that identifies the measurement, and then, for each finished part, a line with its requests and
answers.  An interrupted part is measured again from its beginning, so that no probe has a gap in
its measurements.
"""

import fcntl
import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from understudy_devices.base import scratch
from understudy_devices.base.cache import digest_of_files
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.device.target import Target

FORGET = 300  # number of reads: more than a drive has segments
OPS = ("read", "write")
ANSWERS_BEGIN = "[["  # the beginning of each part's line
AFRESH = "delete it to begin again, or name another --out"

Answer = tuple[str, int, int, int, int, int]  # op, sector, sectors, at, sent, completed


class Journal:
    """A target that answers from its journal while there are entries, and then asks the real
    target.
    """

    def __init__(self, target: Target, file: Path, identity: Mapping[str, Any]) -> None:
        """Open the journal; `identity` says what is measured and how.

        Raise UserError if an existing journal has another identity.
        """
        self._target = target
        self._file = file
        self._identity = {**identity, "version": _version()}
        self._open: IO[str] | None = None
        self._is_there = False
        self._answers: list[Answer] = []
        if file.exists():
            self._open = _locked(file, "r+")
            try:
                self._answers = list(_read(self._open, file, self._identity))
            except BaseException:
                self.close()
                raise
            self._say_how_to_go_on()
        self._told = iter(self._answers)
        self._since: list[Answer] = []
        self._live = False
        self._offset_ns = 0
        self.sent_ns = 0

    @property
    def capacity_sectors(self) -> int:
        """Return the target's capacity."""
        return self._target.capacity_sectors

    @property
    def writable(self) -> bool:
        """Return whether the target accepts writes."""
        return self._target.writable

    @property
    def told(self) -> int:
        """Return the number of answers in the journal when it was opened."""
        return len(self._answers)

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Return the request's completion time, ns, from the journal or from the target."""
        request = (op, sector, sectors, at_ns)
        if not self._live:
            answer = next(self._told, None)
            if answer:
                if answer[:4] != request:
                    raise UserError(f"{self._file}: does not fit what is asked now; {AFRESH}")
                *_, self.sent_ns, completed_ns = answer
                return completed_ns
            self._go_on()
        completed_ns = self._target.request(op, sector, sectors, at_ns - self._offset_ns)
        self.sent_ns = self._ours(getattr(self._target, "sent_ns", at_ns - self._offset_ns))
        completed_ns = self._ours(completed_ns)
        self._since.append((*request, self.sent_ns, completed_ns))
        return completed_ns

    def milestone(self) -> None:
        """Save the answers of the part that has ended."""
        if not self._since:
            return
        with _writing(self._file):
            if not self._open:
                self._open = _locked(self._file, "x")
                self._open.write(json.dumps(self._identity) + "\n")
            self._open.write(json.dumps(self._since) + "\n")
            self._open.flush()
        self._since = []
        self._say_how_to_go_on()

    def done(self) -> None:
        """Delete the journal at the end of the run."""
        if self._is_there:
            self._file.unlink(missing_ok=True)
        scratch.say_if_interrupted("")

    def close(self) -> None:
        """Release the journal, so that another run can use it."""
        if self._open:
            self._open.close()
            self._open = None

    def _go_on(self) -> None:
        """Switch from the journal to the target: clear the target's cache, and let the target's
        clock continue the journal's.
        """
        self._live = True
        if not self._answers:
            return
        draw, free_ns = random.Random("forget"), 0
        for _ in range(FORGET):
            place = draw.randrange(self._target.capacity_sectors)
            free_ns = self._target.request("read", place, 1, free_ns)
        self._offset_ns = self._answers[-1][5] - free_ns

    def _ours(self, ns: int) -> int:
        """Convert a time from the target's clock to the journal's; leave wrong values to
        the bench.
        """
        return ns + self._offset_ns if isinstance(ns, int) else ns

    def _say_how_to_go_on(self) -> None:
        self._is_there = True
        scratch.say_if_interrupted(
            f"the measurements so far are in {self._file}; give the same command again to go on"
        )


@contextmanager
def kept(target: Target, out: Path, identity: Mapping[str, Any]) -> Iterator[Journal]:
    """Open a target's journal, next to the file `out`; the caller calls done() after writing `out`.

    If the target fails, delete the journal.
    """
    journal = Journal(target, out.with_name(f"{out.name}.partial"), identity)
    try:
        yield journal
    except RunFailed:
        journal.done()
        raise
    finally:
        journal.close()


def _version() -> str:
    """Return a digest of the profiler's source, which determines the requests."""
    return digest_of_files(Path(__file__).parents[1].rglob("*.py"))


def _locked(file: Path, mode: str) -> IO[str]:
    """Open and lock the file."""
    another = f"{file}: another profile is being written there; wait, or name another --out"
    with _writing(file):
        try:
            opened = file.open(mode, encoding="utf-8", newline="\n")
        except FileExistsError:
            raise UserError(another) from None
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            opened.close()
            raise UserError(another) from None
    return opened


def _read(opened: IO[str], file: Path, identity: Mapping[str, Any]) -> Iterator[Answer]:
    """Yield the journal's answers; remove an incomplete last line, which a kill leaves."""
    try:
        *lines, cut = opened.read().split("\n")
    except ValueError:
        raise UserError(f"{file}: is no journal of a profile; {AFRESH}") from None
    header = json.dumps(identity)
    begins = ANSWERS_BEGIN.startswith(cut[:2]) if lines else header.startswith(cut)
    if not begins:
        raise UserError(f"{file}: is no journal of a profile; {AFRESH}")
    opened.truncate(opened.seek(file.stat().st_size - len(cut.encode())))
    if not lines:
        opened.write(f"{header}\n")
        return
    _check_identity(_parsed(lines[0]), identity, file)
    for number, line in enumerate(lines[1:], start=2):
        part = _parsed(line)
        if not isinstance(part, list) or not all(_is_answer(each) for each in part):
            raise UserError(f"{file}: line {number} is damaged; {AFRESH}")
        yield from (tuple(each) for each in part)


def _check_identity(header: Any, identity: Mapping[str, Any], file: Path) -> None:
    if not isinstance(header, dict) or header.keys() != identity.keys():
        raise UserError(f"{file}: is no journal of a profile; {AFRESH}")
    for key, value in identity.items():
        if header[key] != value:
            raise UserError(f"{file}: is of {key} {header[key]}, not {value}; {AFRESH}")


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_answer(each: Any) -> bool:
    if not isinstance(each, list) or len(each) != 6 or each[0] not in OPS:
        return False
    return all(type(number) is int for number in each[1:])


@contextmanager
def _writing(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunFailed(f"cannot write {file}: {error.strerror}; try another --out") from error
