// SPDX-License-Identifier: MIT
/* sorted_queue against a linear search. */
#include "../../core/sorted_queue.h"
#include "check.h"

#define MOST 40

static struct io_request request[MOST];
static bool queued[MOST];

static bool before(const struct io_request *a, const struct io_request *b)
{
	return a->sector < b->sector || (a->sector == b->sector && a->id < b->id);
}

/* Return the least queued request that is not before the key. */
static struct io_request *naive_from(const struct io_request *key)
{
	struct io_request *best = NULL;
	u32 i;

	for (i = 0; i < MOST; i++) {
		if (queued[i] && !before(&request[i], key) &&
		    (!best || before(&request[i], best)))
			best = &request[i];
	}
	return best;
}

/* Return the highest queued request that is not above the sector; of equals, the oldest. */
static struct io_request *naive_below(u64 sector)
{
	struct io_request *best = NULL;
	u32 i;

	for (i = 0; i < MOST; i++) {
		if (queued[i] && request[i].sector <= sector &&
		    (!best || request[i].sector > best->sector))
			best = &request[i];
	}
	return best;
}

static struct io_request *slot_or_null(const struct sorted_queue *queue, u32 i)
{
	return i < queue->count ? queue->slot[i] : NULL;
}

static void compare(const struct sorted_queue *queue, u64 sector)
{
	struct io_request key = { .sector = sector };
	struct io_request lowest = { 0 };
	struct io_request *rq = naive_from(&key);

	CHECK(slot_or_null(queue, sorted_queue_from(queue, sector)) == rq);
	CHECK(sorted_queue_above(queue, sector) == rq);
	CHECK(sorted_queue_below(queue, sector) == naive_below(sector));
	CHECK(sorted_queue_sweep(queue, sector) == (rq ? rq : naive_from(&lowest)));
	if (rq) {
		key = *rq;
		key.id++;
		CHECK(sorted_queue_after(queue, rq) == naive_from(&key));
	}
}

static void random_case(struct draw *draw)
{
	struct sorted_queue queue;
	u32 count = 0;
	u32 step;

	CHECK(sorted_queue_init(&queue, MOST) == 0);
	for (step = 0; step < 300; step++) {
		u32 i = draw_below(draw, MOST);

		if (queued[i]) {
			sorted_queue_remove(&queue, &request[i]);
			count--;
		} else {
			request[i].sector = draw_below(draw, 15);
			request[i].id = i;
			sorted_queue_add(&queue, &request[i]);
			count++;
		}
		queued[i] = !queued[i];
		CHECK_EQ(queue.count, count);
		compare(&queue, draw_below(draw, 18));
	}
	memset(queued, 0, sizeof(queued));
	sorted_queue_exit(&queue);
}

int main(void)
{
	check_seeds(300, random_case);
	return 0;
}
