// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdio.h>

#include "module.h"

static const u32 permilles[] = { 500, 950, 990, 999 };

struct lines {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3))) static void put(struct lines *lines,
						      const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(lines->at, lines->left, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= lines->left)
		length = 0; /* the text has room for all figures */
	lines->at += length;
	lines->left -= length;
}

static void put_count(struct lines *lines, const char *name, u64 value)
{
	put(lines, "%s %llu\n", name, (unsigned long long)value);
}

/* 17 digits determine a double. */
static void put_moments(struct lines *lines, const char *name,
			const struct moments *moments)
{
	put(lines, "%s.mean %.17g\n", name, moments_mean(moments));
	put(lines, "%s.variance %.17g\n", name, moments_variance(moments));
}

static void put_demand(struct lines *lines, const struct demand *demand)
{
	put_count(lines, "demand.written", demand->written);
	put_count(lines, "demand.sized", demand->sized);
	put_count(lines, "demand.long_ones", demand->long_ones);
	put_count(lines, "demand.sequential", demand->sequential);
	put_count(lines, "demand.streamed", demand->streamed);
	put_count(lines, "demand.again", demand->again);
	put_count(lines, "demand.near", demand->near);
	put_count(lines, "demand.beside", demand->beside);
	put_count(lines, "demand.paused", demand->paused);
	put_count(lines, "demand.rested", demand->rested);
	put_count(lines, "demand.met_busy", demand->met_busy);
}

void module_write_figures(const struct sim_summary *summary, char *text, size_t bytes)
{
	struct lines lines = { text, bytes };
	u32 i;

	put_count(&lines, "completed", summary->completed);
	put_count(&lines, "dispatched", summary->model.count);
	put_count(&lines, "first_arrival_ns", summary->first_arrival_ns);
	put_count(&lines, "last_arrival_ns", summary->last_arrival_ns);
	put_count(&lines, "last_completion_ns", summary->last_completion_ns);
	put_count(&lines, "sectors", summary->sectors);
	put_count(&lines, "hits", summary->hits);
	put_count(&lines, "predicted", summary->predicted);
	put_count(&lines, "predicted_hits", summary->predicted_hits);
	put_count(&lines, "page_hits", summary->page_hits);
	put_count(&lines, "page_misses", summary->page_misses);
	put_count(&lines, "longest_response_ns", summary->responses.max);
	for (i = 0; i < PICK_REASONS; i++)
		put(&lines, "reason.%u %llu\n", i,
		    (unsigned long long)summary->reason[i]);
	for (i = 0; i < ARRAY_SIZE(permilles); i++)
		put(&lines, "response.permille.%u %llu\n", permilles[i],
		    (unsigned long long)histogram_permille(&summary->responses,
							   permilles[i]));
	put_moments(&lines, "service", &summary->service);
	put_moments(&lines, "device", &summary->device);
	put_moments(&lines, "response", &summary->response);
	put_moments(&lines, "model", &summary->model);
	put_demand(&lines, &summary->demand);
}
