// SPDX-License-Identifier: GPL-2.0
/*
 * Turns each IN and OUT at an I/O port of a card into an access to the card.
 *
 * The processor lets kernel code access ports without a fault.  So the instructions themselves are
 * intercepted: a kprobe on each IN and OUT of a module, from its loading on, and on those of the
 * kernel's own functions for ports (ioread8, io_serial_in ...).  If the port is a card's, the
 * instruction is replaced by a call of port_thunk, which accesses the card in the context of the
 * instruction, and returns behind it.  Other ports are accessed as always.
 *
 * All this begins when the first kind of card with ports is registered; modules that were loaded
 * before are not looked at.  Ports that a process accesses (ioperm, iopl) are not intercepted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hashtable.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

#include "breakpoint.h"
#include "bus.h"
#include "compat.h"

#define PORTS_BITS 10
#define IN_DX 0xec
#define OUT_DX 0xee
#define IN_NUMBER 0xe4
#define OUT_NUMBER 0xe6
#define IN_STRING 0x6c
#define OUT_STRING 0x6e
#define REP 0xf3
#define FUNCTIONS_MOST 64

/* An IN or OUT. */
struct port_code {
	struct kprobe probe;
	struct hlist_node node; /* by the address of the next instruction */
	unsigned long next;
	struct module *module; /* NULL: the kernel */
	u8 bytes;
	u8 immediate;
	bool has_immediate;
	bool out;
	bool string;
	bool repeated;
};

/* The registers as port_thunk saves them. */
struct port_frame {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di,
		flags, next;
};

static const char *const functions[] = {
	"ioread8",	  "ioread16",	    "ioread16be",      "ioread32",
	"ioread32be",	  "iowrite8",	    "iowrite16",       "iowrite16be",
	"iowrite32",	  "iowrite32be",    "ioread8_rep",     "ioread16_rep",
	"ioread32_rep",	  "iowrite8_rep",   "iowrite16_rep",   "iowrite32_rep",
	"ioread64_lo_hi", "ioread64_hi_lo", "iowrite64_lo_hi", "iowrite64_hi_lo",
	"io_serial_in",	  "io_serial_out",
};

static DEFINE_HASHTABLE(codes, PORTS_BITS);
static DEFINE_MUTEX(codes_lock); /* for changes of the table */
static bool active;
static int (*decode)(struct insn *insn, const void *code, int bytes,
		     enum insn_mode mode);
static int (*each_symbol)(int (*with)(void *data, const char *name,
				      MODULE_ARGUMENT unsigned long address),
			  void *data);
static bool (*find_size)(unsigned long address, unsigned long *bytes,
			 unsigned long *offset);

/* --- an access ---------------------------------------------------------------------- */

void port_thunk(void);
asmlinkage __used void port_access(struct port_frame *frame);

/* The stack has the address of the next instruction, as after a call. */
asm(".pushsection .text\n"
    ".type port_thunk, @function\n"
    "port_thunk:\n\t"
    "pushfq\n\t"
    "push %rdi\n\tpush %rsi\n\tpush %rdx\n\tpush %rcx\n\tpush %rax\n\t"
    "push %r8\n\tpush %r9\n\tpush %r10\n\tpush %r11\n\tpush %rbx\n\tpush %rbp\n\t"
    "push %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
    "mov %rsp, %rdi\n\t"
    "cld\n\t"
    "call port_access\n\t"
    "pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\t"
    "pop %rbp\n\tpop %rbx\n\tpop %r11\n\tpop %r10\n\tpop %r9\n\tpop %r8\n\t"
    "pop %rax\n\tpop %rcx\n\tpop %rdx\n\tpop %rsi\n\tpop %rdi\n\t"
    "popfq\n\t" ASM_RET ".size port_thunk, .-port_thunk\n"
    ".popsection\n");

static struct port_code *code_before(unsigned long next)
{
	struct port_code *code;

	hash_for_each_possible_rcu(codes, code, node, next)
	{
		if (code->next == next)
			return code;
	}
	return NULL;
}

static u32 port_of(const struct port_code *code, unsigned long dx)
{
	return code->has_immediate ? code->immediate : (u16)dx;
}

static u64 low(u64 value, u32 bytes)
{
	return value & (~0ull >> (64 - 8 * bytes));
}

/* Executes one access, without those by REP. */
static void once(const struct port_code *code, struct access_bus *at,
		 struct port_frame *frame)
{
	unsigned long step = frame->flags & X86_EFLAGS_DF ? -(unsigned long)code->bytes
							  : code->bytes;
	u64 value = 0;

	if (code->out) {
		if (code->string)
			memcpy(&value, (void *)frame->si, code->bytes);
		else
			value = low(frame->ax, code->bytes);
		at->bus.store(&at->bus, at->address, value, code->bytes);
		frame->si += code->string ? step : 0;
		return;
	}
	value = at->bus.load(&at->bus, at->address, code->bytes);
	if (code->string) {
		memcpy((void *)frame->di, &value, code->bytes);
		frame->di += step;
	} else if (code->bytes == 4) {
		frame->ax = value; /* clears the upper half */
	} else {
		frame->ax = (frame->ax & ~low(~0ull, code->bytes)) | value;
	}
}

static void carry_out(const struct port_code *code, struct access_bus *at,
		      struct port_frame *frame)
{
	if (!code->repeated) {
		once(code, at, frame);
		return;
	}
	for (; frame->cx; frame->cx--)
		once(code, at, frame);
}

