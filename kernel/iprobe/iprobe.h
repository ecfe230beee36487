/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The intercept probe: a module can replace any kernel function at run time, without a change to
 * the kernel (PERFORM 2010 section 2.1, Jones 2010 section 3.1.2).
 *
 * The papers' probe patches the probed instruction and single-steps over it, which leaves a short
 * time in which two CPUs can race.  Here ftrace redirects each call at the function's entry,
 * atomically, so that race does not exist.
 *
 * A replacement has the same prototype as the function that it replaces.  The replacement may call
 * the replaced function through probe->original.  The replacement must call iprobe_done(probe) just
 * before it returns:
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
 * @symbol: name of a function in the kernel or in a loaded module, or NULL
 * @address: address of the function.  If @symbol is not NULL, registration fills it in.
 * @replacement: function to call instead of the replaced function; NULL if @decide only observes
 *	the calls and always returns false
 * @decide: called at each call of the function, in the caller's context, with the arguments in
 *	@regs.  Returns true to replace this call.  If @decide is NULL, every call is replaced.
 *	Must not sleep, and must not call the probed function by its name.
 * @data: for use by the owner of the probe
 * @original: set on registration.  A call through this pointer runs the original function and is
 *	never intercepted.
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
 * @probe: the caller has filled in @symbol or @address, @replacement and optionally @decide; the
 *	other fields are zero
 *
 * Context: process, may sleep.
 * Return: 0; -ENOENT if there is no such function; -EOPNOTSUPP if it can't be intercepted (it has
 * no ftrace entry, or the CPU checks indirect branches); -EBUSY if another user (a live patch)
 * replaces the function already.
 */
int iprobe_register(struct iprobe *probe);

/**
 * iprobe_registered - check whether the function is being intercepted
 * @probe: a probe that was registered before, or whose fields are all zero
 *
 * When the module with the function is unloaded, the probe is released automatically.  The owner
 * must still unregister the probe.
 */
static inline bool iprobe_registered(const struct iprobe *probe)
{
	return READ_ONCE(probe->registered);
}

/**
 * iprobe_unregister - stop the interception, and wait until no CPU and no sleeping task is inside
 * the replacement
 * @probe: a registered probe
 *
 * Afterwards the module that holds the replacement may be unloaded.
 * Context: process, may sleep.
 */
void iprobe_unregister(struct iprobe *probe);

/*
 * Marks the end of a replacement; must be its last call.
 */
static inline void iprobe_done(struct iprobe *probe)
{
	atomic_dec(&probe->in_flight);
}

#endif
