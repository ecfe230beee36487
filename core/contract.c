// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "contract.h"
#include "declaration.h"

/* The state of the request in an element of the host's array. */
enum whereabouts { NEVER_ADDED = 0, PENDING, IN_SERVICE, SERVED, TAKEN_BACK };

/* Checks of the declaration. */

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool begins_with(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

static bool ends_in(const char *text, const char *end)
{
	while (*text && !same(text, end))
		text++;
	return *text;
}

static bool operations_are_there(const struct scheduler *s, char *text)
{
	const char *missing = !s->add	     ? "add"
			      : !s->remove   ? "remove"
			      : !s->next     ? "next"
			      : !s->has_work ? "has_work"
					     : NULL;

	return !missing || broken_by(text, missing, " is missing", "");
}

bool contract_check_declaration(const struct scheduler *s, char broken[CONTRACT_TEXT])
{
	struct declaration declaration = DECLARATION(s);

	broken[0] = '\0';
	if (!declaration_check_names(&declaration, broken))
		return false;
	if (begins_with(s->name, "none"))
		return broken_by(broken, "its name, ", s->name,
				 ", begins with none, which stands for no scheduler");
	return operations_are_there(s, broken) &&
	       declaration_check_fields(&declaration, broken);
}

/* Checks of the calls. */

/*
 * Return how long the scheduler may delay all pending requests: CONTRACT_HOLD_NS, plus twice each
 * tunable that is a time.
 */
static u64 hold_ns(const struct scheduler *s, void *state)
{
	u64 sum = CONTRACT_HOLD_NS;
	u32 i;

	for (i = 0; i < s->nr_tunables; i++) {
		u64 value = *sched_field_value(state, &s->tunables[i]);

		if (!ends_in(s->tunables[i].name, "_ns"))
			continue;
		if (value > (U64_MAX - sum) / 2)
			return U64_MAX;
		sum += 2 * value;
	}
	return sum;
}

void contract_tuned(struct contract *c)
{
	u64 now = hold_ns(c->scheduler, c->state);

	if (now > c->hold_ns)
		c->hold_ns = now;
}

int contract_init(struct contract *c, const struct scheduler *s, void *state,
		  const struct sched_limits *limits, struct io_request *first,
		  size_t stride, u32 places)
{
	int error;

	*c = (struct contract){
		.first = (char *)first,
		.stride = stride,
		.places = places,
	};
	if (s->needs_model && !limits->positioning_ns)
		return -ENODEV;
	c->is = port_zalloc(places * sizeof(*c->is));
	c->asked = port_zalloc(places * sizeof(*c->asked));
	if (!c->is || !c->asked) {
		contract_exit(c);
		return -ENOMEM;
	}
	error = c->init_error = s->init ? s->init(state, limits) : 0;
	if (error > 0) {
		broken_number(c->broken, "init returned ", error,
			      ", which is neither 0 nor a negative errno");
		error = -EINVAL;
	}
	if (error) {
		contract_exit(c);
		return error;
	}
	c->scheduler = s;
	c->state = state;
	contract_tuned(c);
	return 0;
}

void contract_exit(struct contract *c)
{
	if (c->scheduler && c->scheduler->exit)
		c->scheduler->exit(c->state);
	c->scheduler = NULL;
	port_free(c->is);
	port_free(c->asked);
	c->is = NULL;
	c->asked = NULL;
}

static u32 place_of(const struct contract *c, const struct io_request *rq)
{
	return ((char *)rq - c->first) / c->stride;
}

static struct io_request *request_at(const struct contract *c, u32 place)
{
	return (struct io_request *)(c->first + place * c->stride);
}

struct io_request *contract_oldest(const struct contract *c)
{
	struct io_request *first = NULL;
	u32 i;

	for (i = 0; i < c->places; i++) {
		if (c->is[i] == PENDING && (!first || request_at(c, i)->id < first->id))
			first = request_at(c, i);
	}
	return first;
}

static struct io_request *hand_out(struct contract *c, struct io_request *rq)
{
	if (!rq)
		return NULL;
	c->is[place_of(c, rq)] = IN_SERVICE;
	c->pending--;
	c->in_service++;
	c->held = false;
	return rq;
}

static void denies_work(struct contract *c)
{
	broken_number(c->broken, "has_work says no while request ",
		      contract_oldest(c)->id, " is pending");
}

/*
 * Return the result of has_work. If has_work is false while a request is pending, the scheduler
 * breaks a rule.
 */
static inline bool says_work(struct contract *c)
{
	bool says = c->scheduler->has_work(c->state);

	if (c->pending && !says)
		denies_work(c);
	return says;
}

/* Write a message about the request that the operation returned, and return false. */
static bool wrong_choice(struct contract *c, const char *operation,
			 const struct io_request *rq, const char *how)
{
	broken_say(c->broken, operation);
	return broken_number(c->broken, " returned request ", rq->id, how);
}

static enum whereabouts whereabouts_of(const struct contract *c,
				       const struct io_request *rq)
{
	u64 offset = (char *)rq - c->first;
	u64 place = offset / c->stride;

	if (place >= c->places || place * c->stride != offset)
		return NEVER_ADDED;
	return c->is[place];
}

#define HOST_FIELD(field_)                                                      \
	{                                                                       \
		.name = #field_, .offset = offsetof(struct io_request, field_), \
		.size = sizeof(((struct io_request *)NULL)->field_)             \
	}

/* The host's fields of a request. */
static const struct {
	const char *name;
	size_t offset;
	size_t size;
} host_fields[] = {
	HOST_FIELD(sector),  HOST_FIELD(arrival_ns), HOST_FIELD(id),
	HOST_FIELD(cost_ns), HOST_FIELD(sectors),    HOST_FIELD(owner),
	HOST_FIELD(weight),  HOST_FIELD(op),	     HOST_FIELD(io_class),
	HOST_FIELD(level),   HOST_FIELD(joined),
};

static bool bytes_differ(const char *a, const char *b, size_t bytes)
{
	while (bytes && *a == *b) {
		a++;
		b++;
		bytes--;
	}
	return bytes;
}

/*
 * Restore the host's fields of a request. Unless a rule was already broken, write a message that
 * names the first field that the scheduler changed.
 */
static void put_right(struct contract *c, struct io_request *rq)
{
	struct io_request asked = *rq;
	u32 i = 0;

	memcpy(&asked, &c->asked[place_of(c, rq)], REQUEST_HOST_BYTES);
	while (!bytes_differ((char *)rq + host_fields[i].offset,
			     (char *)&asked + host_fields[i].offset,
			     host_fields[i].size))
		i++;
	memcpy(rq, &asked, REQUEST_HOST_BYTES);
	if (contract_is_broken(c))
		return;
	broken_number(c->broken, "it changed request ", rq->id, "'s ");
	broken_say(c->broken, host_fields[i].name);
	broken_say(c->broken, ", which only the host may do");
}

/* If the scheduler changed the host's fields of the request, restore them and return false. */
static inline bool is_as_asked(struct contract *c, struct io_request *rq)
{
	if (!memcmp(rq, &c->asked[place_of(c, rq)], REQUEST_HOST_BYTES))
		return true;
	put_right(c, rq);
	return false;
}

/* Write a message about why the scheduler must not return this request, and return false. */
static bool refuse_choice(struct contract *c, const char *operation,
			  const struct io_request *rq)
{
	switch (whereabouts_of(c, rq)) {
	case NEVER_ADDED:
		return broken_by(c->broken, operation,
				 " returned a request that was never added", "");
	case IN_SERVICE:
	case SERVED:
		return wrong_choice(c, operation, rq, " twice");
	case TAKEN_BACK:
		return wrong_choice(c, operation, rq, ", which was taken back");
	case PENDING:
		break;
	}
	broken_say(c->broken, operation);
	return broken_number(c->broken, " gave an unknown reason for request ", rq->id,
			     "");
}

static inline bool choice_is_good(struct contract *c, const char *operation,
				  struct io_request *rq)
{
	if (whereabouts_of(c, rq) != PENDING)
		return refuse_choice(c, operation, rq);
	if (!is_as_asked(c, rq))
		return false;
	return rq->reason < PICK_REASONS || refuse_choice(c, operation, rq);
}

static bool wait_is_good(struct contract *c, u64 now_ns, u64 wake_ns)
{
	if (wake_ns && wake_ns <= now_ns)
		return broken_number(c->broken, "next asks to be called again ",
				     now_ns - wake_ns, " ns ago");
	if (!c->pending || c->in_service) {
		c->held = false;
		return true;
	}
	if (!wake_ns)
		return broken_number(
			c->broken, "next holds request ", contract_oldest(c)->id,
			" back for ever: nothing is in service, and it names no time");
	if (!c->held) {
		c->held = true;
		c->since_ns = now_ns;
	}
	if (wake_ns - c->since_ns > c->hold_ns)
		return broken_number(c->broken, "next holds request ",
				     contract_oldest(c)->id,
				     " back for longer than its tunables allow");
	return true;
}

void contract_grown(struct contract *c, u64 capacity_sectors)
{
	if (!contract_is_broken(c) && c->scheduler->grown)
		c->scheduler->grown(c->state, capacity_sectors);
}

void contract_add(struct contract *c, struct io_request *rq, u64 now_ns)
{
	u32 place = place_of(c, rq);

	c->is[place] = PENDING;
	memcpy(&c->asked[place], rq, sizeof(*c->asked));
	c->pending++;
	if (!contract_is_broken(c))
		c->scheduler->add(c->state, rq, now_ns);
}

void contract_remove(struct contract *c, struct io_request *rq)
{
	c->is[place_of(c, rq)] = TAKEN_BACK;
	c->pending--;
	if (!contract_is_broken(c))
		c->scheduler->remove(c->state, rq);
	is_as_asked(c, rq);
}

struct io_request *contract_next(struct contract *c, u64 now_ns, u64 *wake_ns)
{
	struct io_request *rq;

	*wake_ns = 0;
	if (contract_is_broken(c))
		return hand_out(c, contract_oldest(c));
	rq = c->scheduler->next(c->state, now_ns, wake_ns);
	if (rq ? choice_is_good(c, "next", rq) : wait_is_good(c, now_ns, *wake_ns))
		hand_out(c, rq);
	else
		rq = hand_out(c, contract_oldest(c));
	/*
	 * Without a pending request, has_work must be false. The check comes after next, because
	 * next might return a request twice, which is reported instead.
	 */
	if (!contract_is_broken(c) && says_work(c) && !c->pending && !rq)
		broken_by(c->broken, "has_work says yes while no request is pending",
			  "", "");
	if (contract_is_broken(c))
		*wake_ns = 0;
	return rq;
}

/* The scheduler may return NULL. A request that it returns is checked like one returned by next. */
struct io_request *contract_more(struct contract *c, const struct io_request *chosen,
				 u64 now_ns)
{
	struct io_request *rq;

	if (contract_is_broken(c) || !c->scheduler->more)
		return NULL;
	rq = c->scheduler->more(c->state, chosen, now_ns);
	if (!rq || !choice_is_good(c, "more", rq))
		return NULL;
	if (rq->owner != chosen->owner) {
		wrong_choice(c, "more", rq, ", which is another owner's");
		return NULL;
	}
	rq->joined = true;
	memcpy(&c->asked[place_of(c, rq)], rq, sizeof(*c->asked));
	hand_out(c, rq);
	says_work(c);
	return rq;
}

void contract_completed(struct contract *c, struct io_request *rq, u64 now_ns)
{
	is_as_asked(c, rq);
	c->is[place_of(c, rq)] = SERVED;
	c->in_service--;
	if (!contract_is_broken(c) && c->scheduler->completed)
		c->scheduler->completed(c->state, rq, now_ns);
}

bool contract_has_work(struct contract *c)
{
	return (!contract_is_broken(c) && says_work(c)) || c->pending;
}
