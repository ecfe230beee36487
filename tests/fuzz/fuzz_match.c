// SPDX-License-Identifier: MIT
/*
 * Turn bytes into events of few places, with rising times now and then reversed, and match them.
 * Passing the events in blocks must give the same rows as passing one after the other, each row must
 * be that of a completion, and no event may be counted twice.
 */
#include <string.h>

#include "../../host/traces/match.h"
#include "../core/check.h"

#define EVENTS_MAX 2048
#define BLOCK_MAX 64
#define EVENT_BYTES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct trace_event event[EVENTS_MAX];
static u64 seen[TRACE_COMPLETE + 1];

static u64 make_events(const u8 *data, u64 size)
{
	static const u8 kind[] = {
		TRACE_QUEUE,	TRACE_ISSUE,	TRACE_COMPLETE, TRACE_BACK_MERGE,
		TRACE_ISSUE,	TRACE_COMPLETE, TRACE_SPLIT,	TRACE_FRONT_MERGE,
		TRACE_COMPLETE, TRACE_REQUEUE,
	};
	u64 n = size / EVENT_BYTES < EVENTS_MAX ? size / EVENT_BYTES : EVENTS_MAX;
	u64 now_ns = 1000;
	u64 i;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < n; i++, data += EVENT_BYTES) {
		now_ns += data[0] & 15;
		event[i] = (struct trace_event){
			.time_ns = data[0] > 250 ? 7 : now_ns,
			.sector = data[1] > 250 ? U64_MAX - data[2] : data[1] % 6 * 4,
			.sectors = data[2] > 250   ? U32_MAX
				   : data[2] > 180 ? 1 + data[2] % 9
						   : 4,
			.pid = data[0],
			.kind = kind[(data[3] >> 1) % ARRAY_SIZE(kind)],
			.op = data[3] & 1,
		};
		seen[event[i].kind]++;
	}
	return n;
}

static bool same(const struct blktrace_row *a, const struct blktrace_row *b)
{
	return a->arrival_ns == b->arrival_ns && a->dispatch_ns == b->dispatch_ns &&
	       a->completion_ns == b->completion_ns && a->sector == b->sector &&
	       a->sectors == b->sectors && a->owner == b->owner && a->op == b->op;
}

static void check_row(const struct blktrace_row *row, const struct trace_event *from,
		      u64 n)
{
	CHECK(row->event < n);
	CHECK_EQ(from[row->event].kind, TRACE_COMPLETE);
	CHECK_EQ(from[row->event].time_ns, row->completion_ns);
	CHECK_EQ(from[row->event].op, row->op);
	CHECK(row->sectors > 0);
}

/* Match a block of the events, and compare it with the same events one after the other. */
static u64 match_block(struct match *blocks, struct match *single,
		       const struct trace_event *from, u64 n)
{
	struct blktrace_row row[BLOCK_MAX], one;
	s64 rows = match_events(blocks, from, n, row);
	s64 made = 0;
	u64 i;

	CHECK(rows >= 0 && (u64)rows <= n);
	for (i = 0; i < n; i++) {
		if (!match_event(single, &from[i], &one))
			continue;
		CHECK(made < rows);
		CHECK_EQ(row[made].event, i);
		CHECK(same(&row[made], &one));
		check_row(&row[made++], from, n);
	}
	CHECK_EQ(made, rows);
	return rows;
}

static void check_counts(const struct match *match, u64 rows)
{
	u64 issues = seen[TRACE_ISSUE];
	u64 queues = seen[TRACE_QUEUE] + seen[TRACE_SPLIT];

	CHECK(rows + match_uncompleted(match) + match->reissued <= issues);
	CHECK(rows + match->unissued <= seen[TRACE_COMPLETE]);
	CHECK(match_unissued_queues(match) <= queues);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u64 n = make_events(data, size);
	struct match *blocks = match_new();
	struct match *single = match_new();
	u64 rows = 0;
	u64 at, part;

	CHECK(blocks && single);
	for (at = 0; at < n; at += part) {
		part = 1 + event[at].pid % BLOCK_MAX;
		part = part < n - at ? part : n - at;
		rows += match_block(blocks, single, &event[at], part);
	}
	check_counts(blocks, rows);
	check_counts(single, rows);
	match_free(blocks);
	match_free(single);
	return 0;
}
