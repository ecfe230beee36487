/* SPDX-License-Identifier: MIT */
/*
 * Arrivals in a file that is mapped into memory: a header, then columns of u64 with the arrival
 * times, u64 with the service times, if requests waited u64 with the waits, u16 with the numbers of
 * pieces, and u8 with the directions (1: write), in this machine's byte order
 * (understudy_devices/native/arrivals.py writes the file).
 */
#ifndef UNDERSTUDY_ARRIVALS_FILE_H
#define UNDERSTUDY_ARRIVALS_FILE_H

#include "../arrivals.h"

#define ARRIVALS_MAGIC 0x736c617669727261ull /* "arrivals", the first byte lowest */

/**
 * struct arrivals_header - the beginning of a file
 * @magic: ARRIVALS_MAGIC
 * @count: number of requests
 * @waited: 1 if there is a column of waits, otherwise 0
 */
struct arrivals_header {
	u64 magic;
	u64 count;
	u64 waited;
};

/**
 * arrivals_map - map files into memory, read-only
 * @paths: the files' paths, one after the other, each followed by a zero byte
 * @arrivals: set to their contents
 * @files: number of files
 *
 * The files stay mapped as long as this process lives.
 *
 * Returns: 0; -EBADMSG if a file cannot be read or has no arrivals; -ENOMEM.
 */
int arrivals_map(const char *paths, struct arrivals *arrivals, u32 files);

#endif
