// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "confine.h"

static u64 may_map;

static bool limit(int what, u64 to)
{
	struct rlimit both = { to, to };

	return !setrlimit(what, &both);
}

static bool limits(u64 memory_bytes, u64 output_bytes)
{
	may_map = memory_bytes;
	return limit(RLIMIT_AS, memory_bytes) && limit(RLIMIT_FSIZE, output_bytes) &&
	       limit(RLIMIT_CORE, 0);
}

bool confine_is_full(void)
{
	size_t bytes = may_map / 10;
	void *more = mmap(NULL, bytes, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (more != MAP_FAILED)
		munmap(more, bytes);
	return bytes && more == MAP_FAILED;
}

#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

bool confine(u64 memory_bytes, u64 output_bytes)
{
	return !prctl(PR_SET_PDEATHSIG, SIGKILL) && limits(memory_bytes, output_bytes);
}
#else
bool confine(u64 memory_bytes, u64 output_bytes)
{
	return limits(memory_bytes, output_bytes);
}
#endif

#ifdef ARCHITECTURE
#include <errno.h>
#include <sys/auxv.h>

#define PAGE 4096ul
#define CLOCK_PAGES 16 /* more than the kernel has */

/* The pages with the kernel's clocks, until they were unmapped; the vDSO follows them. */
static uintptr_t clocks_begin, clocks_end;

/*
 * Unmap the pages in which the kernel keeps the time for the vDSO. On x86-64, only they are VM_IO
 * pages; on ARM64 that was not tried.
 */
static void hide_clocks(void)
{
	clocks_begin = clocks_end = getauxval(AT_SYSINFO_EHDR);
	while (clocks_end - clocks_begin < CLOCK_PAGES * PAGE &&
	       madvise((void *)(clocks_begin - PAGE), PAGE, MADV_DOFORK) &&
	       errno == EINVAL)
		clocks_begin -= PAGE;
	if (clocks_begin < clocks_end)
		munmap((void *)clocks_begin, clocks_end - clocks_begin);
}

bool confine_describes_file(const siginfo_t *info, ucontext_t *context)
{
	static ino_t number;
	struct stat file = { .st_mode = S_IFREG, .st_ino = ++number, .st_dev = -1 };
	struct stat *into;

	if (info->si_syscall != SYS_fstat && info->si_syscall != SYS_newfstatat)
		return false;
#ifdef __x86_64__
	into = (struct stat *)context->uc_mcontext
		       .gregs[info->si_syscall == SYS_fstat ? REG_RSI : REG_RDX];
	context->uc_mcontext.gregs[REG_RAX] = 0;
#else
	into = (struct stat *)
		       context->uc_mcontext.regs[info->si_syscall == SYS_fstat ? 1 : 2];
	context->uc_mcontext.regs[0] = 0;
#endif
	memcpy(into, &file, sizeof(file));
	return true;
}

bool confine_has_clock(uintptr_t at)
{
	return at >= clocks_begin && at < clocks_end;
}

/*
 * The allowed system calls: for memory, the pipes, output, the loader, and the end of the process.
 */
static const u32 allowed[] = {
	SYS_read,	  SYS_write,	       SYS_writev,	   SYS_close,
	SYS_lseek,	  SYS_pread64,	       SYS_openat,	   SYS_mmap,
	SYS_munmap,	  SYS_mprotect,	       SYS_mremap,	   SYS_madvise,
	SYS_brk,	  SYS_restart_syscall, SYS_rt_sigprocmask, SYS_tgkill,
	SYS_rt_sigreturn, SYS_getpid,	       SYS_gettid,	   SYS_ioctl,
	SYS_exit_group,
};

/* Calls that are allowed only with one value of one argument, with which they do not wait. */
static const struct {
	u32 call, argument, value;
} partly[] = {
	{ SYS_futex, 1, FUTEX_WAKE | FUTEX_PRIVATE_FLAG },
};

#define HEAD 4
#define EACH_PARTLY 5
#define FIELD(name) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define ENDS(how) BPF_STMT(BPF_RET | BPF_K, how)

bool confine_calls(void)
{
	struct sock_filter filter[HEAD + 2 * ARRAY_SIZE(allowed) +
				  EACH_PARTLY * ARRAY_SIZE(partly) + 1] = {
		FIELD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		ENDS(SECCOMP_RET_KILL_PROCESS),
		FIELD(nr),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(filter), .filter = filter };
	struct sock_filter *at = filter + HEAD;
	void *volatile first; /* else no memory would be allocated */
	u32 i;

	for (i = 0; i < ARRAY_SIZE(allowed); i++) {
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						     allowed[i], 0, 1);
		*at++ = (struct sock_filter)ENDS(SECCOMP_RET_ALLOW);
	}
	for (i = 0; i < ARRAY_SIZE(partly); i++) {
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						     partly[i].call, 0, 4);
		*at++ = (struct sock_filter)FIELD(args[partly[i].argument]);
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						     partly[i].value, 0, 1);
		*at++ = (struct sock_filter)ENDS(SECCOMP_RET_ALLOW);
		*at++ = (struct sock_filter)ENDS(SECCOMP_RET_TRAP);
	}
	*at = (struct sock_filter)ENDS(SECCOMP_RET_TRAP);
	first = malloc(1); /* which takes a random number */
	free(first);
#ifdef __x86_64__
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
#endif
	hide_clocks();
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
bool confine_calls(void)
{
	return false;
}

bool confine_describes_file(const siginfo_t *info, ucontext_t *context)
{
	return false;
}

bool confine_has_clock(uintptr_t at)
{
	return false;
}
#endif
