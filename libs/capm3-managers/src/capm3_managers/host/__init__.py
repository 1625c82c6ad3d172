"""The manager of BareMetalHost, in place of the Baremetal Operator: it drives servers straight through their BMCs.

It serves what a cluster of live ISOs needs: registering, inspection out of band, provisioning through virtual media,
power, deletion, pausing and detaching, with statuses as the Baremetal Operator writes them. Left out and refused with
an error in the host's status: disk images and custom deploy steps, RAID, secure boot (they need the Ironic driver).
Left out without a trace: cleaning of disks, firmware settings and components, servicing, preprovisioning images,
DataImage, BMCEventSubscription, events, and ``spec.architecture`` being filled in.
"""

from __future__ import annotations

from capm3_api import kinds

from capm3_managers import watches
from capm3_managers.host.decide import decide, recover
from capm3_managers.host.observe import observe
from capm3_managers.manager import Manager

MANAGER = Manager(watches.BARE_METAL_HOST, kinds.BARE_METAL_HOST, observe, decide, recover)
