import { add, type Fault, patch } from "./fault.ts";

const STOCK = "VirtualService shop/stock in east";
const OUTSIDE = "VirtualService bookinfo/outside in east";
const CART = "DestinationRule shop/cart in east";

/** Mistakes in Istio objects that route. */
export const routingFaults: readonly Fault[] = [
  {
    title: "a route names a subset that no DestinationRule has",
    change: patch(STOCK, "spec: {http: [{route: [{destination: {host: stock, subset: v9}}]}]}"),
    code: "CFG0001",
    on: STOCK,
  },
  {
    title: "a route of connections names a subset that no DestinationRule has",
    change: patch(STOCK, "spec: {http: null, tcp: [{route: [{destination: {host: stock, subset: v9}}]}]}"),
    code: "CFG0001",
    on: STOCK,
  },
  {
    title: "the name of a Service is misspelt",
    change: patch(OUTSIDE, "spec: {http: [{route: [{destination: {host: produtcpage, port: {number: 9080}}}]}]}"),
    code: "RTE1001",
    on: OUTSIDE,
  },
  {
    title: "the namespace of a Service is misspelt",
    change: patch(OUTSIDE, "spec: {http: [{route: [{destination: {host: details.bokinfo.svc.cluster.local}}]}]}"),
    code: "RTE1001",
    on: OUTSIDE,
  },
  {
    title: "connections are sent to a Service that does not exist",
    change: patch(
      "VirtualService shop/payments in east",
      "spec: {tls: [{match: [{port: 443, sniHosts: [payments.example.com]}], route: [{destination: {host: vault}}]}]}",
    ),
    code: "RTE1001",
    on: "VirtualService shop/payments in east",
  },
  {
    title: "requests are sent to a federated host that does not exist",
    change: patch(OUTSIDE, "spec: {http: [{route: [{destination: {host: details.bookinfo.svc.north.global}}]}]}"),
    code: "RTE1001",
    on: OUTSIDE,
  },
  {
    title: "a port that the Service does not have",
    change: patch(OUTSIDE, "spec: {http: [{route: [{destination: {host: productpage, port: {number: 9090}}}]}]}"),
    code: "RTE1003",
    on: OUTSIDE,
  },
  {
    title: "requests are mirrored to a Service that does not exist",
    change: patch(STOCK, "spec: {http: [{route: [{destination: {host: stock}}], mirror: {host: stock-shadow}}]}"),
    code: "RTE1015",
    on: STOCK,
  },
  {
    title: "a route comes after one that takes all requests",
    change: patch(STOCK, "spec: {http: [{route: [{destination: {host: stock}}]}, {route: [{destination: {host: cart}}]}]}"),
    code: "RTE1006",
    on: STOCK,
  },
  {
    title: "a route has the matches of an earlier one",
    change: patch(
      STOCK,
      "spec: {http: [{match: [{uri: {prefix: /a}}, {uri: {prefix: /b}}], route: [{destination: {host: stock}}]}, {match: [{uri: {prefix: /b}}], route: [{destination: {host: cart}}]}]}",
    ),
    code: "RTE1006",
    on: STOCK,
  },
  {
    title: "a destination gets a part of the requests, and nobody the rest",
    change: patch(STOCK, "spec: {http: [{route: [{destination: {host: stock}, weight: 20}]}]}"),
    code: "RTE1011",
    on: STOCK,
  },
  {
    title: "retries do not fit into the timeout",
    change: patch(STOCK, "spec: {http: [{timeout: 2s, retries: {attempts: 5, perTryTimeout: 1s}, route: [{destination: {host: stock}}]}]}"),
    code: "RTE1013",
    on: STOCK,
  },
  {
    title: "a route is in force everywhere",
    change: patch(STOCK, "spec: {exportTo: null}"),
    code: "BP0001",
    on: STOCK,
  },
  { title: "a rule is for a host that does not exist", change: patch(CART, "spec: {host: carts}"), code: "RTE1008", on: CART },
  {
    title: "a subset has labels of no pod",
    change: patch(CART, "spec: {subsets: [{name: v9, labels: {version: v9}}]}"),
    code: "RTE1010",
    on: CART,
  },
  {
    title: "a subset of all Services of a namespace has labels of no pod of the one that is called",
    change: patch(
      "DestinationRule shop/all in east",
      "spec: {host: stock, subsets: [{name: v1, labels: {version: v1}}, {name: v2, labels: {version: v9}}]}",
    ),
    code: "RTE1010",
    on: "DestinationRule shop/all in east",
  },
  {
    title: "two rules define one subset",
    change: add(`
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: stock-a, namespace: shop, clusterName: east}
spec: {host: stock, subsets: [{name: v1, labels: {version: v1}}, {name: v2, labels: {version: v2}}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: stock-b, namespace: shop, clusterName: east}
spec: {host: stock.shop.svc.cluster.local, subsets: [{name: v1, labels: {version: v2}}]}
`),
    code: "RTE1009",
    on: "DestinationRule shop/stock-b in east",
  },
  {
    title: "two VirtualServices route one host of the mesh",
    change: add(`
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: stock-again, namespace: shop, clusterName: east}
spec: {hosts: [stock.shop.svc.cluster.local], exportTo: ['*'], http: [{route: [{destination: {host: stock}}]}]}
`),
    code: "RTE1020",
    on: "VirtualService shop/stock-again in east",
  },
  {
    title: "two ServiceEntries give one port two protocols",
    change: add(`
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: payments-again, namespace: shop, clusterName: east}
spec: {hosts: [payments.example.com], ports: [{number: 443, name: tcp, protocol: TCP}], resolution: DNS, location: MESH_EXTERNAL}
`),
    code: "RTE1021",
    on: "ServiceEntry shop/payments-again in east",
  },
  {
    title: "mutual TLS is switched off for a port of a Service of the mesh",
    change: patch(CART, "spec: {trafficPolicy: {portLevelSettings: [{port: {number: 9080}, tls: {mode: DISABLE}}]}}"),
    code: "SEC1008",
    on: CART,
  },
  {
    title: "failover is asked for, and nothing notices what fails",
    change: patch(
      CART,
      "spec: {trafficPolicy: {outlierDetection: null, loadBalancer: {localityLbSetting: {failover: [{from: a, to: b}]}}}}",
    ),
    code: "RES1001",
    on: CART,
  },
  {
    title: "two Sidecars are for all pods of a namespace",
    change: add(`
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: second, namespace: shop, clusterName: east}
spec: {egress: [{hosts: ['./*']}]}
`),
    code: "CFG1010",
    on: "Sidecar shop/second in east",
  },
  {
    title: "the name of a port says nothing",
    change: patch("Service shop/cart in east", "spec: {ports: [{name: web, port: 9080, targetPort: 9080}]}"),
    code: "CFG1002",
    on: "Service shop/cart in east",
  },
  {
    title: "two Services of the same pods disagree on a port",
    change: add(`
apiVersion: v1
kind: Service
metadata: {name: cart-raw, namespace: shop, clusterName: east, labels: {app: cart}}
spec: {selector: {app: cart}, ports: [{name: tcp-raw, port: 9080, targetPort: 9080}]}
`),
    code: "CFG1003",
    on: "Service shop/cart-raw in east",
  },
  {
    title: "pods run without a sidecar where they should have one",
    change: add(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: legacy, namespace: shop, clusterName: east}
spec:
  replicas: 2
  selector: {matchLabels: {app: legacy}}
  template: {metadata: {labels: {app: legacy}}, spec: {containers: [{name: app, image: 'example.com/legacy:1'}]}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: legacy-1, namespace: shop, clusterName: east, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: legacy, controller: true}]}
