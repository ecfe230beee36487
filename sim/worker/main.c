// SPDX-License-Identifier: MIT
/*
 * simulate job SCHEDULER PREFETCHER REPLACER: do a job with these parts. A part is a file of this
 * project, NAME.so; or the descriptors CALLS:REPLIES of a separate process (line.h) with the part;
 * or "-" if the job has no such part. Descriptor 3 is the memory that holds the job (job.h).
 *
 * simulate serve PART FILE.so MEMORY OUTPUT: run as such a separate process for the part with this
 * number (enum sim_part). The process may use MEMORY bytes of memory and print OUTPUT bytes. The
 * process reads calls from descriptor 3 and answers on descriptor 4.
 *
 * simulate steps FILE.so MEMORY OUTPUT: the file is a workload; likewise, but write the workload's
 * steps instead (steps.h).
 *
 * simulate guard COMMAND...: run a command until it ends or descriptor 0 is closed (guard.h).
 *
 * A process that serves must be started in a sandbox (understudy_devices/native/worker.py); in
 * addition, it restricts its own system calls. The starter watches the progress of all these
 * processes. Each process ends when its starter ends: the guard around the sandbox sees to this.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/prefetch_contract.h"
#include "../../core/replacement_contract.h"
#include "apart.h"
#include "arrivals_file.h"
#include "confine.h"
#include "describe.h"
#include "guard.h"
#include "job.h"
#include "serve.h"
#include "steps.h"

enum { JOB_DESCRIPTOR = 3 };
enum { SERVED_CALLS_DESCRIPTOR = 3, SERVED_REPLIES_DESCRIPTOR };

#define EXIT_UNUSABLE 120

static struct job *job; /* NULL in a process that serves */

/* What the file of each part registers. */
static const char *const symbols[PARTS] = {
	[PART_SCHEDULER] = "module_scheduler",
	[PART_PREFETCHER] = "module_prefetcher",
	[PART_REPLACER] = "module_replacer",
};

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

static bool check_declaration(u32 part, const void *object, char *broken)
{
	switch ((enum sim_part)part) {
	case PART_SCHEDULER:
		return contract_check_declaration(object, broken);
	case PART_PREFETCHER:
		return prefetch_check_declaration(object, broken);
	case PART_REPLACER:
		return replacement_check_declaration(object, broken);
	default:
		return false;
	}
}

