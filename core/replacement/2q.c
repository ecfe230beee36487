// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * 2Q, the full version (Johnson and Shasha, VLDB 1994): resistant to scans. A page that is fetched
 * for the first time enters a queue, and leaves the queue in the order of entry, however often it is
 * used there. So a scan, and several reads of the page in a short time, evict no page that is used
 * again and again. The policy remembers which pages left the queue. If such a page is fetched again,
 * it enters the main list, which is least recently used.
 */
#include "../page_list.h"
#include "../page_map.h"
#include "../replacement.h"

/**
 * struct two_q_slot - the page in a slot
 * @page: the page
 * @main: is it in the main list? Otherwise it is in the queue
 */
struct two_q_slot {
	struct page_id page;
	bool main;
};

struct two_q {
	u64 queue_percent;
	u64 memory_percent;
	u64 promoted;

	struct page_list queue, main;
	struct page_link *link;
	struct two_q_slot *slot;
	u32 queue_slots; /* the queue may always have this many pages */

	struct page_map memory; /* the pages that left the queue */
	bool *remembered; /* which entries of the memory are in use */
	u32 nr_remembered; /* entries of the memory */
	u32 next; /* the entry that was filled longest ago */
};

static const struct sched_field two_q_tunables[] = {
	SCHED_TUNABLE(two_q, queue_percent, 25, 1, 99,
		      "share of the cache that the queue may have"),
	SCHED_TUNABLE(two_q, memory_percent, 50, 1, 1000,
		      "pages remembered after the queue, in percent of the cache"),
};

static const struct sched_field two_q_counters[] = {
	SCHED_COUNTER(two_q, promoted,
		      "pages that were fetched again while remembered"),
};

/* Return a share of the cache, at least one page. */
static u32 share(u32 slots, u64 percent)
{
	u32 part = percent; /* no 64-bit division, which not every host has */
	u64 pages = (u64)(slots / 100) * part + slots % 100 * part / 100;

	return !pages ? 1 : pages < NO_PAGE ? pages : NO_PAGE - 1;
}

static void two_q_exit(void *state)
{
	struct two_q *two_q = state;

	port_free(two_q->link);
	port_free(two_q->slot);
	port_free(two_q->remembered);
	page_map_exit(&two_q->memory);
}

static int two_q_init(void *state, const struct replacement_limits *limits)
{
	struct two_q *two_q = state;
	int error;

	two_q->queue = PAGE_LIST_EMPTY;
	two_q->main = PAGE_LIST_EMPTY;
	two_q->queue_slots = share(limits->slots, two_q->queue_percent);
	two_q->nr_remembered = share(limits->slots, two_q->memory_percent);
	two_q->link = port_zalloc(limits->slots * sizeof(*two_q->link));
	two_q->slot = port_zalloc(limits->slots * sizeof(*two_q->slot));
	two_q->remembered =
		port_zalloc(two_q->nr_remembered * sizeof(*two_q->remembered));
	error = page_map_init(&two_q->memory, two_q->nr_remembered);
	if (two_q->link && two_q->slot && two_q->remembered && !error)
		return 0;
	two_q_exit(state);
	return -ENOMEM;
}

static struct page_list *list_of(struct two_q *two_q, u32 slot)
{
	return two_q->slot[slot].main ? &two_q->main : &two_q->queue;
}

/* Forget the page in this entry of the memory, if there is one. */
static void forget(struct two_q *two_q, u32 i)
{
	if (two_q->remembered[i])
		page_map_remove(&two_q->memory, i);
	two_q->remembered[i] = false;
}

/* Remember the page instead of the one that was remembered first. */
static void remember(struct two_q *two_q, struct page_id page)
{
	u32 i = page_map_find(&two_q->memory, page);

	if (i != NO_PAGE)
		forget(two_q, i);
	i = two_q->next;
	forget(two_q, i);
	page_map_add(&two_q->memory, i, page);
	two_q->remembered[i] = true;
	two_q->next = i + 1 < two_q->nr_remembered ? i + 1 : 0;
}

static void two_q_add(void *state, u32 slot, struct page_id page)
{
	struct two_q *two_q = state;
	u32 i = page_map_find(&two_q->memory, page);

	two_q->slot[slot] = (struct two_q_slot){ page, i != NO_PAGE };
	if (i != NO_PAGE) {
		forget(two_q, i);
		two_q->promoted++;
	}
	page_list_add(list_of(two_q, slot), two_q->link, slot);
}

static void two_q_used(void *state, u32 slot)
{
	struct two_q *two_q = state;

	if (two_q->slot[slot].main)
		page_list_renew(&two_q->main, two_q->link, slot);
}

static void two_q_remove(void *state, u32 slot)
{
	struct two_q *two_q = state;

	page_list_remove(list_of(two_q, slot), two_q->link, slot);
}

static u32 two_q_victim(void *state, struct page_id incoming)
{
	struct two_q *two_q = state;
	u32 slot = two_q->main.oldest;

	if (two_q->queue.count > two_q->queue_slots || slot == NO_PAGE) {
		slot = two_q->queue.oldest;
		remember(two_q, two_q->slot[slot].page);
	}
	two_q_remove(two_q, slot);
	return slot;
}

static const struct replacer two_q_replacer = {
	.name = "2q",
	.summary = "2Q: a scan does not evict the pages that are used again and again",
	.state_size = sizeof(struct two_q),
	.tunables = two_q_tunables,
	.nr_tunables = ARRAY_SIZE(two_q_tunables),
	.counters = two_q_counters,
	.nr_counters = ARRAY_SIZE(two_q_counters),
	.init = two_q_init,
	.exit = two_q_exit,
	.add = two_q_add,
	.used = two_q_used,
	.remove = two_q_remove,
	.victim = two_q_victim,
};
REGISTER_REPLACER(two_q_replacer);
