// SPDX-License-Identifier: MIT
/*
 * The reader of block traces.  The table of outstanding requests is compared with a
 * list, and the merge of CPUs with a sort.  Further cases: skipped records, corrupt
 * files, and failed allocations.
 */
#include <string.h>

#include "../../host/traces/blktrace.h"
#include "check.h"

#define LIST 1500
#define LANES 5

static struct outstanding_request list[LIST]; /* in the order of insertion */
static u32 listed;

static u32 listed_at(u8 op, u64 at)
{
	u32 i = 0;

	while (i < listed && (list[i].op != op || list[i].at != at))
		i++;
	return i;
}

static void put_one(struct outstanding *table, struct draw *draw, u64 places)
{
	struct outstanding_request rq = {
		.at = draw_below(draw, places),
		.op = draw_below(draw, 2),
		.owner = draw_u64(draw),
	};

	list[listed++] = rq;
	CHECK_EQ(outstanding_put(table, &rq), 0);
}

static void take_one(struct outstanding *table, struct draw *draw, u64 places)
{
	u8 op = draw_below(draw, 2);
	u64 at = draw_below(draw, places);
	u32 i = listed_at(op, at);
	struct outstanding_request rq;

	CHECK_EQ(!!outstanding_find(table, op, at), i < listed);
	CHECK_EQ(outstanding_take(table, op, at, &rq), i < listed);
	if (i == listed)
		return;
	CHECK_EQ(rq.owner, list[i].owner);
	memmove(&list[i], &list[i + 1], (--listed - i) * sizeof(list[0]));
}

/* The table grows until it is full, with few or many positions, and then shrinks. */
static void outstanding_as_a_list(struct draw *draw)
{
	u64 places = 1 + draw_below(draw, 2 * LIST);
	struct outstanding table;
	u32 i;

	listed = 0;
	CHECK_EQ(outstanding_init(&table), 0);
	for (i = 0; i < LIST; i++) {
		put_one(&table, draw, places);
		if (!draw_below(draw, 8))
			take_one(&table, draw, places);
		CHECK_EQ(table.nr, listed);
	}
	for (i = 0; i < LIST; i++)
		take_one(&table, draw, places);
	CHECK_EQ(table.nr, listed);
	outstanding_exit(&table);
}

/* All events come out in order of time, and each lane's events in their own order. */
static void lanes_are_merged(struct draw *draw)
{
	struct lanes lanes;
	struct trace_event event, last = { 0 };
	u64 put_ns[LANES] = { 0 };
	u32 put[LANES] = { 0 };
	u32 got[LANES] = { 0 };
	u32 i, cpu, n = draw_below(draw, 12000);

	CHECK_EQ(lanes_init(&lanes), 0);
	for (i = 0; i < n; i++) {
		cpu = draw_below(draw, LANES);
		put_ns[cpu] += draw_below(draw, 3);
		event = (struct trace_event){ .time_ns = put_ns[cpu],
					      .sector = put[cpu]++,
					      .pid = cpu };
		CHECK_EQ(lane_put(lanes_get(&lanes, cpu * 2047), &event), 0);
	}
	for (i = 0; lanes_next(&lanes, &event); i++) {
		CHECK(event.time_ns > last.time_ns ||
		      (event.time_ns == last.time_ns && event.pid >= last.pid));
		CHECK_EQ(event.sector, got[event.pid]++);
		last = event;
	}
	CHECK_EQ(i, n);
	lanes_exit(&lanes);
}

static void at_one_instant_the_earlier_in_life_goes_first(void)
{
	struct trace_event event = { .time_ns = 5, .kind = TRACE_COMPLETE };
	struct lanes lanes;

	CHECK_EQ(lanes_init(&lanes), 0);
	CHECK_EQ(lane_put(lanes_get(&lanes, 0), &event), 0);
	event.kind = TRACE_ISSUE;
	CHECK_EQ(lane_put(lanes_get(&lanes, 1), &event), 0);
	CHECK(lanes_next(&lanes, &event) && event.kind == TRACE_ISSUE);
	CHECK(lanes_next(&lanes, &event) && event.kind == TRACE_COMPLETE);
	CHECK(!lanes_next(&lanes, &event));
	lanes_exit(&lanes);
}

/* Make a record of version 7 in this machine's byte order; each number has a sector of its own. */
static void make_record(u8 *bytes, u32 number, u32 action)
{
	u64 time_ns = number, sector = number / 2;
	u32 magic = RECORD_MAGIC + 7, length = 512;

	memset(bytes, 0, 48);
	memcpy(bytes, &magic, 4);
	memcpy(bytes + 4, &number, 4);
	memcpy(bytes + 8, &time_ns, 8);
	memcpy(bytes + 16, &sector, 8);
	memcpy(bytes + 24, &length, 4);
	memcpy(bytes + 28, &action, 4);
}

