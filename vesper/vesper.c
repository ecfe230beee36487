// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The disk behind three functions: requests, interrupts and statistics around the core's device.
 * The drive serves one request at a time; the others are queued in the drive (core/drive/device.h). If the caller advances the clock by more than one request,
 * several have begun, and their interrupts follow in order.
 */
#include "vesper.h"
#include "at_size.h"
#include "names.h"
#include "profiles.h"
#include "shares.h"
#include "../core/least.h"

#define MAGIC 0x7665737065723338ull
#define BLOCK_BYTES_MAX (1u << 20)
#define UNIT_BYTES_MIN 64

/**
 * struct slot - a request
 * @command: the request as the drive knows it, in units
 * @done: what its handler will see
 * @shares: parts of its service time, once it has begun
 * @after: the next request that has begun
 * @is_used: the request is pending
 */
struct slot {
	struct command command;
	struct vesper_done done;
	struct shares shares;
	struct slot *after;
	bool is_used;
};

/**
 * struct state - what struct vesper holds
 * @magic: MAGIC while the disk is initialised
 * @config: the caller's, with the defaults filled in
 * @units_per_block: units (vesper/at_size.h) of a block
 * @unit_bytes: bytes of a unit
 * @now_ns: the clock
 * @since_ns: when the statistics began
 * @free_ns: since when the drive has no request, for the idle time
 * @in_handler: a handler runs
 * @pending: number of requests
 * @first, @last: the requests that have begun, in order
 * @statistics: sums over completed requests
 */
struct state {
	u64 magic;
	struct vesper_config config;
	u64 units_per_block;
	u32 unit_bytes;
	u64 now_ns;
	u64 since_ns;
	u64 free_ns;
	bool in_handler;
	u32 pending;
	struct slot *first, *last;
	struct vesper_totals statistics;
	struct slot slot[VESPER_DEPTH_MAX];
	struct timed_device device;
	struct curve_room room;
};

_Static_assert(sizeof(struct state) <= VESPER_STATE_BYTES, "raise VESPER_STATE_BYTES");

static struct state *state_of(const struct vesper *disk)
{
	struct state *state = (struct state *)disk;

	return state && state->magic == MAGIC ? state : NULL;
}

static int check_size(const struct vesper_config *config)
{
	u32 bytes = config->block_bytes;
	bool is_small = bytes >= UNIT_BYTES_MIN && !(SECTOR_BYTES % (bytes ?: 1));
	bool is_large = bytes && !(bytes % SECTOR_BYTES) && bytes <= BLOCK_BYTES_MAX;

	if (!is_small && !is_large)
		return VESPER_BAD_SIZE;
	return config->blocks && config->blocks <= (1ull << 49) / bytes
		       ? VESPER_OK
		       : VESPER_BAD_SIZE;
}

static bool has_storage(const struct vesper_config *config)
{
	return config->timing_only || config->memory ||
	       (config->storage.read && config->storage.write);
}

const char *vesper_profile_name(uint32_t number)
{
	return number < vesper_profiles_nr ? vesper_profiles[number]->name : NULL;
}

static const struct vesper_profile *profile_of(const struct vesper_config *config)
{
	u32 i;

	if (!config->profile)
		return config->table;
	for (i = 0; i < vesper_profiles_nr; i++) {
		if (name_is(vesper_profiles[i]->name, config->profile))
			return vesper_profiles[i];
	}
	return NULL;
}

static int check(const struct vesper_config *config,
		 const struct vesper_profile *profile)
{
	u32 depth = config->depth ?: 1;

	if (!profile)
		return VESPER_NO_PROFILE;
	if (check_size(config))
		return VESPER_BAD_SIZE;
	if (!config->interrupt)
		return VESPER_NO_HANDLER;
	if (!has_storage(config))
		return VESPER_NO_STORAGE;
	if (depth > VESPER_DEPTH_MAX || (depth > 1 && depth > profile->queue_depth))
		return VESPER_BAD_DEPTH;
	return VESPER_OK;
}

static int prepare(struct state *state, const struct vesper_profile *profile)
{
	const struct vesper_config *config = &state->config;
	struct size size = { .scaling = config->scaling };
	int result;

	state->unit_bytes = nearer(config->block_bytes, SECTOR_BYTES);
	state->units_per_block = config->block_bytes / state->unit_bytes;
	size.unit_bytes = state->unit_bytes;
	size.units = config->blocks * state->units_per_block;
	result = drive_at_size(&state->device, &state->room, profile, &size);
	if (result)
		return result;
	state->device.drive.queue_depth = config->depth > 1 ? config->depth : 0;
	state->device.drive.arm.seed = config->seed;
	if (drive_check(&state->device.drive))
		return VESPER_NO_PROFILE;
	device_restart(&state->device, NULL, config->now_ns);
	return VESPER_OK;
}

