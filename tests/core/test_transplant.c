// SPDX-License-Identifier: MIT
/*
 * A transplanted instruction has its original effect.  Every opcode of every map, with each prefix
 * and each reg field of ModR/M, runs on the processor twice: unchanged, and transplanted with its
 * operand elsewhere.  Registers, vectors, x87 state, memory and faults must be equal.  RSP has no
 * effect and must not change.
 *
 * A wrong length would show, since the code after the instruction would then run differently.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "../../kernel/vpcib/transplant.h"
#include "check.h"
#include "native.h"

#define ALWAYS_SET 0x202u /* reserved, and interrupts */
#define ARITHMETIC_FLAGS 0x8d5u
#define MIDDLE 2048
#define NR_MAPS 7
#define FXSAVE_BYTES 512
#define POINTERS_AT 6 /* FXSAVE's opcode and addresses of the last x87 instruction */
#define POINTERS_BYTES 18
#define X87_REGISTERS_AT 32
#define RSP REGISTER_SP
#define LEAST_RUN 2000 /* fewest instructions that must run */

/* --- what is run -------------------------------------------------------------------- */

struct trial {
	u8 code[32];
	u32 length;
	struct native state;
};

static void put(struct trial *trial, u8 byte)
{
	trial->code[trial->length++] = byte;
}

/*
 * Write prefix and map: 0 to 3 are none, 0F, 0F 38 and 0F 3A; 4 to 6 are the last three with VEX.
 */
static void put_head(struct trial *trial, struct draw *draw, u32 map, u32 prefix)
{
	static const u8 prefixes[] = { 0, 0x66, 0xf3, 0xf2 };

	if (map > 3) {
		put(trial, 0xc4);
		put(trial, draw_below(draw, 8) << 5 | (map - 3));
		put(trial, draw_below(draw, 64) << 2 | prefix);
		return;
	}
	if (draw_below(draw, 4) == 0)
		put(trial, 0x3e); /* DS changes nothing */
	if (prefix)
		put(trial, prefixes[prefix]);
	if (draw_below(draw, 2))
		put(trial, 0x40 | draw_below(draw, 16));
	if (map)
		put(trial, 0x0f);
	if (map > 1)
		put(trial, map == 2 ? 0x38 : 0x3a);
}

/*
 * Return an instruction with a base register and a displacement of 1 or 4 bytes; the other bits are
 * random.
 */
static struct trial draw_trial(struct draw *draw, u32 map, u32 prefix, u32 opcode,
			       u32 digit)
{
	struct trial trial = {};
	u32 i;

	put_head(&trial, draw, map, prefix);
	put(&trial, opcode);
	put(&trial, (1 + draw_below(draw, 2)) << 6 | digit << 3 | draw_below(draw, 8));
	while (trial.length < INSTRUCTION_BYTES_MAX)
		put(&trial, draw_below(draw, 256));
	for (i = 0; i < NATIVE_REGISTERS; i++) {
		trial.state.general[i] = draw_u64(draw);
		if (draw_below(draw, 4) == 0)
			trial.state.general[i] &= 0xff;
	}
	trial.state.flags = ALWAYS_SET | (draw_u64(draw) & ARITHMETIC_FLAGS);
	return trial;
}

/*
 * Set the base register so that the operand is at the address; return false if the index is the
 * only register.
 */
static bool aim(struct trial *trial, const struct instruction *in, u64 address)
{
	bool has_sib = (in->modrm & 0x7) == 4;
	u32 base =
		(has_sib ? in->sib & 0x7 : in->modrm & 0x7) | (in->rex & 0x1 ? 8 : 0);
	u32 index = (in->sib >> 3 & 0x7) | (in->rex & 0x2 ? 8 : 0);
	struct processor cpu = {};
	u32 i;

	if (in->segment || (has_sib && index == base && index != 4) ||
	    (!(in->modrm >> 6) && (base & 0x7) == 5))
		return false;
	for (i = 0; i < REGISTERS; i++)
		cpu.general[i] = (unsigned long *)&trial->state.general[i];
	trial->state.general[base] += address - instruction_operand(in, &cpu);
	return true;
}

/* --- running it --------------------------------------------------------------------- */

struct outcome {
	struct native state;
	u8 x87[FXSAVE_BYTES] __attribute__((aligned(16)));
	u8 upper[NATIVE_REGISTERS][16]; /* halves of AVX registers */
	bool faulted;
};

static volatile bool faulted;

/* Continue after the faulting instruction, with the registers from before it. */
static void step_over(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal;
	(void)info;
	at->uc_mcontext.gregs[REG_RIP] = native_end();
	faulted = true;
}

static void handle_faults(void)
{
	static const int signals[] = { SIGILL, SIGSEGV, SIGBUS, SIGFPE };
	static u8 stack[65536];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_sigaction = step_over,
				    .sa_flags = SA_ONSTACK | SA_SIGINFO };
	u32 i;

	CHECK(!sigaltstack(&other, NULL));
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		CHECK(!sigaction(signals[i], &action, NULL));
}

