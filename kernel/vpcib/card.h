/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bus's view of a card, and the functions that the files of the bus share.
 *
 * A card with several functions is as many structs vpcib_card, each with registers, interrupts and
 * DMA memory of its own.  They are plugged in together, and pulled out together.
 *
 * Locks, from the outermost to the innermost:
 *
 * - slots_lock, a mutex.  It guards the slots and the list of kinds.
 * - pci_lock_rescan_remove, a mutex of the kernel.  Drivers are probed and removed while this mutex
 *   and slots_lock are held, so no function that a driver calls may take either mutex.
 * - The kernel's lock of an interrupt, which is held while the functions of an irq_chip are called.
 * - A card's lock.  It is a raw spinlock, since drivers access registers in any context, and so are
 *   the following locks.
 * - The fallback's lock.
 * - The lock of a card's DMA list.
 * - The lock of a domain of the IOMMU.
 * - The journal's lock.
 *
 * card_in, card_at and card_of must be called under rcu_read_lock.
 */
#ifndef UNDERSTUDY_VPCIB_CARD_H
#define UNDERSTUDY_VPCIB_CARD_H

#include <linux/dma-direction.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "access.h"
#include "vpcib.h"

struct vm_area_struct;

#define SLOTS 32
#define CARDS (SLOTS * VPCIB_FUNCTIONS_MAX)
#define WINDOW_MOST (256ull << 20)
#define CONFIG_BYTES PCI_CFG_SPACE_EXP_SIZE
#define TRANSFERS_MOST 16

/* The pages of a memory BAR, which are not freed while they are mapped. */
struct bar_memory {
	struct kref users;
	u32 count;
	struct page *pages[];
};

struct vpcib_card {
	struct vpcib_kind *kind;
	u32 number; /* that of its slot, plus SLOTS for each function before it */
	raw_spinlock_t lock;
	bool gone; /* pulled out */
	u64 stalled_until; /* a fault: the card does not work before this time, in ns */
	bool silent; /* a fault: the present access is not answered */
	bool broken; /* a fault: it does not answer until it is recovered */
	struct work_struct recovery;
	u8 config[CONFIG_BYTES];
	u32 msix; /* offset of the MSI-X capability; 0: none */
	/* the MSI-X table and the pending bits, if their BAR has registers */
	__le32 msix_table[VPCIB_VECTORS_MAX * 4];
	__le32 msix_bits[2];
	/* address of each BAR in the bridge's window */
	struct resource address[VPCIB_BARS];
	struct bar_memory *memory[VPCIB_BARS];
	struct pci_dev *pdev;

	/* interrupts, guarded by the lock */
	u64 asserted; /* vectors that have a reason */
	u64 pending; /* vectors whose message was sent, but not yet handled */
	bool shared; /* another card on its line interrupts (with "races") */
	bool hurries; /* the next interrupt is delivered at once, though there are "races" */
	bool line_masked; /* the interrupt controller has masked INTA */
	unsigned int line_irq;
	u32 unanswered; /* number of consecutive INTAs that did not remove the reasons */
	struct delivery __percpu *deliveries;
	u32 held; /* number of register accesses after which interrupts are delivered; 0: at once */
	u32 drawn; /* the last random number */
	struct hrtimer hold_end;

	/* memory that the driver has given to the card, or the addresses of its IOMMU's domain */
	raw_spinlock_t dma_lock;
	struct space *space; /* NULL: none */
	struct list_head dma;
	struct {
		u64 address;
		size_t bytes; /* 0: no memory */
		bool reads;
	} begun[TRANSFERS_MOST];
	u32 last_begun;

	u64 state[];
};

static inline u32 card_number(unsigned int devfn)
{
	return PCI_SLOT(devfn) + SLOTS * PCI_FUNC(devfn);
}

static inline unsigned int card_devfn(const struct vpcib_card *card)
{
	return PCI_DEVFN(card->number % SLOTS, card->number / SLOTS);
}

/* Goes through all cards on the bus.  Under rcu_read_lock. */
#define for_each_card(card, number) \
	for_each_set_bit(number, card_numbers, CARDS) if (((card) = card_in(number)))

