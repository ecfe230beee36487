/* SPDX-License-Identifier: MIT */
/*
 * The parts of Linux that a card's driver uses, for a program with one card that is a register file
 * (core/cards/registers.h).  TABLE is the header with the card's table, CARD its name.
 *
 * Resources must be released in reverse order of acquisition; call number fail_at, from 1, fails.
 * A driver must enable the card, and map the registers that it accesses, before the access.  With
 * CAREFUL, no access may have side effects: no write to a doorbell, no 1 written to a reserved, wo
 * or w1s bit, and no access to a port.
 */
#ifndef UNDERSTUDY_TEST_KERNEL_STUB_H
#define UNDERSTUDY_TEST_KERNEL_STUB_H

#include <stdio.h>
#include <stdlib.h>

#include "../core/cards/registers.h"
#include TABLE

#define __iomem
#define __init __attribute__((unused))
#define __exit __attribute__((unused))
#define KBUILD_MODNAME "stub"
#define GFP_KERNEL 0
#define PCI_STD_NUM_BARS 6
#define PCI_IRQ_ALL_TYPES 7
#define IRQF_SHARED 0x80
#define DMA_BIT_MASK(bits) ((bits) == 64 ? U64_MAX : (1ull << (bits)) - 1)
#define MODULE_LICENSE(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_DEVICE_TABLE(kind, table)
#define PCI_DEVICE(a, b) a, b
#define module_init(function) static int (*const stub_init)(void) = function
#define module_exit(function) static void (*const stub_exit)(void) = function
#define module_pci_driver(driver) \
	static struct pci_driver *const stub_driver = &(driver)
#define pr_info(...) fprintf(stderr, __VA_ARGS__)
#define pr_err(...) fprintf(stderr, __VA_ARGS__)
#define pci_err(pdev, ...) fprintf(stderr, __VA_ARGS__)
#define STUB_CHECK(condition)                                                      \
	do {                                                                       \
		if (!(condition)) {                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, \
				#condition);                                       \
			abort();                                                   \
		}                                                                  \
	} while (0)

typedef enum { IRQ_NONE, IRQ_HANDLED } irqreturn_t;
#define IRQ_RETVAL(ours) ((ours) ? IRQ_HANDLED : IRQ_NONE)
typedef irqreturn_t irq_handler_t(int irq, void *data);

struct device {
	int unused;
};
struct pci_dev {
	struct device dev;
	u16 subsystem_vendor, subsystem_device;
	u32 class;
	u8 revision;
};
struct pci_device_id {
	u32 vendor, device;
};
struct pci_driver {
	const char *name;
	const struct pci_device_id *id_table;
	int (*probe)(struct pci_dev *pdev, const struct pci_device_id *id);
	void (*remove)(struct pci_dev *pdev);
};

static struct card_table stub_table;
static struct card_register stub_register[4096];
static u64 stub_values[4096];
static struct registers stub_registers = { &stub_table, stub_values };
static struct pci_dev stub_pdev;
static void *stub_drvdata;
static char stub_bar[PCI_STD_NUM_BARS][1 << 24];
static const char *stub_taken[128];
static unsigned int stub_nr_taken, stub_calls, fail_at;
static irq_handler_t *stub_handler;
static void *stub_handler_data;

static inline void stub_begin(void)
{
	stub_table = CARD;
	memcpy(stub_register, CARD.registers,
	       CARD.nr_registers * sizeof(*stub_register));
	stub_table.registers = stub_register;
	stub_pdev = (struct pci_dev){ .subsystem_vendor = CARD.subsystem_vendor,
				      .subsystem_device = CARD.subsystem,
				      .class = CARD.class_code,
				      .revision = CARD.revision };
	registers_reset(&stub_registers);
}

static inline bool stub_has(const char *what)
{
	unsigned int i;

	for (i = 0; i < stub_nr_taken; i++) {
		if (!__builtin_strcmp(stub_taken[i], what))
			return true;
	}
	return false;
}

/* Acquire a resource; return false if this call is the one that fails. */
static inline bool stub_take(const char *what)
{
	if (++stub_calls == fail_at)
		return false;
	STUB_CHECK(stub_nr_taken < ARRAY_SIZE(stub_taken));
	stub_taken[stub_nr_taken++] = what;
	return true;
}

static inline void stub_give_back(const char *what)
{
	STUB_CHECK(stub_nr_taken);
	STUB_CHECK(!__builtin_strcmp(stub_taken[stub_nr_taken - 1], what));
	stub_nr_taken--;
}

static inline void *kzalloc(size_t bytes, int flags)
{
	return stub_take("memory") ? calloc(1, bytes) : NULL;
}

static inline void kfree(void *memory)
{
	stub_give_back("memory");
	free(memory);
}

static inline void pci_set_drvdata(struct pci_dev *pdev, void *data)
{
	stub_drvdata = data;
}

static inline void *pci_get_drvdata(struct pci_dev *pdev)
{
	return stub_drvdata;
}

static inline int pci_enable_device(struct pci_dev *pdev)
{
	return stub_take("device") ? 0 : -EIO;
}

static inline void pci_disable_device(struct pci_dev *pdev)
{
	stub_give_back("device");
}

static inline int pci_request_regions(struct pci_dev *pdev, const char *name)
{
	return stub_take("regions") ? 0 : -EBUSY;
}

