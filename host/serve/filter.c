// SPDX-License-Identifier: MIT
/*
 * An nbdkit filter that imitates the timing of a profiled disk. The plug-in below the filter stores
 * the data at once. The filter holds each answer until the modelled disk would have completed the
 * request. The time of each operation:
 *
 *	read, write	by the model
 *	write with FUA	by the model, for a write that must be on the medium
 *	write zeroes	as a write of as many sectors, though the plug-in need not store them
 *	flush		destages the whole cache of the model
 *	trim		waits for its turn, then takes no time
 *	block status	takes no time
 *
 * Parameters: timed-disk=FILE names a file that contains a struct timed_disk. records=FILE names a
 * file into which the filter writes a row for each request (kernel/vpt/record.h), in order of the
 * answers. The numbers in the rows are in order of arrival.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-filter.h>

#include "hold.h"
#include "virtual_clock.h"

#define SECTOR_BYTES 512
#define PAGE_BYTES 4096
#define LONGEST_BYTES (32u << 20)

static const char *disk_file, *record_file;
static struct timed_disk *disk;

static int timed_config(nbdkit_next_config *next, nbdkit_backend *backend,
			const char *key, const char *value)
{
	if (!strcmp(key, "timed-disk"))
		disk_file = value;
	else if (!strcmp(key, "records"))
		record_file = value;
	else
		return next(backend, key, value);
	return 0;
}

static int complain(const char *what)
{
	nbdkit_error("%s: %s", what, strerror(errno));
	return -1;
}

static int map_disk(void)
{
	int file = open(disk_file ?: "", O_RDWR | O_CLOEXEC);
	struct stat status;

	if (file < 0 || fstat(file, &status))
		return complain("timed-disk");
	disk = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (disk == MAP_FAILED)
		return complain("timed-disk");
	if (status.st_size < (off_t)sizeof(*disk) || disk->bytes != sizeof(*disk)) {
		nbdkit_error("timed-disk: not a struct timed_disk of these sources");
		return -1;
	}
	disk_moved(&disk->device.drive.disk, disk->address, disk);
	disk->address = (uintptr_t)disk;
	return 0;
}

static int timed_get_ready(int thread_model)
{
	int records = -1;

	if (map_disk())
		return -1;
	if (record_file)
		records = open(record_file, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (record_file && records < 0)
		return complain(record_file);
	errno = -hold_init(disk, records);
	return errno ? complain("timed-disk") : 0;
}

static int timed_after_fork(nbdkit_backend *backend)
{
	__atomic_store_n(&disk->serves, 1, __ATOMIC_RELEASE);
	return 0;
}

static int timed_preconnect(nbdkit_next_preconnect *next, nbdkit_backend *backend,
			    int readonly)
{
	if (!client_has_virtual_clock())
		return next(backend, readonly);
	nbdkit_error(
		"refused: a guest in a virtual clock (QEMU's -icount) does not see "
		"this "
		"disk's time; use the throttle (understudy predict --on vm) or link "
		"core/ into the guest, or start QEMU without -icount");
	return -1;
}

static int64_t timed_get_size(nbdkit_next *next, void *handle)
{
	int64_t bytes = next->get_size(next),
		needed = disk->capacity_sectors * SECTOR_BYTES;

	if (bytes < 0 || bytes >= needed)
		return bytes < 0 ? -1 : needed;
	nbdkit_error("%lld bytes of data are too few for a disk of %lld",
		     (long long)bytes, (long long)needed);
	return -1;
}

static int timed_block_size(nbdkit_next *next, void *handle, uint32_t *minimum,
			    uint32_t *preferred, uint32_t *maximum)
{
	*minimum = SECTOR_BYTES;
	*preferred = PAGE_BYTES;
	*maximum = LONGEST_BYTES;
	return 0;
}

static int timed_is_rotational(nbdkit_next *next, void *handle)
{
	return !disk->device.array.servers;
}

/* Writing zeroes is not fast: it takes as long as writing other data. */
static int timed_can_fast_zero(nbdkit_next *next, void *handle)
{
	return 0;
}

