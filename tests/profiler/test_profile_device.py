# SPDX-License-Identifier: MIT
"""A disk of this machine as a target: which disks are refused, what can fail, and true times.

Loop devices stand in for disks. Without loop devices these tests are skipped.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner, Result
from hosted import Hosted
from hypothesis import given
from hypothesis import strategies as st
from terminal import CTRL_C, INTERRUPTED, Home, Running

from oracle.detailed.drive import random_drive
from understudy_devices.base.errors import RunFailed
from understudy_devices.cli.main import main
from understudy_devices.device import profile as device
from understudy_devices.profiler.profile_fit import profile
from understudy_devices.profiler.targets.bench import Bench
from understudy_devices.profiler.targets.disk import device_file, in_use, sender
from understudy_devices.profiler.targets.disk.device_file import Disk

pytestmark = pytest.mark.thorough

MIB = 2**20
SIZE = 160 * MIB
PLAIN = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--")  # root without capabilities


def image(folder: Path, size: int = SIZE) -> Path:
    """Make a sparse file that may be profiled."""
    file = folder / "image"
    with file.open("wb") as content:
        content.truncate(size)
    return file


def losetup(*words: str) -> str:
    done = subprocess.run(["losetup", *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@contextmanager
def looped(file: Path, *words: str) -> Iterator[Path]:
    """Make a loop device of a file."""
    try:
        name = losetup("--find", "--show", *words, str(file))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no loop device can be made here: {error}")
    try:
        yield Path(name)
    finally:
        losetup("--detach", name)


@pytest.fixture
def tmp_path(on_disk: Path) -> Path:
    """Use a folder on a disk, since an image in memory is refused."""
    return on_disk


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Path]:
    with looped(image(tmp_path)) as name:
        yield name


def command(folder: Path, target: Path, *words: str) -> Result:
    """Run `understudy profile` on the target."""
    words = (
        "profile",
        "--device",
        str(target),
        "--out",
        str(folder / "x.toml"),
        "--as",
        "disk",
        *words,
    )
    return CliRunner().invoke(main, list(words), catch_exceptions=False)


def refused(folder: Path, target: Path, *words: str) -> str:
    """Return the one-line message, without its usual beginning."""
    done = command(folder, target, *words)
    assert done.exit_code == 2, done.output
    assert not list(folder.glob("*.toml"))
    assert done.stderr.count("\n") == 1
    begins = f"understudy: --device: {target}: "
    assert done.stderr.startswith(begins)
    return done.stderr.removeprefix(begins).rstrip()


# ---- what is refused ------------------------------------------------------------------


def test_what_is_no_disk(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    name = "name a disk or an image file: lsblk lists the disks"
    assert refused(tmp_path, tmp_path / "absent") == (
        "No such file or directory; lsblk lists the disks"
    )
    assert refused(tmp_path, tmp_path) == f"is a folder; {name}"
    assert refused(tmp_path, tmp_path / "pipe") == f"is a pipe; {name}"
    assert refused(tmp_path, Path("/dev/null")) == f"is a character device; {name}"


def test_one_that_is_too_small(tmp_path: Path) -> None:
    small = image(tmp_path, 100 * MIB)
    message = refused(tmp_path, small)
    assert message == "204800 sectors are too few to profile, at least 262144; name a larger disk"


def test_one_in_memory(tmp_path: Path) -> None:
    shared = Path("/dev/shm") / f"understudy-{os.getpid()}"
    try:
        shared.write_bytes(b"")
        assert refused(tmp_path, shared) == "is in memory (tmpfs); put the image on a disk"
    finally:
        shared.unlink()


def test_no_permission(tmp_path: Path) -> None:
    file = image(tmp_path)
    file.chmod(0)
    words = ["understudy", "profile", "--device", str(file), "--out", str(tmp_path / "x.toml")]
    done = subprocess.run([*PLAIN, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        f"understudy: --device: {file}: no permission; be root, or in the group of its file\n"
    )
    file.chmod(0o400)
    done = subprocess.run(
        [*PLAIN, *words, "--destroy-data"], capture_output=True, text=True, check=False
    )
    assert done.stderr == f"understudy: --device: {file}: is read-only; leave --destroy-data out\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "profile: name what to profile: one of --device, --target and --trace"),
        (("--device", "a", "--target", "b:c"), "name what to profile: one of --device"),
        (("--device", "a", "--trace", "b"), "name what to profile: one of --device"),
        (
            ("--device", "a", "--columns", "time_s,bytes,latency_s"),
            "--columns, --format: only with",
        ),
        (("--trace", "b", "--columns", "time"), "--columns: time is no column; known are"),
        (("--trace", "b", "--destroy-data"), "--destroy-data: nothing can be written to a trace"),
        (("--device", "a", "--out", "nowhere/x.toml"), "--out: nowhere: no such folder"),
    ],
)
def test_what_is_asked_wrong(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    words = ("profile", "--out", str(tmp_path / "x.toml"), *words)
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_file_below_a_loop_device(loop: Path, tmp_path: Path) -> None:
    message = refused(tmp_path, tmp_path / "image")
    assert message == f"{loop.name} is made of it; losetup -d {loop} first"


def test_a_disk_below_a_loop_device(loop: Path, tmp_path: Path) -> None:
    with looped(loop) as above:
        assert (
            refused(tmp_path, loop)
            == f"{above.name} is made of {loop.name}; losetup -d {above} first"
        )


def test_a_disk_that_is_mounted(loop: Path, tmp_path: Path) -> None:
    place = tmp_path / "a place"
    place.mkdir()
    subprocess.run(["mkfs.ext4", "-q", loop], check=True)
    mounted = subprocess.run(["mount", loop, place], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        message = refused(tmp_path, loop)
    finally:
        subprocess.run(["umount", place], check=True)
    assert message == f"{loop.name} is mounted on {place}; umount it first"


def test_a_disk_that_somebody_claims(loop: Path, tmp_path: Path) -> None:
    claimed = os.open(loop, os.O_RDONLY | os.O_EXCL)
    try:
        message = refused(tmp_path, loop)
    finally:
        os.close(claimed)
    assert message == "is in use by something that can't be seen from here; end it first"


def test_a_read_only_disk(tmp_path: Path) -> None:
    with looped(image(tmp_path), "--read-only") as loop:
        message = refused(tmp_path, loop, "--destroy-data")
        assert message == "is read-only; leave --destroy-data out"
        with Disk(loop) as disk:
            assert not disk.writable


def test_a_disk_with_large_blocks(tmp_path: Path) -> None:
    with looped(image(tmp_path), "--sector-size", "4096") as loop:
        assert refused(tmp_path, loop).startswith("takes no request of 512 bytes, and probes ask")


def test_a_partition_is_named_with_its_disk(
    loop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_use, "whole", lambda number: "sdx")
    assert refused(tmp_path, loop) == "is a partition; take the whole disk, /dev/sdx"


# ---- users of the disk, in the kernel's tables -----------------------------------------


class Tables:
    """A fake /proc and a fake /sys with a disk sdx (8:0), its partition sdx1 (8:1) and a loop
    device.
    """

    def __init__(self, folder: Path) -> None:
        self.proc, self.sys = folder / "proc", folder / "sys"
        self.disk = self.sys / "devices" / "sdx"
        (self.disk / "sdx1" / "holders").mkdir(parents=True)
        (self.disk / "holders").mkdir()
        (self.disk / "dev").write_text("8:0\n")
        (self.disk / "sdx1" / "dev").write_text("8:1\n")
        (self.disk / "sdx1" / "partition").write_text("1\n")
        numbers = self.sys / "dev" / "block"
        numbers.mkdir(parents=True)
        (numbers / "8:0").symlink_to(self.disk)
        (numbers / "8:1").symlink_to(self.disk / "sdx1")
        (self.proc / "self").mkdir(parents=True)

    def mounts(self, text: str) -> None:
        (self.proc / "self" / "mountinfo").write_text(text)

    def swaps(self, text: str) -> None:
        (self.proc / "swaps").write_text(f"Filename\tType\tSize\tUsed\tPriority\n{text}")

    def user(self) -> str | None:
        return in_use.of_disk(os.makedev(8, 0), self.proc, self.sys)


def test_nobody_uses_it(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    assert tables.user() is None
    tables.mounts("22 27 0:21 / /proc rw - proc proc rw\n30 1 8:16 / / rw - ext4 /dev/sdy rw\n")
    tables.swaps("")
    assert tables.user() is None


def test_a_partition_of_it_is_mounted(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    tables.mounts("30 1 8:1 / /my\\040files rw shared:1 - ext4 /dev/sdx1 rw\n")
    assert tables.user() == "sdx1 is mounted on /my files; umount it first"


def test_file_systems_of_several_disks_have_numbers_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mounted btrfs has a device number of its own, so the mount's source identifies the disk."""
    tables = Tables(tmp_path)
    tables.mounts("30 1 0:40 /home /home rw - btrfs /dev/sdx1 rw\n")
    names = {"/dev/sdx1": "8:1"}
    monkeypatch.setattr(in_use, "_number_of", lambda path: names.get(path, ""))
    assert tables.user() == "sdx1 is mounted on /home; umount it first"
    tables.mounts("")
    tables.swaps("/dev/sdx1 partition 1 0 -2\n")
    assert tables.user() == "sdx1 is swap; swapoff it first"


