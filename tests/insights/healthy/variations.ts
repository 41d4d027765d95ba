import { add, type Change, changes, patch, remove } from "../faults/fault.ts";

/** What else is right, though it looks like a fault. */
export const variations: readonly { readonly title: string; readonly change: Change }[] = [
  {
    title: "calls need a policy, and users have some of their own in Istio's form",
    change: changes(
      patch("VirtualMesh gloo-mesh/all", "spec: {globalAccessPolicy: ENABLED}"),
      remove("AccessPolicy gloo-mesh/page-calls", "AccessPolicy gloo-mesh/gateways-call"),
    ),
  },
  {
    title: "a gateway has a port more than those of other clusters",
    change: patch(
      "Service istio-gateways/istio-ingressgateway in west",
      "spec: {ports: [{name: http2, port: 80, targetPort: 8080}, {name: tls, port: 15443, targetPort: 15443}, {name: tcp-db, port: 5432, targetPort: 5432}]}",
    ),
  },
  {
    title: "pods on the network of their nodes have no sidecar",
    change: add(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: node-tool, namespace: shop, clusterName: east}
spec:
  replicas: 2
  selector: {matchLabels: {app: node-tool}}
  template:
    metadata: {labels: {app: node-tool}}
    spec: {hostNetwork: true, containers: [{name: app, image: 'example.com/node-tool:1'}]}
`),
  },
  {
    title: "two namespaces serve one name without TLS",
    change: add(`
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: plain, namespace: shop, clusterName: east}
spec: {selector: {istio: ingressgateway}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: [./www.bookinfo.example]}]}
`),
  },
  {
    title: "a VirtualService is for two gateways, each for one of its hosts",
    change: changes(
      add(`
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: second, namespace: bookinfo, clusterName: east}
spec: {selector: {istio: ingressgateway}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: [./www.second.example]}]}
`),
      patch(
        "VirtualService bookinfo/outside in east",
        "spec: {hosts: [www.bookinfo.example, www.second.example], gateways: [bookinfo-gateway, second]}",
      ),
    ),
  },
  {
    title: "callers are of a trust domain outside of the fleet",
    change: patch(
      "AuthorizationPolicy bookinfo/from-outside in east",
      "spec: {action: DENY, rules: [{from: [{source: {principals: [partner.example/ns/bookinfo/sa/visitor, partner.example/ns/orders/sa/orders]}}]}]}",
    ),
  },
  {
    title: "two namespaces route one host, each for itself",
    change: add(`
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: stock, namespace: bookinfo, clusterName: east}
spec: {hosts: [stock.shop.svc.cluster.local], exportTo: [.], http: [{route: [{destination: {host: stock.shop.svc.cluster.local}}]}]}
`),
  },
  {
    title: "a subset has pods without a sidecar alone",
    change: changes(
      add(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart-bare, namespace: shop, clusterName: east}
spec:
  replicas: 2
  selector: {matchLabels: {app: cart, version: bare}}
  template:
    metadata: {labels: {app: cart, version: bare, sidecar.istio.io/inject: 'false'}}
    spec: {containers: [{name: app, image: 'example.com/cart:1'}]}
`),
      patch("DestinationRule shop/cart in east", "spec: {subsets: [{name: bare, labels: {version: bare}}]}"),
    ),
  },
  {
    title: "requests go to a Service of another cluster by its federated host, which ends as the Settings of its VirtualMesh say",
    change: changes(
      patch("VirtualMesh gloo-mesh/all", "spec: {federation: {hostnameSuffix: corp}}"),
      remove("Service bookinfo/ratings in south"),
      patch("VirtualService bookinfo/outside in south", "spec: {http: [{route: [{destination: {host: ratings.bookinfo.svc.east.corp}}]}]}"),
    ),
  },
  {
    title: "an AccessPolicy names an account that no pod runs as at the moment, such as that of a job",
    change: patch(
      "AccessPolicy gloo-mesh/page-calls",
      "spec: {sourceSelector: [{kubeServiceAccountRefs: {serviceAccounts: [{name: nightly, namespace: bookinfo, clusterName: east}, {name: bookinfo-productpage, namespace: bookinfo, clusterName: east}]}}]}",
    ),
  },
  {
    title: "a CiliumNetworkPolicy opens a port by its name",
    change: patch(
      "CiliumNetworkPolicy istio-gateways/gateway in east",
      "spec: {ingress: [{toPorts: [{ports: [{port: tls, protocol: TCP}]}]}]}",
    ),
  },
  {
    title: "a control plane of a revision has its configuration in a ConfigMap of its own",
    change: changes(
      patch(
        "Deployment istio-system/istiod in east",
        "spec: {selector: {matchLabels: {istio.io/rev: canary}}, template: {metadata: {labels: {istio.io/rev: canary}}}}",
      ),
      patch("ConfigMap istio-system/istio in east", "metadata: {name: istio-canary}"),
    ),
  },
  {
    title: "a route has a match of an earlier one, and another",
    change: patch(
      "VirtualService shop/stock in east",
      "spec: {http: [{match: [{uri: {prefix: /a}}], route: [{destination: {host: stock}}]}, {match: [{uri: {prefix: /a}}, {uri: {prefix: /b}}], route: [{destination: {host: cart}}]}]}",
    ),
  },
  {
    title: "an AuthorizationPolicy names the account of a CronJob, which agents do not send",
    change: patch(
      "AuthorizationPolicy bookinfo/from-outside in east",
      "spec: {action: DENY, rules: [{from: [{source: {principals: [east.example/ns/bookinfo/sa/nightly]}}]}]}",
    ),
  },
  {
    title: "proxies have a variant of the image of the control plane's version",
    change: patch(
      "Deployment istio-system/istiod in east",
      "spec: {template: {spec: {containers: [{name: discovery, image: 'docker.io/istio/pilot:1.27.1-distroless', env: [{name: PILOT_SKIP_VALIDATE_TRUST_DOMAIN, value: 'true'}]}]}}}",
    ),
  },
  {
    title: "two revisions of the control plane, of which one has no proxies yet",
    change: add(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: istiod-canary, namespace: istio-system, clusterName: south}
spec:
  replicas: 2
  selector: {matchLabels: {app: istiod, istio.io/rev: canary}}
  template:
    metadata: {labels: {app: istiod, istio: pilot, istio.io/rev: canary}}
    spec: {serviceAccountName: istiod, containers: [{name: discovery, image: 'docker.io/istio/pilot:1.28.0'}]}
`),
  },
  {
    title: "proxies begin TLS with a server outside, by the authorities of their operating system or by others",
    change: add(`
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: db, namespace: shop, clusterName: west}
spec: {host: db.example.com, trafficPolicy: {tls: {mode: SIMPLE}}}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: bank, namespace: shop, clusterName: west}
spec: {host: bank.example.com, trafficPolicy: {tls: {mode: MUTUAL, credentialName: bank}}}
`),
  },
  {
    title: "a namespace that no policy names is not looked into",
    change: add(`
