/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A hash table: finds the entry, a number from 0 on, of a page of a file. */
#ifndef UNDERSTUDY_PAGE_MAP_H
#define UNDERSTUDY_PAGE_MAP_H

#include "page.h"

/* The page of an entry, and the next entry in its hash chain. */
struct page_map_entry {
	u64 number;
	u32 file;
	u32 chain;
};

struct page_map {
	struct page_map_entry *entry;
	u32 *bucket; /* heads of the hash chains */
	u32 nr_buckets;
};

/* Make room for entries 0 to entries - 1. Returns 0 or -ENOMEM. */
static inline int page_map_init(struct page_map *map, u32 entries)
{
	u32 i;

	map->nr_buckets = 1;
	while (map->nr_buckets < entries)
		map->nr_buckets *= 2;
	map->entry = port_zalloc((size_t)entries * sizeof(*map->entry));
	map->bucket = port_zalloc((size_t)map->nr_buckets * sizeof(*map->bucket));
	if (!map->entry || !map->bucket)
		return -ENOMEM;
	for (i = 0; i < map->nr_buckets; i++)
		map->bucket[i] = NO_PAGE;
	return 0;
}

/* May be called even if init failed or the map is zeroed. */
static inline void page_map_exit(struct page_map *map)
{
	port_free(map->entry);
	port_free(map->bucket);
}

static inline struct page_id page_map_page(const struct page_map *map, u32 i)
{
	return (struct page_id){ map->entry[i].number, map->entry[i].file };
}

static inline u32 *page_map_bucket(const struct page_map *map, struct page_id page)
{
	u64 key = (page.number << 20 ^ page.file) * 0x9e3779b97f4a7c15ull;

	return &map->bucket[key >> 32 & (map->nr_buckets - 1)];
}

/* Return the entry of the page, which is in this bucket, or NO_PAGE. */
static inline u32 page_map_find_in(const struct page_map *map, const u32 *bucket,
				   struct page_id page)
{
	u32 i = *bucket;

	while (i != NO_PAGE &&
	       (map->entry[i].number != page.number || map->entry[i].file != page.file))
		i = map->entry[i].chain;
	return i;
}

/* Return the entry of the page, or NO_PAGE. */
static inline u32 page_map_find(const struct page_map *map, struct page_id page)
{
	return page_map_find_in(map, page_map_bucket(map, page), page);
}

/* Let an entry that is not in the map stand for a page that is not in the map either. */
static inline void page_map_add_to(struct page_map *map, u32 *bucket, u32 i,
				   struct page_id page)
{
	map->entry[i] = (struct page_map_entry){ page.number, page.file, *bucket };
	*bucket = i;
}

static inline void page_map_add(struct page_map *map, u32 i, struct page_id page)
{
	page_map_add_to(map, page_map_bucket(map, page), i, page);
}

static inline void page_map_remove(struct page_map *map, u32 i)
{
	struct page_map_entry *entry = &map->entry[i];
	u32 *link = page_map_bucket(map, page_map_page(map, i));

	while (*link != i)
		link = &map->entry[*link].chain;
	*link = entry->chain;
}

#endif
