/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The NVMe controller (nvme.yaml): what its files share.
 *
 * nvme.c has the registers and the queues. It takes one command after the other from the submission
 * queues, in the card's own thread, and posts its completion. admin.c, identify.c and io.c carry
 * out commands, prp.c moves their data, and media.c keeps the sectors. Names and layouts of structures are those
 * of NVM Express 1.4, as the kernel's <linux/nvme.h> has them.
 */
#ifndef UNDERSTUDY_CARDS_NVME_H
#define UNDERSTUDY_CARDS_NVME_H

#include <linux/nvme.h>
#include <linux/xarray.h>

struct vgpu;

#define NVME_QUEUES 9 /* the admin queue, and those for I/O */
#define NVME_ENTRIES_MOST 1024
#define NVME_NAMESPACES 2
#define NVME_PAGE 4096u
#define NVME_MDTS 5 /* a transfer has at most 2^5 pages */
#define NVME_DATA_MOST (NVME_PAGE << NVME_MDTS)
#define NVME_EVENTS_MOST 4 /* asynchronous event requests */
#define NVME_SC_PRP_OFFSET 0x13 /* the kernel has no name for it */
#define NVME_DNR 0x4000 /* of a status: the same command fails again */

/* A submission queue; it does not exist if it has no entries. */
struct nvme_sq {
	u64 base;
	u32 entries;
	u32 head;
	u32 tail;
	u32 cq;
};

/* A completion queue; @head is the driver's, @tail the controller's. */
struct nvme_cq {
	u64 base;
	u32 entries;
	u32 head;
	u32 tail;
	u32 vector;
	bool phase;
	bool interrupts;
};

/* What became of a command: its status, 0 if all is well, and the completion's first word. */
struct nvme_outcome {
	u16 status;
	u32 value;
	bool later; /* no completion yet: an asynchronous event request */
};

/* A command, the queue that it came from, and the head of this queue behind it. */
struct nvme_order {
	struct nvme_command command;
	u32 queue;
	u32 head;
};

struct nvme_namespace {
	struct xarray pages; /* of NVME_PAGE bytes; a missing one is zero */
	u64 sectors;
	u32 shift; /* a sector has 2^shift bytes */
};

/* An error that a driver's test has asked for. */
struct nvme_fault {
	u32 namespace;
	u32 count;
	u64 sector;
	u16 status;
};

/* One bit for each kind of asynchronous event. */
enum nvme_event {
	NVME_EVENT_DOORBELL = 1 << 0, /* a doorbell was given a wrong value */
	NVME_EVENT_HEALTH = 1 << 1, /* it is warmer than the threshold */
};

/**
 * struct nvme_controller - the state of a card
 * @device: the card
 * @sq, @cq: the queues
 * @next: the submission queue to look at first
 * @running: CC.EN was set, and the controller works
 * @busy: the thread carries out a command
 * @requests: command identifiers of asynchronous event requests that wait
 * @events: events that no completion has reported yet
 * @reported: events that were reported, and whose log page was not read since
 *
 * All of these are guarded by the card's lock, the others are the thread's.
 *
 * @features: values that Set Features has stored
 * @namespaces: their sectors
 * @data: room for the data of a command, NVME_DATA_MOST bytes
 * @list: room for a page of a list of pages
 * @fault: an error on demand
 * @commands, @units: numbers of host commands, and of sectors of 512 bytes that they moved; of
 *	reads and of writes
 */
struct nvme_controller {
	struct vgpu *device;
	struct nvme_sq sq[NVME_QUEUES];
	struct nvme_cq cq[NVME_QUEUES];
	u32 next;
	bool running;
	bool busy;
	u16 requests[NVME_EVENTS_MOST];
	u32 waiting;
	u32 events;
	u32 reported;

	u32 features[16];
	struct nvme_namespace namespaces[NVME_NAMESPACES];
	u32 nr_namespaces;
	u8 *data;
	__le64 *list;
	struct nvme_fault fault;
	u64 commands[2];
	u64 units[2];
};

/* nvme.c: both take the card's lock */
unsigned long nvme_lock(struct nvme_controller *controller);
void nvme_unlock(struct nvme_controller *controller, unsigned long flags);
void nvme_event(struct nvme_controller *controller, enum nvme_event event);

/* admin.c, identify.c, io.c */
struct nvme_outcome nvme_admin(struct nvme_controller *controller,
			       const struct nvme_order *order);
u16 nvme_identify(struct nvme_controller *controller,
		  const struct nvme_command *command);
struct nvme_outcome nvme_io(struct nvme_controller *controller,
			    const struct nvme_order *order);

static inline struct nvme_outcome nvme_fails(u16 status)
{
	return (struct nvme_outcome){ .status = status };
}

/*
 * prp.c: move bytes between controller->data and the host's memory, which the command's two PRP
 * entries describe. Returns 0, or the command's status.
 */
u16 nvme_to_host(struct nvme_controller *controller, const struct nvme_command *command,
		 u32 bytes);
u16 nvme_from_host(struct nvme_controller *controller,
		   const struct nvme_command *command, u32 bytes);

/* prp.c: the driver's mistake, an address with a wrong offset in its page; returns the status */
u16 nvme_misplaced(const struct nvme_controller *controller, u64 address);

/* media.c: places and numbers are in bytes, inside the namespace */
int media_init(struct nvme_controller *controller);
void media_exit(struct nvme_controller *controller);
void media_read(struct nvme_namespace *space, u64 at, u8 *to, u32 bytes);
int media_write(struct nvme_namespace *space, u64 at, const u8 *from, u32 bytes);
void media_clear(struct nvme_namespace *space, u64 at, u64 bytes);
u64 media_used(struct nvme_namespace *space);

/* Returns the namespace with this identifier, or NULL. */
static inline struct nvme_namespace *nvme_namespace(struct nvme_controller *controller,
						    __le32 nsid)
{
	u32 id = le32_to_cpu(nsid);

	return id && id <= controller->nr_namespaces ? &controller->namespaces[id - 1]
						     : NULL;
}

#endif
