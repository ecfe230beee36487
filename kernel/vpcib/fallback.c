// SPDX-License-Identifier: GPL-2.0
/*
 * All cards share one page.  The page is guarded by a lock, which is taken while the card's lock is
 * held.  For an instruction of a process, the process's vector registers are loaded into the
 * processor before the instruction and are not released until it has ended.  For an instruction of
 * the kernel, the processor already holds the right vector registers, since kernel code that uses
 * them calls kernel_fpu_begin.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/spinlock.h>

#include "fallback.h"
#include "slot.h"

#define REGISTER_BYTES_MAX 8
#define MSIX_WORD_BYTES 4

static u8 now[PAGE_SIZE] __aligned(PAGE_SIZE); /* holds the instruction's operand */
static u8 before[PAGE_SIZE];
static DEFINE_RAW_SPINLOCK(page_lock);
static atomic64_t carried_out;

/**
 * struct odd - an instruction for the fallback
 * @at: the access that faulted
 * @cpu: the registers at the fault
 * @what: the decoded instruction
 * @code: the instruction's first bytes, for the journal
 * @page: offset of the operand's page in the BAR
 * @operand: offset of the operand in the page
 * @begin: start of the part of the page that the instruction may access, in whole registers
 * @end: end of that part
 */
struct odd {
	struct access_bus *at;
	struct processor *cpu;
	struct transplant what;
	u64 code;
	u32 page;
	u32 operand;
	u32 begin;
	u32 end;
};

/*
 * Returns the size and the value of the register, or word of the MSI-X table, that begins at this
 * offset, which is a multiple of the size.  If nothing begins there, the size is 1 byte and the
 * value 0.  If the card does not react, returns a byte of ones.
 */
static u32 peek(const struct odd *odd, u32 offset, u64 *value)
{
	struct vpcib_card *card = odd->at->card;
	u32 bar = odd->at->bar, at = odd->page + offset;

	*value = 0xff;
	if (!card || !bus_is_answered(card, bar))
		return 1;
	*value = 0;
	if (!msix_holds(card, bar, at, MSIX_WORD_BYTES))
		return card->kind->peek(card, bar, at, value) ?: 1;
	*value = msix_load(card, at, MSIX_WORD_BYTES);
	return MSIX_WORD_BYTES;
}

static void fill(const struct odd *odd)
{
	u32 offset, bytes;
	u64 value;

	for (offset = odd->begin; offset < odd->end; offset += bytes) {
		bytes = peek(odd, offset, &value);
		memcpy(now + offset, &value, bytes);
	}
	memcpy(before + odd->begin, now + odd->begin, odd->end - odd->begin);
}

/*
 * Writes a changed register to the card, with the narrowest access that covers the changed bytes.
 */
static void write_register(const struct odd *odd, u32 offset, u32 bytes)
{
	u32 first = offset, last = offset + bytes - 1, width = 1;
	u64 value = 0;

	while (first <= last && now[first] == before[first])
		first++;
	if (first > last)
		return;
	while (now[last] == before[last])
		last--;
	while ((first & ~(width - 1)) + width <= last)
		width *= 2;
	first &= ~(width - 1);
	memcpy(&value, now + first, width);
	bus_store_locked(odd->at, odd->page + first, value, width);
}

static void write_changed(const struct odd *odd)
{
	u32 offset, bytes;
	u64 value;

	bus_note(odd->at, VPCIB_FALLBACK, odd->page + odd->operand, odd->code, 0);
	for (offset = odd->begin; offset < odd->end; offset += bytes) {
		bytes = peek(odd, offset, &value);
		write_register(odd, offset, bytes);
	}
}

/* Executes the instruction.  Called under the card's lock, unless the card was removed. */
static int carry_out(const struct odd *odd)
{
	int ret;

	raw_spin_lock(&page_lock);
	fill(odd);
	ret = slot_run(&odd->what, odd->cpu, now + odd->operand);
	if (!ret && odd->at->card)
		write_changed(odd);
	raw_spin_unlock(&page_lock);
	return ret;
}

static int carry_out_locked(const struct odd *odd)
{
	struct vpcib_card *card = odd->at->card;
	unsigned long flags;
	int ret;

	if (card) {
		flags = vpcib_lock(card);
		bus_suffer(card);
		ret = carry_out(odd);
		vpcib_unlock(card, flags);
	} else {
		local_irq_save(flags);
		ret = carry_out(odd);
		local_irq_restore(flags);
	}
	return ret;
}

/*
 * Finds the operand.  The operand must be entirely in the page of the faulting address.  If the
 * address uses FS or GS, whose bases are unknown, the operand is assumed to begin at the faulting
 * address.  If a page begins at that address, the operand might begin in the page before, so the
 * instruction is refused.
 */
static int find_operand(struct odd *odd)
{
	unsigned long address = odd->at->address;
	const struct instruction *in = &odd->what.in;
	u64 begin = in->segment ? address : instruction_operand(in, odd->cpu);

	odd->page = odd->at->offset & PAGE_MASK;
	odd->operand = offset_in_page(begin);
	odd->begin = ALIGN_DOWN(odd->operand, REGISTER_BYTES_MAX);
	odd->end = ALIGN(odd->operand + odd->what.operand_bytes, REGISTER_BYTES_MAX);
	if ((begin ^ address) & PAGE_MASK || begin > address || odd->end > PAGE_SIZE ||
	    (in->segment && !odd->operand))
		return -EOPNOTSUPP;
	return 0;
}

int fallback_carry_out(struct access_bus *at, struct processor *cpu, const u8 *code,
		       size_t bytes)
{
	struct odd odd = { .at = at, .cpu = cpu, .code = code_value(code) };
	int ret;

	if (transplant_decode(&odd.what, code, bytes) || find_operand(&odd))
		return -EOPNOTSUPP;
	if (at->user)
		vectors_begin();
	ret = carry_out_locked(&odd);
	if (at->user)
		vectors_end();
	if (ret)
		return ret;
	*cpu->ip += odd.what.in.length;
	atomic64_inc(&carried_out);
	return 0;
}

u64 fallback_count(void)
{
	return atomic64_read(&carried_out);
}

int fallback_init(void)
{
	return slot_init();
}

void fallback_exit(void)
{
	slot_exit();
}
