# SPDX-License-Identifier: MIT
"""What a driver owes to the PCI bus and to the kernel, in journals of a few lines written by hand.

tests/vm/test_rude_drivers.py checks journals of real drivers.
"""

from typing import Any

import numpy as np

from understudy_devices.cards import journal, register_log, specification
from understudy_devices.cards.journal import (
    ABSENT,
    NOT_DECODED,
    NOT_MASTER,
    SPURIOUS,
    STALE,
    WRONG_DIRECTION,
    Context,
    Journal,
    Misuse,
    What,
)
from understudy_devices.cards.model import Express, Pm
from understudy_devices.referee import faults, findings

ZACH1 = specification.load("zach1")
STATUS = next(one.offset for one in ZACH1.registers if one.name == "STATUS")
ENABLE = next(one.offset for one in ZACH1.registers if one.name == "ENABLE")
POWERED = Pm()
Line = dict[str, Any]
BOUND: Line = {"what": What.BOUND}
UNBOUND: Line = {"what": What.UNBOUND}
REFUSED: Line = {"what": What.UNBOUND, "value": 1}
REFUSED_DMA: Line = {"what": What.DMA_REFUSED, "value": 0x1000, "offset": 64}
HANDLING: Line = {"what": What.HANDLING}
RAISED: Line = {"what": What.RAISED, "value": 1}
NONE: Line = {"what": What.HANDLED, "value": 1}
HANDLED: Line = {"what": What.HANDLED, "value": 2}


def command(value: int, what: What = What.CONFIG_WRITE) -> Line:
    """Return an access to the command register of the configuration space."""
    return {"what": what, "value": value, "offset": 4, "bytes": 2, "context": Context.KERNEL}


def access(what: What, value: int, flags: int = 0, context: Context = Context.KERNEL) -> Line:
    """Return an access to STATUS."""
    return {
        "what": what,
        "value": value,
        "offset": STATUS,
        "bytes": 4,
        "flags": flags,
        "context": context,
    }


ACKNOWLEDGED = access(What.STORE, 1, context=Context.HARD_INTERRUPT)


def journaled(*lines: Line) -> Journal:
    """Return a journal with these records."""
    rows = np.zeros(len(lines), journal.ACCESS)
    for number, line in enumerate(lines):
        rows[number]["number"] = number
        for name, value in line.items():
            rows[number][name] = value
    return rows


def rules(*lines: Line, log: str = "") -> list[tuple[str, int]]:
    """Return the findings' names and records."""
    mistakes = findings.found(ZACH1, journaled(*lines), whole=False, log=log)
    return [(finding.rule, finding.number) for finding in mistakes]


def test_bus_mastering_that_was_never_allowed() -> None:
    """A driver that forbids it again stops its card by that, which is no mistake."""
    refused = {**REFUSED_DMA, "flags": NOT_MASTER}
    message = {**RAISED, "flags": NOT_MASTER}
    assert rules(BOUND, command(2), refused) == [("no bus mastering", 2)]
    assert rules(BOUND, command(2), message) == [("no bus mastering", 2)]
    assert rules(BOUND, command(6), command(2), refused, message) == []
    assert rules(BOUND, command(6), UNBOUND, BOUND, refused) == [("no bus mastering", 4)]
    assert rules(BOUND, {**refused, "flags": NOT_MASTER | ABSENT}) == []


def test_memory_decoding_off() -> None:
    """The access has no effect; it is neither an acknowledgement nor a store of reserved bits."""
    ignored = access(What.STORE, 0x10, NOT_DECODED)
    assert rules(BOUND, ignored) == [("memory decoding off", 1)]
    assert rules(BOUND, access(What.STORE, 1, NOT_DECODED | ABSENT)) == []


