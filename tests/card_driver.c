// SPDX-License-Identifier: MIT
/*
 * Test a driver skeleton (DRIVER): probe and remove it, also with each of its calls
 * failing, and run its interrupt handler once for each status bit.  Each line of the
 * standard input has the name of a register and one mask for each status bit.  The
 * program prints the register's value after the handler has run.
 */
#include "kernel_stub.h"
#include DRIVER

static void probe_and_remove(void)
{
	unsigned int calls;

	stub_calls = 0;
	STUB_CHECK(!stub_driver->probe(&stub_pdev, stub_driver->id_table));
	calls = stub_calls;
	stub_driver->remove(&stub_pdev);
	STUB_CHECK(!stub_nr_taken);
	for (fail_at = 1; fail_at <= calls; fail_at++) {
		stub_calls = 0;
		STUB_CHECK(stub_driver->probe(&stub_pdev, stub_driver->id_table) < 0);
		STUB_CHECK(!stub_nr_taken);
	}
	fail_at = 0;
}

/* Check that no interrupt source is enabled. */
static void no_source_is_enabled(void)
{
	u32 i;

	for (i = 0; i < stub_table.nr_interrupts; i++) {
		const struct card_interrupt *one = &stub_table.interrupts[i];
		u64 writable = stub_register[one->enable_register].writable;

		STUB_CHECK(!(stub_values[one->enable_register] & one->enable_bit &
			     writable));
	}
}

static void enable_all(void)
{
	u32 i;

	for (i = 0; i < stub_table.nr_interrupts; i++)
		stub_values[stub_table.interrupts[i].enable_register] |=
			stub_table.interrupts[i].enable_bit;
}

static void interrupt(u32 index, u64 status)
{
	u32 i;

	for (i = 0; i < stub_table.nr_interrupts; i++)
		stub_values[stub_table.interrupts[i].status_register] = 0;
	stub_values[index] = status;
	printf("%d", stub_handler(0, stub_handler_data) == IRQ_HANDLED);
	printf(" %llu\n", (unsigned long long)stub_values[index]);
}

int main(void)
{
	unsigned long long status;
	unsigned int index;

	stub_begin();
	probe_and_remove();
	enable_all();
	STUB_CHECK(stub_driver->id_table->vendor == stub_table.vendor);
	STUB_CHECK(stub_driver->id_table->device == stub_table.device);
	STUB_CHECK(!stub_driver->id_table[1].vendor);
	STUB_CHECK(!stub_driver->probe(&stub_pdev, stub_driver->id_table));
	no_source_is_enabled();
	while (scanf("%u %llu", &index, &status) == 2)
		interrupt(index, status);
	enable_all();
	stub_driver->remove(&stub_pdev);
	no_source_is_enabled();
	return 0;
}