/* Whichever allocation fails, the reader reports that, and no row is lost silently. */
static void no_memory(void)
{
	struct blktrace *trace;
	struct blktrace_row row;
	u8 bytes[4 * 48];
	u32 allowed = 0;
	u32 i, fault;

	for (i = 0; i < 4; i++)
		make_record(bytes + 48 * i, i, i % 2 ? RECORD_COMPLETE : RECORD_ISSUE);
	do {
		port_grant(allowed++);
		trace = blktrace_new();
		if (!trace) {
			CHECK(port_refused());
			fault = BLKTRACE_NO_MEMORY;
			continue;
		}
		blktrace_begin(trace);
		blktrace_feed(trace, bytes, sizeof(bytes));
		if (!trace->fault)
			blktrace_rows(trace, &row, 1);
		fault = trace->fault;
		CHECK_EQ(fault, port_refused() ? BLKTRACE_NO_MEMORY : BLKTRACE_WHOLE);
		blktrace_free(trace);
	} while (fault);
	CHECK(allowed > 8);
}

/* Feed a record of version 7 in which one field, width bytes at offset at, has this value. */
static struct blktrace *fed_with(u32 action, u32 at, u64 value, u32 width)
{
	struct blktrace *trace = blktrace_new();
	u8 bytes[2 * 48];

	make_record(bytes, 1, RECORD_ISSUE);
	make_record(bytes + 48, 2, action);
	memcpy(bytes + 48 + at, &value, width);
	blktrace_begin(trace);
	blktrace_feed(trace, bytes, sizeof(bytes));
	return trace;
}

static void breaks_off(u32 at, u64 value, u32 width, u32 fault)
{
	struct blktrace *trace = fed_with(RECORD_QUEUE, at, value, width);
	u8 bytes[48];

	CHECK_EQ(trace->fault, fault);
	CHECK_EQ(trace->records, fault ? 1 : 2);
	CHECK_EQ(trace->offset, fault ? 48 : 96);
	if (fault)
		CHECK_EQ(trace->value, value);
	make_record(bytes, 9, RECORD_QUEUE);
	CHECK_EQ(blktrace_feed(trace, bytes, sizeof(bytes)), fault ? 0 : 48);
	blktrace_begin(trace);
	CHECK_EQ(trace->fault + trace->records + trace->offset, 0);
	CHECK_EQ(blktrace_feed(trace, bytes, sizeof(bytes)), 48);
	blktrace_free(trace);
}

static void where_files_break_off(void)
{
	breaks_off(0, RECORD_MAGIC + 7, 4, BLKTRACE_WHOLE);
	breaks_off(0, RECORD_MAGIC + 8, 4, BLKTRACE_BAD_MAGIC);
	breaks_off(8, 1ull << 63, 8, BLKTRACE_BAD_TIME);
	breaks_off(8, (1ull << 63) - 1, 8, BLKTRACE_WHOLE);
	breaks_off(16, 1ull << 63, 8, BLKTRACE_BAD_SECTOR);
	breaks_off(16, (1ull << 63) - 1, 8, BLKTRACE_WHOLE);
	breaks_off(36, 1, 4, BLKTRACE_OTHER_DEVICE);
	breaks_off(40, LANES_MAX, 4, BLKTRACE_BAD_CPU);
	breaks_off(40, LANES_MAX - 1, 4, BLKTRACE_WHOLE);
}

/* Only the first bytes of the next record are there, but they suffice to reject it. */
static void a_wrong_beginning_is_told_at_once(void)
{
	struct blktrace *trace = blktrace_new();
	u8 bytes[48 + RECORD_MAGIC_BYTES];
	u32 i;

	for (i = 0; i < 2; i++) {
		make_record(bytes, 1, RECORD_ISSUE);
		memcpy(bytes + 48, bytes, RECORD_MAGIC_BYTES);
		bytes[48] += i;
		blktrace_begin(trace);
		CHECK_EQ(blktrace_feed(trace, bytes, sizeof(bytes)), 48);
		CHECK_EQ(trace->fault, i ? BLKTRACE_BAD_MAGIC : BLKTRACE_WHOLE);
	}
	blktrace_free(trace);
}

/*
 * Check the count of one reason; all other counts must be 0. The first record's issue, and records
 * of queued requests, are not counted.
 */
