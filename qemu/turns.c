// SPDX-License-Identifier: MIT
/*
 * Loaded into QEMU: its two threads take turns, so that the host's timing can't be seen in
 * the virtual clock.
 *
 * One thread runs the guest, without QEMU's big lock; what it has executed is counted, and
 * moves the clock, when it comes back for the lock.  The other, the main thread, moves the
 * clock to the next timer when it finds the processor halted.  If it looks between the
 * guest's HLT and the count, it starts from an old time, and what was executed since comes
 * on top: the timer fires late by as much.  So here the main thread, once it has the lock,
 * waits until the guest is not executing, and the guest's thread lets it go first before it
 * executes again.  docs/decisions/0032-turns.md.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

/* A guest that executes as long as that without a timer is far from its next HLT. */
#define PATIENCE_SECONDS 2

static int (*libc_poll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
static int (*libc_lock)(pthread_mutex_t *);
static int (*libc_unlock)(pthread_mutex_t *);
static int (*libc_wait)(pthread_cond_t *, pthread_mutex_t *);
static pthread_t main_thread;

/* What the main thread locks first after it has polled.  It guards the rest. */
static pthread_mutex_t *big_lock;
static bool executing;
static bool main_waits;
static pthread_cond_t turn_of_main = PTHREAD_COND_INITIALIZER;
static pthread_cond_t turn_of_guest = PTHREAD_COND_INITIALIZER;

static bool has_polled;
static __thread pthread_mutex_t *waited_with;

__attribute__((constructor)) static void find_libc(void)
{
	main_thread = pthread_self();
	libc_poll = dlsym(RTLD_NEXT, "ppoll");
	libc_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	libc_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	libc_wait = dlsym(RTLD_NEXT, "pthread_cond_wait");
}

static bool is_main(void)
{
	return pthread_equal(pthread_self(), main_thread);
}

/* Only the guest's thread sleeps with the big lock, while its processors are idle. */
static bool is_guest(void)
{
	return waited_with && waited_with == big_lock;
}

static void wait_for_turn(void)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += PATIENCE_SECONDS;
	main_waits = true;
	while (executing)
		if (pthread_cond_clockwait(&turn_of_main, big_lock, CLOCK_MONOTONIC, &end))
			break;
	main_waits = false;
	pthread_cond_signal(&turn_of_guest);
}

static void let_main_go_first(void)
{
	pthread_cond_signal(&turn_of_main);
	while (main_waits)
		libc_wait(&turn_of_guest, big_lock);
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout,
	  const sigset_t *signals)
{
	int ready = libc_poll(files, count, timeout, signals);

	if (is_main())
		has_polled = true;
	return ready;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int error;

	if (!libc_lock)
		find_libc();
	error = libc_lock(mutex);
	if (has_polled && !big_lock && is_main())
		big_lock = mutex;
	if (mutex != big_lock)
		return error;
	if (is_guest())
		executing = false;
	else if (is_main())
		wait_for_turn();
	return error;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!libc_unlock)
		find_libc();
	if (mutex == big_lock && is_guest()) {
		if (main_waits)
			let_main_go_first();
		executing = true;
	}
	return libc_unlock(mutex);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	int error;

	if (!libc_wait)
		find_libc();
	if (!is_main()) {
		waited_with = mutex;
		if (mutex == big_lock && main_waits)
			pthread_cond_signal(&turn_of_main);
	}
	error = libc_wait(condition, mutex);
	if (is_main() && mutex == big_lock)
		wait_for_turn();
	return error;
}
