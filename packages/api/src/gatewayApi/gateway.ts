import { Type } from "@sinclair/typebox";
import { declaredAlone } from "../shared/declaredFields.ts";
import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf } from "../shared/schema.ts";
import { STANDARD_VERSIONS } from "./versions.ts";

const listener = fields({ name: Type.String(), hostname: Type.String(), port: Type.Integer(), protocol: Type.String() });
const address = fields({ type: Type.String(), value: Type.String() });
const spec = fields({ gatewayClassName: Type.String(), listeners: listOf(listener), addresses: listOf(address) });

/**
 * Where traffic enters, or a waypoint: the class says by whom it is run, and with `addresses` it is a Service that is there already. Users' own; read
 * only, and of its certificates nothing. Source: gateway-api.sigs.k8s.io/reference/spec, Gateway.
 */
export const KubernetesGateway = defineKind(
  { apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", plural: "gateways", versions: STANDARD_VERSIONS, fields: { spec } },
  declaredAlone({ spec }),
);
export type KubernetesGateway = ReturnType<typeof KubernetesGateway.parse>;
