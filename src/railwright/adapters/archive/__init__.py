"""
Archives as a read-only world, and the recorder that makes ours.

Owns: reading a railwright archive, an OpenShift must-gather (also of the SR-IOV and GPU operators' images), NVIDIA's
network operator sosreport, a node's sos report, a node record or loose objects through the Cluster and Node ports;
recording what is read through them. What was not collected answers NotCollected, never an empty list.
Must not: write anything to a cluster, unpack anything to disk, judge, or know what it is used for.
"""
