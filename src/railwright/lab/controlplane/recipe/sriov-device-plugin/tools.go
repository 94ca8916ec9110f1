//go:build tools

// Package sriovdeviceplugin names the program that go.mod and go.sum pin.
package sriovdeviceplugin

import _ "github.com/k8snetworkplumbingwg/sriov-network-device-plugin/cmd/sriovdp"
