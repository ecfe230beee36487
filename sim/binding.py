# SPDX-License-Identifier: MIT
"""Declarations of `understudy_devices._core`, the part of the C code that Python uses.

Meson runs this file to write the extension's C source. The extension's names and structures are
those of the C headers. Only understudy_devices/native/ uses the extension.
"""

import sys

from cffi import FFI

DECLARATIONS = """
typedef uint8_t u8;
typedef int32_t s32;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

/* core/scheduler.h */
struct sched_field {
    const char *name;
    const char *help;
    u64 initial, min, max;
    ...;
};
u64 *sched_field_value(void *state, const struct sched_field *field);

/* core/request.h, core/tape.h, sim/replay.h */
#define IO_WEIGHT_DEFAULT ...
#define IO_CLASS_BEST_EFFORT ...
#define IO_LEVEL_DEFAULT ...
#define TAPE_ADD ...
#define TAPE_REMOVE ...
#define TAPE_NEXT ...
#define TAPE_COMPLETED ...
#define TAPE_GROWN ...
#define TAPE_POSITIONING ...
#define TAPE_MAGIC ...
struct tape_call {
    u64 now_ns, id, arrival_ns, sector, wake_ns;
    u32 sectors, owner, weight, place;
    u8 kind, op, io_class, level, reason, unused[3];
};
struct tape_header {
    u64 magic;
    u32 header_bytes, call_bytes;
    u64 room, calls, capacity_sectors;
    u32 max_requests, depth;
    char scheduler[16];
};
struct replay {
    const u64 *tunables;
    u64 *counters;
    u64 capacity_sectors;
    u32 max_requests, depth, places;
    u64 nr_calls;
    struct tape_call *calls;
    ...;
};

/* sim/service_times.h */
#define SERVICE_TICK_BITS ...
#define SERVICE_STAGES_MAX ...
#define SERVICE_STAY_MAX ...
struct service_phase { u64 mean; u32 stages, first, outcomes, unused; };
struct service_outcome { u64 last; u32 phase, ends; };
struct service_times {
    u32 phases, outcomes;
    const u32 *start;
    const struct service_phase *phase;
    const struct service_outcome *outcome;
};
const char *service_times_check(const struct service_times *times, u32 classes);
struct service_chain { ...; };
void service_chain_begin(struct service_chain *chain, const struct service_times *times,
                         u32 class, u64 seed, u64 stream);
void service_chain_draw_all(struct service_chain *chain, const struct service_times *times,
                            u64 count, u64 *time_ns);

/* sim/workload.h, sim/layout.h, sim/bundling.h, sim/moments.h, sim/engine.h,
   sim/check.h */
struct workload {
    const char *name;
    const char *summary;
    bool open;
    const struct sched_field *parameters;
    u32 nr_parameters;
    ...;
};
u32 workload_count(void);
const struct workload *workload_get(u32 index);
struct layout {
    u32 files;
    const u64 *bytes, *first, *start, *length;
};
struct rows {
    const u64 *first, *think_ns, *sector, *cost_ns;
    const u32 *sectors, *owner;
    const u8 *op;
};
struct resampling { u64 block, pool_ns, recorded; };
struct world {
    u64 capacity_sectors, seed;
    u32 processes;
    struct layout layout;
    struct rows rows;
    const struct resampling *resampling;
    struct service_times service;
    u64 until_ns;
    ...;
};
struct array { u64 servers; u64 mean_service_ns; u64 exponential; };
struct bundling { u32 others; u64 one_more; };
struct moments { u64 count; ...; };
struct histogram { u64 count, max, cell[...]; };
double moments_mean(const struct moments *moments);
double moments_variance(const struct moments *moments);
u64 histogram_permille(const struct histogram *histogram, u32 permille);
void histogram_take(struct histogram *histogram, const struct histogram *part);
void histogram_distribution(const struct histogram *histogram, u64 value[1000]);
struct page_policies { const u64 *prefetcher_tunables, *replacer_tunables; ...; };
struct sim_cache {
    u64 bytes;
    u32 page_sectors, read_ahead_pages;
    struct page_policies policies;
};
struct sim_columns {
    s64 *arrival_ns, *dispatch_ns, *start_ns, *completion_ns, *sector, *request_id;
    s64 *model_service_ns, *idle_ns;
    u32 *sectors, *owner;
    u8 *op, *reason, *hit;
};
struct sim_process {
    u64 pieces;
    struct moments response;
    struct histogram responses;
    struct moments write_response;
    struct histogram write_responses;
};
struct sim_watch { u64 completed, events; };
struct sim_input {
    const u64 *tunables;
    const struct workload *workload;
    const u64 *parameters;
    struct world world;
    const struct drive *drive;
    struct array array;
    struct sim_cache cache;
    u32 depth, max_pending, merge_sectors;
    const struct bundling *bundling;
    u64 gap_ns, ask_ns, requests;
    const u32 *weight;
    const u8 *io_class, *level;
    const struct sim_columns *columns;
    struct sim_process *each;
    ...;
};
/* sim/demand.h */
#define DEMAND_PAGE_SECTORS ...
#define DEMAND_LONG_SECTORS ...
#define DEMAND_PAUSE_NS ...
#define DEMAND_REST_NS ...
#define DEMAND_NEAR_SECTORS ...
#define DEMAND_BESIDE_SECTORS ...
#define DEMAND_ENDS ...
#define DEMAND_PLACES ...
struct demand { u64 written, sized, long_ones, sequential, streamed, again, near, beside, paused,
    rested, met_busy; ...; };
struct sim_summary {
    u64 completed, first_arrival_ns, last_arrival_ns, last_completion_ns;
    u64 sectors, hits, predicted, predicted_hits, page_hits, page_misses;
    u64 reason[...];
    struct moments service, device, response, model;
    struct histogram responses;
    struct demand demand;
    u64 oldest;
    s32 init_error;
    u32 part;
    char broken[...];
    u64 *counters, *prefetcher_counters, *replacer_counters;
};
const char *sim_check(const struct sim_input *input, u64 rows, u64 extents);
#define EXPLAIN_BYTES ...
const char *sim_explain(const struct sim_input *input, const struct sim_summary *summary,
                        int error, char *text);

/* core/optimal_order.h */
struct optimal_order { u64 *position; u32 *order; ...; };
int optimal_order_init(struct optimal_order *table, u32 max, u64 farthest);
void optimal_order_exit(struct optimal_order *table);
void optimal_order_find(struct optimal_order *table, u32 n, u64 head);

/* core/drive/: curve.h, tracks.h, platter.h, disk.h, disk_cache.h, drive.h */
#define CURVE_POINTS_MAX ...
struct curve_point { u64 at, value; };
struct curve { u32 nr_points; const struct curve_point *point; };
#define TRACKS_SECTORS_MAX ...
#define TRACKS_ZONES_MAX ...
#define TRACKS_SLIPS_MAX ...
#define PLATTER_TURN_NS_MAX ...
struct track_level { u64 tracks, sectors, skew; };
struct track_zone {
    u64 first, sectors, slot, angle, skew;
    struct track_level cylinder, band;
    u64 before, surfaces;
};
struct track_slip { u64 sector, slipped; };
struct tracks {
    u32 nr_zones, nr_slips;
    const struct track_zone *zone;
    const struct track_slip *slip;
    u64 velocity, step;
};
struct disk {
    u64 capacity_sectors;
    struct curve seek, transfer;
    struct tracks tracks;
    ...;
};
u64 platter_angle(const struct tracks *tracks, u64 sector);
u64 tracks_arm(const struct tracks *tracks, u64 sector);
u64 tracks_end(const struct tracks *tracks, u64 sector);
struct head { u64 sector; ...; };
struct arm { struct head head; ...; };
struct drive { struct disk disk; struct arm arm; ...; };
int drive_check(const struct drive *drive);
void drive_reset(struct drive *drive);
struct timed_device {
    struct drive drive;
    struct array array;
    u64 array_seed, scale_milli;
    ...;
};
extern const struct sched_field device_settings[];
extern const u32 nr_device_settings;

/* host/serve/timed_disk.h */
#define TIMED_ENOUGH_NS ...
struct lateness {
    struct moments all;
    struct histogram distribution;
    u64 late;
    struct moments service, service_late;
};
struct timed_disk {
    u64 bytes, address;
    struct timed_device device;
    u64 capacity_sectors, serves, record_error;
    struct lateness lateness;
};

/* host/traces/blktrace.h, host/traces/match.h, host/traces/record.h */
#define BLKTRACE_WHOLE ...
#define BLKTRACE_NO_MEMORY ...
#define BLKTRACE_BAD_MAGIC ...
#define BLKTRACE_BAD_CPU ...
#define BLKTRACE_BAD_TIME ...
#define BLKTRACE_BAD_SECTOR ...
#define BLKTRACE_OTHER_DEVICE ...
#define LEFT_OUT_UNISSUED ...
#define LEFT_OUT_UNCOMPLETED ...
#define LEFT_OUT_REISSUED ...
#define LEFT_OUT_UNISSUED_QUEUES ...
#define LEFT_OUT_FLUSHES ...
#define LEFT_OUT_DISCARDS ...
#define LEFT_OUT_PASSTHROUGH ...
#define LEFT_OUT_WITHOUT_TRANSFER ...
#define LEFT_OUT_EMPTY ...
#define LEFT_OUT_REPEATED ...
#define LEFT_OUT_BACKWARDS ...
#define LEFT_OUT_LOST ...
#define RECORD_MAGIC ...
struct blktrace_row {
    u64 arrival_ns, dispatch_ns, completion_ns, sector;
    u32 sectors, owner, op, event;
};
struct trace_event {
    u64 time_ns, sector;
    u32 sectors, pid;
    u8 kind, op;
};
#define TRACE_QUEUE ...
#define TRACE_SPLIT ...
#define TRACE_BACK_MERGE ...
#define TRACE_FRONT_MERGE ...
#define TRACE_REQUEUE ...
#define TRACE_ISSUE ...
#define TRACE_COMPLETE ...
struct match {
    u64 unissued, unissued_queues, reissued;
    ...;
};
struct match *match_new(void);
void match_free(struct match *match);
s64 match_events(struct match *match, const struct trace_event *event, u64 n,
                 struct blktrace_row *row);
u64 match_unissued_queues(const struct match *match);
u64 match_uncompleted(const struct match *match);
struct blktrace {
    u32 fault;
    u64 value, records, offset;
    u32 device;
    u64 left_out[...];
    bool completed;
    ...;
};
struct blktrace *blktrace_new(void);
void blktrace_free(struct blktrace *trace);
void blktrace_begin(struct blktrace *trace);
u64 blktrace_feed(struct blktrace *trace, const u8 *bytes, u64 n);
u64 blktrace_rows(struct blktrace *trace, struct blktrace_row *row, u64 max);

/* sim/worker/arrivals_file.h */
#define ARRIVALS_MAGIC ...
#define RECORDED_SERVICE_MAX ...
struct arrivals_header { u64 magic, count, waited; };

/* sim/workload.h, sim/worker/line.h, sim/worker/steps.h */
struct step {
    u64 think_ns, sector, cost_ns, waited_ns;
    u32 file, sectors, owner, more;
    u8 op;
};
#define NO_FILE ...
#define IO_OPS ...
struct line_field {
    char name[...], help[...];
    u64 initial, min, max;
};
struct line_self {
    s32 error;
    u32 nr_tunables;
    u8 needs_model;
    char words[...], name[...], summary[...];
    struct line_field tunables[...];
    ...;
};
struct fault { u32 signal, part; u64 offset; u32 cause, full; };
#define FAULT_CLOCK ...
#define FAULT_SLEEP ...
#define FAULT_STACK ...
#define FAULT_PIPE ...
struct line_reply {
    u32 kind;
    u64 refused_bytes;
    struct fault fault;
    ...;
};
#define LINE_DONE ...
#define LINE_FAULT ...
#define EXIT_ALONE ...
struct steps_ask {
    u64 capacity_sectors, seed, values[...];
    u32 processes, steps;
};

/* sim/worker/job.h, sim/worker/fault.h */
#define JOB_DESCRIBE ...
#define JOB_SIMULATE ...
#define JOB_REPLAY ...
struct job {
    u32 kind;
    s32 starter;
    u64 address;
    char workload[...];
    u32 has_target;
    const char *paths;
    u64 memory_bytes, output_bytes;
    u64 declared[...];
    u32 ended;
    s32 error;
    u64 refused_bytes;
    struct fault fault;
    struct sim_watch watch;
    struct sim_input input;
    struct sim_columns columns;
    struct drive drive;
    struct sim_summary summary;
    struct replay replay;
    char text[...];
};

/* sim/worker/target.h */
struct question { u64 sector, start_ns; u32 sectors; u32 op; };

/* core/draw.h */
struct draw { ...; };
void draw_seed(struct draw *draw, u64 seed, u64 stream);
u64 draw_u64(struct draw *draw);
u64 draw_below(struct draw *draw, u64 n);
u64 draw_pareto(struct draw *draw, u32 alpha_milli, u64 scale);
u64 draw_exponential(struct draw *draw, u64 mean);
u32 draw_zipf(struct draw *draw, u32 n);

/* below */
void *map_shared(int file, size_t bytes);
int munmap(void *memory, size_t bytes);
void drive_serve_all(struct drive *drive, u64 n, const u8 *op, const u64 *sector,
                     const u32 *sectors, const u64 *idle_ns, u64 *now_ns, u64 *service_ns,
                     u8 *hit);
int device_serve_queued(struct timed_device *device, u64 n, const u8 *op, const u64 *sector,
                        const u32 *sectors, const u64 *given_ns, u64 *start_ns,
                        u64 *service_ns, u8 *hit);
"""