static void counts(struct blktrace *trace, u32 reason, u64 count)
{
	struct blktrace_row row;
	u32 i;

	trace->completed = true; /* otherwise issues would be rows */
	CHECK_EQ(blktrace_rows(trace, &row, 1), 0);
	trace->left_out[LEFT_OUT_UNCOMPLETED]--;
	trace->left_out[LEFT_OUT_UNISSUED_QUEUES] = 0;
	for (i = 0; i < LEFT_OUT_REASONS; i++)
		CHECK_EQ(trace->left_out[i], i == reason ? count : 0);
	blktrace_free(trace);
}

static void what_is_counted(void)
{
	u32 issue = RECORD_ISSUE;

	counts(fed_with(issue | RECORD_PASSTHROUGH, 0, 0, 0), LEFT_OUT_PASSTHROUGH, 1);
	counts(fed_with(issue | RECORD_DISCARD, 0, 0, 0), LEFT_OUT_DISCARDS, 1);
	counts(fed_with(issue | RECORD_FLUSH, 24, 511, 4), LEFT_OUT_FLUSHES, 1);
	counts(fed_with(issue, 24, 511, 4), LEFT_OUT_EMPTY, 1);
	counts(fed_with(issue | RECORD_FLUSH, 24, 512, 4), LEFT_OUT_UNCOMPLETED, 1);
	counts(fed_with(RECORD_QUEUE, 24, 0, 4), LEFT_OUT_EMPTY, 0);
	counts(fed_with(RECORD_COMPLETE, 16, 99, 8), LEFT_OUT_UNISSUED, 1);
	counts(fed_with(RECORD_COMPLETE | RECORD_DISCARD, 0, 0, 0), LEFT_OUT_EMPTY, 0);
	counts(fed_with(issue | RECORD_NOTE, 4, 77, 4), LEFT_OUT_EMPTY, 0);
	counts(fed_with(RECORD_QUEUE, 4, 3, 4), LEFT_OUT_LOST, 1);
	counts(fed_with(RECORD_QUEUE, 4, 1, 4), LEFT_OUT_REPEATED, 1);
	counts(fed_with(RECORD_QUEUE, 8, 0, 8), LEFT_OUT_BACKWARDS, 1);
	counts(fed_with(RECORD_QUEUE, 8, 1, 8), LEFT_OUT_BACKWARDS, 0);
}

/*
 * 4 sectors are queued at 100 and split; then a request that starts at 102 is served.
 * When did it arrive?
 */
static u64 arrived_if_split_at(u64 at)
{
	struct blktrace *trace = blktrace_new();
	u32 actions[] = { RECORD_QUEUE, RECORD_SPLIT, RECORD_ISSUE, RECORD_COMPLETE };
	u64 sectors[] = { 100, 100, 102, 102 };
	u8 bytes[4 * 48 + 8];
	u8 *next = bytes;
	struct blktrace_row row = { 0 };
	u32 i, bit;

	for (i = 0; i < 4; i++) {
		make_record(next, i + 1, actions[i]);
		memcpy(next + 16, &sectors[i], 8);
		next += 48;
		if (actions[i] == RECORD_SPLIT) {
			next[-2] = 8; /* the payload's length */
			for (bit = 64; bit; bit -= 8)
				*next++ = at >> (bit - 8);
		}
	}
	blktrace_begin(trace);
	CHECK_EQ(blktrace_feed(trace, bytes, sizeof(bytes)), sizeof(bytes));
	CHECK_EQ(blktrace_rows(trace, &row, 1), 1);
	CHECK_EQ(row.sector, 102);
	blktrace_free(trace);
	return row.arrival_ns;
}

static void what_is_split_off_came_with_the_rest(void)
{
	CHECK_EQ(arrived_if_split_at(102), 1);
	CHECK_EQ(arrived_if_split_at(101), 3);
	CHECK_EQ(arrived_if_split_at(103), 3);
	CHECK_EQ(arrived_if_split_at(100), 3);
	CHECK_EQ(arrived_if_split_at(102 + (1ull << 32)), 3);
	CHECK_EQ(arrived_if_split_at(0), 3);
}

int main(void)
{
	check_seeds(30, outstanding_as_a_list);
	check_seeds(30, lanes_are_merged);
	at_one_instant_the_earlier_in_life_goes_first();
	where_files_break_off();
	a_wrong_beginning_is_told_at_once();
	what_is_counted();
	what_is_split_off_came_with_the_rest();
	no_memory();
	return 0;
}
