// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "declaration.h"
#include "replacement_contract.h"

bool replacement_check_declaration(const struct replacer *r, char broken[CONTRACT_TEXT])
{
	struct declaration declaration = DECLARATION(r);
	const char *missing = !r->add	   ? "add"
			      : !r->used   ? "used"
			      : !r->remove ? "remove"
			      : !r->victim ? "victim"
					   : NULL;

	broken[0] = '\0';
	if (!declaration_check_names(&declaration, broken))
		return false;
	if (missing)
		return broken_by(broken, missing, " is missing", "");
	return declaration_check_fields(&declaration, broken);
}

int replacement_contract_init(struct replacement_contract *c, const struct replacer *r,
			      const u64 *tunables,
			      const struct replacement_limits *limits)
{
	struct replacement_limits given = *limits;
	u32 i;

	*c = (struct replacement_contract){ .slots = limits->slots };
	c->state = port_zalloc(r->state_size);
	c->is = port_zalloc(limits->slots);
	if (!c->state || !c->is)
		return -ENOMEM;
	for (i = 0; i < r->nr_tunables; i++)
		*sched_field_value(c->state, &r->tunables[i]) = tunables[i];
	c->init_error = r->init ? r->init(c->state, &given) : 0;
	if (c->init_error > 0) {
		broken_number(c->broken, "init returned ", c->init_error,
			      ", which is neither 0 nor a negative errno");
		return -EINVAL;
	}
	if (!c->init_error)
		c->replacer = r;
	return c->init_error;
}

void replacement_contract_exit(struct replacement_contract *c)
{
	if (c->replacer && c->replacer->exit)
		c->replacer->exit(c->state);
	c->replacer = NULL;
	port_free(c->state);
	port_free(c->is);
	c->state = NULL;
	c->is = NULL;
}

void replacement_contract_add(struct replacement_contract *c, u32 slot,
			      struct page_id page)
{
	c->is[slot] = SLOT_THERE;
	c->there++;
	if (!replacement_is_broken(c))
		c->replacer->add(c->state, slot, page);
}

void replacement_contract_used(struct replacement_contract *c, u32 slot)
{
	if (!replacement_is_broken(c))
		c->replacer->used(c->state, slot);
}

static inline void empty(struct replacement_contract *c, u32 slot)
{
	c->is[slot] = SLOT_EMPTY;
	c->there--;
}

void replacement_contract_remove(struct replacement_contract *c, u32 slot)
{
	empty(c, slot);
	if (!replacement_is_broken(c))
		c->replacer->remove(c->state, slot);
}

/* Return the lowest slot with a page. */
static BREAKS_ONCE u32 any_slot(const struct replacement_contract *c)
{
	u32 slot = 0;

	while (c->is[slot] != SLOT_THERE)
		slot++;
	return slot;
}

/* Write a message about why the policy must not evict this slot, and return another one. */
static BREAKS_ONCE u32 refuse(struct replacement_contract *c, u32 slot)
{
	broken_number(c->broken, "victim returned slot ", slot, "");
	if (slot >= c->slots)
		broken_number(c->broken, ", but the cache has ", c->slots, " slots");
	else if (c->is[slot] == SLOT_COMING)
		broken_say(c->broken, ", whose page is being fetched");
	else
		broken_say(c->broken, ", which is empty");
	return any_slot(c);
}

u32 replacement_contract_victim(struct replacement_contract *c, struct page_id incoming)
{
	u32 slot;

	if (replacement_is_broken(c))
		slot = any_slot(c);
	else
		slot = c->replacer->victim(c->state, incoming);
	if (slot >= c->slots || c->is[slot] != SLOT_THERE)
		slot = refuse(c, slot);
	empty(c, slot);
	return slot;
}
