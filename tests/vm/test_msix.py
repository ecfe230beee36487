# SPDX-License-Identifier: MIT
"""MSI-X: a card with three vectors, whose driver gets an interrupt through each.

The driver masks one vector for a while, and gets its interrupt after unmasking it. lspci shows the
capability. The card's registers are in two pages. Another card has two functions with 64 vectors
each.
"""

import re
from pathlib import Path

import pytest
from guests import boot, group, text

from understudy_devices.cards import specification
from understudy_devices.platforms.vm import card_modules, debian_programs, packages
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("msix")

SOURCES = ("low", "middle", "high")


def _fields(access: str) -> str:
    return "\n".join(
        f"      - {{name: {name.upper()}, bits: {bit}, access: {access}, description: One.}}"
        for bit, name in enumerate(SOURCES)
    )


SPECIFICATION = f"""
name: ringer
title: A card that rings
description: What is written to RING happens.
config: {{vendor: 0x1234, device: 0x0003, subsystem_vendor: 0x1234, subsystem: 0x0001,
         class_code: 0x118000, revision: 1}}
capabilities:
  msi: {{vectors: 2}}
  msix: {{vectors: 3, bar: 2}}
bars:
  - {{number: 0, name: MAIN, bytes: 8192, kind: memory32, description: All registers.}}
  - {{number: 2, name: VECTORS, bytes: 4096, kind: memory64, description: For MSI-X.}}
registers:
  - name: RING
    bar: 0
    offset: 0
    width: 32
    kind: doorbell
    description: Each bit that is written happens.
    fields:
{_fields("wo")}
  - name: STATUS
    bar: 0
    offset: 4
    width: 32
    description: What has happened.
    fields:
{_fields("w1c")}
  - name: ENABLE
    bar: 0
    offset: 0x1008
    width: 32
    description: What may interrupt.
    fields:
{_fields("rw")}
interrupts:
""" + "".join(
    f"  - {{name: {name}, status: STATUS.{name.upper()}, enable: ENABLE.{name.upper()}, "
    f"vector: {vector}, description: One.}}\n"
    for vector, name in enumerate(SOURCES)
)

BEHAVIOUR = """
#include "../kernel/vgpu/device.h"
#include "ringer_registers.h"
#include "ringer_table.h"

static void stored(struct vgpu *device, u32 index, u64 value)
{
	if (index == RINGER_INDEX_RING)
		vgpu_set_bits(device, RINGER_INDEX_STATUS, value & 7);
}

const struct behaviour card_behaviour = { .table = &ringer_table, .stored = stored };
"""

DRIVER = """
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include "ringer_registers.h"

static void __iomem *registers;
static struct source {
	unsigned int number, count, cpu;
} sources[RINGER_MSIX_VECTORS] = { { 0 }, { 1 }, { 2 } };

static irqreturn_t handle(int irq, void *data)
{
	struct source *source = data;

	iowrite32(1u << source->number, registers + RINGER_STATUS);
	source->count++;
	source->cpu = smp_processor_id();
	return IRQ_HANDLED;
}

static void ring(u32 which)
{
	iowrite32(which, registers + RINGER_RING);
	msleep(20);
	pr_info("ringer: counts %u %u %u on %u %u %u\\n", sources[0].count, sources[1].count,
		sources[2].count, sources[0].cpu, sources[1].cpu, sources[2].cpu);
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	unsigned int i;
	int ret = pcim_enable_device(pdev);

	if (ret)
		return ret;
	registers = pcim_iomap(pdev, RINGER_BAR_MAIN, 0);
	pci_set_master(pdev);
	ret = pci_alloc_irq_vectors(pdev, 3, RINGER_MSIX_VECTORS, PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	for (i = 0; i < 3; i++) {
		ret = request_irq(pci_irq_vector(pdev, i), handle, 0, "ringer", &sources[i]);
		if (ret)
			return ret;
	}
	for (i = 0; i < 3; i++)
		irq_set_affinity(pci_irq_vector(pdev, i), cpumask_of(i));
	iowrite32(7, registers + RINGER_ENABLE);
	for (i = 0; i < 3; i++)
		ring(1u << i);
	ring(7);
	disable_irq(pci_irq_vector(pdev, 1));
	ring(7);
	enable_irq(pci_irq_vector(pdev, 1));
	ring(0);
	irq_set_affinity(pci_irq_vector(pdev, 0), cpumask_of(3));
	ring(1);
	return 0;
}

static void leave(struct pci_dev *pdev)
{
	unsigned int i;

	iowrite32(0, registers + RINGER_ENABLE);
	for (i = 0; i < 3; i++)
		free_irq(pci_irq_vector(pdev, i), &sources[i]);
	pci_free_irq_vectors(pdev);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(RINGER_VENDOR_ID, RINGER_DEVICE_ID) },
	{},
};

static struct pci_driver driver = {
	.name = "ringer",
	.id_table = ids,
	.probe = probe,
	.remove = leave,
};

static int __init begin(void)
{
	return pci_register_driver(&driver);
}

static void __exit end(void)
{
	pci_unregister_driver(&driver);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
"""

