/* SPDX-License-Identifier: MIT */
/*
 * Detects clients whose clock does not follow the host's clock. In a QEMU that counts instructions
 * (-icount), the guest's clock stands still while QEMU waits for an answer. So the guest does not
 * notice how long the server holds the answer.
 */
#ifndef UNDERSTUDY_SERVE_VIRTUAL_CLOCK_H
#define UNDERSTUDY_SERVE_VIRTUAL_CLOCK_H

#include <stdbool.h>

/*
 * Return whether the client of this connection is such a QEMU. It is only detected on a Unix
 * socket.
 */
bool client_has_virtual_clock(void);

#endif
