// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrivals_file.h"

#define ROW_BYTES (2 * sizeof(u64) + sizeof(u16) + sizeof(u8))

static int take(const char *memory, u64 bytes, struct arrivals *arrivals)
{
	const struct arrivals_header *header = (const struct arrivals_header *)memory;
	u64 count = header->count;
	u64 rest = bytes - sizeof(*header);
	u64 row_bytes = ROW_BYTES + (header->waited ? sizeof(u64) : 0);
	const u64 *after;

	if (header->magic != ARRIVALS_MAGIC || rest % row_bytes ||
	    count != rest / row_bytes)
		return -EBADMSG;
	arrivals->count = count;
	arrivals->arrival_ns = (const u64 *)(memory + sizeof(*header));
	arrivals->service_ns = arrivals->arrival_ns + count;
	after = arrivals->service_ns + count;
	if (header->waited) {
		arrivals->waited_ns = after;
		after += count;
	}
	arrivals->pieces = (const u16 *)after;
	arrivals->write = (const u8 *)(arrivals->pieces + count);
	return 0;
}

static int map_open(int file, struct arrivals *arrivals)
{
	struct stat status;
	void *memory;

	if (fstat(file, &status) ||
	    status.st_size < (off_t)sizeof(struct arrivals_header))
		return -EBADMSG;
	memory = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED)
		return errno == ENOMEM ? -ENOMEM : -EBADMSG;
	return take(memory, status.st_size, arrivals);
}

static int map(const char *path, struct arrivals *arrivals)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	int error;

	if (file < 0)
		return -EBADMSG;
	error = map_open(file, arrivals);
	close(file);
	return error;
}

int arrivals_map(const char *paths, struct arrivals *arrivals, u32 files)
{
	int error = 0;
	u32 i;

	for (i = 0; !error && i < files; i++) {
		error = map(paths, &arrivals[i]);
		paths += strlen(paths) + 1;
	}
	return error;
}
