// SPDX-License-Identifier: MIT
/*
 * Run a card's self-test (SELFTEST) on a correct card, then on cards with one wrong bit
 * each.  Each line of the standard input has one wrong bit as INDEX MASK BIT; MASK is a
 * letter: reset, Readable, writable, clears, sets or d (read_clears).  The program
 * prints the self-test's result for each.  Finally each call of the self-test fails
 * once.
 */
#define CAREFUL
#include "kernel_stub.h"
#include SELFTEST

static int tested(void)
{
	int result;

	registers_reset(&stub_registers);
	stub_calls = 0;
	result = stub_init();
	STUB_CHECK(!stub_nr_taken);
	return result;
}

static u64 *mask_of(struct card_register *reg, char mask)
{
	switch (mask) {
	case 'r':
		return &reg->reset;
	case 'R':
		return &reg->readable;
	case 'w':
		return &reg->writable;
	case 'c':
		return &reg->clears;
	case 's':
		return &reg->sets;
	default:
		return &reg->read_clears;
	}
}

static void calls_fail(void)
{
	unsigned int calls;

	stub_begin();
	tested();
	calls = stub_calls;
	for (fail_at = 1; fail_at <= calls; fail_at++)
		STUB_CHECK(tested() < 0);
	fail_at = 0;
}

int main(void)
{
	unsigned int index, bit;
	char mask;

	stub_begin();
	printf("%d\n", tested());
	while (scanf("%u %c %u", &index, &mask, &bit) == 3) {
		stub_begin();
		*mask_of(&stub_register[index], mask) ^= 1ull << bit;
		printf("%d\n", tested());
	}
	calls_fail();
	stub_exit();
	return 0;
}
