import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf, stringMap, strings } from "../shared/schema.ts";
import { servicePort } from "./fragments.ts";
import { NETWORKING_VERSIONS } from "./versions.ts";

const server = fields({ port: servicePort, hosts: strings(), tls: fields({ mode: Type.String() }), name: Type.String() });

/** Opens ports on gateway pods. Source: istio.io/docs/reference/config/networking/gateway. */
export const Gateway = defineKind({
  apiVersion: "networking.istio.io/v1",
  kind: "Gateway",
  plural: "gateways",
  versions: NETWORKING_VERSIONS,
  fields: { spec: fields({ selector: stringMap(), servers: listOf(server) }) },
});
export type Gateway = ReturnType<typeof Gateway.parse>;
