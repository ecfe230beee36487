// SPDX-License-Identifier: MIT
#include "blktrace.h"

#define SECTOR_SHIFT 9
#define NO_EVENT 0xff
#define NUMBER_END (1ull << 63)

struct blktrace *blktrace_new(void)
{
	struct blktrace *trace = port_zalloc(sizeof(*trace));

	if (trace && (lanes_init(&trace->lanes) || match_init(&trace->match))) {
		blktrace_free(trace);
		trace = NULL;
	}
	return trace;
}

void blktrace_free(struct blktrace *trace)
{
	match_exit(&trace->match);
	lanes_exit(&trace->lanes);
	port_free(trace);
}

void blktrace_begin(struct blktrace *trace)
{
	trace->fault = BLKTRACE_WHOLE;
	trace->records = trace->offset = trace->value = 0;
	trace->began = false;
}

static bool fail(struct blktrace *trace, u32 fault, u64 value)
{
	trace->fault = fault;
	trace->value = value;
	return false;
}

/* The first record of a file determines the layout of all its records. */
static bool check_magic(struct blktrace *trace, const u8 *bytes)
{
	u32 magic;

	if (!trace->began && !record_layout_of(bytes, &trace->layout))
		return fail(trace, BLKTRACE_BAD_MAGIC,
			    record_magic(&trace->layout, bytes));
	trace->began = true;
	magic = record_magic(&trace->layout, bytes);
	return magic == RECORD_MAGIC + trace->layout.version ||
	       fail(trace, BLKTRACE_BAD_MAGIC, magic);
}

static bool check_device(struct blktrace *trace, u32 device)
{
	if (!trace->has_device)
		trace->device = device;
	trace->has_device = true;
	return device == trace->device || fail(trace, BLKTRACE_OTHER_DEVICE, device);
}

/*
 * Return whether the record is newer than the lane's last record. Leave out a record if its
 * processor has used the record's number before. If numbers are missing, the records after the gap
 * are still used.
 */
static bool is_next(struct blktrace *trace, struct lane *lane,
		    const struct record *record)
{
	s32 step = lane->began ? (s32)(record->sequence - lane->sequence) : 1;
	bool earlier = record->time_ns < lane->time_ns;

	if (step > 1)
		trace->left_out[LEFT_OUT_LOST] += step - 1;
	if (step < 1)
		trace->left_out[LEFT_OUT_REPEATED]++;
	else if (earlier)
		trace->left_out[LEFT_OUT_BACKWARDS]++;
	if (step > 0 || !earlier)
		lane->sequence = record->sequence;
	if (!earlier)
		lane->time_ns = record->time_ns;
	lane->began = true;
	return step > 0 && !earlier;
}

static u8 kind_of(const struct record *record)
{
	switch (record->action & 0xff) {
	case RECORD_QUEUE:
		return TRACE_QUEUE;
	case RECORD_BACK_MERGE:
		return TRACE_BACK_MERGE;
	case RECORD_FRONT_MERGE:
		return TRACE_FRONT_MERGE;
	case RECORD_REQUEUE:
		return TRACE_REQUEUE;
	case RECORD_ISSUE:
		return TRACE_ISSUE;
	case RECORD_COMPLETE:
		return TRACE_COMPLETE;
	case RECORD_SPLIT:
		return TRACE_SPLIT;
	default:
		return NO_EVENT;
	}
}

/*
 * Return the reason for leaving a request out, or LEFT_OUT_REASONS if the request is a read or
 * write.
 */
static u32 why_left_out(const struct record *record)
{
	if (record->action & RECORD_PASSTHROUGH)
		return LEFT_OUT_PASSTHROUGH;
	if (record->action & RECORD_WITHOUT_TRANSFER)
		return LEFT_OUT_WITHOUT_TRANSFER;
	if (record->action & RECORD_DISCARD)
		return LEFT_OUT_DISCARDS;
	if (record->bytes >> SECTOR_SHIFT)
		return LEFT_OUT_REASONS;
	return record->action & RECORD_FLUSH ? LEFT_OUT_FLUSHES : LEFT_OUT_EMPTY;
}

