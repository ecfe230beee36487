# SPDX-License-Identifier: MIT
"""`understudy doctor`: report what this machine has, what is missing, and how to install it."""

import json
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial

import click
from rich.console import Console
from rich.table import Table

from understudy_devices.ask import self_test
from understudy_devices.base.errors import NotCompiled, RunFailed, UserError
from understudy_devices.base.paths import IS_X86, ROOT
from understudy_devices.platforms.vm import kvm, modules, packages, qemu

Look = Callable[[], Iterator["Finding"]]
INSTALL = "understudy doctor --install"
SANDBOX = "sandbox"
ALLOW = f"{INSTALL}, or allow this user to make namespaces (docs/strangers.md)"


@dataclass(frozen=True)
class Finding:
    """The state of one requirement; `mend` is the command that installs it, or empty.

    A requirement may be missing if `needed` is false, as for KVM.
    """

    name: str
    ok: bool
    detail: str
    mend: str = ""
    needed: bool = True


def _package_state(names: Sequence[str]) -> str:
    """Return the version of the package that is installed under one of the names, or ""."""
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}\\n", *names],
        capture_output=True,
        text=True,
        check=False,
    )
    states = (line.partition(" ") for line in answer.stdout.splitlines())
    return next((version for status, _, version in states if status == "installed"), "")


def _distribution_packages() -> Iterator[Finding]:
    """Yield a finding for each line of packages.txt, under the last of its names, and on ARM also
    for those of packages-arm64.txt.
    """
    if shutil.which("dpkg-query") is None:
        yield Finding(
            "Debian", False, f"this is {platform.system()} without dpkg", "use Debian 12 or 13"
        )
        return
    lists = ("packages.txt",) if IS_X86 else ("packages.txt", "packages-arm64.txt")
    for line in "\n".join((ROOT / name).read_text() for name in lists).splitlines():
        if line.strip() and not line.startswith("#"):
            text, purpose = line.split(maxsplit=1)
            names = text.split("|")
            version = _package_state(names)
            mend = "" if version else f"apt-get install -y --no-install-recommends {names[-1]}"
            yield Finding(names[-1], bool(version), version or f"missing: it {purpose}", mend)


def _strangers() -> Iterator[Finding]:
    try:
        self_test.run()
        yield Finding(SANDBOX, True, "a stranger's scheduler was compiled and run in it")
    except RunFailed as error:
        yield Finding(SANDBOX, False, str(error), ALLOW)


def _qemu() -> Iterator[Finding]:
    try:
        yield Finding("QEMU", True, f"version {qemu.version()}")
    except (UserError, subprocess.CalledProcessError) as error:
        yield Finding("QEMU", False, str(error), qemu.INSTALL)


def _kernel() -> Iterator[Finding]:
    try:
        kernel = packages.current_kernel()
    except UserError as error:
        yield Finding("stock kernel", False, str(error), "apt-get update")
        return
    fetched = kernel.folder.is_dir()
    where = "in the cache" if fetched else "not fetched yet: the first run does it"
    yield Finding("stock kernel", True, f"{kernel.release} ({kernel.version}), {where}")
    tried = kernel.series in packages.TRIED
    yield Finding(
        "its series",
        tried,
        f"{kernel.series}; our modules are tried with {' and '.join(packages.TRIED)}",
        "" if tried else f"{packages.OWN_KERNEL}={packages.TRIED[-1]}",
        needed=False,
    )
    if fetched:
        yield Finding("headers", kernel.headers.is_dir(), "unpacked beside the kernel", "")


def _modules() -> Iterator[Finding]:
    try:
        kernel = packages.current_kernel()
    except UserError:
        return  # _kernel reports this problem
    if not kernel.folder.is_dir():
        return
    try:
        built = ", ".join(path.stem for path in modules.base_modules(kernel))
        yield Finding("kernel modules", True, f"{built}; a scheduler's is built when it is run")
    except RunFailed as error:
        yield Finding("kernel modules", False, str(error), INSTALL)


def _kvm(again: bool) -> Iterator[Finding]:
    try:
        answer = kvm.probe(again)
    except (UserError, NotCompiled) as error:
        first = str(error).partition("\n")[0].rstrip(":")
        yield Finding("KVM", False, f"not probed: {first}", needed=False)
        return
    detail = answer.reason if answer.works else f"{answer.reason}; TCG is used instead"
    yield Finding("KVM", answer.works, detail, needed=False)


def examine(again: bool, say: Callable[[str], None]) -> list[Finding]:
    """Check everything, and announce each check with `say`.

    If `again` is true, boot under KVM even if the result of an earlier boot is known.
    """
    looks: dict[str, Look] = {
        "Debian's packages": _distribution_packages,
        "the sandbox, with a stranger's scheduler": _strangers,
        "QEMU": _qemu,
        "the stock kernel": _kernel,
        "the kernel modules (building them if needed)": _modules,
        f"KVM, by booting a kernel once (at most {kvm.TIMEOUT_SECONDS} s)": partial(_kvm, again),
    }
    findings: list[Finding] = []
    for what, look in looks.items():
        say(f"checking {what}")
        findings += look()
    return findings


@contextmanager
def _saying() -> Iterator[Callable[[str], None]]:
    """Yield a function that announces checks on stderr: in one line that changes on a terminal,
    and as separate lines elsewhere."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield partial(console.print, soft_wrap=True)
        return
    with console.status("") as status:
        yield status.update


def _print(findings: list[Finding]) -> None:
    table = Table("", "what", "state", "mended by", box=None, pad_edge=False)
    for finding in findings:
        mark = "ok" if finding.ok else ("LACKS" if finding.needed else "-")
        table.add_row(mark, finding.name, finding.detail, finding.mend)
    Console(highlight=False).print(table)


def _install() -> None:
    """Install the missing packages of packages.txt, as root or with sudo."""
    if shutil.which("apt-get") is None:
        raise UserError("--install: no apt-get here: it installs packages of Debian")
    done = subprocess.run(["sh", ROOT / "scripts" / "install-packages"], check=False)
    if done.returncode:
        raise RunFailed("--install: not everything could be installed")


@click.command("doctor", epilog="Example: understudy doctor --install")
@click.option("--install", is_flag=True, help="First install the packages that are missing.")
@click.option("--again", is_flag=True, help="Boot under KVM again, even if the result is known.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(install: bool, again: bool, as_json: bool) -> None:
    """Say what this machine has, what is missing, and how to fix that.

    Exit code 1 if the simulator cannot run here with your own schedulers; what only VMs need is
    named, too.
    """
    if install:
        _install()
    with _saying() as say:
        findings = examine(again, say)
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        _print(findings)
    lacking = [finding.name for finding in findings if finding.needed and not finding.ok]
    if SANDBOX in lacking:
        raise RunFailed(f"this machine lacks {', '.join(lacking)}: {INSTALL} may install it")
    if lacking:
        click.echo(
            f"note: VMs lack {', '.join(lacking)}: {INSTALL} may install it; the simulator and a "
            "course's grader lack nothing",
            err=True,
        )