---
apiVersion: v1
kind: Pod
metadata:
  {name: legacy-1-a, namespace: shop, clusterName: east, labels: {app: legacy}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: legacy-1, controller: true}]}
spec: {containers: [{name: app, image: 'example.com/legacy:1'}]}
`),
    code: "CFG1007",
    on: "Deployment shop/legacy in east",
  },
  {
    title: "pods were not restarted after an upgrade of the control plane",
    change: patch(
      "Deployment istio-system/istiod in east",
      "spec: {template: {spec: {containers: [{name: discovery, image: 'docker.io/istio/pilot:1.27.2', env: [{name: PILOT_SKIP_VALIDATE_TRUST_DOMAIN, value: 'true'}]}]}}}",
    ),
    code: "CFG1009",
    on: "Workload gloo-mesh/cart-v1-shop-east-deployment",
    also: { "CFG1009 Workload gloo-mesh/*-east-deployment": "no workload of the cluster was restarted" },
  },
  {
    title: "proxies are not to verify a server outside of the mesh",
    change: add(`
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: db, namespace: shop, clusterName: west}
spec: {host: db.example.com, trafficPolicy: {tls: {mode: SIMPLE, insecureSkipVerify: true}}}
`),
    code: "SEC1009",
    on: "DestinationRule shop/db in west",
  },
];