SOURCE = """
#include "core/draw.h"
#include "core/drive/settings.h"
#include "core/optimal_order.h"
#include "host/serve/timed_disk.h"
#include "sim/check.h"
#include "sim/explain.h"
#include "sim/registry.h"
#include "sim/service_times.h"
#include "sim/worker/arrivals_file.h"
#include "sim/worker/job.h"
#include "sim/worker/steps.h"
#include "sim/worker/target.h"
#include "host/traces/blktrace.h"

#include <sys/mman.h>

/* Map a file into memory, or NULL.  Unlike Python's mmap, this keeps no descriptor open. */
static void *map_shared(int file, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* Serve requests one after the other, each after a pause; advances the clock. */
static void drive_serve_all(struct drive *drive, u64 n, const u8 *op, const u64 *sector,
                            const u32 *sectors, const u64 *idle_ns, u64 *now_ns,
                            u64 *service_ns, u8 *hit)
{
    u64 i;

    for (i = 0; i < n; i++) {
        bool in_cache;

        *now_ns += idle_ns[i];
        service_ns[i] =
            drive_serve(drive, op[i], sector[i], sectors[i], *now_ns, &in_cache);
        *now_ns += service_ns[i];
        hit[i] = in_cache;
    }
}

/* Restart the device and give it all requests in order, each at its time; -1: no memory. */
static int device_serve_queued(struct timed_device *device, u64 n, const u8 *op,
                               const u64 *sector, const u32 *sectors, const u64 *given_ns,
                               u64 *start_ns, u64 *service_ns, u8 *hit)
{
    struct command *command = port_zalloc(n * sizeof(*command));
    u64 i;

    if (!command)
        return -1;
    device_restart(device, NULL, 0);
    for (i = 0; i < n; i++) {
        command[i] = (struct command){ .sector = sector[i], .sectors = sectors[i],
                                       .op = op[i] };
        while (device_next(device, given_ns[i]))
            ;
        device_give(device, &command[i], given_ns[i]);
    }
    while (device_next(device, U64_MAX))
        ;
    for (i = 0; i < n; i++) {
        start_ns[i] = command[i].start_ns;
        service_ns[i] = command[i].service_ns;
        hit[i] = command[i].hit;
    }
    port_free(command);
    return 0;
}
"""


def main() -> None:
    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    ffi.set_source("understudy_devices._core", SOURCE)
    ffi.emit_c_code(sys.argv[1])


main()
