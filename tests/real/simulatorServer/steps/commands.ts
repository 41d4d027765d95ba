import { accepting, differing, kubectl, request, type Scenario } from "../step.ts";

const two = `
apiVersion: v1
kind: ConfigMap
metadata: {name: a, labels: {set: one}}
data: {x: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, labels: {set: one}}
data: {x: "2"}
`;
const claim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "c" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};
const hook = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "hook-NS" },
  webhooks: [
    {
      name: "a.example.com",
      clientConfig: { service: { name: "s", namespace: "NS" } },
      rules: [{ apiGroups: ["nothing.example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["x"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    },
  ],
};
const gadgets = (extra = "") => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.NS.example.com}
spec:
  group: NS.example.com
  scope: Cluster
  names: {plural: gadgets, kind: Gadget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}${extra}}}}}}
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`;

/** Commands as they are typed day by day. */
export const commands: readonly Scenario[] = [
  {
    name: "many objects at once",
    steps: [
      kubectl("apply -f -", two),
      kubectl("apply -f -", two.replace('"2"', '"3"')),
      kubectl("get -f -", two),
      kubectl("get configmaps -l set=one --sort-by=.metadata.name -o name"),
      kubectl("get configmaps -l set=one --no-headers"),
      kubectl("get configmaps -l 'set in (one,two),!other' -o name"),
      kubectl("get configmaps -l set!=one -o name"),
      kubectl("get configmaps --chunk-size=1 -o name"),
      kubectl("get configmaps -A -l set=one -o jsonpath={.items[*].data.x}"),
      kubectl("get configmaps -l set=one -o json"),
      kubectl("label configmaps -l set=one more=yes"),
      kubectl("annotate configmap a b --overwrite note=1"),
      kubectl("get configmap a -o jsonpath-as-json={.metadata.labels}"),
      kubectl("apply --prune --prune-allowlist=core/v1/ConfigMap -l set=one -f -", two.split("---")[0]),
      kubectl("create -f -", two),
      kubectl("replace -f -", two.replace('"1"', '"9"')),
      kubectl("get configmap --watch-only --request-timeout=1s"),
      kubectl("delete -f -", two),
      kubectl("delete configmaps -l set=one"),
      kubectl("wait --for=delete configmap/a --timeout=2s"),
      kubectl("wait --for=condition=Ready configmap/nope --timeout=1s"),
      kubectl("delete configmap"),
    ],
  },
  {
    name: "a Deployment's life",
    steps: [
      kubectl("create deployment web --image=example.com/web:1 --replicas=3 --port=8080"),
      kubectl("create deployment web --image=example.com/web:1"),
      kubectl("get deployment web -o json"),
      kubectl("rollout restart deployment web"),
      kubectl("rollout undo deployment web"),
      kubectl("rollout status deployment web --watch=false"),
      kubectl("set serviceaccount deployment web robot"),
      kubectl("get deployment web -o jsonpath={.spec.template.spec.serviceAccountName}"),
      kubectl("set selector service web a=b"),
      kubectl("annotate deployment web kubernetes.io/change-cause=why"),
      kubectl("get deployment web -o jsonpath={.metadata.generation}"),
      kubectl("expose deployment web"),
      kubectl("expose deployment web"),
      kubectl("get service web -o jsonpath={.spec.ports}"),
      kubectl("autoscale deployment web --max=0"),
      kubectl("scale --replicas=-1 deployment web"),
      kubectl("scale --replicas=2 -f -", { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } }),
      kubectl('patch deployment web --type=strategic -p \'{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}\''),
      kubectl("get deployment web -o jsonpath={.spec.strategy}"),
      kubectl('patch deployment web --type=merge -p \'{"spec":{"strategy":{"type":"Slow"}}}\''),
      kubectl('patch deployment web --type=json -p \'[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"x:2"}]\''),
      kubectl('patch deployment web --type=json -p \'[{"op":"add","path":"/spec/nothing","value":1}]\''),
      kubectl("patch deployment web --type=json -p 'nonsense'"),
      kubectl("patch deployment web -p '{\"spec\":'"),
      kubectl('patch deployment web --type=merge -p \'{"metadata":{"resourceVersion":"1"}}\''),
      kubectl('patch deployment web --type=merge -p \'{"metadata":{"name":"other"}}\''),
      kubectl('patch deployment web --type=merge -p \'{"metadata":{"uid":"x"}}\''),
      kubectl("delete deployment web --cascade=background"),
      kubectl("delete deployment web --cascade=foreground --ignore-not-found"),
      kubectl("get deployment,service"),
    ],
  },
  {
    name: "other kinds of the cluster",
    steps: [
      kubectl("create -f -", claim),
      kubectl("get pvc"),
      kubectl("get pvc c -o yaml"),
      differing(
        kubectl(`patch pvc c -p '{"spec":{"accessModes":["ReadOnlyMany"]}}'`),
        "a real server shows the difference of both specs below an equal refusal",
      ),
      kubectl("delete pvc c --wait=false"),
      kubectl("create -f -", { ...claim, spec: {} }),
      kubectl("create -f -", {
        apiVersion: "storage.k8s.io/v1",
        kind: "StorageClass",
        metadata: { name: "sc-NS" },
        provisioner: "example.com/x",
      }),
      kubectl("get storageclass sc-NS"),
      kubectl("get storageclass sc-NS -o yaml"),
      kubectl("delete storageclass sc-NS"),
      kubectl("create -f -", hook),
      kubectl("get validatingwebhookconfiguration hook-NS -o yaml"),
      kubectl("get validatingwebhookconfigurations hook-NS"),
      kubectl("delete validatingwebhookconfiguration hook-NS"),
      kubectl("create -f -", { ...hook, webhooks: [{ name: "bad" }] }),
      kubectl("create -f -", {
        apiVersion: "v1",
        kind: "LimitRange",
        metadata: { name: "l" },
        spec: { limits: [{ type: "Container", default: { cpu: "1" } }] },
      }),
      kubectl("get limitrange l -o yaml"),
      kubectl("delete limitrange l"),
      kubectl("create -f -", {
        apiVersion: "networking.k8s.io/v1",
        kind: "Ingress",
        metadata: { name: "i" },
        spec: {
          rules: [{ host: "a.example.com", http: { paths: [{ path: "/", backend: { service: { name: "s", port: { number: 80 } } } }] } }],
        },
      }),
      kubectl("create -f -", { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: { name: "i" }, spec: {} }),
      kubectl("create -f -", {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "p" },
        spec: { minAvailable: 1, maxUnavailable: 1 },
      }),
      kubectl("create -f -", {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "h" },
        spec: { minReplicas: 5, maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "x", apiVersion: "apps/v1" } },
      }),
      kubectl("create -f -", {
        apiVersion: "autoscaling/v1",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "h1" },
        spec: {
          maxReplicas: 3,
          targetCPUUtilizationPercentage: 50,
          scaleTargetRef: { kind: "Deployment", name: "x", apiVersion: "apps/v1" },
        },
      }),
      kubectl("get hpa h1 -o yaml"),
      kubectl("get hpa.v1.autoscaling h1 -o yaml"),
      kubectl("create -f -", {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "x" },
        spec: { template: { spec: { containers: [{ name: "a", image: "b" }] } } },
      }),
      kubectl("create -f -", {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "x" },
        spec: { selector: {}, template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } } },
      }),
      kubectl("create -f -", {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "x" },
        spec: {
          selector: { matchExpressions: [{ key: "a", operator: "Near" }] },
          template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
        },
      }),
      kubectl("create -f -", {
        apiVersion: "batch/v1",
        kind: "CronJob",
        metadata: { name: "x" },
        spec: {
          schedule: "* * * *",
          jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "b" }] } } } },
        },
      }),
      kubectl("create -f -", { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "s_a" } }),
      kubectl("create -f -", { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: {} }),
      kubectl("create -f -", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s" },
        spec: { clusterIP: "None", selector: { a: "b" } },
      }),
      kubectl("get service s"),
      kubectl("get service s -o yaml"),
      kubectl("create -f -", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "t" },
        spec: { clusterIP: "1.2.3.4", ports: [{ port: 80 }] },
      }),
      kubectl("create -f -", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "t" },
        spec: { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
      }),
      kubectl("create -f -", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "t" },
        spec: { ports: [{ port: 80, targetPort: "Too_Odd" }] },
      }),
      kubectl("create -f -", { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } }),
      kubectl("create -f -", {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p", finalizers: ["bad"] },
        spec: { containers: [{ name: "a", image: "b" }] },
      }),
      kubectl("create -f -", {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p", ownerReferences: [{ kind: "x" }] },
        spec: { containers: [{ name: "a", image: "b" }] },
      }),
      kubectl("create -f -", {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p" },
        spec: {
          containers: [
            {
              name: "a",
              image: "b",
              env: [{ name: "" }, { name: "x", value: "1", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
            },
          ],
        },
      }),
      kubectl("create -f -", {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p" },
        spec: {
          containers: [
            {
              name: "a",
              image: "b",
              env: [{ name: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
              livenessProbe: { httpGet: { port: 80 } },
            },
          ],
          volumes: [{ name: "v", configMap: { name: "c" } }, { name: "w" }],
        },
      }),
      kubectl("get pod p -o yaml"),
      kubectl("exec p -- ls"),
      kubectl("port-forward pod/p 8080:80"),
      kubectl("top pods"),
      kubectl("cp p:/x /tmp/x"),
      kubectl("attach p"),
      kubectl("logs p -c nope"),
      kubectl("logs nope"),
    ],
  },
  {
    name: "a kind with two versions, of the cluster",
    steps: [
      kubectl("create -f -", gadgets()),
      kubectl("wait --for=condition=established crd/gadgets.NS.example.com --timeout=10s"),
      kubectl("get crd gadgets.NS.example.com"),
      kubectl("api-resources --api-group=NS.example.com -o wide"),
      kubectl("create -f -", "{apiVersion: NS.example.com/v1, kind: Gadget, metadata: {name: g}, spec: {size: 1}}"),
      kubectl("get gadgets"),
      kubectl("get gadget.v1beta1.NS.example.com g -o yaml"),
      request("GET", "/apis/NS.example.com/v1beta1/gadgets/g"),
      kubectl("apply -f -", "{apiVersion: NS.example.com/v1beta1, kind: Gadget, metadata: {name: g}, spec: {size: 2}}"),
      kubectl("get gadget g -o jsonpath={.spec.size}"),
      request("GET", "/apis/NS.example.com"),
      request("GET", "/apis/NS.example.com/v1"),
      request("GET", "/apis/NS.example.com/v1/gadgets/g/status"),
      request("GET", "/apis/NS.example.com/v1/gadgets/g/scale"),
      kubectl("apply -f -", gadgets(", colour: {type: string, default: red}")),
      kubectl("get gadget g -o jsonpath={.spec}"),
      kubectl('patch gadget g --type=merge -p \'{"spec":{"size":3}}\''),
      kubectl("get gadget g -o jsonpath={.spec}{.metadata.generation}"),
      kubectl("label gadget g a=b"),
      kubectl("get gadget g -o jsonpath={.metadata.generation}"),
      kubectl("get gadgets -l a=b -o name"),
      kubectl("get gadgets --field-selector metadata.name=g -o name"),
      kubectl("get gadgets --field-selector spec.size=3 -o name"),
      kubectl("scale gadget g --replicas=1"),
      kubectl("delete gadget g"),
      kubectl("delete crd gadgets.NS.example.com"),
      kubectl("create -f -", gadgets().replace("name: gadgets.NS", "name: gadgets.nope.NS")),
      kubectl(
        "create -f -",
        gadgets().replace("group: NS.example.com", "group: x.k8s.io").replace("gadgets.NS.example.com", "gadgets.x.k8s.io"),
      ),
      kubectl("create -f -", gadgets().replace("kind: Gadget", "kind: gad get")),
      kubectl("create -f -", gadgets().replace("scope: Cluster", "scope: World")),
      kubectl("create -f -", gadgets().replace("type: integer}", "type: whole}")),
    ],
  },
  {
    name: "finalizers and namespaces that go",
    steps: [
      kubectl("create namespace go-NS"),
      kubectl("-n go-NS create configmap one --from-literal=a=1"),
      kubectl('-n go-NS patch configmap one --type=merge -p \'{"metadata":{"finalizers":["example.com/hold"]}}\''),
      kubectl("-n go-NS delete configmap one --wait=false"),
      kubectl("-n go-NS delete configmap one --wait=false"),
      kubectl("-n go-NS get configmap one -o jsonpath={.metadata.deletionGracePeriodSeconds}"),
      kubectl('-n go-NS patch configmap one -p \'{"data":{"b":"2"}}\''),
      kubectl("delete namespace go-NS --wait=false"),
      kubectl("get namespace go-NS -o jsonpath={.status.phase}"),
      kubectl("-n go-NS create configmap two --from-literal=a=1"),
      kubectl("-n go-NS get configmaps -o name"),
      kubectl('-n go-NS patch configmap one --type=json -p \'[{"op":"remove","path":"/metadata/finalizers"}]\''),
      differing(kubectl("-n go-NS get configmap one"), "a bare real server never ends a namespace, as no controller empties it"),
    ],
  },
  {
    name: "tables and metadata alone",
    steps: [
      kubectl("create configmap one --from-literal=a=1"),
      accepting(request("GET", "/api/v1/namespaces/NS/configmaps/one"), "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
      accepting(request("GET", "/api/v1/namespaces/NS/configmaps"), "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
      accepting(request("GET", "/api/v1/namespaces/NS/configmaps"), "text/html"),
      accepting(request("GET", "/api/v1/namespaces/NS/configmaps"), "application/yaml"),
      differing(
        request("GET", "/api/v1/namespaces/NS/configmaps?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&labelSelector=a%3Db"),
        "the etcd of these suites is too old for bookmarks of such a watch",
      ),
      request("GET", "/api/v1/namespaces/NS/configmaps?fieldSelector=metadata.name%3Done&limit=5"),
      request("GET", "/api/v1/watch/namespaces/NS/configmaps?timeoutSeconds=1"),
      request("GET", "/api/v1/configmaps/one"),
      request("GET", "/api/v1/namespaces/NS"),
      request("GET", "/api/v1/namespaces/NS/status"),
      request("POST", "/api/v1/namespaces/NS", {}),
      request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
        apiVersion: "authentication.k8s.io/v1",
        kind: "SelfSubjectReview",
      }),
      request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { verb: "get", resource: "pods" } },
      }),
      request(
        "POST",
        "/api/v1/namespaces/NS/configmaps?fieldManager=me",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {a: b}\n",
        "application/yaml",
      ),
      request("POST", "/api/v1/namespaces/NS/configmaps", ""),
      request("POST", "/api/v1/namespaces/NS/configmaps", "null"),
      request("POST", "/api/v1/namespaces/NS/configmaps", { kind: "ConfigMap", metadata: { name: "short" } }),
      request("POST", "/api/v1/namespaces/NS/configmaps", { metadata: { name: "shorter" } }),
      request("POST", "/api/v1/configmaps", { metadata: { name: "nowhere" } }),
      request("PUT", "/api/v1/namespaces/NS/configmaps/one/status", { metadata: { name: "one" } }),
      differing(
        request("PATCH", "/api/v1/namespaces/NS/configmaps/one", { metadata: { labels: { a: 1 } } }, "application/merge-patch+json"),
        "the object that the refusal shows has its fields in another order",
      ),
      request("PATCH", "/api/v1/namespaces/NS/configmaps/one", [{ op: "jump", path: "/x" }], "application/json-patch+json"),
      request("PATCH", "/api/v1/namespaces/NS/configmaps/one?dryRun=All", { data: { z: "1" } }, "application/merge-patch+json"),
      request("DELETE", "/api/v1/namespaces/NS/configmaps/one?dryRun=All"),
      request("DELETE", "/api/v1/namespaces/NS/configmaps?labelSelector=none%3Dsuch"),
      differing(request("GET", "/version/"), "each build has a version of its own"),
      request("GET", "/healthz/ping"),
      request("GET", "/apis/"),
    ],
  },
];
