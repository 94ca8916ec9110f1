"""Rules on text that somebody pasted: log lines of kubelet, operators, drivers, NCCL, UCX, perftest, the kernel."""
