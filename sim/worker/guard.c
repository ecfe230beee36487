// SPDX-License-Identifier: MIT
/*
 * PR_SET_PDEATHSIG (bwrap --die-with-parent) is not enough: the signal is not sent if the starter is
 * killed before the sandbox has requested the signal. And if the signal ends bwrap before it has
 * told its child to go on, the child waits for ever.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "guard.h"

#define EXIT_NOT_FOUND 127
#define LAST_SECONDS 1 /* for the command to end by itself */

static void interrupt_poll(int signal)
{
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

int guard(int pipe, char **command)
{
	struct sigaction action = { .sa_handler = interrupt_poll };
	struct pollfd end = { .fd = pipe }; /* POLLHUP needs no request */
	struct timespec last = { .tv_sec = LAST_SECONDS };
	sigset_t child_ends, before;
	pid_t child;
	int status;

	sigemptyset(&child_ends);
	sigaddset(&child_ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_ends, &before);
	sigaction(SIGCHLD, &action, NULL);
	child = fork();
	if (!child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(*command, command);
		_exit(EXIT_NOT_FOUND);
	}
	while (child > 0 && !waitpid(child, &status, WNOHANG)) {
		if (end.fd < 0 && !ppoll(NULL, 0, &last, &before))
			kill(0, SIGKILL);
		if (end.fd >= 0 && ppoll(&end, 1, NULL, &before) > 0)
			end.fd = -1;
	}
	return child > 0 ? exit_status(status) : EXIT_NOT_FOUND;
}
