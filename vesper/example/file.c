// SPDX-License-Identifier: MIT
/* The file system: each file has a number and lies in one piece. */
#include "os.h"

struct file {
	u32 block;
	u32 bytes;
};

static struct file files[FILES_MAX];

char file_byte(u32 file, u32 at)
{
	return (char)(file * 31 + at * 7 + at / BLOCK_BYTES);
}

void file_create(u32 file, u32 block, u32 bytes)
{
	char *contents = disk_contents(block);
	u32 i;

	files[file] = (struct file){ block, bytes };
	for (i = 0; i < bytes; i++)
		contents[i] = file_byte(file, i);
}

u32 file_bytes(u32 file)
{
	return files[file].bytes;
}

static u32 pages_of(const struct file *file)
{
	return (file->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

static void read_cached(u32 number, u32 at, char *to, u32 bytes)
{
	const struct file *file = &files[number];

	while (bytes) {
		u32 within = at % BLOCK_BYTES;
		u32 part = BLOCK_BYTES - within < bytes ? BLOCK_BYTES - within : bytes;
		struct page_place place = { number, at / BLOCK_BYTES, pages_of(file),
					    file->block };

		cache_read(&place, within, to, part);
		to += part;
		at += part;
		bytes -= part;
	}
}

/* Without a cache, each read is a request to the disk, of all its blocks. */
static void read_uncached(const struct file *file, u32 at, char *to, u32 bytes)
{
	u32 first = at / BLOCK_BYTES, last = (at + bytes - 1) / BLOCK_BYTES;
	char blocks[(last - first + 1) * BLOCK_BYTES];

	disk_read_now(file->block + first, last - first + 1, blocks);
	memcpy(to, blocks + at % BLOCK_BYTES, bytes);
}

void file_read(u32 number, u32 at, void *to, u32 bytes)
{
	const struct file *file = &files[number];

	if (!bytes || at + bytes > file->bytes)
		panic("file %u has no bytes from %u to %u", number, at, at + bytes);
	if (cache_is_on())
		read_cached(number, at, to, bytes);
	else
		read_uncached(file, at, to, bytes);
}
