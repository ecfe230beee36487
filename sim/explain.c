// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "explain.h"

const char *sim_explain(const struct sim_input *input,
			const struct sim_summary *summary, int error, char *text)
{
	unsigned long long oldest = summary->oldest;

	switch (-error) {
	case EPROTO:
		return summary->broken;
	case ENOMEM:
		return "no memory";
	case EOVERFLOW:
		snprintf(text, EXPLAIN_BYTES,
			 "unstable: more than %u requests wait or are served",
			 input->max_pending);
		return text;
	case EDEADLK:
		snprintf(text, EXPLAIN_BYTES,
			 "it holds request %llu back for ever: repeated dispatches "
			 "return "
			 "nothing",
			 oldest);
		return text;
	case ETIMEDOUT:
		snprintf(text, EXPLAIN_BYTES,
			 "it never chooses request %llu, while other requests arrive",
			 oldest);
		return text;
	case ENODATA:
		return "the page cache holds everything that is read, so no more "
		       "requests "
		       "come: take fewer requests, or a smaller cache";
	case ELOOP:
		return "the processes loop without ever thinking or waiting";
	case ETIME:
		return "the clock would overflow, after 292 years";
	case ENOENT:
		return "the workload has no files, or no table, to read";
	case ENOSPC:
		return "the disk is smaller than one request";
	case ENODEV:
		return "needs a disk's model: an array and a target have none; take a "
		       "disk, or "
		       "another scheduler";
	case EBADMSG:
		return "a file of arrivals is incomplete: it changed while it was read";
	case EOPNOTSUPP:
		return "the device takes several requests as one, and the scheduler "
		       "has no "
		       "more(): take one that has, or a disk";
	case EINVAL:
		return "the scheduler or the workload rejects its input";
	default:
		return NULL;
	}
}