apiVersion: settings.mesh.gloo.solo.io/v1
kind: Settings
metadata: {name: settings, namespace: gloo-mesh}
spec: {discovery: {selectors: [{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [payments]}]}]}}
---
apiVersion: v1
kind: Namespace
metadata: {name: payments, clusterName: west}
`),
  },
  {
    title: "a cluster that another plane manages is frozen",
    change: changes(
      patch(
        "KubernetesCluster gloo-mesh/south",
        "{spec: {mode: freeze}, status: {mode: freeze, comparison: {mode: freeze, wouldCreate: 9, conflicts: 1}}}",
      ),
      add(`
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: north, namespace: istio-system, clusterName: south, labels: {owner.networking.mesh.gloo.solo.io: other}}
spec: {hosts: [details.bookinfo.svc.north.global], ports: [{number: 9080, name: http, protocol: HTTP}], resolution: STATIC}
`),
    ),
  },
  {
    title: "an agent has connected a moment ago",
    change: patch(
      "KubernetesCluster gloo-mesh/south",
      "status: {state: SYNCING, conditions: [{type: Synced, status: Unknown, lastTransitionTime: '2026-02-01T00:29:00Z'}]}",
    ),
  },
  {
    title: "Cilium sets up a pod",
    change: add(`
apiVersion: cilium.io/v2
kind: CiliumEndpoint
metadata: {name: cart-v1-1, namespace: shop, clusterName: east}
status: {state: regenerating}
`),
  },
];
