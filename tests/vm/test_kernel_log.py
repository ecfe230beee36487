# SPDX-License-Identifier: MIT
"""The lines of a VM's log that count as complaints of its kernel (guests.py)."""

import pytest
from guests import complaints

REFUSED = """\
[   10.1] sh: vmalloc error: size 340, vm_struct allocation failed, mode:0xcc0(GFP_KERNEL)
[   10.2] CPU: 0 PID: 1703 Comm: sh Tainted: G           O       6.1.192-debug #1
[   10.3] Call Trace:
[   10.4]  <TASK>
[   10.5]  ? lockdep_hardirqs_on_prepare+0x28a/0x400
[   10.6]  vpt_hook+0x1db/0x440 [vpt]
{}
[   10.7]  </TASK>
"""
BUGS = (
    "[   10.6] BUG: KASAN: use-after-free in vpt_hook+0x1db/0x440",
    "[   10.6] WARNING: CPU: 0 PID: 1 at a.c:3 vpt_hook+0x1db/0x440",
    "[   10.6] BUG: sleeping function called from invalid context",
)


def test_memory_that_was_refused_is_none() -> None:
    """The kernel shows the caller's stack."""
    assert complaints(REFUSED.format("[   10.6]  kmalloc+0x1/0x2").splitlines()) == []


@pytest.mark.parametrize("bug", BUGS)
def test_what_is_one_is_found_within_it(bug: str) -> None:
    assert complaints(REFUSED.format(bug).splitlines()) == [bug]


def test_a_trace_of_something_else_is_one() -> None:
    after = "[   11.0] Call Trace:"
    assert complaints([*REFUSED.format("").splitlines(), after]) == [after]
