// SPDX-License-Identifier: MIT
/*
 * A library loaded into QEMU. When the guest sends a question to the host, the sending instruction
 * does not finish until the answer has arrived.
 *
 * The guest writes a byte to a debug console's port. QEMU passes the byte to the host over a
 * socket. This library then makes the guest's thread wait until a byte arrives from the host.
 * Meanwhile the thread holds QEMU's big lock, so nothing else happens in the machine and its
 * virtual clock does not advance. The alternative, stopping the machine (`port rest`), takes QEMU
 * about five times as long.
 *
 * The environment variable QUESTIONS is the socket's descriptor; without the variable, the library
 * has no effect. understudy_devices/platforms/vm/conversation.py is the host's end.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

static ssize_t (*libc_sendmsg)(int, const struct msghdr *, int);
static int questions = -1;

__attribute__((constructor)) static void find(void)
{
	const char *number = getenv("QUESTIONS");

	libc_sendmsg = dlsym(RTLD_NEXT, "sendmsg");
	if (number)
		questions = atoi(number);
}

/* Wait until the answer arrives or the other end closes the socket. */
static void wait_for_answer(void)
{
	struct pollfd socket = { .fd = questions, .events = POLLIN };
	char answer;

	while (poll(&socket, 1, -1) < 0 && errno == EINTR)
		;
	recv(questions, &answer, sizeof(answer), 0);
}

ssize_t sendmsg(int file, const struct msghdr *message, int flags)
{
	ssize_t sent = libc_sendmsg(file, message, flags);

	if (file == questions && sent > 0)
		wait_for_answer();
	return sent;
}
