// SPDX-License-Identifier: GPL-2.0
/*
 * The host bridge, which is a PCI domain with one bus of 32 slots.
 *
 * The bridge's memory window is taken from the unused part of the memory window of the machine's
 * first root bus, and so are its I/O ports.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hardirq.h>
#include <linux/irqdomain.h>

#include "card.h"

#define DOMAIN 0x10000 /* the first domain number that firmware can't use */
#define WINDOW_FROM (16ull << 20)
#define WINDOW_LEAST (32ull << 20)
#define PORTS 0x1000

static struct resource window = { .name = "virtual PCI bus", .flags = IORESOURCE_MEM };
static struct resource ports = { .name = "virtual PCI bus", .flags = IORESOURCE_IO };
static struct resource numbers = { .name = "virtual PCI bus", .flags = IORESOURCE_BUS };
static struct pci_sysdata sysdata = { .domain = DOMAIN, .node = NUMA_NO_NODE };
static struct pci_bus *root_bus;

bool on_bus(phys_addr_t address)
{
	return address >= window.start && address <= window.end;
}

struct resource *bridge_window(void)
{
	return &window;
}

/* Returns the bridge's window of I/O ports, which is empty if there was no room for it. */
struct resource *bridge_ports(void)
{
	return &ports;
}

struct pci_bus *bridge_bus(void)
{
	return root_bus;
}

/*
 * Returns the card of a device, or NULL if the device is not a virtual card.  Called under
 * rcu_read_lock.
 */
struct vpcib_card *card_of(const struct device *dev)
{
	const struct pci_dev *pdev;

	if (!dev || dev->bus != &pci_bus_type)
		return NULL;
	pdev = to_pci_dev(dev);
	return pdev->bus == bridge_bus() ? card_in(card_number(pdev->devfn)) : NULL;
}

/* --- configuration accesses --------------------------------------------------------- */

/* Records an access to the configuration space, but none by a scan of the bus for the card. */
static void note_config(const struct vpcib_card *card, u8 what, int where, int bytes,
			u32 value)
{
	if (card->pdev && device_is_registered(&card->pdev->dev))
		journal_note(card,
			     (struct vpcib_access){
				     .what = what,
				     .context = in_hardirq() ? VPCIB_HARD_INTERRUPT
						: in_serving_softirq()
							? VPCIB_SOFT_INTERRUPT
							: VPCIB_KERNEL,
				     .value = value,
				     .offset = where,
				     .bytes = bytes,
				     .flags = card->gone ? VPCIB_ABSENT : 0 });
}

static int read_config(struct pci_bus *bus, unsigned int devfn, int where, int bytes,
		       u32 *value)
{
	struct vpcib_card *card;
	unsigned long flags;

	*value = ~0u >> (32 - 8 * bytes);
	rcu_read_lock();
	card = card_in(card_number(devfn));
	if (card) {
		flags = vpcib_lock(card);
		if (!card->gone)
			*value = config_read(card, where, bytes);
		note_config(card, VPCIB_CONFIG_READ, where, bytes, *value);
		vpcib_unlock(card, flags);
	}
	rcu_read_unlock();
	return card ? PCIBIOS_SUCCESSFUL : PCIBIOS_DEVICE_NOT_FOUND;
}

static int write_config(struct pci_bus *bus, unsigned int devfn, int where, int bytes,
			u32 value)
{
	struct vpcib_card *card;
	unsigned long flags;

	rcu_read_lock();
	card = card_in(card_number(devfn));
	if (card) {
		flags = vpcib_lock(card);
		note_config(card, VPCIB_CONFIG_WRITE, where, bytes, value);
		if (!card->gone) {
			config_write(card, where, value, bytes);
			interrupt_update(card);
		}
		vpcib_unlock(card, flags);
	}
	rcu_read_unlock();
	return card ? PCIBIOS_SUCCESSFUL : PCIBIOS_DEVICE_NOT_FOUND;
}

static struct pci_ops config_operations = { .read = read_config,
					    .write = write_config };

