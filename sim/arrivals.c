// SPDX-License-Identifier: MIT
#include "arrivals.h"

#define ARRIVAL_MAX (1ull << 62)

int arrivals_before(const struct arrivals *arrivals, u64 until_ns, u64 *count)
{
	u64 previous_ns = 0;
	u64 i;

	for (i = 0; i < arrivals->count; i++) {
		u64 at_ns = arrivals->arrival_ns[i];

		if (at_ns < previous_ns || at_ns >= ARRIVAL_MAX)
			return -EBADMSG;
		if (at_ns >= until_ns)
			break;
		if (!arrivals->pieces[i])
			return -EBADMSG;
		previous_ns = at_ns;
	}
	*count = i;
	return 0;
}
