/* SPDX-License-Identifier: MIT */
/*
 * The kernel's binary block traces, bytes in and requests out.
 *
 * The files of one trace, one a processor or all in one, are fed one after the other, each
 * in pieces of any size.  Then rows are asked for until there are no more.  What is no row
 * is counted, and where a file breaks off is kept; the bytes are trusted in nothing.
 *
 * Memory: 32 bytes for each event of a request's life (it was queued, merged, split,
 * issued, requeued, completed), and some 100 for each request that is outstanding.
 */
#ifndef UNDERSTUDY_TRACES_BLKTRACE_H
#define UNDERSTUDY_TRACES_BLKTRACE_H

#include "match.h"
#include "record.h"

/* Why a file breaks off, or why there is no going on. */
enum blktrace_fault {
	BLKTRACE_WHOLE,
	BLKTRACE_NO_MEMORY,
	BLKTRACE_BAD_MAGIC,
	BLKTRACE_BAD_CPU,
	BLKTRACE_BAD_TIME,
	BLKTRACE_BAD_SECTOR,
	BLKTRACE_OTHER_DEVICE,
};

/* What is in no row, by why. */
enum blktrace_left_out {
	LEFT_OUT_UNISSUED, /* completions of what was not seen to be issued */
	LEFT_OUT_UNCOMPLETED, /* issued, and not seen to complete */
	LEFT_OUT_FLUSHES, /* issued, as the next four; without data */
	LEFT_OUT_DISCARDS,
	LEFT_OUT_PASSTHROUGH,
	LEFT_OUT_WITHOUT_TRANSFER, /* zones managed, zeroes written without data */
	LEFT_OUT_EMPTY, /* reads and writes of no sector */
	LEFT_OUT_REPEATED, /* records whose number their processor has given before */
	LEFT_OUT_BACKWARDS, /* records from before their processor's last one */
	LEFT_OUT_LOST, /* records whose numbers are missing */
	LEFT_OUT_REASONS,
};

/**
 * struct blktrace - a trace being read
 * @fault: of the file being fed
 * @value: what is wrong there: the magic number, processor, time, sector or device
 * @records: of the file being fed that were taken; the next one is at @offset
 * @device: what is traced, once @has_device
 */
struct blktrace {
	u32 fault;
	u64 value, records, offset;
	u32 device;
	u64 left_out[LEFT_OUT_REASONS];
	bool has_device, began;
	struct record_layout layout;
	struct lanes lanes;
	struct match match;
};

/* NULL: no memory. */
struct blktrace *blktrace_new(void);
void blktrace_free(struct blktrace *trace);

/* The next file begins, without a fault. */
void blktrace_begin(struct blktrace *trace);

/*
 * How many of the bytes were taken: all whole records.  Those that are left, fewer than
 * RECORD_BYTES_MAX, come again with what follows them.  After a fault nothing is taken.
 */
u64 blktrace_feed(struct blktrace *trace, const u8 *bytes, u64 n);

/*
 * The next rows, in order of completion; fewer than max: there are no more, or there was no
 * memory, which is the fault then.  Nothing is fed after the first call.
 */
u64 blktrace_rows(struct blktrace *trace, struct blktrace_row *row, u64 max);

#endif
