//go:build tools

// Package whereabouts names the programs that go.mod and go.sum pin.
package whereabouts

import (
	_ "github.com/k8snetworkplumbingwg/whereabouts/cmd"
)