/* Clients cannot request caching, since the model decides what is read ahead. */
static int timed_can_cache(nbdkit_next *next, void *handle)
{
	return NBDKIT_CACHE_NONE;
}

static bool is_whole(uint32_t count, uint64_t offset, int *err)
{
	if (!((count | offset) % SECTOR_BYTES))
		return true;
	nbdkit_error("%u bytes at %llu are not whole sectors", count,
		     (unsigned long long)offset);
	*err = EINVAL;
	return false;
}

static struct held asked(u8 op, uint32_t count, uint64_t offset, uint32_t flags)
{
	return (struct held){ .command = { .op = op,
					   .through = flags & NBDKIT_FLAG_FUA,
					   .sector = offset / SECTOR_BYTES,
					   .sectors = count / SECTOR_BYTES } };
}

static int answer(struct held *held, int result, const int *err)
{
	hold_until_due(held, result ? *err : 0);
	return result;
}

static int timed_pread(nbdkit_next *next, void *handle, void *data, uint32_t count,
		       uint64_t offset, uint32_t flags, int *err)
{
	struct held held = asked(IO_READ, count, offset, 0);

	if (!is_whole(count, offset, err))
		return -1;
	hold_arrived(&held);
	return answer(&held, next->pread(next, data, count, offset, flags, err), err);
}

static int timed_pwrite(nbdkit_next *next, void *handle, const void *data,
			uint32_t count, uint64_t offset, uint32_t flags, int *err)
{
	struct held held = asked(IO_WRITE, count, offset, flags);

	if (!is_whole(count, offset, err))
		return -1;
	hold_arrived(&held);
	return answer(&held, next->pwrite(next, data, count, offset, flags, err), err);
}

static int timed_flush(nbdkit_next *next, void *handle, uint32_t flags, int *err)
{
	struct held held = asked(COMMAND_FLUSH, 0, 0, 0);

	hold_arrived(&held);
	return answer(&held, next->flush(next, flags, err), err);
}

static int timed_trim(nbdkit_next *next, void *handle, uint32_t count, uint64_t offset,
		      uint32_t flags, int *err)
{
	struct held held = asked(COMMAND_NOTHING, count, offset, 0);

	if (!is_whole(count, offset, err))
		return -1;
	hold_arrived(&held);
	return answer(&held, next->trim(next, count, offset, flags, err), err);
}

/*
 * If the plug-in cannot write zeroes, nbdkit writes them as data instead, which takes the same
 * time.
 */
static int timed_zero(nbdkit_next *next, void *handle, uint32_t count, uint64_t offset,
		      uint32_t flags, int *err)
{
	struct held held = asked(IO_WRITE, count, offset, flags);
	int result;

	if (!is_whole(count, offset, err))
		return -1;
	result = next->zero(next, count, offset, flags, err);
	if (result && (*err == EOPNOTSUPP || *err == ENOTSUP))
		return result;
	hold_arrived(&held);
	return answer(&held, result, err);
}

static struct nbdkit_filter filter = {
	.name = "timed",
	.longname = "nbdkit filter that keeps a profiled disk's time",
	.config = timed_config,
	.get_ready = timed_get_ready,
	.after_fork = timed_after_fork,
	.preconnect = timed_preconnect,
	.get_size = timed_get_size,
	.block_size = timed_block_size,
	.is_rotational = timed_is_rotational,
	.can_fast_zero = timed_can_fast_zero,
	.can_cache = timed_can_cache,
	.pread = timed_pread,
	.pwrite = timed_pwrite,
	.flush = timed_flush,
	.trim = timed_trim,
	.zero = timed_zero,
};

NBDKIT_REGISTER_FILTER(filter)
