# SPDX-License-Identifier: MIT
"""Variants of the copier's reference driver that are wrong towards the PCI bus or the kernel: each
is one change, with the finding that the referee must report.  And right variants, with no finding.
"""

from dataclasses import dataclass

from understudy_devices.base.paths import cards_dir

REFERENCE = cards_dir() / "drivers" / "copier_driver.c"
EXERCISE = """for _ in 1 2 3 4 5 6 7 8; do
	cat /proc/uptime > /dev/copier0 && cat /dev/copier0 > /dev/null || exit 1
done
"""
"""A short exercise: the driver copies some texts."""


@dataclass(frozen=True)
class Rude:
    """Texts of the driver with their replacements, and the expected finding; None: no finding."""

    finding: str | None
    edits: tuple[tuple[str, str], ...]

    def source(self) -> str:
        """Return the driver's source with the change."""
        text = REFERENCE.read_text()
        for old, new in self.edits:
            assert old in text, f"the reference driver has no {old!r}"
            text = text.replace(old, new)
        return text


_ENABLE = "int ret = pcim_enable_device(pdev);"
_MAPS = "\tcopier->registers = pcim_iomap_table(pdev)[COPIER_BAR_CONTROL];\n"
_MASTER = "\tpci_set_master(pdev);\n"
_MASK = "dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64))"
_SOURCE = "iowrite64(copier->source_address, registers + COPIER_SOURCE);"
_HANDLED = "\tcomplete(&copier->finished);\n\treturn IRQ_HANDLED;"
_COPY = "ret = copy_from_user(copier->source, from, bytes) ? -EFAULT : 0;"
_LENGTH = "if (!bytes || bytes > BUFFER_BYTES)"
_OPERATE = "\treinit_completion(&copier->finished);\n"
_START = "\tiowrite32(1, registers + COPIER_START);\n"
_SINGLE = (
    "\tcopier->source = dmam_alloc_coherent(dev, BUFFER_BYTES, &copier->source_address,\n"
    "\t\t\t\t\t     GFP_KERNEL);\n"
)
_WAIT = "\tif (!wait_for_completion_timeout(&copier->finished, TIMEOUT_JIFFIES))\n"
_INCLUDE = ("#include <linux/slab.h>\n", "#include <linux/slab.h>\n#include <linux/delay.h>\n")


def _in_start(code: str) -> tuple[str, str]:
    """Return an edit: `code` runs before each operation of the card."""
    return _OPERATE, f"\t{code}\n{_OPERATE}"


def _mapped(direction: str) -> tuple[tuple[str, str], ...]:
    """Return edits: the source is mapped memory."""
    return (
        (
            _SINGLE,
            "\tcopier->source = devm_kzalloc(dev, BUFFER_BYTES, GFP_KERNEL);\n"
            "\tif (!copier->source)\n\t\treturn -ENOMEM;\n",
        ),
        (
            _START,
            "\tcopier->source_address = dma_map_single(&copier->pdev->dev, copier->source, bytes,"
            f" {direction});\n"
            "\tiowrite64(copier->source_address, registers + COPIER_SOURCE);\n" + _START,
        ),
        (
            _WAIT,
            "\tbytes = wait_for_completion_timeout(&copier->finished, TIMEOUT_JIFFIES);\n"
            "\tdma_unmap_single(&copier->pdev->dev, copier->source_address, mapped,"
            f" {direction});\n"
            "\tif (!bytes)\n",
        ),
        (_OPERATE, "\tmapped = bytes;\n" + _OPERATE),
        (
            "\tvoid __iomem *registers = copier->registers;\n",
            "\tvoid __iomem *registers = copier->registers;\n\tu32 mapped;\n",
        ),
    )


def _unmapped(how: str) -> tuple[tuple[str, str], ...]:
    """Return edits: the source is mapped memory, which is unmapped with these arguments."""
    right = _mapped("DMA_TO_DEVICE")
    return tuple((old, new.replace("mapped, DMA_TO_DEVICE", how)) for old, new in right)


