// SPDX-License-Identifier: MIT
#include "check.h"

#define MERGE_MAX (1u << 16)
#define PENDING_MAX (1u << 20)
#define PROCESSES_MAX 100000
#define SERVERS_MAX (1u << 16)
#define PAGES_MAX (1ull << 31)
#define TIME_MAX_NS (1ull << 62)
#define SPAN_MAX (1ull << 48)

static bool fields_in_range(const struct sched_field *fields, u32 count,
			    const u64 *values)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (values[i] < fields[i].min || values[i] > fields[i].max)
			return false;
	}
	return true;
}

static const char *check_drive(const struct drive *drive)
{
	const struct disk_cache *cache = &drive->cache;

	if (cache->segments > DISK_CACHE_SEGMENTS_MAX)
		return "the disk's cache has too many segments";
	if (cache->segment_sectors >= SPAN_MAX || cache->prefetch_sectors >= SPAN_MAX)
		return "a segment of the disk's cache has 2^48 sectors or more";
	if (!tracks_check(&drive->disk.tracks, drive->disk.capacity_sectors) &&
	    platter_check(&drive->disk.tracks, drive->disk.rotation_ns))
		return "the angles do not fit the tracks, or not the rotation";
	if (disk_check(&drive->disk))
		return "the disk is impossible";
	if (drive->arm.random_phase && disk_knows_angles(&drive->disk))
		return "latencies are drawn although angles are known";
	if (drive->bus.hit_ns > DISK_NS_MAX)
		return "a hit in the disk's cache takes over a minute";
	if (drive->queue_depth > QUEUE_DEPTH_MAX)
		return "the disk's queue is deeper than 256";
	if (drive->queue_age_ns > DISK_NS_MAX)
		return "a request may wait in the disk's queue for over a minute";
	return drive_check(drive) ? "the disk's buffer is impossible" : NULL;
}

static const char *check_depth(const struct sim_input *input)
{
	if (!input->depth || input->depth > PENDING_MAX)
		return "the depth is not from 1 to 1048576";
	return NULL;
}

static const char *check_device(const struct sim_input *input)
{
	if (!input->world.capacity_sectors ||
	    input->world.capacity_sectors >= 1ull << 48)
		return "the disk has no sectors, or 2^48 or more";
	if (input->drive) {
		if (input->drive->disk.capacity_sectors !=
		    input->world.capacity_sectors)
			return "the disk's size differs from the world's";
		return check_drive(input->drive);
	}
	if (!input->array.servers || input->array.servers > SERVERS_MAX)
		return "the array's servers are not from 1 to 65536";
	if (input->array.mean_service_ns >= 1ull << 56)
		return "the array's mean service is 2^56 ns or more";
	return NULL;
}

static const char *check_processes(const struct sim_input *input)
{
	u32 i;

	if (!input->world.processes || input->world.processes > PROCESSES_MAX)
		return "the processes are not from 1 to 100000";
	if ((input->drive || input->target) &&
	    bundles_any(input->bundling, input->world.processes))
		return "only the servers of an array take several requests as one";
	for (i = 0; i < input->world.processes; i++) {
		if (input->weight && !input->weight[i])
			return "a weight is 0";
		if (input->io_class && (input->io_class[i] < IO_CLASS_REALTIME ||
					input->io_class[i] > IO_CLASS_IDLE))
			return "an I/O class is not from 1 to 3";
		if (input->level && input->level[i] >= IO_LEVELS)
			return "an I/O level is not from 0 to 7";
	}
	return NULL;
}

static const char *check_rows(const struct sim_input *input, u64 count)
{
	const struct rows *rows = &input->world.rows;
	u64 capacity = input->world.capacity_sectors;
	u32 process;
	u64 i;

	if (!rows->first)
		return NULL;
	for (process = 0; process < input->world.processes; process++) {
		if (rows->first[process] > rows->first[process + 1])
			return "the table's processes are not in order";
	}
	if (rows->first[process] > count)
		return "the table has fewer rows than its processes need";
	for (i = 0; i < count; i++) {
		if (!rows->sectors[i])
			return "a request has no sectors";
		if (rows->sector[i] >= capacity ||
		    rows->sectors[i] > capacity - rows->sector[i])
			return "a request ends past the end of the disk";
		if (rows->op[i] >= IO_OPS)
			return "a request is neither a read nor a write";
		if (rows->think_ns[i] >= TIME_MAX_NS || rows->cost_ns[i] >= TIME_MAX_NS)
			return "a time is 2^62 ns or more";
	}
	return NULL;
}

