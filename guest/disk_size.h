/* SPDX-License-Identifier: MIT */
/* Stores the size of a disk, or of a regular file (which the tests use instead of a disk). */
#ifndef UNDERSTUDY_GUEST_DISK_SIZE_H
#define UNDERSTUDY_GUEST_DISK_SIZE_H

#include <linux/fs.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* Stores the size in bytes.  Returns 0, or -1 with errno set. */
static inline int disk_size(int fd, uint64_t *bytes)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return -1;
	if (S_ISBLK(stat.st_mode))
		return ioctl(fd, BLKGETSIZE64, bytes);
	*bytes = (uint64_t)stat.st_size;
	return 0;
}

#endif
