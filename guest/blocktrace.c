// SPDX-License-Identifier: MIT
/*
 * Records the kernel's own trace of a disk (blktrace).  The records stay in kernel memory until the
 * measurement is over, so no process runs and writes files during the measurement:
 *
 *   blocktrace start DISK KIB    starts recording; keeps the first KIB of records of each processor
 *   blocktrace stop DISK         stops recording; afterwards the records can be read
 *   blocktrace end DISK          frees the memory
 *
 * Between "stop" and "end", debugfs holds the records in block/NAME/trace0, trace1 and so on, in
 * the format of blktrace's files.  block/NAME/dropped holds the number of lost records.  Time
 * stamps are from CLOCK_MONOTONIC.
 */
#include <fcntl.h>
#include <linux/blktrace_api.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "complain.h"
#include "options.h"

#define PIECE_BYTES (64u << 10)
#define KIB_MAX (1u << 20)
#define ALL_ACTIONS 0xffff

static int start(int disk, uint32_t kib)
{
	struct blk_user_trace_setup setup = {
		.act_mask = ALL_ACTIONS,
		.buf_size = PIECE_BYTES,
		.buf_nr = (kib * 1024ull + PIECE_BYTES - 1) / PIECE_BYTES,
	};

	if (ioctl(disk, BLKTRACESETUP, &setup))
		return complain("BLKTRACESETUP");
	if (!ioctl(disk, BLKTRACESTART))
		return 0;
	complain("BLKTRACESTART");
	ioctl(disk, BLKTRACETEARDOWN);
	return EXIT_FAILED;
}

static int usage(void)
{
	fputs("blocktrace start DISK KIB | blocktrace stop DISK | blocktrace end "
	      "DISK\n",
	      stderr);
	return EXIT_USAGE;
}

static int act(int argc, char **argv, int disk)
{
	if (argc == 4 && !strcmp(argv[1], "start"))
		return start(disk, option_number("KIB", argv[3], 1, KIB_MAX));
	if (argc == 3 && !strcmp(argv[1], "stop"))
		return ioctl(disk, BLKTRACESTOP) ? complain("BLKTRACESTOP") : 0;
	if (argc == 3 && !strcmp(argv[1], "end"))
		return ioctl(disk, BLKTRACETEARDOWN) ? complain("BLKTRACETEARDOWN") : 0;
	return usage();
}

int main(int argc, char **argv)
{
	int disk, code;

	if (argc < 3)
		return usage();
	disk = open(argv[2], O_RDONLY);
	if (disk < 0)
		return complain(argv[2]);
	code = act(argc, argv, disk);
	close(disk);
	return code;
}
