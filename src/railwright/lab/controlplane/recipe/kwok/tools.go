//go:build tools

// Package kwok names the program that go.mod and go.sum pin.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"