_MAPPED_ONCE = (
    (
        _SINGLE,
        "\tcopier->source = devm_kzalloc(dev, BUFFER_BYTES, GFP_KERNEL);\n"
        "\tif (!copier->source)\n\t\treturn -ENOMEM;\n"
        "\tcopier->source_address = dma_map_single(dev, copier->source, BUFFER_BYTES,"
        " DMA_TO_DEVICE);\n",
    ),
    (
        "\tmutex_unlock(&copier->lock);\n\tida_free(",
        "\tdma_unmap_single(&pdev->dev, copier->source_address, BUFFER_BYTES, DMA_TO_DEVICE);\n"
        "\tmutex_unlock(&copier->lock);\n\tida_free(",
    ),
)
"""The source is memory that stays mapped."""
_SYNC = "dma_sync_single_for_{}(&copier->pdev->dev, copier->source_address, bytes, DMA_TO_DEVICE);"

_PIECE = (
    "{{ u8 *own = kmalloc((bytes | 63) + 1, GFP_KERNEL);\n"
    "\t   if (!own) return -ENOMEM; {} kfree(own); }}"
)

_LINE = ("1, 1, PCI_IRQ_ALL_TYPES", "1, 1, PCI_IRQ_LEGACY")
_STOPS = "\tfree_irq(pci_irq_vector(copier->pdev, 0), copier);\n"
_UNMAPS = "\tpcim_iounmap_regions(copier->pdev, 1 << COPIER_BAR_CONTROL);\n"
_PREPARES = "\treinit_completion(&copier->finished);\n\tcopier->status = 0;\n"
_ENABLES = (
    "\tiowrite32(COPIER_ENABLE_DONE_MASK | COPIER_ENABLE_FAILED_MASK,\n"
    "\t\t  copier->registers + COPIER_ENABLE);\n"
)
_REQUESTED_FIRST = (
    _LINE,
    (_ENABLES, ""),
    (
        "\tret = copier_start(copier);\n\tif (!ret)\n\t\tret = start_interrupts(copier);\n",
        "\tret = start_interrupts(copier);\n\tif (!ret)\n\t\tret = copier_start(copier);\n"
        "\tif (!ret) {\n" + _ENABLES + "\t}\n",
    ),
)
"""The interrupt is requested before the registers are mapped."""

