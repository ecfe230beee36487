// SPDX-License-Identifier: MIT
#include "serve.h"

static const struct prefetcher *prefetcher;
static const struct replacer *replacer;

static bool carry_out_prefetch(const struct line_call *call)
{
	struct page_read read = call->read;

	switch (call->kind) {
	case LINE_INIT:
		serve_reply.error = prefetcher->init ? prefetcher->init(serve_state,
									&call->prefetch)
						     : 0;
		return true;
	case LINE_READ:
		serve_reply.range = prefetcher->read(serve_state, &read);
		serve_reply.read = read;
		return true;
	case LINE_WASTED:
		prefetcher->wasted(serve_state, call->slot, call->page);
		return false;
	case LINE_EXIT:
		if (prefetcher->exit)
			prefetcher->exit(serve_state);
		return true;
	default:
		return false;
	}
}

static bool carry_out_replacement(const struct line_call *call)
{
	switch (call->kind) {
	case LINE_INIT:
		serve_reply.error =
			replacer->init ? replacer->init(serve_state, &call->replacement)
				       : 0;
		return true;
	case LINE_PAGE_ADD:
		replacer->add(serve_state, call->slot, call->page);
		return false;
	case LINE_PAGE_USED:
		replacer->used(serve_state, call->slot);
		return false;
	case LINE_PAGE_REMOVE:
		replacer->remove(serve_state, call->slot);
		return false;
	case LINE_VICTIM:
		serve_reply.slot = replacer->victim(serve_state, call->page);
		return true;
	case LINE_EXIT:
		if (replacer->exit)
			replacer->exit(serve_state);
		return true;
	default:
		return false;
	}
}

void serve_prefetcher(const struct prefetcher *p, struct line_self *self)
{
	prefetcher = p;
	if (p) {
		serve_introduce(self, &DECLARATION(p));
		self->has_wasted = p->wasted != NULL;
	}
	serve(self, carry_out_prefetch);
}

void serve_replacer(const struct replacer *r, struct line_self *self)
{
	replacer = r;
	if (r)
		serve_introduce(self, &DECLARATION(r));
	serve(self, carry_out_replacement);
}
