/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The interface that a replacement policy implements: which page does a full cache evict? A policy
 * is one file under replacement/. replacement/lru.c is the template to copy.
 *
 * The host owns the pages. Each is in a slot, a number below the limit, from the call of @add until
 * the call of @remove or until @victim returns the slot. A slot whose page is being fetched is not
 * yet the policy's. The host never calls two operations at a time. No operation sleeps, reads a
 * clock or knows what the host is.
 *
 * The rules in this file bind both host and policy; replacement_contract.h enforces the policy's
 * rules.
 */
#ifndef UNDERSTUDY_REPLACEMENT_H
#define UNDERSTUDY_REPLACEMENT_H

#include "field.h"
#include "page.h"

/**
 * struct replacement_limits - what a policy may know when its init is called
 * @slots: pages that the cache can hold; slots are numbered from 0
 */
struct replacement_limits {
	u32 slots;
};

/**
 * struct replacer - a replacement policy
 * @name: the name by which people choose it, of a-z, 0-9, - and _, at most SCHED_NAME_MAX
 * @summary: one line for people
 * @state_size: size of the state in bytes; before @init, the host allocates it, zeroed, and writes
 *	the tunables' values into it. They do not change any more
 * @tunables: values that the host sets
 * @nr_tunables: number of tunables
 * @counters: values that the host only reads
 * @nr_counters: number of counters
 * @init: prepare the state; returns 0 or a negative errno, and frees what it allocated in that case.
 *	May be NULL.
 * @exit: free what @init allocated. May be NULL.
 * @add: a page has been fetched into this slot, and may be evicted from now on
 * @used: a process has read the page in this slot. A process that waited for a page reads it
 *	after @add
 * @remove: the host has dropped the page in this slot, for example because its file was deleted
 * @victim: choose a slot with a page, to make room for the page @incoming. The slot is empty
 *	afterwards. The host calls @victim only if a slot has a page
 */
struct replacer {
	const char *name;
	const char *summary;
	size_t state_size;
	const struct sched_field *tunables;
	u32 nr_tunables;
	const struct sched_field *counters;
	u32 nr_counters;

	int (*init)(void *state, const struct replacement_limits *limits);
	void (*exit)(void *state);
	void (*add)(void *state, u32 slot, struct page_id page);
	void (*used)(void *state, u32 slot);
	void (*remove)(void *state, u32 slot);
	u32 (*victim)(void *state, struct page_id incoming);
};

/* Register a policy, as REGISTER_SCHEDULER registers a scheduler (core/scheduler.h). */
#ifdef SCHEDULERS_IN_A_LIST
#define REGISTER_REPLACER(r)                      \
	const struct replacer *const replacer_##r \
		__attribute__((visibility("hidden"))) = &(r)
#else
extern const struct replacer *const module_replacer;
#define REGISTER_REPLACER(r)                         \
	const struct replacer *const module_replacer \
		__attribute__((visibility("default"))) = &(r)
#endif

#endif
