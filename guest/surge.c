// SPDX-License-Identifier: MIT
/*
 * The SURGE workload of PERFORM 2010 section 5: processes that execute the ON/OFF loop
 * of Figure 2 for ever.  A process draws a file count from Pareto(2.43, 1.00), that
 * many files by Zipf, reads each page by page and sleeps Pareto(1.5, 2.0 ms) after
 * every page.  All draws are integers from the process's own stream, so what a process
 * asks for does not depend on how the processes are scheduled.
 *
 * In the log, `offset` is (file index << 32) + the byte in the file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../core/surge.h"
#include "file_path.h"
#include "options.h"
#include "reads.h"

struct surge {
	const char *dir;
	uint32_t files;
	int open_flags;
	uint32_t think_scale_milli;
	uint64_t rehearse_reads;
	bool look_up;
};

static void think(const struct surge *surge, struct draw *draw)
{
	reads_sleep(port_mul_div(surge_sleep_ns(draw), surge->think_scale_milli, 1000));
}

/* Returns a file descriptor, or a negative errno. */
static int open_file(const struct surge *surge, uint32_t index, uint64_t *bytes)
{
	char path[FILE_PATH_MAX];
	struct stat stat;
	int fd;

	file_path(path, surge->dir, index, surge->files);
	fd = open(path, surge->open_flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat)) {
		int error = errno;

		close(fd);
		return -error;
	}
	*bytes = (uint64_t)stat.st_size;
	return fd;
}

/* A failure ends the file; the sleep after it keeps a dead disk from spinning. */
static void read_file(const struct surge *surge, struct draw *draw, void *page)
{
	uint32_t index = surge_file(draw, surge->files);
	uint64_t logged = (uint64_t)index << 32;
	uint64_t bytes = 0;
	ssize_t got = PAGE_BYTES;
	int fd = open_file(surge, index, &bytes);

	if (fd < 0) {
		reads_log_failure(logged, -fd);
		think(surge, draw);
		return;
	}
	for (uint64_t at = 0; at < bytes && got > 0; at += PAGE_BYTES) {
		got = reads_page(fd, page, at, false, logged + at);
		think(surge, draw);
	}
	close(fd);
}

static void run(void *context, struct draw *draw)
{
	const struct surge *surge = context;
	void *page = reads_buffer();

	for (;;)
		for (uint64_t n = surge_file_count(draw); n; n--)
			read_file(surge, draw, page);
}

/*
 * Open a file and ask for its extents, so that the run finds inodes and extents in memory
 * and reads nothing but data.  Returns 0 or an errno.
 */
static int look_up(const struct surge *surge, uint32_t index, uint64_t *bytes)
{
	struct fiemap map = { .fm_length = FIEMAP_MAX_OFFSET };
	int fd = open_file(surge, index, bytes);

	if (fd < 0)
		return -fd;
	ioctl(fd, FS_IOC_FIEMAP, &map);
	close(fd);
	return 0;
}

/*
 * The rehearsal: the same draws, but each file is only looked up.  Returns the number of
 * reads that the file stands for.
 */
static uint64_t rehearse_file(const struct surge *surge, struct draw *draw)
{
	uint32_t index = surge_file(draw, surge->files);
	uint64_t bytes = 0, reads;
	int error = look_up(surge, index, &bytes);

	reads = error ? 1 : (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	for (uint64_t i = 0; i < reads; i++)
		surge_sleep_ns(draw);
	return reads;
}

static void rehearse(void *context, struct draw draw)
{
	const struct surge *surge = context;
	uint64_t reads = 0;

	while (reads < surge->rehearse_reads)
		for (uint64_t n = surge_file_count(&draw); n; n--)
			reads += rehearse_file(surge, &draw);
}

/* Every file once, for a file system small enough to be kept in memory. */
static int look_up_all(const struct surge *surge)
{
	for (uint32_t index = 0; index < surge->files; index++) {
		uint64_t bytes;
		int error = look_up(surge, index, &bytes);

		if (error) {
			fprintf(stderr, "file %u: %s (errno %d)\n", index,
				strerror(error), error);
			return EXIT_FAILED;
		}
	}
	return 0;
}

static void usage(void)
{
	fputs("surge --dir FOLDER --files N --look-up\n"
	      "surge --dir FOLDER --files N [--processes 50] [--seed 1] [--direct]\n"
	      "      [--think-scale-milli 1000] [--rehearse READS_EACH]\n"
	      "      [--cgroup FOLDER] [--log FILE [--log-max ENTRIES]]\n",
	      stderr);
	exit(EXIT_USAGE);
}

static const struct option long_options[] = {
	{ "dir", required_argument, NULL, 'd' },
	{ "files", required_argument, NULL, 'f' },
	{ "processes", required_argument, NULL, 'p' },
	{ "seed", required_argument, NULL, 's' },
	{ "direct", no_argument, NULL, 'D' },
	{ "think-scale-milli", required_argument, NULL, 't' },
	{ "look-up", no_argument, NULL, 'u' },
	{ "rehearse", required_argument, NULL, 'r' },
	{ "cgroup", required_argument, NULL, 'c' },
	{ "log", required_argument, NULL, 'l' },
	{ "log-max", required_argument, NULL, 'm' },
	{ NULL, 0, NULL, 0 }
};

static void parse(int argc, char **argv, struct surge *surge,
		  struct reads_options *options)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'd')
			surge->dir = optarg;
		else if (option == 'f')
			surge->files = option_number("--files", optarg, 1, 100000000);
		else if (option == 'p')
			options->processes =
				option_number("--processes", optarg, 1, PROCESSES_MAX);
		else if (option == 's')
			options->seed = option_number("--seed", optarg, 0, UINT64_MAX);
		else if (option == 'D')
			surge->open_flags |= O_DIRECT;
		else if (option == 't')
			surge->think_scale_milli = option_number("--think-scale-milli",
								 optarg, 0, 1000000);
		else if (option == 'u')
			surge->look_up = true;
		else if (option == 'r')
			surge->rehearse_reads =
				option_number("--rehearse", optarg, 0, UINT32_MAX);
		else if (option == 'c')
			options->cgroup = optarg;
		else if (option == 'l')
			options->log_path = optarg;
		else if (option == 'm')
			options->log_max =
				option_number("--log-max", optarg, 1, UINT32_MAX);
		else
			usage();
	}
	if (optind != argc || !surge->dir || !surge->files)
		usage();
}

int main(int argc, char **argv)
{
	struct reads_options options = { .processes = 50,
					 .seed = 1,
					 .log_max = LOG_MAX_DEFAULT };
	struct surge surge = { .open_flags = O_RDONLY | O_CLOEXEC,
			       .think_scale_milli = 1000 };
	struct reads_play play = { .run = run, .context = &surge };

	parse(argc, argv, &surge, &options);
	if (surge.rehearse_reads)
		play.prepare = rehearse;
	if (access(surge.dir, X_OK)) {
		fprintf(stderr, "%s: %s (errno %d)\n", surge.dir, strerror(errno),
			errno);
		return EXIT_USAGE;
	}
	if (surge.look_up)
		return look_up_all(&surge);
	return reads_run(&options, &play);
}
