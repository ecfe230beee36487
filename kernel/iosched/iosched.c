// SPDX-License-Identifier: GPL-2.0
/*
 * The shim that turns any scheduler of core/ into a loadable blk-mq elevator.
 *
 * - The shim asks the scheduler for a request only while fewer requests than the queue depth are on
 *   the disk.  This depth is usually 1, so the scheduler never has to choose a request too early,
 *   whatever the driver's own queue depth is.  For a disk that queues commands, insmod NAME.ko
 *   queue_depth=N sets a larger depth.
 * - A scheduler may deliberately wait although requests are pending.  A timer ends the wait.  Until
 *   then the shim tells the block layer that there is no work, because the block layer would
 *   otherwise poll every jiffy.
 * - The owner of a request is a process, or, after insmod NAME.ko cgroups=1, a control group.
 * - If a scheduler breaks a rule of core/scheduler.h, one line in the kernel's log names the rule:
 *   "understudy: NAME: rule broken: WHAT".  The host of the VM looks for this line.  The pending
 *   requests are then served in order of arrival (core/contract.h).
 * - On a disk with a volatile cache, a write with FLUSH or FUA never reaches the shim, because the
 *   block layer splits the write into steps and sends each step directly to the driver, without the
 *   elevator.  So the scheduler and the tape do not see the write, and the shim does not count it
 *   as a request on the disk.  If the driver has no dispatch budget, the shim therefore asks the
 *   scheduler for a request even while such a write is on the disk.  On a disk without a volatile
 *   cache (vdisk by default) the block layer drops the flags, and the write is like any other
 *   write.
 *
 * Locking: iosched->lock guards all data in this file and is the project's outermost lock.  The
 * lock is taken in process context (insert, merge, dispatch) and in interrupts (completion, wake-up
 * timer), and therefore always with interrupts off.  While the lock is held, only these functions
 * are called: the core scheduler, the merge helpers, hrtimer_start (whose base lock is a leaf),
 * tape_record (which takes no lock), and the disk's model (whose lock is a leaf as well).
 *
 * On PREEMPT_RT, iosched->lock is a sleeping lock, and so are the locks that the block layer holds
 * when it calls the shim's functions.  So no code of the shim may run in hard interrupts there.
 * The timer's mode is therefore neither HARD nor SOFT.  Without either flag, a stock kernel runs
 * the timer's handler in the interrupt, without delay, and PREEMPT_RT runs the handler in a thread.
 * Removing the locks from the handler would not help: the handler runs the queue, and the queue
 * calls has_work, which takes the lock.
 */
#define pr_fmt(fmt) "understudy: " fmt

#include <linux/ioprio.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <trace/events/block.h>

#include "iosched.h"
#include "owner.h"
#include "pick.h"

/*
 * The largest number of requests that a scheduler sees at once.  Further requests wait for a free
 * slot, in order of arrival.
 */
#define REQUESTS_MAX 1024

static unsigned int queue_depth = 1;
module_param(queue_depth, uint, 0444);
MODULE_PARM_DESC(queue_depth,
		 "requests on the disk at once, if the scheduler wants fewer");

static bool cgroups;
module_param(cgroups, bool, 0444);
MODULE_PARM_DESC(cgroups, "owners are control groups, not processes");

static u32 most_in_service(void)
{
	return max(sched_depth(module_scheduler), queue_depth);
}

static bool is_busy(const struct iosched *is)
{
	return is->contract.in_service >= most_in_service();
}

static enum hrtimer_restart wake_fires(struct hrtimer *timer)
{
	struct iosched *is = container_of(timer, struct iosched, wake);
	unsigned long flags;

	spin_lock_irqsave(&is->lock, flags);
	is->waiting = false;
	spin_unlock_irqrestore(&is->lock, flags);
	blk_mq_run_hw_queues(is->q, true);
	return HRTIMER_NORESTART;
}

/*
 * Sets class, level and weight from the I/O priority.  As in bfq, the level determines the weight.
 */
