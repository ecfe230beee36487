# SPDX-License-Identifier: MIT
"""`understudy completion`: real shells complete commands, options and names."""

import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from terminal import COMMAND

from understudy_devices.cli.main import main

PATIENCE_SECONDS = 60
pytestmark = pytest.mark.thorough

START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
PREPARE = {
    "bash": 'bind "set bell-style none"; eval "$(understudy completion bash)"',
    "zsh": 'autoload -U compinit; compinit -u -D; eval "$(understudy completion zsh)"',
}
# What is typed before TAB, and the end of the word that the shell adds.
TYPED = {
    "understudy compare-": "compare-runs",
    "understudy predict --virt": "--virtual-size",
    "understudy compare --disk cheetah-9": "cheetah-9lp",
    "understudy compare --schedulers cats,mq-": "cats,mq-deadline",
    "understudy sweep --disks all --workloads postm": "postmark",
    "understudy card show zac": "zach1",
    "understudy disks show cheetah-9": "cheetah-9lp",
    "understudy predict --clock wal": "wall",
    "understudy predict --schedulers ./own_sche": "./own_scheduler.c",
    "understudy reproduce table3.": "table3.1",
}


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a shell that finds the command."""
    (folder / "own_scheduler.c").touch()
    path = f"{COMMAND.parent}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(folder), "TERM": "dumb", "LANG": "C.UTF-8", "PS1": "> "}


def refuse_missing(shell: str) -> None:
    assert shutil.which(shell), f"no {shell}: apt-get install -y {shell}"


class Terminal:
    """A shell in a pseudo-terminal."""

    def __init__(self, words: list[str], folder: Path, settings: Mapping[str, str]) -> None:
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, dict(settings))

    def reads_after(self, keys: str, text: str) -> str:
        """Type keys; return what the terminal shows, once it contains the text."""
        os.write(self._terminal, keys.encode())
        shown, deadline = "", time.monotonic() + PATIENCE_SECONDS
        while text not in shown:
            assert time.monotonic() < deadline, f"no {text!r} after {keys!r}:\n{shown}"
            if select.select([self._terminal], [], [], 0.1)[0]:
                shown += os.read(self._terminal, 65536).decode(errors="replace")
        return shown

    def close(self) -> None:
        os.close(self._terminal)
        os.waitpid(self._pid, 0)


@pytest.mark.parametrize("shell", START)
def test_the_shell_adds_the_rest_of_a_word(shell: str, tmp_path: Path) -> None:
    refuse_missing(shell)
    terminal = Terminal(START[shell], tmp_path, environment(tmp_path))
    terminal.reads_after(f"{PREPARE[shell]}; echo rea''dy\n", "ready")
    for typed, word in TYPED.items():
        terminal.reads_after(f"{typed}\t", word)
        terminal.reads_after("\x15echo nex''t\n", "next")
    terminal.close()


def test_fish_proposes_the_words(tmp_path: Path) -> None:
    refuse_missing("fish")
    asks = "; ".join(f"complete -C {shlex.quote(typed)}" for typed in TYPED)
    done = subprocess.run(
        ["fish", "-c", f"understudy completion fish | source; {asks}"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    words = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert set(TYPED.values()) <= {*words, *(f"./{word}" for word in words)}


def test_a_wrong_command_completes_nothing_and_says_nothing(tmp_path: Path) -> None:
    """A message would appear in the line that is typed."""
    asked = {"COMP_WORDS": "understudy predcit --di", "COMP_CWORD": "2"}
    done = subprocess.run(
        [COMMAND],
        env={**environment(tmp_path), **asked, "_UNDERSTUDY_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")


@pytest.mark.parametrize("name", ["predict", "compare"])
def test_options_are_completed_without_the_slow_libraries(name: str) -> None:
    """They take half of the time; only a run needs them."""
    line = f"import sys, understudy_devices.cli.{name}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert not {"polars", "rich", "scipy", "matplotlib"} & {*done.stdout.split()}


def test_an_unknown_shell_is_refused() -> None:
    done = CliRunner().invoke(main, ["completion", "tcsh"])
    assert done.exit_code == 2
    assert done.stderr == (
        "understudy: Invalid value for 'bash|zsh|fish': 'tcsh' is not one of 'bash', 'zsh', "
        "'fish'.\n"
    )


def test_the_list_of_commands_is_that_of_the_modules() -> None:
    """The list is read from the sources; each summary is that of the imported command."""
    outlines = main._outlines()
    context = click.Context(main)
    commands = {name: main.get_command(context, name) for name in main._modules()}
    assert set(outlines) == {name for name, command in commands.items() if command}
    for name, outline in outlines.items():
        command = commands[name]
        assert command
        for limit in (45, 200):
            assert outline.get_short_help_str(limit) == command.get_short_help_str(limit)


def test_the_help_imports_no_command(tmp_path: Path) -> None:
    """So it takes 0.14 s of processor time, and not 1.2 s."""
    code = (
        "import sys; from click.testing import CliRunner; from understudy_devices.cli.main "
        "import main; CliRunner().invoke(main, ['--help'], catch_exceptions=False); "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [COMMAND.with_name("python"), "-c", code], capture_output=True, text=True, check=True
    )
    modules = done.stdout.split()
    assert not {"numpy", "polars", "pydantic", "rich"} & set(modules)
    assert not [name for name in modules if name.startswith("understudy_devices.ask")]
