/* SPDX-License-Identifier: MIT */
/*
 * The path of file number `index` in a set of `files`.  There are two levels of directories
 * (PERFORM 2010 section 5), with 100 files in a leaf and 100 leaves in a top directory.  So every
 * directory is one block, from 100 files to 1,000,000 and beyond.
 *
 * Consecutive indices go to different leaves.  The workload draws the index by Zipf, so index 0 is
 * the most popular file, and its place on the disk must not depend on its popularity.
 * understudy/files/image.py builds the same paths.
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
