// SPDX-License-Identifier: MIT
/*
 * simulate SCHEDULER.so: do a job with a scheduler of this project. Descriptor 3 is the memory that
 * holds the job (job.h).
 *
 * simulate: do a job with a scheduler in a separate process, connected by descriptors 4 and 5
 * (line.h).
 *
 * simulate SCHEDULER.so MEMORY OUTPUT: run as that separate process. The process may use MEMORY
 * bytes of memory and print OUTPUT bytes. The process reads calls from descriptor 3 and answers on
 * descriptor 4. If there is one more argument, the file is a workload, and the process writes the
 * workload's steps instead (steps.h). The process must be started in a sandbox
 * (understudy_devices/native/worker.py); in addition, it restricts its own system calls.
 *
 * The starter watches the progress of all these processes. Each process ends when its starter ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apart.h"
#include "arrivals_file.h"
#include "confine.h"
#include "describe.h"
#include "job.h"
#include "serve.h"
#include "steps.h"

enum { JOB_DESCRIPTOR = 3, CALLS_DESCRIPTOR, REPLIES_DESCRIPTOR };
enum { SERVED_CALLS_DESCRIPTOR = 3, SERVED_REPLIES_DESCRIPTOR };

#define EXIT_UNUSABLE 120

static struct job *job; /* NULL in the scheduler's process */

void *port_zalloc(size_t bytes)
{
	void *memory;

	if (!job)
		return serve_zalloc(bytes);
	memory = calloc(1, bytes ?: 1);
	if (!memory)
		job->refused_bytes = bytes;
	return memory;
}

void port_free(void *memory)
{
	if (job)
		free(memory);
	else
		serve_free(memory);
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

/* Return the object that a file registers under this name, or NULL with the reason in words. */
static const void *load_any(const char *file, const char *name, char *words,
			    size_t bytes)
{
	void *code = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	const void *const *object = code ? dlsym(code, name) : NULL;

	if (!object)
		snprintf(words, bytes, "%s", dlerror());
	return object ? *object : NULL;
}

/* Check and return the file's only scheduler; NULL on error, with the reason in *error, words. */
static const struct scheduler *load(const char *file, s32 *error, char *words,
				    size_t bytes)
{
	const struct scheduler *scheduler;
	char broken[CONTRACT_TEXT];

	scheduler = load_any(file, "module_scheduler", words, bytes);
	*error = scheduler ? 0 : -ENOEXEC;
	if (!scheduler || contract_check_declaration(scheduler, broken))
		return scheduler;
	snprintf(words, bytes, "%s", broken);
	*error = -EPROTO;
	return NULL;
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

/* Return the scheduler: one of this project from a file, or one in a separate process. */
static const struct scheduler *meet(const char *file)
{
	char *words = job->text;
	struct apart_end end = { &job->fault, &job->refused_bytes };

	if (file) {
		fault_watch(&job->fault, file, NULL);
		return load(file, &job->error, words, sizeof(job->text));
	}
	return apart_open(CALLS_DESCRIPTOR, REPLIES_DESCRIPTOR, end, words,
			  &job->error);
}

static int do_job(const char *file)
{
	const struct scheduler *scheduler;
	size_t bytes;

	job = open_job(&bytes);
	if (!job || !confine(bytes + job->memory_bytes, job->output_bytes) ||
	    getppid() != job->starter)
		return EXIT_UNUSABLE;
	scheduler = meet(file);
	if (scheduler) {
		job_unpack(job, scheduler);
		job->error = carry_out(scheduler);
	} else if (job->error == -EPROTO) {
		snprintf(job->summary.broken, CONTRACT_TEXT, "%s", job->text);
	}
	fflush(stdout);
	job->ended = 1;
	return 0;
}

static int serve_one(char **argv, bool workload)
{
	const char *file = argv[1];
	char words[CONTRACT_TEXT] = "";
	const void *object;
	s32 error;

	if (!confine(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10)))
		return EXIT_UNUSABLE;
	serve_begin(SERVED_CALLS_DESCRIPTOR, SERVED_REPLIES_DESCRIPTOR, file);
	if (!confine_calls())
		return EXIT_UNUSABLE;
	if (workload) {
		object = load_any(file, "module_workload", words, sizeof(words));
		return steps_serve(object, words, SERVED_CALLS_DESCRIPTOR,
				   SERVED_REPLIES_DESCRIPTOR);
	}
	object = load(file, &error, words, sizeof(words));
	serve(object, error, words);
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0); /* so that a crash loses no output */
	return argc >= 4 ? serve_one(argv, argc == 5) : do_job(argv[1]);
}