static void take_priority(struct io_request *io, unsigned short ioprio)
{
	bool given = IOPRIO_PRIO_CLASS(ioprio) != IOPRIO_CLASS_NONE;

	io->io_class = given ? IOPRIO_PRIO_CLASS(ioprio) : IO_CLASS_BEST_EFFORT;
	io->level = given ? IOPRIO_PRIO_DATA(ioprio) % IO_LEVELS : IO_LEVEL_DEFAULT;
	io->weight = (IO_LEVELS - io->level) * IO_WEIGHT_DEFAULT /
		     (IO_LEVELS - IO_LEVEL_DEFAULT);
}

/*
 * Returns the owner of a request.  A kernel thread may issue a request of a process, so the owner
 * is the process that created the request.
 */
static u32 owner_of(const struct request *rq)
{
	return cgroups ? owner_group(rq->bio) : (unsigned long)rq->elv.priv[1];
}

/* Returns true if a broken rule is not in the log yet.  Called with the lock held. */
static bool take_news(struct iosched *is)
{
	bool news = contract_is_broken(&is->contract) && !is->told;

	is->told |= news;
	return news;
}

/* Logs a broken rule.  Called without the lock, since a console may be slow. */
static void tell(const char *broken)
{
	pr_err("%s: rule broken: %s\n", THIS_MODULE->name, broken);
}

/* Hands the request to the scheduler if a slot is free. */
static bool admit(struct iosched *is, struct request *rq)
{
	struct slot *slot = slot_take(is);
	u64 now_ns = ktime_get_ns();

	if (!slot)
		return false;
	slot->rq = rq;
	slot->dispatched = false;
	slot->io = (struct io_request){
		.arrival_ns = now_ns,
		.id = ++is->next_id,
		.owner = owner_of(rq),
		.op = direction(rq),
	};
	take_priority(&slot->io, req_get_ioprio(rq));
	slot->io.weight = weight_given(slot->io.owner) ?: slot->io.weight;
	rq->elv.priv[0] = slot;
	index_for_merge(is, rq);
	call_add(is, slot, now_ns);
	return true;
}

static void insert(struct iosched *is, struct request *rq, bool at_head,
		   struct list_head *merged)
{
	if (blk_mq_sched_try_insert_merge(is->q, rq, merged))
		return;
	trace_block_rq_insert(rq);
	if (at_head || blk_rq_is_passthrough(rq) || !(rq->rq_flags & RQF_USE_SCHED))
		list_add_tail(&rq->queuelist, &is->direct);
	else if (!list_empty(&is->overflow) || !admit(is, rq))
		list_add_tail(&rq->queuelist, &is->overflow);
}

static void iosched_insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list,
				    blk_insert_t where)
{
	struct iosched *is = hctx->queue->elevator->elevator_data;
	unsigned long flags;
	LIST_HEAD(merged);

	spin_lock_irqsave(&is->lock, flags);
	while (!list_empty(list)) {
		struct request *rq = list_first_entry(list, struct request, queuelist);

		list_del_init(&rq->queuelist);
		insert(is, rq, where & BLK_MQ_INSERT_AT_HEAD, &merged);
	}
	spin_unlock_irqrestore(&is->lock, flags);
	blk_mq_free_requests(&merged);
}

static struct request *next_direct(struct iosched *is)
{
	struct request *rq =
		list_first_entry_or_null(&is->direct, struct request, queuelist);

	if (rq)
		list_del_init(&rq->queuelist);
	return rq;
}

static struct request *next_scheduled(struct iosched *is)
{
	u64 now_ns = ktime_get_ns();
	u64 wake_ns = 0;
	struct io_request *io;
	struct slot *slot;

	if (is_busy(is) || is->waiting)
		return NULL;
	io = call_next(is, now_ns, &wake_ns);
	if (!io) {
		is->waiting = true;
		if (wake_ns)
			hrtimer_start(&is->wake, ns_to_ktime(wake_ns),
				      HRTIMER_MODE_ABS);
		return NULL;
	}
	slot = container_of(io, struct slot, io);
	slot->dispatched = true;
	unindex(is, slot->rq);
	pick_reason_set(slot->rq, io->reason);
	return slot->rq;
}

static struct request *iosched_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct iosched *is = hctx->queue->elevator->elevator_data;
	struct request *rq;
	unsigned long flags;
	bool news;

	spin_lock_irqsave(&is->lock, flags);
	rq = next_direct(is) ?: next_scheduled(is);
	if (rq)
		rq->rq_flags |= RQF_STARTED;
	news = take_news(is);
	spin_unlock_irqrestore(&is->lock, flags);
	if (news)
		tell(is->contract.broken);
	return rq;
}

