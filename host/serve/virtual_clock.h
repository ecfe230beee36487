/* SPDX-License-Identifier: MIT */
/*
 * Detects clients in a clock in which the host's time does not pass. A guest of a QEMU that counts
 * instructions (-icount) sees its disk's answer as soon as QEMU does, whatever the host's clock
 * says.
 */
#ifndef UNDERSTUDY_SERVE_VIRTUAL_CLOCK_H
#define UNDERSTUDY_SERVE_VIRTUAL_CLOCK_H

#include <stdbool.h>

/* Whether the client of this connection is such a QEMU; only detected over a Unix socket. */
bool client_has_virtual_clock(void);

#endif
