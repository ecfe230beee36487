// SPDX-License-Identifier: MIT
#include "match.h"

int match_init(struct match *match)
{
	*match = (struct match){ 0 };
	return outstanding_init(&match->queued) || outstanding_init(&match->sent) ||
			       outstanding_init(&match->back)
		       ? -ENOMEM
		       : 0;
}

void match_exit(struct match *match)
{
	outstanding_exit(&match->back);
	outstanding_exit(&match->sent);
	outstanding_exit(&match->queued);
}

struct match *match_new(void)
{
	struct match *match = port_zalloc(sizeof(*match));

	if (match && match_init(match)) {
		match_free(match);
		match = NULL;
	}
	return match;
}

void match_free(struct match *match)
{
	match_exit(match);
	port_free(match);
}

/*
 * An earlier request at this place was never issued, as far as the trace shows. An older kernel
 * queues the second part of a split request again; the part keeps its arrival.
 */
static int queue(struct match *match, const struct outstanding_request *rq)
{
	struct outstanding_request before;

	if (outstanding_take(&match->queued, rq->op, rq->at, &before)) {
		if (before.split_off) {
			before.split_off = false;
			return outstanding_put(&match->queued, &before);
		}
		match->unissued_queues++;
	}
	return outstanding_put(&match->queued, rq);
}

static int split(struct match *match, const struct trace_event *event)
{
	const struct outstanding_request *whole =
		outstanding_find(&match->queued, event->op, event->sector);
	struct outstanding_request part;

	if (!whole)
		return 0;
	part = *whole;
	part.at = event->sector + event->sectors;
	part.split_off = true;
	return queue(match, &part);
}

static void forget(struct match *match, u8 op, u64 at)
{
	struct outstanding_request gone;

	outstanding_take(&match->queued, op, at, &gone);
}

static int requeue(struct match *match, const struct trace_event *event)
{
	struct outstanding_request rq;

	if (!outstanding_take(&match->sent, event->op, event->sector, &rq))
		return 0;
	return outstanding_put(&match->back, &rq);
}

/* A requeued request may have grown before it is issued again. */
static void issue_again(struct outstanding_request *rq, const struct trace_event *event)
{
	if (event->sectors > rq->left) {
		rq->sectors += event->sectors - rq->left;
		rq->left = event->sectors;
	}
}

static int issue(struct match *match, const struct trace_event *event)
{
	struct outstanding_request rq, lost;

	if (outstanding_take(&match->back, event->op, event->sector, &rq)) {
		issue_again(&rq, event);
		return outstanding_put(&match->sent, &rq);
	}
	if (!outstanding_take(&match->queued, event->op, event->sector, &rq))
		rq = (struct outstanding_request){ .arrival_ns = event->time_ns,
						   .at = event->sector,
						   .owner = event->pid,
						   .op = event->op };
	rq.dispatch_ns = event->time_ns;
	rq.sector = event->sector;
	rq.sectors = rq.left = event->sectors;
	while (outstanding_take(&match->sent, event->op, event->sector, &lost))
		match->reissued++;
	return outstanding_put(&match->sent, &rq);
}

static int complete(struct match *match, const struct trace_event *event,
		    struct blktrace_row *row)
{
	struct outstanding *table = &match->sent;
	const struct outstanding_request *first =
		outstanding_find(table, event->op, event->sector);
	struct outstanding_request rq;

	if (!first) {
		table = &match->back;
		first = outstanding_find(table, event->op, event->sector);
	}
	if (!first || first->left < event->sectors) {
		match->unissued++;
		return 0;
	}
	outstanding_take(table, event->op, event->sector, &rq);
	if (event->sectors < rq.left) {
		rq.left -= event->sectors;
		rq.at += event->sectors;
		return outstanding_put(&match->sent, &rq);
	}
	*row = (struct blktrace_row){
		.arrival_ns = rq.arrival_ns,
		.dispatch_ns = rq.dispatch_ns,
		.completion_ns = event->time_ns,
		.sector = rq.sector,
		.sectors = rq.sectors,
		.owner = rq.owner,
		.op = rq.op,
	};
	return 1;
}

int match_event(struct match *match, const struct trace_event *event,
		struct blktrace_row *row)
{
	struct outstanding_request rq = { .arrival_ns = event->time_ns,
					  .at = event->sector,
					  .owner = event->pid,
					  .op = event->op };

	switch (event->kind) {
	case TRACE_QUEUE:
		return queue(match, &rq);
	case TRACE_SPLIT:
		return split(match, event);
	case TRACE_BACK_MERGE:
		forget(match, event->op, event->sector);
		return 0;
	case TRACE_FRONT_MERGE:
		forget(match, event->op, event->sector + event->sectors);
		return 0;
	case TRACE_REQUEUE:
		return requeue(match, event);
	case TRACE_ISSUE:
		return issue(match, event);
	default:
		return complete(match, event, row);
	}
}

s64 match_events(struct match *match, const struct trace_event *event, u64 n,
		 struct blktrace_row *row)
{
	s64 rows = 0;
	u64 i;
	int made;

	for (i = 0; i < n; i++) {
		made = match_event(match, &event[i], &row[rows]);
		if (made < 0)
			return made;
		if (made)
			row[rows++].event = i;
	}
	return rows;
}

u64 match_unissued_queues(const struct match *match)
{
	return match->unissued_queues + match->queued.nr;
}

u64 match_uncompleted(const struct match *match)
{
	return match->sent.nr + match->back.nr;
}
