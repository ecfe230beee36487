// SPDX-License-Identifier: MIT
/*
 * hostile SEED REQUESTS DEVICE...: uses the devices of a driver as no program should, to see whether
 * the driver or the kernel suffers (docs/referee.md).
 *
 * REQUESTS is a file of 32-bit numbers, which may be the driver's ioctl requests.  Each device gets
 * reads, writes, mappings and requests with wrong sizes, offsets and pointers, from one process and
 * then from several, with signals in the middle.  Mapped memory is accessed only if it is ordinary
 * memory, since the accesses of a process to registers are not the driver's.
 *
 * Prints what went wrong, and exits with 1, if a call does not end when its process is killed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REQUESTS_MOST 4096
#define MEMORY_BYTES (16ul << 20)
#define PAGE_BYTES 4096ul
#define WORDS 64
#define PROCESSES 3
#define STAGE_SECONDS 1
#define ALONE_SECONDS (4 * STAGE_SECONDS)
#define TOGETHER_SECONDS 1.0
#define DYING_SECONDS 65
#define TICK_US 20000

static uint64_t state;
static struct requests {
	size_t count;
	uint32_t numbers[REQUESTS_MOST];
} * requests; /* shared by all processes */
static char *memory; /* MEMORY_BYTES, followed by a page that can't be accessed */
static uint32_t *words; /* an ioctl's argument */
static char *edge; /* an argument that is cut off after 4 bytes */
static double until; /* when to stop */

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33 ^ state >> 11;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void set_limit(double seconds)
{
	until = now() + seconds;
}

static bool has_time(void)
{
	return now() < until;
}

/* Ends a call that waits, as it was not installed with SA_RESTART. */
static void tick(int number)
{
	(void)number;
}

static void set_ticks(unsigned int us)
{
	struct sigaction action = { .sa_handler = tick };
	struct itimerval every = { { 0, us }, { 0, us } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* --- reads and writes --------------------------------------------------------------- */

static const size_t sizes[] = { 0,	 1,	  3,	 4095,	    4096,
				4097,	 8192,	  65535, 65536,	    65537,
				131072,	 262145,  1000,	 1ul << 20, MEMORY_BYTES,
				INT_MAX, SIZE_MAX };
static const off_t offsets[] = { 0,	  1,	      4095,	   65535,
				 1 << 20, 0x7fffffff, 0x100000000, LLONG_MAX - 5 };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Returns a buffer of the size, or one that is too short or wrong. */
static char *buffer_for(size_t bytes, unsigned int kind)
{
	if (kind == 1)
		return NULL;
	if (kind == 2) /* in the kernel */
		return (char *)0xffff888000000000;
	if (kind == 3) /* the page after it is missing */
		return memory + MEMORY_BYTES -
		       (bytes / 2 < MEMORY_BYTES ? bytes / 2 : 1);
	return bytes <= MEMORY_BYTES ? memory + MEMORY_BYTES - bytes : memory;
}

static void transfer(int device, size_t bytes, off_t at, unsigned int kind, bool writes)
{
	char *buffer = buffer_for(bytes, kind);
	bool is_plain = at == 0;

	/* These results do not matter: the driver must survive. */
	if (writes)
		is_plain ? write(device, buffer, bytes)
			 : pwrite(device, buffer, bytes, at);
	else
		is_plain ? read(device, buffer, bytes)
			 : pread(device, buffer, bytes, at);
}

static void all_transfers(int device)
{
	unsigned int kind;
	size_t i, j;

	for (j = 0; j < COUNT(offsets); j++) {
		for (i = 0; i < COUNT(sizes); i++) {
			for (kind = 0; kind < 4 && has_time(); kind++) {
				if (kind && j)
					continue;
				transfer(device, sizes[i], offsets[j], kind, true);
				transfer(device, sizes[i], offsets[j], kind, false);
			}
		}
		lseek(device, offsets[j], SEEK_SET);
		lseek(device, offsets[j], SEEK_END);
		lseek(device, -offsets[j], SEEK_CUR);
	}
}

/* --- mappings ----------------------------------------------------------------------- */

static sigjmp_buf no_access;

static void leave(int number)
{
	siglongjmp(no_access, number);
}

/* Returns whether the mapping is ordinary memory, according to the kernel. */
static bool is_ordinary(const void *at)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	unsigned long begin, end;
	bool is_ours = false, is = false;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			is_ours = (unsigned long)at >= begin && (unsigned long)at < end;
		else if (is_ours && !strncmp(line, "VmFlags:", 8))
			is = !strstr(line, " io") && !strstr(line, " pf");
	}
	if (maps)
		fclose(maps);
	return is;
}

