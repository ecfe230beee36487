// SPDX-License-Identifier: MIT
/* durable DEVICE OFFSET: write a page that must have reached the medium (O_DSYNC). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE 4096

static char page[PAGE] __attribute__((aligned(PAGE)));

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_WRONLY | O_DIRECT | O_DSYNC) : -1;

	if (fd >= 0 && pwrite(fd, page, PAGE, atoll(argv[2])) == PAGE)
		return 0;
	perror("durable");
	return 1;
}
