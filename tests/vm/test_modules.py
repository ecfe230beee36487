# SPDX-License-Identifier: MIT
"""A module's bytes do not depend on the folder where it is built.

This test looks for the folder's name in the modules; test_same_bytes.py builds them in another
folder.
"""

from understudy_devices.platforms.vm import modules, packages


def test_a_module_names_no_folder() -> None:
    kernel = packages.fetch_kernel()
    for module in [*modules.base_modules(kernel), modules.scheduler_module(kernel, "fcfs")]:
        assert str(kernel.folder).encode() not in module.read_bytes()
        assert b"/tree/" not in module.read_bytes()
