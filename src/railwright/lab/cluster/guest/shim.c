// SPDX-License-Identifier: GPL-2.0
/*
 * What a ConnectX does by itself and soft-RoCE on another NIC does not; for virtual nodes only.
 *
 * 1. A software RDMA device hangs under the PCI function of its netdev, where a real one is found:
 *    /sys/bus/pci/devices/ADDRESS/infiniband/NAME and /sys/class/infiniband/NAME/device.
 * 2. PCI functions show the ids that they are told to ("0000:01:00.0=15b3:1021:020000"), and so do the virtual
 *    functions of these. Drivers are bound by then; what is shown is all that changes. A new virtual function has the
 *    vendor of its physical one: it gets its own back until its driver is bound.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <rdma/ib_verbs.h>

static char *show[16];
static int shows;
module_param_array(show, charp, &shows, 0444);
MODULE_PARM_DESC(show, "ADDRESS=VENDOR:DEVICE:CLASS, any number");

static ushort vf_device = 0x101e;
module_param(vf_device, ushort, 0444);
MODULE_PARM_DESC(vf_device, "device id of virtual functions of shown functions");

static struct pci_dev *shown[16];
static ushort own_vendor[16];

static int show_ids(int n)
{
	unsigned int domain, bus, slot, function, vendor, device, class;
	struct pci_dev *pdev;

	if (sscanf(show[n], "%x:%x:%x.%x=%x:%x:%x", &domain, &bus, &slot, &function, &vendor, &device, &class) != 7)
		return -EINVAL;
	pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	if (!pdev)
		return -ENODEV;
	own_vendor[n] = pdev->vendor;
	pdev->vendor = vendor;
	pdev->device = device;
	pdev->subsystem_vendor = vendor;
	pdev->class = class;
	shown[n] = pdev;
	return 0;
}

static int on_pci(struct notifier_block *block, unsigned long action, void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);
	int n;

	if (!pdev->is_virtfn)
		return NOTIFY_DONE;
	for (n = 0; n < shows; n++) {
		if (pdev->physfn != shown[n])
			continue;
		if (action == BUS_NOTIFY_ADD_DEVICE) {
			pdev->vendor = own_vendor[n];
		} else if (action == BUS_NOTIFY_BOUND_DRIVER) {
			pdev->vendor = shown[n]->vendor;
			pdev->device = vf_device;
		}
	}
	return NOTIFY_OK;
}

static struct notifier_block pci_block = { .notifier_call = on_pci };

static int place(struct ib_device *ib)
{
	struct net_device *netdev;
	struct device *parent;

	if (ib->dev.parent)
		return -EOPNOTSUPP;
	netdev = ib_device_get_netdev(ib, 1);
	if (!netdev)
		return -EOPNOTSUPP;
	for (parent = netdev->dev.parent; parent && !dev_is_pci(parent); parent = parent->parent)
		;
	dev_put(netdev);
	if (!parent)
		return -EOPNOTSUPP;
	return device_move(&ib->dev, parent, DPM_ORDER_NONE);
}

static struct ib_client client = { .name = "railwright_shim", .add = place };

static int __init begin(void)
{
	int n, problem;

	for (n = 0; n < shows; n++) {
		problem = show_ids(n);
		if (problem)
			pr_warn("railwright_shim: %s: %d\n", show[n], problem);
	}
	bus_register_notifier(&pci_bus_type, &pci_block);
	return ib_register_client(&client);
}

static void __exit end(void)
{
	ib_unregister_client(&client);
	bus_unregister_notifier(&pci_bus_type, &pci_block);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("What a ConnectX shows, for soft-RoCE in virtual nodes");
MODULE_LICENSE("GPL");
