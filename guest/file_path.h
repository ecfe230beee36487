/* SPDX-License-Identifier: MIT */
/*
 * Writes the path of file number `index` of `files` files.  There are two levels of directories
 * (PERFORM 2010 section 5), with 100 files in a leaf directory and 100 leaf directories in a top
 * directory.  So every directory fits into one block, whether there are 100 files or 1,000,000.
 *
 * Files with consecutive indices are in different leaf directories.  The workload samples the index
 * from a Zipf distribution, so file 0 is the most popular file.  A file's location on the disk must
 * not depend on the file's popularity.  understudy_devices/files/image.py builds the same paths.
 */
#ifndef UNDERSTUDY_GUEST_FILE_PATH_H
#define UNDERSTUDY_GUEST_FILE_PATH_H

#include <stdint.h>
#include <stdio.h>

#define FILES_PER_LEAF 100
#define LEAVES_PER_TOP 100
#define FILE_PATH_MAX 4096

static inline int file_path(char path[FILE_PATH_MAX], const char *dir, uint32_t index,
			    uint32_t files)
{
	uint32_t leaves = (files - 1) / FILES_PER_LEAF + 1;
	uint32_t leaf = index % leaves;

	return snprintf(path, FILE_PATH_MAX, "%s/d%02u/d%02u/f%07u", dir,
			leaf / LEAVES_PER_TOP, leaf % LEAVES_PER_TOP, index);
}

#endif