WRONG = {
    "requests_early": Rude("interrupt requested too early", _REQUESTED_FIRST),
    "unmaps_early": Rude("interrupt freed too late", (_LINE, (_STOPS, f"{_UNMAPS}{_STOPS}"))),
    "prepares_late": Rude("exercise failed", ((_PREPARES, ""), (_START, _START + _PREPARES))),
    "writes_past": Rude(
        "write past the end", (_in_start(_PIECE.format("own[(bytes | 63) + 1] = 1;")),)
    ),
    "uses_freed": Rude(
        "use after free",
        (
            (
                _OPERATE,
                "\t{ u8 *own = kmalloc(64, GFP_KERNEL); u8 *freed = own;\n"
                "\t  OPTIMIZER_HIDE_VAR(own); kfree(freed); WRITE_ONCE(own[9], 1); }\n" + _OPERATE,
            ),
        ),
    ),
    "frees_twice": Rude(
        "double free",
        (
            _in_start(
                _PIECE.format("u8 *freed = own; OPTIMIZER_HIDE_VAR(freed); kfree(freed);"),
            ),
        ),
    ),
    "low_half": Rude(
        "DMA outside the driver's memory", ((_SOURCE, _SOURCE.replace("iowrite64", "iowrite32")),)
    ),
    "no_owner": Rude("used after unloading", (("\t.owner = THIS_MODULE,\n", ""),)),
    "not_synced": Rude("DMA not synced", _MAPPED_ONCE),
    "copies_too_much": Rude("copy past the end", ((_LENGTH, "if (!bytes)"),)),
    "copies_to_the_heap": Rude(
        "copy past the end",
        (
            (_LENGTH, "if (!bytes)"),
            (
                _COPY,
                "{\n\t\tvoid *kept = kmalloc(BUFFER_BYTES, GFP_KERNEL);\n\t\tret = kept && "
                "!copy_from_user(kept, from, bytes) ? 0 : -EFAULT;\n\t\tif (!ret)\n"
                "\t\t\tmemcpy(copier->source, kept, bytes);\n\t\tkfree(kept);\n\t}",
            ),
        ),
    ),
    "reads_too_much": Rude(
        "copy past the end",
        (
            (
                "simple_read_from_buffer(to, bytes, at, copier->destination,\n"
                "\t\t\t\t\t      copier->bytes)",
                "*at ? 0 : copy_to_user(to, copier->destination, bytes) ? -EFAULT : (*at = bytes)",
            ),
        ),
    ),
    "no_master": Rude("no bus mastering", ((_MASTER, ""),)),
    "no_enable": Rude("memory decoding off", ((_ENABLE, "int ret = 0;"),)),
    "second_probe": Rude(
        "probe failed",
        (
            (
                "static DEFINE_IDA(numbers);\n",
                "static DEFINE_IDA(numbers);\nstatic struct resource *kept;\n",
            ),
            (
                _MAPS,
                '\tkept = request_mem_region(0xfee01000, 16, "kept");\n'
                "\tif (!kept)\n\t\treturn -EBUSY;\n" + _MAPS,
            ),
        ),
    ),
    "keeps_region": Rude(
        "region not released",
        (
            (
                'ret = pcim_iomap_regions(pdev, 1 << COPIER_BAR_CONTROL, "copier");',
                'request_mem_region(pci_resource_start(pdev, 0), 64, "own"),\n'
                "\t\tret = pcim_iomap(pdev, 0, 0) ? 0 : -ENOMEM;",
            ),
        ),
    ),
    "frees_while_open": Rude(
        "use after free",
        (
            (
                "copier->number);\n\tkref_put(&copier->users, copier_free);\n}\n",
                "copier->number);\n\tkfree(copier);\n}\n",
            ),
        ),
    ),
    "keeps_enabled": Rude(
        "card left enabled", ((_MASTER, "\tpcim_pin_device(pdev);\n" + _MASTER),)
    ),
    "keeps_its_line": Rude(
        "interrupt line not shared",
        (
            _LINE,
            (
                "request_irq(pci_irq_vector(pdev, 0), handle, IRQF_SHARED",
                "request_irq(pci_irq_vector(pdev, 0), handle, 0",
            ),
        ),
    ),
    "keeps_memory": Rude(
        "memory leaked", ((_OPERATE, '\tkstrdup("kept", GFP_KERNEL);\n' + _OPERATE),)
    ),
    "keeps_free_page": Rude("memory leaked", (_in_start("__get_free_page(GFP_KERNEL);"),)),
    "keeps_one_of_many": Rude(
        "memory leaked",
        (
            _in_start(
                "for (int i = 0; i < 100; i++)\n"
                "\t\t__free_pages(alloc_pages(GFP_KERNEL, 1), 1);\n"
                "\t{\n\t\tstatic int times;\n"
                "\t\tif (times++ == 100)\n\t\t\talloc_pages(GFP_KERNEL, 1);\n\t}"
            ),
        ),
    ),
    "keeps_large": Rude("memory leaked", (_in_start("kmalloc(20000 + bytes, GFP_KERNEL);"),)),
    "keeps_pages": Rude(
        "memory leaked",
        (
            _in_start("vmalloc(bytes + 1);"),
            ("#include <linux/slab.h>\n", "#include <linux/slab.h>\n#include <linux/vmalloc.h>\n"),
        ),
    ),
    "keeps_number": Rude(
        "left in the kernel",
        (
            ("#include <linux/slab.h>\n", "#include <linux/slab.h>\n#include <linux/fs.h>\n"),
            (
                _MASTER,
                '\t{ dev_t number; alloc_chrdev_region(&number, 0, 1, "kept"); }\n' + _MASTER,
            ),
        ),
    ),
    "keeps_folder": Rude(
        "left in the kernel",
        (
            ("#include <linux/slab.h>\n", "#include <linux/slab.h>\n#include <linux/proc_fs.h>\n"),
            (_MASTER, '\tproc_mkdir("kept", NULL);\n' + _MASTER),
        ),
    ),
    "keeps_mapping": Rude(
        "BAR mapping leaked", ((_MAPS, "\tcopier->registers = pci_iomap(pdev, 0, 0);\n"),)
    ),
    "keeps_interrupt": Rude(
        "interrupt not freed", (("\tfree_irq(pci_irq_vector(copier->pdev, 0), copier);\n", ""),)
    ),
    "says_none": Rude(
        "IRQ_NONE after work", ((_HANDLED, _HANDLED.replace("IRQ_HANDLED", "IRQ_NONE")),)
    ),
    "says_handled": Rude(
        "IRQ_HANDLED for nothing",
        (
            _LINE,
            ("\t\treturn IRQ_NONE;", "\t\treturn IRQ_HANDLED;"),
        ),
    ),
    "waits_for_ever": Rude(
        "wait without a time-out",
        (
            (
                "\tif (!wait_for_completion_timeout(&copier->finished, TIMEOUT_JIFFIES))\n"
                "\t\treturn -ETIMEDOUT;\n",
                "\twait_for_completion(&copier->finished);\n",
            ),
            (_LENGTH, "if (bytes > BUFFER_BYTES)"),
            ("COPIER_ENABLE_DONE_MASK | COPIER_ENABLE_FAILED_MASK", "COPIER_ENABLE_DONE_MASK"),
        ),
    ),
    "direct_pointer": Rude(
        "a user's pointer used directly",
        ((_COPY, "memcpy(copier->source, (__force void *)from, bytes), ret = 0;"),),
    ),
    "wrong_direction": Rude("wrong DMA direction", _mapped("DMA_FROM_DEVICE")),
    "unmaps_less": Rude("DMA memory released wrongly", _unmapped("1, DMA_TO_DEVICE")),
    "unmaps_otherwise": Rude("DMA memory released wrongly", _unmapped("mapped, DMA_FROM_DEVICE")),
    "unmaps_twice": Rude(
        "DMA memory released wrongly",
        _unmapped(
            "mapped, DMA_TO_DEVICE);\n"
            "\tdma_unmap_single(&copier->pdev->dev, copier->source_address, mapped, DMA_TO_DEVICE"
        ),
    ),
    "ignores_copy": Rude(
        "result ignored",
        ((_COPY, "ret = 0;\n\t\tcopy_from_user(copier->source, from, bytes);"),),
    ),
    "copies_locked": Rude(
        "sleeping in atomic context",
        (
            (
                _COPY,
                "{\n\t\tstatic DEFINE_SPINLOCK(held);\n\t\tspin_lock(&held);\n\t\t"
                + _COPY
                + "\n\t\tspin_unlock(&held);\n\t}",
            ),
        ),
    ),
    "mutex_in_handler": Rude(
        "sleeping in atomic context",
        (
            (
                _HANDLED,
                "\tif (mutex_is_locked(&copier->lock)) {\n"
                "\t\tstatic DEFINE_MUTEX(inner);\n\t\tmutex_lock(&inner);\n"
                "\t\tmutex_unlock(&inner);\n\t}\n" + _HANDLED,
            ),
        ),
    ),
    "sleeps_locked": Rude(
        "sleeping in atomic context",
        (
            _INCLUDE,
            _in_start(
                "{\n\t\tstatic DEFINE_SPINLOCK(held);\n\t\tspin_lock(&held);\n"
                "\t\tmsleep(1);\n\t\tspin_unlock(&held);\n\t}"
            ),
        ),
    ),
    "sleeps_in_handler": Rude(
        "sleeping in atomic context", (_INCLUDE, (_HANDLED, "\tmsleep(1);\n" + _HANDLED))
    ),
}

