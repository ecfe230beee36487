# SPDX-License-Identifier: MIT
"""understudy doctor: its findings on this machine, and the remedies for missing parts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from places import CHECKOUT

from understudy_devices.base.errors import NotCompiled
from understudy_devices.cli import doctor
from understudy_devices.cli.main import main
from understudy_devices.native import worker
from understudy_devices.platforms.vm import kvm, packages, qemu


def listed() -> list[str]:
    """List the packages of packages.txt."""
    lines = (CHECKOUT / "packages.txt").read_text().splitlines()
    return [line.split()[0].split("|")[-1] for line in lines if line and not line.startswith("#")]


def test_everything_needed_is_here_after_setup() -> None:
    """make setup ran before this test, so doctor finds nothing missing."""
    done = subprocess.run(
        [sys.executable, "-m", "understudy_devices", "doctor", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    findings = {finding["name"]: finding for finding in json.loads(done.stdout)}
    assert set(listed()) <= set(findings)
    assert all(finding["ok"] for finding in findings.values() if finding["needed"])
    assert not findings["KVM"]["needed"]
    assert findings["its series"]["mend"] == ""
    lines = done.stderr.splitlines()
    assert [line.split()[0] for line in lines] == ["checking"] * 6


def test_a_missing_package_names_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package unknown to Debian stands for any package that is not installed."""
    monkeypatch.setattr(Path, "read_text", lambda path: "no-such-package  is for this test\n")
    (finding,) = doctor._distribution_packages()
    assert not finding.ok
    assert finding.mend == "apt-get install -y --no-install-recommends no-such-package"
    assert "is for this test" in finding.detail


def test_without_qemu_its_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty PATH contains no QEMU."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (finding,) = doctor._qemu()
    assert not finding.ok
    assert finding.mend == qemu.INSTALL


def test_the_sandbox_runs_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    (finding,) = doctor._strangers()
    assert finding.ok, finding.detail
    monkeypatch.setattr(worker, "program_file", lambda: Path("/bin/false"))
    (finding,) = doctor._strangers()
    assert not finding.ok
    assert finding.detail.startswith("the self-test failed: ")
    assert finding.mend


@pytest.mark.parametrize(("lacks", "code"), [("sandbox", 1), ("QEMU", 0)])
def test_only_what_the_simulator_needs_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, lacks: str, code: int
) -> None:
    found = [doctor.Finding(name, name != lacks, "state") for name in ("sandbox", "QEMU")]
    monkeypatch.setattr(doctor, "examine", lambda again, say: found)
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == code
    assert f"lacks {lacks}: " in done.stderr.replace("lack ", "lacks ")


def test_a_module_that_does_not_build_says_nothing_of_kvm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise NotCompiled("the kernel module base does not build", "no rule to make it")

    monkeypatch.setattr(kvm, "probe", fail)
    (finding,) = doctor._kvm(False)
    assert finding.detail == "not probed: the kernel module base does not build"


def test_a_series_that_nobody_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The finding names the kernel series that were tested, and the setting that selects one."""
    monkeypatch.setattr(packages, "TRIED", ("5.4", "5.10"))
    finding = next(each for each in doctor._kernel() if each.name == "its series")
    assert not finding.ok
    assert not finding.needed
    assert finding.detail.endswith("our modules are tried with 5.4 and 5.10")
    assert finding.mend == "UNDERSTUDY_KERNEL=5.10"


def test_kvm_is_not_believed_without_its_device(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kvm, "DEVICE", tmp_path / "kvm")
    assert kvm.probe() == kvm.Answer(False, "there is no /dev/kvm")
