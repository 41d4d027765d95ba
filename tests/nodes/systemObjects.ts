import type { NodePlan } from "./names.ts";

const SYSTEM = "kube-system";
const RBAC = "rbac.authorization.k8s.io";

/** What a cluster has before anybody installs anything: its DNS, its default StorageClass, and the rights of kube-proxy; a List for kubectl. */
export function systemObjects({ dns }: NodePlan): object {
  const labels = { "k8s-app": "kube-dns" };
  const metadata = (name: string, more: object = {}) => ({ name, namespace: SYSTEM, ...more });
  const bound = (name: string, role: string, subject: object) => ({
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
    subjects: [subject],
  });
  const reads = { verbs: ["list", "watch"] };
  const items = [
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "local", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner: "isthmus/local",
      volumeBindingMode: "WaitForFirstConsumer",
    },
    bound("node-proxier", "system:node-proxier", { kind: "User", name: "system:kube-proxy", apiGroup: RBAC }),
    { apiVersion: "v1", kind: "ServiceAccount", metadata: metadata("coredns") },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRole",
      metadata: { name: "system:coredns" },
      rules: [
        { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], ...reads },
        { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], ...reads },
      ],
    },
    bound("system:coredns", "system:coredns", { kind: "ServiceAccount", name: "coredns", namespace: SYSTEM }),
    { apiVersion: "v1", kind: "ConfigMap", metadata: metadata("coredns"), data: { Corefile: COREFILE } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: metadata("kube-dns", { labels }),
      spec: {
        clusterIP: dns,
        selector: labels,
        ports: ["UDP", "TCP"].map((protocol) => ({ name: `dns-${protocol.toLowerCase()}`, port: 53, protocol })),
      },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: metadata("coredns"),
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: DNS_POD } },
    },
  ];
  return { apiVersion: "v1", kind: "List", items };
}

const COREFILE = `.:53 {
  errors
  health
  ready
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
  }
  cache 5
}
`;

const DNS_POD = {
  serviceAccountName: "coredns",
  dnsPolicy: "Default",
  containers: [
    {
      name: "coredns",
      image: "localhost/node:1",
      imagePullPolicy: "Never",
      command: ["/coredns", "-conf", "/etc/coredns/Corefile"],
      readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 2 },
      securityContext: { runAsUser: 0 },
      volumeMounts: [{ name: "config", mountPath: "/etc/coredns" }],
    },
  ],
  volumes: [{ name: "config", configMap: { name: "coredns" } }],
};