_POLLS = (
    ("#include <linux/io.h>\n", "#include <linux/io.h>\n#include <linux/iopoll.h>\n"),
    (
        _WAIT,
        "\tif (readl_poll_timeout_atomic(registers + COPIER_STATUS, copier->status,\n"
        "\t\t\tcopier->status & (COPIER_STATUS_DONE_MASK | COPIER_STATUS_FAILED_MASK),"
        " 0, 10000000))\n",
    ),
    (
        "\tif (copier->gone)\n\t\treturn -ENODEV;\n\treturn copier->status",
        "\tiowrite32(copier->status & 3, registers + COPIER_STATUS);\n"
        "\tif (copier->gone)\n\t\treturn -ENODEV;\n\treturn copier->status",
    ),
    (_ENABLES, ""),
)


def _polls_where(before: str, after: str) -> Rude:
    """Return the driver that polls, between these statements."""
    head, wait, *rest = _POLLS
    condition = wait[1].removeprefix("\tif (").removesuffix(")\n")
    new = f"\t{before}\n\tbytes = {condition};\n\t{after}\n\tif (bytes)\n"
    flags = "\tvoid __iomem *registers = copier->registers;\n"
    edit = (flags, flags + "\tstatic DEFINE_SPINLOCK(held);\n\tunsigned long kept;\n")
    return Rude(None, (head, (_WAIT, new), *rest, edit))


