// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * AMP: adaptive multi-stream prefetching (Gill and Bathen, FAST 2007). Each stream has a degree of
 * prefetch p, the pages of a set, and a trigger distance g, the pages before the end of a set at
 * which the next set is fetched.
 *
 * A stream that uses the last page of a set may read further, so p grows by one. If that page was
 * evicted unread, p was too large for the cache and shrinks by one, and g with it. If the stream
 * has to wait for a page of a set that is on its way, g was too small and grows by one. Up to
 * `async_pages`, p is too small to fetch ahead of time, and sets are fetched at misses.
 * docs/prefetch/amp.md says what differs from the paper.
 */
#include "../prefetch.h"

/**
 * struct amp_stream - a stream
 * @next: the page that follows its last read; page 0 before the first
 * @end: page after its last set; 0: it has none
 * @set: first page of its last set
 * @trigger: reading this page fetches the next set; 0: none
 * @degree: p
 * @distance: g, less than p
 * @waited: it waited for a page of its last set
 * @was_last: last page of the set before the last one, until it is read; NEVER: none
 */
struct amp_stream {
	struct page_id next;
	u64 set;
	u64 end;
	u64 trigger;
	u64 was_last;
	u32 degree;
	u32 distance;
	bool waited;
};

#define NEVER U64_MAX

struct amp {
	u64 first_pages;
	u64 async_pages;
	u64 sets;
	u64 grown;
	u64 shrunk;
	u64 stalls;

	u32 most;
	u32 streams;
	struct amp_stream *stream;
};

static const struct sched_field amp_tunables[] = {
	SCHED_TUNABLE(amp, first_pages, 4, 1, 1 << 15, "p of a stream that begins"),
	SCHED_TUNABLE(amp, async_pages, 4, 1, 1 << 15,
		      "p beyond which sets are fetched before a miss"),
};

static const struct sched_field amp_counters[] = {
	SCHED_COUNTER(amp, sets, "sets prefetched"),
	SCHED_COUNTER(amp, grown, "times p grew"),
	SCHED_COUNTER(amp, shrunk, "times p shrank"),
	SCHED_COUNTER(amp, stalls, "times g grew, since a stream waited for its set"),
};

static int amp_init(void *state, const struct prefetch_limits *limits)
{
	struct amp *amp = state;

	amp->most = limits->most_pages;
	amp->streams = limits->streams;
	amp->stream = port_zalloc(limits->streams * sizeof(*amp->stream));
	return amp->stream ? 0 : -ENOMEM;
}

static void amp_exit(void *state)
{
	struct amp *amp = state;

	port_free(amp->stream);
}

static void begin(struct amp *amp, struct amp_stream *stream)
{
	*stream = (struct amp_stream){ .was_last = NEVER };
	stream->degree = amp->first_pages < amp->most ? amp->first_pages : amp->most;
}

/* Fetch a set of p pages from this page on. */
static struct page_range fetch_set(struct amp *amp, struct amp_stream *stream,
				   const struct page_read *read, u64 first)
{
	struct page_range range = prefetch_within(read, first, stream->degree);

	if (!range.pages)
		return range;
	stream->was_last = stream->end ? stream->end - 1 : NEVER;
	stream->set = first;
	stream->end = first + range.pages;
	stream->waited = false;
	stream->trigger = 0;
	if (stream->degree > amp->async_pages)
		stream->trigger = stream->end - 1 - stream->distance;
	amp->sets++;
	return range;
}

/* Grow p if the stream reads the last page of a set. */
static void learn_from_end(struct amp *amp, struct amp_stream *stream, u64 page)
{
	if (page == stream->was_last)
		stream->was_last = NEVER;
	else if (page + 1 != stream->end)
		return;
	if (stream->degree >= amp->most)
		return;
	stream->degree++;
	amp->grown++;
}

/* Grow g if the stream waits for the set that was fetched ahead of it. */
static void learn_from_wait(struct amp *amp, struct amp_stream *stream, u64 page)
{
	if (stream->waited || page < stream->set || page >= stream->end ||
	    stream->degree <= amp->async_pages)
		return;
	stream->waited = true;
	if (stream->distance + 1 >= stream->degree)
		return;
	stream->distance++;
	amp->stalls++;
}

static struct page_range amp_read(void *state, const struct page_read *read)
{
	struct amp *amp = state;
	struct amp_stream *stream = &amp->stream[read->stream];
	u64 page = read->page.number;
	bool goes_on = !page || page_is(stream->next, read->page);
	struct page_range range = { 0 };

	if (!page || !goes_on)
		begin(amp, stream);
	stream->next = (struct page_id){ page + 1, read->page.file };
	if (!goes_on || !amp->most)
		return range;
	if (read->found == PAGE_COMING)
		learn_from_wait(amp, stream, page);
	if (read->found != PAGE_ABSENT)
		learn_from_end(amp, stream, page);
	if (read->found == PAGE_ABSENT)
		return fetch_set(amp, stream, read, page + 1);
	if (stream->trigger && page >= stream->trigger)
		return fetch_set(amp, stream, read, stream->end);
	return range;
}

/* Shrink p if the page ended a set of this stream. */
static void amp_wasted(void *state, u32 number, struct page_id page)
{
	struct amp *amp = state;
	struct amp_stream *stream = &amp->stream[number];

	if (stream->next.file != page.file || page.number < stream->next.number)
		return;
	if (page.number + 1 != stream->end && page.number != stream->was_last)
		return;
	if (stream->degree <= 1)
		return;
	stream->degree--;
	amp->shrunk++;
	if (stream->distance)
		stream->distance--;
}

static const struct prefetcher amp_prefetcher = {
	.name = "amp",
	.summary =
		"AMP: adapts length and time of each stream's prefetches to the cache",
	.state_size = sizeof(struct amp),
	.tunables = amp_tunables,
	.nr_tunables = ARRAY_SIZE(amp_tunables),
	.counters = amp_counters,
	.nr_counters = ARRAY_SIZE(amp_counters),
	.init = amp_init,
	.exit = amp_exit,
	.read = amp_read,
	.wasted = amp_wasted,
};
REGISTER_PREFETCHER(amp_prefetcher);
