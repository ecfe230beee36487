// SPDX-License-Identifier: GPL-2.0
/* hammer WRITER WRITES: a process that writes the copier's registers through the driver's mmap. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hammer_pattern.h"

int main(int argc, char **argv)
{
	unsigned int writer, writes, n;
	void *registers;
	int file = open("/dev/hammer", O_RDWR);

	if (argc != 3 || file < 0)
		return 1;
	writer = atoi(argv[1]);
	writes = atoi(argv[2]);
	registers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (registers == MAP_FAILED)
		return 1;
	for (n = 0; n < writes; n++)
		hammer(registers, writer, n);
	printf("process %u is pid %d\n", writer, getpid());
	return 0;
}
