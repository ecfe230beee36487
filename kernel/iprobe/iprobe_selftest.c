// SPDX-License-Identifier: GPL-2.0
/*
 * Tests iprobe on the running kernel: replacement, pass-through, a decision for each call, calls of
 * the original, refused registrations, a task that sleeps in a replacement, and two CPUs that call
 * a function while its probe is registered and unregistered again and again.
 *
 * Loading the module runs the test.  The test prints one line for each part, and the module loads
 * only if all parts succeed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "iprobe.h"

static unsigned int rounds = 1000;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "times to register and unregister under load");

/* The probed function belongs to the kernel, and its result for this argument is known. */
#define ARGUMENT 1000000UL
#define ROOT 1000UL

static unsigned long plus_one(unsigned long x);

static struct iprobe probe = { .symbol = "int_sqrt", .replacement = plus_one };

static unsigned long plus_one(unsigned long x)
{
	unsigned long (*original)(unsigned long) = probe.original;
	unsigned long root = original(x);

	iprobe_done(&probe);
	return root + 1;
}

static bool even_only(struct iprobe *p, struct pt_regs *regs)
{
	return regs->di % 2 == 0;
}

static int expect(const char *what, bool holds)
{
	pr_info("%s: %s\n", what, holds ? "ok" : "FAILED");
	return holds ? 0 : -EINVAL;
}

static int test_replacement(void)
{
	int ret;

	probe.decide = NULL;
	ret = iprobe_register(&probe);
	if (ret)
		return ret;
	ret = expect("replacement", int_sqrt(ARGUMENT) == ROOT + 1);
	iprobe_unregister(&probe);
	return ret ?: expect("pass-through", int_sqrt(ARGUMENT) == ROOT);
}

static int test_decision(void)
{
	int ret;

	probe.decide = even_only;
	ret = iprobe_register(&probe);
	if (ret)
		return ret;
	ret = expect("decision per call",
		     int_sqrt(ARGUMENT) == ROOT + 1 && int_sqrt(ARGUMENT + 1) == ROOT);
	iprobe_unregister(&probe);
	return ret;
}

static noinline notrace unsigned long untraceable(unsigned long x)
{
	barrier();
	return x;
}

static int test_refusal(void)
{
	struct iprobe nobody = { .symbol = "no_such_function_anywhere",
				 .replacement = plus_one };
	struct iprobe closed = { .address = (unsigned long)untraceable,
				 .replacement = plus_one };
	struct iprobe second = { .symbol = probe.symbol, .replacement = plus_one };
	int ret =
		expect("unknown function refused", iprobe_register(&nobody) == -ENOENT);

	ret = ret
		      ?: expect("function without an ftrace entry refused",
				iprobe_register(&closed) == -EOPNOTSUPP);
	probe.decide = NULL;
	ret = ret ?: iprobe_register(&probe);
	if (ret)
		return ret;
	ret = expect("second probe on a function refused",
		     iprobe_register(&second) == -EBUSY);
	iprobe_unregister(&probe);
	return ret;
}

/* Tests that iprobe_unregister waits for a task that sleeps inside a replacement. */
static DECLARE_COMPLETION(entered);
static DECLARE_COMPLETION(returned);
static bool left;

static unsigned long sleepy(unsigned long x)
{
	complete(&entered);
	msleep(200);
	left = true;
	iprobe_done(&probe);
	return x;
}

static int call_once(void *unused)
{
	int_sqrt(ARGUMENT);
	complete(&returned);
	return 0;
}

static bool this_thread_only(struct iprobe *p, struct pt_regs *regs)
{
	return current->flags & PF_KTHREAD && !strcmp(current->comm, "iprobe_sleeper");
}

static int test_sleeper(void)
{
	struct task_struct *task;
	int ret;

	probe.replacement = sleepy;
	probe.decide = this_thread_only;
	ret = iprobe_register(&probe);
	if (ret)
		return ret;
	task = kthread_run(call_once, NULL, "iprobe_sleeper");
	if (IS_ERR(task)) {
		iprobe_unregister(&probe);
		return PTR_ERR(task);
	}
	wait_for_completion(&entered);
	iprobe_unregister(&probe);
	ret = expect("unregister waits for a sleeper", left);
	wait_for_completion(&returned);
	return ret;
}

/*
 * The test under load: two threads, each bound to a CPU, call a function while its probe is
 * registered and unregistered, and for some time before and after.  In each phase each thread (a
 * hammer) makes at least CALLS calls and then sleeps until the next phase.  So when the hammers
 * sleep during an unregistration, the unregistration waits only for a grace period.
 *
 * Each round runs once through all phases.  A call that is made entirely in the phase REPLACED must
 * be replaced, and a call that is made entirely in the phase CALM must not be replaced.  Any other
 * call may be replaced or not.
 */
enum { CALM, REGISTERING, REPLACED, UNREGISTERING, PHASES };
#define CALLS 2000
#define CALLS_BEFORE_PAUSE 16

/* counts up for ever; the phase is phase % PHASES */
static unsigned long phase = PHASES;
static DECLARE_WAIT_QUEUE_HEAD(phase_begun);
static DECLARE_WAIT_QUEUE_HEAD(calls_made);

