// SPDX-License-Identifier: GPL-2.0
/*
 * mapped SECONDS: maps registers and DMA memory of a copier and unmaps them:
 * explicitly, in a forked child, and by the child's exit.
 *
 * Repeats this for SECONDS, and prints "N rounds" at the end.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

/* The mapping may be removed at any time; an access then ends the process by SIGBUS. */
static void work(int file)
{
	int which;

	for (which = 0; which < 2; which++) {
		volatile int *mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					    MAP_SHARED, file, (off_t)which * PAGE);

		if (mapped == MAP_FAILED)
			exit(1);
		mapped[2] = 1;
		if (!fork()) {
			mapped[2] = 2;
			exit(0);
		}
		munmap((void *)mapped, PAGE);
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	int file = open("/dev/mapped", O_RDWR);
	int rounds;

	if (file < 0)
		return 1;
	for (rounds = 0; time(NULL) < end; rounds++) {
		if (!fork()) {
			work(file);
			exit(0);
		}
		wait(NULL);
	}
	printf("%d rounds\n", rounds);
	return 0;
}
