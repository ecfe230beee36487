// SPDX-License-Identifier: MIT
/* Maps each sector to its position on the platters (RW94, "Data layout"; SG99, section 3.2). */
#ifndef DRIVES_LAYOUT_H
#define DRIVES_LAYOUT_H

#include "detailed.h"

#define LAYOUT_ZONES 32

struct layout {
	const struct detailed_parameters *parameters;
	uint64_t first_sector[LAYOUT_ZONES + 1]; /* the last element is the capacity */
	uint32_t first_cylinder[LAYOUT_ZONES + 1];
};

struct place {
	struct detailed_place at;
	uint32_t slots; /* slots of the sector's track */
	uint32_t left; /* sectors from this one to the track's last, both included */
};

/* The layout keeps a pointer to the parameters. */
void layout_init(struct layout *layout, const struct detailed_parameters *parameters);
uint64_t layout_capacity(const struct layout *layout);
void layout_find(const struct layout *layout, uint64_t sector, struct place *place);

#endif
