import { add, changes, type Fault, patch } from "./fault.ts";

const OUTSIDE = "VirtualService bookinfo/outside in east";
const BOOKS = "VirtualService bookinfo/books in east";
const GATEWAY = "Gateway bookinfo/bookinfo-gateway in east";
const SERVERS = (port: number, host: string) =>
  `spec: {servers: [{port: {number: ${port}, name: http, protocol: HTTP}, hosts: [${host}]}]}`;

const second = (name: string, namespace: string, host: string) => `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: ${name}, namespace: ${namespace}, clusterName: east}
spec:
  selector: {istio: ingressgateway}
  servers: [{port: {number: 443, name: https, protocol: HTTPS}, tls: {mode: SIMPLE}, hosts: [${host}]}]
`;

/** Mistakes in gateways, and in what is served there. */
export const gatewayFaults: readonly Fault[] = [
  {
    title: "a VirtualService names a Gateway that does not exist",
    change: patch(OUTSIDE, "spec: {gateways: [bookinfo-gatway]}"),
    code: "ING1003",
    on: OUTSIDE,
  },
  {
    title: "a Gateway does not serve the host",
    change: patch(OUTSIDE, "spec: {hosts: [www.bokinfo.example]}"),
    code: "ING1004",
    on: OUTSIDE,
  },
  {
    title: "a Gateway serves the host for another namespace",
    change: patch(
      GATEWAY,
      "spec: {servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: [shop/www.bookinfo.example, ./books.bookinfo.example]}]}",
    ),
    code: "ING1004",
    on: OUTSIDE,
  },
  {
    title: "a Gateway serves none of the hosts of a VirtualService that is for the mesh too",
    change: patch(BOOKS, "spec: {hosts: [boks.bookinfo.example]}"),
    code: "ING1004",
    on: BOOKS,
  },
  {
    title: "a Gateway is for pods that do not exist",
    change: patch(GATEWAY, "spec: {selector: {istio: ingresgateway}}"),
    code: "ING1002",
    on: GATEWAY,
  },
  {
    title: "a Gateway opens a port that its Service does not have",
    change: changes(patch(GATEWAY, SERVERS(9443, "./www.bookinfo.example, ./books.bookinfo.example"))),
    code: "ING1005",
    on: GATEWAY,
  },
  {
    title: "two Gateways serve one name with TLS",
    change: add(`${second("a", "bookinfo", "./pay.example")}---${second("b", "shop", "shop/pay.example")}`),
    code: "ING1001",
    on: "Gateway shop/b in east",
  },
  {
    title: "anybody may take a host of a Gateway",
    change: patch(GATEWAY, SERVERS(80, "www.bookinfo.example, ./books.bookinfo.example")),
    code: "BP0002",
    on: GATEWAY,
  },
  {
    title: "a gateway in a namespace of its own runs as a single pod",
    change: patch("Deployment istio-gateways/istio-ingressgateway in east", "spec: {replicas: 1}"),
    code: "RES1003",
    on: "Deployment istio-gateways/istio-ingressgateway in east",
  },
  {
    title: "a gateway in a namespace of its own is scaled to 0",
    change: patch("Deployment istio-gateways/istio-ingressgateway in east", "spec: {replicas: 0}"),
    code: "HLT1001",
    on: "Deployment istio-gateways/istio-ingressgateway in east",
  },
  {
    title: "a control plane is scaled to 0",
    change: patch("Deployment istio-system/istiod in south", "spec: {replicas: 0}"),
    code: "HLT1001",
    on: "Deployment istio-system/istiod in south",
  },
];