/* bridge.c */
bool on_bus(phys_addr_t address);
struct resource *bridge_window(void);
struct resource *bridge_ports(void);
struct pci_bus *bridge_bus(void);
struct vpcib_card *card_of(const struct device *dev);
int bridge_init(void);
void bridge_exit(void);

/* hotplug.c */
int hotplug_init(struct pci_bus *bus);
void hotplug_exit(void);

/* card.c */
extern struct vpcib_card __rcu *cards[]; /* slots.c changes these two */
extern unsigned long card_numbers[];
struct vpcib_card *card_in(u32 number);
struct vpcib_card *card_at(phys_addr_t address, u32 *bar, u32 *offset);
struct vpcib_card *card_at_port(u32 port, u32 *bar, u32 *offset);
bool kind_has_ports(const struct vpcib_kind *kind);

/* slots.c */
int slots_add(const char *name);
void slots_take_over(struct pci_dev *pdev);
int slots_switch_on(u32 slot);
int slots_switch_off(u32 slot);
bool slots_is_off(u32 slot);
void slots_each(void (*check)(struct vpcib_card *card));

/* config_bytes.c */
u32 config_get(const struct vpcib_card *card, u32 where, u32 bytes);
void config_chain(struct vpcib_card *card, u32 at);
void config_put(struct vpcib_card *card, u32 where, u32 value, u32 bytes);

/* config.c */
void config_reset(struct vpcib_card *card);
void config_mark_bars(struct vpcib_card *card);
void config_place_bars(struct vpcib_card *card);
u32 config_read(struct vpcib_card *card, u32 where, u32 bytes);
void config_write(struct vpcib_card *card, u32 where, u32 value, u32 bytes);
bool config_decodes(const struct vpcib_card *card, u32 bar);
bool config_is_master(const struct vpcib_card *card);
bool config_sends_messages(const struct vpcib_card *card);
u32 config_message(const struct vpcib_card *card, u32 vector);
u64 config_masked(const struct vpcib_card *card);
void config_set_pending(struct vpcib_card *card, u64 vectors);
bool config_line_disabled(const struct vpcib_card *card);

/* power.c */
void power_reset(struct vpcib_card *card);
u32 power_writable(const struct vpcib_card *card, u32 where);
void power_written(struct vpcib_card *card, u32 where, u32 value, u32 lanes);
bool power_is_on(const struct vpcib_card *card);
void power_reset_function(struct vpcib_card *card);

/* vendor.c */
bool vendor_fits(const struct vpcib_kind *kind);
void vendor_reset(struct vpcib_card *card);

/* aer.c */
void aer_reset(struct vpcib_card *card);
u32 aer_writable(const struct vpcib_card *card, u32 where);
void aer_written(struct vpcib_card *card, u32 where, u32 value, u32 lanes);
void aer_suffer(struct vpcib_card *card);
void aer_add(struct vpcib_card *card);
void aer_remove(struct vpcib_card *card);

/* msix.c */
void msix_reset(struct vpcib_card *card, u32 at);
bool msix_is_enabled(const struct vpcib_card *card);
u32 msix_writable(const struct vpcib_card *card);
u32 msix_message(const struct vpcib_card *card, u32 vector);
u64 msix_masked(const struct vpcib_card *card);
void msix_set_pending(struct vpcib_card *card, u64 vectors);
bool msix_holds(const struct vpcib_card *card, u32 bar, u32 offset, u32 bytes);
u64 msix_load(struct vpcib_card *card, u32 offset, u32 bytes);
void msix_store(struct vpcib_card *card, u32 offset, u64 value, u32 bytes);

/* iommu.c */
int iommu_init(void);
void iommu_exit(void);
int iommu_transfer(const struct vpcib_card *card, u64 address, void *buffer,
		   size_t bytes, bool to_driver);

/* irqs.c */
struct irq_domain *irqs_domain(void);
unsigned int irqs_of_vector(const struct vpcib_card *card, u32 vector);
bool irqs_may_come(const struct vpcib_card *card);
void irqs_check(struct vpcib_card *card);
int irqs_init(void);
void irqs_exit(void);
int irqs_add(struct vpcib_card *card);
void irqs_remove(struct vpcib_card *card);

