/** The namespace of further services. */
const NAMESPACE = "load";
const PORT = 8080;

/** As many further services as one likes, each with one pod that has a sidecar, as a YAML stream: `service-1.load` and so on. */
export function furtherServices(count: number): string {
  if (count === 0) return "";
  return [injectedNamespace(NAMESPACE), ...Array.from({ length: count }, (_, i) => serviceOf(`service-${i + 1}`))].join("---");
}

/** A namespace whose pods get a sidecar. */
export function injectedNamespace(name: string): string {
  return `
apiVersion: v1
kind: Namespace
metadata:
  name: ${name}
  labels: {istio-injection: enabled}
`;
}

function serviceOf(name: string): string {
  return `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${name}
  namespace: ${NAMESPACE}
---
apiVersion: v1
kind: Service
metadata:
  name: ${name}
  namespace: ${NAMESPACE}
  labels: {app: ${name}}
spec:
  selector: {app: ${name}}
  ports:
    - {name: http, port: ${PORT}, targetPort: ${PORT}, protocol: TCP}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: ${NAMESPACE}
  labels: {app: ${name}}
spec:
  replicas: 1
  selector:
    matchLabels: {app: ${name}}
  template:
    metadata:
      labels: {app: ${name}}
    spec:
      serviceAccountName: ${name}
      containers:
        - name: ${name}
          image: docker.io/library/busybox:1.36
          ports:
            - {containerPort: ${PORT}, protocol: TCP}
`;
}
