// SPDX-License-Identifier: GPL-2.0
/*
 * Intercept probes on ftrace; the contract is in iprobe.h.
 *
 * Each function that ftrace can trace begins with a call site of five bytes.  An ftrace_ops with
 * IPMODIFY runs at the call site, before the function's own first instruction, and may redirect the
 * CPU to another function.  The original function is entered after the call site, so a call to the
 * original can't run the probe again.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpufeature.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "iprobe.h"

static LIST_HEAD(probes); /* all registered probes */
static DEFINE_MUTEX(probes_lock);

/*
 * The instructions with which a function may begin if the kernel checks indirect branches: endbr64,
 * or the no-ops with which the kernel replaces endbr64 in a function whose address is never taken.
 */
static const u8 landing_pads[][4] = {
	{ 0xf3, 0x0f, 0x1e, 0xfa },
	{ 0x66, 0x0f, 0x1f, 0x00 },
	{ 0x0f, 0x1f, 0x40, 0xd6 },
};
static const u8 idle_site[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
#define CALL_OPCODE 0xe8

/*
 * Returns the address of a symbol.  Modules can't use kallsyms_lookup_name, but a kprobe finds any
 * symbol.  The kprobe exists only within this function.
 */
static unsigned long symbol_address(const char *symbol)
{
	struct kprobe probe = { .symbol_name = symbol };
	unsigned long address = 0;

	if (register_kprobe(&probe) == 0) {
		address = (unsigned long)probe.addr;
		unregister_kprobe(&probe);
	}
	return address;
}

static bool is_landing_pad(const u8 *code)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(landing_pads); i++)
		if (!memcmp(code, landing_pads[i], sizeof(landing_pads[i])))
			return true;
	return false;
}

/* Returns the address of the function's call site, or 0 if the function has none. */
static unsigned long call_site(unsigned long address)
{
	u8 code[MCOUNT_INSN_SIZE];

	if (copy_from_kernel_nofault(code, (void *)address, sizeof(code)))
		return 0;
	if (is_landing_pad(code)) {
		address += sizeof(landing_pads[0]);
		if (copy_from_kernel_nofault(code, (void *)address, sizeof(code)))
			return 0;
	}
	if (memcmp(code, idle_site, sizeof(idle_site)) && code[0] != CALL_OPCODE)
		return 0;
	return address;
}

/*
 * Runs at every call of the probed function, before the function's first instruction, in the
 * caller's context.  in_flight is incremented before the CPU can reach the replacement, so that
 * iprobe_unregister does not miss a call.
 */
static void notrace redirect(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct iprobe *probe = container_of(ops, struct iprobe, ops);
	struct pt_regs *regs = ftrace_get_regs(fregs);

	if (probe->decide && !probe->decide(probe, regs))
		return;
	atomic_inc(&probe->in_flight);
	instruction_pointer_set(regs, (unsigned long)probe->replacement);
}

static int locate(struct iprobe *probe)
{
	unsigned long site;

	if (probe->symbol)
		probe->address = symbol_address(probe->symbol);
	if (!probe->address)
		return -ENOENT;

	/* An indirect call to the original would skip its endbr64 instruction and fault. */
	if (IS_ENABLED(CONFIG_X86_KERNEL_IBT) && boot_cpu_has(X86_FEATURE_IBT)) {
		pr_err("this CPU checks indirect branches; boot with ibt=off\n");
		return -EOPNOTSUPP;
	}
	site = call_site(probe->address);
	if (!site)
		return -EOPNOTSUPP;
	probe->original = (void *)(site + MCOUNT_INSN_SIZE);
	return 0;
}

static int intercept(struct iprobe *probe)
{
	int ret;

	atomic_set(&probe->in_flight, 0);
	probe->ops = (struct ftrace_ops){
		.func = redirect,
		/* PERMANENT, so that kernel.ftrace_enabled = 0 does not disable the probe. */
		.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY |
			 FTRACE_OPS_FL_PERMANENT,
	};
	ret = ftrace_set_filter_ip(&probe->ops, probe->address, 0, 0);
	if (ret)
		return ret == -EINVAL ? -EOPNOTSUPP : ret;

	ret = register_ftrace_function(&probe->ops);
	if (ret)
		ftrace_free_filter(&probe->ops);
	return ret;
}

/* Releases a probe.  When this function has returned, new calls run the original function. */
static void release(struct iprobe *probe)
{
	WARN_ON(unregister_ftrace_function(&probe->ops));
	ftrace_free_filter(&probe->ops);
	list_del(&probe->list);
	probe->registered = false;
}

int iprobe_register(struct iprobe *probe)
{
	int ret = locate(probe);

	if (ret)
		return ret;
	mutex_lock(&probes_lock);
	ret = intercept(probe);
	if (!ret) {
		list_add(&probe->list, &probes);
		probe->registered = true;
	}
	mutex_unlock(&probes_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(iprobe_register);

void iprobe_unregister(struct iprobe *probe)
{
	mutex_lock(&probes_lock);
	if (probe->registered)
		release(probe);
	mutex_unlock(&probes_lock);

	while (atomic_read(&probe->in_flight))
		schedule_timeout_uninterruptible(1);
	/*
	 * A task may be preempted or interrupted between iprobe_done and the replacement's return
	 * instruction, and is then still in the replacement.  A grace period of RCU tasks includes
	 * one of plain RCU, so this call waits for preempted and for interrupted tasks.
	 */
	synchronize_rcu_tasks();
}
EXPORT_SYMBOL_GPL(iprobe_unregister);

/*
 * Releases the probes on functions of a module that is being unloaded.  Otherwise ftrace would keep
 * these probes, and would fail when the module is loaded again.
 */
static int module_changes(struct notifier_block *block, unsigned long state, void *data)
{
	struct iprobe *probe, *next;
	struct module *module = data;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&probes_lock);
	list_for_each_entry_safe (probe, next, &probes, list) {
		if (within_module(probe->address, module))
			release(probe);
	}
	mutex_unlock(&probes_lock);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = module_changes };

static int __init iprobe_init(void)
{
	return register_module_notifier(&module_notifier);
}

static void __exit iprobe_exit(void)
{
	unregister_module_notifier(&module_notifier);
}

module_init(iprobe_init);
module_exit(iprobe_exit);

MODULE_DESCRIPTION("Intercept probes: replace kernel functions at run time");
MODULE_LICENSE("GPL");
