// SPDX-License-Identifier: MIT
/* Bytes become a card and accesses to it, whose registers are held against bits. */
#include "../core/bitwise_card.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bitwise_run(data, size);
	return 0;
}
