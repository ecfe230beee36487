# SPDX-License-Identifier: MIT
"""A user's own card: two files in the user's folder, a driver, and a C program as its exercise."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from guests import group

from understudy.base.errors import UserError
from understudy.cli.card import command

pytestmark = group("own-card")

SPECIFICATION = """
name: doubler
title: A card that doubles numbers
description: What is written to IN comes out of OUT, doubled.
config: {vendor: 0x1234, device: 0x0002, subsystem_vendor: 0x1234, subsystem: 0x0001,
         class_code: 0x118000, revision: 1}
bars:
  - {number: 0, name: MAIN, bytes: 4096, kind: memory32, description: All registers.}
registers:
  - name: IN
    bar: 0
    offset: 0
    width: 32
    kind: doorbell
    description: A number.
    fields:
      - {name: NUMBER, bits: "15:0", access: wo, description: At most 65535.}
  - {name: OUT, bar: 0, offset: 4, width: 32, access: ro, description: Its double.}
  - {name: SCRATCH, bar: 0, offset: 8, width: 32, access: rw, description: Anything.}
"""

BEHAVIOUR = """
#include "../kernel/vgpu/device.h"
#include "doubler_registers.h"
#include "doubler_table.h"

static void stored(struct vgpu *device, u32 index, u64 value)
{
	if (index == DOUBLER_INDEX_IN)
		vgpu_set(device, DOUBLER_INDEX_OUT, 2 * value);
}

const struct behaviour card_behaviour = { .table = &doubler_table, .stored = stored };
"""

DRIVER = """
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/uaccess.h>
#include "doubler_driver.h"
#include "doubler_registers.h"

static void __iomem *registers;

static long run(struct file *file, unsigned int request, unsigned long argument)
{
	u32 number;

	if (request != DOUBLER_DOUBLE)
		return -ENOTTY;
	if (get_user(number, (u32 __user *)argument))
		return -EFAULT;
	writel(number, registers + DOUBLER_IN);
	return put_user(readl(registers + DOUBLER_OUT), (u32 __user *)argument);
}

static const struct file_operations operations = { .owner = THIS_MODULE, .unlocked_ioctl = run };
static struct miscdevice node = {
	.minor = MISC_DYNAMIC_MINOR, .name = "doubler", .fops = &operations,
};

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int ret = pcim_enable_device(pdev);

	if (ret)
		return ret;
	registers = pcim_iomap(pdev, 0, 0);
	return registers ? misc_register(&node) : -ENOMEM;
}

static void remove(struct pci_dev *pdev)
{
	misc_deregister(&node);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(DOUBLER_VENDOR_ID, DOUBLER_DEVICE_ID) }, {},
};

static struct pci_driver doubler = {
	.name = "doubler", .id_table = ids, .probe = probe, .remove = remove,
};
module_pci_driver(doubler);
MODULE_LICENSE("GPL");
"""

HEADER = """
#include <linux/ioctl.h>
#include <linux/types.h>
#define DOUBLER_DOUBLE _IOWR('d', 0, __u32)
"""

EXERCISE = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include "doubler_driver.h"
#include "doubler_registers.h"

int main(void)
{
	int node = open("/dev/doubler", O_RDWR);
	__u32 number = 21;

	if (node < 0 || ioctl(node, DOUBLER_DOUBLE, &number) || number != 42) {
		printf("21 became %u\\n", number);
		return 1;
	}
	return 0;
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with card, driver and exercise, each in a subfolder of its own."""
    for name, text in {
        "cards/doubler.yaml": SPECIFICATION,
        "cards/doubler.c": BEHAVIOUR,
        "mine/my-driver.c": DRIVER,
        "mine/doubler_driver.h": HEADER,
        "try/it.c": EXERCISE,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def refereed(folder: Path, *more: str) -> dict[str, Any]:
    """Return the answer of `card test` on one processor."""
    arguments = ["test", str(folder / "cards" / "doubler.yaml"), "--cpus", "1", "--json"]
    arguments += ["--driver", str(folder / "mine" / "my-driver.c"), *more]
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    if isinstance(result.exception, Exception):
        raise result.exception
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def rules(answer: dict[str, Any]) -> set[str]:
    return {finding["rule"] for run in answer["runs"] for finding in run["findings"]}


def changed(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_it_works(folder: Path) -> None:
    """The driver passes its exercise."""
    answer = refereed(folder, "--exercise", str(folder / "try" / "it.c"))
    assert answer["passed"], answer
    assert answer["card"] == "doubler"


def test_a_mistake_is_named(folder: Path) -> None:
    """Findings use the names of this card's registers."""
    changed(folder / "mine" / "my-driver.c", "writel(number,", "writel(number | 0x10000,")
    answer = refereed(folder, "--exercise", str(folder / "try" / "it.c"))
    assert rules(answer) == {"reserved bits", "exercise failed"}
    texts = [one["text"] for run in answer["runs"] for one in run["findings"]]
    assert "IN: 0x10000 is reserved" in texts
    assert any("21 became 131114" in text for text in texts)


def test_without_a_behaviour(folder: Path) -> None:
    """The card has registers but no behaviour, so the exercise fails."""
    (folder / "cards" / "doubler.c").unlink()
    answer = refereed(folder, "--exercise", str(folder / "try" / "it.c"))
    assert rules(answer) == {"exercise failed"}


def test_without_an_exercise(folder: Path) -> None:
    """The driver is only loaded and unloaded."""
    assert refereed(folder)["passed"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cards/doubler.c", r"cards/doubler\.c does not build:\n.*doubler\.c:1:\d+: error: "),
        ("mine/my-driver.c", r"mine/my-driver\.c does not build:\n.*my-driver\.c:1:\d+: error: "),
        ("try/it.c", r"try/it\.c does not build:\n.*it\.c:1:\d+: error: "),
    ],
)
def test_what_does_not_build(folder: Path, name: str, reason: str) -> None:
    """The error has the compiler's message, and the file's name as it was given."""
    (folder / name).write_text("int x = y;\n")
    with pytest.raises(UserError, match=reason):
        refereed(folder, "--exercise", str(folder / "try" / "it.c"))


def test_no_exercise_there(folder: Path) -> None:
    """The error says what an exercise is."""
    with pytest.raises(UserError, match="a shell script, or a C program"):
        refereed(folder, "--exercise", str(folder / "none"))
