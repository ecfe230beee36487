// SPDX-License-Identifier: GPL-2.0
/*
 * Proves iprobe on the running kernel: replacement, pass-through, decision per
 * call, the original, refusal, and two CPUs that call the function without a
 * pause while it is registered and unregistered again and again.
 *
 * Loading the module runs the test; it prints one line for each part and loads
 * only if all of them hold.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "iprobe.h"

static unsigned int rounds = 1000;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "times to register and unregister under load");

/* The function under test is the kernel's own, known by what it computes. */
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

static int test_refusal(void)
{
	struct iprobe nobody = { .symbol = "no_such_function_anywhere",
				 .replacement = plus_one };

	return expect("unknown function refused", iprobe_register(&nobody) == -ENOENT);
}

struct hammer {
	struct task_struct *task;
	struct completion done;
	unsigned long calls, replaced, wrong;
};

static int hammer_thread(void *data)
{
	struct hammer *hammer = data;

	while (!kthread_should_stop()) {
		unsigned long root = int_sqrt(ARGUMENT);

		hammer->calls++;
		hammer->replaced += root == ROOT + 1;
		hammer->wrong += root != ROOT && root != ROOT + 1;
		if (hammer->calls % 1024 == 0)
			cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static int start_hammers(struct hammer *hammer, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct task_struct *task = kthread_create(hammer_thread, &hammer[i],
							  "iprobe_hammer/%u", i);

		if (IS_ERR(task))
			return PTR_ERR(task);
		kthread_bind(task, cpumask_nth(i, cpu_online_mask));
		hammer[i].task = task;
		wake_up_process(task);
	}
	return 0;
}

static void stop_hammers(struct hammer *hammer, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (hammer[i].task)
			kthread_stop(hammer[i].task);
	}
}

static int register_rounds(void)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		int ret = iprobe_register(&probe);

		if (ret) {
			pr_err("round %u: error %d\n", i, ret);
			return ret;
		}
		iprobe_unregister(&probe);
	}
	return 0;
}

static int test_under_load(void)
{
	struct hammer hammer[2] = {};
	int ret;

	if (num_online_cpus() < 2)
		return expect("two CPUs online", false);

	probe.decide = NULL;
	ret = start_hammers(hammer, ARRAY_SIZE(hammer));
	if (!ret)
		ret = register_rounds();
	stop_hammers(hammer, ARRAY_SIZE(hammer));
	if (ret)
		return ret;

	pr_info("%u rounds: CPU 0 %lu calls, %lu replaced; CPU 1 %lu calls, %lu "
		"replaced\n",
		rounds, hammer[0].calls, hammer[0].replaced, hammer[1].calls,
		hammer[1].replaced);
	return expect("two CPUs hammering",
		      hammer[0].replaced && hammer[1].replaced &&
			      hammer[0].calls > hammer[0].replaced &&
			      hammer[1].calls > hammer[1].replaced &&
			      !hammer[0].wrong && !hammer[1].wrong &&
			      !atomic_read(&probe.in_flight));
}

static int __init iprobe_selftest_init(void)
{
	int ret = test_replacement() ?: test_decision() ?: test_refusal();

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
