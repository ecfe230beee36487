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

/*
 * Under load: TARGETS functions, each with a probe of its own that one thread
 * registers and unregisters, while two bound threads call all of them.
 */
#define TARGETS 8
#define FOR_EACH_TARGET(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)

static struct iprobe probes[TARGETS];

#define DEFINE_TARGET(n)                                                       \
	static noinline unsigned long target_##n(unsigned long x)              \
	{                                                                      \
		barrier();                                                     \
		return 2 * x + n;                                              \
	}                                                                      \
	static unsigned long replacement_##n(unsigned long x)                  \
	{                                                                      \
		unsigned long (*original)(unsigned long) = probes[n].original; \
		unsigned long value = original(x) + 1;                         \
                                                                               \
		iprobe_done(&probes[n]);                                       \
		return value;                                                  \
	}
FOR_EACH_TARGET(DEFINE_TARGET)

#define TARGET_OF(n) target_##n,
#define REPLACEMENT_OF(n) replacement_##n,
typedef unsigned long (*target_fn)(unsigned long);
static const target_fn targets[TARGETS] = { FOR_EACH_TARGET(TARGET_OF) };
static const target_fn replacements[TARGETS] = { FOR_EACH_TARGET(REPLACEMENT_OF) };

struct hammer {
	struct task_struct *task;
	unsigned long calls, replaced, wrong;
};

static int hammer_thread(void *data)
{
	struct hammer *hammer = data;

	while (!kthread_should_stop()) {
		unsigned long n = hammer->calls++ % TARGETS;
		unsigned long extra = targets[n](ARGUMENT) - (2 * ARGUMENT + n);

		hammer->replaced += extra == 1;
		hammer->wrong += extra > 1;
		if (hammer->calls % 256 == 0)
			cond_resched_tasks_rcu_qs();
	}
	return 0;
}

struct registrar {
	struct task_struct *task;
	struct iprobe *probe;
	struct completion done;
	unsigned int rounds;
	int error;
};

static int registrar_thread(void *data)
{
	struct registrar *registrar = data;

	while (registrar->rounds && !registrar->error) {
		registrar->error = iprobe_register(registrar->probe);
		if (!registrar->error) {
			iprobe_unregister(registrar->probe);
			registrar->rounds--;
		}
	}
	complete(&registrar->done);
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
		kthread_bind(task, i);
		set_user_nice(task, MAX_NICE); /* don't starve the registrars */
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
	static struct registrar registrar[TARGETS];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < TARGETS; i++) {
		struct registrar *r = &registrar[i];

		probes[i].address = (unsigned long)targets[i];
		probes[i].replacement = replacements[i];
		*r = (struct registrar){ .probe = &probes[i],
					 .rounds = DIV_ROUND_UP(rounds, TARGETS) };
		init_completion(&r->done);
		r->task = kthread_run(registrar_thread, r, "iprobe_reg/%u", i);
		if (IS_ERR(r->task)) {
			ret = PTR_ERR(r->task);
			break;
		}
	}
	while (i--) {
		wait_for_completion(&registrar[i].done);
		ret = ret ?: registrar[i].error;
	}
	return ret;
}

static bool saw_both(const struct hammer *hammer)
{
	return hammer->replaced && hammer->calls > hammer->replaced && !hammer->wrong;
}

static int test_under_load(void)
{
	struct hammer hammer[2] = {};
	int ret;

	if (!cpu_online(0) || !cpu_online(1))
		return expect("two CPUs online", false);

	ret = start_hammers(hammer, ARRAY_SIZE(hammer));
	if (!ret)
		ret = register_rounds();
	stop_hammers(hammer, ARRAY_SIZE(hammer));
	if (ret)
		return ret;

	pr_info("%u rounds: CPU 0 %lu calls, %lu replaced; CPU 1 %lu calls, %lu "
		"replaced\n",
		DIV_ROUND_UP(rounds, TARGETS) * TARGETS, hammer[0].calls,
		hammer[0].replaced, hammer[1].calls, hammer[1].replaced);
	return expect("two CPUs hammering",
		      saw_both(&hammer[0]) && saw_both(&hammer[1]));
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
