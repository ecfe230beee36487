// SPDX-License-Identifier: MIT
/*
 * The shadow cache against its definition: a private cache is asked about every pending read, the
 * oldest first.  Parameters change all the time.
 */
#include "../../core/shadow_cache.h"
#include "check.h"

#define REQUESTS 400
#define PENDING 40

static struct shadow_cache shadow;
static struct disk_cache cache;
static struct io_request request[REQUESTS];
static struct sorted_queue sorted;
static struct fifo fifo;
static u32 found_hits, found_none;

static void add(struct io_request *rq)
{
	sorted_queue_add(&sorted, rq);
	fifo_add(&fifo, rq);
	shadow_cache_add(&shadow, rq);
}

static void take(struct io_request *rq)
{
	sorted_queue_remove(&sorted, rq);
	fifo_remove(&fifo, rq);
	shadow_cache_remove(&shadow, rq);
}

static u32 nr_suspects(void)
{
	const struct io_request *rq;
	u32 n = 0;

	for (rq = fifo.oldest; rq; rq = rq->fifo_next)
		n += rq->tag != 0;
	return n;
}

static void find(void)
{
	struct io_request *rq = fifo.oldest;

	while (rq && !disk_cache_holds(&cache, rq->sector, rq->sectors))
		rq = rq->fifo_next;
	CHECK(shadow_cache_find(&shadow, &fifo) == rq);
	CHECK_EQ(shadow.suspects, nr_suspects());
	if (rq)
		found_hits++;
	else
		found_none += fifo.oldest != NULL;
}

static void read_one(struct draw *draw)
{
	struct io_request *rq;

	if (!sorted.count)
		return;
	rq = sorted.slot[draw_below(draw, sorted.count)];
	take(rq);
	disk_cache_insert(&cache, rq->sector, rq->sectors);
	shadow_cache_read(&shadow, rq, &sorted);
}

static void write_one(struct draw *draw, u64 range)
{
	struct io_request rq = {
		.sector = draw_below(draw, range),
		.sectors = 1 + draw_below(draw, 30),
		.op = IO_WRITE,
	};

	disk_cache_drop(&cache, rq.sector, rq.sectors);
	shadow_cache_write(&shadow, &rq);
}

static void tune(struct draw *draw)
{
	switch (draw_below(draw, 3)) {
	case 0:
		/* Use few values, so that the parameter often returns to an earlier one. */
		cache.segments = draw_below(draw, 4) * 5;
		break;
	case 1:
		cache.segment_sectors = draw_below(draw, 300);
		break;
	case 2:
		cache.prefetch_sectors = draw_below(draw, 100);
		break;
	}
	shadow.cache.segments = cache.segments;
	shadow.cache.segment_sectors = cache.segment_sectors;
	shadow.cache.prefetch_sectors = cache.prefetch_sectors;
}

static void merge(struct draw *draw)
{
	struct io_request *rq;

	if (!sorted.count)
		return;
	rq = sorted.slot[draw_below(draw, sorted.count)];
	take(rq);
	rq->sectors += draw_below(draw, 20);
	add(rq);
}

static void arrive(struct draw *draw, u64 range, u32 id)
{
	request[id] = (struct io_request){
		.sector = draw_below(draw, range),
		.sectors = 1 + draw_below(draw, 16),
		.id = id,
		.tag = draw_u64(draw),
	};
	add(&request[id]);
}

static void random_case(struct draw *draw)
{
	u64 range = 100ull << draw_below(draw, 12);
	bool tunes = draw_below(draw, 2);
	u32 arrived = 0;

	memset(&shadow, 0, sizeof(shadow));
	memset(&cache, 0, sizeof(cache));
	memset(&fifo, 0, sizeof(fifo));
	CHECK_EQ(sorted_queue_init(&sorted, PENDING), 0);
	cache.segments = 64;
	tune(draw);
	while (arrived < REQUESTS) {
		switch (draw_below(draw, 8)) {
		case 0:
		case 1:
			if (sorted.count < PENDING)
				arrive(draw, range, arrived++);
			break;
		case 2:
			read_one(draw);
			break;
		case 3:
			merge(draw);
			break;
		case 4:
			write_one(draw, range);
			break;
		case 5:
			if (tunes)
				tune(draw);
			break;
		default:
			find();
			break;
		}
	}
	sorted_queue_exit(&sorted);
}

int main(void)
{
	check_seeds(300, random_case);
	CHECK(getenv("CHECK_SEED") || (found_hits > 1000 && found_none > 1000));
	return 0;
}
