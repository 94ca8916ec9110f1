//go:build tools

// Package multus names the programs that go.mod and go.sum pin.
package multus

import (
	_ "gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd/multus"
)
