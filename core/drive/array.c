// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "array.h"
#include "../least.h"

#define SERVICE_STREAM (U64_MAX - 1) /* no process uses this stream */
#define EXPONENTIAL_MOST 45 /* upper bound, in multiples of the mean (core/draw.h) */

void array_seed(struct draw *draw, u64 seed)
{
	draw_seed(draw, seed, SERVICE_STREAM);
}

u64 array_service_ns(const struct array *array, struct draw *draw)
{
	if (array->exponential)
		return draw_exponential(draw, array->mean_service_ns);
	return array->mean_service_ns;
}

u64 array_slowest_ns(const struct array *array)
{
	return array->mean_service_ns * (array->exponential ? EXPONENTIAL_MOST : 1);
}

void servers_reset(struct servers *servers, u64 *free_ns, u32 nr)
{
	u32 i;

	*servers = (struct servers){ .nr = nr, .free_ns = free_ns };
	for (i = 0; free_ns && i < nr; i++)
		free_ns[i] = 0;
}

u64 servers_start_ns(const struct servers *servers, u64 now_ns)
{
	return servers->free_ns ? later(now_ns, servers->free_ns[0]) : now_ns;
}

void servers_occupy(struct servers *servers, u64 until_ns)
{
	u64 *free_ns = servers->free_ns;
	u32 hole = 0, child;

	if (!free_ns)
		return;
	while ((child = 2 * hole + 1) < servers->nr) {
		if (child + 1 < servers->nr && free_ns[child + 1] < free_ns[child])
			child++;
		if (until_ns <= free_ns[child])
			break;
		free_ns[hole] = free_ns[child];
		hole = child;
	}
	free_ns[hole] = until_ns;
}