/* interrupt.c */
int interrupt_init(void);
void interrupt_exit(void);
int interrupt_add(struct vpcib_card *card);
void interrupt_remove(struct vpcib_card *card);
void interrupt_update(struct vpcib_card *card);
void interrupt_touched(struct vpcib_card *card);
void interrupt_share(struct vpcib_card *card);
bool interrupt_races(void);

/* mapping.c */
struct bar_memory *memory_alloc(u64 bytes);
void memory_put(struct bar_memory *memory);
void mapping_check(void);
int mapping_init(void);
void mapping_exit(void);

/*
 * sse.c: between vectors_begin and vectors_end, the processor holds the vector registers of the
 * process, and they may be changed there
 */
struct processor;
void vectors_begin(void);
void vectors_end(void);
void vector_of_user(struct processor *cpu, u32 number, u64 value[2]);
void set_vector_of_user(struct processor *cpu, u32 number, const u64 value[2]);

/* trap.c */
int traps_init(void);
void traps_exit(void);

/* dma.c: dma_give and dma_take_back may be called in any context and for any device */
void dma_give(const struct device *dev, u64 address, size_t bytes,
	      enum dma_data_direction direction, gfp_t gfp);
void dma_give_mapped(const struct device *dev, u64 address, size_t bytes,
		     enum dma_data_direction direction);
void dma_sync(const struct device *dev, u64 address, size_t bytes, bool for_card);
void dma_take_back(const struct device *dev, u64 address, size_t bytes,
		   enum dma_data_direction direction);
struct dma_place {
	u32 number; /* of the card */
	size_t left; /* bytes from the place to the end of the given memory */
	bool allocated; /* dma_alloc_coherent and the like, or else a mapping */
};
bool dma_find(phys_addr_t where, struct dma_place *at);
void dma_forget(struct vpcib_card *card);

/* dma_hooks.c */
int dma_init(void);
void dma_exit(void);

/* journal.c */
int journal_init(void);
void journal_exit(void);
u64 journal_note_number(u32 number, struct vpcib_access access);
void journal_note(const struct vpcib_card *card, struct vpcib_access access);

/* misuse.c */
__printf(3, 4) void misuse_note(u32 number, struct vpcib_access access,
				const char *format, ...);

/* ports.c */
void ports_watch(void);
int ports_init(void);
void ports_exit(void);

/* line.c */
int line_init(void);
void line_exit(void);

/* leaks.c */
int leaks_init(void);
void leaks_exit(void);

/* pages.c */
int pages_init(void);
void pages_exit(void);

/* driver.c */
bool driver_is(const struct module *module, u32 *number);
bool driver_has_code(unsigned long ip, u32 *number);

/* fault.c */
enum fault {
	FAULT_NONE,
	FAULT_INTERRUPT,
	FAULT_DMA,
	FAULT_ONES,
	FAULT_STALL,
	FAULT_RESET,
	FAULT_CORRUPT,
	FAULT_REQUEST,
	FAULT_ERROR,
};
int fault_set(const char *text);
int fault_show(char *text);
bool fault_is_due(enum fault kind);
bool fault_happens(const struct vpcib_card *card, enum fault kind);
bool fault_is_silent(const struct vpcib_card *card);
void fault_corrupts(const struct vpcib_card *card, void *arrived, size_t bytes);

/* refusal.c */
bool refusal_of(const char *name);
bool refusal_at(const char *function, unsigned long caller);
int refusal_watch(bool on);
int refusal_init(void);
void refusal_exit(void);

/* outlived.c */
void outlived_note(const struct vm_area_struct *area, unsigned long address,
		   unsigned long pfn, unsigned long bytes);
void outlived_check(u32 number, phys_addr_t begin, size_t bytes);
void outlived_exit(void);

/* bounds.c */
void bounds_check_mapping(const struct vm_area_struct *area, unsigned long pfn,
			  u64 bytes);
int bounds_init(void);
void bounds_exit(void);

/* sleep.c */
int sleep_init(void);
void sleep_exit(void);

/* handler.c */
int handler_init(void);
void handler_exit(void);
void handler_begin(void);
u32 handler_result(void);

/* symbols.c */
unsigned long symbol_address(const char *name);

#endif
