# SPDX-License-Identifier: MIT
"""`understudy completion`: print the lines that make a shell complete this command.

A shell that has read these lines runs `understudy` at each press of TAB; click answers before any
command is started.
"""

import click
from click.shell_completion import get_completion_class

from understudy_devices.cli.main import PROGRAM, main

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", epilog='Example: eval "$(understudy completion bash)"')
@click.argument("shell", metavar="|".join(SHELLS), type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print a script that makes a shell complete commands, options and names.

    \b
    Put one of these lines into the file that your shell reads at its start:
      eval "$(understudy completion bash)"        ~/.bashrc
      eval "$(understudy completion zsh)"         ~/.zshrc, after compinit
      understudy completion fish | source         ~/.config/fish/config.fish
    """
    kind = get_completion_class(shell)
    assert kind
    script = kind(main, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE")
    # The method source() of bash's class would start a bash, to print which versions are too old.
    # A value may be a list with commas, which the script for fish would cut at the first comma.
    text = script.source_template.replace('string split "," ', 'string split --max 1 "," ')
    click.echo(text % script.source_vars())
