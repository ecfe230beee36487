// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Keep WINDOWS windows ahead of each stream. Windows that wait for the disk at the same time become
 * one request.
 */
#include "../prefetch.h"

#define WINDOWS 4

/**
 * struct stream - what a stream reads
 * @file: the file
 * @next: page after the last one that it read
 * @end: page after the last one that was fetched for it
 */
struct stream {
	u32 file;
	u64 next;
	u64 end;
};

struct ahead {
	u32 most;
	struct stream *streams;
};

static int ahead_init(void *state, const struct prefetch_limits *limits)
{
	struct ahead *ahead = state;

	ahead->most = limits->most_pages;
	ahead->streams = port_zalloc(limits->streams * sizeof(*ahead->streams));
	return ahead->streams ? 0 : -ENOMEM;
}

static void ahead_exit(void *state)
{
	struct ahead *ahead = state;

	port_free(ahead->streams);
}

static struct page_range ahead_read(void *state, const struct page_read *read)
{
	struct ahead *ahead = state;
	struct stream *stream = &ahead->streams[read->stream];
	struct page_range range = { 0 };
	u64 page = read->page.number;

	if (stream->file != read->page.file || page > stream->end ||
	    page + 1 < stream->next)
		stream->end = 0;
	stream->file = read->page.file;
	stream->next = page + 1;
	if (!ahead->most || stream->end > page + 1 + WINDOWS * ahead->most)
		return range;
	if (stream->end < page + 1)
		stream->end = page + 1;
	range = prefetch_within(read, stream->end, ahead->most - 1);
	stream->end += range.pages;
	return range;
}

static const struct prefetcher ahead_prefetcher = {
	.name = "ahead",
	.summary = "keeps some windows ahead of each stream",
	.state_size = sizeof(struct ahead),
	.init = ahead_init,
	.exit = ahead_exit,
	.read = ahead_read,
};
REGISTER_PREFETCHER(ahead_prefetcher);
