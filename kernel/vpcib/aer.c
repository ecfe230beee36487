// SPDX-License-Identifier: GPL-2.0
/*
 * Advanced Error Reporting (PCI Express Base 4.0, section 7.8.4): the capability in the extended
 * configuration space, and what the kernel does when a card reports a fatal error.
 *
 * Such an error is a fault (fault.c).  From then on the card does not answer, until it is recovered
 * as the kernel's own service does it (Documentation/PCI/pci-error-recovery.rst): the driver's
 * error_detected is called, the card is reset, and slot_reset and resume are called.  The kernel's
 * service needs a root port, which this bus does not have, so the calls are made here.  The card of a
 * driver that can't recover is reset all the same, and works again when the driver is loaded anew.
 */
#include <linux/pci.h>
#include <linux/workqueue.h>

#include "card.h"

#define AER 0x100
#define VERSION 2
#define FATAL PCI_ERR_UNC_COMP_TIME
/* the bits that there are, and which of them are fatal by default (section 7.8.4.4) */
#define UNCORRECTABLE 0x05fff030u
#define SEVERITY 0x00462030u
#define CORRECTABLE 0x0000f1c1u

/* Adds the capability, in its state after a reset.  Called under the card's lock. */
void aer_reset(struct vpcib_card *card)
{
	if (!card->kind->has_aer)
		return;
	config_put(card, AER, PCI_EXT_CAP_ID_ERR | VERSION << 16, 4);
	config_put(card, AER + PCI_ERR_UNCOR_SEVER, SEVERITY, 4);
	config_put(card, AER + PCI_ERR_COR_MASK, PCI_ERR_COR_ADV_NFAT, 4);
}

/* Returns the bits that a driver can change in the word at offset `where`. */
u32 aer_writable(const struct vpcib_card *card, u32 where)
{
	if (!card->kind->has_aer)
		return 0;
	switch (where) {
	case AER + PCI_ERR_UNCOR_MASK:
	case AER + PCI_ERR_UNCOR_SEVER:
		return UNCORRECTABLE;
	case AER + PCI_ERR_COR_MASK:
		return CORRECTABLE;
	default:
		return 0;
	}
}

/* Clears the status bits that a driver writes as 1; `lanes` are the bits that it writes. */
void aer_written(struct vpcib_card *card, u32 where, u32 value, u32 lanes)
{
	bool is_status = where == AER + PCI_ERR_UNCOR_STATUS ||
			 where == AER + PCI_ERR_COR_STATUS;

	if (card->kind->has_aer && is_status)
		config_put(card, where, config_get(card, where, 4) & ~(value & lanes),
			   4);
}

static void reset(struct vpcib_card *card)
{
	unsigned long flags = vpcib_lock(card);

	if (!card->gone) {
		journal_note(card, (struct vpcib_access){ .what = VPCIB_RESET,
							  .context = VPCIB_KERNEL });
		power_reset_function(card);
		interrupt_update(card);
	}
	vpcib_unlock(card, flags);
}

/* Gives the BARs their addresses, which the reset has cleared, for the next driver. */
static void tidy(struct vpcib_card *card)
{
	unsigned long flags = vpcib_lock(card);

	config_place_bars(card);
	vpcib_unlock(card, flags);
}

static const struct pci_error_handlers *handlers_of(const struct pci_dev *pdev)
{
	const struct pci_driver *driver =
		pdev->dev.driver ? to_pci_driver(pdev->dev.driver) : NULL;

	return driver ? driver->err_handler : NULL;
}

static void recover(struct vpcib_card *card, struct pci_dev *pdev)
{
	const struct pci_error_handlers *handlers = handlers_of(pdev);
	pci_ers_result_t result = PCI_ERS_RESULT_NO_AER_DRIVER;

	pdev->error_state = pci_channel_io_frozen;
	if (handlers && handlers->error_detected)
		result = handlers->error_detected(pdev, pci_channel_io_frozen);
	reset(card);
	pdev->error_state = pci_channel_io_normal;
	if (result == PCI_ERS_RESULT_CAN_RECOVER)
		result = handlers->mmio_enabled ? handlers->mmio_enabled(pdev)
						: PCI_ERS_RESULT_RECOVERED;
	if (result == PCI_ERS_RESULT_NEED_RESET)
		result = handlers->slot_reset ? handlers->slot_reset(pdev)
					      : PCI_ERS_RESULT_RECOVERED;
	if (result != PCI_ERS_RESULT_RECOVERED)
		tidy(card);
	else if (handlers->resume)
		handlers->resume(pdev);
}

static void recover_work(struct work_struct *work)
{
	struct vpcib_card *card = container_of(work, struct vpcib_card, recovery);
	struct pci_dev *pdev;

	rcu_read_lock();
	pdev = pci_dev_get(READ_ONCE(card->pdev));
	rcu_read_unlock();
	if (!pdev)
		return;
	device_lock(&pdev->dev);
	if (READ_ONCE(card->broken)) /* or else, it was reset meanwhile */
		recover(card, pdev);
	device_unlock(&pdev->dev);
	pci_dev_put(pdev);
}

/* Lets the card report a fatal error if the fault happens now.  Called under the card's lock. */
void aer_suffer(struct vpcib_card *card)
{
	if (!card->kind->has_aer || card->gone || !fault_happens(card, FAULT_ERROR))
		return;
	card->broken = true;
	config_put(card, AER + PCI_ERR_UNCOR_STATUS, FATAL, 4);
	schedule_work(&card->recovery);
}

void aer_add(struct vpcib_card *card)
{
	INIT_WORK(&card->recovery, recover_work);
}

/* The device must have been removed. */
void aer_remove(struct vpcib_card *card)
{
	cancel_work_sync(&card->recovery);
}