struct hammer {
	struct task_struct *task;
	unsigned long phase_done; /* last phase whose calls have all been made */
	unsigned long calls, replaced, wrong;
	unsigned long caught[2]; /* calls during changes: to the original, replaced */
};

static struct hammer hammers[2];

static noinline unsigned long target(unsigned long x)
{
	barrier();
	return 2 * x;
}

static unsigned long replacement(unsigned long x);

static struct iprobe target_probe = { .replacement = replacement };

static unsigned long replacement(unsigned long x)
{
	unsigned long (*original)(unsigned long) = target_probe.original;
	unsigned long value = original(x) + 1;

	iprobe_done(&target_probe);
	return value;
}

static bool is_right(unsigned long during, unsigned long extra)
{
	switch (during % PHASES) {
	case CALM:
		return extra == 0;
	case REPLACED:
		return extra == 1;
	default:
		return extra <= 1;
	}
}

static void call_target(struct hammer *hammer)
{
	unsigned long before = smp_load_acquire(&phase);
	unsigned long extra = target(ARGUMENT) - 2 * ARGUMENT;
	bool settled;

	smp_rmb();
	settled = READ_ONCE(phase) == before;
	hammer->calls++;
	hammer->replaced += extra == 1;
	hammer->wrong += settled ? !is_right(before, extra) : extra > 1;
	if (before % 2 && extra <= 1)
		hammer->caught[extra]++;
}

static int hammer_thread(void *data)
{
	struct hammer *hammer = data;
	unsigned long now, n;

	while (!kthread_should_stop()) {
		now = smp_load_acquire(&phase);
		for (n = 1; n <= CALLS; n++) {
			call_target(hammer);
			if (n % CALLS_BEFORE_PAUSE == 0)
				cpu_relax(); /* lets an emulated CPU switch */
		}
		smp_store_release(&hammer->phase_done, now);
		wake_up_all(&calls_made);
		wait_event_idle(phase_begun,
				READ_ONCE(phase) != now || kthread_should_stop());
	}
	return 0;
}

static int start_hammers(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hammers); i++) {
		struct task_struct *task = kthread_create(hammer_thread, &hammers[i],
							  "iprobe_hammer/%u", i);

		if (IS_ERR(task))
			return PTR_ERR(task);
		kthread_bind(task, i);
		set_user_nice(task, MAX_NICE); /* don't starve the registrar */
		hammers[i].task = task;
		wake_up_process(task);
	}
	return 0;
}

static void stop_hammers(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hammers); i++) {
		if (hammers[i].task)
			kthread_stop(hammers[i].task);
	}
}

static void next_phase(void)
{
	smp_store_release(&phase, phase + 1);
	wake_up_all(&phase_begun);
}

static void wait_for_hammers(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hammers); i++)
		wait_event(calls_made,
			   smp_load_acquire(&hammers[i].phase_done) == phase);
}

static int register_once(void)
{
	int ret;

	wait_for_hammers();
	next_phase(); /* REGISTERING */
	ret = iprobe_register(&target_probe);
	if (ret)
		return ret;
	next_phase(); /* REPLACED */
	wait_for_hammers();
	next_phase(); /* UNREGISTERING */
	iprobe_unregister(&target_probe);
	next_phase(); /* CALM */
	return 0;
}

/*
 * Registers and unregisters the probe on each CPU in turn, while the other CPU calls the function.
 */
static int register_rounds(void)
{
	unsigned int i;
	int ret = 0;

	target_probe.address = (unsigned long)target;
	for (i = 0; i < rounds && !ret; i++) {
		set_cpus_allowed_ptr(current, cpumask_of(i % ARRAY_SIZE(hammers)));
		ret = register_once();
	}
	if (!ret)
		wait_for_hammers();
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	return ret;
}

static bool saw_all(const struct hammer *hammer)
{
	return hammer->replaced >= (unsigned long)rounds * CALLS &&
	       hammer->calls - hammer->replaced >= (unsigned long)rounds * CALLS &&
	       hammer->caught[0] && hammer->caught[1] && !hammer->wrong;
}

static int test_under_load(void)
{
	unsigned int i;
	int ret;

	if (!cpu_online(0) || !cpu_online(1))
		return expect("two CPUs online", false);

	ret = start_hammers();
	if (!ret)
		ret = register_rounds();
	stop_hammers();
	if (ret)
		return ret;

	for (i = 0; i < ARRAY_SIZE(hammers); i++)
		pr_info("%u rounds: CPU %u: %lu calls, %lu replaced, %lu wrong; "
			"during changes %lu original, %lu replaced\n",
			rounds, i, hammers[i].calls, hammers[i].replaced,
			hammers[i].wrong, hammers[i].caught[0], hammers[i].caught[1]);
	return expect("two CPUs hammering",
		      saw_all(&hammers[0]) && saw_all(&hammers[1]));
}

static int __init iprobe_selftest_init(void)
{
	int ret = test_replacement() ?: test_decision() ?: test_refusal() ?: test_sleeper();

	if (!ret && rounds)
		ret = test_under_load();
	pr_info("%s\n", ret ? "FAILED" : "passed");
	return ret;
}

static void __exit iprobe_selftest_exit(void)
{
}

module_init(iprobe_selftest_init);
module_exit(iprobe_selftest_exit);
MODULE_DESCRIPTION("Self-test of the intercept probe");
MODULE_LICENSE("GPL");
