// SPDX-License-Identifier: MIT
/*
 * Bring the metadata of a whole file set into memory: open every file, ask for its
 * extents, close it.  A direct run after that reads nothing but data.  For a set of a
 * million files use surge --rehearse, which touches only what the run will.
 *
 * Prints the number of files.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "file_path.h"
#include "options.h"

static int complain(const char *path)
{
	fprintf(stderr, "%s: %s (errno %d)\n", path, strerror(errno), errno);
	return EXIT_FAILED;
}

static int warm_file(const char *path)
{
	struct fiemap map = { .fm_length = FIEMAP_MAX_OFFSET };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int failed = 0;

	if (fd < 0)
		return complain(path);
	if (ioctl(fd, FS_IOC_FIEMAP, &map))
		failed = complain(path);
	close(fd);
	return failed;
}

static void usage(void)
{
	fputs("warm --dir FOLDER --files N\n", stderr);
	exit(EXIT_USAGE);
}

static const struct option long_options[] = { { "dir", required_argument, NULL, 'd' },
					      { "files", required_argument, NULL, 'f' },
					      { NULL, 0, NULL, 0 } };

int main(int argc, char **argv)
{
	char path[FILE_PATH_MAX];
	const char *dir = NULL;
	uint32_t files = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'd')
			dir = optarg;
		else if (option == 'f')
			files = option_number("--files", optarg, 1, 100000000);
		else
			usage();
	}
	if (optind != argc || !dir || !files)
		usage();
	for (uint32_t index = 0; index < files; index++) {
		file_path(path, dir, index, files);
		if (warm_file(path))
			return EXIT_FAILED;
	}
	printf("%u\n", files);
	return 0;
}
