/* SPDX-License-Identifier: MIT */
/*
 * The simulator: one workload through one scheduler on one device, event by event, in
 * virtual time that begins at 0.  Nothing is kept outside the run, so any number of
 * simulations may run in one program, each in a thread of its own.
 *
 * At one instant, completions come first, then arrivals in the order of the processes;
 * then the scheduler is asked, as long as the device has room and the scheduler has
 * something for it.
 *
 * The measurement is the first `requests` arrivals, drained: it ends when the last of
 * them completes, and the processes go on until then (docs/method.md).
 */
#ifndef UNDERSTUDY_ENGINE_H
#define UNDERSTUDY_ENGINE_H

#include "../core/contract.h"
#include "../core/drive/device.h"
#include "bundling.h"
#include "demand.h"
#include "moments.h"
#include "watch.h"
#include "workload.h"

/**
 * struct sim_cache - the host's page cache, for workloads that read files
 * @bytes: its size; 0: none, files are read past it
 * @page_sectors: size of a page
 * @read_ahead_pages: longest read-ahead; 0: none
 */
struct sim_cache {
	u64 bytes;
	u32 page_sectors;
	u32 read_ahead_pages;
};

/*
 * One server that somebody else models: it is asked once for each request, in order, when one that
 * it begins with at start_ns completes.
 */
typedef u64 target_fn(const struct io_request *rq, u64 start_ns);

/**
 * struct sim_columns - where to put a row for each request; every array is the caller's
 * and has room for as many as are measured
 * @request_id: from 1, in order of arrival
 * @start_ns: the device begins with it; later than the dispatch if it waits inside
 * @idle_ns: how long the device had been idle before the dispatch
 */
struct sim_columns {
	s64 *arrival_ns;
	s64 *dispatch_ns;
	s64 *start_ns;
	s64 *completion_ns;
	s64 *sector;
	s64 *request_id;
	s64 *model_service_ns;
	s64 *idle_ns;
	u32 *sectors;
	u32 *owner;
	u8 *op;
	u8 *reason;
	u8 *hit;
};

/**
 * struct sim_process - the measured requests of one process, a class of the paper's; of
 * those that were split, the ones of which all pieces are measured
 * @pieces: and requests that were not split
 * @response: completion - arrival, of split ones the mean of their pieces' (whole.h)
 * @responses: for percentiles
 */
struct sim_process {
	u64 pieces;
	struct moments response;
	struct histogram responses;
};

/**
 * struct sim_input - one simulation; everything it points to is the caller's
 * @tunables: one value for each of the scheduler's
 * @parameters: one value for each of the workload's
 * @drive: the disk, or NULL for @target or @array
 * @target: what is asked for the time of each request, or NULL
 * @depth: most requests on the device at once: those that wait in it count
 * @max_pending: most requests that may wait for the scheduler and be in service
 * @merge_sectors: what touches becomes one request, up to this length, as long as it is
 *	with the scheduler; 0: never.  A row is what was asked for, and rows of one
 *	request have its id
 * @bundling: for each process: how many requests of its owner a server of the array
 *	takes as one if the first is that process's, in the order in which the
 *	scheduler would give them, for the mean of their times (ICPE 2011, Algorithm 1).
 *	Rows of one bundle have the id of its first request; needs a scheduler that has
 *	@more.  NULL: nothing is bundled
 * @gap_ns: between a completion and the next dispatch at the earliest
 * @ask_ns: what a process needs for itself between an answer and the next request; of
 *	no account in an open workload
 * @requests: how many arrivals are measured
 * @weight: of each process; NULL: all the default
 * @io_class: the same
 * @level: the same
 * @columns: NULL: only the summary
 * @each: figures of each process, or NULL
 */
struct sim_input {
	const struct scheduler *scheduler;
	const u64 *tunables;
	const struct workload *workload;
	const u64 *parameters;
	struct world world;
	const struct drive *drive;
	target_fn *target;
	struct array array;
	struct sim_cache cache;
	u32 depth;
	u32 max_pending;
	u32 merge_sectors;
	const struct bundling *bundling;
	u64 gap_ns;
	u64 ask_ns;
	u64 requests;
	const u32 *weight;
	const u8 *io_class;
	const u8 *level;
	const struct sim_columns *columns;
	struct sim_process *each;
	struct sim_watch *watch;
};

/**
 * struct sim_summary - the measured requests in figures
 * @completed: how many; fewer than wanted if the processes ended before.  Of the rest,
 *	all but response and sectors are of requests, and count once for those that
 *	were merged or bundled
 * @service: completion - max(dispatch, previous completion)
 * @device: completion - dispatch
 * @response: completion - arrival
 * @model: the model's service time
 * @page_hits: pages that processes found in the page cache ...
 * @page_misses: ... and that they had to wait for
 * @responses: for percentiles
 * @demand: what was asked of the device
 * @predicted: chosen because the scheduler foresaw a hit
 * @predicted_hits: both
 * @oldest: id of the request that the scheduler had for longest in the end, or 0
 * @init_error: what the scheduler's init returned; the engine has errors of its own
 * @broken: the rule that the scheduler broke, in words; empty if it keeps them
 * @counters: of the scheduler, room for one each, the caller's
 */
struct sim_summary {
	u64 completed;
	u64 first_arrival_ns;
	u64 last_arrival_ns;
	u64 last_completion_ns;
	u64 sectors;
	u64 hits;
	u64 predicted;
	u64 predicted_hits;
	u64 page_hits;
	u64 page_misses;
	u64 reason[PICK_REASONS];
	struct moments service;
	struct moments device;
	struct moments response;
	struct moments model;
	struct histogram responses;
	struct demand demand;
	u64 oldest;
	s32 init_error;
	char broken[CONTRACT_TEXT];
	u64 *counters;
};

/**
 * sim_run - simulate
 * @input: must have passed sim_check, and its scheduler contract_check_declaration
 *
 * Returns: 0; -ENOMEM; -EOVERFLOW if more than max_pending requests had to wait, with
 * the summary of those that completed; -EPROTO if the scheduler broke a rule of
 * core/scheduler.h, and summary->broken says which; -EOPNOTSUPP if requests are to be
 * bundled and the scheduler has no @more; -EDEADLK if it is asked again and
 * again and never gives anything; -ETIMEDOUT if it serves others for ever, a
 * hundred times as many as are measured and a million; -ENODATA if everything that is
 * read has long been in the page cache; -ELOOP if processes go round without ever
 * thinking or waiting; -ETIME if the clock would pass 2^63 ns; or the error of the
 * scheduler's or the workload's init.
 */
int sim_run(const struct sim_input *input, struct sim_summary *summary);

#endif
