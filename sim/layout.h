/* SPDX-License-Identifier: MIT */
/* Maps files to the disk: the extents in which a file system placed them. */
#ifndef UNDERSTUDY_LAYOUT_H
#define UNDERSTUDY_LAYOUT_H

#include "../core/port.h"

/**
 * struct layout - files and their extents; every array is in the caller's memory
 * @files: number of files
 * @bytes: size of each file in bytes
 * @first: file i has the extents from first[i] to first[i + 1] - 1; files + 1 elements
 * @start: first sector of each extent
 * @length: sectors of each extent
 *
 * The extents of a file hold all of its bytes, rounded up to whole sectors.
 */
struct layout {
	u32 files;
	const u64 *bytes;
	const u64 *first;
	const u64 *start;
	const u64 *length;
};

/**
 * layout_find - find where a sector of a file is on the disk
 * @layout: the files
 * @file: index of the file
 * @at: sector in the file; it must be in one of the extents
 * @sectors: set to the number of sectors, from @at on, that are contiguous on the disk
 *
 * Returns: sector of the disk.
 */
static inline u64 layout_find(const struct layout *layout, u32 file, u64 at,
			      u64 *sectors)
{
	u64 i = layout->first[file];

	while (at >= layout->length[i])
		at -= layout->length[i++];
	*sectors = layout->length[i] - at;
	return layout->start[i] + at;
}

#endif
