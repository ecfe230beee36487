# SPDX-License-Identifier: MIT
"""The reference driver of Zach 1, broken: each mistake is one edit of its source, and has the
name by which the referee must call it."""

from dataclasses import dataclass

from understudy.base.paths import cards_dir

REFERENCE = cards_dir() / "drivers" / "zach1_driver.c"


@dataclass(frozen=True)
class Mistake:
    """Texts of the driver, what becomes of them, and the finding."""

    edits: tuple[tuple[str, str], ...]
    finding: str

    def source(self) -> str:
        """The driver with the mistake."""
        text = REFERENCE.read_text()
        for old, new in self.edits:
            assert old in text, f"the reference driver has no {old!r}"
            text = text.replace(old, new)
        return text


MISTAKES = {
    "ring_wrap": Mistake(
        (
            (
                "zach1->address + number * ZACH1_BUFFER_BYTES",
                "zach1->address + zach1->drawn % (ZACH1_BUFFERS + 1) * ZACH1_BUFFER_BYTES",
            ),
        ),
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
    "null_pointer": Mistake(
        (("zach1->drawn++;", "*(volatile int *)zach1->bytes[7] = 0;"),),
        "the kernel died",
    ),
}