static const char *check_extents(const struct sim_input *input, u64 count, u64 unit)
{
	const struct layout *layout = &input->world.layout;
	u64 capacity = input->world.capacity_sectors;
	u64 i;

	for (i = 0; i < count; i++) {
		if (!layout->length[i] || layout->length[i] % unit)
			return "an extent is not made of whole pages";
		if (layout->start[i] >= capacity ||
		    layout->length[i] > capacity - layout->start[i])
			return "a file ends past the end of the disk";
	}
	return NULL;
}

static const char *check_file(const struct layout *layout, u32 file, u64 extents)
{
	u64 sectors = 0;
	u64 i;

	if (layout->first[file] > layout->first[file + 1] ||
	    layout->first[file + 1] > extents)
		return "the files' extents are not in order";
	for (i = layout->first[file]; i < layout->first[file + 1]; i++)
		sectors += layout->length[i];
	if (!layout->bytes[file] || (layout->bytes[file] - 1) / 512 >= sectors)
		return "a file is empty, or longer than its extents";
	return NULL;
}

static const char *check_layout(const struct sim_input *input, u64 extents)
{
	const struct layout *layout = &input->world.layout;
	u64 unit = input->cache.bytes ? input->cache.page_sectors : 1;
	const char *wrong = NULL;
	u32 i;

	if (!layout->files)
		return NULL;
	wrong = check_extents(input, extents, unit);
	for (i = 0; !wrong && i < layout->files; i++)
		wrong = check_file(layout, i, extents);
	return wrong;
}

static const char *check_cache(const struct sim_input *input)
{
	const struct sim_cache *cache = &input->cache;
	const struct page_policies *policies = &cache->policies;

	if (!cache->bytes)
		return NULL;
	if (!cache->page_sectors || cache->page_sectors > 1 << 15)
		return "a page is not from 1 to 32768 sectors";
	if (cache->bytes < 512ull * cache->page_sectors)
		return "the page cache is smaller than one page";
	if (cache->bytes / (512ull * cache->page_sectors) > PAGES_MAX)
		return "the page cache has too many pages";
	if (cache->read_ahead_pages > 1 << 15)
		return "the read-ahead is longer than 32768 pages";
	if (policies->prefetcher && !fields_in_range(policies->prefetcher->tunables,
						     policies->prefetcher->nr_tunables,
						     policies->prefetcher_tunables))
		return "a tunable of the prefetcher is out of its range";
	if (policies->replacer && !fields_in_range(policies->replacer->tunables,
						   policies->replacer->nr_tunables,
						   policies->replacer_tunables))
		return "a tunable of the replacement policy is out of its range";
	return NULL;
}

static const char *check_rest(const struct sim_input *input)
{
	if (!input->max_pending || input->max_pending > PENDING_MAX)
		return "max_pending is not from 1 to 1048576";
	if (!input->requests)
		return "the number of requests is 0";
	if (input->merge_sectors > MERGE_MAX)
		return "merge_sectors is over 65536";
	if (input->gap_ns >= TIME_MAX_NS || input->ask_ns >= TIME_MAX_NS)
		return "a time is 2^62 ns or more";
	if (input->scheduler &&
	    !fields_in_range(input->scheduler->tunables, input->scheduler->nr_tunables,
			     input->tunables))
		return "a tunable is out of its range";
	if (!fields_in_range(input->workload->parameters,
			     input->workload->nr_parameters, input->parameters))
		return "a parameter of the workload is out of its range";
	return NULL;
}

const char *sim_check(const struct sim_input *input, u64 rows, u64 extents)
{
	return check_rest(input)
		       ?: check_device(input)
		       ?: check_depth(input)
		       ?: check_processes(input)
		       ?: check_cache(input)
		       ?: check_rows(input, rows)
		       ?: service_times_check(&input->world.service,
					      input->world.processes)
		       ?: check_layout(input, extents);
}