def test_configuration_accesses_touch_no_register() -> None:
    """The command register's offset is that of a register in BAR 0."""
    unknown = {**command(0), "offset": 0x3C}
    assert rules(BOUND, command(0x7, What.CONFIG_READ), command(0x407), unknown) == []
    log = list(register_log.lines(ZACH1, journaled(command(6), command(0))))
    assert log[0].endswith("config store 0x04 0x6 COMMAND: memory decoding, bus mastering")
    assert log[1].endswith("config store 0x04 0x0 COMMAND: off")


def test_wrong_direction_is_not_foreign_memory() -> None:
    assert rules(BOUND, {**REFUSED_DMA, "flags": WRONG_DIRECTION}) == [("wrong DMA direction", 1)]
    assert rules(BOUND, REFUSED_DMA) == [("DMA outside the driver's memory", 1)]


def test_a_probe_that_refuses_the_card() -> None:
    """A deferred probe is no mistake, nor is a refusal of a card that was pulled out."""
    assert rules(BOUND, UNBOUND, BOUND, REFUSED) == [("probe failed", 3)]
    assert rules(BOUND, REFUSED, BOUND, UNBOUND) == []
    assert rules(BOUND, {**REFUSED, "flags": ABSENT}) == []


def test_a_handler_that_has_worked_and_says_none() -> None:
    """A spurious interrupt, where nothing was pending, is rightly answered by IRQ_NONE."""
    assert rules(BOUND, RAISED, HANDLING, ACKNOWLEDGED, NONE) == [("IRQ_NONE after work", 4)]
    assert rules(BOUND, RAISED, HANDLING, ACKNOWLEDGED, HANDLED) == []
    assert rules(BOUND, HANDLING, ACKNOWLEDGED, NONE) == []
    assert rules(BOUND, RAISED, HANDLING, NONE) == []
    other = {**ACKNOWLEDGED, "cpu": 1}
    assert rules(BOUND, RAISED, HANDLING, other, NONE) == []


def test_a_handler_that_claims_what_others_interrupt_for() -> None:
    """A reason that comes meanwhile is the card's own, as is a status bit that is not enabled."""
    shared = {**HANDLING, "flags": SPURIOUS}
    seen = access(What.LOAD, 1, context=Context.HARD_INTERRUPT)
    assert rules(BOUND, shared, HANDLED) == [("IRQ_HANDLED for nothing", 2)]
    assert rules(BOUND, shared, NONE, HANDLING, HANDLED) == []
    assert rules(BOUND, shared, RAISED, HANDLED) == []
    assert rules(BOUND, shared, {**HANDLED, "cpu": 1}, NONE) == []
    assert rules(BOUND, shared, seen, HANDLED) == []
    assert rules(BOUND, shared, {**seen, "value": 0}, HANDLED) == [("IRQ_HANDLED for nothing", 3)]


def test_a_read_modify_write_that_clears_status_bits() -> None:
    """To acknowledge what was read, or to write zeros there, is right."""
    status = next(one for one in ZACH1.registers if one.name == "STATUS")
    clearing, other = (
        next(one for one in status.fields if (one.access == "w1c") == clears)
        for clears in (True, False)
    )
    fields = tuple(
        one.model_copy(update={"access": "rw"}) if one == other else one for one in status.fields
    )
    changed = status.model_copy(update={"fields": fields})
    registers = tuple(changed if one == status else one for one in ZACH1.registers)
    card = ZACH1.model_copy(update={"registers": registers})
    seen, extra = clearing.bits.mask, other.bits.mask

    def found(*lines: Line) -> list[tuple[str, int]]:
        mistakes = findings.found(card, journaled(BOUND, *lines), whole=False)
        return [(one.rule, one.number) for one in mistakes]

    loaded = access(What.LOAD, seen)
    assert found(loaded, access(What.STORE, seen | extra)) == [("read-modify-write clears", 2)]
    assert found(loaded, access(What.STORE, seen)) == []
    assert found(loaded, access(What.STORE, extra)) == []
    assert found(access(What.LOAD, 0), access(What.STORE, seen | extra)) == []
    in_handler = access(What.STORE, seen | extra, context=Context.HARD_INTERRUPT)
    assert found(loaded, in_handler) == []
    inverting = (
        one.model_copy(update={"access": "w1t"}) if one.name == clearing.name else one
        for one in fields
    )
    status_inverted = status.model_copy(update={"fields": tuple(inverting)})
    registers = tuple(status_inverted if one == status else one for one in ZACH1.registers)
    card = ZACH1.model_copy(update={"registers": registers})
    assert found(loaded, access(What.STORE, seen | extra)) == [("read-modify-write clears", 2)]


