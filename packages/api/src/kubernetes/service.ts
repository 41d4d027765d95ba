import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";
import { foreignFields, foreignStringMap, intOrString } from "./schema.ts";

const servicePort = foreignFields({
  name: Type.String(),
  port: Type.Integer(),
  targetPort: intOrString,
  nodePort: Type.Integer(),
  protocol: Type.String(),
  appProtocol: Type.String(),
});
/** A port that a Service opens. */
export type KubernetesServicePort = Value<typeof servicePort>;

const serviceSpec = foreignFields({
  type: Type.String(),
  selector: foreignStringMap,
  ports: Type.Array(servicePort),
  clusterIP: Type.String(),
  externalIPs: Type.Array(Type.String()),
  externalName: Type.String(),
  ipFamilies: Type.Array(Type.String()),
});

const serviceStatus = foreignFields({
  loadBalancer: foreignFields({ ingress: Type.Array(foreignFields({ ip: Type.String(), hostname: Type.String() })) }),
});

/** A Kubernetes Service. */
export const Service = defineKind(
  { apiVersion: "v1", kind: "Service", plural: "services", fields: { spec: serviceSpec, status: serviceStatus } },
  (service) => ({ ...service, metadata: projectedMetadata(service.metadata) }),
);
export type Service = ReturnType<typeof Service.parse>;
