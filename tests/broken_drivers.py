# SPDX-License-Identifier: MIT
"""Broken variants of Zach 1's reference driver: each is one edit of the source, listed with the
finding that the referee must report."""

from dataclasses import dataclass

from understudy_devices.base.paths import cards_dir

REFERENCE = cards_dir() / "drivers" / "zach1_driver.c"


@dataclass(frozen=True)
class Mistake:
    """Texts of the driver with their replacements, and the expected finding."""

    edits: tuple[tuple[str, str], ...]
    finding: str

    def source(self) -> str:
        """Return the driver's source with the mistake."""
        return edited(*self.edits)


def edited(*edits: tuple[str, str]) -> str:
    """Return the reference driver's source with these texts replaced."""
    text = REFERENCE.read_text()
    for old, new in edits:
        assert old in text, f"the reference driver has no {old!r}"
        text = text.replace(old, new)
    return text


MISTAKES = {
    "frees_mapped": Mistake(
        (("\t\tunmap_mapping_range(zach1->file->f_mapping, 0, 0, 1);\n", "\t\t;\n"),),
        "DMA memory freed while mapped",
    ),
    "ring_wrap": Mistake(
        (
            (
                "zach1->address + number * ZACH1_BUFFER_BYTES",
                "zach1->address + zach1->drawn % (ZACH1_BUFFERS + 1) * ZACH1_BUFFER_BYTES",
            ),
        ),
        "wrong ring wrap",
    ),
    "early_wrap": Mistake(
        (("u32 number = zach1->drawn % ZACH1_BUFFERS;", "u32 number = zach1->drawn % 7;"),),
        "wrong ring wrap",
    ),
    "no_acknowledge": Mistake(
        (("iowrite32(status & HANDLED, zach1->registers + ZACH1_STATUS);", ""),),
        "missing acknowledge",
    ),
    "no_lock": Mistake(
        (
            ("\tspin_lock(&zach1->lock);\n", ""),
            ("\tspin_unlock(&zach1->lock);\n", ""),
            ("\tspin_lock_irq(&zach1->lock);\n", ""),
            ("\tspin_unlock_irq(&zach1->lock);\n", ""),
        ),
        "no lock against the handler",
    ),
    "use_after_free": Mistake(
        (
            (
                "return ret ?: wait_until_fewer(zach1, ZACH1_BUFFERS);",
                "if (zach1->filled == 5) {"
                " dma_free_coherent(&zach1->pdev->dev, ALL_BYTES, zach1->buffers, zach1->address);"
                " zach1->buffers = dma_alloc_coherent(&zach1->pdev->dev, ALL_BYTES,"
                " &zach1->address, GFP_KERNEL); }"
                "return ret ?: wait_until_fewer(zach1, ZACH1_BUFFERS);",
            ),
        ),
        "DMA buffer freed in use",
    ),
    "reserved_bits": Mistake(
        (
            (
                "iowrite32(zach1->bytes[number], zach1->registers + ZACH1_DMA_LENGTH);",
                "iowrite32(zach1->bytes[number] | 1u << 31, zach1->registers + ZACH1_DMA_LENGTH);",
            ),
        ),
        "reserved bits",
    ),
    "left_enabled": Mistake(
        (("iowrite32(0, zach1->registers + ZACH1_ENABLE);", ""),),
        "interrupts left enabled",
    ),
    "leak": Mistake(
        (
            (
                "stop_interrupts(zach1);\n\tdma_free_coherent(&pdev->dev, ALL_BYTES, "
                "zach1->buffers, zach1->address);\n\tunmap_card",
                "stop_interrupts(zach1);\n\tunmap_card",
            ),
        ),
        "DMA memory leaked",
    ),
    "no_wait": Mistake(
        (
            ("ret = wait_until_fewer(zach1, ZACH1_BUFFERS);", "ret = 0;"),
            ("return ret ?: wait_until_fewer(zach1, ZACH1_BUFFERS);", "return ret;"),
        ),
        "DMA memory changed in use",
    ),
    "no_length_check": Mistake(
        (("if (!bytes || bytes > ZACH1_BUFFER_BYTES)", "if (!bytes)"),), "bad DMA length"
    ),
    "maps_too_much": Mistake(
        (
            (
                "\tif (bytes > pci_resource_len(zach1->pdev, ZACH1_BAR_FRAMEBUFFER))\n"
                "\t\treturn -EINVAL;\n",
                "",
            ),
        ),
        "mapping past the end",
    ),
    "maps_memory": Mistake(
        (
            ("\tif (vma->vm_end - vma->vm_start > ALL_BYTES)\n\t\treturn -EINVAL;\n", ""),
            (
                "zach1->address,\n\t\t\t\t ALL_BYTES);",
                "zach1->address,\n\t\t\t\t vma->vm_end - vma->vm_start);",
            ),
        ),
        "mapping past the end",
    ),
    "maps_anything": Mistake(
        (
            ("\telse if (at == ZACH1_BUFFERS_AT)\n", "\telse if (at < ZACH1_FRAMEBUFFER_AT)\n"),
            ("\tvma->vm_pgoff = 0;\n", ""),
            (
                "return dma_mmap_coherent(&zach1->pdev->dev, vma, zach1->buffers, zach1->address,\n"
                "\t\t\t\t ALL_BYTES);",
                "return remap_pfn_range(vma, vma->vm_start,\n"
                "\t\t\t(virt_to_phys(zach1->buffers) >> PAGE_SHIFT) + vma->vm_pgoff,\n"
                "\t\t\tvma->vm_end - vma->vm_start, vma->vm_page_prot);",
            ),
        ),
        "mapping past the end",
    ),
    "not_exclusive": Mistake(
        (("\telse if (zach1->file)\n\t\tret = -EBUSY;\n", ""),), "exercise failed"
    ),
    "null_pointer": Mistake(
        (("zach1->drawn++;", "*(volatile int *)zach1->bytes[7] = 0;"),),
        "the kernel died",
    ),
}

