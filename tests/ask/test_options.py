# SPDX-License-Identifier: MIT
"""Consistency of the commands: names of options, deprecated spellings, help in groups."""

import json
import re

import click
import pytest
from click.testing import CliRunner

from understudy_devices.api.options import DECLARED
from understudy_devices.ask import schedulers
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.cli import old
from understudy_devices.cli.main import main
from understudy_devices.cli.options import GROUPS

UNITS = {"ms": "-ms", "us": "-us", "ns": "-ns"}


def said(*words: str) -> str:
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == 0, done.output
    return done.output


def command(name: str) -> click.Command:
    match = main.get_command(click.Context(main), name)
    assert match
    return match


def test_times_have_their_unit_in_their_name() -> None:
    for entry in DECLARED.values():
        assert entry.option.endswith(UNITS.get(entry.unit, "")), entry.option


@pytest.mark.parametrize("name", [*old.OF_COMMANDS, "predict"])
def test_old_spellings_are_hidden_and_mean_options_that_are(name: str) -> None:
    options = {word for one in command(name).params for word in one.opts}
    names = old.OF_COMMANDS.get(name, old.EVERYWHERE)
    assert options >= set(names.values())
    assert not options & set(names)


def test_old_spellings_are_taken() -> None:
    new = ("--think-ms", "2", "--gap-us=20", "--ask-us", "3")
    plan = ("predict", "--workload", "random", "--schedulers", "fcfs", "--dry-run")
    assert said(*plan, *new) == said(*plan, "--think", "2", "--gap=20", "--ask", "3")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["serve-disk", "--disk", "cheetah-15k4", "--size", "1K"], "--virtual-size: 1K is outside"),
        (["measure", "--on", "/dev/nobody"], "/dev/nobody"),
        (["place", "a=vm.csv", "--devices", "a=0"], "--queue-depths: a=0: write"),
        (["consolidate", "--depth", "0"], "'--queue-depth'"),
    ],
)
def test_old_spellings_reach_each_command(words: list[str], complaint: str) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert complaint in done.output


def test_what_follows_two_dashes_is_no_option() -> None:
    assert old.spelled_anew("measure", ["--on", "--", "--on"]) == ["--device", "--", "--on"]


@pytest.mark.parametrize("name", ["predict", "compare", "sweep"])
def test_help_is_in_groups(name: str) -> None:
    """Each option is in its own group, and "Options" holds only --help."""
    sections = re.split(
        r"^(\w+):\n", said(name, "--help").partition("  Example:")[0], flags=re.MULTILINE
    )
    options = dict(zip(sections[1::2], sections[2::2], strict=True))
    groups = [group for group in GROUPS if group != "Cluster" or name == "sweep"]
    assert [*options] == [*groups, "Options"]
    assert re.findall(r"^  -.*?--([\w-]+)", options["Options"], re.MULTILINE) == ["help"]
    assert "--think-ms" in options["Workload"]
    assert "--virtual-size" in options["Disk"]


def test_schedulers_are_listed_with_their_tunables() -> None:
    document = {each["name"]: each for each in json.loads(said("schedulers", "--json"))}
    assert {*document} == {*schedulers.core(), *schedulers.KERNEL}
    tunables = {one["name"]: one["initial"] for one in document["cats"]["tunables"]}
    assert tunables["busdriver_ns"] == 7_000_000
    assert document["bfq"]["kernel"]
    text = said("schedulers")
    assert all(word in text for word in ("first come, first served", "busdriver_ns", "kyber"))


def test_workloads_are_listed_with_their_options() -> None:
    document = {each["name"]: each for each in json.loads(said("workloads", "--json"))}
    assert {*document} == {*WORKLOADS}
    options = {one["option"]: one for one in document["poisson"]["options"]}
    assert (options["--rate"]["unit"], options["--processes"]["default"]) == ("1/s", 1)
    text = said("workloads")
    assert all(word in text for word in ("surge-direct", "--think-ms", "--replay"))


@pytest.mark.parametrize("name", ["schedulers", "workloads", "cache"])
def test_their_help_has_an_example(name: str) -> None:
    assert f"understudy {name}" in said(name, "--help").partition("Example:")[2]
