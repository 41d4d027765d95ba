// Command tokenController runs Kubernetes' own controller that fills ServiceAccount token Secrets, as kube-controller-manager
// does under the name serviceaccount-token-controller. Built alone it is made of packages that kube-apiserver is made of.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	controller "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/serviceaccount"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of the cluster, as an administrator")
	key := flag.String("service-account-private-key-file", "", "PEM of the key that the API server checks tokens with")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *key); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, kubeconfig, key string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	privateKey, err := keyutil.PrivateKeyFromFile(key)
	if err != nil {
		return err
	}
	generator, err := serviceaccount.JWTTokenGenerator(serviceaccount.LegacyIssuer, privateKey)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	core := factory.Core().V1()
	options := controller.TokensControllerOptions{TokenGenerator: generator, RootCA: config.CAData}
	tokens, err := controller.NewTokensController(klog.FromContext(ctx), core.ServiceAccounts(), core.Secrets(), client, options)
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	tokens.Run(ctx, 1)
	return nil
}
