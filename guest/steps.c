// SPDX-License-Identifier: MIT
/*
 * Executes the rows of a table, in a closed loop.  For each row, a process waits for the think
 * time, then reads or writes some sectors of the disk, bypassing the page cache, and waits for
 * completion.  After its last row the process sleeps.  Written sectors are zeros.
 * sim/workloads/rows.c executes the same table in the simulator.
 *
 * The table is a little-endian file: struct steps_header, the index of each process's first row,
 * the index after the last row of the last process, and the rows.
 * understudy_devices/ask/workloads/own.py writes the file.
 *
 * In the log, `offset` is the byte offset on the disk, plus 1 for a write.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"
#include "options.h"
#include "reads.h"

#define MAGIC "USSTEPS1"
#define SECTOR_BYTES 512u
#define SECTORS_MAX 32768u
#define DAY_NS 86400000000000u

struct steps_header {
	char magic[8];
	uint64_t processes;
};

struct steps_row {
	uint64_t think_ns;
	uint64_t sector;
	uint32_t sectors;
	uint32_t write;
};

struct steps {
	const char *device;
	const char *path;
	int fd;
	uint64_t processes;
	const uint64_t *first;
	const struct steps_row *rows;
	bool writes;
};

static uint32_t longest(const struct steps *steps, uint64_t first, uint64_t end)
{
	uint32_t sectors = 1;

	for (; first < end; first++) {
		if (steps->rows[first].sectors > sectors)
			sectors = steps->rows[first].sectors;
	}
	return sectors;
}

static void run(void *context, struct reads_process *process)
{
	const struct steps *steps = context;
	uint64_t i = steps->first[process->number];
	uint64_t end = steps->first[process->number + 1];
	uint32_t most = longest(steps, i, end);
	void *buffer = reads_sectors_buffer(most);
	void *zeros = steps->writes ? reads_sectors_buffer(most) : NULL;

	for (; i < end; i++) {
		const struct steps_row *row = &steps->rows[i];
		uint64_t at = row->sector * SECTOR_BYTES;

		if (row->think_ns)
			reads_sleep(row->think_ns);
		reads_sectors(process, steps->fd, row->write ? zeros : buffer,
			      row->sectors, at, row->write, at | row->write);
	}
	for (;;)
		reads_sleep(DAY_NS);
}

/* Maps the whole file; returns NULL on failure. */
static const char *map(const char *path, uint64_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *memory;

	if (fd < 0 || fstat(fd, &status))
		return NULL;
	*bytes = status.st_size;
	memory = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

static int refuse(const char *path)
{
	fprintf(stderr, "%s: not a table of steps\n", path);
	return EXIT_FAILED;
}

/* Finds the parts of the table, and checks that all of them are within the file. */
static bool take(struct steps *steps, const char *memory, uint64_t bytes)
{
	const struct steps_header *header = (const void *)memory;
	uint64_t count, i;

	if (bytes < sizeof(*header) || memcmp(header->magic, MAGIC, 8) ||
	    header->processes > PROCESSES_MAX)
		return false;
	steps->processes = header->processes;
	steps->first = (const void *)(header + 1);
	if (bytes < sizeof(*header) + 8 * (steps->processes + 1))
		return false;
	steps->rows = (const void *)(steps->first + steps->processes + 1);
	count = (bytes - ((const char *)steps->rows - memory)) / sizeof(*steps->rows);
	for (i = 0; i < steps->processes; i++) {
		if (steps->first[i] > steps->first[i + 1])
			return false;
	}
	if (steps->first[steps->processes] != count)
		return false;
	for (i = 0; i < count; i++) {
		if (!steps->rows[i].sectors || steps->rows[i].sectors > SECTORS_MAX ||
		    steps->rows[i].write > 1)
			return false;
		steps->writes |= steps->rows[i].write;
	}
	return true;
}

static int open_all(struct steps *steps)
{
	uint64_t bytes;
	const char *memory = map(steps->path, &bytes);

	if (!memory)
		return complain(steps->path);
	if (!take(steps, memory, bytes))
		return refuse(steps->path);
	steps->fd = open(steps->device,
			 (steps->writes ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC);
	return steps->fd < 0 ? complain(steps->device) : 0;
}

static void usage(void)
{
	fputs("steps --device DISK --steps FILE\n" READS_USAGE, stderr);
	exit(EXIT_USAGE);
}

static const struct option long_options[] = { READS_LONG_OPTIONS,
					      { "device", required_argument, NULL,
						'd' },
					      { "steps", required_argument, NULL, 'f' },
					      { NULL, 0, NULL, 0 } };

static void parse(int argc, char **argv, struct steps *steps,
		  struct reads_options *options)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'd')
			steps->device = optarg;
		else if (option == 'f')
			steps->path = optarg;
		else if (!reads_option(options, option, optarg))
			usage();
	}
	if (optind != argc || !steps->device || !steps->path)
		usage();
}

int main(int argc, char **argv)
{
	struct reads_options options = { .processes = 1,
					 .seed = 1,
					 .log_max = LOG_MAX_DEFAULT };
	struct steps steps = { .fd = -1 };
	struct reads_play play = { .run = run, .context = &steps };

	parse(argc, argv, &steps, &options);
	if (open_all(&steps))
		return EXIT_FAILED;
	if (options.processes > steps.processes) {
		fprintf(stderr, "%s: it has steps of %llu processes, not of %u\n",
			steps.path, (unsigned long long)steps.processes,
			options.processes);
		return EXIT_FAILED;
	}
	return reads_run(&options, &play);
}
