/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The pages of files, as the host's page cache names them to its policies. */
#ifndef UNDERSTUDY_PAGE_H
#define UNDERSTUDY_PAGE_H

#include "port.h"

#define NO_PAGE U32_MAX

/* Page @number of a file; page 0 is the first. */
struct page_id {
	u64 number;
	u32 file;
};

static inline bool page_is(struct page_id a, struct page_id b)
{
	return a.number == b.number && a.file == b.file;
}

#endif
