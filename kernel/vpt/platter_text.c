// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>
#include <linux/string.h>

#include "platter_text.h"

/* As they stand in the text. */
static u64 *field(struct platter_zone *zone, unsigned int i)
{
	u64 *fields[] = { &zone->slot,	    &zone->angle,	  &zone->skew,
			  &zone->cylinder,  &zone->cylinder_skew, &zone->band,
			  &zone->band_skew, &zone->spare,	  &zone->place,
			  &zone->step,	    &zone->surfaces };

	return i < ARRAY_SIZE(fields) ? fields[i] : NULL;
}

size_t vpt_platter_print(const struct platter *platter, char *text, size_t room)
{
	size_t length;
	u32 i;

	if (!platter->nr_zones)
		return 0;
	length = scnprintf(text, room, "%llu", platter->velocity);
	for (i = 0; i < platter->nr_zones; i++) {
		const struct platter_zone *zone = &platter->zone[i];

		length += scnprintf(
			text + length, room - length,
			" %llu:%llu:%llu:%llu:%llu:%llu:%llu:%llu:%llu:%llu:%llu",
			zone->slot, zone->angle, zone->skew, zone->cylinder,
			zone->cylinder_skew, zone->band, zone->band_skew, zone->spare,
			zone->place, zone->step, zone->surfaces);
	}
	return length;
}

static int parse_zone(struct platter_zone *zone, char *word)
{
	unsigned int i;
	char *number;

	for (i = 0; (number = strsep(&word, ":")); i++) {
		u64 *value = field(zone, i);

		if (!value || kstrtou64(number, 10, value))
			return -EINVAL;
	}
	return field(zone, i) ? -EINVAL : 0;
}

int vpt_platter_parse(struct platter *platter, char *text)
{
	char *word;
	int ret;

	memset(platter, 0, sizeof(*platter));
	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		if (!platter->velocity) {
			ret = kstrtou64(word, 10, &platter->velocity);
			if (ret || !platter->velocity)
				return -EINVAL;
			continue;
		}
		if (platter->nr_zones == PLATTER_ZONES_MAX)
			return -E2BIG;
		ret = parse_zone(&platter->zone[platter->nr_zones++], word);
		if (ret)
			return ret;
	}
	return platter->velocity && !platter->nr_zones ? -EINVAL : 0;
}
