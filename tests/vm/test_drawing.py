# SPDX-License-Identifier: MIT
"""The same picture is drawn in the guest, under emulation, and on the host."""

import subprocess

from guests import boot, text

from understudy_devices.base.programs import compiled
from understudy_devices.platforms.vm.card_programs import draw_triangles

TRIANGLES = 3000
SIZES = (20, 100)
WAYS = ("", "--by-commands")
SCENARIO = "".join(
    f"draw_triangles --size {size} --triangles {TRIANGLES} {way} >> /out/said || fail drawing\n"
    for size in SIZES
    for way in WAYS
)


def test_the_guest_draws_what_the_host_draws() -> None:
    program = compiled(draw_triangles())
    output = text(boot(SCENARIO, files={"bin/draw_triangles": program}), "said")
    words = ["--triangles", str(TRIANGLES)]
    hosts = [
        subprocess.run(
            [program, "--size", str(size), *words], capture_output=True, text=True, check=True
        ).stdout
        for size in SIZES
        for _ in WAYS
    ]
    assert [line.split()[2] for line in output.splitlines()] == [line.split()[2] for line in hosts]
