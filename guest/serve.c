// SPDX-License-Identifier: MIT
/*
 * Carries out the host's requests on a disk, one after another, bypassing the page cache:
 *
 *   serve DISK
 *
 * The first page of the shared memory (guest/wire.h) holds the host's request, and later the
 * program's answer.  The program asks for the next request by writing to a port.  QEMU stops the
 * guest at that instruction until the host has read the answer and stored the next request.
 * Meanwhile no time passes for the guest.  The host's side is
 * understudy_devices/platforms/vm/conversation.py.
 *
 * All times are from CLOCK_MONOTONIC.  Each request has a time at which the program must send it to
 * the disk.  The program sleeps until shortly before that time, and then polls the clock.  While
 * the program polls, interrupts are handled, but no other process runs.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/io.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

#define ASK_PORT 0x506
#define ASK '?'
#define REQUEST_AT 1024 /* offset in the first page of the shared memory */
#define ANSWER_AT 2048
#define SECTOR_BYTES 512u
#define BUFFER_BYTES (4u << 20)
#define NS_PER_S 1000000000ull
#define SPIN_NS 50000ull

enum serve_op { SERVE_READ, SERVE_WRITE, SERVE_WRITE_THROUGH, SERVE_FLUSH, SERVE_END };

struct request {
	uint64_t op;
	uint64_t sector;
	uint64_t sectors;
	uint64_t at_ns;
};

struct answer {
	uint64_t sent_ns;
	uint64_t completion_ns;
	uint64_t error; /* errno, or 0 */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Waits until `ns`, and returns the time at which the wait ended. */
static uint64_t wait_until(uint64_t ns)
{
	uint64_t now = now_ns();

	if (now + SPIN_NS < ns) {
		uint64_t wake = ns - SPIN_NS;
		struct timespec at = { .tv_sec = (time_t)(wake / NS_PER_S),
				       .tv_nsec = (long)(wake % NS_PER_S) };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	do
		now = now_ns();
	while (now < ns);
	return now;
}

static ssize_t carry_out(int fd, char *buffer, const struct request *request)
{
	off_t at = (off_t)(request->sector * SECTOR_BYTES);
	size_t bytes = request->sectors * SECTOR_BYTES;
	struct iovec all = { .iov_base = buffer, .iov_len = bytes };

	switch (request->op) {
	case SERVE_READ:
		return pread(fd, buffer, bytes, at);
	case SERVE_WRITE:
		return pwrite(fd, buffer, bytes, at);
	case SERVE_WRITE_THROUGH:
		return pwritev2(fd, &all, 1, at, RWF_DSYNC);
	default:
		return fsync(fd) ? -1 : (ssize_t)bytes;
	}
}

static void serve(int fd, char *buffer, const struct request *request,
		  struct answer *answer)
{
	ssize_t done;

	if (request->sectors > BUFFER_BYTES / SECTOR_BYTES) {
		answer->error = E2BIG;
		return;
	}
	answer->sent_ns = wait_until(request->at_ns);
	errno = 0;
	done = carry_out(fd, buffer, request);
	answer->completion_ns = now_ns();
	answer->error = 0;
	if (done != (ssize_t)(request->sectors * SECTOR_BYTES))
		answer->error = errno ? (uint64_t)errno : EIO;
}

/* Serves until the host has no more requests. */
static void serve_all(int fd, char *buffer, char *page)
{
	const volatile struct request *asked = (void *)(page + REQUEST_AT);
	volatile struct answer *answered = (void *)(page + ANSWER_AT);
	struct answer answer = { .completion_ns = now_ns() };

	for (;;) {
		*answered = answer;
		outb(ASK, ASK_PORT);
		if (asked->op == SERVE_END)
			return;
		struct request request = *asked;
		serve(fd, buffer, &request, &answer);
	}
}

int main(int argc, char **argv)
{
	struct sched_param first = { .sched_priority = 1 };
	struct wire wire;
	char *buffer, *page;
	int fd;

	if (argc != 2) {
		fputs("serve DISK\n", stderr);
		return EXIT_USAGE;
	}
	fd = open(argv[1], O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return complain(argv[1]);
	if (wire_open(&wire))
		return EXIT_FAILED;
	page = wire_map(&wire, 0);
	if (!page)
		return EXIT_FAILED;
	if (posix_memalign((void **)&buffer, 4096, BUFFER_BYTES))
		return complain("memory");
	memset(buffer, 0, BUFFER_BYTES);
	if (ioperm(ASK_PORT, 1, 1) || sched_setscheduler(0, SCHED_FIFO, &first))
		return complain("port or scheduling");
	serve_all(fd, buffer, page);
	return 0;
}
