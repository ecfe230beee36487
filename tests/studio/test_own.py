# SPDX-License-Identifier: MIT
"""A user's scheduler, compiled and simulated as in the page: the command's bytes and words."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from built_page import built
from page_jobs import NODE, in_program, page_job, planned
from places import CHECKOUT

from understudy_devices.base import sources
from understudy_devices.base.errors import RunFailed
from understudy_devices.native import descriptions, registry
from understudy_devices.native.simulation import Simulation
from understudy_devices.native.simulator import run
from understudy_devices.platforms.sim import in_simulator
from understudy_devices.studio.catalogue import template

TEMPLATE = template()
ADDS = "\tfifo_add(&mine->pending, rq);\n"
REMOVES = "\t\tfifo_remove(&mine->pending, rq);\n"
ASKED = "\tstruct io_request *rq = mine->pending.oldest;\n"


def changed(*changes: tuple[str, str]) -> str:
    """Return the template with changes; each of them changes something."""
    text = TEMPLATE
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return text


def named(scheduler: str) -> str:
    """Return a scheduler of the project as a user's."""
    text = sources.taken()[f"core/schedulers/{scheduler}.c"].decode()
    return text.replace(f'"{scheduler}"', '"mine"')


FAULTS = {
    "never": changed((REMOVES, "\t\treturn rq + 1;\n")),
    "sector": changed((ADDS, ADDS + "\trq->sector = 5;\n")),
    "for ever": changed((ASKED, ASKED + "\tif (rq && rq->id > 5)\n\t\treturn NULL;\n")),
    "null": changed((REMOVES, REMOVES + "\tmine->pending.oldest->joined = true;\n")),
    "division": changed(
        ("struct mine {\n", "static volatile u64 zero;\n\nstruct mine {\n"),
        (REMOVES, "\t\trq->joined = 7 / zero;\n"),
    ),
    "recursion": changed(
        (
            ASKED,
            ASKED + "\tvolatile char big[1000]; big[now_ns % 999] = 1; "
            "if (mine_next(state, now_ns + big[5], wake_ns)) big[6] = 1; "
            "*wake_ns = big[now_ns % 99];\n",
        )
    ),
    "loop": changed((REMOVES, "\t\twhile (mine->pending.oldest)\n\t\t\t*wake_ns += 1;\n")),
    "name": changed(('.name = "mine"', '.name = "Mine!"')),
    "summary": changed(('\t.summary = "first come, first served",\n', "")),
    "next": changed(("\t.next = mine_next,\n", "")),
}
REFUSED = {
    "floating": (
        changed((REMOVES, REMOVES + "\tif (rq)\n\t\trq->joined = (double)now_ns * 0.3;\n")),
        [(35, "it uses floating point, which a kernel does not have")],
    ),
    "undeclared": (
        changed((ADDS, "\tappend(rq);\n")),
        [(17, "call to undeclared function 'append'")],
    ),
    "clock": (
        changed((ADDS, "\trq->sector = __TIME__[0];\n")),
        [(17, "expansion of date or time macro")],
    ),
    "nothing": (
        "int x;\n",
        [(0, "registers no scheduler: its file has to end with REGISTER_SCHEDULER")],
    ),
    "header": ('#include "../none.h"\n', [(1, "'../none.h' file not found")]),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the page with the simulator and the headers."""
    return built(tmp_path_factory) / "data"


def in_page(data: Path, asked: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Compile and simulate each source; return what run_own.ts prints."""
    compiler = CHECKOUT / "web/node_modules/@yowasp/clang/gen/bundle.js"
    command = [str(NODE), str(CHECKOUT / "tests/studio/run_own.ts"), compiler.as_uri(), str(data)]
    lines = "\n".join(json.dumps({"source": source, "job": job}) for source, job in asked)
    done = subprocess.run(
        command, input=lines, stdout=subprocess.PIPE, text=True, check=True, timeout=120
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


Asked = tuple[Simulation, dict[str, Any]]


def asked_of(source: str, disk: str, workload: str, **given: Any) -> Asked:
    """Return a simulation with a user's scheduler, and the page's job."""
    with registry.lent("mine", registry.Source("./mine.c", source.encode())):
        (experiment,) = planned(disk, workload, "mine", **given)
        simulation = in_simulator.describe(experiment)
        return simulation, page_job(simulation)


def words_of_command(source: str, simulation: Simulation) -> str:
    """Return why the command refuses a user's scheduler."""
    file = registry.Source("./mine.c", source.encode())
    try:
        with registry.lent("mine", file):
            descriptions.describe(file)
            run(simulation)
    except RunFailed as error:
        return str(error).removeprefix("mine: ")
    return ""


def test_the_same_bytes(data: Path) -> None:
    """The template, and schedulers with tunables, counters, waits and positioning times."""
    asked = [
        (source, asked_of(source, disk, workload, **given))
        for source in [TEMPLATE, *map(named, ("cats", "anticipatory", "sptf"))]
        for disk, workload, given in [
            ("cheetah-15k4", "surge-buffered", {}),
            ("hp-c3323a", "random", {"processes": 20, "writes": 30, "think_ms": 2}),
        ]
    ]
    answers = in_page(data, [(source, job) for source, (_, job) in asked])
    for (source, (simulation, _)), answer in zip(asked, answers, strict=True):
        with registry.lent("mine", registry.Source("./mine.c", source.encode())):
            assert answer == in_program(simulation) | {"printed": ""}


def test_a_fault_has_the_same_words(data: Path) -> None:
    """Contract, memory, division, recursion, loop: also the line is the command's."""
    simulation, job = asked_of(TEMPLATE, "cheetah-15k4", "random")
    answers = in_page(data, [(source, job) for source in FAULTS.values()])
    words = {name: answer.get("error") for name, answer in zip(FAULTS, answers, strict=True)}
    assert words == {name: words_of_command(source, simulation) for name, source in FAULTS.items()}


def test_what_does_not_compile_is_at_its_line(data: Path) -> None:
    """The command refuses each of these, too."""
    _, job = asked_of(TEMPLATE, "cheetah-15k4", "random")
    answers = in_page(data, [(source, job) for source, _ in REFUSED.values()])
    for (name, (_, expected)), answer in zip(REFUSED.items(), answers, strict=True):
        errors = [each for each in answer["messages"] if each["severity"] == "error"]
        assert [each["line"] for each in errors] == [line for line, _ in expected], (name, errors)
        for each, (_, words) in zip(errors, expected, strict=True):
            assert words in each["text"]


def test_what_it_prints_is_kept(data: Path) -> None:
    """And how much of it there may be."""
    prints = changed(
        ('#include "../fifo.h"', '#include <stdio.h>\n#include "../fifo.h"'),
        (ADDS, ADDS + '\tif (rq->id < 3)\n\t\tprintf("%llu\\n", (unsigned long long)rq->id);\n'),
    )
    floods = changed(
        ('#include "../fifo.h"', '#include <stdio.h>\n#include "../fifo.h"'),
        (REMOVES, '\t\tfor (;;)\n\t\t\tputs("again");\n'),
    )
    _, job = asked_of(TEMPLATE, "cheetah-15k4", "random")
    printed, flooded = in_page(data, [(prints, job), (floods, job)])
    assert printed["printed"] == "1\n2\n"
    assert flooded["error"].startswith(
        "printed more than 1,048,576 bytes, and was stopped in mine_"
    )
