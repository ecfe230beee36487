# SPDX-License-Identifier: MIT
"""The `understudy` command.

A sub-command is a module in this folder with a function `command`, which click decorates; there is
no list of sub-commands.  Importing all of them takes a second, so the list is read from their
sources.  Exit codes: 0 means success, 1 a failed run, 2 a wrong request.  An error is printed as
one line on stderr.  understudy_devices/__main__.py handles interruptions.

The click context's attribute `obj` is the command line as it was typed, which a command prints
and stores in its result.
"""

import os
import pkgutil
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from understudy_devices import __version__, cli
from understudy_devices.base.catalog import unknown
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.plain import plain
from understudy_devices.cli import old, spelling

PROGRAM = "understudy"
EXIT_FAILED = 1
EXIT_WRONG = 2
OUTLINE = re.compile(r'^def command\(.*?:\n(?:    """(.*?)(?:\n\n|"""))?', re.M | re.S)


class Understudy(click.Group):
    """Finds sub-commands and turns errors into one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all modules that have a `command`."""
        return list(self._outlines())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of sub-commands without importing them."""
        click.Group(commands=self._outlines()).format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a sub-command's name without importing the sub-commands."""
        names = [
            CompletionItem(name, help=outline.get_short_help_str())
            for name, outline in self._outlines().items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of one module; only that module is imported."""
        module = self._modules().get(cmd_name)
        command = getattr(import_module(module), "command", None) if module else None
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command like click, but suggest the nearest name for an unknown name, and
        accept old spellings of options."""
        completing = ctx.resilient_parsing  # then click wants no error
        if not (completing or args[0].startswith("-") or self.get_command(ctx, args[0])):
            raise UserError(unknown("command", args[0], self.list_commands(ctx)))
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, old.spelled_anew(name or "", rest)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run the command and end the process with the right exit code."""
        words = list(sys.argv[1:] if args is None else args)
        extra |= {"standalone_mode": False, "prog_name": PROGRAM}
        extra["obj"] = shlex.join([PROGRAM, *words])
        spelling.for_any_terminal()
        sys.exit(_flushed(self._run(words, *rest, **extra)))

    def _run(self, words: list[str], *rest: Any, **extra: Any) -> int:
        """Run the command, print its error if there is one, and return the exit code."""
        try:
            code = super().main(words, *rest, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            return EXIT_WRONG
        except click.ClickException as error:
            return _complain(error.format_message(), EXIT_WRONG)
        except UserError as error:
            return _complain(str(error), EXIT_WRONG)
        except RunFailed as error:
            return _complain(str(error), EXIT_FAILED)
        except OSError as error:
            return _complain(_reason(error), EXIT_FAILED)
        except MemoryError:
            return _complain("out of memory: take fewer requests", EXIT_FAILED)
        return code if isinstance(code, int) else 0

    def _outlines(self) -> dict[str, click.Command]:
        """Return the sub-commands without their options: the first paragraph of the help alone."""
        outlines = {}
        for name, module in self._modules().items():
            spec = find_spec(module)
            assert spec
            assert spec.origin
            if outline := OUTLINE.search(Path(spec.origin).read_text("utf-8")):
                outlines[name] = click.Command(name, help=outline[1])
        return outlines

    def _modules(self) -> dict[str, str]:
        return {
            name.replace("_", "-"): f"{cli.__name__}.{name}"
            for _, name, _ in pkgutil.iter_modules(cli.__path__)
            if name != "main"
        }


def _complain(message: str, code: int) -> int:
    with suppress(OSError):
        click.echo(plain(f"understudy: {message}"), err=True)
    return code


def _reason(error: OSError) -> str:
    """Return the reason of a failed read or write, after the file's name."""
    return f"{error.filename or 'standard output'}: {error.strerror or error}"


def _flushed(code: int) -> int:
    """Flush standard output; return another exit code if the disk is full or the reader is gone."""
    try:
        if sys.stdout:  # None if standard output was closed from the start
            sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return EXIT_FAILED
    except OSError as error:
        _discard_output()
        return _complain(_reason(error), EXIT_FAILED)
    return code


def _discard_output() -> None:
    """Discard buffered output; otherwise Python tries to write it again at exit, and complains."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(context: click.Context, option: click.Parameter, is_given: bool) -> None:
    if not is_given:
        return
    from understudy_devices.base.commit import commit  # nothing else needs git

    known = commit()
    click.echo(f"{PROGRAM} {__version__}" + (f" ({known})" if known else ""))
    context.exit()


@click.group(
    cls=Understudy, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and, if it is known, the commit.",
)
def main() -> None:
    """Predict how I/O schedulers perform on a disk you don't have, with virtual machines."""
