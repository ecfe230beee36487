/* SPDX-License-Identifier: MIT */
/*
 * Reader of the kernel's binary block traces: bytes in, requests out.
 *
 * First the caller feeds the files of one trace, one for each processor or all in one, one after
 * the other, each in pieces of any size. Then it reads rows until there are no more. The reader
 * counts all that is left out of the rows, and notes where a file breaks off. It trusts no byte of
 * the input.
 *
 * Memory: 32 bytes for each event of a request's life (queued, merged, split, issued, requeued,
 * completed), and about 100 for each outstanding request.
 */
#ifndef UNDERSTUDY_TRACES_BLKTRACE_H
#define UNDERSTUDY_TRACES_BLKTRACE_H

#include "match.h"
#include "record.h"

/* Why a file breaks off, or why reading cannot go on. */
enum blktrace_fault {
	BLKTRACE_WHOLE,
	BLKTRACE_NO_MEMORY,
	BLKTRACE_BAD_MAGIC,
	BLKTRACE_BAD_CPU,
	BLKTRACE_BAD_TIME,
	BLKTRACE_BAD_SECTOR,
	BLKTRACE_OTHER_DEVICE,
};

/* Reasons why records are in no row. */
enum blktrace_left_out {
	LEFT_OUT_UNISSUED, /* completions of requests that were not seen to be issued */
	LEFT_OUT_UNCOMPLETED, /* issued, but not seen to complete */
	LEFT_OUT_FLUSHES, /* issued, as the next four; without data */
	LEFT_OUT_DISCARDS,
	LEFT_OUT_PASSTHROUGH,
	LEFT_OUT_WITHOUT_TRANSFER, /* zone management; zeroes written without data */
	LEFT_OUT_EMPTY, /* reads and writes of no sector */
	LEFT_OUT_REPEATED, /* records with a number that their processor has used before */
	LEFT_OUT_BACKWARDS, /* records older than their processor's last one */
	LEFT_OUT_LOST, /* records whose numbers are missing */
	LEFT_OUT_REASONS,
};

/**
 * struct blktrace - a trace being read
 * @fault: fault of the current file
 * @value: the wrong value: the magic number, processor, time, sector or device
 * @records: number of records taken from the current file; the next one is at @offset
 * @device: the traced device, once @has_device
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

/* NULL if there is no memory. */
struct blktrace *blktrace_new(void);
void blktrace_free(struct blktrace *trace);

/* Begin the next file, without a fault. */
void blktrace_begin(struct blktrace *trace);

/*
 * Takes all whole records and returns how many bytes they have. The caller passes the rest, fewer
 * than RECORD_BYTES_MAX bytes, again together with the following bytes. After a fault nothing is
 * taken.
 */
u64 blktrace_feed(struct blktrace *trace, const u8 *bytes, u64 n);

/*
 * The next rows, in order of completion. Fewer than max: there are no more rows; or there was no
 * memory, which is then the fault. Nothing may be fed after the first call.
 */
u64 blktrace_rows(struct blktrace *trace, struct blktrace_row *row, u64 max);

#endif
