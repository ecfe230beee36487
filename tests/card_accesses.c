// SPDX-License-Identifier: MIT
/*
 * Print a card's table, one line for each part.  Then carry out commands from the
 * standard input on the card's registers, and print the replies:
 *
 * 	r BAR OFFSET BYTES		value read
 * 	w BAR OFFSET BYTES VALUE	nothing
 * 	c INDEX VALUE			nothing: the card sets a register
 * 	p				vectors that are pending
 *
 * TABLE is the path of the generated header, CARD the name of the table in it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../core/cards/registers.h"
#include TABLE

static const struct card_table *const table = &CARD;
static u64 values[4096];
static struct registers registers = { &CARD, values };

static void print_bars(void)
{
	const struct card_bar *bar;

	for (bar = table->bars; bar < table->bars + table->nr_bars; bar++)
		printf("bar %u %u %" PRIu64 "\n", bar->number, bar->is64, bar->bytes);
}

static void print_registers(void)
{
	const struct card_register *reg;

	for (reg = table->registers; reg < table->registers + table->nr_registers;
	     reg++)
		printf("register %s %u %" PRIu64 " %u %u\n", reg->name, reg->bar,
		       reg->offset, reg->bytes, reg->kind);
}

static const char *name(u32 index)
{
	return table->registers[index].name;
}

static void print_interrupts(void)
{
	u32 i;

	for (i = 0; i < table->nr_interrupts; i++) {
		const struct card_interrupt *one = &table->interrupts[i];

		printf("interrupt %s %s %" PRIu64 " %s %" PRIu64 " %u\n", one->name,
		       name(one->status_register), one->status_bit,
		       name(one->enable_register), one->enable_bit, one->vector);
	}
}

static void print_buffer(const char *kind, const struct card_buffer *buffer)
{
	printf("%s %s %u %s %s %s %" PRIu64 " %" PRIu64, kind, buffer->name,
	       buffer->direction, name(buffer->address), name(buffer->length),
	       name(buffer->doorbell), buffer->alignment, buffer->bytes_max);
}

static void print_transfers(void)
{
	u32 i;

	for (i = 0; i < table->nr_buffers; i++) {
		print_buffer("buffer", &table->buffers[i]);
		printf("\n");
	}
	for (i = 0; i < table->nr_rings; i++) {
		const struct card_ring *ring = &table->rings[i];

		print_buffer("ring", &ring->buffer);
		printf(" %" PRIu64 " %s %s\n", ring->entry_bytes, name(ring->head),
		       name(ring->tail));
	}
}

static void print_table(void)
{
	printf("card %s %u %u %u %u %u %u %u %u %u\n", table->name, table->vendor,
	       table->device, table->subsystem_vendor, table->subsystem,
	       table->class_code, table->revision, table->msi_vectors,
	       table->msix_vectors, table->msix_bar);
	print_bars();
	print_registers();
	print_interrupts();
	print_transfers();
}

static void access_card(char what, u32 bar, u64 offset, u32 bytes, u64 value)
{
	struct register_access access = registers_access(table, bar, offset, bytes);
	struct register_part part;
	u64 seen = 0;

	while (registers_next(&access, &part)) {
		if (what == 'r')
			seen |= part_to_access(
				&part,
				registers_load(&registers, part.index, part.lanes));
		else
			registers_store(&registers, part.index,
					part_to_register(&part, value), part.lanes);
	}
	if (what == 'r')
		printf("%" PRIu64 "\n", seen);
}

int main(void)
{
	u64 number[4];
	char line[200], what;

	registers_reset(&registers);
	print_table();
	while (fgets(line, sizeof(line), stdin)) {
		memset(number, 0, sizeof(number));
		if (sscanf(line, "%c %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &what, &number[0], &number[1], &number[2], &number[3]) < 1)
			return 1;
		if (what == 'p')
			printf("%" PRIu64 "\n", registers_pending(&registers));
		else if (what == 'c')
			values[number[0]] = number[1];
		else
			access_card(what, number[0], number[1], number[2], number[3]);
	}
	return 0;
}
