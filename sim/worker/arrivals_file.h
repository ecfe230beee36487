/* SPDX-License-Identifier: MIT */
/*
 * Arrivals in a file, which is read where it lies: a header, then a column of u64 with the
 * instants, then one of u16 with the pieces, in this machine's byte order
 * (understudy/native/arrivals.py writes it).
 */
#ifndef UNDERSTUDY_ARRIVALS_FILE_H
#define UNDERSTUDY_ARRIVALS_FILE_H

#include "../arrivals.h"

#define ARRIVALS_MAGIC 0x736c617669727261ull /* "arrivals", the first byte lowest */

/**
 * struct arrivals_header - how a file begins
 * @magic: ARRIVALS_MAGIC
 * @count: requests
 */
struct arrivals_header {
	u64 magic;
	u64 count;
};

/**
 * arrivals_map - files in memory, to be read only
 * @paths: of each file, ended by a zero, one after the other
 * @arrivals: set to what is in them
 * @files: how many
 *
 * They stay there as long as this process lives.
 *
 * Returns: 0; -EBADMSG if one cannot be read, or is none; -ENOMEM.
 */
int arrivals_map(const char *paths, struct arrivals *arrivals, u32 files);

#endif
