// SPDX-License-Identifier: MIT
/* odd discard|zero|passthrough DEVICE: what is no read or write, of the first 64 KiB or of none. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <scsi/sg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

static int pass_through(int fd)
{
	unsigned char test_unit_ready[6] = { 0 };
	sg_io_hdr_t header = {
		.interface_id = 'S',
		.dxfer_direction = SG_DXFER_NONE,
		.cmdp = test_unit_ready,
		.cmd_len = sizeof(test_unit_ready),
		.timeout = 5000,
	};

	return ioctl(fd, SG_IO, &header) || header.status;
}

int main(int argc, char **argv)
{
	uint64_t range[2] = { 0, 65536 };
	int fd = argc == 3 ? open(argv[2], O_RDWR | O_DIRECT) : -1;
	int failed = 1;

	if (fd < 0)
		perror("odd");
	else if (!strcmp(argv[1], "discard"))
		failed = ioctl(fd, BLKDISCARD, range);
	else if (!strcmp(argv[1], "zero"))
		failed = ioctl(fd, BLKZEROOUT, range);
	else if (!strcmp(argv[1], "passthrough"))
		failed = pass_through(fd);
	return failed ? 1 : 0;
}
