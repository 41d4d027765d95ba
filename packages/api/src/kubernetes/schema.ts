import { type TProperties, Type } from "@sinclair/typebox";

/** A Kubernetes message: every field may be absent. Fields that are not declared are carried along. */
export function foreignFields<P extends TProperties>(properties: P) {
  return Type.Partial(Type.Object(properties));
}

/** Labels, annotations and other maps of strings. */
export const foreignStringMap = Type.Unsafe<{ [key: string]: string }>({ type: "object", additionalProperties: { type: "string" } });

/** A number, or a name. Source: kubernetes.io/docs/reference/generated/kubernetes-api: IntOrString. */
export const intOrString = Type.Unsafe<number | string>({ type: ["integer", "string"], wanted: "a number or a name" });

/** A label selector. Source: kubernetes.io/docs/concepts/overview/working-with-objects/labels. */
const labelSelector = foreignFields({
  matchLabels: foreignStringMap,
  matchExpressions: Type.Array(
    Type.Object({
      key: Type.String(),
      operator: Type.Unsafe<"In" | "NotIn" | "Exists" | "DoesNotExist">({
        type: "string",
        enum: ["In", "NotIn", "Exists", "DoesNotExist"],
      }),
      values: Type.Optional(Type.Array(Type.String())),
    }),
  ),
});

// `restartPolicy: Always` makes an init container a sidecar. Source: kubernetes.io/docs/concepts/workloads/pods/sidecar-containers.
const container = foreignFields({
  name: Type.String(),
  image: Type.String(),
  restartPolicy: Type.String(),
  env: Type.Array(foreignFields({ name: Type.String(), value: Type.String() })),
});

/** What we read of a pod, or of a template of pods. */
export const podSpec = foreignFields({
  serviceAccountName: Type.String(),
  nodeName: Type.String(),
  hostNetwork: Type.Boolean(),
  containers: Type.Array(container),
  initContainers: Type.Array(container),
});

/** A template of pods. */
export const podTemplate = foreignFields({
  metadata: foreignFields({ labels: foreignStringMap, annotations: foreignStringMap }),
  spec: podSpec,
});

/** What we read of a ReplicaSet. */
export const replicaSetSpec = foreignFields({ template: podTemplate });

/** What we read of how far a Deployment or StatefulSet (`readyReplicas`), or a DaemonSet (`numberReady`), has come. */
export const controllerStatus = foreignFields({ readyReplicas: Type.Integer(), numberReady: Type.Integer() });

/** What we read of a Deployment, DaemonSet or StatefulSet. */
export const controllerSpec = foreignFields({ selector: labelSelector, replicas: Type.Integer(), template: podTemplate });