int vesper_init(struct vesper *disk, const struct vesper_config *config)
{
	const struct vesper_profile *profile;
	struct state *state = (struct state *)disk;
	int result;

	if (!disk || !config)
		return VESPER_NULL;
	if (state_of(disk))
		return VESPER_TWICE;
	profile = profile_of(config);
	result = check(config, profile);
	if (result)
		return result;
	memset(state, 0, sizeof(*state));
	state->config = *config;
	if (!config->depth)
		state->config.depth = 1;
	result = prepare(state, profile);
	if (result) {
		memset(state, 0, sizeof(*state));
		return result;
	}
	state->now_ns = state->since_ns = state->free_ns = config->now_ns;
	state->magic = MAGIC;
	return VESPER_OK;
}

int vesper_exit(struct vesper *disk)
{
	struct state *state = state_of(disk);

	if (!state)
		return VESPER_NOT_READY;
	if (state->in_handler)
		return VESPER_IN_HANDLER;
	memset(state, 0, sizeof(*state));
	return VESPER_OK;
}

/* ---- issuing ---------------------------------------------------------------------------- */

/* Note that the drive has begun with a request, with the head at `head` before. */
static void begun(struct state *state, struct command *command, u64 head)
{
	struct slot *slot = (struct slot *)command;

	slot->after = NULL;
	if (state->first)
		state->last->after = slot;
	else
		state->first = slot;
	state->last = slot;
	slot->done.start_ns = command->start_ns;
	slot->done.done_ns = command->due_ns;
	slot->done.hit = command->hit;
	slot->shares =
		shares_of(&state->device.drive, command, head, state->device.drive_ns);
	state->statistics.idle_ns += command->start_ns - state->free_ns;
	state->free_ns = command->due_ns;
}

/* Let the drive begin with queued requests as it becomes free, until now. */
static void go_on(struct state *state)
{
	struct timed_device *device = &state->device;
	struct command *command;
	u64 head;

	do {
		u64 since_ns = device->free_ns - device->at_ns;

		head = device->queue.oldest ? shares_head(&device->drive,
							  device->drive_ns + since_ns)
					    : 0;
		command = device_next(device, state->now_ns);
		if (command)
			begun(state, command, head);
	} while (command);
}

static bool overlaps(const struct vesper_done *a, u64 start, u32 blocks, bool writes)
{
	return (writes || a->writes) && start < a->start_block + a->blocks &&
	       a->start_block < start + blocks;
}

static int find_slot(struct state *state, u64 start, u32 blocks, bool writes,
		     struct slot **found)
{
	u32 i;

	*found = NULL;
	if (state->pending >= state->config.depth)
		return VESPER_BUSY;
	for (i = 0; i < state->config.depth; i++) {
		struct slot *slot = &state->slot[i];

		if (!slot->is_used)
			*found = *found ?: slot;
		else if (overlaps(&slot->done, start, blocks, writes))
			return VESPER_OVERLAP;
	}
	return VESPER_OK;
}

static int check_request(const struct state *state, u64 start, u32 blocks,
			 const void *data)
{
	if (!state)
		return VESPER_NOT_READY;
	if (!data && !state->config.timing_only)
		return VESPER_NULL;
	if (!blocks)
		return VESPER_EMPTY;
	if (start >= state->config.blocks || blocks > state->config.blocks - start ||
	    blocks * state->units_per_block > U32_MAX)
		return VESPER_PAST_END;
	return VESPER_OK;
}

static void give(struct state *state, struct slot *slot)
{
	struct timed_device *device = &state->device;
	struct command *command = &slot->command;
	u64 head = 0;

	go_on(state);
	*command = (struct command){
		.sector = slot->done.start_block * state->units_per_block,
		.sectors = slot->done.blocks * state->units_per_block,
		.op = slot->done.writes ? IO_WRITE : IO_READ,
	};
	if (!device->busy)
		head = shares_head(&device->drive,
				   device->drive_ns + (state->now_ns - device->at_ns));
	device_give(device, command, state->now_ns);
	if (!command->waits)
		begun(state, command, head);
}

static int issue(struct vesper *disk, u64 start, u32 blocks, const void *data,
		 bool writes)
{
	struct state *state = state_of(disk);
	int result = check_request(state, start, blocks, data);
	struct slot *slot;

	if (!result)
		result = find_slot(state, start, blocks, writes, &slot);
	if (result)
		return result;
	slot->done = (struct vesper_done){
		.start_block = start,
		.blocks = blocks,
		.writes = writes,
		.data = (void *)data,
		.issued_ns = state->now_ns,
	};
	slot->is_used = true;
	state->pending++;
	give(state, slot);
	return VESPER_OK;
}