WAITS = Rude(
    "wait without a time-out",
    (
        (
            "\tif (!wait_for_completion_timeout(&copier->finished, TIMEOUT_JIFFIES))\n"
            "\t\treturn -ETIMEDOUT;\n",
            "\twait_for_completion(&copier->finished);\n",
        ),
    ),
)
"""It waits for ever if an interrupt is lost."""
UNMAPS_TOO_EARLY = Rude(
    "DMA buffer freed in use",
    (
        *_mapped("DMA_TO_DEVICE"),
        ("#define TIMEOUT_JIFFIES (10 * HZ)", "#define TIMEOUT_JIFFIES HZ"),
    ),
)
"""It does not stop the card after the time-out."""

BELIEVES_KMALLOC = Rude("the kernel died", (("\tif (!copier)\n\t\treturn -ENOMEM;\n", ""),))
"""It does not look whether it got memory."""
BELIEVES_PAGES = Rude(
    "the kernel died",
    (
        (
            _MASTER,
            "\t{\n\t\tchar *page = (char *)__get_free_page(GFP_KERNEL);\n"
            "\t\tpage[0] = 1;\n\t\tfree_page((unsigned long)page);\n\t}\n" + _MASTER,
        ),
    ),
)
"""It does not look whether it got a page."""
DIES_UNMAPPED = Rude(
    "the kernel died",
    (
        (
            _MASTER,
            _MASTER
            + "\t{\n\t\tdma_addr_t at = dma_map_single(&pdev->dev, copier, 64, DMA_TO_DEVICE);\n"
            "\t\tBUG_ON(dma_mapping_error(&pdev->dev, at));\n"
            "\t\tdma_unmap_single(&pdev->dev, at, 64, DMA_TO_DEVICE);\n\t}\n",
        ),
    ),
)
"""It can't go on if memory can't be mapped for the card."""
LEAKS_ON_ERROR = Rude(
    "memory leaked", (("put:\n\tkref_put(&copier->users, copier_free);\n", "put:\n"),)
)
"""It frees its memory when it is removed, and not when its probe fails."""
STAYS_ON_ERROR = Rude("interrupt not freed", (("stop:\n\tstop_interrupts(copier);\n", "stop:\n"),))