#define EACH_VECTOR(DO) \
	DO(0)           \
	DO(1)           \
	DO(2)           \
	DO(3)           \
	DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define SAVE_UPPER(n) \
	asm volatile("vextractf128 $1, %%ymm" #n ", %0" : "=m"(outcome->upper[n]));

static void save_upper(struct outcome *outcome)
{
	if (__builtin_cpu_supports("avx")) {
		EACH_VECTOR(SAVE_UPPER)
		asm volatile("vzeroupper");
	}
}

/* Return an x87 state with three numbers, and zeros in the empty registers. */
static const u8 *first_x87(void)
{
	static u8 image[FXSAVE_BYTES] __attribute__((aligned(16)));

	if (!image[0]) {
		asm volatile("fninit; fld1; fldpi; fldl2e; fxsave %0" : "=m"(image));
		memset(image + POINTERS_AT, 0, POINTERS_BYTES);
		memset(image + X87_REGISTERS_AT + 3 * 16, 0, 5 * 16);
	}
	return image;
}

static void run(struct outcome *outcome, const struct native *state, const u8 *code,
		u32 bytes)
{
	static const u32 usual = 0x1f80;

	memset(outcome, 0, sizeof(*outcome));
	outcome->state = *state;
	faulted = false;
	asm volatile("fxrstor %0" ::"m"(*(const u8(*)[FXSAVE_BYTES])first_x87()));
	native_run(&outcome->state, code, bytes);
	asm volatile("fxsave %0" : "=m"(outcome->x87));
	asm volatile("fninit; ldmxcsr %0" ::"m"(usual));
	save_upper(outcome);
	memset(outcome->x87 + POINTERS_AT, 0, POINTERS_BYTES);
	outcome->faulted = faulted;
}

static void fail(const struct trial *trial, const char *what)
{
	char text[NATIVE_TEXT];

	CHECK_FAIL("%s: %s", native_text(text, trial->code, trial->length), what);
}

static void compare(const struct trial *trial, const struct outcome *real,
		    const struct outcome *other)
{
	if (real->faulted != other->faulted)
		fail(trial, other->faulted ? "it faults" : "it does not fault");
	if (real->faulted)
		return;
	if (memcmp(&real->state, &other->state, sizeof(real->state)))
		fail(trial, "a register differs");
	if (memcmp(real->x87, other->x87, sizeof(real->x87)))
		fail(trial, "x87 differs");
	if (memcmp(real->upper, other->upper, sizeof(real->upper)))
		fail(trial, "a vector differs");
	if (memcmp(native_block(0), native_block(1), NATIVE_BLOCK))
		fail(trial, "memory differs");
}

/* --- side by side ------------------------------------------------------------------- */

static u64 run_so_far;

static void fill(struct draw *draw)
{
	u32 i;

	for (i = 0; i < NATIVE_BLOCK; i += 8) {
		u64 value =
			draw_below(draw, 4) ? draw_u64(draw) : draw_below(draw, 300);

		memcpy(native_block(0) + i, &value, 8);
	}
	memcpy(native_block(1), native_block(0), NATIVE_BLOCK);
}

static void decode(const struct trial *trial, struct transplant *made)
{
	u32 bytes;

	for (bytes = 0; bytes < trial->length; bytes++) {
		if (transplant_decode(made, trial->code, bytes) != -EOPNOTSUPP)
			fail(trial, "decoded although cut off");
	}
	CHECK(!transplant_decode(made, trial->code, trial->length));
	CHECK(made->bytes <= INSTRUCTION_BYTES_MAX);
}

/*
 * Return whether there is a LOCK prefix.  These trials are left out, since an invalid LOCK faults
 * before memory is accessed.
 */
static bool has_lock(const struct trial *trial)
{
	return memchr(trial->code, 0xf0, 4);
}

/* Run the transplanted instruction with another RSP, then restore RSP. */
static void run_made(struct outcome *made, const struct trial *trial,
		     struct transplant *what, u64 operand)
{
	struct native state = trial->state;
	s32 way = (s32)(operand - native_end());

	memcpy(what->code + what->displacement, &way, sizeof(way));
	state.general[RSP] = ~state.general[RSP];
	run(made, &state, what->code, what->bytes);
	if (made->state.general[RSP] != state.general[RSP])
		fail(trial, "RSP changes");
	made->state.general[RSP] = trial->state.general[RSP];
}

static void try(struct draw *draw, u32 map, u32 prefix, u32 opcode, u32 digit)
{
	struct trial trial = draw_trial(draw, map, prefix, opcode, digit);
	u32 at = MIDDLE + (draw_below(draw, 2) ? 0 : draw_below(draw, 64));
	struct transplant what;
	struct outcome real, made;

	if (transplant_decode(&what, trial.code, trial.length) || has_lock(&trial) ||
	    !aim(&trial, &what.in, (u64)native_block(0) + at))
		return;
	trial.length = what.in.length;
	decode(&trial, &what);
	fill(draw);
	run(&real, &trial.state, trial.code, trial.length);
	run_made(&made, &trial, &what, (u64)native_block(1) + at);
	compare(&trial, &real, &made);
	run_so_far += !real.faulted;
}

static void each_opcode(struct draw *draw)
{
	u32 map, prefix, opcode, digit;

	for (map = 0; map < NR_MAPS; map++) {
		for (prefix = 0; prefix < 4; prefix++) {
			for (opcode = 0; opcode < 256; opcode++) {
				for (digit = 0; digit < 8; digit++)
					try(draw, map, prefix, opcode, digit);
			}
		}
	}
}

int main(void)
{
	handle_faults();
	check_seeds(6, each_opcode);
	CHECK(run_so_far > LEAST_RUN);
	return 0;
}
