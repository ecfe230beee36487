// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * SFQ(D), start-time fair queueing for a device that serves up to D requests at once (Jin, Chase
 * and Kaur, SIGMETRICS 2004; ICPE 2011 section 4.1).
 *
 * Each owner is a flow (in the papers, a class) with a share, the weight of its requests. Requests
 * of a flow are served in order of arrival. The i-th request has a start tag and a finish tag:
 *
 *	S(i) = max(v(arrival), F(i - 1)),  F(i) = S(i) + cost / weight
 *
 * The request with the smallest start tag is next; of requests with equal start tags, the one with
 * the smallest id. Virtual time v is the start tag of the last request handed out. It does not
 * change while no request is pending. A flow that had no requests resumes at v, so its idle time
 * earns it no credit.
 *
 * While request i - 1 is pending, v has not passed S(i - 1). So if request i arrives during this
 * time, S(i) is F(i - 1). Therefore a flow needs only one tag: the start tag of its oldest pending
 * request or, if none is pending, the finish tag of its last request. A merged request is charged
 * for the size that it has when it is handed out.
 *
 * The cost is the service time if the host knows it in advance. Otherwise the cost is estimated
 * from the size and corrected at the completion: the device time that the request really took,
 * minus the estimate, is added to the flow's tag. The device time of a request begins at the
 * previous completion, or when the device became busy. So the charges add up to the device's busy
 * time, whatever the depth. On a disk, which has one head, each request is thus charged its own
 * service time without its queueing time.
 *
 * A host that serves several requests together (ICPE 2011, Algorithm 1) gets them in the order of
 * their tags, as long as they belong to one flow. Each of these requests has its own tags, but
 * together they count as one of the D requests.
 */
#include "../fifo.h"
#include "../owners.h"
#include "../scheduler.h"

#define MS 1000000ull
#define HOUR (3600000 * MS)
#define DEPTH_MAX 1024

/*
 * The unit of tags is 2^-TAG_BITS ns of service with weight 1. One request is charged at most 2^51
 * units, and all requests in service together are charged at most 2^61. So the tag of a flow with
 * requests pending differs from virtual time by at most 2^61. When virtual time reaches REBASE_AT,
 * all tags are lowered by REBASE_AT / 2, which keeps their differences.
 */
#define TAG_BITS 16
#define COST_MAX (1ull << 35)
#define REBASE_AT (1ull << 63)

/**
 * struct flow - one owner
 * @pending: its requests
 * @tag: start tag of the oldest pending request; if none is pending, finish tag of the last request
 * @place: index in the heap, if any request is pending
 */
struct flow {
	struct fifo pending;
	u64 tag;
	u32 place;
};

/**
 * struct entry - a flow with requests pending, in a binary heap
 * @tag: start tag of its oldest request
 * @id: id of that request
 * @slot: the flow
 */
struct entry {
	u64 tag;
	u64 id;
	u32 slot;
};

struct sfq {
	u64 depth;
	u64 settle;
	u64 cost_request_ns;
	u64 cost_sector_ns;

	u64 issued;
	u64 depth_reached;
	u64 most_in_service;
	u64 returns;
	u64 settled_up;
	u64 settled_down;
	u64 forgotten;
	u64 rebased;

	struct owners owners;
	struct flow *flow; /* by slot */
	struct entry *heap;
	u32 backlogged; /* flows in the heap */
	u32 in_service;
	u64 virtual_time;
	u64 accounted_ns; /* the device's time has been charged up to this time */
};

static const struct sched_field sfq_tunables[] = {
	SCHED_TUNABLE(sfq, depth, 32, 1, DEPTH_MAX, "most requests in service at once"),
	SCHED_TUNABLE(sfq, settle, 1, 0, 1,
		      "1: correct estimates of cost at completion, 0: keep them"),
	SCHED_TUNABLE(sfq, cost_request_ns, 5 * MS, 1, HOUR,
		      "estimated cost of a request of unknown cost"),
	SCHED_TUNABLE(sfq, cost_sector_ns, 5000, 0, 1000 * MS,
		      "estimated cost of each of its sectors in addition"),
};

static const struct sched_field sfq_counters[] = {
	SCHED_COUNTER(sfq, issued, "requests handed out"),
	SCHED_COUNTER(sfq, depth_reached, "calls of next while depth was reached"),
	SCHED_COUNTER(sfq, most_in_service, "most requests in service so far"),
	SCHED_COUNTER(sfq, returns, "flows that began at virtual time"),
	SCHED_COUNTER(sfq, settled_up, "estimates that were too low"),
	SCHED_COUNTER(sfq, settled_down, "estimates that were too high"),
	SCHED_COUNTER(sfq, forgotten, "flows forgotten while ahead of virtual time"),
	SCHED_COUNTER(sfq, rebased, "times that all tags were lowered"),
};

