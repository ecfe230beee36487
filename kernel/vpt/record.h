/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The throttle's record of each bio.  User space reads an array of these records from
 * /sys/kernel/vpt/DISK/records.  They are little-endian without padding.
 * understudy_devices/measure/records.py declares the same layout.
 */
#ifndef UNDERSTUDY_VPT_RECORD_H
#define UNDERSTUDY_VPT_RECORD_H

#include <linux/types.h>

#define VPT_HIT 0x1 /* a hit in the modelled cache */
#define VPT_LATE 0x2 /* the driver completed the request after the due time */
#define VPT_STALE 0x4 /* picked while the modelled device was full */
#define VPT_META 0x8 /* file system metadata (REQ_META) */

#define VPT_OP_OTHER 2 /* neither read nor write: discard, ... */

struct vpt_record {
	__u64 arrival_ns; /* when the bio entered the block layer */
	__u64 pick_ns; /* the scheduler dispatched the request */
	__u64 dispatch_ns; /* the driver started it */
	__u64 due_ns; /* when the request should complete */
	__u64 completion_ns; /* when the block layer saw the completion; 0: never */
	__u64 sector;
	__u64 request_id; /* number of the request that carried the bio, from 1 */
	__u64 model_service_ns; /* service time of that request, unscaled */
	__u32 sectors;
	__u32 owner; /* pid of the process that submitted the bio, or its control group */
	__s32 error; /* 0 or a negative errno */
	__u16 flags; /* VPT_* */
	__u8 op; /* enum io_op, or VPT_OP_OTHER */
	__u8 reason; /* enum pick_reason, for the project's schedulers */
};

#endif