def test_a_fault_in_the_log() -> None:
    """A transfer that a fault lets fail is not the driver's mistake."""
    fault = {"what": What.FAULT, "value": 2}
    assert rules(BOUND, fault, {**REFUSED_DMA, "flags": ABSENT}) == []
    (line,) = register_log.lines(ZACH1, journaled(fault))
    assert line.endswith("fault: dma")


def test_only_a_card_with_error_reporting_reports_errors() -> None:
    copier, nvme = map(specification.load, ("copier", "nvme"))
    assert [*faults.possible(nvme)] == [*faults.FAULTS]
    assert {*faults.FAULTS} - {*faults.possible(copier)} == {"error"}


def test_a_seed_determines_a_fault() -> None:
    """The bus, the referee and the log have the same kinds."""
    assert ("none", *faults.FAULTS) == register_log.FAULTS
    for kind, (_, most) in faults.FAULTS.items():
        numbers = {faults.drawn(kind, seed).number for seed in range(1, 400)}
        assert numbers == {*range(1, most + 1)}
        assert faults.drawn(kind, 7) == faults.drawn(kind, 7)


def test_a_register_is_accessed_whole() -> None:
    """Halves of 64 bits are right; processes and the fallback are not the driver."""
    part = {**access(What.LOAD, 1), "bytes": 1}
    both = {**access(What.LOAD, 1), "bytes": 8}
    address = next(one.offset for one in ZACH1.registers if one.name == "DMA_ADDRESS")
    half = {**access(What.STORE, 8), "offset": address + 4}
    fallback = {**part, "what": What.FALLBACK, "ip": 7, "bytes": 0}
    assert rules(BOUND, part) == [("access of the wrong width", 1)]
    assert rules(BOUND, both) == [("access of the wrong width", 1)]
    assert rules(BOUND, half, {**half, "offset": address, "bytes": 8}) == []
    assert rules(BOUND, {**part, "context": Context.USER}) == []
    assert rules(BOUND, fallback, {**part, "ip": 7}) == []


def test_memory_that_is_not_synced() -> None:
    old = {"what": What.DMA_READ, "value": 0x1000, "offset": 64, "flags": STALE}
    assert rules(BOUND, old) == [("DMA not synced", 1)]
    assert rules(BOUND, {**old, "flags": 0}) == []


def test_misuse_of_the_kernel_has_the_details_of_its_log() -> None:
    slept = {"what": What.MISUSE, "value": Misuse.SLEEPS}
    log = "[    3.1] vpcib: misuse, record 1: handle+0x1/0x2 [d] calls msleep in a handler\n"
    (finding,) = findings.found(ZACH1, journaled(BOUND, slept), whole=False, log=log)
    assert finding.rule == "sleeping in atomic context"
    assert finding.text == "handle+0x1/0x2 [d] calls msleep in a handler"
    (line,) = register_log.lines(ZACH1, journaled(slept))
    assert line.endswith("misuse: sleeps")


def test_a_rule_of_the_card() -> None:
    """The card itself reports that its driver has broken a rule."""
    broken: Line = {"what": What.MISUSE, "value": Misuse.BREAKS_RULE}
    log = "vpcib: misuse, record 1: the address has a wrong offset\n"
    [finding] = findings.found(ZACH1, journaled(BOUND, broken), whole=False, log=log)
    assert (finding.rule, finding.text) == (
        "rule of the card broken",
        "the address has a wrong offset",
    )