_REQUEST = "request_irq(pci_irq_vector(pdev, 0), handle, IRQF_SHARED, zach1->name,"
_TASKLET = (
    (
        "\twait_queue_head_t progress;\n",
        "\twait_queue_head_t progress;\n\tstruct tasklet_struct late;\n",
    ),
    (
        "static irqreturn_t handle(int irq, void *data)\n{\n",
        "static void late(unsigned long data)\n{\n",
    ),
    ("\tstruct zach1 *zach1 = data;\n", "\tstruct zach1 *zach1 = (void *)data;\n"),
    ("\t\treturn IRQ_NONE;\n", "\t\treturn;\n"),
    (
        "\twake_up_all(&zach1->progress);\n\treturn IRQ_HANDLED;\n}\n",
        "\twake_up_all(&zach1->progress);\n}\n\n"
        "static irqreturn_t handle(int irq, void *data)\n{\n"
        "\ttasklet_schedule(&((struct zach1 *)data)->late);\n\treturn IRQ_HANDLED;\n}\n",
    ),
    (
        "\tzach1->pdev = pdev;\n",
        "\tzach1->pdev = pdev;\n\ttasklet_init(&zach1->late, late, (unsigned long)zach1);\n",
    ),
    (
        "\tpci_free_irq_vectors(zach1->pdev);\n",
        "\ttasklet_kill(&zach1->late);\n\tpci_free_irq_vectors(zach1->pdev);\n",
    ),
)

MISTAKES["deadlock"] = Mistake(
    (
        ("spin_lock_irq(&zach1->lock)", "spin_lock(&zach1->lock)"),
        ("spin_unlock_irq(&zach1->lock)", "spin_unlock(&zach1->lock)"),
        (
            "\tret = state_of(zach1);\n\tif (!ret) {",
            "\tret = state_of(zach1);\n\tioread32(zach1->registers + ZACH1_STATUS);\n\tif (!ret) {",
        ),
    ),
    "deadlock",
)
MISTAKES["freed_at_close"] = Mistake(
    (
        (
            "\tif (!zach1->gone)\n\t\treset_card(zach1);\n\tmutex_unlock(&zach1->control);\n",
            "\tdma_free_coherent(&zach1->pdev->dev, ALL_BYTES, zach1->buffers, zach1->address);\n"
            "\tzach1->buffers = dma_alloc_coherent(&zach1->pdev->dev, ALL_BYTES, &zach1->address,"
            " GFP_KERNEL);\n"
            "\tif (!zach1->gone)\n\t\treset_card(zach1);\n\tmutex_unlock(&zach1->control);\n",
        ),
    ),
    "DMA buffer freed in use",
)
MISTAKES["never_loads"] = Mistake(
    (
        (
            "\tpci_set_drvdata(pdev, zach1);\n",
            "\tfor (;;)\n\t\tschedule_timeout_uninterruptible(1);\n",
        ),
    ),
    "loading failed",
)
MISTAKES["tasklet"] = Mistake(
    (
        *_TASKLET,
        ("spin_lock_irq(&zach1->lock)", "spin_lock(&zach1->lock)"),
        ("spin_unlock_irq(&zach1->lock)", "spin_unlock(&zach1->lock)"),
    ),
    "no lock against the handler",
)


