// SPDX-License-Identifier: GPL-2.0
/*
 * Provides the vector and x87 registers of the running process.  While the process is in the
 * kernel, the registers' values are still in the processor, unless the kernel has used the
 * registers.  In that case the values are loaded again, as on the return to the process.
 */
#include <linux/sched.h>
#include <asm/fpu/api.h>

#include "card.h"

#define EACH_REGISTER(DO) \
	DO(0);            \
	DO(1);            \
	DO(2);            \
	DO(3);            \
	DO(4);            \
	DO(5);            \
	DO(6);            \
	DO(7);            \
	DO(8);            \
	DO(9);            \
	DO(10);           \
	DO(11);           \
	DO(12);           \
	DO(13);           \
	DO(14);           \
	DO(15)

#define FETCH(n)                                                                  \
	case n:                                                                   \
		asm volatile("movdqu %%xmm" #n ", %0" : "=m"(*(u64(*)[2])value)); \
		break

#define PUT(n)                                                                     \
	case n:                                                                    \
		asm volatile("movdqu %0, %%xmm" #n::"m"(*(const u64(*)[2])value)); \
		break

void vectors_begin(void)
{
	fpregs_lock();
	fpregs_assert_state_consistent();
	if (test_thread_flag(TIF_NEED_FPU_LOAD))
		switch_fpu_return();
}

void vectors_end(void)
{
	fpregs_unlock();
}

void vector_of_user(struct processor *cpu, u32 number, u64 value[2])
{
	vectors_begin();
	switch (number) {
		EACH_REGISTER(FETCH);
	}
	vectors_end();
}

void set_vector_of_user(struct processor *cpu, u32 number, const u64 value[2])
{
	vectors_begin();
	switch (number) {
		EACH_REGISTER(PUT);
	}
	vectors_end();
}