PM_STATE: Line = {"what": What.CONFIG_WRITE, "offset": 0x74, "bytes": 2}
ASLEEP, AWAKE, IN_D1 = ({**PM_STATE, "value": value} for value in (3, 0, 1))
RESET: Line = {"what": What.CONFIG_WRITE, "offset": 0x89, "bytes": 1, "value": 0x80}
SLOT_RESET: Line = {"what": What.RESET}
ADDED: Line = {"what": What.ADDED}
IGNORED = access(What.LOAD, 0xFFFFFFFF, NOT_DECODED)


def sleepy(*lines: Line, pm: Pm | None = POWERED) -> list[tuple[str, int]]:
    """Return the rules that a driver of a card with power management has broken, and where."""
    capabilities = ZACH1.capabilities.model_copy(update={"pm": pm, "express": Express()})
    card = ZACH1.model_copy(update={"capabilities": capabilities})
    found = findings.found(card, journaled(*lines), whole=False)
    return [(each.rule, each.number) for each in found]


def test_an_access_while_the_card_sleeps() -> None:
    """The card reacts again when it is awake, was reset, or is another one."""
    off = "memory decoding off"
    assert sleepy(BOUND, ASLEEP, IGNORED) == [("access in D3", 2)]
    assert sleepy(BOUND, ASLEEP, IN_D1, IGNORED) == [("access in D3", 3)]
    assert sleepy(BOUND, ASLEEP, AWAKE, IGNORED) == [(off, 3)]
    assert sleepy(BOUND, ASLEEP, RESET, IGNORED) == [(off, 3)]
    assert sleepy(ASLEEP, ADDED, BOUND, IGNORED) == [(off, 3)]
    assert sleepy(BOUND, ASLEEP, SLOT_RESET, IGNORED) == [(off, 3)]
    assert sleepy(BOUND, ASLEEP, IGNORED, pm=None) == [(off, 2)]
    (line,) = register_log.lines(ZACH1, journaled(ASLEEP))
    assert line.endswith("config store 0x74 0x3 D3hot: on")
    (line,) = register_log.lines(ZACH1, journaled(IN_D1))
    assert line.endswith("config store 0x74 0x1 D3hot: off")
    (line,) = register_log.lines(ZACH1, journaled({**RESET, "offset": 0x88, "value": 0x2810}))
    assert line.endswith("config store 0x88 0x2810")


def test_a_reset_clears_what_the_driver_has_set() -> None:
    """By the function-level reset, with its slot, or by waking a card that loses its registers in
    D3hot."""
    enabled = {**access(What.STORE, 1), "offset": ENABLE}
    left = [("interrupts left enabled", 3)]
    assert sleepy(BOUND, enabled, IN_D1, UNBOUND) == left
    assert sleepy(BOUND, enabled, RESET, UNBOUND) == []
    assert sleepy(BOUND, enabled, SLOT_RESET, UNBOUND) == []
    assert sleepy(BOUND, enabled, {**RESET, "flags": ABSENT}, UNBOUND) == left
    assert sleepy(BOUND, enabled, {"what": What.FAULT, "value": 5}, UNBOUND) == []
    assert sleepy(BOUND, enabled, ASLEEP, AWAKE, UNBOUND) == []
    kept = Pm(no_soft_reset=True)
    assert sleepy(BOUND, enabled, ASLEEP, AWAKE, UNBOUND, pm=kept) == [(left[0][0], 4)]


def test_memory_that_a_sleeping_card_does_not_use() -> None:
    begun: Line = {"what": What.DMA_BEGUN, "value": 0x1000, "offset": 64}
    given, taken = ({**begun, "what": each} for each in (What.DMA_GIVEN, What.DMA_TAKEN))
    assert sleepy(BOUND, given, begun, taken) == [("DMA buffer freed in use", 3)]
    assert sleepy(BOUND, given, begun, ASLEEP, taken) == []
    assert sleepy(BOUND, given, begun, RESET, taken) == []