MANY = """
name: many
title: A card with many vectors
description: What is written to RING happens.
config: {vendor: 0x1234, device: 0x0004, subsystem_vendor: 0x1234, subsystem: 0x0001,
         class_code: 0x118000, revision: 1}
functions: 2
capabilities:
  msix: {vectors: 64, bar: 2}
bars:
  - {number: 0, name: MAIN, bytes: 4096, kind: memory32, description: All registers.}
  - {number: 2, name: VECTORS, bytes: 4096, kind: memory64, description: For MSI-X.}
registers:
  - {name: RING, bar: 0, offset: 0, width: 64, kind: doorbell, access: wo, description: Bits.}
  - name: STATUS
    bar: 0
    offset: 8
    width: 64
    description: What has happened.
    fields:
""" + "".join(
    f"      - {{name: S{bit}, bits: {bit}, access: w1c, description: One.}}\n" for bit in range(64)
)
MANY += "interrupts:\n" + "".join(
    f"  - {{name: s{bit}, status: STATUS.S{bit}, vector: {bit}, description: One.}}\n"
    for bit in range(64)
)
MANY_BEHAVIOUR = BEHAVIOUR.replace("ringer", "many").replace("RINGER", "MANY").replace(" & 7", "")

MANY_DRIVER = """
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include "many_registers.h"

#define MASKED 45

static struct port {
	void __iomem *registers, *vectors;
	struct source {
		struct port *port;
		unsigned int count;
	} sources[MANY_MSIX_VECTORS];
} ports[2];

static irqreturn_t handle(int irq, void *data)
{
	struct source *source = data;

	writeq(1ull << (source - source->port->sources), source->port->registers + MANY_STATUS);
	source->count++;
	return IRQ_HANDLED;
}

static void ring(struct port *port, u64 which)
{
	writeq(which, port->registers + MANY_RING);
	msleep(5);
}

/* The vectors that have not had exactly so many interrupts. */
static u64 not(const struct port *port, unsigned int count)
{
	u64 others = 0;
	unsigned int i;

	for (i = 0; i < MANY_MSIX_VECTORS; i++)
		others |= (u64)(port->sources[i].count != count) << i;
	return others;
}

static void use(struct pci_dev *pdev, struct port *port)
{
	unsigned int i, irq = pci_irq_vector(pdev, MASKED);
	u64 one_by_one, at_once, masked, pending;

	for (i = 0; i < MANY_MSIX_VECTORS; i++)
		ring(port, 1ull << i);
	one_by_one = not(port, 1);
	ring(port, ~0ull);
	at_once = not(port, 2);
	disable_irq(irq);
	ring(port, ~0ull); /* the kernel masks the vector when its interrupt comes */
	writeq(1ull << MASKED, port->registers + MANY_STATUS);
	ring(port, 1ull << MASKED);
	masked = not(port, 3);
	pending = readq(port->vectors + 2048);
	enable_irq(irq);
	msleep(5);
	pr_info("many: port %td: %llx %llx %llx pending %llx then %llx\\n", port - ports, one_by_one,
		at_once, masked, pending, readq(port->vectors + 2048));
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct port *port = &ports[PCI_FUNC(pdev->devfn)];
	unsigned int i;
	int ret = pcim_enable_device(pdev);

	if (ret)
		return ret;
	port->registers = pcim_iomap(pdev, MANY_BAR_MAIN, 0);
	port->vectors = pcim_iomap(pdev, MANY_BAR_VECTORS, 0);
	pci_set_master(pdev);
	ret = pci_alloc_irq_vectors(pdev, MANY_MSIX_VECTORS, MANY_MSIX_VECTORS, PCI_IRQ_MSIX);
	for (i = 0; i < MANY_MSIX_VECTORS && ret >= 0; i++) {
		port->sources[i].port = port;
		ret = request_irq(pci_irq_vector(pdev, i), handle, 0, "many", &port->sources[i]);
	}
	if (ret >= 0)
		use(pdev, port);
	return min(ret, 0);
}

static void leave(struct pci_dev *pdev)
{
	struct port *port = &ports[PCI_FUNC(pdev->devfn)];
	unsigned int i;

	pr_info("many: port %td: at the end %u %u %u\\n", port - ports, port->sources[0].count,
		port->sources[31].count, port->sources[63].count);
	for (i = 0; i < MANY_MSIX_VECTORS; i++)
		free_irq(pci_irq_vector(pdev, i), &port->sources[i]);
	pci_free_irq_vectors(pdev);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(MANY_VENDOR_ID, MANY_DEVICE_ID) },
	{},
};

static struct pci_driver many = {
	.name = "many",
	.id_table = ids,
	.probe = probe,
	.remove = leave,
};
module_pci_driver(many);
MODULE_LICENSE("GPL");
"""

