/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The profiles that are compiled in. `understudy disks export` writes profiles.c, which holds those
 * that come with the library; `understudy vesper --disk` compiles others in.
 */
#ifndef VESPER_PROFILES_H
#define VESPER_PROFILES_H

#include "vesper.h"

extern const struct vesper_profile *const vesper_profiles[];
extern const uint32_t vesper_profiles_nr;

#endif
