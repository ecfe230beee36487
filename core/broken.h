/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Messages about broken rules, of one line: a character that a terminal might obey becomes a
 * question mark, and a message that is too long is cut off.
 */
#ifndef UNDERSTUDY_BROKEN_H
#define UNDERSTUDY_BROKEN_H

#include "port.h"

/* Size of the message about a broken rule, including the final zero. */
#define CONTRACT_TEXT 160

/* A function that is called at most once, when a rule is broken. */
#define BREAKS_ONCE __attribute__((cold, __noinline__))

/* Append the words to the message. */
void broken_say(char *text, const char *words);

/* Append the strings, or the strings and the number, to the message, and return false. */
bool broken_by(char *text, const char *before, const char *name, const char *after);
bool broken_number(char *text, const char *before, u64 number, const char *after);

#endif