/* Check and return the file's only part; NULL on error, with the reason in *error, words. */
static const void *load(u32 part, const char *file, s32 *error, char *words,
			size_t bytes)
{
	const void *object = load_any(file, symbols[part], words, bytes);
	char broken[CONTRACT_TEXT];

	*error = object ? 0 : -ENOEXEC;
	if (!object || check_declaration(part, object, broken))
		return object;
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

static struct declaration declaration_of(u32 part, const void *object)
{
	const struct scheduler *scheduler = object;
	const struct prefetcher *prefetcher = object;
	const struct replacer *replacer = object;

	return part == PART_SCHEDULER	 ? DECLARATION(scheduler)
	       : part == PART_PREFETCHER ? DECLARATION(prefetcher)
					 : DECLARATION(replacer);
}

static bool needs_model(u32 part, const void *object)
{
	return part == PART_SCHEDULER &&
	       ((const struct scheduler *)object)->needs_model;
}

static int describe_only(const struct parts *parts)
{
	u32 part = parts->scheduler    ? PART_SCHEDULER
		   : parts->prefetcher ? PART_PREFETCHER
				       : PART_REPLACER;
	const void *object = parts->scheduler	 ? (const void *)parts->scheduler
			     : parts->prefetcher ? (const void *)parts->prefetcher
						 : (const void *)parts->replacer;
	struct declaration declaration = declaration_of(part, object);

	job->declared[part] = describe_digest(&declaration, needs_model(part, object));
	return describe(&declaration, needs_model(part, object), job->text,
			sizeof(job->text));
}

/* Has the part the declaration from which the starter made the job? */
static bool declares_as_before(u32 part, const void *object)
{
	struct declaration declaration = declaration_of(part, object);

	return !job->declared[part] ||
	       job->declared[part] ==
		       describe_digest(&declaration, needs_model(part, object));
}

static int carry_out(const struct parts *parts)
{
	switch ((enum job_kind)job->kind) {
	case JOB_DESCRIBE:
		return describe_only(parts);
	case JOB_SIMULATE:
		return read_arrivals() ?: sim_run(&job->input, &job->summary);
	case JOB_REPLAY:
		return replay_run(&job->replay);
	}
	return -EINVAL;
}

/* Return the part in a separate process, or NULL with the reason in the job. */
static const void *meet_apart(u32 part, struct apart_pipes pipes)
{
	struct apart_end end = { &job->fault, &job->refused_bytes };

	switch ((enum sim_part)part) {
	case PART_SCHEDULER:
		return apart_scheduler(pipes, end, job->text, &job->error);
	case PART_PREFETCHER:
		return apart_prefetcher(pipes, end, job->text, &job->error);
	case PART_REPLACER:
		return apart_replacer(pipes, end, job->text, &job->error);
	default:
		return NULL;
	}
}

/* Set *object to the part that an argument names; return whether the job can have it. */
static bool meet(u32 part, const char *argument, const void **object)
{
	struct apart_pipes pipes;

	*object = NULL;
	if (!strcmp(argument, "-"))
		return true;
	if (sscanf(argument, "%d:%d", &pipes.calls, &pipes.replies) == 2) {
		*object = meet_apart(part, pipes);
	} else {
		fault_watch_file(part, argument);
		*object =
			load(part, argument, &job->error, job->text, sizeof(job->text));
	}
	if (*object && declares_as_before(part, *object))
		return true;
	job->fault.part = part;
	if (*object) {
		job->error = -EPROTO;
		snprintf(job->text, sizeof(job->text),
			 "it declares something else than before");
	}
	if (job->error == -EPROTO) {
		job->summary.part = part;
		snprintf(job->summary.broken, CONTRACT_TEXT, "%s", job->text);
	}
	return false;
}

static bool meet_all(char **arguments, struct parts *parts)
{
	return meet(PART_SCHEDULER, arguments[PART_SCHEDULER],
		    (const void **)&parts->scheduler) &&
	       meet(PART_PREFETCHER, arguments[PART_PREFETCHER],
		    (const void **)&parts->prefetcher) &&
	       meet(PART_REPLACER, arguments[PART_REPLACER],
		    (const void **)&parts->replacer);
}

static int do_job(char **arguments)
{
	struct parts parts;
	size_t bytes;

	job = open_job(&bytes);
	if (!job || !confine(bytes + job->memory_bytes, job->output_bytes) ||
	    getppid() != job->starter)
		return EXIT_UNUSABLE;
	fault_watch(&job->fault, NULL);
	if (meet_all(arguments, &parts)) {
		job_unpack(job, &parts);
		job->error = carry_out(&parts);
	}
	fflush(stdout);
	job->ended = 1;
	return 0;
}

/* Restrict this process before it loads a user's file. */
static bool confine_for(u32 part, char **arguments)
{
	if (!confine(strtoull(arguments[1], NULL, 10),
		     strtoull(arguments[2], NULL, 10)))
		return false;
	serve_begin(SERVED_CALLS_DESCRIPTOR, SERVED_REPLIES_DESCRIPTOR, part,
		    arguments[0]);
	return confine_calls();
}

static int serve_part(u32 part, char **arguments)
{
	static struct line_self self;
	const void *object;

	if (part >= PARTS || !confine_for(part, arguments))
		return EXIT_UNUSABLE;
	object = load(part, arguments[0], &self.error, self.words, sizeof(self.words));
	switch ((enum sim_part)part) {
	case PART_SCHEDULER:
		serve_scheduler(object, &self);
		return 0;
	case PART_PREFETCHER:
		serve_prefetcher(object, &self);
		return 0;
	case PART_REPLACER:
		serve_replacer(object, &self);
		return 0;
	default:
		return EXIT_UNUSABLE;
	}
}

static int serve_steps(char **arguments)
{
	char words[CONTRACT_TEXT] = "";
	const void *workload;

	if (!confine_for(PART_SCHEDULER, arguments))
		return EXIT_UNUSABLE;
	workload = load_any(arguments[0], "module_workload", words, sizeof(words));
	return steps_serve(workload, words, SERVED_CALLS_DESCRIPTOR,
			   SERVED_REPLIES_DESCRIPTOR);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0); /* so that a crash loses no output */
	if (argc == 2 + PARTS && !strcmp(argv[1], "job"))
		return do_job(argv + 2);
	if (argc == 6 && !strcmp(argv[1], "serve"))
		return serve_part(atoi(argv[2]), argv + 3);
	if (argc == 5 && !strcmp(argv[1], "steps"))
		return serve_steps(argv + 2);
	if (argc >= 3 && !strcmp(argv[1], "guard"))
		return guard(STDIN_FILENO, argv + 2);
	return EXIT_UNUSABLE;
}
