// SPDX-License-Identifier: MIT
/*
 * uring [polled] DEVICE: has io_uring read 16 pages at once, and prints "read N".
 *
 * io_uring sends each read with NOWAIT first, and again from a thread if that is
 * refused.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../guest/complain.h"

#define READS 16
#define BYTES 4096

static void *mapped(int ring, size_t bytes, off_t at)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		    ring, at);
}

int main(int argc, char **argv)
{
	int polled = argc == 3 && !strcmp(argv[1], "polled");
	int device = open(argv[argc - 1], O_RDONLY | O_DIRECT);
	struct io_uring_params p = { .flags = polled ? IORING_SETUP_IOPOLL : 0 };
	int ring = (int)syscall(SYS_io_uring_setup, READS, &p);
	char *sq, *cq, *memory = aligned_alloc(BYTES, READS * BYTES);
	struct io_uring_sqe *entries;
	struct io_uring_cqe *results;
	unsigned int *order, done = 0, read = 0, last, i;

	if (device < 0 || ring < 0 || !memory)
		return complain(argv[argc - 1]);
	sq = mapped(ring, p.sq_off.array + READS * sizeof(*order), IORING_OFF_SQ_RING);
	cq = mapped(ring, p.cq_off.cqes + p.cq_entries * sizeof(*results),
		    IORING_OFF_CQ_RING);
	entries = mapped(ring, READS * sizeof(*entries), IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || entries == MAP_FAILED)
		return complain("the ring");
	order = (void *)(sq + p.sq_off.array);
	for (i = 0; i < READS; i++) {
		entries[i] = (struct io_uring_sqe){
			.opcode = IORING_OP_READ,
			.fd = device,
			.off = 1000ull * BYTES * i,
			.addr = (unsigned long)memory + BYTES * i,
			.len = BYTES,
		};
		order[i] = i;
	}
	__atomic_store_n((unsigned int *)(sq + p.sq_off.tail), READS, __ATOMIC_RELEASE);
	results = (void *)(cq + p.cq_off.cqes);
	for (i = READS; done < READS; i = 0) {
		/* The kernel polls only while the completion queue is empty. */
		if (syscall(SYS_io_uring_enter, ring, i, 1, IORING_ENTER_GETEVENTS,
			    NULL, 0) < 0)
			return complain("io_uring_enter");
		last = __atomic_load_n((unsigned int *)(cq + p.cq_off.tail),
				       __ATOMIC_ACQUIRE);
		while (done < last)
			read += results[done++].res == BYTES;
		__atomic_store_n((unsigned int *)(cq + p.cq_off.head), done,
				 __ATOMIC_RELEASE);
	}
	printf("read %u\n", read);
	return 0;
}
