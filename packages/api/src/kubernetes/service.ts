import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";
import { fields, intOrString, stringMap } from "./schema.ts";

const servicePort = fields({
  name: Type.String(),
  port: Type.Integer(),
  targetPort: intOrString,
  nodePort: Type.Integer(),
  protocol: Type.String(),
  appProtocol: Type.String(),
});
/** A port that a Service opens. */
export type KubernetesServicePort = Value<typeof servicePort>;

const serviceSpec = fields({
  type: Type.String(),
  selector: stringMap,
  ports: Type.Array(servicePort),
  clusterIP: Type.String(),
  externalIPs: Type.Array(Type.String()),
  externalName: Type.String(),
  ipFamilies: Type.Array(Type.String()),
});

const serviceStatus = fields({
  loadBalancer: fields({ ingress: Type.Array(fields({ ip: Type.String(), hostname: Type.String() })) }),
});

/** A Kubernetes Service. */
export const Service = defineKind(
  { apiVersion: "v1", kind: "Service", plural: "services", fields: { spec: serviceSpec, status: serviceStatus } },
  (service) => ({ ...service, metadata: projectedMetadata(service.metadata) }),
);
export type Service = ReturnType<typeof Service.parse>;