/* Accesses the first and the last byte. */
static void touch(volatile char *at, size_t bytes)
{
	struct sigaction action = { .sa_handler = leave, .sa_flags = SA_NODEFER };

	if (!is_ordinary((char *)at))
		return;
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(no_access, 1))
		at[0] = at[0];
	if (!sigsetjmp(no_access, 1))
		at[bytes - 1] = at[bytes - 1];
	signal(SIGBUS, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
}

static void map(int device, size_t bytes, off_t at)
{
	char *where = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device, at);
	char *larger;

	if (where == MAP_FAILED)
		return;
	touch(where, bytes);
	larger = mremap(where, bytes, 2 * bytes, MREMAP_MAYMOVE);
	if (larger != MAP_FAILED) {
		touch(larger, 2 * bytes);
		munmap(larger + bytes, bytes);
		where = larger;
	}
	munmap(where, PAGE_BYTES);
	munmap(where, bytes);
}

static const size_t lengths[] = { PAGE_BYTES, 2 * PAGE_BYTES, 1ul << 18,
				  1ul << 22,  1ul << 26,      1ul << 28 };

static void all_mappings(int device)
{
	size_t i, shift;

	for (i = 0; i < COUNT(lengths); i++) {
		if (has_time())
			map(device, lengths[i], 0);
		for (shift = 12; shift < 47 && has_time(); shift++) {
			map(device, lengths[i], 1ul << shift);
			if (!i)
				map(device, lengths[i], (1ul << shift) - PAGE_BYTES);
		}
	}
	if (has_time())
		map(device, PAGE_BYTES, LONG_MAX & ~(PAGE_BYTES - 1));
}

/* --- requests ----------------------------------------------------------------------- */

#define ARGUMENTS 10

/* Returns an argument for a request. */
static char *argument(unsigned int kind)
{
	uint64_t *pairs = (uint64_t *)words;
	size_t i;

	for (i = 0; i < WORDS; i++)
		words[i] = kind == 0   ? 0
			   : kind == 1 ? ~0u
			   : kind == 2 ? 65536
			   : kind == 3 ? 1u << 31
			   : kind == 4 ? draw() % 16
				       : draw();
	for (i = 0; kind == 6 && i + 1 < WORDS / 2; i += 2) {
		pairs[i] = (uintptr_t)memory;
		pairs[i + 1] = 1 << 20;
	}
	memcpy(edge, words, 4);
	if (kind == 7)
		return NULL;
	if (kind == 8)
		return (char *)0xffff888000000000;
	return kind == 9 ? edge : (char *)words;
}

static int request(int device, uint32_t number, unsigned int kind)
{
	return ioctl(device, (unsigned long)number, argument(kind)) ? errno : 0;
}

/* Keeps the requests that the driver knows. */
static void learn_requests(int device)
{
	size_t known = 0, i;

	for (i = 0; i < requests->count && has_time(); i++) {
		uint32_t number = requests->numbers[i];

		if (request(device, number, i % 5) != ENOTTY)
			requests->numbers[known++] = number;
	}
	requests->count = known;
}

static void all_requests(int device)
{
	unsigned int kind;
	size_t i;

	for (kind = 0; kind < ARGUMENTS; kind++) {
		for (i = 0; i < requests->count && has_time(); i++)
			request(device, requests->numbers[i], kind);
	}
}

/* --- processes ---------------------------------------------------------------------- */

static int open_device(const char *name)
{
	int device = open(name, O_RDWR | O_NOCTTY);

	if (device < 0)
		device = open(name, O_RDONLY | O_NOCTTY);
	return device < 0 ? open(name, O_WRONLY | O_NOCTTY) : device;
}

