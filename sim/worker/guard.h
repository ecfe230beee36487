/* SPDX-License-Identifier: MIT */
/* A parent for the sandbox of a process that serves, so that nothing outlives the starter. */
#ifndef UNDERSTUDY_GUARD_H
#define UNDERSTUDY_GUARD_H

/**
 * guard - run a command until it ends, or until the other end of a pipe is closed
 * @pipe: descriptor of the read end; only the starter has the write end
 * @command: the command's words, and NULL
 *
 * The guard must be the leader of a process group. If the command does not end soon after the pipe
 * is closed, the guard kills this group, thus also itself.
 *
 * Return: the command's exit status, or 128 and the signal that ended the command.
 */
int guard(int pipe, char **command);

#endif
