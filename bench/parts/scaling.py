# SPDX-License-Identifier: MIT
"""How k adapts to a disk whose speed changes, in the wall clock."""

from collections.abc import Mapping, Sequence

from bench.part import Column, Row, Rows
from understudy_devices.base.errors import RunFailed
from understudy_devices.measure import records
from understudy_devices.measure.metrics import LATE_MAX_PERMILLE
from understudy_devices.platforms.vm import machine, qemu
from understudy_devices.platforms.vm.self_scaling import JUDGED, OVERHEAD_SHARE

TITLE = "How k follows the stand-in disk"
TEXT = """
QEMU's own throttle makes a virtual disk slow and fast alternately, in a VM with the wall clock.
Understudy's throttle runs in the guest, with a profile in which each request takes {intercept_ms:g}
ms. If k is below *k needed*, the virtual disk is too slow for this profile. One process reads 4 KiB
with `scale_auto` 1 until k has been raised and at most 1 % of the last 1,000 requests were late.
Then k is fixed as with `--clock wall`. It is at least so large that the timer's lateness is
{overhead_percent:g} % of a service time. *Late* is the share of the reads recorded after that which
were late. *Error* is the percentage by which these reads took longer than k times the model's time.
The figures include the effect of other work on the host, which raises k.

{{{{ turns }}}}
"""
TABLES = {
    "turns": (
        Column("turn", "{turn}"),
        Column("QEMU's limit (requests/s)", "{limit:,}"),
        Column("k needed", "{needed:.2f}"),
        Column("k found", "{found:.2f}"),
        Column("k held", "{held:.2f}"),
        Column("raised", "{raised}"),
        Column("lowered", "{lowered}"),
        Column("reads until then", "{until:,}"),
        Column("reads recorded", "{recorded:,}"),
        Column("late (per mille)", "{late_permille:.1f}"),
        Column("error (%)", "{error_percent:.2f}"),
    )
}
SLOW, FAST = 250, 1000
SIZES = {
    "full": {"limits": [SLOW, FAST, SLOW, FAST], "requests": 5000},
    "quick": {"limits": [SLOW, FAST, SLOW], "requests": 1000},
    "tiny": {"limits": [FAST], "requests": 100},
}
IN_VM = True
INTERCEPT_NS = 500_000
TEXT = TEXT.format(intercept_ms=INTERCEPT_NS / 1e6, overhead_percent=100 * OVERHEAD_SHARE)

GROUP = "turns"
DEVICES = (
    *("-object", f"throttle-group,id={GROUP}"),
    *("-blockdev", f"driver=null-co,node-name=data,size={2**30},read-zeroes=on"),
    *("-blockdev", f"driver=throttle,throttle-group={GROUP},file=data,node-name=disk"),
    *("-device", "virtio-blk-pci,drive=disk"),
)
MODULES = {"iprobe": "", "vpt": "", "virtio_pci": "", "virtio_blk": ""}
TURNS = """
put() {{
	echo "$1" > "$2" || exit 1
}}
vpt=/sys/kernel/vpt/vda
read_some() {{
	dd if=/dev/vda of=/dev/null bs=4k count=$1 iflag=direct 2> /dev/null || exit 1
}}
until [ -b /dev/vda ]; do
	sleep 0.1
done
put /dev/vda /sys/kernel/vpt/add
put {intercept_ns} $vpt/intercept_ns
put 1 $vpt/subtract_overhead
for turn in {turns}; do
	port rest
	put 1 $vpt/reset
	put 1 $vpt/scale_auto
	raised=0 judged=0 late=0
	until [ "$raised" -gt 0 ] && [ "$judged" -ge {judged} ] && [ "$late" -le {late_max} ]; do
		read_some 250
		read -r raised < $vpt/scale_raised
		read -r judged < $vpt/late_window_requests
		read -r late < $vpt/late_window_permille
		read -r scale < $vpt/scale_milli
		port notify "turn $turn: k = $((scale / 1000)).$((scale % 1000 / 10)), $late per mille late"
	done
	put 0 $vpt/scale_auto
	for file in scale_milli scale_raised scale_lowered requests; do
		cat $vpt/$file > /out/$turn.$file
	done
	put 1 $vpt/reset
	read_some {judged}
	lateness_ns=$(($(cat $vpt/overshoot_ns) / $(cat $vpt/held)))
	exact=$((lateness_ns * 1000 / {lateness_max_ns}))
	[ $exact -le $scale ] || put $exact $vpt/scale_milli
	cat $vpt/scale_milli > /out/$turn.held_milli
	put {requests} $vpt/record
	read_some {requests}
	cat $vpt/records > /out/$turn.records
done
"""


def measure(limits: Sequence[int], requests: int) -> Rows:
    """Boot one machine, and measure one limit after another in it."""
    out = _machine(limits, requests)
    for turn, limit in enumerate(limits):
        yield "turns", _row(out, turn, limit)


def _machine(limits: Sequence[int], requests: int) -> Mapping[str, bytes]:
    turns = " ".join(map(str, range(len(limits))))
    vm = machine.Vm(
        scenario=TURNS.format(
            intercept_ns=INTERCEPT_NS,
            late_max=LATE_MAX_PERMILLE,
            lateness_max_ns=int(OVERHEAD_SHARE * INTERCEPT_NS),
            requests=requests,
            judged=JUDGED,
            turns=turns,
        ),
        modules=MODULES,
        machine=qemu.Machine(clock="wall", devices=DEVICES),
        timeout_seconds=3600,
    )
    with machine.talk(vm) as conversation:
        for limit in limits:
            conversation.wait()
            conversation.limit(GROUP, limit)
            conversation.go_on()
    return conversation.out


def _row(out: Mapping[str, bytes], turn: int, limit: int) -> Row:
    rows = records.from_bytes(out[f"{turn}.records"])
    found_milli, raised, lowered, until, held_milli = (
        int(out[f"{turn}.{name}"])
        for name in ("scale_milli", "scale_raised", "scale_lowered", "requests", "held_milli")
    )
    mean_ns = held_milli / 1000 * float(rows["model_service_ns"].to_numpy().mean())
    lateness_ns = float((rows["completion_ns"] - rows["due_ns"]).to_numpy().mean())
    if rows["completion_ns"].null_count():
        raise RunFailed(f"turn {turn}: {rows['completion_ns'].null_count()} reads did not end")
    return {
        "turn": turn + 1,
        "limit": limit,
        "needed": 1e9 / limit / INTERCEPT_NS,
        "found": found_milli / 1000,
        "held": held_milli / 1000,
        "raised": raised,
        "lowered": lowered,
        "until": until,
        "recorded": rows.height,
        "late_permille": 1000 * float(rows["late"].to_numpy().mean()),
        "error_percent": 100 * lateness_ns / mean_ns,
    }
