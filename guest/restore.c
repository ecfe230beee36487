// SPDX-License-Identifier: MIT
/*
 * Writes a file system's metadata to a disk of zeros:
 *
 *   restore BLOCKS DISK
 *
 * BLOCKS holds only the 4 KiB blocks that are not zero.  understudy_devices/files/image.py writes
 * it.  Its format, in little-endian order: "USBLOCK1", u64 bytes of the image, u64 count, `count`
 * ascending u64 block numbers, then the blocks.  Blocks that are adjacent on the disk are written
 * with one write.  The whole file is checked before the first write.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "complain.h"
#include "disk_size.h"
#include "options.h"

#define BLOCK_BYTES 4096
#define BLOCKS_A_WRITE 256

struct blocks_file {
	char magic[8];
	uint64_t image_bytes;
	uint64_t count;
	uint64_t numbers[];
};

static int refuse(const char *path, const char *reason)
{
	fprintf(stderr, "%s: %s\n", path, reason);
	return EXIT_FAILED;
}

static int check_numbers(const char *path, const struct blocks_file *blocks)
{
	for (uint64_t i = 0; i < blocks->count; i++) {
		if (blocks->numbers[i] >= blocks->image_bytes / BLOCK_BYTES)
			return refuse(path, "a block is beyond the end of the image");
		if (i && blocks->numbers[i] <= blocks->numbers[i - 1])
			return refuse(path, "the blocks are not in ascending order");
	}
	return 0;
}

static int check(const char *path, const struct blocks_file *blocks, uint64_t bytes)
{
	uint64_t room;

	if (bytes < sizeof(*blocks) || memcmp(blocks->magic, "USBLOCK1", 8))
		return refuse(path, "not a file of blocks (no USBLOCK1 at its start)");
	room = bytes - sizeof(*blocks);
	if (blocks->count > room / (BLOCK_BYTES + sizeof(uint64_t)) ||
	    blocks->count * (BLOCK_BYTES + sizeof(uint64_t)) != room)
		return refuse(path, "cut off, or longer than its count of blocks");
	return check_numbers(path, blocks);
}

static const struct blocks_file *map_blocks(const char *path)
{
	const struct blocks_file *blocks;
	struct stat stat;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &stat)) {
		complain(path);
		return NULL;
	}
	blocks = mmap(NULL, (size_t)stat.st_size + 1, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (blocks == MAP_FAILED) {
		complain(path);
		return NULL;
	}
	return check(path, blocks, (uint64_t)stat.st_size) ? NULL : blocks;
}

static int open_disk(const char *path, uint64_t image_bytes)
{
	uint64_t bytes;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || disk_size(fd, &bytes)) {
		complain(path);
		return -1;
	}
	if (bytes >= image_bytes)
		return fd;
	fprintf(stderr, "%s: holds %llu bytes, the image needs %llu\n", path,
		(unsigned long long)bytes, (unsigned long long)image_bytes);
	close(fd);
	return -1;
}

static int write_at(int fd, const char *from, uint64_t bytes, uint64_t at)
{
	while (bytes) {
		ssize_t written = pwrite(fd, from, bytes, (off_t)at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		from += written;
		at += (uint64_t)written;
		bytes -= (uint64_t)written;
	}
	return 0;
}

/* Returns the number of blocks, starting with index `first`, that are adjacent on the disk. */
static uint64_t neighbours(const struct blocks_file *blocks, uint64_t first)
{
	uint64_t n = 1;

	while (n < BLOCKS_A_WRITE && first + n < blocks->count &&
	       blocks->numbers[first + n] == blocks->numbers[first] + n)
		n++;
	return n;
}

static int write_blocks(int fd, const struct blocks_file *blocks)
{
	const char *data = (const char *)&blocks->numbers[blocks->count];

	for (uint64_t i = 0, n; i < blocks->count; i += n) {
		n = neighbours(blocks, i);
		if (write_at(fd, data + i * BLOCK_BYTES, n * BLOCK_BYTES,
			     blocks->numbers[i] * BLOCK_BYTES))
			return -1;
	}
	return fsync(fd);
}

int main(int argc, char **argv)
{
	const struct blocks_file *blocks;
	int fd;

	if (argc != 3) {
		fputs("restore BLOCKS DISK\n", stderr);
		return EXIT_USAGE;
	}
	blocks = map_blocks(argv[1]);
	if (!blocks)
		return EXIT_FAILED;
	fd = open_disk(argv[2], blocks->image_bytes);
	if (fd < 0)
		return EXIT_FAILED;
	if (write_blocks(fd, blocks))
		return complain(argv[2]);
	if (close(fd))
		return complain(argv[2]);
	printf("%llu\n", (unsigned long long)blocks->count);
	return 0;
}
