/* SPDX-License-Identifier: MIT */
/*
 * A request between its arrival and its completion.  It carries what one process or the
 * page cache asked for; after merges, what several did.
 */
#ifndef UNDERSTUDY_PENDING_H
#define UNDERSTUDY_PENDING_H

#include "../core/request.h"
#include "../core/drive/command.h"

#define NOT_MEASURED U64_MAX

/**
 * struct bio - what was asked for
 * @arrival_ns: when
 * @sector: from where on
 * @row: of the records, or NOT_MEASURED
 * @page: of the file that it fills in the page cache ...
 * @pages: ... this many; 0: none
 * @file: which file
 * @sectors: how much
 * @owner: as the scheduler sees it
 * @process: who waits for it, if it fills no pages
 * @whole: the request that it is a piece of (whole.h), or NO_SLOT
 */
struct bio {
	u64 arrival_ns;
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
 * struct pending - an entry of the pool
 * @io: the whole request, as the scheduler sees it; first, so that it can be found
 * again
 * @bio: what began it
 * @next: whose bio goes with it, merged into it or joined to it, or NULL
 * @dispatch_ns: when it went to the device
 * @idle_ns: how long that had nothing to do before
 * @command: what it is there, and what it meets there
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
