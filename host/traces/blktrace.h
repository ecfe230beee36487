/* SPDX-License-Identifier: MIT */
/*
 * Reads the kernel's binary block traces and returns requests.
 *
 * A trace has one file for each processor, or one file for all processors. First the caller passes
 * in the files one after the other, each in pieces of any size. Then the caller reads rows until
 * there are no more. The reader counts everything that is missing from the rows, and records where
 * a file ends prematurely. The reader validates every byte of the input that it uses.
 *
 * Memory: 32 bytes for each event (queue, merge, split, issue, requeue, completion), and about 100
 * bytes for each outstanding request.
 */
#ifndef UNDERSTUDY_TRACES_BLKTRACE_H
#define UNDERSTUDY_TRACES_BLKTRACE_H

#include "match.h"
#include "record.h"

/* Why a file ends prematurely, or why reading cannot continue. */
enum blktrace_fault {
	BLKTRACE_WHOLE,
	BLKTRACE_NO_MEMORY,
	BLKTRACE_BAD_MAGIC,
	BLKTRACE_BAD_CPU,
	BLKTRACE_BAD_TIME,
	BLKTRACE_BAD_SECTOR,
	BLKTRACE_OTHER_DEVICE,
};

/* Reasons why a record leads to no row. */
enum blktrace_left_out {
	LEFT_OUT_UNISSUED, /* completions whose request was not seen to be issued */
	LEFT_OUT_UNCOMPLETED, /* requests that were issued but not seen to complete */
	LEFT_OUT_REISSUED, /* requests issued again at their place before they completed */
	LEFT_OUT_UNISSUED_QUEUES, /* requests that were queued and neither issued nor merged */
	LEFT_OUT_FLUSHES, /* without data; this and the next four: issued requests */
	LEFT_OUT_DISCARDS,
	LEFT_OUT_PASSTHROUGH,
	LEFT_OUT_WITHOUT_TRANSFER, /* zone management; zeroes written without data */
	LEFT_OUT_EMPTY, /* reads and writes of no sector */
	LEFT_OUT_REPEATED, /* records whose number the processor has used before */
	LEFT_OUT_BACKWARDS, /* records older than the processor's last record */
	LEFT_OUT_LOST, /* records whose numbers are missing */
	LEFT_OUT_REASONS,
};

/**
 * struct blktrace - a trace being read
 * @fault: fault of the current file
 * @value: the invalid value: a magic number, processor, time, sector or device
 * @records: number of records read from the current file; the next record is at @offset
 * @device: the traced device; valid once @has_device is set
 * @completed: whether any request completed. If none did, blktrace_rows() returns each issued
 *	request, as if it completed at once
 */
struct blktrace {
	u32 fault;
	u64 value, records, offset;
	u32 device;
	u64 left_out[LEFT_OUT_REASONS];
	bool has_device, completed, began;
	struct record_layout layout;
	struct lanes lanes;
	struct match match;
};

/* Return NULL if there is no memory. */
struct blktrace *blktrace_new(void);
void blktrace_free(struct blktrace *trace);

/* Begin the next file, and clear the fault. */
void blktrace_begin(struct blktrace *trace);

/*
 * Read all complete records and return their length in bytes. The caller must pass the remaining
 * bytes (fewer than RECORD_BYTES_MAX) again, in front of the bytes that follow them. After a fault,
 * read nothing.
 */
u64 blktrace_feed(struct blktrace *trace, const u8 *bytes, u64 n);

/*
 * Store the next rows, in order of completion, and return their number. If the number is less than
 * max, there are no more rows, unless the fault is BLKTRACE_NO_MEMORY. blktrace_feed() must not be
 * called after the first call of this function.
 */
u64 blktrace_rows(struct blktrace *trace, struct blktrace_row *row, u64 max);

#endif