static bool iosched_has_work(struct blk_mq_hw_ctx *hctx)
{
	struct iosched *is = hctx->queue->elevator->elevator_data;
	unsigned long flags;
	bool work, news;

	spin_lock_irqsave(&is->lock, flags);
	work = !list_empty(&is->direct) ||
	       (!is_busy(is) && !is->waiting && contract_has_work(&is->contract));
	news = take_news(is);
	spin_unlock_irqrestore(&is->lock, flags);
	if (news)
		tell(is->contract.broken);
	return work;
}

static void admit_overflow(struct iosched *is)
{
	while (is->free && !list_empty(&is->overflow)) {
		struct request *rq =
			list_first_entry(&is->overflow, struct request, queuelist);

		list_del_init(&rq->queuelist);
		admit(is, rq);
	}
}

/*
 * Handles a request that has left the disk, served or not.  The scheduler may then choose the next
 * request.  A requeued request does not count as having left the disk.  Such a request goes before
 * all other requests, and the disk stays busy.
 */
static void left_the_disk(struct request *rq)
{
	struct iosched *is = rq->q->elevator->elevator_data;
	unsigned long flags;
	struct slot *slot;

	spin_lock_irqsave(&is->lock, flags);
	slot = slot_of(rq);
	if (slot && slot->dispatched) {
		is->waiting = false;
		call_completed(is, slot, ktime_get_ns());
		free_slot(is, slot);
		admit_overflow(is);
	}
	spin_unlock_irqrestore(&is->lock, flags);
}

static void iosched_completed_request(struct request *rq, u64 ended_ns)
{
	left_the_disk(rq);
}

/*
 * Frees the request's slot.  The disk is free now, so the block layer may ask for the next request.
 */
static void iosched_finish_request(struct request *rq)
{
	left_the_disk(rq);
	rq->elv.priv[0] = NULL;
	blk_mq_run_hw_queues(rq->q, true);
}

static void iosched_prepare_request(struct request *rq)
{
	rq->elv.priv[0] = NULL;
	rq->elv.priv[1] = (void *)(unsigned long)current->pid;
}

static void free_iosched(struct iosched *is)
{
	contract_exit(&is->contract);
	give_model_back(is);
	kvfree(is->slots);
	kvfree(is->state);
	kfree(is);
}

static struct iosched *alloc_iosched(struct request_queue *q)
{
	struct iosched *is = kzalloc_node(sizeof(*is), GFP_KERNEL, q->node);
	u32 i;

