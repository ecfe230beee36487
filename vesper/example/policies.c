// SPDX-License-Identifier: MIT
#include "policies.h"

/* Write the tunables' initial values into a new state. */
static __attribute__((unused)) void *
new_state(size_t bytes, const struct sched_field *field, u32 fields)
{
	void *state = port_zalloc(bytes);

	for (; state && fields; fields--, field++)
		*sched_field_value(state, field) = field->initial;
	return state;
}

#ifdef PREFETCHER

#include "prefetch.h"

static void *prefetcher;

static bool init_prefetcher(u32 slots, u32 most_pages, u32 streams)
{
	const struct prefetcher *own = module_prefetcher;
	struct prefetch_limits limits = {
		.streams = streams,
		.cache_pages = slots,
		.most_pages = most_pages,
	};

	prefetcher = new_state(own->state_size, own->tunables, own->nr_tunables);
	return prefetcher && (!own->init || !own->init(prefetcher, &limits));
}

u32 policies_prefetch(u32 file, u32 page, u32 file_pages, u32 found, u32 *first)
{
	struct page_read read = {
		.page = { page, file },
		.file_pages = file_pages,
		.stream = thread_number(thread_current()),
		.found = found,
	};
	struct page_range range = module_prefetcher->read(prefetcher, &read);

	if (range.pages && range.first + range.pages > file_pages)
		panic("the prefetcher reads past the end of file %u", file);
	*first = range.first;
	return range.pages;
}

void policies_wasted(u32 thread, u32 file, u32 page)
{
	if (module_prefetcher->wasted)
		module_prefetcher->wasted(prefetcher, thread,
					  (struct page_id){ page, file });
}

#else

static bool init_prefetcher(u32 slots, u32 most_pages, u32 streams)
{
	return !most_pages;
}

u32 policies_prefetch(u32 file, u32 page, u32 file_pages, u32 found, u32 *first)
{
	*first = page;
	return 0;
}

void policies_wasted(u32 thread, u32 file, u32 page)
{
}

#endif

#ifdef REPLACER

#include "replacement.h"

static void *replacer;

static bool init_replacer(u32 slots)
{
	const struct replacer *own = module_replacer;
	struct replacement_limits limits = { .slots = slots };

	replacer = new_state(own->state_size, own->tunables, own->nr_tunables);
	return replacer && (!own->init || !own->init(replacer, &limits));
}

void policies_add(u32 slot, u32 file, u32 page)
{
	module_replacer->add(replacer, slot, (struct page_id){ page, file });
}

void policies_used(u32 slot)
{
	module_replacer->used(replacer, slot);
}

u32 policies_victim(u32 file, u32 page)
{
	return module_replacer->victim(replacer, (struct page_id){ page, file });
}

#else

static u32 *came; /* slots, in the order in which their pages came: a ring */
static u32 places, first_place, filled;

static bool init_replacer(u32 slots)
{
	places = slots;
	came = port_zalloc(slots * sizeof(*came));
	return came;
}

void policies_add(u32 slot, u32 file, u32 page)
{
	came[(first_place + filled++) % places] = slot;
}

void policies_used(u32 slot)
{
}

u32 policies_victim(u32 file, u32 page)
{
	u32 slot = came[first_place];

	first_place = (first_place + 1) % places;
	filled--;
	return slot;
}

#endif

bool policies_init(u32 slots, u32 most_pages, u32 streams)
{
	return init_replacer(slots) && init_prefetcher(slots, most_pages, streams);
}