static void sfq_exit(void *state)
{
	struct sfq *sfq = state;

	owners_exit(&sfq->owners);
	port_free(sfq->flow);
	port_free(sfq->heap);
}

static int sfq_init(void *state, const struct sched_limits *limits)
{
	struct sfq *sfq = state;

	if (owners_init(&sfq->owners, limits->max_requests + DEPTH_MAX))
		return -ENOMEM;
	sfq->flow = port_zalloc(sfq->owners.capacity * sizeof(*sfq->flow));
	sfq->heap = port_zalloc(limits->max_requests * sizeof(*sfq->heap));
	if (!sfq->flow || !sfq->heap) {
		sfq_exit(sfq);
		return -ENOMEM;
	}
	return 0;
}

/* The heap of flows with requests pending. */

static bool is_before(const struct entry *a, const struct entry *b)
{
	return a->tag < b->tag || (a->tag == b->tag && a->id < b->id);
}

static void put_at(struct sfq *sfq, u32 place, const struct entry *entry)
{
	sfq->heap[place] = *entry;
	sfq->flow[entry->slot].place = place;
}

static void sift_up(struct sfq *sfq, u32 place, const struct entry *entry)
{
	while (place && is_before(entry, &sfq->heap[(place - 1) / 2])) {
		put_at(sfq, place, &sfq->heap[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	put_at(sfq, place, entry);
}

static void sift_down(struct sfq *sfq, u32 place, const struct entry *entry)
{
	u32 child = 2 * place + 1;

	while (child < sfq->backlogged) {
		if (child + 1 < sfq->backlogged &&
		    is_before(&sfq->heap[child + 1], &sfq->heap[child]))
			child++;
		if (!is_before(&sfq->heap[child], entry))
			break;
		put_at(sfq, place, &sfq->heap[child]);
		place = child;
		child = 2 * place + 1;
	}
	put_at(sfq, place, entry);
}

static void sift(struct sfq *sfq, u32 place, struct entry entry)
{
	if (place && is_before(&entry, &sfq->heap[(place - 1) / 2]))
		sift_up(sfq, place, &entry);
	else
		sift_down(sfq, place, &entry);
}

static struct entry entry_of(const struct sfq *sfq, u32 slot)
{
	const struct flow *flow = &sfq->flow[slot];

	return (struct entry){ flow->tag, flow->pending.oldest->id, slot };
}

static void heap_add(struct sfq *sfq, u32 slot)
{
	sift(sfq, sfq->backlogged++, entry_of(sfq, slot));
}

/*
 * Update the heap after the flow's oldest request or tag has changed, or when no request of the
 * flow is pending any more.
 */
static void heap_update(struct sfq *sfq, u32 slot)
{
	const struct flow *flow = &sfq->flow[slot];
	u32 place = flow->place;

	if (flow->pending.oldest)
		sift(sfq, place, entry_of(sfq, slot));
	else if (place != --sfq->backlogged)
		sift(sfq, place, sfq->heap[sfq->backlogged]);
}

/* Tags. */

static u64 tag_of(u64 cost_ns, u32 weight)
{
	return (cost_ns << TAG_BITS) / weight ?: 1;
}

static u64 estimate_ns(const struct sfq *sfq, const struct io_request *rq)
{
	u64 cost_ns =
		rq->cost_ns ?: sfq->cost_request_ns + rq->sectors * sfq->cost_sector_ns;

	return cost_ns < COST_MAX ? cost_ns : COST_MAX;
}

static void rebase(struct sfq *sfq)
{
	u64 by = REBASE_AT / 2;
	u32 i;

	sfq->virtual_time -= by;
	for (i = 0; i < sfq->owners.capacity; i++)
		sfq->flow[i].tag -= sfq->flow[i].tag < by ? sfq->flow[i].tag : by;
	for (i = 0; i < sfq->backlogged; i++)
		sfq->heap[i].tag -= by;
	sfq->rebased++;
}

/*
 * Replace the estimate, which is stored in the request's tag, by the device time that the request
 * really took.
 */
static void settle(struct sfq *sfq, const struct io_request *rq, u64 took_ns)
{
	struct flow *flow = &sfq->flow[rq->slot];
	u64 actual = tag_of(took_ns < COST_MAX ? took_ns : COST_MAX, rq->weight);
	u64 charged = tag_of(rq->tag, rq->weight);
	u64 tag = flow->tag + actual;

	if (actual > charged)
		sfq->settled_up++;
	if (actual < charged)
		sfq->settled_down++;
	flow->tag = tag > charged ? tag - charged : 0;
	if (flow->pending.oldest)
		heap_update(sfq, rq->slot);
}

static u32 flow_of(struct sfq *sfq, u32 owner)
{
	bool is_new;
	u32 slot = owners_get(&sfq->owners, owner, &is_new);

	if (is_new) {
		if (sfq->flow[slot].tag > sfq->virtual_time)
			sfq->forgotten++;
		sfq->flow[slot].tag = 0;
	}
	return slot;
}

static void sfq_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct sfq *sfq = state;
	struct flow *flow;

	rq->slot = flow_of(sfq, rq->owner);
	flow = &sfq->flow[rq->slot];
	if (flow->pending.oldest) {
		fifo_add(&flow->pending, rq);
		if (flow->pending.oldest == rq)
			heap_update(sfq, rq->slot);
		return;
	}
	fifo_add(&flow->pending, rq);
	if (flow->tag < sfq->virtual_time) {
		flow->tag = sfq->virtual_time;
		sfq->returns++;
	}
	heap_add(sfq, rq->slot);
}

static void sfq_remove(void *state, struct io_request *rq)
{
	struct sfq *sfq = state;

	fifo_remove(&sfq->flow[rq->slot].pending, rq);
	heap_update(sfq, rq->slot);
	owners_put(&sfq->owners, rq->slot);
}

static void begin_service(struct sfq *sfq, u64 now_ns)
{
	if (!sfq->in_service++)
		sfq->accounted_ns = now_ns;
	if (sfq->most_in_service < sfq->in_service)
		sfq->most_in_service = sfq->in_service;
}

/* Hand out the request with the smallest start tag; there must be a pending request. */
static struct io_request *issue(struct sfq *sfq)
{
	struct flow *flow = &sfq->flow[sfq->heap[0].slot];
	struct io_request *rq = flow->pending.oldest;

	if (sfq->virtual_time < flow->tag)
		sfq->virtual_time = flow->tag;
	rq->tag = estimate_ns(sfq, rq);
	rq->reason = PICK_ORDER;
	flow->tag += tag_of(rq->tag, rq->weight);
	fifo_remove(&flow->pending, rq);
	heap_update(sfq, rq->slot);
	sfq->issued++;
	if (sfq->virtual_time >= REBASE_AT)
		rebase(sfq);
	return rq;
}

static struct io_request *sfq_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct sfq *sfq = state;

	if (!sfq->backlogged)
		return NULL;
	if (sfq->in_service >= sfq->depth) {
		sfq->depth_reached++;
		return NULL;
	}
	begin_service(sfq, now_ns);
	return issue(sfq);
}

static struct io_request *sfq_more(void *state, const struct io_request *chosen,
				   u64 now_ns)
{
	struct sfq *sfq = state;

	if (!sfq->backlogged || sfq->heap[0].slot != chosen->slot)
		return NULL;
	return issue(sfq);
}

static void sfq_completed(void *state, const struct io_request *rq, u64 now_ns)
{
	struct sfq *sfq = state;
	u64 took_ns = now_ns - sfq->accounted_ns;

	if (!rq->joined)
		sfq->in_service--;
	sfq->accounted_ns = now_ns;
	if (sfq->settle && !rq->cost_ns)
		settle(sfq, rq, took_ns);
	owners_put(&sfq->owners, rq->slot);
}

static bool sfq_has_work(const void *state)
{
	const struct sfq *sfq = state;

	return sfq->backlogged;
}

static const struct scheduler sfq_scheduler = {
	.name = "sfq",
	.summary =
		"start-time fair queueing: each process its share, up to depth at once",
	.state_size = sizeof(struct sfq),
	.tunables = sfq_tunables,
	.nr_tunables = ARRAY_SIZE(sfq_tunables),
	.counters = sfq_counters,
	.nr_counters = ARRAY_SIZE(sfq_counters),
	.depth = DEPTH_MAX,
	.init = sfq_init,
	.exit = sfq_exit,
	.add = sfq_add,
	.remove = sfq_remove,
	.next = sfq_next,
	.more = sfq_more,
	.completed = sfq_completed,
	.has_work = sfq_has_work,
};
REGISTER_SCHEDULER(sfq_scheduler);