/*
 * Find the first sector of the second part of a split request. Return false if the payload is not a
 * later sector than the request's first sector.
 */
static bool find_split(const struct record *record, struct trace_event *event)
{
	u64 sector;

	if (!record_split_at(record, &sector) || sector <= record->sector ||
	    sector - record->sector > U32_MAX)
		return false;
	event->sectors = sector - record->sector;
	return true;
}

static bool put_event(struct blktrace *trace, struct lane *lane,
		      const struct record *record, u8 kind)
{
	struct trace_event event = {
		.time_ns = record->time_ns,
		.sector = record->sector,
		.sectors = record->bytes >> SECTOR_SHIFT,
		.pid = record->pid,
		.kind = kind,
		.op = !!(record->action & RECORD_WRITE),
	};

	if (record->sector >= NUMBER_END)
		return fail(trace, BLKTRACE_BAD_SECTOR, record->sector);
	if (kind == TRACE_SPLIT && !find_split(record, &event))
		return true;
	return !lane_put(lane, &event) || fail(trace, BLKTRACE_NO_MEMORY, 0);
}

static bool take(struct blktrace *trace, const struct record *record)
{
	u8 kind = kind_of(record);
	struct lane *lane;
	u32 why;

	/* Notes are not numbered. */
	if (record->action & RECORD_NOTE)
		return true;
	if (!check_device(trace, record->device))
		return false;
	if (record->cpu >= LANES_MAX)
		return fail(trace, BLKTRACE_BAD_CPU, record->cpu);
	if (record->time_ns >= NUMBER_END)
		return fail(trace, BLKTRACE_BAD_TIME, record->time_ns);
	lane = lanes_get(&trace->lanes, record->cpu);
	if (!lane)
		return fail(trace, BLKTRACE_NO_MEMORY, 0);
	if (!is_next(trace, lane, record) || kind == NO_EVENT)
		return true;
	trace->completed |= kind == TRACE_COMPLETE;
	why = kind == TRACE_SPLIT ? LEFT_OUT_REASONS : why_left_out(record);
	if (why == LEFT_OUT_REASONS)
		return put_event(trace, lane, record, kind);
	if (kind == TRACE_ISSUE)
		trace->left_out[why]++;
	return true;
}

u64 blktrace_feed(struct blktrace *trace, const u8 *bytes, u64 n)
{
	struct record record;
	u64 at = 0;
	u32 size;

	while (!trace->fault && n - at >= RECORD_MAGIC_BYTES) {
		if (!check_magic(trace, bytes + at))
			break;
		size = record_decode(&trace->layout, bytes + at, n - at, &record);
		if (!size || !take(trace, &record))
			break;
		at += size;
		trace->offset += size;
		trace->records++;
	}
	return at;
}

/* Like match_event(); if the trace has no completions, an issue completes its request. */
static int match_next(struct blktrace *trace, struct trace_event *event,
		      struct blktrace_row *row)
{
	int made = match_event(&trace->match, event, row);

	if (made || trace->completed || event->kind != TRACE_ISSUE)
		return made;
	event->kind = TRACE_COMPLETE;
	return match_event(&trace->match, event, row);
}

u64 blktrace_rows(struct blktrace *trace, struct blktrace_row *row, u64 max)
{
	struct trace_event event;
	u64 n = 0;
	int made;

	while (n < max && lanes_next(&trace->lanes, &event)) {
		made = match_next(trace, &event, &row[n]);
		if (made < 0) {
			trace->fault = BLKTRACE_NO_MEMORY;
			break;
		}
		n += made;
	}
	trace->left_out[LEFT_OUT_UNISSUED] = trace->match.unissued;
	trace->left_out[LEFT_OUT_REISSUED] = trace->match.reissued;
	trace->left_out[LEFT_OUT_UNISSUED_QUEUES] =
		match_unissued_queues(&trace->match);
	trace->left_out[LEFT_OUT_UNCOMPLETED] = match_uncompleted(&trace->match);
	return n;
}
