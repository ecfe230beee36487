/* SPDX-License-Identifier: MIT */
/*
 * Who asks may live in a clock in which our time does not pass: a guest of a QEMU that counts
 * instructions (-icount) sees its disk's answer as soon as QEMU does, whatever the host's clock
 * says.
 */
#ifndef UNDERSTUDY_SERVE_VIRTUAL_CLOCK_H
#define UNDERSTUDY_SERVE_VIRTUAL_CLOCK_H

#include <stdbool.h>

/* Whether the client of this connection is one.  It can be seen over a Unix socket. */
bool client_has_virtual_clock(void);

#endif