int vesper_read(struct vesper *disk, uint64_t start_block, uint32_t blocks, void *data)
{
	return issue(disk, start_block, blocks, data, false);
}

int vesper_write(struct vesper *disk, uint64_t start_block, uint32_t blocks,
		 const void *data)
{
	return issue(disk, start_block, blocks, data, true);
}

/* ---- completing ------------------------------------------------------------------------- */

static int move_data(const struct vesper_config *config, const struct vesper_done *done)
{
	char *place = (char *)config->memory + done->start_block * config->block_bytes;
	size_t bytes = (size_t)done->blocks * config->block_bytes;
	const struct vesper_storage *storage = &config->storage;

	if (config->timing_only)
		return VESPER_OK;
	if (!config->memory) {
		int error =
			done->writes
				? storage->write(storage->context, done->start_block,
						 done->blocks, done->data)
				: storage->read(storage->context, done->start_block,
						done->blocks, done->data);

		return error ? VESPER_IO : VESPER_OK;
	}
	if (done->writes)
		memcpy(place, done->data, bytes);
	else
		memcpy(done->data, place, bytes);
	return VESPER_OK;
}

static void count(struct state *state, const struct slot *slot)
{
	struct vesper_totals *sums = &state->statistics;
	u64 bytes = (u64)slot->command.sectors * state->unit_bytes;

	sums->seek_ns += slot->shares.seek_ns;
	sums->rotation_ns += slot->shares.rotation_ns;
	sums->transfer_ns += slot->shares.transfer_ns;
	sums->cache_ns += slot->shares.cache_ns;
	sums->requests++;
	sums->hits += slot->done.hit;
	sums->sectors += (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

/* Complete the oldest request that has begun. Its handler may issue the next one. */
static void complete(struct state *state)
{
	struct slot *slot = state->first;
	struct vesper_done done = slot->done;

	count(state, slot);
	done.result = move_data(&state->config, &done);
	state->first = slot->after;
	slot->is_used = false;
	state->pending--;
	state->in_handler = true;
	state->config.interrupt(state->config.context, &done);
	state->in_handler = false;
}

uint64_t vesper_next_ns(const struct vesper *disk)
{
	const struct state *state = state_of(disk);

	return state && state->first ? state->first->done.done_ns : VESPER_NEVER;
}

int vesper_advance(struct vesper *disk, uint64_t now_ns)
{
	struct state *state = state_of(disk);

	if (!state)
		return VESPER_NOT_READY;
	if (state->in_handler)
		return VESPER_IN_HANDLER;
	if (now_ns < state->now_ns)
		return VESPER_BACKWARDS;
	state->now_ns = now_ns;
	go_on(state);
	while (state->first && state->first->done.done_ns <= now_ns)
		complete(state);
	return VESPER_OK;
}

uint64_t vesper_now_ns(const struct vesper *disk)
{
	const struct state *state = state_of(disk);

	return state ? state->now_ns : 0;
}

/* ---- the rest --------------------------------------------------------------------------- */

int vesper_statistics(const struct vesper *disk, struct vesper_totals *statistics)
{
	const struct state *state = state_of(disk);

	if (!state)
		return VESPER_NOT_READY;
	if (!statistics)
		return VESPER_NULL;
	*statistics = state->statistics;
	statistics->elapsed_ns = state->now_ns - state->since_ns;
	if (state->now_ns > state->free_ns)
		statistics->idle_ns += state->now_ns - state->free_ns;
	return VESPER_OK;
}

int vesper_restart_statistics(struct vesper *disk)
{
	struct state *state = state_of(disk);

	if (!state)
		return VESPER_NOT_READY;
	state->statistics = (struct vesper_totals){ 0 };
	state->since_ns = state->now_ns;
	state->free_ns = later(state->free_ns, state->now_ns);
	return VESPER_OK;
}

const char *vesper_error(int result)
{
	static const char *const words[VESPER_RESULTS] = {
		"done",
		"the disk is not initialised: call vesper_init() first",
		"the disk is initialised already: call vesper_exit() first",
		"no such profile, or its table is damaged: export it again",
		"no disk has such blocks, or so many; a table may be for one size",
		"no storage: give memory, storage functions, or timing_only",
		"the drive does not queue that many requests",
		"no interrupt handler",
		"a pointer is NULL",
		"a request of no blocks",
		"the request ends past the end of the disk",
		"the disk is busy: wait for an interrupt, or give a larger depth",
		"the request shares a block with a pending one, and one of both writes",
		"the time is before the disk's clock",
		"not from within an interrupt handler",
		"the storage failed",
	};

	if (result > 0 || result <= -VESPER_RESULTS)
		return "no result of this library";
	return words[-result];
}
