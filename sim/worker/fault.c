// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unwind.h>

#include "../engine.h"
#include "fault.h"

static const int signals[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXFSZ, SIGXCPU,
};

static struct {
	struct fault *fault;
	const char *file[PARTS];
	void (*noted)(void);
	char stack[65536]; /* the process's own stack may be exhausted */
} watch;

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *nothing)
{
	int interrupted_here = 0;
	uintptr_t at = _Unwind_GetIPInfo(context, &interrupted_here);
	Dl_info object;
	u32 part;

	if (!interrupted_here)
		at--; /* the address after a call may belong to the next source line */
	if (!dladdr((void *)at, &object))
		return _URC_NO_REASON;
	for (part = 0; part < PARTS; part++) {
		if (!watch.file[part] || strcmp(object.dli_fname, watch.file[part]))
			continue;
		watch.fault->part = part;
		watch.fault->offset = at - (uintptr_t)object.dli_fbase;
		return _URC_END_OF_STACK;
	}
	return _URC_NO_REASON;
}

static void note(int signal)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	watch.fault->largest_bytes = usage.ru_maxrss * 1024ull;
	watch.fault->signal = signal;
	_Unwind_Backtrace(look, NULL);
	if (watch.noted)
		watch.noted();
	raise(signal); /* the handler is no longer installed, so this ends the process */
}

void fault_watch_file(u32 part, const char *file)
{
	watch.file[part] = file;
}

void fault_watch(struct fault *fault, void (*noted)(void))
{
	stack_t stack = { .ss_sp = watch.stack, .ss_size = sizeof(watch.stack) };
	struct sigaction action = {
		.sa_handler = note,
		.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER,
	};
	u32 i;

	watch.fault = fault;
	watch.noted = noted;
	sigaltstack(&stack, NULL);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
}