SCENARIO = """
insmod /card.ko && taskset 8 insmod /ringer_driver.ko || fail 'no driver'
lspci -vv -s 10000:00:00.0 > /out/lspci
rmmod ringer_driver || fail 'the driver stayed'
lspci -vv -s 10000:00:00.0 > /out/lspci-after
rmmod card_ringer || fail 'the card stayed'
insmod /many.ko && insmod /many_driver.ko || fail 'no card with many vectors'
lspci -vv -s 10000:00:00 > /out/lspci-many
rmmod many_driver && rmmod card_many || fail 'the card with many vectors stayed'
"""


@pytest.fixture(scope="module")
def rung(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Boot the VM, in which the driver's probe makes the card interrupt."""
    folder = tmp_path_factory.mktemp("msix")
    (folder / "ringer.yaml").write_text(SPECIFICATION)
    (folder / "ringer.c").write_text(BEHAVIOUR)
    (folder / "ringer_driver.c").write_text(DRIVER)
    (folder / "many.yaml").write_text(MANY)
    (folder / "many.c").write_text(MANY_BEHAVIOUR)
    (folder / "many_driver.c").write_text(MANY_DRIVER)
    kernel, card, many = packages.fetch_kernel(), folder / "ringer.yaml", folder / "many.yaml"
    driver: Path = card_modules.driver(kernel, folder / "ringer_driver.c", specification.load(card))
    other = card_modules.driver(kernel, folder / "many_driver.c", specification.load(many))
    return boot(
        SCENARIO,
        {"vpcib": ""},
        files={
            "card.ko": card_modules.card(kernel, card),
            "ringer_driver.ko": driver,
            "many.ko": card_modules.card(kernel, many),
            "many_driver.ko": other,
            **debian_programs.files("lspci", "pciutils"),
        },
        clock="wall",
        cpus=4,
    )


def test_each_vector_has_its_interrupt(rung: Result) -> None:
    """Interrupts come one by one, all at once, and from the masked vector when it is unmasked."""
    counts = re.findall(r"ringer: counts (\d+) (\d+) (\d+)", text(rung, "dmesg"))
    expected = [(1, 0, 0), (1, 1, 0), (1, 1, 1), (2, 2, 2), (3, 2, 3), (3, 3, 3), (4, 3, 3)]
    assert [tuple(map(int, row)) for row in counts] == expected


def test_each_vector_comes_where_it_is_bound(rung: Result) -> None:
    """Processor 3 accesses the card; the vectors are bound to 0, 1 and 2, and then the
    first to 3.
    """
    places = re.findall(r"ringer: counts .* on (\d) (\d) (\d)", text(rung, "dmesg"))
    assert [places[2], places[-2], places[-1]] == [tuple("012"), tuple("012"), tuple("312")]


def test_lspci(rung: Result) -> None:
    """lspci shows both capabilities; MSI-X is enabled by the driver, and disabled after it is
    removed.
    """
    output, after = text(rung, "lspci"), text(rung, "lspci-after")
    assert re.search(r"MSI-X: Enable\+ Count=3 Masked-\n\s+Vector table: BAR=2 offset=0+\n", output)
    assert re.search(r"PBA: BAR=2 offset=0+800\n", output)
    assert "MSI: Enable- Count=1/2 Maskable+ 64bit+" in output
    assert "MSI-X: Enable- Count=3 Masked-" in after


def test_64_vectors_of_each_function(rung: Result) -> None:
    """Each comes by itself, and all at once.  A masked one waits among the pending bits, and then
    comes; no interrupt of a function is the other's.
    """
    assert text(rung, "lspci-many").count("MSI-X: Enable+ Count=64 Masked-") == 2
    said = re.findall(r"many: port (\d): (.+)", text(rung, "dmesg"))
    masked = f"{1 << 45:x}"
    assert said[:2] == [(port, f"0 0 {masked} pending {masked} then 0") for port in ("0", "1")]
    assert sorted(said[2:]) == [(port, "at the end 3 3 3") for port in ("0", "1")]
