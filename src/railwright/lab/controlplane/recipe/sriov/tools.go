//go:build tools

// Package sriov names the programs that go.mod and go.sum pin.
package sriov

import (
	_ "github.com/k8snetworkplumbingwg/sriov-network-operator"
	_ "github.com/k8snetworkplumbingwg/sriov-network-operator/cmd/webhook"
)
