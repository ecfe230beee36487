// SPDX-License-Identifier: MIT
/*
 * A library loaded into QEMU. It makes QEMU's two threads run alternately, so that the host's
 * timing has no effect on the virtual clock.
 *
 * The guest's thread runs without QEMU's big lock. Just before the guest's thread takes the lock
 * again, QEMU counts the instructions that the thread has executed, and advances the clock
 * accordingly. When the main thread finds the processors idle, it advances the clock to the next
 * timer. If this happens after the guest's HLT but before the count, the main thread starts from an
 * old time. The executed instructions are added to the clock afterwards, so the timer fires late by
 * the time of these instructions. Therefore
 *
 *   once the main thread has the lock, it waits until the guest is not executing;
 *   once the guest's thread has the lock again, it lets the main thread go first if the main thread
 *   waits, or has been woken and is about to take the lock.
 *
 * docs/decisions/0032-turns.md gives the reasons.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

/*
 * Time limit for a wait. A guest that executes for this long without a timer is not about to
 * execute HLT.
 */
#define PATIENCE_SECONDS 2

static int (*libc_poll)(struct pollfd *, nfds_t, const struct timespec *,
			const sigset_t *);
static ssize_t (*libc_write)(int, const void *, size_t);
static int (*libc_lock)(pthread_mutex_t *);
static int (*libc_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*libc_unlock)(pthread_mutex_t *);
static pthread_t main_thread;

/*
 * QEMU's big lock: the first mutex that the main thread locks after its first poll. The lock guards
 * the variables below.
 */
static pthread_mutex_t *big_lock;
static fd_set wakes_main;
static bool executing;
static bool main_is_woken;
static bool main_waits;
static bool main_sleeps; /* until a condition is signalled */
static pthread_cond_t turn_of_main = PTHREAD_COND_INITIALIZER;
static pthread_cond_t turn_of_guest = PTHREAD_COND_INITIALIZER;

static bool has_polled;
static __thread pthread_mutex_t *waited_with;

__attribute__((constructor)) static void find_libc(void)
{
	main_thread = pthread_self();
	libc_poll = dlsym(RTLD_NEXT, "ppoll");
	libc_write = dlsym(RTLD_NEXT, "write");
	libc_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	libc_wait = dlsym(RTLD_NEXT, "pthread_cond_wait");
	libc_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
}

static bool is_main(void)
{
	return pthread_equal(pthread_self(), main_thread);
}

/*
 * The guest's thread is the only thread that waits on a condition with the big lock. It does so
 * while the guest's processors are idle.
 */
static bool is_guest(void)
{
	return waited_with && waited_with == big_lock;
}

static struct timespec end_of_patience(void)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += PATIENCE_SECONDS;
	return end;
}

static void wait_for_turn(void)
{
	struct timespec end = end_of_patience();

	main_waits = true;
	while (executing)
		if (pthread_cond_clockwait(&turn_of_main, big_lock, CLOCK_MONOTONIC,
					   &end))
			break;
	main_waits = false;
	main_is_woken = false;
	pthread_cond_signal(&turn_of_guest);
}

static void let_main_go_first(void)
{
	struct timespec end = end_of_patience();

	pthread_cond_signal(&turn_of_main);
	while (main_waits || (main_is_woken && !main_sleeps))
		if (pthread_cond_clockwait(&turn_of_guest, big_lock, CLOCK_MONOTONIC,
					   &end))
			break;
}

/*
 * Copy the polled files. The files are nearly always the same, so it does no harm if another thread
 * reads a half-written copy.
 */
static void remember(const struct pollfd *files, nfds_t count)
{
	fd_set polled;
	nfds_t i;

	FD_ZERO(&polled);
	for (i = 0; i < count; i++)
		if (files[i].fd >= 0 && files[i].fd < FD_SETSIZE)
			FD_SET(files[i].fd, &polled);
	wakes_main = polled;
	has_polled = true;
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout,
	  const sigset_t *signals)
{
	if (is_main())
		remember(files, count);
	return libc_poll(files, count, timeout, signals);
}

ssize_t write(int file, const void *data, size_t size)
{
	if (!libc_write)
		find_libc();
	if (is_guest() && file >= 0 && file < FD_SETSIZE && FD_ISSET(file, &wakes_main))
		main_is_woken = true;
	return libc_write(file, data, size);
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
	if (is_guest()) {
		executing = false;
		if (main_waits || main_is_woken)
			let_main_go_first();
	} else if (is_main()) {
		wait_for_turn();
	}
	return error;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!libc_unlock)
		find_libc();
	if (mutex == big_lock && is_guest())
		executing = true;
	return libc_unlock(mutex);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	int error;

	if (!libc_wait)
		find_libc();
	if (!is_main()) {
		waited_with = mutex;
		return libc_wait(condition, mutex);
	}
	if (mutex != big_lock)
		return libc_wait(condition, mutex);
	main_sleeps = true;
	pthread_cond_signal(&turn_of_guest);
	error = libc_wait(condition, mutex);
	main_sleeps = false;
	wait_for_turn();
	return error;
}