asmlinkage void port_access(struct port_frame *frame)
{
	struct pt_regs regs = { .flags = frame->flags, .cs = __KERNEL_CS };
	bool spins = !(frame->flags & X86_EFLAGS_IF) || preempt_count();
	const struct port_code *code;
	struct access_bus at;

	rcu_read_lock();
	code = code_before(frame->next);
	if (WARN_ON_ONCE(!code))
		goto unlock;
	regs.ip = (unsigned long)code->probe.addr;
	at = bus_of(&regs, port_of(code, frame->dx));
	at.card = card_at_port(at.address, &at.bar, &at.offset);
	carry_out(code, &at, frame);
	if (at.card && at.card->kind->accessed && !at.card->gone)
		at.card->kind->accessed(at.card, spins);
unlock:
	rcu_read_unlock();
	if (!spins)
		cond_resched();
}

static int at_code(struct kprobe *probe, struct pt_regs *regs)
{
	const struct port_code *code = container_of(probe, struct port_code, probe);
	u32 bar, offset;
	bool is;

	rcu_read_lock();
	is = card_at_port(port_of(code, regs->dx), &bar, &offset);
	rcu_read_unlock();
	if (!is)
		return 0;
	int3_emulate_push(regs, code->next);
	regs->ip = (unsigned long)port_thunk;
	return 1;
}

/* --- which instructions ------------------------------------------------------------- */

static bool is_port_code(const struct insn *insn, struct port_code *code)
{
	u8 opcode = insn->opcode.bytes[0], even = opcode & 0xfe;
	u32 i;

	if (insn->opcode.nbytes != 1)
		return false;
	code->has_immediate = even == IN_NUMBER || even == OUT_NUMBER;
	code->string = even == IN_STRING || even == OUT_STRING;
	if (!code->has_immediate && !code->string && even != IN_DX && even != OUT_DX)
		return false;
	code->out = even == OUT_DX || even == OUT_NUMBER || even == OUT_STRING;
	code->bytes = opcode & 1 ? min_t(u8, insn->opnd_bytes, 4) : 1;
	code->immediate = insn->immediate.value;
	code->repeated = false;
	for (i = 0; i < insn->prefixes.nbytes; i++)
		code->repeated |= code->string && insn->prefixes.bytes[i] == REP;
	return true;
}

static void intercept(const void *at, const struct insn *insn, struct port_code like,
		      struct module *module)
{
	struct port_code *code = kmalloc(sizeof(*code), GFP_KERNEL);
	int ret = -ENOMEM;

	if (code) {
		*code = like;
		code->module = module;
		code->next = (unsigned long)at + insn->length;
		code->probe = (struct kprobe){ .addr = (kprobe_opcode_t *)at,
					       .pre_handler = at_code,
					       .post_handler = stays_breakpoint };
		hash_add_rcu(codes, &code->node, code->next);
		ret = register_kprobe(&code->probe);
	}
	if (!ret)
		return;
	pr_warn("can't intercept the access to a port at %pS: %d\n", at, ret);
	if (code) {
		hash_del_rcu(&code->node);
		synchronize_rcu();
		kfree(code);
	}
}

static void look_through(const void *begin, size_t bytes, struct module *module)
{
	const void *at = begin;

	while (at < begin + bytes) {
		struct port_code like = {};
		struct insn insn;
		int left = min_t(size_t, MAX_INSN_SIZE, begin + bytes - at);

		if (decode(&insn, at, left, INSN_MODE_KERN) < 0) {
			at++;
			continue;
		}
		if (is_port_code(&insn, &like))
			intercept(at, &insn, like, module);
		at += insn.length;
	}
}

/* Several functions of the kernel may have the same name. */
static unsigned long found[FUNCTIONS_MOST];
static u32 nr_found;

static int note_function(void *unused, const char *name,
			 MODULE_ARGUMENT unsigned long address)
{
	if (match_string(functions, ARRAY_SIZE(functions), name) >= 0 &&
	    nr_found < FUNCTIONS_MOST)
		found[nr_found++] = address;
	return 0;
}

static void look_through_kernel(void)
{
	unsigned long bytes, offset;
	u32 i;

	nr_found = 0;
	each_symbol(note_function, NULL);
	for (i = 0; i < nr_found; i++) {
		if (find_size(found[i], &bytes, &offset))
			look_through((void *)found[i], bytes, NULL);
	}
}

/* Forgets the instructions of a module; NULL: all. */
static void forget(const struct module *module)
{
	struct port_code *code;
	struct hlist_node *next;
	int i;

	hash_for_each_safe(codes, i, next, code, node)
	{
		if (module && code->module != module)
			continue;
		unregister_kprobe(&code->probe);
		hash_del_rcu(&code->node);
		synchronize_rcu();
		kfree(code);
	}
}

static int module_changes(struct notifier_block *block, unsigned long state, void *data)
{
	size_t bytes;
	void *text = module_text(data, &bytes);

	mutex_lock(&codes_lock);
	if (active && state == MODULE_STATE_COMING)
		look_through(text, bytes, data);
	else if (active && state == MODULE_STATE_GOING)
		forget(data);
	mutex_unlock(&codes_lock);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = module_changes };

/* Begins to intercept accesses to ports.  Context: may sleep. */
void ports_watch(void)
{
	mutex_lock(&codes_lock);
	if (!active)
		look_through_kernel();
	active = true;
	mutex_unlock(&codes_lock);
}

int ports_init(void)
{
	decode = (void *)symbol_address("insn_decode");
	find_size = (void *)symbol_address("kallsyms_lookup_size_offset");
	each_symbol = (void *)symbol_address("kallsyms_on_each_symbol");
	if (!decode || !find_size || !each_symbol) {
		pr_err("no insn_decode, or no kallsyms_on_each_symbol, in this "
		       "kernel\n");
		return -ENOENT;
	}
	return register_module_notifier(&module_notifier);
}

void ports_exit(void)
{
	unregister_module_notifier(&module_notifier);
	forget(NULL);
}