def _in_probe(code: str, finding: str) -> Mistake:
    return Mistake(
        (("\tret = map_card(zach1);\n", f"\t{code}\n\tret = map_card(zach1);\n"),), finding
    )


MISTAKES |= {
    "keeps_a_resource": _in_probe(
        'ret = -EBUSY;\n\tif (!request_mem_region(0xfee01000, 16, "kept"))\n\t\tgoto free_number;',
        "loading again failed",
    ),
    "halts": _in_probe('asm volatile("cli; hlt");', "the kernel hangs"),
    "loops": _in_probe("for (;;)\n\t\tcpu_relax();", "loading failed"),
    "loops_alone": _in_probe("local_irq_disable();\n\tfor (;;)\n\t\t;", "the kernel hangs"),
    "loops_beside": _in_probe(
        "set_cpus_allowed_ptr(current, cpumask_of(num_online_cpus() - 1));\n"
        "\tlocal_irq_disable();\n\tfor (;;)\n\t\t;",
        "the kernel hangs",
    ),
}

RIGHT = {
    "cmpxchg8b": (
        (
            "\tu32 number = zach1->drawn % ZACH1_BUFFERS;\n",
            "\tu32 number = zach1->drawn % ZACH1_BUFFERS;\n"
            "\tvoid __iomem *at = zach1->registers + ZACH1_DMA_ADDRESS;\n"
            "\tu64 next = zach1->address + number * ZACH1_BUFFER_BYTES;\n"
            "\tu32 low = ioread32(at), high = ioread32(at + 4);\n",
        ),
        (
            "iowrite64(zach1->address + number * ZACH1_BUFFER_BYTES,\n"
            "\t\t  zach1->registers + ZACH1_DMA_ADDRESS);",
            'asm volatile("cmpxchg8b (%2)" : "+a"(low), "+d"(high)'
            ' : "r"(at), "b"((u32)next), "c"((u32)(next >> 32)) : "memory", "cc");',
        ),
    ),
    "smaller_ring": (
        ("zach1->drawn % ZACH1_BUFFERS", "zach1->drawn % 7"),
        ("zach1->filled++ % ZACH1_BUFFERS", "zach1->filled++ % 7"),
        ("zach1->filled % ZACH1_BUFFERS", "zach1->filled % 7"),
        ("wait_until_fewer(zach1, ZACH1_BUFFERS)", "wait_until_fewer(zach1, 7)"),
    ),
    "threaded": (
        (
            _REQUEST,
            "request_threaded_irq(pci_irq_vector(pdev, 0), NULL, handle, "
            "IRQF_SHARED | IRQF_ONESHOT, zach1->name,",
        ),
    ),
    "disable_irq": (
        ("\twait_queue_head_t progress;\n", "\twait_queue_head_t progress;\n\tint irq;\n"),
        ("\tret = " + _REQUEST, "\tzach1->irq = pci_irq_vector(pdev, 0);\n\tret = " + _REQUEST),
        ("IRQF_SHARED", "0"),
        ("spin_lock_irq(&zach1->lock)", "disable_irq(zach1->irq)"),
        ("spin_unlock_irq(&zach1->lock)", "enable_irq(zach1->irq)"),
    ),
    "tasklet": (
        *_TASKLET,
        ("spin_lock_irq(&zach1->lock)", "spin_lock_bh(&zach1->lock)"),
        ("spin_unlock_irq(&zach1->lock)", "spin_unlock_bh(&zach1->lock)"),
    ),
}
"""Drivers that keep their handler out in other ways, use a part of their memory, or store by an
instruction that the bus does not know, and make no mistake."""
