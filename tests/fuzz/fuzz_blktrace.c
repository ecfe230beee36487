// SPDX-License-Identifier: MIT
/*
 * Turn bytes into a trace: either the bytes themselves, or records with mostly plausible fields, in
 * a few files.  Each piece fed lies in memory of exactly its size, so that the sanitizer detects
 * reads past its end.  Rows must be plausible, and every record of an undamaged file must be
 * accounted for.
 */
#include <string.h>

#include "../../host/traces/blktrace.h"
#include "../core/check.h"

#define BYTES_MAX 65536
#define ROWS 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The remaining bytes; zeros follow the last byte. */
struct program {
	const u8 *byte, *end;
};

static u8 file[BYTES_MAX];

static u32 take(struct program *program, u32 below)
{
	return program->byte < program->end ? *program->byte++ % below : 0;
}

static u32 put(u32 at, u64 value, u32 bytes)
{
	memcpy(&file[at], &value, bytes);
	return at + bytes;
}

/* Make a record of version 7 with few positions and rising times; now and then a field is wrong. */
static u32 make_record(struct program *program, u32 at, u64 *now_ns)
{
	static const u16 action[] = {
		RECORD_QUEUE,
		RECORD_ISSUE,
		RECORD_COMPLETE,
		RECORD_BACK_MERGE,
		RECORD_QUEUE,
		RECORD_ISSUE,
		RECORD_COMPLETE,
		RECORD_FRONT_MERGE,
		RECORD_SPLIT,
		RECORD_REQUEUE,
		RECORD_SPLIT | RECORD_CGROUP,
	};
	u32 payload = take(program, 20);
	u32 wrong = take(program, 256);
	u32 bits = (wrong & 1) << 17 | (wrong < 8 ? RECORD_DISCARD : 0);

	*now_ns += take(program, 8);
	at = put(at, RECORD_MAGIC + (wrong == 10 ? 8 : 7), 4);
	at = put(at, *now_ns, 4);
	at = put(at, *now_ns - (wrong < 16 ? 5 : 0), 8);
	at = put(at, wrong == 17 ? U64_MAX : take(program, 4) * 8, 8);
	at = put(at, take(program, 5) * 2048, 4);
	at = put(at, bits | action[take(program, ARRAY_SIZE(action))], 4);
	at = put(at, wrong, 4);
	at = put(at, 8 << 20 | (wrong == 18), 4);
	at = put(at, wrong == 19 ? U32_MAX : take(program, 3), 4);
	at = put(at, 0, 2);
	at = put(at, payload, 2);
	memset(&file[at], 0, payload);
	if (payload)
		file[at + payload - 1] = take(program, 40);
	return at + payload;
}

static u32 make_file(struct program *program)
{
	u64 now_ns = 100;
	u32 n = 0;
	u32 records;

	if (!take(program, 4)) {
		n = program->end - program->byte;
		n = n < BYTES_MAX ? n : BYTES_MAX;
		memcpy(file, program->byte, n);
		return put(0, RECORD_MAGIC + 7 + take(program, 2), 4) > n ? 4 : n;
	}
	for (records = take(program, 256); records; records--)
		n = make_record(program, n, &now_ns);
	return n - take(program, 2) * (n > 0);
}

/* Feed n bytes in pieces, and offer again what was not consumed. */
static void feed(struct blktrace *trace, struct program *program, u32 n)
{
	u32 piece = 0;
	u64 taken;
	u32 at = 0;
	u8 *copy;

	blktrace_begin(trace);
	while (at + piece < n && !trace->fault) {
		piece += 1 + take(program, 256) * 8;
		if (piece > n - at)
			piece = n - at;
		copy = malloc(piece);
		memcpy(copy, &file[at], piece);
		taken = blktrace_feed(trace, copy, piece);
		free(copy);
		CHECK(taken <= piece);
		at += taken;
		piece -= taken;
		CHECK_EQ(trace->offset, at);
		CHECK(trace->fault || piece < RECORD_BYTES_MAX);
	}
}

static u64 check_rows(struct blktrace *trace)
{
	struct blktrace_row row[ROWS];
	u64 last_ns = 0;
	u64 all = 0;
	u64 n, i;

	do {
		n = blktrace_rows(trace, row, ROWS);
		for (i = 0; i < n; i++) {
			CHECK(row[i].arrival_ns <= row[i].dispatch_ns);
			CHECK(row[i].dispatch_ns <= row[i].completion_ns);
			CHECK(row[i].completion_ns >= last_ns);
			CHECK(row[i].sectors > 0 && row[i].op < 2);
			last_ns = row[i].completion_ns;
		}
		all += n;
	} while (n == ROWS);
	return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program program = { data, data + size };
	struct blktrace *trace = blktrace_new();
	u32 files = 1 + take(&program, 3);
	u64 records = 0;

	CHECK(trace);
	while (files--) {
		feed(trace, &program, make_file(&program));
		records += trace->records;
	}
	CHECK((1 + trace->completed) * check_rows(trace) +
		      trace->left_out[LEFT_OUT_UNISSUED] +
		      trace->left_out[LEFT_OUT_UNCOMPLETED] <=
	      records);
	blktrace_free(trace);
	return 0;
}