static inline void pci_release_regions(struct pci_dev *pdev)
{
	stub_give_back("regions");
}

static inline int dma_set_mask_and_coherent(struct device *device, u64 mask)
{
	STUB_CHECK(mask == U64_MAX || mask == U32_MAX);
	return ++stub_calls == fail_at ? -EIO : 0;
}

static inline void pci_set_master(struct pci_dev *pdev)
{
	STUB_CHECK(stub_has("device"));
}

static inline void pci_clear_master(struct pci_dev *pdev)
{
	STUB_CHECK(stub_has("device"));
}

static inline void pci_intx(struct pci_dev *pdev, int enable)
{
	STUB_CHECK(stub_has("device"));
}

static const char *const stub_mapping[] = { "bar 0", "bar 1", "bar 2",
					    "bar 3", "bar 4", "bar 5" };

static inline void *pci_iomap(struct pci_dev *pdev, int bar, unsigned long bytes)
{
	STUB_CHECK(stub_has("regions"));
	return stub_take(stub_mapping[bar]) ? stub_bar[bar] : NULL;
}

static inline void pci_iounmap(struct pci_dev *pdev, void *at)
{
	stub_give_back(stub_mapping[((char *)at - stub_bar[0]) / sizeof(stub_bar[0])]);
}

#define PCI_CAP_ID_PM 0x01
#define PCI_CAP_ID_EXP 0x10

static inline int pci_find_capability(struct pci_dev *pdev, int capability)
{
	return capability == PCI_CAP_ID_PM ? CARD.has_pm : CARD.is_express;
}

static inline u64 pci_resource_len(struct pci_dev *pdev, u32 number)
{
	u32 i;

	for (i = 0; i < stub_table.nr_bars; i++) {
		if (stub_table.bars[i].number == number)
			return stub_table.bars[i].bytes;
	}
	return 0;
}

static inline struct pci_dev *pci_get_device(u32 vendor, u32 device,
					     struct pci_dev *from)
{
	bool ours = vendor == stub_table.vendor && device == stub_table.device;

	return ours && !from ? &stub_pdev : NULL;
}

static inline void pci_dev_put(struct pci_dev *pdev)
{
}

/* Return the maximum number of vectors of the card; INTA is one. */
static inline unsigned int stub_vectors(void)
{
	unsigned int most = stub_table.msi_vectors > stub_table.msix_vectors
				    ? stub_table.msi_vectors
				    : stub_table.msix_vectors;

	return most ?: 1;
}

static inline int pci_alloc_irq_vectors(struct pci_dev *pdev, int min, int max,
					int flags)
{
	STUB_CHECK(max == (int)stub_vectors());
	return stub_take("vectors") ? max : -ENOSPC;
}

static inline void pci_free_irq_vectors(struct pci_dev *pdev)
{
	stub_give_back("vectors");
}

static const char *const stub_irq[] = { "irq 0", "irq 1", "irq 2", "irq 3" };

static inline int pci_irq_vector(struct pci_dev *pdev, int vector)
{
	STUB_CHECK(stub_has("vectors"));
	return vector;
}

static inline int request_irq(int irq, irq_handler_t *handler, int flags,
			      const char *name, void *data)
{
	stub_handler = handler;
	stub_handler_data = data;
	return stub_take(stub_irq[irq % ARRAY_SIZE(stub_irq)]) ? 0 : -EBUSY;
}

static inline void free_irq(int irq, void *data)
{
	STUB_CHECK(data == stub_handler_data);
	stub_give_back(stub_irq[irq % ARRAY_SIZE(stub_irq)]);
}

/* Access one whole register; return the value read. */
static inline u64 stub_access(void *at, u32 bytes, const u64 *written)
{
	size_t place = (char *)at - stub_bar[0];
	u32 bar = place / sizeof(stub_bar[0]);
	struct register_access access =
		registers_access(&stub_table, bar, place % sizeof(stub_bar[0]), bytes);
	struct register_part part;
	const struct card_register *reg;

	STUB_CHECK(stub_has(stub_mapping[bar]));
	STUB_CHECK(registers_next(&access, &part));
	reg = &CARD.registers[part.index];
	STUB_CHECK(reg->bytes == bytes && !part.shift);
#ifdef CAREFUL
	STUB_CHECK(reg->kind != REGISTER_PORT);
	STUB_CHECK(!written || reg->kind == REGISTER_PLAIN);
	STUB_CHECK(!written || !(*written & ~reg->readable));
	STUB_CHECK(!written || !(*written & reg->sets));
#endif
	if (!written)
		return registers_load(&stub_registers, part.index, part.lanes);
	registers_store(&stub_registers, part.index, *written, part.lanes);
	return 0;
}

#define STUB_ACCESSORS(bits)                                      \
	static inline u##bits ioread##bits(void *at)              \
	{                                                         \
		return stub_access(at, bits / 8, NULL);           \
	}                                                         \
	static inline void iowrite##bits(u##bits value, void *at) \
	{                                                         \
		u64 written = value;                              \
                                                                  \
		stub_access(at, bits / 8, &written);              \
	}

STUB_ACCESSORS(8)
STUB_ACCESSORS(16)
STUB_ACCESSORS(32)
STUB_ACCESSORS(64)

#endif
