// SPDX-License-Identifier: MIT
/* How block-layer events become requests, one request at a time; the instants are 1, 2, 3 ... */
#include "../../host/traces/match.h"
#include "check.h"

#define READ 0
#define WRITE 1

static struct match match;
static struct blktrace_row row;
static u64 now_ns;

static int happens_to(u8 op, u8 kind, u64 sector, u32 sectors)
{
	struct trace_event event = { .time_ns = ++now_ns,
				     .sector = sector,
				     .sectors = sectors,
				     .pid = 100 + now_ns,
				     .kind = kind,
				     .op = op };

	return match_event(&match, &event, &row);
}

static int happens(u8 kind, u64 sector, u32 sectors)
{
	return happens_to(READ, kind, sector, sectors);
}

static void begin(void)
{
	CHECK_EQ(match_init(&match), 0);
	now_ns = 0;
}

static void end(u64 unissued, u64 uncompleted)
{
	CHECK_EQ(match.unissued, unissued);
	CHECK_EQ(match_uncompleted(&match), uncompleted);
	match_exit(&match);
}

/* Expect the row of the request that has just completed. */
static void expect(u64 arrival_ns, u64 dispatch_ns, u64 sector, u32 sectors)
{
	CHECK_EQ(row.arrival_ns, arrival_ns);
	CHECK_EQ(row.owner, 100 + arrival_ns);
	CHECK_EQ(row.dispatch_ns, dispatch_ns);
	CHECK_EQ(row.completion_ns, now_ns);
	CHECK_EQ(row.sector, sector);
	CHECK_EQ(row.sectors, sectors);
}

static void served(u64 sector, u32 sectors)
{
	CHECK_EQ(happens(TRACE_ISSUE, sector, sectors), 0);
	CHECK_EQ(happens(TRACE_COMPLETE, sector, sectors), 1);
}

static void queued_twice(void)
{
	begin();
	happens(TRACE_QUEUE, 8, 8);
	happens(TRACE_QUEUE, 8, 8);
	served(8, 8);
	expect(2, 3, 8, 8);
	served(8, 8);
	expect(5, 5, 8, 8);
	CHECK_EQ(match_unissued_queues(&match), 1);
	end(0, 0);
}

static void issued_twice(void)
{
	begin();
	happens(TRACE_ISSUE, 8, 8);
	served(8, 8);
	expect(2, 2, 8, 8);
	CHECK_EQ(match.reissued, 1);
	CHECK_EQ(happens(TRACE_COMPLETE, 8, 8), 0);
	end(1, 0);
}

static void completed_beyond_what_was_issued(void)
{
	begin();
	happens(TRACE_ISSUE, 8, 8);
	CHECK_EQ(happens(TRACE_COMPLETE, 8, 16), 0);
	CHECK_EQ(happens(TRACE_COMPLETE, 8, 8), 1);
	expect(1, 1, 8, 8);
	end(1, 0);
}

static void split_and_queued_again(void)
{
	begin();
	happens(TRACE_QUEUE, 0, 16);
	happens(TRACE_SPLIT, 0, 8);
	happens(TRACE_QUEUE, 8, 8);
	served(8, 8);
	expect(1, 4, 8, 8);
	served(0, 8);
	CHECK_EQ(match_unissued_queues(&match), 0);
	end(0, 0);
}

static void merged_behind(void)
{
	begin();
	happens(TRACE_QUEUE, 8, 8);
	happens(TRACE_QUEUE, 16, 8);
	happens(TRACE_BACK_MERGE, 16, 8);
	served(8, 16);
	expect(1, 4, 8, 16);
	served(16, 8);
	expect(6, 6, 16, 8);
	end(0, 0);
}

static void merged_in_front(void)
{
	begin();
	happens(TRACE_QUEUE, 16, 8);
	happens(TRACE_QUEUE, 8, 8);
	happens(TRACE_FRONT_MERGE, 8, 8);
	served(8, 16);
	expect(2, 4, 8, 16);
	served(16, 8);
	expect(6, 6, 16, 8);
	end(0, 0);
}

static void split_in_three(void)
{
	begin();
	happens(TRACE_SPLIT, 0, 8);
	happens(TRACE_QUEUE, 8, 24);
	happens(TRACE_SPLIT, 8, 8);
	happens(TRACE_SPLIT, 16, 8);
	served(24, 8);
	CHECK_EQ(row.owner, 102);
	CHECK_EQ(row.arrival_ns, 2);
	served(16, 8);
	expect(2, 7, 16, 8);
	served(8, 8);
	expect(2, 9, 8, 8);
	served(8, 8);
	expect(11, 11, 8, 8);
	end(0, 0);
}

static void requeued_and_in_parts(void)
{
	begin();
	happens(TRACE_QUEUE, 8, 8);
	happens(TRACE_ISSUE, 8, 8);
	CHECK_EQ(happens(TRACE_COMPLETE, 8, 3), 0);
	happens(TRACE_REQUEUE, 11, 5);
	CHECK_EQ(match_uncompleted(&match), 1);
	happens(TRACE_ISSUE, 11, 5);
	CHECK_EQ(happens(TRACE_COMPLETE, 11, 4), 0);
	CHECK_EQ(happens(TRACE_COMPLETE, 15, 1), 1);
	expect(1, 2, 8, 8);
	end(0, 0);
}

static void grown_while_back(void)
{
	begin();
	happens(TRACE_ISSUE, 8, 8);
	happens(TRACE_REQUEUE, 8, 8);
	happens(TRACE_ISSUE, 8, 12);
	CHECK_EQ(happens(TRACE_COMPLETE, 8, 11), 0);
	CHECK_EQ(happens(TRACE_COMPLETE, 19, 1), 1);
	expect(1, 1, 8, 12);
	end(0, 0);
}

static void completed_while_back(void)
{
	begin();
	happens(TRACE_ISSUE, 8, 8);
	happens(TRACE_REQUEUE, 8, 8);
	CHECK_EQ(happens(TRACE_COMPLETE, 8, 8), 1);
	expect(1, 1, 8, 8);
	end(0, 0);
}

static void of_both_kinds_at_one_place(void)
{
	begin();
	happens_to(WRITE, TRACE_QUEUE, 8, 8);
	happens(TRACE_ISSUE, 8, 8);
	happens_to(WRITE, TRACE_ISSUE, 8, 8);
	CHECK_EQ(happens_to(WRITE, TRACE_COMPLETE, 8, 8), 1);
	CHECK_EQ(row.op, WRITE);
	expect(1, 3, 8, 8);
	CHECK_EQ(happens(TRACE_COMPLETE, 8, 8), 1);
	CHECK_EQ(row.op, READ);
	expect(2, 2, 8, 8);
	end(0, 0);
}

static void what_is_missing(void)
{
	begin();
	CHECK_EQ(happens(TRACE_COMPLETE, 8, 8), 0);
	CHECK_EQ(happens(TRACE_REQUEUE, 8, 8), 0);
	happens(TRACE_ISSUE, 16, 8);
	happens(TRACE_ISSUE, 24, 8);
	happens(TRACE_REQUEUE, 24, 8);
	end(1, 2);
}

int main(void)
{
	queued_twice();
	issued_twice();
	completed_beyond_what_was_issued();
	split_and_queued_again();
	merged_behind();
	merged_in_front();
	split_in_three();
	requeued_and_in_parts();
	grown_while_back();
	completed_while_back();
	of_both_kinds_at_one_place();
	what_is_missing();
	return 0;
}
