/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Keeps the data of a disk in a file, for an operating system that is a program of the host. */
#ifndef VESPER_FILE_H
#define VESPER_FILE_H

#include "vesper.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vesper_file {
	int descriptor;
	uint32_t block_bytes;
};

/*
 * Open or create a file of this size, and set config.storage to it. Returns 0, or a negative errno:
 * -EFBIG or -ENOSPC if a file of this size can't be had, -EEXIST if there is a file of another size.
 */
int vesper_file_open(struct vesper_file *file, const char *path,
		     struct vesper_config *config);

/* Close the file, after vesper_exit(). */
void vesper_file_close(struct vesper_file *file);

#ifdef __cplusplus
}
#endif

#endif