/* --- devices and drivers ------------------------------------------------------------ */

/*
 * Called when the PCI core has found a device, before a driver's probe, and after the driver was
 * removed or has refused the device.
 */
static int device_changes(struct notifier_block *block, unsigned long action,
			  void *data)
{
	bool comes = action == BUS_NOTIFY_BIND_DRIVER;
	bool refuses = action == BUS_NOTIFY_DRIVER_NOT_BOUND;
	bool goes = refuses || action == BUS_NOTIFY_UNBOUND_DRIVER;
	struct vpcib_card *card;

	if (action == BUS_NOTIFY_ADD_DEVICE)
		slots_take_over(to_pci_dev(data));
	if (!comes && !goes)
		return NOTIFY_DONE;
	rcu_read_lock();
	card = card_of(data);
	if (card)
		journal_note(card, (struct vpcib_access){
					   .what = comes ? VPCIB_BOUND : VPCIB_UNBOUND,
					   .context = VPCIB_KERNEL,
					   .value = refuses,
					   .flags = card->gone ? VPCIB_ABSENT : 0 });
	rcu_read_unlock();
	return NOTIFY_OK;
}

static struct notifier_block device_notifier = { .notifier_call = device_changes };

/* --- the bridge --------------------------------------------------------------------- */

static int take_window(void)
{
	struct pci_bus *first = pci_find_bus(0, 0);
	resource_size_t bytes;
	int ret = -ENODEV;

	for (bytes = WINDOW_MOST; first && ret && bytes >= WINDOW_LEAST; bytes /= 2)
		ret = pci_bus_alloc_resource(first, &window, bytes, bytes, WINDOW_FROM,
					     0, NULL, NULL);
	if (ret)
		pr_err("no room below 4 GiB for the cards' registers\n");
	return ret;
}

/* Cards without I/O ports work without this window. */
static void take_ports(void)
{
	struct pci_bus *first = pci_find_bus(0, 0);

	if (!first || pci_bus_alloc_resource(first, &ports, PORTS, PORTS,
					     PCIBIOS_MIN_IO, 0, NULL, NULL))
		pr_warn("no room for the cards' I/O ports\n");
}

static void give_back(struct resource *taken)
{
	if (taken->parent)
		release_resource(taken);
}

static int scan(void)
{
	struct pci_host_bridge *bridge = pci_alloc_host_bridge(0);
	int ret;

	if (!bridge)
		return -ENOMEM;
	bridge->sysdata = &sysdata;
	bridge->ops = &config_operations;
	pci_add_resource(&bridge->windows, &window);
	if (ports.parent)
		pci_add_resource(&bridge->windows, &ports);
	pci_add_resource(&bridge->windows, &numbers);
	dev_set_msi_domain(&bridge->dev, irqs_domain());
	pci_lock_rescan_remove();
	ret = pci_scan_root_bus_bridge(bridge);
	if (!ret)
		pci_bus_add_devices(bridge->bus);
	pci_unlock_rescan_remove();
	if (ret)
		pci_free_host_bridge(bridge);
	else
		root_bus = bridge->bus;
	return ret;
}

static void remove_bus(void)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(root_bus);
	pci_remove_root_bus(root_bus);
	pci_unlock_rescan_remove();
}

int bridge_init(void)
{
	int ret = take_window();

	if (ret)
		return ret;
	take_ports();
	ret = bus_register_notifier(&pci_bus_type, &device_notifier);
	if (ret)
		goto release;
	ret = scan();
	if (ret)
		goto unnotify;
	ret = hotplug_init(root_bus);
	if (ret)
		goto remove;
	return 0;

remove:
	remove_bus();
unnotify:
	bus_unregister_notifier(&pci_bus_type, &device_notifier);
release:
	give_back(&ports);
	give_back(&window);
	return ret;
}

void bridge_exit(void)
{
	hotplug_exit();
	remove_bus();
	bus_unregister_notifier(&pci_bus_type, &device_notifier);
	give_back(&ports);
	give_back(&window);
}
