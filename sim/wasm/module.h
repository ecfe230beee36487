/* SPDX-License-Identifier: MIT */
/*
 * The simulator for a web page: core/ and sim/ as a WebAssembly module without imports
 * (web/simulator/build.py). The page's side is web/simulator/module.ts.
 *
 * The page chooses the parts, sets numbers and fills arrays, runs, and reads the arrays with the
 * results. A number or an array has the name of its member of struct module; a setting of the drive
 * has its name in core/drive/settings.c. The page writes each name into wasm_text() first. The
 * module does one simulation at a time. wasm_begin() forgets the previous one.
 */
#ifndef UNDERSTUDY_WASM_MODULE_H
#define UNDERSTUDY_WASM_MODULE_H

#include "../check.h"

/* The kinds of parts; module.ts lists them in the same order. */
enum part_kind { KIND_SCHEDULER, KIND_PREFETCHER, KIND_REPLACER, KIND_WORKLOAD };

/**
 * struct module - one simulation
 * @input: what is simulated; @input.columns is set if the columns have memory
 * @columns: the rows of the result
 * @summary: the figures
 * @device: the drive, unless its disk has no capacity
 * @rows: number of rows in @input.world.rows
 * @extents: number of extents in @input.world.layout
 */
struct module {
	struct sim_input input;
	struct sim_columns columns;
	struct sim_summary summary;
	struct sim_watch watch;
	struct timed_device device;
	u64 rows;
	u64 extents;
};

/* Set a number; false if there is none of this name, or the value does not fit. */
bool module_set(struct module *module, const char *name, u64 value);

/*
 * Give an array so many bytes of zeroed memory; return the memory, or NULL if there is no such array,
 * no memory, or the bytes are not those of whole entries.
 */
void *module_array(struct module *module, const char *name, u32 bytes);

/* Free the arrays. */
void module_free(struct module *module);

/* Write the figures into the text: a line for each, with its name and its value; times in ns. */
void module_write_figures(const struct sim_summary *summary, char *text, size_t bytes);

/* Return the number of events that the simulation has handled. */
u64 module_events(void);

#endif
