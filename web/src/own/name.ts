// SPDX-License-Identifier: MIT
/** The user's file as the command names it, and as the page's list of schedulers does. */
export const OWN = "./mine.c";
