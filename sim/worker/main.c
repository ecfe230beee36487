// SPDX-License-Identifier: MIT
/*
 * simulate SCHEDULER.so: a process in which somebody's scheduler runs, so that it can
 * harm nobody.  Descriptor 3 is the memory that holds the job (job.h).
 *
 * It ends with its starter.  Its memory and what it prints are limited; its time is
 * watched by the starter, who sees whether it gets on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrivals_file.h"
#include "describe.h"
#include "job.h"

#define JOB_DESCRIPTOR 3
#define EXIT_UNUSABLE 120

static struct job *job;

void *port_zalloc(size_t bytes)
{
	void *memory = calloc(1, bytes ?: 1);

	if (!memory)
		job->refused_bytes = bytes;
	return memory;
}

void port_free(void *memory)
{
	free(memory);
}

static struct job *open_job(size_t *bytes)
{
	struct stat status;
	void *memory;

	if (fstat(JOB_DESCRIPTOR, &status) || status.st_size < (off_t)sizeof(*job))
		return NULL;
	*bytes = status.st_size;
	memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, JOB_DESCRIPTOR,
		      0);
	close(JOB_DESCRIPTOR);
	return memory == MAP_FAILED ? NULL : memory;
}

static void limit(int what, u64 to)
{
	struct rlimit both = { to, to };

	if (setrlimit(what, &both))
		_exit(EXIT_UNUSABLE);
}

static void confine(size_t job_bytes)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != job->starter)
		_exit(EXIT_UNUSABLE);
	limit(RLIMIT_AS, job_bytes + job->memory_bytes);
	limit(RLIMIT_FSIZE, job->output_bytes);
	limit(RLIMIT_CORE, 0);
}

/* Its file's only scheduler, fit to be called; or NULL, and words about it. */
static const struct scheduler *load(const char *file)
{
	const struct scheduler *const *found;
	void *code = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	found = code ? dlsym(code, "module_scheduler") : NULL;
	if (!found) {
		snprintf(job->text, sizeof(job->text), "%s", dlerror());
		job->error = -ENOEXEC;
		return NULL;
	}
	if (!contract_check_declaration(*found, job->summary.broken)) {
		job->error = -EPROTO;
		return NULL;
	}
	return *found;
}

static int read_arrivals(void)
{
	struct world *world = &job->input.world;
	struct arrivals *arrivals;

	if (!job->paths)
		return 0;
	arrivals = port_zalloc(world->processes * sizeof(*arrivals));
	if (!arrivals)
		return -ENOMEM;
	world->arrivals = arrivals;
	return arrivals_map(job->paths, arrivals, world->processes);
}

static int carry_out(const struct scheduler *scheduler)
{
	switch ((enum job_kind)job->kind) {
	case JOB_DESCRIBE:
		return describe(scheduler, job->text, sizeof(job->text));
	case JOB_SIMULATE:
		return read_arrivals() ?: sim_run(&job->input, &job->summary);
	case JOB_REPLAY:
		return replay_run(&job->replay);
	}
	return -EINVAL;
}

int main(int argc, char **argv)
{
	const struct scheduler *scheduler;
	size_t bytes;

	job = argc == 2 ? open_job(&bytes) : NULL;
	if (!job)
		return EXIT_UNUSABLE;
	confine(bytes);
	fault_watch(&job->fault, argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0); /* what is printed before a crash is seen */
	scheduler = load(argv[1]);
	if (scheduler) {
		job_unpack(job, scheduler);
		job->error = carry_out(scheduler);
	}
	fflush(stdout);
	job->ended = 1;
	return 0;
}
