import { injectedNamespace } from "./services.ts";

/** Bookinfo: a page that asks for a book's details and reviews; reviews v2 and v3 ask for ratings. Source: istio.io/latest/docs/examples/bookinfo. */

const NAMESPACE = "bookinfo";
const PORT = 9080;
const TAG = "1.20.3";

/** One of Bookinfo's services, with the versions of it that run in a cluster. */
interface Microservice {
  readonly app: string;
  readonly versions: readonly string[];
}

/** The part of Bookinfo that runs in one cluster, as a YAML stream. */
function bookinfo(services: readonly Microservice[]): string {
  return [
    injectedNamespace(NAMESPACE),
    ...services.flatMap(({ app, versions }) => [serviceOf(app), ...versions.map((version) => deploymentOf(app, version))]),
  ].join("---");
}

function serviceOf(app: string): string {
  return `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: bookinfo-${app}
  namespace: ${NAMESPACE}
  labels: {account: ${app}}
---
apiVersion: v1
kind: Service
metadata:
  name: ${app}
  namespace: ${NAMESPACE}
  labels: {app: ${app}, service: ${app}}
spec:
  selector: {app: ${app}}
  ports:
    - {name: http, port: ${PORT}, targetPort: ${PORT}, protocol: TCP}
`;
}

function deploymentOf(app: string, version: string): string {
  return `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${app}-${version}
  namespace: ${NAMESPACE}
  labels: {app: ${app}, version: ${version}}
spec:
  replicas: 1
  selector:
    matchLabels: {app: ${app}, version: ${version}}
  template:
    metadata:
      labels: {app: ${app}, version: ${version}}
    spec:
      serviceAccountName: bookinfo-${app}
      containers:
        - name: ${app}
          image: docker.io/istio/examples-bookinfo-${app}-${version}:${TAG}
          ports:
            - {containerPort: ${PORT}, protocol: TCP}
`;
}

/** Everything but the newest reviews. */
export const bookinfoOfCluster1 = bookinfo([
  { app: "productpage", versions: ["v1"] },
  { app: "details", versions: ["v1"] },
  { app: "ratings", versions: ["v1"] },
  { app: "reviews", versions: ["v1", "v2"] },
]);

/** The newest reviews, with ratings of their own. */
export const bookinfoOfCluster2 = bookinfo([
  { app: "ratings", versions: ["v1"] },
  { app: "reviews", versions: ["v3"] },
]);