def test_a_device_is_made_of_it(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    (tables.disk / "sdx1" / "holders" / "dm-0").mkdir()
    assert tables.user() == "dm-0 is made of sdx1; stop dm-0 first"


def test_a_swap_file(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    file = tmp_path / "my image"
    file.touch()
    assert in_use.of_file(file, tables.proc, tables.sys) is None
    tables.swaps(f"{str(file).replace(' ', chr(92) + '040')} file 1 0 -2\n")
    assert in_use.of_file(file, tables.proc, tables.sys) == "it is swap; swapoff it first"


def test_whole(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    assert in_use.whole(os.makedev(8, 1), tables.sys) == "sdx"
    assert in_use.whole(os.makedev(8, 0), tables.sys) is None
    assert in_use.whole(os.makedev(9, 0), tables.sys) is None


@given(st.text(), st.text())
def test_tables_of_any_kernel(mounts: str, swaps: str) -> None:

    with TemporaryDirectory() as folder:
        tables = Tables(Path(folder))
        tables.mounts(mounts.encode(errors="replace").decode())
        tables.swaps(swaps.encode(errors="replace").decode())
        tables.user()
        in_use.of_file(Path(folder), tables.proc, tables.sys)


# ---- requests -------------------------------------------------------------------------


def test_requests_move_data_at_true_times(tmp_path: Path) -> None:
    """Each request is sent on time or as soon as possible, and a write changes only its sectors."""
    file = image(tmp_path)
    with Disk(file, destroy_data=True) as disk:
        at_ns = 30_000_000
        for sector, sectors in ((1000, 8), (2000, 1), (70_000, 9000)):
            done_ns = disk.request("write", sector, sectors, at_ns)
            assert at_ns <= disk.sent_ns < done_ns
            before, at_ns = done_ns, done_ns + 3_000_000
            done_ns = disk.request("read", sector, sectors, before)
            assert before <= disk.sent_ns < done_ns < at_ns + 10**9
            at_ns = max(at_ns, done_ns)
    data = file.read_bytes()
    written = {at for at in range(0, SIZE, 512) if data[at : at + 512].strip(b"\0")}
    expected = {*range(1000, 1008), 2000, *range(70_000, 79_000)}
    assert written == {sector * 512 for sector in expected}


def test_without_destroy_data_it_can_not_be_written(tmp_path: Path) -> None:
    with Disk(image(tmp_path)) as disk:
        assert disk.writable
        with pytest.raises(RunFailed, match="write of 8 sectors at sector 0: Bad file descriptor"):
            disk.request("write", 0, 8, 0)


def test_its_clock_goes_on_while_nobody_asks(tmp_path: Path) -> None:
    with Disk(image(tmp_path)) as disk:
        bench = Bench(disk, 1)
        bench.read(0)
        before_ns, begin = bench.now_ns, time.monotonic_ns()
        time.sleep(0.02)
        bench.read(8)
        assert bench.sent_ns - before_ns >= 20_000_000
        bench.wait(30_000_000)
        bench.read(16)
        assert time.monotonic_ns() - begin >= 50_000_000


def test_sectors_that_can_not_be_read_end_it(loop: Path, tmp_path: Path) -> None:
    """The file under the loop device is truncated."""
    with Disk(loop) as disk:
        os.truncate(tmp_path / "image", MIB)
        what = "read of 8 sectors at sector 200000: Input/output error; see dmesg"
        with pytest.raises(RunFailed, match=rf"^--device: {loop}: {what}"):
            Bench(disk, 1).read(200_000, 8)


def test_a_disk_that_shrinks(loop: Path, tmp_path: Path) -> None:
    with Disk(loop) as disk:
        os.truncate(tmp_path / "image", 150 * MIB)
        losetup("--set-capacity", str(loop))
        with pytest.raises(RunFailed, match="it had 327680 sectors, now 307200; is it gone"):
            Bench(disk, 1).read(0)


def of_sender(disk: Disk, signal_number: int) -> None:
    assert disk._sender
    disk._sender.send_signal(signal_number)


def test_a_request_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_file, "GIVEN_UP_S", 0.3)
    with Disk(image(tmp_path)) as disk:
        of_sender(disk, signal.SIGSTOP)
        with pytest.raises(RunFailed, match="read of 8 sectors at sector 5: no answer for"):
            Bench(disk, 1).read(5, 8)


def test_a_sender_that_is_killed(tmp_path: Path) -> None:
    with Disk(image(tmp_path)) as disk:
        of_sender(disk, signal.SIGKILL)
        with pytest.raises(RunFailed, match="process that sends requests was killed"):
            Bench(disk, 1).read(5, 8)


def test_no_sender_is_left(tmp_path: Path) -> None:
    with Disk(image(tmp_path)) as disk:
        assert disk._sender
        pid = disk._sender.pid
    assert not Path(f"/proc/{pid}").exists()


# ---- the bench on a slow host ----------------------------------------------------------


class Says:
    """A target that reports a wrong time at which it sent a request."""

    capacity_sectors = 10**6
    writable = False

    def __init__(self, sent_ns: Callable[[int], object]) -> None:
        self._sent = sent_ns
        self.sent_ns: object = 0

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        self.sent_ns = self._sent(at_ns)
        return at_ns + 1000


@pytest.mark.parametrize("sent", [lambda at: at - 1, lambda at: at + 0.5, lambda at: None])
def test_a_target_that_lies_about_its_time(sent: Callable[[int], object]) -> None:
    bench = Bench(Says(sent), 1)
    bench.wait(100)
    with pytest.raises(RunFailed, match="it reports sending at"):
        bench.read(0)


def test_service_begins_when_it_was_sent() -> None:
    bench = Bench(Says(lambda at: at + 400), 1)
    assert bench.read(0) == 600
    assert (bench.sent_ns, bench.now_ns) == (400, 1000)


@pytest.mark.parametrize(("seed", "noise_ns"), [(201, 2000), (203, 10_000), (208, 10_000)])
def test_a_drive_behind_a_host_is_recovered(seed: int, noise_ns: int) -> None:
    """The host takes 60 us between requests, adds noise, and sometimes delays for 1 ms.

    The bounds are from seeds 204 to 207.
    """
    drive = random_drive(seed)
    is_so = drive.parameters
    fitted = profile(Hosted(drive, noise_ns=noise_ns), destroy_data=True)
    assert fitted.value("rotation.period_ms") == pytest.approx(is_so.period_ns / 1e6, rel=1e-5)
    outer = is_so.zone[0].sectors + is_so.zone[0].spare_sectors
    layout = fitted.disk().layout
    assert layout
    assert layout.zones[0].sectors == pytest.approx(outer, rel=0.005)
    assert fitted.value("buffer.segments") == is_so.segments
    assert fitted.value("buffer.segment_sectors") == is_so.segment_sectors
    buffer = fitted.disk().buffer
    assert buffer
    assert buffer.write_room[:2] == (is_so.write_extents, is_so.write_sectors)
    for check in fitted.checks[:3]:
        assert check.model_ms == pytest.approx(check.target_ms, rel=0.08), check.workload
    assert fitted.checks[0].demerit_percent < 3


# ---- the command ----------------------------------------------------------------------

FAILING = """
import os, sys, time
sys.path.insert(0, {folder!r})
import sender
while True:
    ask = os.read(0, sender.ASK.size)
    _, offset, size, at_ns = sender.ASK.unpack(ask)
    if size > 1024 or offset > 2**20:
        {what}
    now_ns = sender.now_ns()
    os.write(1, sender.ANSWER.pack(0, size, now_ns, now_ns + 1000, {bytes}))
"""
FAILURES = {
    "time.sleep(100)": "no answer for 0 s, given up; see dmesg",
    "sys.exit()": "the process that sends requests was killed; is there memory?",
    "os.write(1, sender.ANSWER.pack(5, 0, 1, 2, {bytes})); continue": "Input/output error; see dme",
    "os.write(1, sender.ANSWER.pack(6, 0, 1, 2, 0)); continue": "it had 327680 sectors, now 0; is",
    "os.write(1, sender.ANSWER.pack(0, 0, 1, 2, {bytes})); continue": "nothing came from sector ",
}


@pytest.mark.parametrize("what", FAILURES)
def test_a_disk_that_fails_on_the_way(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the request, and no file is written."""
    program = tmp_path / "failing.py"
    words = {"folder": str(Path(sender.__file__).parent), "bytes": SIZE}
    program.write_text(FAILING.format(what=what.format(**words), **words))
    monkeypatch.setattr(sender, "__file__", str(program))
    monkeypatch.setattr(device_file, "GIVEN_UP_S", 0.4)
    file = image(tmp_path)
    done = command(tmp_path, file)
    assert done.exit_code == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"understudy: --device: {file}: read of 8 sectors at sector ")
    assert FAILURES[what] in last
    assert {path.name for path in tmp_path.iterdir()} == {"failing.py", "image"}


def test_a_disk_is_profiled(loop: Path, tmp_path: Path) -> None:
    done = command(tmp_path, loop)
    assert done.exit_code == 0, done.output
    disk = device.load(str(tmp_path / "x.toml"))
    assert disk.seek
    assert "# model: not seen: the device has no name" in (tmp_path / "x.toml").read_text()


def test_what_will_be_lost_is_said(tmp_path: Path) -> None:
    file = image(tmp_path)
    done = command(tmp_path, file, "--destroy-data")
    assert done.exit_code == 0, done.output
    assert f"--destroy-data: what is on {file} (327,680 sectors) is being lost" in done.stderr
    assert file.read_bytes().strip(b"\0")


# ---- stopping -------------------------------------------------------------------------

FREEZER = Path("/sys/fs/cgroup/freezer")


@contextmanager
def frozen(pid: str) -> Iterator[None]:
    """Freeze a process, so that SIGKILL has no effect, as during a read that never completes."""
    group = FREEZER / f"understudy-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no process can be frozen here: {error}")
    (group / "tasks").write_text(pid)
    (group / "freezer.state").write_text("FROZEN")
    try:
        yield
    finally:
        (group / "freezer.state").write_text("THAWED")
        while (group / "tasks").read_text():
            time.sleep(0.01)
        group.rmdir()


def sender_of(running: Running) -> str:
    """Return the process id of the command's sender."""
    worker = subprocess.check_output(["pgrep", "-P", str(running.pid)], text=True).strip()
    return subprocess.check_output(["pgrep", "-P", worker], text=True).strip()


def test_a_disk_that_hangs_can_be_interrupted(tmp_path: Path) -> None:
    home = Home(tmp_path).with_what_is_made()
    running = Running(
        home, "profile", "--device", str(image(tmp_path)), "--out", "x.toml", "--as", "disk"
    )
    running.wait_for("kind")
    with frozen(sender_of(running)):
        running.press(CTRL_C)
        assert running.end() == 130
        assert running.lines()[-1].startswith(INTERRUPTED)
        assert len(home.processes()) == 1
    assert home.processes() == []
    assert home.left_overs() == []
