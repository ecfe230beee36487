// SPDX-License-Identifier: MIT
/*
 * Random pages over a whole disk, past the page cache: processes that read (or, in a
 * given share, write) 4 KiB at uniformly drawn places for ever.  With one process and
 * no writes this is how the papers measured their disk (PERFORM 2010 section 5), and
 * how the throttle's accuracy is measured.  Written pages are zeros: a disk that is
 * kept in memory may stay sparse.
 *
 * In the log, `offset` is the byte on the disk, plus 1 for a write (places are
 * multiples of 4096).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "reads.h"

struct random_pages {
	const char *device;
	int fd;
	uint64_t pages;
	uint32_t writes_percent;
	uint64_t think_ns;
};

static void run(void *context, struct draw *draw)
{
	const struct random_pages *random = context;
	void *page = reads_buffer();
	void *zeros = reads_buffer();

	for (;;) {
		bool write = draw_below(draw, 100) < random->writes_percent;
		uint64_t at = draw_below(draw, random->pages) * PAGE_BYTES;

		reads_page(random->fd, write ? zeros : page, at, write, at | write);
		if (random->think_ns)
			reads_sleep(random->think_ns);
	}
}

/* A regular file stands in for a disk in the tests. */
static int size_of(int fd, uint64_t *bytes)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return -1;
	if (S_ISBLK(stat.st_mode))
		return ioctl(fd, BLKGETSIZE64, bytes);
	*bytes = (uint64_t)stat.st_size;
	return 0;
}

static int open_device(struct random_pages *random)
{
	int access = random->writes_percent ? O_RDWR : O_RDONLY;
	uint64_t bytes = 0;

	random->fd = open(random->device, access | O_DIRECT | O_CLOEXEC);
	if (random->fd < 0 || size_of(random->fd, &bytes)) {
		fprintf(stderr, "%s: %s (errno %d)\n", random->device, strerror(errno),
			errno);
		return EXIT_FAILED;
	}
	random->pages = bytes / PAGE_BYTES;
	if (random->pages)
		return 0;
	fprintf(stderr, "%s: smaller than one page\n", random->device);
	return EXIT_FAILED;
}

static void usage(void)
{
	fputs("random --device DISK [--processes 1] [--seed 1] [--writes PERCENT]\n"
	      "       [--think-us 0] [--log FILE [--log-max ENTRIES]]\n",
	      stderr);
	exit(EXIT_USAGE);
}

static const struct option long_options[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "processes", required_argument, NULL, 'p' },
	{ "seed", required_argument, NULL, 's' },
	{ "writes", required_argument, NULL, 'w' },
	{ "think-us", required_argument, NULL, 't' },
	{ "log", required_argument, NULL, 'l' },
	{ "log-max", required_argument, NULL, 'm' },
	{ NULL, 0, NULL, 0 }
};

static void parse(int argc, char **argv, struct random_pages *random,
		  struct reads_options *options)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'd')
			random->device = optarg;
		else if (option == 'p')
			options->processes =
				option_number("--processes", optarg, 1, PROCESSES_MAX);
		else if (option == 's')
			options->seed = option_number("--seed", optarg, 0, UINT64_MAX);
		else if (option == 'w')
			random->writes_percent =
				option_number("--writes", optarg, 0, 100);
		else if (option == 't')
			random->think_ns =
				option_number("--think-us", optarg, 0, UINT32_MAX) *
				1000;
		else if (option == 'l')
			options->log_path = optarg;
		else if (option == 'm')
			options->log_max =
				option_number("--log-max", optarg, 1, UINT32_MAX);
		else
			usage();
	}
	if (optind != argc || !random->device)
		usage();
}

int main(int argc, char **argv)
{
	struct reads_options options = { .processes = 1,
					 .seed = 1,
					 .log_max = LOG_MAX_DEFAULT };
	struct random_pages random = { .fd = -1 };
	struct reads_play play = { .run = run, .context = &random };

	parse(argc, argv, &random, &options);
	if (open_device(&random))
		return EXIT_FAILED;
	return reads_run(&options, &play);
}
