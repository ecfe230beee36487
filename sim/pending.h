/* SPDX-License-Identifier: MIT */
/*
 * A request between its arrival and its completion. A request consists of one bio, which a process
 * or the page cache issued. After merges a request consists of several bios.
 */
#ifndef UNDERSTUDY_PENDING_H
#define UNDERSTUDY_PENDING_H

#include "../core/request.h"
#include "../core/drive/command.h"

#define NOT_MEASURED U64_MAX

/**
 * struct bio - one original request
 * @arrival_ns: its arrival
 * @waited_ns: how long it had waited before its arrival (struct step)
 * @sector: its first sector
 * @row: its row in the results, or NOT_MEASURED
 * @page: first page that it fills in the page cache
 * @pages: number of pages that it fills; 0: none
 * @file: file of these pages
 * @sectors: its length
 * @owner: the owner that the scheduler sees
 * @process: process that waits for it, if it fills no pages
 * @whole: the request of which it is a piece (whole.h), or NO_SLOT
 */
struct bio {
	u64 arrival_ns;
	u64 waited_ns;
	u64 sector;
	u64 row;
	u64 page;
	u32 pages;
	u32 file;
	u32 sectors;
	u32 owner;
	u32 process;
	u32 whole;
};

/**
 * struct pending - an entry of the pool of requests
 * @io: the request that the scheduler sees. @io is the first member, so that its address is also
 *	the address of the entry
 * @bio: the first bio of the request
 * @next: next request merged into it or joined to it, or NULL
 * @dispatch_ns: when the request was dispatched to the device
 * @idle_ns: how long the device had been idle before the dispatch
 * @command: the device's command for this request
 */
struct pending {
	struct io_request io;
	struct bio bio;
	struct pending *next;
	u64 dispatch_ns;
	u64 idle_ns;
	struct command command;
};

#endif