REQUESTS_NOT = Rude(
    None,
    (
        (
            '\t\tret = pcim_iomap_regions(pdev, 1 << COPIER_BAR_CONTROL, "copier");\n',
            "\t\tret = pcim_iomap(pdev, COPIER_BAR_CONTROL, 0) ? 0 : -ENOMEM;\n",
        ),
    ),
)
"""It maps its BAR and has not requested it, as pvpanic-pci.ko does."""

RIGHT = {
    "requests_early_and_looks": Rude(
        None,
        (
            *_REQUESTED_FIRST,
            (
                "\tu32 status = ioread32(copier->registers",
                "\tu32 status = !READ_ONCE(copier->registers) ? 0 : ioread32(copier->registers",
            ),
        ),
    ),
    "unmaps_after_its_handler": Rude(None, (_LINE, (_STOPS, f"{_STOPS}{_UNMAPS}"))),
    "low_addresses": Rude(
        None,
        (
            (_MASK, _MASK.replace("64", "32")),
            (_SOURCE, _SOURCE.replace("iowrite64", "iowrite32")),
        ),
    ),
    "maps_low_addresses": Rude(
        None, ((_MASK, _MASK.replace("64", "32")), *_mapped("DMA_TO_DEVICE"))
    ),
    "shares_its_line": Rude(None, (_LINE,)),
    "polls_locked": _polls_where(
        "spin_lock(&held);\n\tkept = 0;", "spin_unlock(&held);\n\t(void)kept;"
    ),
    "polls_without_interrupts": _polls_where(
        "spin_lock_irqsave(&held, kept);", "spin_unlock_irqrestore(&held, kept);"
    ),
    "synced": Rude(
        None,
        (
            *_MAPPED_ONCE,
            (_COPY, "{\n\t\t" + _SYNC.format("cpu") + "\n\t\t" + _COPY + "\n\t}"),
            (_START, "\t" + _SYNC.format("device") + "\n" + _START),
        ),
    ),
    "polls": Rude(None, _POLLS),
    "mapped": Rude(None, _mapped("DMA_TO_DEVICE")),
    "frees_its_pages": Rude(
        None,
        (
            _in_start(
                "{\n\t\tvoid *many = kmalloc(20000 + bytes, GFP_KERNEL);\n"
                "\t\tstruct page *two = alloc_pages(GFP_KERNEL | __GFP_ZERO, 1);\n"
                "\t\tfree_page(get_zeroed_page(GFP_KERNEL));\n"
                "\t\tif (two)\n\t\t\tput_page(two);\n\t\tkfree(many);\n"
                "\t\tmany = alloc_pages_exact(3 * PAGE_SIZE, GFP_KERNEL);\n"
                "\t\tif (many)\n\t\t\tfree_pages_exact(many, 3 * PAGE_SIZE);\n\t}"
            ),
        ),
    ),
    "atomic_memory": Rude(
        None,
        (
            _in_start(
                "{\n\t\tstatic DEFINE_SPINLOCK(held);\n\t\tspin_lock(&held);\n"
                "\t\tkfree(kmalloc(64, GFP_ATOMIC));\n\t\tspin_unlock(&held);\n"
                "\t\tkfree(kmalloc(64, GFP_KERNEL));\n\t}"
            ),
        ),
    ),
    "stops_by_master": Rude(
        None,
        (
            (
                "\tmisc_deregister(&copier->node);\n",
                "\tpci_clear_master(pdev);\n\tmisc_deregister(&copier->node);\n",
            ),
        ),
    ),
    "threaded": Rude(
        None,
        (
            (
                "request_irq(pci_irq_vector(pdev, 0), handle, IRQF_SHARED,",
                "request_threaded_irq(pci_irq_vector(pdev, 0), NULL, handle, IRQF_ONESHOT,",
            ),
        ),
    ),
}
