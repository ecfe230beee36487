// SPDX-License-Identifier: GPL-2.0 OR MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vesper_file.h"

static int read_blocks(void *context, uint64_t start_block, uint32_t blocks, void *data)
{
	const struct vesper_file *file = context;
	size_t bytes = (size_t)blocks * file->block_bytes;
	off_t at = start_block * file->block_bytes;
	char *to = data;

	while (bytes) {
		ssize_t got = pread(file->descriptor, to, bytes, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		to += got;
		at += got;
		bytes -= got;
	}
	return 0;
}

static int write_blocks(void *context, uint64_t start_block, uint32_t blocks,
			const void *data)
{
	const struct vesper_file *file = context;
	size_t bytes = (size_t)blocks * file->block_bytes;
	off_t at = start_block * file->block_bytes;
	const char *from = data;

	while (bytes) {
		ssize_t put = pwrite(file->descriptor, from, bytes, at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -EIO;
		from += put;
		at += put;
		bytes -= put;
	}
	return 0;
}

/* Give a new file its size; a file of another size is not ours. */
static int size_file(int descriptor, off_t bytes)
{
	struct stat status;

	if (fstat(descriptor, &status))
		return -errno;
	if (status.st_size == bytes)
		return 0;
	if (status.st_size)
		return -EEXIST;
	return ftruncate(descriptor, bytes) ? -errno : 0;
}

int vesper_file_open(struct vesper_file *file, const char *path,
		     struct vesper_config *config)
{
	int error;

	file->block_bytes = config->block_bytes;
	file->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file->descriptor < 0)
		return -errno;
	error = size_file(file->descriptor, config->blocks * config->block_bytes);
	if (error) {
		vesper_file_close(file);
		return error;
	}
	config->storage = (struct vesper_storage){ read_blocks, write_blocks, file };
	return 0;
}

void vesper_file_close(struct vesper_file *file)
{
	close(file->descriptor);
	file->descriptor = -1;
}
