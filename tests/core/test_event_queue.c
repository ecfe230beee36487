// SPDX-License-Identifier: MIT
/* The event queue against a sorted list. */
#include "../../sim/event_queue.h"
#include "check.h"

#define EVENTS 600

static struct event sorted[EVENTS];
static u32 count;

static int compare(const struct event *a, const struct event *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->priority != b->priority)
		return a->priority < b->priority ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static void sorted_add(struct event event)
{
	u32 i = count++;

	for (; i && compare(&event, &sorted[i - 1]) < 0; i--)
		sorted[i] = sorted[i - 1];
	sorted[i] = event;
}

static void take_and_compare(struct event_queue *queue)
{
	struct event want = sorted[0];
	struct event got;

	CHECK_EQ(compare(event_queue_first(queue), &want), 0);
	got = event_queue_take(queue);
	CHECK_EQ(compare(&got, &want), 0);
	memmove(sorted, sorted + 1, --count * sizeof(*sorted));
}

/* Use few instants, so that priorities and ids decide the order. */
static struct event random_event(struct draw *draw)
{
	struct event event = {
		.time_ns = draw_below(draw, 20),
		.priority = draw_below(draw, 4),
		.id = draw_below(draw, 8),
	};

	if (!draw_below(draw, 8))
		event = (struct event){ draw_u64(draw), draw_u64(draw),
					draw_u64(draw) };
	return event;
}

static void random_case(struct draw *draw)
{
	u32 adds_percent = 30 + draw_below(draw, 60);
	struct event_queue queue;
	u32 i;

	count = 0;
	CHECK_EQ(event_queue_init(&queue, draw_below(draw, 40)), 0);
	for (i = 0; i < EVENTS; i++) {
		if (draw_below(draw, 100) < adds_percent) {
			struct event event = random_event(draw);

			CHECK_EQ(event_queue_add(&queue, event), 0);
			sorted_add(event);
		} else if (count) {
			take_and_compare(&queue);
		}
		CHECK_EQ(queue.count, count);
	}
	while (count)
		take_and_compare(&queue);
	event_queue_exit(&queue);
}

/* Priority decides before ids, however large these are. */
static void priority_goes_before_id(void)
{
	struct event_queue queue;

	CHECK_EQ(event_queue_init(&queue, 2), 0);
	CHECK_EQ(event_queue_add(&queue, (struct event){ 5, 1, 0 }), 0);
	CHECK_EQ(event_queue_add(&queue, (struct event){ 5, 0, U32_MAX }), 0);
	CHECK_EQ(event_queue_take(&queue).priority, 0);
	CHECK_EQ(event_queue_take(&queue).priority, 1);
	event_queue_exit(&queue);
}

/* If there is no memory to grow, the queue keeps its events. */
static void no_memory(void)
{
	struct event_queue queue = { 0 };

	port_grant(0);
	CHECK_EQ(event_queue_init(&queue, 4), -ENOMEM);
	event_queue_exit(&queue);
	port_grant(1);
	CHECK_EQ(event_queue_init(&queue, 1), 0);
	CHECK_EQ(event_queue_add(&queue, (struct event){ .id = 7 }), 0);
	CHECK_EQ(event_queue_add(&queue, (struct event){ .id = 8 }), -ENOMEM);
	CHECK_EQ(queue.count, 1);
	CHECK_EQ(event_queue_first(&queue)->id, 7);
	port_grant(U32_MAX);
	CHECK_EQ(event_queue_add(&queue, (struct event){ .id = 6 }), 0);
	CHECK_EQ(event_queue_take(&queue).id, 6);
	event_queue_exit(&queue);
	event_queue_exit(&queue);
}

int main(void)
{
	check_seeds(400, random_case);
	priority_goes_before_id();
	no_memory();
	return 0;
}