	if (!is)
		return NULL;
	is->slots = kvcalloc(REQUESTS_MAX, sizeof(*is->slots), GFP_KERNEL);
	is->state = kvzalloc(module_scheduler->state_size, GFP_KERNEL);
	if (!is->slots || !is->state) {
		free_iosched(is);
		return NULL;
	}
	is->free_end = &is->free;
	for (i = 0; i < REQUESTS_MAX; i++)
		slot_put(is, &is->slots[i]);
	spin_lock_init(&is->lock);
	INIT_LIST_HEAD(&is->direct);
	INIT_LIST_HEAD(&is->overflow);
	is->sorted[IO_READ] = is->sorted[IO_WRITE] = RB_ROOT;
	hrtimer_init(&is->wake, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	is->wake.function = wake_fires;
	is->q = q;
	return is;
}

static int init_scheduler(struct iosched *is)
{
	struct sched_limits limits = {
		.capacity_sectors = get_capacity(is->q->disk),
		.max_requests = REQUESTS_MAX,
		.depth = min_t(u32, most_in_service(), REQUESTS_MAX),
	};
	int ret;
	u32 i;

	if (module_scheduler->needs_model)
		take_model(is, &limits);
	is->capacity_sectors = limits.capacity_sectors;
	for (i = 0; i < module_scheduler->nr_tunables; i++) {
		const struct sched_field *field = &module_scheduler->tunables[i];

		*sched_field_value(is->state, field) = field->initial;
	}
	ret = contract_init(&is->contract, module_scheduler, is->state, &limits,
			    &is->slots->io, sizeof(*is->slots), REQUESTS_MAX);
	if (!ret)
		is->tape = tape_begin(&limits);
	else if (contract_is_broken(&is->contract))
		tell(is->contract.broken);
	else if (ret == -ENODEV)
		pr_err("%s needs a disk's model: %s has none; throttle it with vpt "
		       "first\n",
		       THIS_MODULE->name, is->q->disk->disk_name);
	return ret;
}

static int iosched_init_sched(struct request_queue *q, struct elevator_type *type)
{
	struct elevator_queue *eq;
	struct iosched *is;
	int ret;

	/*
	 * The flag may be left over from the previous elevator.  The kernel clears the flag on a
	 * queue that gets no elevator, but not on a queue whose new elevator is refused or can't be
	 * created.  With the flag set, only one of several hardware queues would be run.
	 */
	blk_queue_flag_clear(QUEUE_FLAG_SQ_SCHED, q);
	eq = elevator_alloc(q, type);
	if (!eq)
		return -ENOMEM;
	is = alloc_iosched(q);
	if (!is) {
		kobject_put(&eq->kobj);
		return -ENOMEM;
	}
	ret = init_scheduler(is);
	if (ret) {
		free_iosched(is);
		kobject_put(&eq->kobj);
		return ret;
	}
	/* All CPUs share one queue: a dispatch may pick a request from any CPU. */
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, q);
	eq->elevator_data = is;
	q->elevator = eq;
	return 0;
}

static void iosched_exit_sched(struct elevator_queue *eq)
{
	struct iosched *is = eq->elevator_data;

	hrtimer_cancel(&is->wake);
	tape_end(is->tape);
	blk_queue_flag_clear(QUEUE_FLAG_SQ_SCHED, is->q);
	free_iosched(is);
}

static char elevator_name[ELV_NAME_MAX];

static struct elevator_type iosched_type = {
	.ops = {
		.init_sched = iosched_init_sched,
		.exit_sched = iosched_exit_sched,
		.prepare_request = iosched_prepare_request,
		.insert_requests = iosched_insert_requests,
		.dispatch_request = iosched_dispatch_request,
		.has_work = iosched_has_work,
		.completed_request = iosched_completed_request,
		.finish_request = iosched_finish_request,
		.bio_merge = iosched_bio_merge,
		.request_merge = iosched_request_merge,
		.request_merged = iosched_request_merged,
		.requests_merged = iosched_requests_merged,
		.former_request = elv_rb_former_request,
		.next_request = elv_rb_latter_request,
	},
	.elevator_attrs = iosched_attributes,
	.elevator_name = elevator_name,
	.elevator_owner = THIS_MODULE,
};

static int register_elevator(void)
{
	const char *name = module_scheduler->name;
	int ret;

	strscpy(elevator_name, name, ELV_NAME_MAX);
	ret = elv_register(&iosched_type);
	if (ret != -EBUSY)
		return ret;
	/* The kernel already has an elevator of that name (deadline is an alias of mq-deadline). */
	if (snprintf(elevator_name, ELV_NAME_MAX, "us-%s", name) < ELV_NAME_MAX)
		ret = elv_register(&iosched_type);
	if (ret == -EBUSY)
		tell("its name is taken");
	else if (!ret)
		pr_info("%s: the kernel has that name already; this one is %s\n", name,
			elevator_name);
	return ret;
}

static int __init iosched_init(void)
{
	char broken[CONTRACT_TEXT];
	int ret;

	BUILD_BUG_ON(SCHED_NAME_MAX >= ELV_NAME_MAX);
	if (!contract_check_declaration(module_scheduler, broken)) {
		tell(broken);
		return -EINVAL;
	}
	iosched_fill_attributes();
	ret = tape_init();
	if (ret)
		return ret;
	ret = register_elevator();
	if (ret)
		tape_exit();
	return ret;
}

static void __exit iosched_exit(void)
{
	elv_unregister(&iosched_type);
	tape_exit();
}

module_init(iosched_init);
module_exit(iosched_exit);
MODULE_DESCRIPTION("A disk scheduler of understudy");
MODULE_LICENSE("GPL");
