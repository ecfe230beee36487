/* SPDX-License-Identifier: MIT */
/*
 * A simulation for tests of the engine: a valid input, whose parts a test then changes,
 * memory for the results, and random files and tables.
 */
#ifndef UNDERSTUDY_TEST_SIMULATION_H
#define UNDERSTUDY_TEST_SIMULATION_H

#include "../../sim/check.h"
#include "../../sim/registry.h"
#include "check.h"
#include "policies.h"
#include "schedulers.h"

#define US 1000ull
#define MS 1000000ull
#define FIELDS_MAX 32
#define SIM_CAPACITY 100000ull
#define SIM_PROCESSES_MAX 200
#define SIM_FILES_MAX 50
#define SIM_EXTENTS_MAX 200
#define SIM_ROWS_MAX 5000
#define SIM_PHASES 4
#define SIM_OUTCOMES 8

struct simulation {
	struct sim_input input;
	struct sim_summary summary;
	struct sim_watch watch;
	struct sim_columns columns;
	struct drive drive;
	struct curve_point line[2];
	u64 tunables[FIELDS_MAX], parameters[FIELDS_MAX], counters[FIELDS_MAX];
	u64 prefetcher_counters[FIELDS_MAX], replacer_counters[FIELDS_MAX];

	u64 extents;
	u64 bytes[SIM_FILES_MAX], first_extent[SIM_FILES_MAX + 1];
	u64 start[SIM_EXTENTS_MAX], length[SIM_EXTENTS_MAX];

	u64 rows;
	u64 first_row[SIM_PROCESSES_MAX + 1];
	u64 think_ns[SIM_ROWS_MAX], sector[SIM_ROWS_MAX], cost_ns[SIM_ROWS_MAX];
	u32 sectors[SIM_ROWS_MAX], owner[SIM_ROWS_MAX];
	u8 op[SIM_ROWS_MAX];

	struct bundling bundling[SIM_PROCESSES_MAX];

	struct arrivals arrivals[SIM_PROCESSES_MAX];
	u64 at_ns[SIM_ROWS_MAX];
	u16 pieces[SIM_ROWS_MAX];
	u32 first_phase[SIM_PROCESSES_MAX];
	struct service_phase phase[SIM_PHASES];
	struct service_outcome outcome[SIM_OUTCOMES];
};

/* Return the workload of that name, which must exist. */
const struct workload *simulation_workload(const char *name);

/*
 * Set up a disk of SIM_CAPACITY sectors with a cache and queue depth 1.  There are four
 * processes, a hundred requests, and at most 256 pending.  Tunables and parameters have
 * their initial values; there are no files, table or page cache.  A page cache that a test
 * adds has the policies doubling and lru.
 */
void simulation_init(struct simulation *sim, const struct scheduler *scheduler,
		     const struct workload *workload);

/* Let the summary have room for the values of counters. */
void simulation_set_counters(struct simulation *sim);

/* Replace the disk by an array, with as many requests at the device as there are servers. */
void simulation_array(struct simulation *sim, u32 servers, u64 mean_service_ns,
		      bool exponential);

/* Set a parameter of the workload or a tunable of the scheduler. */
void simulation_set(struct simulation *sim, const char *name, u64 value);

/* Make files whose extents are whole pages; the last page of a file may be partly filled. */
void simulation_files(struct simulation *sim, struct draw *draw, u32 files,
		      u32 page_sectors);

/* Make up to rows_each random table rows for each process. */
void simulation_rows(struct simulation *sim, struct draw *draw, u32 rows_each);

/*
 * Make up to rows_each arrivals for each process, each request in up to three pieces.
 * Some arrivals coincide, some follow pauses.  Service times are a few ms, from a chain
 * in which every transition occurs.
 */
void simulation_customers(struct simulation *sim, struct draw *draw, u32 rows_each);

/* Set the same bundling for each process. */
void simulation_bundle(struct simulation *sim, struct bundling bundling);

/* Return the message of sim_check, or NULL. */
const char *simulation_check(const struct simulation *sim);

/*
 * Check and run the simulation, with its rows.  The columns are allocated anew and
 * filled with SIM_UNWRITTEN for each run; simulation_exit frees the last ones.
 */
int simulation_run(struct simulation *sim);
void simulation_exit(struct simulation *sim);

#define SIM_UNWRITTEN 0xa5

#endif
