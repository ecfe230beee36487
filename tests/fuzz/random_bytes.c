// SPDX-License-Identifier: MIT
/* Run a fuzz target on random bytes, as a test that needs no fuzzer. */
#include "../core/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void random_input(struct draw *draw)
{
	u8 data[2000];
	u32 size = draw_below(draw, sizeof(data));
	u32 i;

	for (i = 0; i < size; i++)
		data[i] = draw_u64(draw);
	LLVMFuzzerTestOneInput(data, size);
}

int main(void)
{
	check_seeds(1500, random_input);
	return 0;
}
