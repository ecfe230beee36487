// SPDX-License-Identifier: MIT
#include "whole.h"

int wholes_init(struct wholes *wholes, u32 capacity)
{
	wholes->whole = port_zalloc(capacity * sizeof(*wholes->whole));
	return wholes->whole ? slots_init(&wholes->slots, capacity) : -ENOMEM;
}

void wholes_exit(struct wholes *wholes)
{
	slots_exit(&wholes->slots);
	port_free(wholes->whole);
}

u32 wholes_begin(struct wholes *wholes, u64 pieces)
{
	u32 i = slots_take(&wholes->slots);

	if (i != NO_SLOT)
		wholes->whole[i] = (struct whole){ .pieces = pieces, .left = pieces };
	return i;
}

bool wholes_served(struct wholes *wholes, u32 i, u64 *response_ns)
{
	struct whole *whole = &wholes->whole[i];

	whole->response_ns += *response_ns;
	if (--whole->left)
		return false;
	*response_ns = whole->response_ns / whole->pieces;
	slots_give(&wholes->slots, i);
	return true;
}
