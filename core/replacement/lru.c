// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Least recently used: evicts the page that was not used for the longest time. This file is the
 * template to copy for a new policy; docs/replacement/lru.md walks through it.
 */
#include "../page_list.h"
#include "../replacement.h"

struct lru {
	struct page_list pages; /* from the least to the most recently used */
	struct page_link *link;
};

static int lru_init(void *state, const struct replacement_limits *limits)
{
	struct lru *lru = state;

	lru->pages = PAGE_LIST_EMPTY;
	lru->link = port_zalloc(limits->slots * sizeof(*lru->link));
	return lru->link ? 0 : -ENOMEM;
}

static void lru_exit(void *state)
{
	struct lru *lru = state;

	port_free(lru->link);
}

static void lru_add(void *state, u32 slot, struct page_id page)
{
	struct lru *lru = state;

	page_list_add(&lru->pages, lru->link, slot);
}

static void lru_remove(void *state, u32 slot)
{
	struct lru *lru = state;

	page_list_remove(&lru->pages, lru->link, slot);
}

static void lru_used(void *state, u32 slot)
{
	struct lru *lru = state;

	page_list_renew(&lru->pages, lru->link, slot);
}

static u32 lru_victim(void *state, struct page_id incoming)
{
	struct lru *lru = state;

	return page_list_take(&lru->pages, lru->link);
}

static const struct replacer lru_replacer = {
	.name = "lru",
	.summary = "least recently used",
	.state_size = sizeof(struct lru),
	.init = lru_init,
	.exit = lru_exit,
	.add = lru_add,
	.used = lru_used,
	.remove = lru_remove,
	.victim = lru_victim,
};
REGISTER_REPLACER(lru_replacer);
