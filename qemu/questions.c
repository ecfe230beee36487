// SPDX-License-Identifier: MIT
/*
 * Loaded into QEMU: a guest that asks the host waits for the answer at that very instruction.
 *
 * It writes a byte at a debug console's port, which QEMU passes on over a socket; so here the
 * guest's thread is not let go before a byte has come back.  It has QEMU's big lock meanwhile:
 * nothing else happens in the machine, and its virtual clock stands still.  To stop the machine
 * for that (`port rest`) takes QEMU some five times as long.
 *
 * The environment's QUESTIONS is the socket's number; without it nothing is asked.
 * understudy/platforms/vm/conversation.py is the other end.
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

/* Also if nobody is there any more. */
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
