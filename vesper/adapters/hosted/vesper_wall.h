/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A disk on the host's clock: a thread waits until a request is due, and runs the handler. For an
 * operating system that is a program of the host and runs in real time.
 *
 * All functions may be called from several threads. Handlers run in the timer's thread or in a thread
 * that issues a request, one at a time. A handler may issue the next request.
 */
#ifndef VESPER_WALL_H
#define VESPER_WALL_H

#include <pthread.h>

#include "vesper.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vesper_wall {
	struct vesper disk;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int stops;
};

/* Return VESPER_OK, an enum vesper_result, or a positive errno if there is no thread. */
int vesper_wall_init(struct vesper_wall *wall, const struct vesper_config *config);

int vesper_wall_read(struct vesper_wall *wall, uint64_t start_block, uint32_t blocks,
		     void *data);
int vesper_wall_write(struct vesper_wall *wall, uint64_t start_block, uint32_t blocks,
		      const void *data);
int vesper_wall_statistics(struct vesper_wall *wall, struct vesper_totals *statistics);

/* End the thread, and forget pending requests without interrupts; not from a handler. */
int vesper_wall_exit(struct vesper_wall *wall);

#ifdef __cplusplus
}
#endif

#endif
