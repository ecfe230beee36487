/* SPDX-License-Identifier: MIT */
/*
 * Detects clients whose clock does not follow the host's time. In a QEMU that counts instructions
 * (-icount), the guest's clock does not advance while QEMU waits, so the guest does not notice how
 * long the host held its disk's answer.
 */
#ifndef UNDERSTUDY_SERVE_VIRTUAL_CLOCK_H
#define UNDERSTUDY_SERVE_VIRTUAL_CLOCK_H

#include <stdbool.h>

/* Whether the client of this connection is such a QEMU; only detected over a Unix socket. */
bool client_has_virtual_clock(void);

#endif
