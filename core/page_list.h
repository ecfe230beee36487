/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A list of slots of a page cache, from the oldest to the newest. Lists of one policy may share an
 * array of links, since a slot is in one list at a time.
 */
#ifndef UNDERSTUDY_PAGE_LIST_H
#define UNDERSTUDY_PAGE_LIST_H

#include "page.h"

/* Neighbours of a slot in its list, NO_PAGE at the ends. */
struct page_link {
	u32 older, newer;
};

struct page_list {
	u32 oldest, newest;
	u32 count;
};

#define PAGE_LIST_EMPTY ((struct page_list){ .oldest = NO_PAGE, .newest = NO_PAGE })

static inline void page_list_add(struct page_list *list, struct page_link *links,
				 u32 slot)
{
	links[slot] = (struct page_link){ .older = list->newest, .newer = NO_PAGE };
	if (list->newest != NO_PAGE)
		links[list->newest].newer = slot;
	else
		list->oldest = slot;
	list->newest = slot;
	list->count++;
}

static inline void page_list_remove(struct page_list *list, struct page_link *links,
				    u32 slot)
{
	struct page_link link = links[slot];

	if (link.older != NO_PAGE)
		links[link.older].newer = link.newer;
	else
		list->oldest = link.newer;
	if (link.newer != NO_PAGE)
		links[link.newer].older = link.older;
	else
		list->newest = link.older;
	list->count--;
}

/* Make a slot of the list its newest one. */
static inline void page_list_renew(struct page_list *list, struct page_link *links,
				   u32 slot)
{
	struct page_link link = links[slot];

	if (link.newer == NO_PAGE)
		return;
	links[link.newer].older = link.older;
	if (link.older != NO_PAGE)
		links[link.older].newer = link.newer;
	else
		list->oldest = link.newer;
	links[list->newest].newer = slot;
	links[slot] = (struct page_link){ .older = list->newest, .newer = NO_PAGE };
	list->newest = slot;
}

/* Remove the oldest slot of a list that is not empty, and return it. */
static inline u32 page_list_take(struct page_list *list, struct page_link *links)
{
	u32 slot = list->oldest;
	u32 next = links[slot].newer;

	list->oldest = next;
	if (next != NO_PAGE)
		links[next].older = NO_PAGE;
	else
		list->newest = NO_PAGE;
	list->count--;
	return slot;
}

#endif
