// Command fbcserve serves a folder with a file-based catalog over the operator registry's gRPC API, from memory.
//
//	fbcserve CATALOG_FOLDER HOST:PORT
//
// It is what a catalog's registry pod does, without an image around it.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/operator-framework/operator-registry/pkg/api"
	"github.com/operator-framework/operator-registry/pkg/cache"
	"github.com/operator-framework/operator-registry/pkg/server"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: fbcserve CATALOG_FOLDER HOST:PORT")
	}
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// serve loads the catalog and answers until the process is ended.
func serve(catalog, address string) error {
	folder, err := os.MkdirTemp("", "fbcserve-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	store, err := cache.New(folder)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := cache.LoadOrRebuild(context.Background(), store, os.DirFS(catalog)); err != nil {
		return fmt.Errorf("catalog %s: %w", catalog, err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	registry := grpc.NewServer()
	api.RegisterRegistryServer(registry, server.NewRegistryServer(store))
	grpc_health_v1.RegisterHealthServer(registry, server.NewHealthServer())
	return registry.Serve(listener)
}
