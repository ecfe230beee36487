// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "declaration.h"
#include "prefetch_contract.h"

static const struct page_range nothing;

bool prefetch_check_declaration(const struct prefetcher *p, char broken[CONTRACT_TEXT])
{
	struct declaration declaration = DECLARATION(p);

	broken[0] = '\0';
	if (!declaration_check_names(&declaration, broken))
		return false;
	if (!p->read)
		return broken_by(broken, "read", " is missing", "");
	return declaration_check_fields(&declaration, broken);
}

int prefetch_contract_init(struct prefetch_contract *c, const struct prefetcher *p,
			   const u64 *tunables, const struct prefetch_limits *limits)
{
	struct prefetch_limits given = *limits;
	u32 i;

	*c = (struct prefetch_contract){ .most_pages = limits->most_pages };
	c->state = port_zalloc(p->state_size);
	c->last = port_zalloc((size_t)limits->streams * sizeof(*c->last));
	if (!c->state || !c->last)
		return -ENOMEM;
	for (i = 0; i < p->nr_tunables; i++)
		*sched_field_value(c->state, &p->tunables[i]) = tunables[i];
	c->init_error = p->init ? p->init(c->state, &given) : 0;
	if (c->init_error > 0) {
		broken_number(c->broken, "init returned ", c->init_error,
			      ", which is neither 0 nor a negative errno");
		return -EINVAL;
	}
	if (!c->init_error)
		c->prefetcher = p;
	return c->init_error;
}

void prefetch_contract_exit(struct prefetch_contract *c)
{
	if (c->prefetcher && c->prefetcher->exit)
		c->prefetcher->exit(c->state);
	c->prefetcher = NULL;
	port_free(c->state);
	port_free(c->last);
	c->state = NULL;
	c->last = NULL;
}

/* Begin a message with the read in question. */
static void say_read(char *text, const struct page_read *read)
{
	broken_number(text, "read(page ", read->page.number, " of file ");
	broken_number(text, "", read->page.file, ") ");
}

static BREAKS_ONCE struct page_range refuse(struct prefetch_contract *c,
					    const struct page_read *read,
					    struct page_range range)
{
	say_read(c->broken, read);
	if (range.first >= read->file_pages) {
		broken_number(c->broken, "prefetches page ", range.first,
			      ", but the file has ");
		broken_number(c->broken, "", read->file_pages, " pages");
	} else if (range.pages > read->file_pages - range.first) {
		broken_number(c->broken, "prefetches ", range.pages,
			      " pages from page ");
		broken_number(c->broken, "", range.first, " on, but the file has ");
		broken_number(c->broken, "", read->file_pages, " pages");
	} else {
		broken_number(c->broken, "prefetches ", range.pages,
			      " pages, but the longest prefetch has ");
		broken_number(c->broken, "", c->most_pages, "");
	}
	return nothing;
}

static BREAKS_ONCE struct page_range repeated(struct prefetch_contract *c,
					      const struct page_read *read,
					      struct page_range range)
{
	say_read(c->broken, read);
	broken_number(c->broken, "prefetches page ", range.first,
		      " again, as the last ");
	broken_number(c->broken, "", PREFETCH_SAME_MAX, " reads did");
	return nothing;
}

static BREAKS_ONCE struct page_range rewritten(struct prefetch_contract *c,
					       const struct page_read *read)
{
	say_read(c->broken, read);
	broken_say(c->broken, "changed what it was given, which only the host may do");
	return nothing;
}

/* Count reads of different pages that have the same range; return false if there are too many. */
static inline bool is_new(struct prefetch_last *last, const struct page_read *read,
			  struct page_range range)
{
	bool same = last->range.first == range.first &&
		    last->range.pages == range.pages &&
		    last->read.file == read->page.file;

	last->same = same ? last->same + !page_is(last->read, read->page) : 0;
	last->read = read->page;
	last->range = range;
	return last->same < PREFETCH_SAME_MAX;
}

struct page_range prefetch_contract_read(struct prefetch_contract *c,
					 const struct page_read *read)
{
	struct page_read given = *read;
	struct page_range range;

	if (prefetch_is_broken(c))
		return nothing;
	range = c->prefetcher->read(c->state, &given);
	if (!page_is(given.page, read->page) || given.file_pages != read->file_pages ||
	    given.stream != read->stream || given.found != read->found)
		return rewritten(c, read);
	if (!range.pages)
		return nothing;
	if (range.first >= read->file_pages ||
	    range.pages > read->file_pages - range.first || range.pages > c->most_pages)
		return refuse(c, read, range);
	if (!is_new(&c->last[read->stream], read, range))
		return repeated(c, read, range);
	return range;
}

void prefetch_contract_wasted(struct prefetch_contract *c, u32 stream,
			      struct page_id page)
{
	if (!prefetch_is_broken(c) && c->prefetcher->wasted)
		c->prefetcher->wasted(c->state, stream, page);
}
