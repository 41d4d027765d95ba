import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, listOf, mapOf, stringMap, strings } from "../shared/schema.ts";
import { servicePort } from "./fragments.ts";
import { NETWORKING_VERSIONS } from "./versions.ts";

const workloadEntry = fields({
  address: Type.String(),
  ports: mapOf(Type.Integer()),
  labels: stringMap(),
  network: Type.String(),
  locality: Type.String(),
  weight: Type.Integer(),
  serviceAccount: Type.String(),
});

const serviceEntrySpec = fields({
  hosts: strings(),
  addresses: strings(),
  ports: listOf(servicePort),
  location: Type.String(),
  resolution: Type.String(),
  endpoints: listOf(workloadEntry),
  workloadSelector: fields({ labels: stringMap() }),
  exportTo: strings(),
  subjectAltNames: strings(),
});

/** Adds a host to a mesh's registry. Source: istio.io/docs/reference/config/networking/service-entry. */
export const ServiceEntry = defineKind({
  apiVersion: "networking.istio.io/v1",
  kind: "ServiceEntry",
  plural: "serviceentries",
  versions: NETWORKING_VERSIONS,
  fields: { spec: serviceEntrySpec },
});
export type ServiceEntry = ReturnType<typeof ServiceEntry.parse>;

/** What a ServiceEntry says. */
export type ServiceEntrySpec = Value<typeof serviceEntrySpec>;
/** One endpoint of a ServiceEntry. `ports` go by the names of the ServiceEntry's own ports. */
export type WorkloadEntry = Value<typeof workloadEntry>;
/** A port that a ServiceEntry or Gateway opens. */
export type ServiceEntryPort = Value<typeof servicePort>;
