//go:build tools

// Package shareddeviceplugin names the program that go.mod and go.sum pin.
package shareddeviceplugin

import _ "github.com/Mellanox/k8s-rdma-shared-dev-plugin/cmd/k8s-rdma-shared-dp"
