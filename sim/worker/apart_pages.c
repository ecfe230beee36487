// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "../../core/prefetch_contract.h"
#include "../../core/replacement_contract.h"
#include "../engine.h"
#include "apart_line.h"

static struct {
	struct apart_line line;
	struct prefetcher prefetcher;
} prefetch;

static struct {
	struct apart_line line;
	struct replacer replacer;
} replacement;

/* The prefetcher. */

static int prefetch_init(void *state, const struct prefetch_limits *limits)
{
	struct apart_line *line = &prefetch.line;

	apart_line_tell_tunables(line, state, true);
	apart_line_call(line, LINE_INIT)->prefetch = *limits;
	apart_line_ask(line, state);
	return line->reply.error;
}

static void prefetch_exit(void *state)
{
	apart_line_call(&prefetch.line, LINE_EXIT);
	apart_line_ask(&prefetch.line, state);
}

/* The read comes back as the prefetcher left it, so that the contract sees any change. */
static struct page_range prefetch_read(void *state, const struct page_read *read)
{
	struct apart_line *line = &prefetch.line;

	apart_line_call(line, LINE_READ)->read = *read;
	apart_line_ask(line, state);
	*(struct page_read *)read = line->reply.read;
	return line->reply.range;
}

static void prefetch_wasted(void *state, u32 stream, struct page_id page)
{
	struct line_call *made = apart_line_call(&prefetch.line, LINE_WASTED);

	made->slot = stream;
	made->page = page;
}

const struct prefetcher *apart_prefetcher(struct apart_pipes pipes,
					  struct apart_end end, char *words, s32 *error)
{
	struct apart_line *line = &prefetch.line;
	const struct line_self *self = &line->self;

	apart_line_open(line, PART_PREFETCHER, pipes, end);
	prefetch.prefetcher = (struct prefetcher){
		.name = self->name,
		.summary = self->summary,
		.state_size = sizeof(struct fields),
		.tunables = line->tunables,
		.nr_tunables = self->nr_tunables,
		.counters = line->counters,
		.nr_counters = self->nr_counters,
		.init = prefetch_init,
		.exit = prefetch_exit,
		.read = prefetch_read,
		.wasted = self->has_wasted ? prefetch_wasted : NULL,
	};
	*error = self->error;
	if (self->error)
		snprintf(words, CONTRACT_TEXT, "%s", self->words);
	else if (!prefetch_check_declaration(&prefetch.prefetcher, words))
		*error = -EPROTO;
	return *error ? NULL : &prefetch.prefetcher;
}

/* The replacement policy. */

static int replacement_init(void *state, const struct replacement_limits *limits)
{
	struct apart_line *line = &replacement.line;

	apart_line_tell_tunables(line, state, true);
	apart_line_call(line, LINE_INIT)->replacement = *limits;
	apart_line_ask(line, state);
	return line->reply.error;
}

static void replacement_exit(void *state)
{
	apart_line_call(&replacement.line, LINE_EXIT);
	apart_line_ask(&replacement.line, state);
}

static void replacement_add(void *state, u32 slot, struct page_id page)
{
	struct line_call *made = apart_line_call(&replacement.line, LINE_PAGE_ADD);

	made->slot = slot;
	made->page = page;
}

static void replacement_used(void *state, u32 slot)
{
	apart_line_call(&replacement.line, LINE_PAGE_USED)->slot = slot;
}

static void replacement_remove(void *state, u32 slot)
{
	apart_line_call(&replacement.line, LINE_PAGE_REMOVE)->slot = slot;
}

static u32 replacement_victim(void *state, struct page_id incoming)
{
	struct apart_line *line = &replacement.line;

	apart_line_call(line, LINE_VICTIM)->page = incoming;
	apart_line_ask(line, state);
	return line->reply.slot;
}

const struct replacer *apart_replacer(struct apart_pipes pipes, struct apart_end end,
				      char *words, s32 *error)
{
	struct apart_line *line = &replacement.line;
	const struct line_self *self = &line->self;

	apart_line_open(line, PART_REPLACER, pipes, end);
	replacement.replacer = (struct replacer){
		.name = self->name,
		.summary = self->summary,
		.state_size = sizeof(struct fields),
		.tunables = line->tunables,
		.nr_tunables = self->nr_tunables,
		.counters = line->counters,
		.nr_counters = self->nr_counters,
		.init = replacement_init,
		.exit = replacement_exit,
		.add = replacement_add,
		.used = replacement_used,
		.remove = replacement_remove,
		.victim = replacement_victim,
	};
	*error = self->error;
	if (self->error)
		snprintf(words, CONTRACT_TEXT, "%s", self->words);
	else if (!replacement_check_declaration(&replacement.replacer, words))
		*error = -EPROTO;
	return *error ? NULL : &replacement.replacer;
}