static void alone(int device)
{
	set_ticks(TICK_US);
	set_limit(STAGE_SECONDS);
	all_transfers(device);
	set_limit(STAGE_SECONDS);
	learn_requests(device);
	set_limit(STAGE_SECONDS);
	all_requests(device);
	set_limit(STAGE_SECONDS);
	all_mappings(device);
}

/* Does anything, until killed. */
static void beside_others(int device, const char *name)
{
	int own = open_device(name);

	set_ticks(1000 + draw() % TICK_US);
	for (;;) {
		int one = own >= 0 && draw() % 2 ? own : device;
		size_t at = draw() % COUNT(lengths);

		switch (draw() % 4) {
		case 0:
			transfer(one, sizes[draw() % COUNT(sizes)], 0, draw() % 4,
				 draw() % 2);
			break;
		case 1:
			map(one, lengths[at % 3],
			    draw() % 2 ? 0 : 1ul << (12 + draw() % 20));
			break;
		case 2:
			if (requests->count)
				request(one,
					requests->numbers[draw() % requests->count],
					draw() % ARGUMENTS);
			break;
		default:
			if (own >= 0)
				close(own);
			own = open_device(name);
		}
	}
}

static void print_stack(pid_t process)
{
	char name[64], line[256];
	FILE *stack;

	snprintf(name, sizeof(name), "/proc/%d/stack", process);
	stack = fopen(name, "r");
	printf(":");
	while (stack && fgets(line, sizeof(line), stack)) {
		line[strcspn(line, "\n")] = 0;
		printf(" %s", strchr(line, ']') ? strchr(line, ']') + 2 : line);
	}
	printf("\n");
	if (stack)
		fclose(stack);
}

/* Returns whether the process ends in time. */
static bool ends(pid_t process, double seconds)
{
	double end = now() + seconds;

	while (now() < end) {
		if (waitpid(process, NULL, WNOHANG) == process)
			return true;
		usleep(10000);
	}
	return false;
}

/* Ends the process; exits if it does not end. */
static void end(pid_t process, const char *name)
{
	kill(process, SIGKILL);
	if (ends(process, DYING_SECONDS))
		return;
	printf("%s: a call does not end when its process is killed", name);
	print_stack(process);
	exit(1);
}

/*
 * Returns a new process that has opened the device, and begins with a seed of its own.  `device` is
 * an open file, or -1.
 */
static pid_t begin(const char *name, int device)
{
	uint64_t seed = draw();
	pid_t process = fork();

	if (process)
		return process;
	state = seed;
	if (device >= 0) {
		beside_others(device, name);
	} else {
		device = open_device(name);
		if (device >= 0)
			alone(device);
	}
	_exit(0);
}

static void attack(const char *name)
{
	pid_t process[PROCESSES];
	int device, i;

	process[0] = begin(name, -1);
	if (!ends(process[0], ALONE_SECONDS + 2))
		end(process[0], name);
	device = open_device(name);
	if (device < 0)
		return;
	for (i = 0; i < PROCESSES; i++)
		process[i] = begin(name, device);
	close(device);
	for (i = 0; i < PROCESSES; i++) {
		usleep(TOGETHER_SECONDS * 1e6 / PROCESSES + draw() % 100000);
		end(process[i], name);
	}
}

static void *shared(size_t bytes)
{
	void *at = mmap(NULL, bytes + PAGE_BYTES, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(2);
	mprotect(at + bytes, PAGE_BYTES, PROT_NONE);
	return at;
}

int main(int argc, char **argv)
{
	FILE *file = argc > 2 ? fopen(argv[2], "rb") : NULL;
	static uint32_t known[REQUESTS_MOST];
	size_t all;
	int i;

	if (!file)
		return 2;
	setbuf(stdout, NULL);
	state = strtoull(argv[1], NULL, 0);
	all = fread(known, sizeof(*known), REQUESTS_MOST, file);
	fclose(file);
	signal(SIGIO, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	memory = shared(MEMORY_BYTES);
	words = shared(PAGE_BYTES);
	edge = (char *)shared(PAGE_BYTES) + PAGE_BYTES - 4;
	requests = shared(PAGE_BYTES * (1 + sizeof(*requests) / PAGE_BYTES));
	for (i = 3; i < argc; i++) {
		memcpy(requests->numbers, known, sizeof(known));
		requests->count = all;
		attack(argv[i]);
	}
	return 0;
}
