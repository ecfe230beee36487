/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The angles of the platters as text:
 *
 *	velocity slot:angle:skew:cylinder:cylinder_skew:band:band_skew:spare:place:step:surfaces ...
 *
 * with one group for each zone of the tracks, as in core/drive/platter.h; nothing: nobody knows.
 */
#ifndef UNDERSTUDY_VPT_PLATTER_TEXT_H
#define UNDERSTUDY_VPT_PLATTER_TEXT_H

#include "../../core/drive/platter.h"

/* Its length. */
size_t vpt_platter_print(const struct platter *platter, char *text, size_t room);

/* 0, -EINVAL, or -E2BIG: too many zones.  The text does not survive. */
int vpt_platter_parse(struct platter *platter, char *text);

#endif
