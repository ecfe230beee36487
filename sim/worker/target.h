/* SPDX-License-Identifier: MIT */
/*
 * A target that the starter of this process simulates (understudy_devices/native/worker.py). Each
 * request is sent as a question over standard input, which is a socket. The answer is the request's
 * completion time.
 */
#ifndef UNDERSTUDY_TARGET_H
#define UNDERSTUDY_TARGET_H

#include "../../core/request.h"

/**
 * struct question - one request
 * @sector: first sector
 * @start_ns: when the target begins with the request
 * @sectors: length
 * @op: enum io_op
 */
struct question {
	u64 sector;
	u64 start_ns;
	u32 sectors;
	u32 op;
};

/* Return the request's completion time, ns. If there is no answer, this process ends. */
u64 target_ask(const struct io_request *rq, u64 start_ns);

#endif
