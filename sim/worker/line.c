// SPDX-License-Identifier: MIT
#include <unistd.h>

#include "line.h"

bool line_read(int file, void *into, size_t bytes)
{
	char *at = into;
	ssize_t got;

	for (; bytes; bytes -= got, at += got) {
		got = read(file, at, bytes);
		if (got < 0 && errno == EINTR)
			got = 0;
		else if (got <= 0)
			return false;
	}
	return true;
}

bool line_write(int file, const void *from, size_t bytes)
{
	const char *at = from;
	ssize_t put;

	for (; bytes; bytes -= put, at += put) {
		put = write(file, at, bytes);
		if (put < 0 && errno == EINTR)
			put = 0;
		else if (put <= 0)
			return false;
	}
	return true;
}
