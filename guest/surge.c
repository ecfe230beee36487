// SPDX-License-Identifier: MIT
/*
 * The SURGE workload of PERFORM 2010 section 5: each process executes the ON/OFF loop of Figure 2
 * until it is killed.  A process samples a number of files from Pareto(2.43, 1.00), and then that
 * many files from a Zipf distribution.  The process reads each file page by page, and sleeps for a
 * time sampled from Pareto(1.5, 2.0 ms) after every page.  All samples are integers from the
 * process's own random stream, so the requests of a process do not depend on how the processes are
 * scheduled.
 *
 * In the log, `offset` is (file index << 32) + the byte offset in the file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../core/surge.h"
#include "call.h"
#include "complain.h"
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
	long fd, error;

	file_path(path, surge->dir, index, surge->files);
	fd = call(SYS_open, (long)path, surge->open_flags, 0, 0);
	if (fd < 0)
		return (int)fd;
	error = call(SYS_fstat, fd, (long)&stat, 0, 0);
	if (error) {
		call(SYS_close, fd, 0, 0, 0);
		return (int)error;
	}
	*bytes = (uint64_t)stat.st_size;
	return (int)fd;
}

/*
 * After a failed open or read, skips the rest of the file.  The sleep after a failure keeps the
 * loop from spinning on a dead disk.
 */
static void read_file(const struct surge *surge, struct reads_process *process,
		      void *page)
{
	uint32_t index = surge_file(&process->draw, surge->files);
	uint64_t logged = (uint64_t)index << 32;
	uint64_t bytes = 0;
	long got = PAGE_BYTES;
	int fd = open_file(surge, index, &bytes);

	if (fd < 0) {
		reads_log_failure(process, logged, -fd);
		think(surge, &process->draw);
		return;
	}
	for (uint64_t at = 0; at < bytes && got > 0; at += PAGE_BYTES) {
		got = reads_page(process, fd, page, at, false, logged + at);
		think(surge, &process->draw);
	}
	call(SYS_close, fd, 0, 0, 0);
}

static void run(void *context, struct reads_process *process)
{
	const struct surge *surge = context;
	void *page = reads_buffer();

	for (;;)
		for (uint64_t n = surge_file_count(&process->draw); n; n--)
			read_file(surge, process, page);
}

/*
 * Opens a file and queries its extents.  Afterwards the file's inode and extents are in memory, so
 * the run reads only data.  Returns 0 or an errno.
 */
static int look_up(const struct surge *surge, uint32_t index, uint64_t *bytes)
{
	struct fiemap map = { .fm_length = FIEMAP_MAX_OFFSET };
	int fd = open_file(surge, index, bytes);

	if (fd < 0)
		return -fd;
	call(SYS_ioctl, fd, FS_IOC_FIEMAP, (long)&map, 0);
	call(SYS_close, fd, 0, 0, 0);
	return 0;
}

/*
 * Samples a file as in the run, but looks it up instead of reading it.  Also consumes the random
 * numbers for the file's sleeps, so that the next files are those of the run.  Returns the number
 * of reads that the file would take.
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

/* Looks up every file once. */
static int look_up_all(const struct surge *surge)
{
	uint64_t bytes;
	int error = 0;

	for (uint32_t index = 0; index < surge->files && !error; index++)
		error = look_up(surge, index, &bytes);
	return error ? complain_of(surge->dir, error) : 0;
}

static void usage(void)
{
	fputs("surge --dir FOLDER --files N --look-up\n"
	      "surge --dir FOLDER --files N [--direct] [--think-scale-milli 1000]\n"
	      "       [--rehearse READS_EACH]\n" READS_USAGE,
	      stderr);
	exit(EXIT_USAGE);
}

static const struct option long_options[] = {
	READS_LONG_OPTIONS,
	{ "dir", required_argument, NULL, 'd' },
	{ "files", required_argument, NULL, 'f' },
	{ "direct", no_argument, NULL, 'D' },
	{ "think-scale-milli", required_argument, NULL, 't' },
	{ "look-up", no_argument, NULL, 'u' },
	{ "rehearse", required_argument, NULL, 'r' },
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
		else if (!reads_option(options, option, optarg))
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
		complain(surge.dir);
		return EXIT_USAGE;
	}
	if (surge.look_up)
		return look_up_all(&surge);
	return reads_run(&options, &play);
}
