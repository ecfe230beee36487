// SPDX-License-Identifier: MIT
/* Turn bytes into a card and accesses to it, and compare its registers with single bits. */
#include "../core/bitwise_card.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bitwise_run(data, size);
	return 0;
}
