//go:build tools

// Package kubernetes names the programs that go.mod and go.sum pin.
package kubernetes

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
)
