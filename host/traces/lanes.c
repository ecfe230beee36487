// SPDX-License-Identifier: MIT
#include "lanes.h"

#define BLOCK_EVENTS 2048

struct trace_block {
	struct trace_block *next;
	struct trace_event event[BLOCK_EVENTS];
};

int lanes_init(struct lanes *lanes)
{
	*lanes = (struct lanes){
		.lane = port_zalloc(LANES_MAX * sizeof(*lanes->lane)),
		.heap = port_zalloc(LANES_MAX * sizeof(*lanes->heap)),
	};
	return lanes->lane && lanes->heap ? 0 : -ENOMEM;
}

static void drop_first_block(struct lane *lane)
{
	struct trace_block *gone = lane->first;

	lane->first = gone->next;
	lane->given = 0;
	port_free(gone);
}

void lanes_exit(struct lanes *lanes)
{
	u32 cpu;

	for (cpu = 0; lanes->lane && cpu < LANES_MAX; cpu++) {
		while (lanes->lane[cpu] && lanes->lane[cpu]->first)
			drop_first_block(lanes->lane[cpu]);
		port_free(lanes->lane[cpu]);
	}
	port_free(lanes->heap);
	port_free(lanes->lane);
}

struct lane *lanes_get(struct lanes *lanes, u32 cpu)
{
	struct lane *lane = lanes->lane[cpu];

	if (lane)
		return lane;
	lane = port_zalloc(sizeof(*lane));
	if (lane)
		lane->cpu = cpu;
	return lanes->lane[cpu] = lane;
}

static int new_block(struct lane *lane)
{
	struct trace_block *block = port_zalloc(sizeof(*block));

	if (!block)
		return -ENOMEM;
	if (lane->first)
		lane->last->next = block;
	else
		lane->first = block;
	lane->last = block;
	lane->taken = 0;
	return 0;
}

int lane_put(struct lane *lane, const struct trace_event *event)
{
	if ((!lane->first || lane->taken == BLOCK_EVENTS) && new_block(lane))
		return -ENOMEM;
	lane->last->event[lane->taken++] = *event;
	return 0;
}

static bool is_empty(const struct lane *lane)
{
	return !lane->first ||
	       (lane->first == lane->last && lane->given == lane->taken);
}

static const struct trace_event *head_of(const struct lane *lane)
{
	return &lane->first->event[lane->given];
}

static bool goes_before(const struct lane *lane, const struct lane *other)
{
	const struct trace_event *a = head_of(lane);
	const struct trace_event *b = head_of(other);

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->kind != b->kind ? a->kind < b->kind : lane->cpu < other->cpu;
}

/*
 * Move the element at index `at` down to its position in the heap. All other elements are in order.
 */
static void sink(struct lanes *lanes, u32 at)
{
	struct lane *lane = lanes->heap[at];
	u32 child;

	while ((child = 2 * at + 1) < lanes->nr_heap) {
		if (child + 1 < lanes->nr_heap &&
		    goes_before(lanes->heap[child + 1], lanes->heap[child]))
			child++;
		if (!goes_before(lanes->heap[child], lane))
			break;
		lanes->heap[at] = lanes->heap[child];
		at = child;
	}
	lanes->heap[at] = lane;
}

static void build_heap(struct lanes *lanes)
{
	u32 i;

	for (i = 0; i < LANES_MAX; i++)
		if (lanes->lane[i] && !is_empty(lanes->lane[i]))
			lanes->heap[lanes->nr_heap++] = lanes->lane[i];
	for (i = lanes->nr_heap / 2; i-- > 0;)
		sink(lanes, i);
	lanes->ordered = true;
}

static void take_head(struct lane *lane)
{
	lane->given++;
	if (lane->given == BLOCK_EVENTS && lane->first != lane->last)
		drop_first_block(lane);
}

bool lanes_next(struct lanes *lanes, struct trace_event *event)
{
	struct lane *lane;

	if (!lanes->ordered)
		build_heap(lanes);
	if (!lanes->nr_heap)
		return false;
	lane = lanes->heap[0];
	*event = *head_of(lane);
	take_head(lane);
	if (is_empty(lane))
		lanes->heap[0] = lanes->heap[--lanes->nr_heap];
	if (lanes->nr_heap)
		sink(lanes, 0);
	return true;
}
