# SPDX-License-Identifier: MIT
"""Commands of docs/ that boot a VM, as they are printed there (tests/project/test_docs.py runs the
others)."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from places import CHECKOUT
from printed_commands import printed_commands
from terminal import COMMAND

# A page, and how one of its commands begins.
PRINTED = {
    "docs/tutorial.md": "understudy predict --on vm --schedulers ./mine.c,mq-deadline",
    "docs/adding.md": "understudy predict --schedulers ./mine.c,cats,mq-deadline --set mine.",
    "docs/course-figures.md": "understudy predict --on vm --workload random --processes 10",
    "docs/commands.md": "understudy predict --on vm --dry-run",
}


@pytest.mark.parametrize("page", PRINTED)
def test_the_command_runs(page: str, tmp_path: Path) -> None:
    (command,) = [one.text for one in printed_commands(page) if one.text.startswith(PRINTED[page])]
    (tmp_path / "mine.c").write_text(scheduler())
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{COMMAND.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ("qemu-system-x86_64" if "--dry-run" in command else "mean response") in done.stdout


def scheduler() -> str:
    """Return a scheduler mine with the tunable patience_ns, which docs/adding.md sets."""
    text = (CHECKOUT / "core" / "schedulers" / "vr.c").read_text()
    text = text.replace("r_milli, 200, 0, 1000,", "r_milli, 200, 0, 10000000,")
    return re.sub(r"\bvr(?=\b|_)", "mine", text).replace("r_milli", "patience_ns")
