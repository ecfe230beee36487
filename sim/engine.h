/* SPDX-License-Identifier: MIT */
/*
 * The simulator runs one workload through one scheduler on one device, event by event, in virtual
 * time that begins at 0. There is no global state, so any number of simulations may run in one
 * program, each in a separate thread.
 *
 * Events at the same time have this order: completions, then arrivals in the order of the
 * processes. Then the scheduler is called until the device is full or the scheduler returns no
 * request.
 *
 * The first `requests` arrivals are measured. The measurement ends when the last of these requests
 * completes, and the processes continue until then (docs/method.md).
 */
#ifndef UNDERSTUDY_ENGINE_H
#define UNDERSTUDY_ENGINE_H

#include "../core/contract.h"
#include "../core/drive/device.h"
#include "bundling.h"
#include "demand.h"
#include "moments.h"
#include "page_cache.h"
#include "watch.h"
#include "workload.h"

/**
 * struct sim_cache - the host's page cache, for workloads that read files
 * @bytes: size of the cache; 0: no cache, files are read directly
 * @page_sectors: sectors of a page
 * @read_ahead_pages: longest prefetch in pages; 0: none
 * @policies: what is prefetched, and which pages are evicted; with a cache, none is NULL
 */
struct sim_cache {
	u64 bytes;
	u32 page_sectors;
	u32 read_ahead_pages;
	struct page_policies policies;
};

/*
 * A device whose model is outside the engine. The engine calls the function once for each request,
 * in order of service. The function returns the time at which a request that begins at start_ns
 * completes.
 */
typedef u64 target_fn(const struct io_request *rq, u64 start_ns);

/**
 * struct sim_columns - the results: a row for each request. Every array is in the caller's memory
 * and has room for all measured requests
 * @request_id: number of the request, from 1, in order of arrival
 * @start_ns: when the device begins with the request; later than the dispatch if the request is
 *	queued in the device
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
 * struct sim_process - figures of the measured requests of one process (in the paper, a class). A
 * split request counts only if all its pieces are measured
 * @pieces: number of pieces; a request that was not split is one piece
 * @response: completion - arrival, plus the wait before the arrival (struct step); of a split
 *	request, the mean of its pieces (whole.h)
 * @responses: histogram of the response times, for percentiles
 * @write_response: likewise, only of writes
 * @write_responses: likewise, only of writes
 */
struct sim_process {
	u64 pieces;
	struct moments response;
	struct histogram responses;
	struct moments write_response;
	struct histogram write_responses;
};

/**
 * struct sim_input - one simulation; everything it points to is in the caller's memory
 * @tunables: values of the scheduler's tunables
 * @parameters: values of the workload's parameters
 * @drive: the disk; NULL if the device is @target or @array
 * @target: the external model of requests' completion times, or NULL
 * @depth: most requests on the device at once, including those queued in the device
 * @max_pending: most requests that may be pending or in service at once
 * @merge_sectors: adjacent requests that are still pending in the scheduler are merged up to this
 *	length; 0: never. A row is for one original request; all rows of a merged request have the
 *	id of the merged request
 * @bundling: for each process: how many requests of its owner a server of the array serves
 *	together, as a bundle, if the bundle's first request is from that process. The other
 *	requests are those that the scheduler would hand out next. A bundle's service time is the
 *	mean of its requests' service times (ICPE 2011, Algorithm 1). All rows of a bundle have the
 *	id of its first request. Needs a scheduler with @more. NULL: nothing is bundled
 * @gap_ns: shortest time between a completion and the next dispatch
 * @ask_ns: time that a process needs between an answer and its next request, in addition to its
 *	think time; ignored in an open workload
 * @requests: number of arrivals that are measured
 * @weight: weight of each process; NULL: the default for all
 * @io_class: likewise
 * @level: likewise
 * @columns: where the rows are stored; NULL: only the summary is computed
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

/* The parts of a simulation that users may write. */
enum sim_part { PART_SCHEDULER, PART_PREFETCHER, PART_REPLACER, PARTS };

/**
 * struct sim_summary - figures of the measured requests
 * @completed: number of requests that completed; fewer than @requests if the processes ended
 *	earlier. All figures below except @response and @sectors are of requests on the device,
 *	where merged or bundled requests count as one
 * @service: completion - max(dispatch, previous completion)
 * @device: completion - dispatch
 * @response: completion - arrival
 * @model: the model's service time
 * @page_hits: number of pages that processes found in the page cache
 * @page_misses: number of pages for which processes had to wait
 * @responses: histogram of the response times, for percentiles
 * @demand: the demands on the device
 * @predicted: requests chosen because the scheduler predicted a hit
 * @predicted_hits: number of these requests that were hits
 * @oldest: id of the scheduler's oldest request at the end, or 0
 * @init_error: return value of the init of the scheduler or a policy; not an error of the engine
 * @part: enum sim_part, of which @init_error or @broken tells
 * @broken: a message about the rule that the part broke; empty if none broke one
 * @counters: values of the scheduler's counters, in the caller's memory
 * @prefetcher_counters: likewise; not used without a page cache
 * @replacer_counters: likewise
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
	u32 part;
	char broken[CONTRACT_TEXT];
	u64 *counters;
	u64 *prefetcher_counters;
	u64 *replacer_counters;
};

/**
 * sim_run - run a simulation
 * @input: the input; it must have passed sim_check(), and the declarations of its scheduler and its
 *	policies must have passed the checks of their contracts
 *
 * Returns: 0, or an error: - -ENOMEM; - -EOVERFLOW: more than max_pending requests had to wait; the
 * summary is of those that completed; - -EPROTO: the scheduler or a policy broke a rule of its
 * interface, named in summary->broken; - -EOPNOTSUPP: requests are to be bundled, but the scheduler has no
 * @more; - -EDEADLK: the scheduler keeps setting times to be called again, but never returns a
 * request; - -ETIMEDOUT: too many requests have arrived before the measured ones were served: more
 * than a million, and more than a hundred times as many as are measured; - -ENODATA: the processes
 * read only pages that are in the page cache, so the measured requests never arrive; - -ELOOP:
 * processes loop without ever thinking or waiting; - -ETIME: the clock would pass 2^63 ns; - or the
 * error of the scheduler's, a policy's or the workload's init.
 */
int sim_run(const struct sim_input *input, struct sim_summary *summary);

#endif
