// SPDX-License-Identifier: MIT
#include <string.h>
#include <unistd.h>

#include "apart_line.h"

void __attribute__((noreturn)) apart_line_alone(struct apart_line *line)
{
	line->end.fault->part = line->part;
	_exit(EXIT_ALONE);
}

static void send_calls(struct apart_line *line)
{
	if (!line_write(line->calls_file, line->calls,
			line->nr_calls * sizeof(*line->calls)))
		apart_line_alone(line);
	line->nr_calls = 0;
}

struct line_call *apart_line_call(struct apart_line *line, enum line_kind kind)
{
	struct line_call *made;

	if (line->nr_calls == CALLS_MAX)
		send_calls(line);
	made = &line->calls[line->nr_calls++];
	made->kind = kind;
	return made;
}

static void hear(struct apart_line *line)
{
	struct line_reply *reply = &line->reply;

	if (!line_read(line->replies_file, reply, sizeof(*reply)))
		apart_line_alone(line);
	if (reply->number != ++line->replies) {
		line->end.fault->cause = FAULT_PIPE;
		apart_line_alone(line);
	}
	*line->end.refused_bytes = reply->refused_bytes;
	if (reply->kind != LINE_DONE) {
		*line->end.fault = reply->fault;
		apart_line_alone(line);
	}
}

void apart_line_ask(struct apart_line *line, struct fields *fields)
{
	send_calls(line);
	hear(line);
	memcpy(fields->counters, line->reply.counters, sizeof(fields->counters));
}

void apart_line_tell_tunables(struct apart_line *line, const struct fields *fields,
			      bool all)
{
	struct line_call *made;
	u32 i;

	for (i = 0; i < line->self.nr_tunables; i++) {
		if (!all && fields->tunables[i] == line->tuned[i])
			continue;
		made = apart_line_call(line, LINE_TUNED);
		made->slot = i;
		made->value = line->tuned[i] = fields->tunables[i];
	}
}

static void end_text(char *text, size_t bytes)
{
	text[bytes - 1] = '\0';
}

static void take_fields(struct sched_field *to, struct line_field *from, u32 count,
			size_t offset)
{
	u32 i;

	for (i = 0; i < count && i < SCHED_FIELDS_MAX; i++) {
		end_text(from[i].name, sizeof(from[i].name));
		end_text(from[i].help, sizeof(from[i].help));
		to[i] = (struct sched_field){
			.name = from[i].name,
			.help = from[i].help,
			.offset = offset + i * sizeof(u64),
			.initial = from[i].initial,
			.min = from[i].min,
			.max = from[i].max,
		};
	}
}

void apart_line_open(struct apart_line *line, u32 part, struct apart_pipes pipes,
		     struct apart_end end)
{
	struct line_self *self = &line->self;

	line->part = part;
	line->calls_file = pipes.calls;
	line->replies_file = pipes.replies;
	line->end = end;
	hear(line);
	if (!line_read(line->replies_file, self, sizeof(*self)))
		apart_line_alone(line);
	end_text(self->words, sizeof(self->words));
	end_text(self->name, sizeof(self->name));
	end_text(self->summary, sizeof(self->summary));
	take_fields(line->tunables, self->tunables, self->nr_tunables,
		    offsetof(struct fields, tunables));
	take_fields(line->counters, self->counters, self->nr_counters,
		    offsetof(struct fields, counters));
}
