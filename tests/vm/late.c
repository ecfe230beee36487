// SPDX-License-Identifier: MIT
/*
 * Loaded into QEMU by tests: a host that interrupts QEMU's threads at the worst
 * moments.
 *
 * The main thread returns late from poll(). The guest's thread is delayed when it
 * leaves guest code (by a long jump, for example after HLT), before QEMU counts the
 * executed instructions.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MOST_NS 60000

static pthread_t main_thread;
static __thread unsigned int seed;

__attribute__((constructor)) static void begin(void)
{
	main_thread = pthread_self();
}

static void be_late(void)
{
	struct timespec pause = { 0, 0 };

	if (!seed) {
		seed = (unsigned int)gettid();
		prctl(PR_SET_TIMERSLACK, 1);
	}
	pause.tv_nsec = rand_r(&seed) % MOST_NS;
	nanosleep(&pause, NULL);
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout,
	  const sigset_t *signals)
{
	int (*libc)(struct pollfd *, nfds_t, const struct timespec *,
		    const sigset_t *) = dlsym(RTLD_NEXT, "ppoll");
	int ready = libc(files, count, timeout, signals);

	if (pthread_equal(pthread_self(), main_thread))
		be_late();
	return ready;
}

/* Debian's QEMU is built with _FORTIFY_SOURCE, which replaces siglongjmp() by this. */
__attribute__((noreturn)) void __longjmp_chk(void *where, int value)
{
	__attribute__((noreturn)) void (*libc)(void *, int) =
		dlsym(RTLD_NEXT, "__longjmp_chk");

	if (!pthread_equal(pthread_self(), main_thread))
		be_late();
	libc(where, value);
}
