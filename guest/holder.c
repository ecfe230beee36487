// SPDX-License-Identifier: MIT
/*
 * holder DEVICE...: opens the devices, maps what of them can be mapped, prints "held", and keeps all
 * until it is killed.  So a driver's card can be removed while a process uses its devices.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096ul
#define MAPPED_MOST (16ul << 20)

static void hold(const char *path)
{
	int device = open(path, O_RDWR | O_NONBLOCK);
	size_t bytes;

	if (device < 0)
		device = open(path, O_RDONLY | O_NONBLOCK);
	for (bytes = PAGE_BYTES; device >= 0 && bytes <= MAPPED_MOST; bytes *= 2)
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		hold(argv[i]);
	puts("held");
	fflush(stdout);
	for (;;)
		pause();
}
