// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "../engine.h"
#include "confine.h"
#include "fault.h"

static const int signals[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXFSZ, SIGXCPU,
};

static struct {
	struct fault *fault;
	const char *file[PARTS];
	void (*noted)(void);
	char stack[65536]; /* the process's own stack may be exhausted */
	uintptr_t top; /* near the beginning of the process's own stack */
} watch;

#define DEEP (1u << 20) /* a stack of fewer bytes is not used up */
#define NEAR (1u << 16) /* a function's variables are seldom larger */

/* System calls that read a clock, and those that wait. */
static const int clocks[] = {
	SYS_clock_gettime, SYS_gettimeofday, SYS_getrusage, SYS_times,
#ifdef SYS_time
	SYS_time,
#endif
};
static const int sleeping[] = {
	SYS_futex,	 SYS_ppoll,	    SYS_pselect6,	 SYS_nanosleep,
	SYS_epoll_pwait, SYS_rt_sigsuspend, SYS_clock_nanosleep, SYS_sched_yield,
#ifdef SYS_poll
	SYS_poll,	 SYS_select,	    SYS_pause,		 SYS_epoll_wait,
#endif
};

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

static bool has(const int *calls, u32 count, int call)
{
	while (count && calls[count - 1] != call)
		count--;
	return count;
}

#ifdef __x86_64__
#define LONGEST_CODE 12 /* bytes of prefixes before the last two or three bytes */

static bool is_prefix(u8 byte)
{
	static const u8 legacy[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
				     0x66, 0x67, 0xf0, 0xf2, 0xf3 };

	return (byte & 0xf0) == 0x40 || memchr(legacy, byte, sizeof(legacy));
}

/* Was the instruction that read the processor's clock (confine.c)? */
static bool reads_clock(const siginfo_t *info, const ucontext_t *context)
{
	uintptr_t at = context->uc_mcontext.gregs[REG_RIP];
	const u8 *code = (const u8 *)at;

	if (info->si_code != SI_KERNEL || at >> 47)
		return false;
	while (is_prefix(*code) && code < (const u8 *)at + LONGEST_CODE)
		code++;
	return code[0] == 0x0f &&
	       (code[1] == 0x31 || (code[1] == 0x01 && code[2] == 0xf9));
}

static uintptr_t stack_of(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RSP];
}
#else
static bool reads_clock(const siginfo_t *info, const ucontext_t *context)
{
	return false;
}

static uintptr_t stack_of(const ucontext_t *context)
{
	return context->uc_mcontext.sp;
}
#endif

static u32 cause(const siginfo_t *info, const ucontext_t *context)
{
	uintptr_t at = (uintptr_t)info->si_addr, stack = stack_of(context);

	if (info->si_signo == SIGSYS &&
	    has(clocks, ARRAY_SIZE(clocks), info->si_syscall))
		return FAULT_CLOCK;
	if (info->si_signo == SIGSYS &&
	    has(sleeping, ARRAY_SIZE(sleeping), info->si_syscall))
		return FAULT_SLEEP;
	if (info->si_signo != SIGSEGV)
		return FAULT_OTHER;
	if (reads_clock(info, context) || confine_has_clock(at))
		return FAULT_CLOCK;
	if (watch.top - stack > DEEP && watch.top > stack &&
	    at + NEAR - stack < 2 * NEAR)
		return FAULT_STACK;
	return FAULT_OTHER;
}

static void note(int signal, siginfo_t *info, void *context)
{
	watch.fault->cause = cause(info, context);
	watch.fault->full = confine_is_full();
	watch.fault->signal = signal;
	_Unwind_Backtrace(look, NULL);
	if (watch.noted)
		watch.noted();
	raise(signal); /* the handler is no longer installed, so this ends the process */
}

/* Most calls that are stopped end the process. */
static void note_call(int signal, siginfo_t *info, void *context)
{
	static bool again;

	if (confine_describes_file(info, context))
		return;
	if (again)
		_exit(SIGNALLED + signal); /* note() raised it */
	again = true;
	note(signal, info, context);
}

void fault_watch_file(u32 part, const char *file)
{
	watch.file[part] = file;
}

void fault_watch(struct fault *fault, void (*noted)(void))
{
	stack_t stack = { .ss_sp = watch.stack, .ss_size = sizeof(watch.stack) };
	struct sigaction action = {
		.sa_sigaction = note,
		.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER | SA_SIGINFO,
	};
	u32 i;

	watch.fault = fault;
	watch.noted = noted;
	watch.top = (uintptr_t)&action;
	sigaltstack(&stack, NULL);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
	action.sa_sigaction = note_call;
	action.sa_flags &= ~SA_RESETHAND;
	sigaction(SIGSYS, &action, NULL);
}
