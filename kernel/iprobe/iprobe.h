/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The intercept probe: replace any kernel function at run time, from a module, with no change to
 * the kernel (PERFORM 2010 section 2.1, Jones 2010 section 3.1.2).
 *
 * The papers patch the probed instruction in single-step mode, which leaves a window in which two
 * CPUs can race.  Here ftrace redirects each call at the function's entry, atomically, so there is
 * no window.
 *
 * A replacement has the prototype of the function that it replaces.  It may call that function
 * through probe->original.  It calls iprobe_done(probe) just before it returns:
 *
 *	static long my_fn(long x)
 *	{
 *		long (*original)(long) = probe.original;
 *		long ret = original(x) + 1;
 *
 *		iprobe_done(&probe);
 *		return ret;
 *	}
 */
#ifndef UNDERSTUDY_IPROBE_H
#define UNDERSTUDY_IPROBE_H

#include <linux/atomic.h>
#include <linux/ftrace.h>

struct pt_regs;

/**
 * struct iprobe - one replaced function
 * @symbol: name of the function, in the kernel or in a loaded module; or NULL
 * @address: its address if @symbol is NULL; filled in from @symbol otherwise
 * @replacement: called instead of the function
 * @decide: called at each call, in the caller's context, with the arguments in
 *	@regs: true to replace this call.  NULL replaces every call.  Must not
 *	sleep, nor call the probed function by its name.
 * @data: for the owner of the probe
 * @original: set on registration; calling it runs the original function and is
 *	never intercepted
 *
 * The rest is private.
 */
struct iprobe {
	const char *symbol;
	unsigned long address;
	void *replacement;
	bool (*decide)(struct iprobe *probe, struct pt_regs *regs);
	void *data;
	void *original;

	struct ftrace_ops ops;
	struct list_head list;
	bool registered;
	atomic_t in_flight;
};

/**
 * iprobe_register - begin to intercept a function
 * @probe: symbol or address, replacement and optionally decide filled in; the
 *	rest zero
 *
 * Context: process, may sleep.
 * Return: 0; -ENOENT if there is no such function; -EOPNOTSUPP if it can't be
 * intercepted (it has no ftrace entry, or the CPU checks indirect branches);
 * -EBUSY if another user (a live patch) replaces it already.
 */
int iprobe_register(struct iprobe *probe);

/**
 * iprobe_registered - is the function being intercepted?
 * @probe: a probe that was registered once, or zero
 *
 * When the module with the function is unloaded, the probe is released by itself.  The owner must
 * unregister it all the same.
 */
static inline bool iprobe_registered(const struct iprobe *probe)
{
	return READ_ONCE(probe->registered);
}

/**
 * iprobe_unregister - stop, and wait until no CPU and no sleeping task is inside
 * the replacement any more
 * @probe: a registered probe
 *
 * Afterwards the module that holds the replacement may be unloaded.
 * Context: process, may sleep.
 */
void iprobe_unregister(struct iprobe *probe);

/* The last thing that a replacement does. */
static inline void iprobe_done(struct iprobe *probe)
{
	atomic_dec(&probe->in_flight);
}

#endif
