// SPDX-License-Identifier: GPL-2.0 OR MIT
#define _GNU_SOURCE
#include <time.h>

#include "vesper_wall.h"

#define S_NS 1000000000ull

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * S_NS + now.tv_nsec;
}

static void *run(void *argument)
{
	struct vesper_wall *wall = argument;

	pthread_mutex_lock(&wall->mutex);
	while (!wall->stops) {
		uint64_t due_ns;
		struct timespec due;

		vesper_advance(&wall->disk, wall_ns());
		due_ns = vesper_next_ns(&wall->disk);
		due.tv_sec = due_ns / S_NS;
		due.tv_nsec = due_ns % S_NS;
		if (due_ns == VESPER_NEVER)
			pthread_cond_wait(&wall->changed, &wall->mutex);
		else
			pthread_cond_timedwait(&wall->changed, &wall->mutex, &due);
	}
	pthread_mutex_unlock(&wall->mutex);
	return NULL;
}

static void init_locks(struct vesper_wall *wall)
{
	pthread_mutexattr_t recursive;
	pthread_condattr_t monotonic;

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&wall->mutex, &recursive);
	pthread_mutexattr_destroy(&recursive);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&wall->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

int vesper_wall_init(struct vesper_wall *wall, const struct vesper_config *config)
{
	struct vesper_config now;
	int result;

	if (!wall || !config)
		return VESPER_NULL;
	now = *config;
	now.now_ns = wall_ns();
	result = vesper_init(&wall->disk, &now);
	if (result)
		return result;
	wall->stops = 0;
	init_locks(wall);
	result = pthread_create(&wall->thread, NULL, run, wall);
	if (result)
		vesper_exit(&wall->disk);
	return result;
}

/* Lock, and set the clock; in a handler, which has the lock, the clock is set already. */
static void enter(struct vesper_wall *wall)
{
	pthread_mutex_lock(&wall->mutex);
	vesper_advance(&wall->disk, wall_ns());
}

static int leave(struct vesper_wall *wall, int result)
{
	pthread_cond_signal(&wall->changed);
	pthread_mutex_unlock(&wall->mutex);
	return result;
}

int vesper_wall_read(struct vesper_wall *wall, uint64_t start_block, uint32_t blocks,
		     void *data)
{
	enter(wall);
	return leave(wall, vesper_read(&wall->disk, start_block, blocks, data));
}

int vesper_wall_write(struct vesper_wall *wall, uint64_t start_block, uint32_t blocks,
		      const void *data)
{
	enter(wall);
	return leave(wall, vesper_write(&wall->disk, start_block, blocks, data));
}

int vesper_wall_statistics(struct vesper_wall *wall, struct vesper_totals *statistics)
{
	enter(wall);
	return leave(wall, vesper_statistics(&wall->disk, statistics));
}

int vesper_wall_exit(struct vesper_wall *wall)
{
	pthread_mutex_lock(&wall->mutex);
	wall->stops = 1;
	leave(wall, 0);
	pthread_join(wall->thread, NULL);
	pthread_cond_destroy(&wall->changed);
	pthread_mutex_destroy(&wall->mutex);
	return vesper_exit(&wall->disk);
}
